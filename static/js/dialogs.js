// Dialogs and drawers: the one that asks before something is lost, and those that a button opens or closes.
(() => {
  const confirm = document.getElementById("confirm");
  const slot = (name) => confirm.querySelector(`[data-slot=${name}]`);

  function openerOf(id) {
    return document.querySelector(`[popovertarget="${id}"]:not([popovertargetaction])`);
  }

  function ask(event) {
    const { ctx, issueRequest, dropRequest } = event.detail;
    const { text = "", verb = "Delete" } = ctx.sourceElement.dataset;
    event.preventDefault();
    confirm.querySelector("h2").textContent = ctx.confirm;
    slot("text").textContent = text;
    slot("verb").textContent = verb;
    confirm.returnValue = "";
    const menu = ctx.sourceElement.closest("[popover]")?.id;
    confirm.addEventListener("close", () => {
      if (confirm.returnValue === "yes") issueRequest();
      else dropRequest();
      // A menu that asked is closed by now and cannot take the focus back: its button does.
      openerOf(menu)?.focus();
    }, { once: true });
    confirm.showModal();
  }

  function hideAfter(event) {
    const { sourceElement, response } = event.detail.ctx;
    const id = sourceElement.dataset?.hides;
    if (!id || !response || response.status >= 300) return;
    const hidden = document.getElementById(id);
    if (hidden?.matches("details")) {
      hidden.open = false;
      hidden.querySelector("summary").focus();
    } else {
      hidden?.hidePopover();
      openerOf(id)?.focus();
    }
  }

  document.addEventListener("htmx:confirm", ask);
  document.addEventListener("htmx:finally:request", hideAfter);
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-opens]");
    if (button) document.getElementById(button.dataset.opens).showModal();
  });
})();
