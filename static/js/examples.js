// An example of what one could ask is put into the message box, to be changed or sent.
(() => {
  const box = document.getElementById("message");
  if (!box) return;

  document.addEventListener("click", (event) => {
    const example = event.target.closest("[data-draft]");
    if (!example) return;
    event.preventDefault();
    box.value = example.dataset.draft;
    box.dispatchEvent(new Event("input", { bubbles: true }));
    box.focus();
  });
})();
