
// The dialog in which the owner of a conversation chooses who can read it.

let sharedId = null; // the conversation that the dialog is about
let savedSharing = ""; // with which collections it is shared, as text

function createShareDialog() {
  const copy = createElement("button", { class: "quiet", type: "button", id: "share-copy", hidden: !navigator.clipboard, click: copyLink }, t("share-copy"));
  return createElement("dialog", { id: "share", "aria-labelledby": "share-title" },
    createElement("form", { submit: saveSharing },
      createElement("h2", { id: "share-title" }, t("share-title")),
      createElement("p", {}, createElement("strong", { id: "share-name", dir: "auto" })),
      createElement("p", { class: "hint" }, t("share-hint")),
      createElement("p", { class: "alert", id: "share-alert", role: "alert", hidden: true }),
      createElement("div", { class: "options" }, createElement("fieldset", {}, createElement("legend", {}, t("collections")),
        createElement("ul", { id: "share-collections", change: updateCopy }),
        createElement("p", { class: "hint", id: "share-none", hidden: true }, t("share-none")))),
      createElement("label", { for: "share-link" }, t("share-link")),
      createElement("input", { id: "share-link", readonly: true, focus: ({ target }) => target.select() }),
      createElement("div", { class: "row" }, copy,
        createElement("button", { class: "quiet", type: "button", click: () => byId("share").close() }, t("cancel")),
        createElement("button", { type: "submit" }, t("save")))));
}

async function shareConversation(id, title) {
  let sharedWith;
  try {
    const response = await callApi(`/conversations/${id}?limit=1`);
    [{ shared_with: sharedWith }] = await Promise.all([response.json(), chat.loadCollections()]);
  } catch (error) {
    setAlert("conversations-alert", errorMessage(error));
    return;
  }
  sharedId = id;
  savedSharing = String(sharedWith);
  setAlert("share-alert");
  byId("share-name").textContent = title;
  byId("share-link").value = `${location.origin}${location.pathname}#${id}`;
  const readable = chat.collections.filter(({ id: of, kind, is_hidden: isHidden }) => kind !== "personal" && (!isHidden || sharedWith.includes(of)));
  const lost = sharedWith.filter((one) => !readable.some((other) => other.id === one));
  const options = [
    ...readable.map((one) => createShareOption(one.id, one.name, sharedWith.includes(one.id), chat.describeReaders(one))),
    ...lost.map((one) => createShareOption(one, t("collection-lost"), true, "")),
  ];
  byId("share-collections").replaceChildren(...options);
  byId("share-none").hidden = options.length > 0;
  updateCopy();
  byId("share").showModal();
}

function createShareOption(id, name, checked, hint) {
  return createElement("li", {}, createElement("label", {}, createElement("input", { type: "checkbox", value: id, checked }),
    createElement("bdi", {}, name), createElement("span", { class: "hint" }, hint)));
}

const chosenToShare = () => [...byId("share-collections").querySelectorAll("input:checked")].map(({ value }) => value);

// Others could not open the link of a conversation that is not shared.
function updateCopy() {
  byId("share-copy").disabled = !chosenToShare().length;
}

// Shares the conversation with the chosen collections. Returns whether that worked.
async function share() {
  const [id, chosen] = [sharedId, chosenToShare()];
  setAlert("share-alert");
  try {
    const response = await callApi(`/conversations/${id}/collections`, jsonOptions("PUT", { collection_ids: chosen }));
    const { shared_with: sharedWith } = await response.json();
    savedSharing = String(chosen);
    if (id === chat.conversationId) chat.setSharing(sharedWith, null);
    announce(chosen.length ? t("share-saved") : t("share-ended"));
    chat.loadConversations();
    return true;
  } catch (error) {
    setAlert("share-alert", t("share-not-saved", { reason: errorMessage(error) }));
    return false;
  }
}

async function saveSharing(event) {
  event.preventDefault();
  const id = sharedId;
  if (!await share()) return;
  byId("share").close();
  await chat.loadConversations();
  chat.focusConversation(id);
}

// Copies the link. What was chosen is saved first, so that others can open it.
async function copyLink({ currentTarget: button }) {
  if (String(chosenToShare()) !== savedSharing && !await share()) return;
  try {
    await navigator.clipboard.writeText(byId("share-link").value);
    announce(t("share-copied"));
    button.textContent = t("copied");
    setTimeout(() => { button.textContent = t("share-copy"); }, 2000);
  } catch {
    byId("share-link").select();
  }
}
