// Forms in the chat: what is typed is kept in this browser until it is sent, and a wrong answer is gone to at once.
(() => {
  const log = document.getElementById("log");
  if (!log) return;

  const key = (id) => `plancia.form.${id}`;
  const named = (form) => [...form.elements].filter((field) => field.name && !["submit", "file"].includes(field.type));
  const isTicked = (field) => field.type === "checkbox";

  function recall(id) {
    try {
      return JSON.parse(localStorage.getItem(key(id)));
    } catch {
      return null;
    }
  }

  function keep(form) {
    const typed = named(form).map((field) => [field.id, isTicked(field) ? field.checked : field.value]);
    try {
      localStorage.setItem(key(form.closest(".entry").id), JSON.stringify(Object.fromEntries(typed)));
    } catch {
      return; // The browser has no room for it: it stays on the page, and is gone with it.
    }
    form.querySelector("[data-kept]").hidden = false;
  }

  function restore(form) {
    const typed = recall(form.closest(".entry").id);
    if (!typed) return;
    for (const field of named(form)) {
      const value = typed[field.id];
      if (value === undefined) continue;
      if (isTicked(field)) field.checked = value;
      else if (field.value !== value) field.value = value;
    }
    form.querySelector("[data-kept]").hidden = false;
  }

  function look() {
    log.querySelectorAll("form.ask").forEach(restore);
    for (const ended of log.querySelectorAll("[data-answer]")) localStorage.removeItem(key(ended.id));
  }

  log.addEventListener("input", (event) => {
    const form = event.target.closest("form.ask");
    if (form) keep(form);
  });
  document.addEventListener("htmx:after:swap", look);
  document.addEventListener("htmx:finally:request", (event) => {
    const { sourceElement, response } = event.detail.ctx;
    if (response?.status === 422 && sourceElement?.matches("form.ask")) {
      sourceElement.querySelector('[aria-invalid="true"]')?.focus();
    }
  });
  look();
})();
