// Calls that wait for the user: each stands in the log, and the oldest one comes up in a dialog where nobody is busy.
(() => {
  const dialog = document.getElementById("asks");
  if (!dialog) return;

  const ARMED_AFTER = 500; // milliseconds: a click or key that was meant for what stood there before decides nothing
  const NEEDED = '#log > [data-wait="user"]:is([data-kind="approval"], [data-kind="form"])';
  const slot = (name) => dialog.querySelector(`[data-slot=${name}]`);
  const waiting = () => [...document.querySelectorAll('#log > [data-kind="approval"][data-wait="user"]')];
  const seen = new Map();
  let shown = null;
  let arming;

  function copyOf(article) {
    const copy = article.querySelector(".consent").cloneNode(true);
    for (const element of copy.querySelectorAll("[id]")) element.id += "-dialog";
    for (const element of copy.querySelectorAll("[for]")) element.htmlFor += "-dialog";
    const heading = copy.querySelector("h3");
    const larger = document.createElement("h2");
    larger.id = heading.id;
    larger.textContent = heading.textContent;
    heading.replaceWith(larger);
    copy.setAttribute("aria-labelledby", larger.id);
    dialog.setAttribute("aria-labelledby", larger.id);
    return copy;
  }

  function show(article) {
    shown = article.id;
    const copy = copyOf(article);
    slot("question").replaceChildren(copy);
    htmx.process(copy);
    if (!dialog.open) dialog.showModal();
    clearTimeout(arming);
    delete dialog.dataset.armed;
    arming = setTimeout(() => { dialog.dataset.armed = ""; }, ARMED_AFTER);
    copy.querySelector('.actions [value="deny"]').focus();
    count();
  }

  function count() {
    const all = waiting();
    slot("count").textContent = `${all.findIndex((one) => one.id === shown) + 1} of ${all.length} waiting`;
    dialog.querySelector("[data-act=next]").hidden = all.length < 2;
  }

  // A form is answered where it stands: it is gone to where nothing else waits.
  function next() {
    const all = waiting();
    if (all.length > 0) show(all[(all.findIndex((one) => one.id === shown) + 1) % all.length]);
    else goToForm();
  }

  function goToForm() {
    const forms = [...document.querySelectorAll(`${NEEDED} form.ask`)];
    const here = forms.findIndex((form) => form.contains(document.activeElement));
    forms[(here + 1) % forms.length]?.querySelector("input, select, textarea").focus();
  }

  // Whoever is writing, or has another dialog or menu open, is not interrupted: the question waits in the log.
  function isFree() {
    return document.visibilityState === "visible" && !document.getElementById("message")?.value
      && !document.querySelector("dialog[open], :popover-open");
  }

  function look() {
    const all = waiting();
    tell(document.querySelectorAll(NEEDED).length);
    if (dialog.open && !all.some((one) => one.id === shown)) {
      if (all.length > 0) show(all[0]);
      else dialog.close();
    } else if (dialog.open) count();
    const added = all.filter((one) => !seen.has(one.id));
    for (const one of added) seen.set(one.id, performance.now());
    if (added.length > 0 && isFree()) show(added[0]);
  }

  // The name of the conversation may change meanwhile.
  function tell(number) {
    const button = document.getElementById("waiting-button");
    button.hidden = number === 0;
    button.querySelector("[data-slot=number]").textContent = number;
    const name = document.title.replace(/^\(\d+\) /, "");
    const title = number > 0 ? `(${number}) ${name}` : name;
    if (document.title !== title) document.title = title;
  }

  function isTooSoon(button) {
    if (dialog.contains(button)) return !("armed" in dialog.dataset);
    return button.value !== "deny" && performance.now() - (seen.get(button.closest(".entry").id) ?? 0) < ARMED_AFTER;
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest('.consent [name="decision"]');
    if (button && isTooSoon(button)) {
      event.preventDefault();
      event.stopImmediatePropagation();
    }
  }, { capture: true });
  dialog.querySelector("[data-act=next]").addEventListener("click", next);
  dialog.addEventListener("close", () => document.getElementById("message")?.focus());
  document.addEventListener("plancia:ask", next);
  document.addEventListener("htmx:after:swap", look);
  document.addEventListener("click", (event) => {
    if (event.target.closest("#waiting-button")) next();
  });
  new MutationObserver(look).observe(document.getElementById("log"), {
    childList: true, subtree: true, attributes: true, attributeFilter: ["data-wait"],
  });
  look();
})();
