// The message box: keys, a draft per conversation, and a text that is let go only when the server has it.
(() => {
  const form = document.getElementById("composer");
  if (!form) return;

  const box = form.elements.text;
  const number = form.elements.client_id;
  const key = `plancia.draft.${form.dataset.conversation}`;
  let sending = "";
  let tried = false;

  function fresh() {
    const bytes = crypto.getRandomValues(new Uint8Array(12));
    number.value = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    tried = false;
  }

  function keep() {
    localStorage.removeItem(key);
    if (!box.value) return;
    try {
      localStorage.setItem(key, JSON.stringify({ text: box.value, id: number.value }));
    } catch {
      // The browser has no room for it: it stays in the box, and is gone with the page.
    }
  }

  function restore() {
    fresh();
    try {
      const draft = JSON.parse(localStorage.getItem(key));
      if (!draft || box.value) return;
      box.value = draft.text;
      number.value = draft.id;
      tried = true;
    } catch {
      localStorage.removeItem(key);
    }
  }

  function write(text) {
    box.value = text;
    box.dispatchEvent(new Event("input", { bubbles: true }));
    box.focus();
  }

  function sent() {
    localStorage.removeItem(key);
    if (box.value === sending) box.value = "";
    fresh();
    keep();
    document.dispatchEvent(new CustomEvent("plancia:sent"));
  }

  // A text that was changed after a try is another message, even if the first one did arrive.
  box.addEventListener("input", () => { if (tried) fresh(); keep(); });

  box.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.altKey) return;
    if (event.isComposing || event.keyCode === 229) return;
    event.preventDefault();
    const modified = event.ctrlKey || event.metaKey;
    const button = (modified && form.querySelector("[data-key=modified]")) || form.querySelector("[data-key=enter]");
    if (box.value.trim()) form.requestSubmit(button);
  });

  form.addEventListener("htmx:config:request", (event) => {
    if (event.target !== form) return;
    const request = event.detail.ctx.request;
    const other = request.submitter?.getAttribute("formaction");
    if (other) request.action = other;
    sending = box.value;
    tried = true;
  });
  form.addEventListener("htmx:finally:request", (event) => {
    const answer = event.detail.ctx.response;
    if (event.target === form && answer && answer.status < 300) sent();
  });

  // Stop goes away with the run: who pressed it by a key goes on here.
  document.addEventListener("submit", (event) => {
    if (event.submitter?.id === "stop" && event.submitter.matches(":focus-visible")) box.focus();
  });

  document.addEventListener("click", (event) => {
    const example = event.target.closest("[data-draft]");
    if (!example) return;
    event.preventDefault();
    write(example.dataset.draft);
  });

  restore();
  if (matchMedia("(hover: hover)").matches && !location.hash) box.focus({ preventScroll: true });
})();
