
// The dialog that asks before something is deleted.

// Asks for confirmation of a deletion, with a text in pieces, and returns whether the user confirmed it.
async function confirmDeletion(title, text) {
  // Each question has a dialog of its own: a browser reports that one was closed later, perhaps after the next was opened.
  byId("confirm")?.remove();
  const dialog = createElement("dialog", { id: "confirm", "aria-labelledby": "confirm-title" },
    createElement("form", { method: "dialog" },
      createElement("h2", { id: "confirm-title" }, title),
      createElement("p", { id: "confirm-text" }, ...text),
      createElement("div", { class: "row" },
        createElement("button", { class: "quiet", value: "no" }, t("cancel")),
        createElement("button", { class: "danger", value: "yes" }, t("delete")))));
  document.body.append(dialog);
  dialog.showModal();
  await new Promise((resolve) => { dialog.addEventListener("close", resolve, { once: true }); });
  dialog.remove();
  return dialog.returnValue === "yes";
}
