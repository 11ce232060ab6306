// Light, dark, or as the system: a cookie, so that the server draws the next page right at once.
(() => {
  const YEAR = 31536000;

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-theme-choice]");
    if (!button) return;
    const choice = button.dataset.themeChoice;
    document.cookie = `plancia-theme=${choice}; path=/; max-age=${YEAR}; samesite=strict`;
    document.documentElement.dataset.theme = choice;
    for (const each of document.querySelectorAll("[data-theme-choice]")) {
      each.setAttribute("aria-pressed", String(each === button));
    }
  });
})();
