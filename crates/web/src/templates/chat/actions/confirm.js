
// The dialog that asks before something is deleted.

function createConfirmDialog() {
  return createElement("dialog", { id: "confirm", "aria-labelledby": "confirm-title" },
    createElement("form", { method: "dialog" },
      createElement("h2", { id: "confirm-title" }),
      createElement("p", { id: "confirm-text" }),
      createElement("div", { class: "row" },
        createElement("button", { class: "quiet", value: "no" }, t("cancel")),
        createElement("button", { class: "danger", value: "yes" }, t("delete")))));
}

// Asks for confirmation of a deletion, with a text in pieces, and returns whether the user confirmed it.
async function confirmDeletion(title, text) {
  const dialog = byId("confirm");
  byId("confirm-title").textContent = title;
  byId("confirm-text").replaceChildren(...text);
  dialog.returnValue = "no";
  dialog.showModal();
  await new Promise((resolve) => { dialog.addEventListener("close", resolve, { once: true }); });
  return dialog.returnValue === "yes";
}
