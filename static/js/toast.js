// One line at the bottom edge: what was done and can be undone, or what could not be done. It stays while it is used.
(() => {
  const STAYS = 12000;
  const toast = document.getElementById("toast");
  let timer = 0;

  function leave() {
    clearTimeout(timer);
    timer = setTimeout(() => { toast.hidden = true; }, STAYS);
  }

  function show(text) {
    toast.querySelector("[data-slot=text]").textContent = text;
    toast.querySelector("form")?.remove();
    toast.hidden = false;
    leave();
  }

  function words(ctx) {
    const page = new DOMParser().parseFromString(ctx.text ?? "", "text/html");
    const said = (page.querySelector("[data-part=sentence]") ?? page.body).textContent.trim();
    return said.length > 0 && said.length < 400 ? said : "That did not work. Try it again; nothing was changed.";
  }

  function failed(event) {
    const ctx = event.detail?.ctx;
    if (!ctx || ctx.sourceElement?.id === "bus") return;
    if (ctx.sourceElement?.hasAttribute(`hx-status:${ctx.response?.status}`)) return; // it is said where it happened
    show(ctx.response ? words(ctx) : "The local server did not answer. What you wrote is kept.");
  }

  for (const name of ["mouseenter", "focusin"]) toast.addEventListener(name, () => clearTimeout(timer));
  for (const name of ["mouseleave", "focusout"]) toast.addEventListener(name, leave);
  document.addEventListener("htmx:response:error", failed);
  document.addEventListener("htmx:error", failed);
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-closes=toast]")) toast.hidden = true;
  });
  if (!toast.hidden) leave();
})();
