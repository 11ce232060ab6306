// Follows the end of the log while the reader is there, lets go at once when they scroll up, and offers the way back.
(() => {
  const scroller = document.getElementById("scroller");
  const log = document.getElementById("log");
  const jump = document.getElementById("jump");
  if (!scroller || !jump) return;

  const NEAR = 48;
  let following = !location.hash;
  let last = 0;
  let kept = null;

  const atEnd = () => scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < NEAR;

  function follow(yes) {
    following = yes;
    jump.hidden = yes;
  }

  function toEnd() {
    scroller.scrollTop = scroller.scrollHeight;
    last = scroller.scrollTop;
  }

  function resume() {
    follow(true);
    toEnd();
  }

  // The entry that stands first stays where it is when earlier ones come in above it.
  function keepPlace(event) {
    if (!event.target.closest("#earlier")) return;
    const entry = log.querySelector(".entry");
    kept = { entry, top: entry.getBoundingClientRect().top };
  }

  function returnToPlace() {
    const { entry, top } = kept;
    kept = null;
    scroller.scrollTop += entry.getBoundingClientRect().top - top;
    entry.tabIndex = -1;
    entry.focus({ preventScroll: true });
  }

  scroller.addEventListener("wheel", (event) => {
    if (event.deltaY < 0 && scroller.scrollTop > 0) follow(false);
  }, { passive: true });
  scroller.addEventListener("touchmove", () => { if (!atEnd()) follow(false); }, { passive: true });
  scroller.addEventListener("scroll", () => {
    if (atEnd()) follow(true);
    else if (scroller.scrollTop < last - 4) follow(false);
    last = scroller.scrollTop;
  }, { passive: true });

  const grown = new ResizeObserver(() => {
    if (kept && log.querySelector(".entry") !== kept.entry) returnToPlace();
    else if (following) toEnd();
  });
  grown.observe(log);
  grown.observe(scroller);

  log.addEventListener("click", keepPlace);
  jump.addEventListener("click", () => { resume(); scroller.focus({ preventScroll: true }); });
  document.addEventListener("plancia:sent", resume);
})();
