// Light, dark, or as the system. It runs before anything is drawn.
(() => {
  const KEY = "plancia.theme";

  function show(choice) {
    if (choice) document.documentElement.dataset.theme = choice;
    else delete document.documentElement.dataset.theme;
    for (const button of document.querySelectorAll("[data-theme-choice]")) {
      button.setAttribute("aria-pressed", String(button.dataset.themeChoice === choice));
    }
  }

  const chosen = () => localStorage.getItem(KEY) ?? "";

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-theme-choice]");
    if (!button) return;
    localStorage.setItem(KEY, button.dataset.themeChoice);
    show(chosen());
  });
  document.addEventListener("DOMContentLoaded", () => show(chosen()));
  window.addEventListener("storage", (event) => { if (event.key === KEY) show(chosen()); });
  show(chosen());
})();
