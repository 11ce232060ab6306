// The stream of the page: a first connection that failed is tried again, and a lost one is said.
(() => {
  const LONGEST_WAIT = 5000;
  let failures = 0;

  const bus = () => document.getElementById("bus");

  function say(lost) {
    const bar = document.getElementById("reconnecting");
    if (bar) bar.hidden = !lost;
  }

  function lost(status) {
    // The page that comes instead says it in words: how to get in, or that the conversation was deleted.
    if ([401, 403, 404].includes(status)) location.reload();
    say(true);
  }

  // htmx reconnects a stream that once was open; one that never opened it leaves alone.
  function tryAgain(event) {
    const element = event.detail?.ctx?.sourceElement;
    if (!element || element !== bus() || element._htmx?.sse) return;
    lost(event.detail.ctx.response?.status);
    const wait = Math.min(500 * 2 ** failures++, LONGEST_WAIT);
    setTimeout(() => element.isConnected && htmx.trigger(element, "retry"), wait);
  }

  function now() {
    const stream = bus()?._htmx?.sse;
    if (stream) stream.delayCanceller?.();
    else htmx.trigger(bus(), "retry");
  }

  document.addEventListener("htmx:error", tryAgain);
  document.addEventListener("htmx:response:error", tryAgain);
  document.addEventListener("htmx:sse:error", (event) => lost(event.detail?.status));
  document.addEventListener("htmx:sse:after:connection", () => { failures = 0; say(false); });
  document.addEventListener("reload", () => location.reload());
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-action=reconnect]")) now();
  });
  // A page that comes back from the browser's own memory has no stream any more.
  window.addEventListener("pageshow", (event) => event.persisted && location.reload());
})();
