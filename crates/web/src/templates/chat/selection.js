
// The sources of the next questions: collections or documents that the user chooses, shown as chips above the question.

const CHIPS_MAX = 8;
const READ_AT_ONCE = 5; // documents whose titles are requested at the same time
const KINDS = ["collections", "documents"];
const FIXED_NAMES = { Everyone: t("collection-everyone"), Personal: t("collection-personal") }; // of the collections that the service creates

// What is chosen: lists of { id, name, isAvailable }. Both are empty for all documents.
let chosen = { collections: [], documents: [] };
let collections = []; // of GET /collections

const isAllDocuments = () => KINDS.every((kind) => chosen[kind].length === 0);

function setChosen(selection) {
  chosen = { collections: [], documents: [], ...selection };
  showChosen();
}

async function loadCollections() {
  collections = (await (await callApi("/collections?include=hidden")).json()).map(withFixedName);
  showDestinations();
  showSharing();
}

const hasMoreCollections = () => collections.length >= 1000; // the service lists no more at once
const withFixedName = (one) => ({ ...one, name: one.kind === "shared" ? one.name : (FIXED_NAMES[one.name] ?? one.name) });

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
    setChosen({ documents: [{ id: "", name: t("nothing"), isAvailable: false }] });
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
      Object.assign(source, { name: found?.name ?? source.name, isAvailable: !!found || hasMoreCollections() });
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
  if (!all.length) chips.push(createElement("li", { class: "chosen-chip" }, t("all-documents")));
  if (all.length > CHIPS_MAX) {
    const label = t("and-more", { count: all.length - CHIPS_MAX });
    chips.push(createElement("li", { class: "chosen-chip" }, label));
  }
  byId("chosen").replaceChildren(...chips);
  byId("choose").textContent = all.length ? t("change-sources") : t("choose-sources");
}

function createChosenChip(kind, source) {
  const name = source.name === "…" && !source.isAvailable ? t("a-source") : source.name;
  const label = source.isAvailable ? t("remove-name", { name }) : t("remove-unavailable", { name });
  return createElement("li", { class: source.isAvailable ? "chosen-chip" : "chosen-chip unavailable" },
    createElement("bdi", {}, name),
    source.isAvailable ? null : createElement("span", {}, t("unavailable")),
    createElement("button", {
      type: "button", class: "icon", "aria-label": label, title: t("remove"), click: () => removeChosen(kind, source),
    }, createGlyph("i-close")));
}

function removeChosen(kind, source) {
  setChosen({ ...chosen, [kind]: chosen[kind].filter((other) => other !== source) });
  announce(isAllDocuments() ? t("answered-from-all") : t("removed", { name: source.name }));
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
  announce(t("answered-from", { title }));
  byId("question").focus({ preventScroll: !narrowScreen.matches });
}

// Marks a document as no longer available after it was deleted.
function forgetChosenDocument(id) {
  for (const source of chosen.documents) if (source.id === id) source.isAvailable = false;
  showChosen();
}

// The collection that uploads go to, and who can read them there.
function showDestinations() {
  const select = byId("destination");
  const possible = collections.filter((one) => one.role !== "viewer" && !one.is_hidden);
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
  if (roleOfAll) return t("readers-all");
  // Without members, only its owner sees a collection.
  if (kind === "personal" || members === 0) return t("readers-none");
  return t("readers-members", { name, count: members });
}
