
// The dialog in which the user chooses the sources of the next questions.

const CHOSEN_MAX = 50; // of each kind
const PICKER_DOCUMENTS_PER_REQUEST = 50;

let pickerRequest = 0; // number of the latest request for the documents; earlier responses are ignored
let nextPickerCursor = null;

function createPicker() {
  const createGroup = (kind, name, ...more) => createElement("fieldset", {}, createElement("legend", {}, name),
    createElement("ul", { id: `picker-${kind}` }),
    createElement("p", { class: "hint", id: `picker-no-${kind}`, hidden: true }, t("picker-none-match", { kind })), ...more);
  const more = createElement("button", { class: "quiet", type: "button", id: "picker-more", hidden: true }, ...tNodes("show-more-of", { kind: createHidden(t("documents")) }));
  return createElement("dialog", { id: "picker", "aria-labelledby": "picker-title" },
    createElement("form", { method: "dialog" },
      createElement("h2", { id: "picker-title" }, t("choose-sources")),
      createElement("p", { class: "hint" }, t("picker-hint")),
      createElement("label", { class: "visually-hidden", for: "picker-search" }, t("picker-search")),
      createElement("input", { id: "picker-search", type: "search", maxlength: "200", placeholder: t("search-by-name"), autocomplete: "off" }),
      createElement("p", { class: "alert", id: "picker-alert", role: "alert", hidden: true }),
      createElement("div", { class: "options" }, createGroup("collections", t("collections")), createGroup("documents", t("documents"), more)),
      createElement("p", { class: "visually-hidden", id: "picker-count", role: "status" }),
      createElement("div", { class: "row" },
        createElement("button", { class: "quiet", type: "button", id: "picker-all" }, t("all-documents")),
        createElement("button", { value: "done" }, t("done")))));
}

function listenToPicker() {
  const searchDocuments = afterTyping(() => loadPickerDocuments());
  listen("picker-search", "input", () => { showPickerCollections(); searchDocuments(); });
  listen("picker-search", "keydown", (event) => { if (event.key === "Enter") event.preventDefault(); });
  listen("picker-more", "click", () => loadPickerDocuments({ more: true }));
  listen("picker-all", "click", chooseAllDocuments);
  listen("picker", "close", () => byId("question").focus({ preventScroll: true }));
}

async function openPicker() {
  byId("picker-search").value = "";
  showPickerCollections();
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

function showPickerCollections() {
  const part = byId("picker-search").value.trim().toLowerCase();
  const found = chat.collections.filter(({ name }) => name.toLowerCase().includes(part));
  const options = found.map(({ id, name, kind }) =>
    createOption("collections", id, name, kind === "personal" ? t("yours-alone") : null));
  byId("picker-collections").replaceChildren(...options);
  byId("picker-no-collections").hidden = found.length > 0;
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
