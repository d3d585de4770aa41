
// The dialog in which the user chooses the sources of the next questions.

const CHOSEN_MAX = 50; // of each kind
const PICKER_DOCUMENTS_PER_REQUEST = 50;
const PICKER_COLLECTIONS_MAX = 100;

let pickerRequest = 0; // number of the latest request for the documents; earlier responses are ignored
let nextPickerCursor = null;
let otherCollections = []; // found by the service, besides those that are loaded
let collectionsRequest = 0; // number of the latest request for them
let showsHidden = false; // whether hidden collections are listed too

function createPicker() {
  const createGroup = (kind, name, ...more) => createElement("fieldset", {}, createElement("legend", {}, name),
    createElement("ul", { id: `picker-${kind}` }),
    createElement("p", { class: "hint", id: `picker-no-${kind}`, hidden: true }, t("picker-none-match", { kind })), ...more);
  const more = createElement("button", { class: "quiet", type: "button", id: "picker-more", hidden: true }, ...tNodes("show-more-of", { kind: createHidden(t("documents")) }));
  const hidden = createElement("button", { class: "quiet", type: "button", id: "picker-hidden", "aria-pressed": "false" }, t("show-hidden"));
  return createElement("dialog", { id: "picker", "aria-labelledby": "picker-title" },
    createElement("form", { method: "dialog" },
      createElement("h2", { id: "picker-title" }, t("choose-sources")),
      createElement("p", { class: "hint" }, t("picker-hint")),
      createElement("label", { class: "visually-hidden", for: "picker-search" }, t("picker-search")),
      createElement("input", { id: "picker-search", type: "search", maxlength: "200", placeholder: t("search-by-name"), autocomplete: "off" }),
      createElement("p", { class: "alert", id: "picker-alert", role: "alert", hidden: true }),
      createElement("div", { class: "options" }, createGroup("collections", t("collections"), hidden), createGroup("documents", t("documents"), more)),
      createElement("p", { class: "visually-hidden", id: "picker-count", role: "status" }),
      createElement("div", { class: "row" },
        createElement("button", { class: "quiet", type: "button", id: "picker-all" }, t("all-documents")),
        createElement("button", { value: "done" }, t("done")))));
}

function listenToPicker() {
  const search = afterTyping(() => { loadOtherCollections(); loadPickerDocuments(); });
  listen("picker-search", "input", () => { showPickerCollections(); search(); });
  listen("picker-search", "keydown", (event) => { if (event.key === "Enter") event.preventDefault(); });
  listen("picker-more", "click", () => loadPickerDocuments({ more: true }));
  listen("picker-all", "click", chooseAllDocuments);
  listen("picker-hidden", "click", () => setShowsHidden(!showsHidden));
  listen("picker", "close", () => byId("question").focus({ preventScroll: true }));
}

async function openPicker() {
  byId("picker-search").value = "";
  otherCollections = [];
  setShowsHidden(false);
  byId("picker-documents").replaceChildren();
  byId("picker").showModal();
  byId("picker-search").focus();
  loadPickerDocuments();
  try {
    await chat.loadCollections();
    showPickerCollections();
  } catch (error) {
    if (chat.session) setAlert("picker-alert", errorMessage(error));
  }
}

function setShowsHidden(isShown) {
  showsHidden = isShown;
  byId("picker-hidden").setAttribute("aria-pressed", String(isShown));
  showPickerCollections();
}

// Looks up collections by name that are not loaded, because there are very many.
async function loadOtherCollections() {
  collectionsRequest += 1;
  const request = collectionsRequest;
  const part = byId("picker-search").value.trim();
  if (!part || !chat.hasMoreCollections()) {
    otherCollections = [];
    return;
  }
  try {
    const query = new URLSearchParams({ q: part, include: "hidden", limit: String(PICKER_COLLECTIONS_MAX) });
    const found = (await (await callApi(`/collections?${query}`)).json()).map(chat.withFixedName);
    if (request !== collectionsRequest) return;
    otherCollections = found;
    showPickerCollections();
  } catch (error) {
    if (request === collectionsRequest && chat.session) setAlert("picker-alert", errorMessage(error));
  }
}

function showPickerCollections() {
  const part = byId("picker-search").value.trim().toLowerCase();
  const isLoaded = (id) => chat.collections.some((one) => one.id === id);
  const all = [...chat.collections, ...otherCollections.filter(({ id }) => !isLoaded(id))];
  const found = all.filter(({ name, is_hidden: isHidden }) => name.toLowerCase().includes(part) && (showsHidden || !isHidden));
  byId("picker-hidden").hidden = !showsHidden && !all.some(({ is_hidden: isHidden }) => isHidden);
  const options = found.map((one) => {
    const option = createOption("collections", one.id, one.name, one.kind === "personal" ? t("yours-alone") : null);
    option.append(...createCollectionAction(one));
    return option;
  });
  byId("picker-collections").replaceChildren(...options);
  byId("picker-no-collections").hidden = found.length > 0;
}

// The button to leave, hide or show a collection; none for those of the user.
function createCollectionAction(one) {
  const { name, is_own: isOwn, is_member: isMember, is_hidden: isHidden } = one;
  if (isOwn && !isHidden) return [];
  const [verb, label, action] = isHidden ? [t("show"), t("show-name", { name }), () => hideCollection(one, false)]
    : isMember ? [t("leave"), t("leave-name", { name }), () => leaveCollection(one)]
      : [t("hide"), t("hide-name", { name }), () => hideCollection(one, true)];
  return [createElement("button", { class: "quiet", type: "button", "aria-label": label, click: action }, verb)];
}

async function hideCollection({ id, name }, isHidden) {
  await changeCollection(`/collections/${id}/hidden`, isHidden ? "PUT" : "DELETE", isHidden ? t("hidden-name", { name }) : t("shown-name", { name }));
}

async function leaveCollection({ id, name }) {
  if (!await confirmAction(t("leave-title"), tNodes("leave-text", { name: createName(name) }), t("leave"))) return;
  await changeCollection(`/collections/${id}/members/${chat.session.id}`, "DELETE", t("left-name", { name }));
}

// Sends a change of a collection, and shows the lists as they are then.
async function changeCollection(path, method, message) {
  setAlert("picker-alert");
  try {
    await callApi(path, { method });
    await chat.loadCollections();
  } catch (error) {
    if (chat.session) setAlert("picker-alert", errorMessage(error));
    return;
  }
  otherCollections = [];
  showPickerCollections();
  loadOtherCollections();
  loadPickerDocuments();
  announce(message);
  byId("picker-search").focus();
}

async function loadPickerDocuments({ more = false } = {}) {
  pickerRequest += 1;
  const request = pickerRequest;
  const query = new URLSearchParams({ limit: String(PICKER_DOCUMENTS_PER_REQUEST), status: "ingested" });
  const part = byId("picker-search").value.trim();
  if (part) query.set("q", part);
  if (more && nextPickerCursor) query.set("cursor", nextPickerCursor);
  setAlert("picker-alert");
  try {
    const response = await callApi(`/documents?${query}`);
    const documents = await response.json();
    if (request !== pickerRequest) return;
    nextPickerCursor = response.headers.get("X-Next-Cursor");
    const list = byId("picker-documents");
    if (!more) list.replaceChildren();
    const first = documents.map(({ id, title }) => createOption("documents", id, title));
    list.append(...first);
    if (more) first[0]?.querySelector("input").focus();
    byId("picker-more").hidden = !nextPickerCursor;
    byId("picker-no-documents").hidden = list.children.length > 0;
  } catch (error) {
    if (request === pickerRequest && chat.session) setAlert("picker-alert", errorMessage(error));
  }
}

function createOption(kind, id, name, hint = null) {
  const box = createElement("input", {
    type: "checkbox", checked: chat.chosen[kind].some((source) => source.id === id), "data-kind": kind,
    change: () => choose(kind, { id, name, isAvailable: true }, box),
  });
  return createElement("li", {}, createElement("label", {}, box, createElement("bdi", {}, name),
    hint && createElement("span", { class: "hint" }, hint)));
}

// Adds or removes a source. Collections and documents together would be the documents that are in both, so choosing one
// kind removes the other.
function choose(kind, source, box) {
  const others = chat.chosen[kind].filter(({ id }) => id !== source.id);
  if (box.checked && others.length >= CHOSEN_MAX) {
    box.checked = false;
    setAlert("picker-alert", t("chosen-max", { kind, max: CHOSEN_MAX }));
    return;
  }
  setAlert("picker-alert");
  chat.setChosen({ [kind]: box.checked ? [...others, source] : others });
  for (const other of byId("picker").querySelectorAll("input[data-kind]")) {
    if (other.dataset.kind !== kind) other.checked = false;
  }
  announceChosen();
}

function chooseAllDocuments() {
  chat.setChosen({});
  for (const box of byId("picker").querySelectorAll("input[data-kind]")) box.checked = false;
  announceChosen();
}

function announceChosen() {
  const counts = ["collections", "documents"].filter((kind) => chat.chosen[kind].length).map((kind) => {
    const { length } = chat.chosen[kind];
    return kind === "documents" ? t("documents-chosen", { count: length }) : t("collections-chosen", { count: length });
  });
  byId("picker-count").textContent = counts.join(", ") || t("all-documents");
}
