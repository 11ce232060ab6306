// Counts the time that something has been running.
(() => {
  const two = (number) => String(number).padStart(2, "0");

  function elapsed(since) {
    const seconds = Math.max(0, Math.floor((Date.now() - Date.parse(since)) / 1000));
    const minutes = Math.floor(seconds / 60);
    const rest = two(seconds % 60);
    return minutes < 60 ? `${minutes}:${rest}` : `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${rest}`;
  }

  function tick() {
    if (document.hidden) return;
    for (const element of document.querySelectorAll("[data-since]")) {
      element.textContent = elapsed(element.dataset.since);
    }
  }

  setInterval(tick, 1000);
  document.addEventListener("htmx:after:settle", tick);
  tick();
})();
