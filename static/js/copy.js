// Copies an answer or a block of code. The button of a block is added here, since without script it could do nothing.
(() => {
  const STAYS = 2000;

  function button() {
    const made = document.createElement("button");
    made.type = "button";
    made.className = "btn quiet tight icon-only copy";
    made.dataset.copies = "code";
    made.ariaLabel = "Copy code";
    made.innerHTML = '<svg class="icon" aria-hidden="true"><use href="#i-copy"/></svg>';
    return made;
  }

  function furnish(root) {
    for (const block of root.querySelectorAll(".prose > .code:not(:has(> .copy))")) block.prepend(button());
  }

  function textFor(made) {
    const { copies } = made.dataset;
    if (copies === "code") return made.parentElement.querySelector("code").textContent;
    return document.querySelector(copies).innerText;
  }

  async function copy(made) {
    const name = made.ariaLabel;
    await navigator.clipboard.writeText(textFor(made));
    made.ariaLabel = "Copied";
    made.classList.add("done");
    setTimeout(() => { made.ariaLabel = name; made.classList.remove("done"); }, STAYS);
  }

  document.addEventListener("click", (event) => {
    const made = event.target.closest("[data-copies]");
    if (made) copy(made);
  });
  document.addEventListener("htmx:after:settle", (event) => furnish(event.target.closest?.(".entry") ?? document));
  furnish(document);
})();
