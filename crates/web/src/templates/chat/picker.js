
// The sources of the next questions: collections or documents that the user chooses, shown as chips above the question.

const CHOSEN_MAX = 50; // of each kind
const CHIPS_MAX = 8;
const READ_AT_ONCE = 5; // documents whose titles are requested at the same time
const KINDS = ["collections", "documents"];

// What is chosen: lists of { id, name, isAvailable }. Both are empty for all documents.
let chosen = { collections: [], documents: [] };
let collections = []; // of GET /collections
let pickerRequest = 0; // number of the latest request for the dialog's documents; earlier responses are ignored
let nextPickerCursor = null;

const isAllDocuments = () => KINDS.every((kind) => chosen[kind].length === 0);

function setChosen(selection) {
  chosen = { collections: [], documents: [], ...selection };
  showChosen();
}

async function loadCollections() {
  collections = await (await callApi("/collections")).json();
  showDestinations();
}

// The IDs to send with a question, or null if nothing is left of what was chosen. If one kind is left without a source,
// the other alone would be more than what was chosen.
function selectionOfQuestion() {
  const body = {};
  for (const [kind, field] of [["collections", "collection_ids"], ["documents", "document_ids"]]) {
    if (!chosen[kind].length) continue;
    const available = chosen[kind].filter(({ isAvailable }) => isAvailable);
    if (!available.length) return null;
    body[field] = available.map(({ id }) => id);
  }
  return body;
}

// Shows the sources of a stored conversation, and looks up their names and whether they are still available.
async function restoreChosen(collectionIds, documentIds) {
  const restored = (ids) => (ids ?? []).map((id) => ({ id, name: "…", isAvailable: true }));
  setChosen({ collections: restored(collectionIds), documents: restored(documentIds) });
  // An empty list of an earlier question selected nothing.
  if (collectionIds?.length === 0 || documentIds?.length === 0) {
    setChosen({ documents: [{ id: "", name: "Nothing", isAvailable: false }] });
    return;
  }
  await refreshChosen();
}

// Looks up again which sources are available.
async function refreshChosen() {
  const current = chosen;
  try {
    await loadCollections();
    for (const source of current.collections) {
      const found = collections.find(({ id }) => id === source.id);
      Object.assign(source, { name: found?.name ?? source.name, isAvailable: found !== undefined });
    }
    if (chosen === current) showChosen();
    for (let start = 0; start < current.documents.length && session && chosen === current; start += READ_AT_ONCE) {
      await Promise.all(current.documents.slice(start, start + READ_AT_ONCE).map(refreshDocument));
      if (chosen === current) showChosen();
    }
  } catch (error) {
    // The service checks each question too, so that sources without a name can be asked.
    if (session) setAlert("ask-alert", errorMessage(error));
  }
}

async function refreshDocument(source) {
  try {
    source.name = (await (await callApi(`/documents/${source.id}`)).json()).title;
    source.isAvailable = true;
  } catch (error) {
    if (error.status !== 404) throw error;
    source.isAvailable = false;
  }
}

function showChosen() {
  setAlert("ask-alert");
  const all = KINDS.flatMap((kind) => chosen[kind].map((source) => ({ kind, source })));
  const chips = all.slice(0, CHIPS_MAX).map(({ kind, source }) => createChosenChip(kind, source));
  if (!all.length) chips.push(createElement("li", { class: "chosen-chip" }, "All documents"));
  if (all.length > CHIPS_MAX) {
    const label = `and ${all.length - CHIPS_MAX} more`;
    chips.push(createElement("li", { class: "chosen-chip" }, label));
  }
  byId("chosen").replaceChildren(...chips);
  byId("choose").textContent = all.length ? "Change sources" : "Choose sources";
}

function createChosenChip(kind, source) {
  const name = source.name === "…" && !source.isAvailable ? "A source" : source.name;
  const label = source.isAvailable ? `Remove ${name}` : `Remove ${name}, which is no longer available`;
  return createElement("li", { class: source.isAvailable ? "chosen-chip" : "chosen-chip unavailable" },
    createElement("bdi", {}, name),
    source.isAvailable ? null : createElement("span", {}, "no longer available"),
    createElement("button", {
      type: "button", class: "icon", "aria-label": label, title: "Remove", click: () => removeChosen(kind, source),
    }, createGlyph("i-close")));
}

function removeChosen(kind, source) {
  setChosen({ ...chosen, [kind]: chosen[kind].filter((other) => other !== source) });
  announce(isAllDocuments() ? "Questions are answered from all documents." : `${source.name} was removed.`);
  (byId("chosen").querySelector("button") ?? byId("choose")).focus({ preventScroll: true });
}

// Starts a conversation about one document.
function askDocument(id, title) {
  if (turns.length) startConversation();
  setChosen({ documents: [{ id, name: title, isAvailable: true }] });
  if (narrowScreen.matches) {
    byId("side").classList.add("folded");
    updateSidebarToggle();
  }
  announce(`Questions are answered from ${title}.`);
  byId("question").focus({ preventScroll: !narrowScreen.matches });
}

// Marks a document as no longer available after it was deleted.
function forgetChosenDocument(id) {
  for (const source of chosen.documents) if (source.id === id) source.isAvailable = false;
  showChosen();
}

async function openPicker() {
  byId("picker-search").value = "";
  showPickerCollections();
  byId("picker-documents").replaceChildren();
  byId("picker").showModal();
  byId("picker-search").focus();
  loadPickerDocuments();
  try {
    await loadCollections();
    showPickerCollections();
  } catch (error) {
    if (session) setAlert("picker-alert", errorMessage(error));
  }
}

function showPickerCollections() {
  const part = byId("picker-search").value.trim().toLowerCase();
  const found = collections.filter(({ name }) => name.toLowerCase().includes(part));
  const options = found.map(({ id, name, kind }) =>
    createOption("collections", id, name, kind === "personal" ? "yours alone" : null));
  byId("picker-collections").replaceChildren(...options);
  byId("picker-no-collections").hidden = found.length > 0;
}

async function loadPickerDocuments({ more = false } = {}) {
  pickerRequest += 1;
  const request = pickerRequest;
  const query = new URLSearchParams({ limit: String(DOCUMENTS_PER_REQUEST), status: "ingested" });
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
    if (request === pickerRequest && session) setAlert("picker-alert", errorMessage(error));
  }
}

function createOption(kind, id, name, hint = null) {
  const box = createElement("input", {
    type: "checkbox", checked: chosen[kind].some((source) => source.id === id), "data-kind": kind,
    change: () => choose(kind, { id, name, isAvailable: true }, box),
  });
  return createElement("li", {}, createElement("label", {}, box, createElement("bdi", {}, name),
    hint && createElement("span", { class: "hint" }, hint)));
}

// Adds or removes a source. Collections and documents together would be the documents that are in both, so choosing one
// kind removes the other.
function choose(kind, source, box) {
  const others = chosen[kind].filter(({ id }) => id !== source.id);
  if (box.checked && others.length >= CHOSEN_MAX) {
    box.checked = false;
    setAlert("picker-alert", `At most ${CHOSEN_MAX} ${kind} can be chosen.`);
    return;
  }
  setAlert("picker-alert");
  setChosen({ [kind]: box.checked ? [...others, source] : others });
  for (const other of byId("picker").querySelectorAll("input[data-kind]")) {
    if (other.dataset.kind !== kind) other.checked = false;
  }
  announceChosen();
}

function chooseAllDocuments() {
  setChosen({});
  for (const box of byId("picker").querySelectorAll("input[data-kind]")) box.checked = false;
  announceChosen();
}

function announceChosen() {
  const counts = KINDS.filter((kind) => chosen[kind].length).map((kind) => {
    const { length } = chosen[kind];
    return `${length} ${length === 1 ? kind.slice(0, -1) : kind} chosen`;
  });
  byId("picker-count").textContent = counts.join(", ") || "All documents";
}

let pickerTimer = null;

function onPickerInput() {
  showPickerCollections();
  clearTimeout(pickerTimer);
  pickerTimer = setTimeout(loadPickerDocuments, SEARCH_DELAY);
}

// The collection that uploads go to, and who can read them there.
function showDestinations() {
  const select = byId("destination");
  const possible = collections.filter(({ role }) => role !== "viewer");
  const current = possible.find(({ id }) => id === select.value) ?? possible.find((one) => one.is_default) ?? possible[0];
  const createChoice = ({ id, name }) => createElement("option", { value: id, selected: id === current.id }, name);
  select.replaceChildren(...possible.map(createChoice));
  byId("upload-area").hidden = possible.length === 0;
  showReaders();
}

function showReaders() {
  const destination = collections.find(({ id }) => id === byId("destination").value);
  byId("readers").textContent = destination ? describeReaders(destination) : "";
}

function describeReaders({ name, kind, members, role_of_all: roleOfAll }) {
  if (roleOfAll) return "Everyone with an account here can read it.";
  // Without members, only its owner sees a collection.
  if (kind === "personal" || members === 0) return "Only you and administrators can read it.";
  return `Members of ${name} (${members} ${members === 1 ? "account or group" : "accounts or groups"}) `
    + "and administrators can read it.";
}
