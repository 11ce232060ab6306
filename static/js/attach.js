// Files for the message: picked, dropped or pasted, each one uploaded at once. Their chips in the box say which ones go.
(() => {
  const form = document.getElementById("composer");
  if (!form) return;

  const chips = document.getElementById("chips");
  const input = document.getElementById("files");
  const line = document.getElementById("uploads");
  const PLACE = line.getAttribute("action");
  let last = Promise.resolve();

  const changed = () => chips.dispatchEvent(new CustomEvent("plancia:chosen"));

  function made(template, words) {
    const chip = document.getElementById(template).content.firstElementChild.cloneNode(true);
    chip.querySelector("bdi").textContent = words;
    chips.append(chip);
    return chip;
  }

  const note = (words) => made("noted-chip", words);

  // Chips come from the server, before the one that stands for them, one after the other: so they keep their order.
  function fetched(...asked) {
    last = last.then(() => fetchedNow(...asked));
    return last;
  }

  // Returns whether they came.
  async function fetchedNow(verb, place, before, values = {}) {
    let answer;
    line.addEventListener("htmx:finally:request", (event) => { answer = event.detail.ctx.response; }, { once: true });
    await htmx.ajax(verb, place, { source: line, target: before, swap: "beforebegin", values });
    return answer?.status < 300;
  }

  async function upload(file, chip) {
    const came = await fetched("POST", PLACE, chip, { attachments: file });
    const shown = came ? chip.previousElementSibling : note(`${file.name} did not arrive. Attach it again.`);
    const words = shown.matches(".bad") ? shown.textContent.trim() : `${file.name} is attached.`;
    document.getElementById("sr-status").textContent = words;
    chip.remove();
    changed();
  }

  function attach(files) {
    const largest = Number(form.dataset.largest);
    const sizes = (size) => `${Math.round(size / 1e6)} MB`;
    const fitting = files.filter((file) => {
      if (file.size > largest) note(`${file.name} is ${sizes(file.size)}; the limit is ${sizes(largest)}.`);
      return file.size <= largest;
    });
    for (const file of fitting) upload(file, made("uploading-chip", file.name));
  }

  async function recall(ids) {
    const chip = made("uploading-chip", "Files of this draft");
    await fetched("GET", `${PLACE}?ids=${encodeURIComponent(ids.join(" "))}`, chip);
    chip.remove();
    changed();
  }

  // A message waits for files that are on their way. Where one does not arrive, it stays with the reader.
  async function send(submitter) {
    while (chips.querySelector("[data-uploading]")) {
      await new Promise((resolve) => chips.addEventListener("plancia:chosen", resolve, { once: true }));
    }
    if (!chips.querySelector(".bad")) form.requestSubmit(submitter?.form === form ? submitter : undefined);
  }

  const brings = (event) => event.dataTransfer?.types.includes("Files");

  form.addEventListener("submit", (event) => {
    if (!chips.querySelector("[data-uploading]")) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    send(event.submitter);
  });

  // Without script the files go with their message.
  form.removeAttribute("enctype");
  document.getElementById("attach").hidden = false;
  document.getElementById("attach").addEventListener("click", () => input.click());
  input.addEventListener("change", () => {
    attach([...input.files]);
    input.value = "";
  });

  document.addEventListener("dragover", (event) => {
    if (!brings(event)) return;
    event.preventDefault();
    form.classList.add("dropping");
  });
  document.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) form.classList.remove("dropping");
  });
  document.addEventListener("drop", (event) => {
    if (!brings(event)) return;
    event.preventDefault();
    form.classList.remove("dropping");
    const things = [...event.dataTransfer.items].filter((item) => item.kind === "file");
    const folders = things.map((item) => item.webkitGetAsEntry?.()).filter((entry) => entry?.isDirectory);
    for (const { name } of folders) note(`${name} is a folder. Attach the files in it.`);
    const names = folders.map(({ name }) => name);
    attach([...event.dataTransfer.files].filter((file) => !names.includes(file.name)));
  });

  // What is copied from a table brings a picture of itself along: its text is meant.
  form.elements.text.addEventListener("paste", (event) => {
    const { files, types } = event.clipboardData;
    if (files.length === 0 || types.includes("text/plain")) return;
    event.preventDefault();
    attach([...files]);
  });

  chips.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    event.preventDefault();
    const chip = button.closest(".chip");
    const next = (chip.nextElementSibling ?? chip.previousElementSibling)?.querySelector("button");
    if (chip.dataset.file) htmx.ajax("POST", button.formAction, { source: document.body, swap: "none" });
    chip.remove();
    (next ?? form.elements.text).focus();
    changed();
  });

  chips.addEventListener("plancia:recall", (event) => recall(event.detail));
})();
