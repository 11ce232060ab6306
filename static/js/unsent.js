// A form that was changed and not sent is not left without a word.
(() => {
  const kept = "form[data-keeps]";
  let changed = document.querySelector(`${kept}[data-keeps="changed"]`) !== null;

  document.addEventListener("input", (event) => {
    changed ||= event.target.closest(kept) !== null;
  });
  document.addEventListener("submit", (event) => {
    if (event.target.matches(kept)) changed = false;
  });
  window.addEventListener("beforeunload", (event) => {
    if (changed) event.preventDefault();
  });
})();
