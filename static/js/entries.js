// A swap style of our own: "entry" adds articles at the end of the log, and morphs one that stands there already,
// so that an event which comes twice changes nothing.
(() => {
  let api;

  function place(target, element) {
    const present = element.id && document.getElementById(element.id);
    if (!present) {
      target.append(element);
      return element;
    }
    const fragment = document.createDocumentFragment();
    fragment.append(element);
    api.morph(present, fragment, false);
    return present;
  }

  htmx.registerExtension("entries", {
    init(internal) { api = internal; },
    handle_swap(style, target, fragment) {
      return style === "entry" && [...fragment.children].map((element) => place(target, element));
    },
  });
})();
