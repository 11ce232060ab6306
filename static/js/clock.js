// Counts the time that something has been running, or that is left of a wait.
(() => {
  const two = (number) => String(number).padStart(2, "0");

  function clock(seconds) {
    const minutes = Math.floor(seconds / 60);
    const rest = two(seconds % 60);
    return minutes < 60 ? `${minutes}:${rest}` : `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${rest}`;
  }

  const since = (moment) => Math.max(0, Math.floor((Date.now() - Date.parse(moment)) / 1000));
  const until = (moment) => Math.max(0, Math.ceil((Date.parse(moment) - Date.now()) / 1000));

  // At its end a wait says so, where it has words for that.
  function countDown(element) {
    const left = until(element.dataset.until);
    const whole = element.closest("[data-over]");
    if (left === 0 && whole) whole.textContent = whole.dataset.over;
    else element.textContent = clock(left);
  }

  function tick() {
    if (document.hidden) return;
    for (const element of document.querySelectorAll("[data-since]")) {
      element.textContent = clock(since(element.dataset.since));
    }
    document.querySelectorAll("[data-until]").forEach(countDown);
  }

  setInterval(tick, 1000);
  document.addEventListener("htmx:after:settle", tick);
  tick();
})();
