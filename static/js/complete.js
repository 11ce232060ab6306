// Names behind @: those that fit what was begun stand above the message box, which keeps the focus and stays plain text.
(() => {
  const box = document.getElementById("message");
  const list = document.getElementById("complete");
  if (!box || !list) return;

  // An @ calls where no word goes on before it; in scripts without blanks, anywhere.
  const BEGUN = /(?:^|[^\p{L}\p{N}_@＠]|[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}])[@＠]([^@＠\n]{0,40})$/u;
  const plain = (text) => text.normalize("NFKC").replace(/\s+/g, " ").toLowerCase();
  const options = () => [...list.querySelectorAll("[role=option]")];
  const shown = () => options().filter((option) => !option.hidden);
  let dismissed = null;

  function begun() {
    const end = box.selectionStart;
    const found = end === box.selectionEnd && BEGUN.exec(box.value.slice(0, end));
    return found ? { from: end - found[1].length - 1, typed: plain(found[1]), end } : null;
  }

  // A name that is typed to its end is left alone: Enter sends then.
  function fits(option, typed) {
    const name = plain(option.dataset.name);
    return name !== typed && (name.startsWith(typed) || name.split(" ").some((word) => word.startsWith(typed)));
  }

  function choose(option) {
    for (const each of options()) each.setAttribute("aria-selected", String(each === option));
    if (option) box.setAttribute("aria-activedescendant", option.id);
    else box.removeAttribute("aria-activedescendant");
    option?.scrollIntoView({ block: "nearest" });
  }

  function close() {
    list.hidden = true;
    choose(null);
  }

  function look() {
    const name = begun();
    if (!name || name.from !== dismissed) dismissed = null;
    for (const option of options()) option.hidden = !name || !fits(option, name.typed);
    const first = shown()[0];
    if (!first || dismissed !== null) return close();
    list.hidden = false;
    choose(shown().find((option) => option.getAttribute("aria-selected") === "true") ?? first);
  }

  function accept(option) {
    const { from, end } = begun();
    const after = /^\s/.test(box.value.slice(end)) ? "" : " ";
    box.setRangeText(`@${option.dataset.name}${after}`, from, end, "end");
    box.dispatchEvent(new Event("input", { bubbles: true }));
    close();
  }

  function step(by) {
    const all = shown();
    const at = all.findIndex((option) => option.getAttribute("aria-selected") === "true");
    choose(all.at((at + by) % all.length));
  }

  const acts = {
    ArrowDown: () => step(1),
    ArrowUp: () => step(-1),
    Enter: () => accept(list.querySelector("[aria-selected=true]")),
    Tab: () => accept(list.querySelector("[aria-selected=true]")),
    Escape: () => { dismissed = begun()?.from ?? null; close(); },
  };

  box.addEventListener("keydown", (event) => {
    const { key, altKey, ctrlKey, metaKey, shiftKey } = event;
    if (list.hidden || event.isComposing || event.keyCode === 229 || !acts[key]) return;
    if (altKey || ctrlKey || metaKey || shiftKey) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    acts[key]();
  }, { capture: true });
  box.addEventListener("input", (event) => { if (!event.isComposing) look(); });
  box.addEventListener("compositionend", look);
  box.addEventListener("click", look);
  box.addEventListener("blur", close);
  // The box keeps the focus while a name is clicked.
  list.addEventListener("mousedown", (event) => event.preventDefault());
  list.addEventListener("click", (event) => {
    const option = event.target.closest("[role=option]");
    if (option) accept(option);
  });
})();
