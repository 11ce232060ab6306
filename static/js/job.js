// A line that was typed into a job leaves the field, and its output is followed again.
(() => {
  document.addEventListener("htmx:finally:request", (event) => {
    const { sourceElement, response } = event.detail.ctx;
    if (!sourceElement.matches?.("form[data-clears]") || !response || response.status >= 300) return;
    sourceElement.reset();
    sourceElement.querySelector("input").focus();
    document.dispatchEvent(new CustomEvent("plancia:sent"));
  });
})();
