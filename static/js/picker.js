// The model picker: opened by those who need another model; where there are many, one is found by a part of its name.
(() => {
  const menu = () => document.getElementById("models");
  const field = () => menu().querySelector("input");
  const offers = () => [...menu().querySelectorAll(".offers > button")];
  const shown = () => offers().filter((offer) => !offer.hidden);

  function filter() {
    if (!menu()) return;
    const words = field().value.toLowerCase().split(/\s+/);
    for (const offer of offers()) {
      const text = offer.textContent.toLowerCase();
      offer.hidden = !words.every((word) => text.includes(word));
    }
    menu().querySelector("[data-part=none]").hidden = shown().length > 0;
  }

  function move(event) {
    if (event.isComposing || !event.target.closest?.("#models")) return;
    filter(); // the list may have been drawn anew a moment ago
    const all = shown();
    const at = all.indexOf(document.activeElement);
    const typing = document.activeElement === field();
    if (event.key === "Enter" && typing) {
      event.preventDefault();
      if (field().value.trim()) all[0]?.click();
      return;
    }
    const to = { ArrowDown: at + 1, ArrowUp: typing ? all.length - 1 : at - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    (to < 0 ? field() : all[to % all.length])?.focus();
  }

  // Emptied before it shows: what is typed from then on is the user's.
  function opening(event) {
    if (event.target !== menu() || event.newState !== "open") return;
    field().value = "";
    filter();
  }

  function opened(event) {
    if (event.target !== menu() || event.newState !== "open") return;
    menu().querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
  }

  function choose(event) {
    if (!event.target.closest("[data-action=choose-model]")) return;
    event.preventDefault();
    const picker = document.querySelector("#model-picker select");
    picker.focus();
    picker.showPicker?.();
  }

  document.addEventListener("click", choose);
  document.addEventListener("beforetoggle", opening, true);
  document.addEventListener("toggle", opened, true);
  document.addEventListener("keydown", move);
  document.addEventListener("input", (event) => { if (event.target.closest("#models")) filter(); });
  document.addEventListener("htmx:after:settle", filter);
})();
