
// The dialog that asks before something is deleted or left.

// Asks for confirmation of a deletion, with a text in pieces, and returns whether the user confirmed it.
const confirmDeletion = (title, text) => confirmAction(title, text, t("delete"));

// Asks for confirmation of an action that cannot be undone. `verb` is the label of its button.
async function confirmAction(title, text, verb) {
  byId("confirm")?.remove();
  const dialog = createElement("dialog", { id: "confirm", "aria-labelledby": "confirm-title" });
  // A press answers at once: browsers report that a dialog was closed, as with Escape, with a later frame.
  const isConfirmed = await new Promise((resolve) => {
    const createButton = (style, label, answer) => createElement("button", { type: "button", class: style, click: () => resolve(answer) }, label);
    dialog.append(
      createElement("h2", { id: "confirm-title" }, title),
      createElement("p", { id: "confirm-text" }, ...text),
      createElement("div", { class: "row" }, createButton("quiet", t("cancel"), false), createButton("danger", verb, true)));
    dialog.addEventListener("close", () => resolve(false));
    document.body.append(dialog);
    dialog.showModal();
  });
  dialog.close();
  dialog.remove();
  return isConfirmed;
}
