// What a page shows, as text that two pages can be compared by. Left out is what belongs to the reader alone:
// opened details, focus, seconds that count, and the blanks between blocks.
() => {
  const PANEL = ["panel-tasks", "panel-files", "panel-usage"];
  const PLACES = ["topbar", "log", "floor", "queue", "sends", "conversations", ...PANEL];
  const OF_THE_READER = ["data-htmx-powered", "open", "tabindex"];
  const EXACT = "pre, [data-part=text], .as-typed, textarea";

  function tidy(root) {
    for (const element of [root, ...root.querySelectorAll("*")]) {
      for (const name of OF_THE_READER) element.removeAttribute(name);
      if (element.dataset.since || element.dataset.until) element.textContent = "";
    }
    root.normalize();
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    const blanks = [];
    while (walker.nextNode()) {
      const { currentNode: node } = walker;
      if (!node.data.trim() && !node.parentElement.closest(EXACT)) blanks.push(node);
    }
    for (const node of blanks) node.remove();
    return root.outerHTML;
  }

  return PLACES.map((id) => document.getElementById(id))
    .filter((element) => element)
    .map((element) => tidy(element.cloneNode(true)))
    .join("\n");
}
