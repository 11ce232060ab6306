// Keys of the page. Every one of them is in the list that ? opens.
(() => {
  const byId = (id) => document.getElementById(id);
  const typing = (element) => element.matches("input, textarea, select, [contenteditable]");
  const covered = () => document.querySelector("dialog[open], :popover-open");

  function toEntry(step) {
    const entries = [...document.querySelectorAll("#log > .entry")];
    const at = entries.indexOf(document.activeElement.closest(".entry"));
    const next = at < 0 ? entries.at(step < 0 ? -1 : 0) : entries[at + step];
    if (!next) return;
    next.tabIndex = -1;
    next.focus();
    next.scrollIntoView({ block: "nearest" });
  }

  const plain = {
    "?": () => byId("keys").showModal(),
    "/": () => byId("message")?.focus(),
  };

  document.addEventListener("keydown", (event) => {
    if (event.isComposing || event.defaultPrevented || covered()) return;
    const { key, altKey, ctrlKey, metaKey, shiftKey } = event;
    const modified = ctrlKey || metaKey;
    let action;
    if (key === "Escape") action = byId("stop") && (() => byId("stop").focus());
    else if (altKey && !modified && key.startsWith("Arrow")) {
      action = { ArrowUp: () => toEntry(-1), ArrowDown: () => toEntry(1) }[key];
    } else if (altKey && !modified && event.code === "KeyA") {
      action = () => document.dispatchEvent(new CustomEvent("plancia:ask"));
    } else if (modified && shiftKey && key.toLowerCase() === "o") action = () => byId("new-conversation")?.click();
    else if (!modified && !altKey && !typing(event.target)) action = plain[key];
    if (!action) return;
    event.preventDefault();
    action();
  });
})();
