// The message box: keys, a draft per conversation, and texts that are let go only when the server has them.
(() => {
  const form = document.getElementById("composer");
  if (!form) return;

  const box = form.elements.text;
  const chips = document.getElementById("chips");
  const DRAFT = `plancia.draft.${form.dataset.conversation}`;
  const UNSENT = `plancia.unsent.${form.dataset.conversation}`;
  let outbox = [];
  let returned = null;
  let sending = false;
  let leaving = false;
  let composed = Promise.resolve();

  function recall(key) {
    try {
      return JSON.parse(localStorage.getItem(key));
    } catch {
      return null;
    }
  }

  function remember(key, value) {
    localStorage.removeItem(key);
    if (!value) return;
    try {
      localStorage.setItem(key, JSON.stringify(value));
    } catch {
      // The browser has no room for it: it stays on the page, and is gone with it.
    }
  }

  const chosen = () => [...chips.querySelectorAll("input")].map(({ value }) => value);

  function keep() {
    const files = chosen();
    remember(DRAFT, (box.value || files.length > 0) && { text: box.value, files, returned });
  }

  function recallFiles(files) {
    if (files?.length > 0) chips.dispatchEvent(new CustomEvent("plancia:recall", { detail: files }));
  }

  // Another page of this conversation keeps its own texts in the same place.
  function keepUnsent(change) {
    const texts = change(recall(UNSENT) ?? []);
    remember(UNSENT, texts.length > 0 && texts);
  }

  function restore() {
    const draft = recall(DRAFT);
    returned = draft?.returned ?? null;
    // As typed, not as given with the page: a box that is drawn anew would take that away.
    [box.value, box.defaultValue] = [box.value || (draft?.text ?? ""), ""];
    outbox = recall(UNSENT) ?? [];
    recallFiles(draft?.files);
  }

  function fresh() {
    const bytes = crypto.getRandomValues(new Uint8Array(12));
    return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  }

  // What came back and was not changed is the same message, in case the first one did arrive.
  function take(to) {
    const [text, files] = [box.value, chosen()];
    const same = returned?.text === text && `${returned.files}` === `${files}`;
    const message = { text, files, to, id: same ? returned.id : fresh() };
    returned = null;
    box.value = "";
    chips.replaceChildren();
    keep();
    outbox.push(message);
    keepUnsent((texts) => [...texts, message]);
    document.dispatchEvent(new CustomEvent("plancia:sent"));
    sendAll();
  }

  async function sendAll() {
    if (sending) return;
    sending = true;
    while (outbox.length > 0) {
      if (await arrives(outbox[0])) letGo([outbox.shift()]);
      else if (leaving) break;
      else await putBack();
    }
    sending = false;
  }

  async function arrives({ text, files, id, to }) {
    let answer;
    const note = (event) => { answer = event.detail.ctx.response; };
    form.addEventListener("htmx:finally:request", note, { once: true });
    await htmx.ajax("POST", to, { source: form, swap: "none", values: { text, client_id: id, attachments: (files ?? []).join(" ") } });
    return answer?.status < 300;
  }

  function letGo(messages) {
    const ids = messages.map(({ id }) => id);
    keepUnsent((texts) => texts.filter(({ id }) => !ids.includes(id)));
  }

  // What waited behind it comes back as well, or it would be said out of order.
  async function putBack() {
    await composed;
    const messages = outbox.splice(0);
    returned = messages.length === 1 && !box.value && chosen().length === 0 ? messages[0] : null;
    recallFiles(messages.flatMap(({ files }) => files ?? []));
    const text = messages.map((message) => message.text).join("\n\n") + (box.value && "\n\n");
    const [start, end] = [box.selectionStart, box.selectionEnd].map((place) => place + text.length);
    box.value = text + box.value;
    box.setSelectionRange(start, end);
    keep();
    letGo(messages);
  }

  box.addEventListener("input", keep);
  chips.addEventListener("plancia:chosen", keep);
  // A text that is put before a composition would end it.
  box.addEventListener("compositionstart", () => {
    composed = new Promise((resolve) => box.addEventListener("compositionend", resolve, { once: true }));
  });

  box.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.altKey || event.isComposing || event.keyCode === 229) return;
    event.preventDefault();
    const modified = event.ctrlKey || event.metaKey;
    const button = (modified && form.querySelector("[data-key=modified]")) || form.querySelector("[data-key=enter]");
    if (box.value.trim() || chips.querySelector("input, [data-uploading]")) form.requestSubmit(button);
  });

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const to = event.submitter?.getAttribute("formaction") ?? form.getAttribute("action");
    if (box.value || chosen().length > 0) take(to);
  });

  // Stop goes away with the run: who pressed it by a key goes on here.
  document.addEventListener("submit", (event) => {
    if (event.submitter?.id === "stop" && event.submitter.matches(":focus-visible")) box.focus();
  });

  document.addEventListener("DOMContentLoaded", sendAll);
  window.addEventListener("pagehide", () => { leaving = true; });
  // The second click of a double click finds the box empty, which is no mistake to be told of.
  form.noValidate = true;
  restore();
  if (matchMedia("(hover: hover)").matches && !location.hash) box.focus({ preventScroll: true });
})();
