// Tabs of the details: shown in place, by click or arrow key, and remembered.
(() => {
  const list = document.querySelector("#details [role=tablist]");
  if (!list) return;

  const KEY = "plancia.tab";
  const tabs = [...list.querySelectorAll("[role=tab]")];

  function choose(tab) {
    for (const each of tabs) {
      const chosen = each === tab;
      each.setAttribute("aria-selected", String(chosen));
      each.tabIndex = chosen ? 0 : -1;
      document.getElementById(each.getAttribute("aria-controls")).hidden = !chosen;
    }
    localStorage.setItem(KEY, tab.id);
  }

  list.addEventListener("click", (event) => {
    const tab = event.target.closest("[role=tab]");
    if (!tab || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    choose(tab);
  });
  list.addEventListener("keydown", (event) => {
    const at = tabs.indexOf(document.activeElement);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    const tab = tabs[(to + tabs.length) % tabs.length];
    choose(tab);
    tab.focus();
  });

  document.addEventListener("click", (event) => {
    const link = event.target.closest("[data-shows]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const tab = document.getElementById(link.dataset.shows);
    if (!tab.checkVisibility()) document.getElementById("details").showPopover();
    choose(tab);
    tab.focus();
  });

  const remembered = document.getElementById(localStorage.getItem(KEY) ?? "");
  if (tabs.includes(remembered) && !new URLSearchParams(location.search).has("tab")) choose(remembered);
})();
