// The dialog that asks for the password or a code when the service refuses a request without a recent one: a module that the chat
// loads then. It uses the names of the chat below.

let t, createElement, serviceUrl, callApi, errorMessage, setAlert;
let proof = null; // the promise of what the dialog returns, while it is open

// Sets up the module with the names of the chat.
export function start(names) {
  ({ t, createElement, serviceUrl, callApi, errorMessage, setAlert } = names);
  return { prove };
}

// Asks for the proof of identity that an error demands and returns whether the service has accepted it. Requests
// that need one at the same time share the dialog.
async function prove(error) {
  proof ??= askForProof().finally(() => { proof = null; });
  const isProven = await proof;
  if (!isProven) error.detail = t("error-proof-needed");
  return isProven;
}

async function askForProof() {
  const field = createElement("input", { id: "proof-field", type: "password", autocomplete: "current-password", "aria-describedby": "proof-help" });
  const confirm = createElement("button", { type: "submit" }, t("continue"));
  const dialog = createElement("dialog", { id: "proof", "aria-labelledby": "proof-title", "aria-describedby": "proof-hint" });
  // Accounts without a password sign in again at their identity provider, and return to the chat.
  const elsewhere = document.querySelector(".providers")
    ? createElement("p", { class: "hint" }, createElement("a", { href: serviceUrl("/account/confirm?next=%2Fchat") }, t("proof-elsewhere")))
    : "";
  const isProven = await new Promise((resolve) => {
    const submit = async (event) => {
      event.preventDefault();
      setAlert("proof-alert");
      confirm.disabled = true;
      try {
        await callApi("/chat/session/confirm", { method: "POST", body: new URLSearchParams({ proof: field.value }) });
        resolve(true);
      } catch (error) {
        if (!dialog.open) return;
        setAlert("proof-alert", error.status === 422 ? t("proof-incorrect") : errorMessage(error));
        confirm.disabled = false;
        field.select();
        field.focus();
      }
    };
    dialog.append(createElement("form", { submit },
      createElement("h2", { id: "proof-title" }, t("confirm-identity")),
      createElement("p", { id: "proof-hint" }, t("proof-hint")),
      createElement("p", { class: "alert", id: "proof-alert", role: "alert", hidden: true }),
      createElement("label", { for: "proof-field" }, t("confirm-proof")),
      field,
      createElement("p", { class: "hint", id: "proof-help" }, t("confirm-proof-help")),
      elsewhere,
      createElement("div", { class: "row" }, createElement("button", { type: "button", class: "quiet", click: () => resolve(false) }, t("cancel")), confirm)));
    dialog.addEventListener("close", () => resolve(false));
    document.body.append(dialog);
    dialog.showModal();
    field.focus();
  });
  dialog.close();
  dialog.remove();
  return isProven;
}
