// The order of models by dragging: a grip on each line that can be moved. The buttons do the same without it.
(() => {
  let dragged = null;

  const lines = () => [...document.querySelectorAll("#places > [data-place]")];

  function furnish() {
    for (const line of lines()) line.querySelector(".grip").hidden = lines().length < 2;
  }

  function under(event) {
    const line = event.target.closest?.("#places > [data-place]");
    return dragged && line && line !== dragged ? line : null;
  }

  function mark(line, event) {
    for (const each of lines()) each.classList.remove("drop-before", "drop-after");
    if (line) line.classList.add(isBelow(line, event) ? "drop-after" : "drop-before");
  }

  function isBelow(line, event) {
    const { top, height } = line.getBoundingClientRect();
    return event.clientY > top + height / 2;
  }

  function drop(line, event) {
    const others = lines().filter((each) => each !== dragged);
    const place = others.indexOf(line) + (isBelow(line, event) ? 2 : 1);
    const form = dragged.querySelector(".moves");
    const field = (name, value) => Object.assign(document.createElement("input"), { type: "hidden", name, value });
    form.append(field("act", "to"), field("place", place));
    form.requestSubmit();
  }

  document.addEventListener("dragstart", (event) => {
    dragged = event.target.closest?.(".grip")?.closest("[data-place]") ?? null;
    if (!dragged) return;
    event.dataTransfer.effectAllowed = "move";
    event.dataTransfer.setDragImage(dragged, 0, 0);
  });
  document.addEventListener("dragover", (event) => {
    const line = under(event);
    if (line) event.preventDefault();
    if (dragged) mark(line, event);
  });
  document.addEventListener("drop", (event) => {
    const line = under(event);
    if (!line) return;
    event.preventDefault();
    drop(line, event);
  });
  document.addEventListener("dragend", (event) => { mark(null, event); dragged = null; });

  document.addEventListener("htmx:after:settle", furnish);
  furnish();
})();
