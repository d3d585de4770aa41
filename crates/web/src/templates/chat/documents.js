
// Documents: the list with their status and the steps of their ingestion.

const DOCUMENTS_PER_REQUEST = 50;
const STATUS_LABELS = { pending: t("status-pending"), ingested: t("status-ingested"), failed: t("status-failed") };
const POLLED_DOCUMENTS_MAX = 10;
// In milliseconds.
const POLL_DELAY_MIN = 1000;
const POLL_DELAY_MAX = 15000;

let documentRows = new Map(); // by document ID: { row, heading, progress, details, report, actions, title, status, access }
let nextDocumentsCursor = null;
let documentsRequest = 0; // number of the latest request for the list; earlier responses are ignored
let documentsLoading = Promise.resolve(); // the latest request for the list
let pollTimer = null;
let pollDelay = POLL_DELAY_MIN;

function loadDocuments(options) {
  documentsLoading = requestDocuments(options);
  return documentsLoading;
}

async function requestDocuments({ more = false } = {}) {
  documentsRequest += 1;
  const request = documentsRequest;
  const query = new URLSearchParams({ limit: String(DOCUMENTS_PER_REQUEST), include: "details" });
  const search = byId("documents-search").value.trim();
  if (search) query.set("q", search);
  if (more && nextDocumentsCursor) query.set("cursor", nextDocumentsCursor);
  setAlert("documents-alert");
  try {
    const response = await callApi(`/documents?${query}`);
    const documents = await response.json();
    if (request !== documentsRequest) return;
    nextDocumentsCursor = response.headers.get("X-Next-Cursor");
    if (!more) {
      documentRows = new Map();
      byId("documents-list").replaceChildren();
    }
    byId("documents-list").append(...documents.map(createDocumentRow));
    byId("documents-more").hidden = !nextDocumentsCursor;
    showEmptyList();
    showWelcome();
    schedulePoll();
  } catch (error) {
    if (request === documentsRequest && session) setAlert("documents-alert", errorMessage(error));
  }
}

// Says what to do next if the list is empty.
function showEmptyList() {
  const empty = byId("documents-empty");
  const next = byId("upload-area").hidden ? NO_UPLOADS : t("upload-to-start", { type: fileType() });
  empty.hidden = documentRows.size > 0;
  empty.textContent = byId("documents-search").value.trim()
    ? t("documents-none-match")
    : t("documents-none", { next });
}

function createDocumentRow({ id, title, status, access, pages, pages_without_text: empty }) {
  const report = createElement("div", { class: "report" });
  const actions = createElement("div", { class: "actions" });
  const details = createElement("details", {
    toggle: () => { if (details.open) act("loadReport", id, report); },
  }, createElement("summary", {}, t("details"), createElement("span", { class: "visually-hidden" }, ` ${t("details-of", { title })}`)), report,
  actions);
  const origin = describeOrigin(access);
  const heading = createElement("div", { class: "title" });
  const progress = createElement("p", { class: "hint", hidden: true });
  const row = createElement("li", {}, heading,
    origin && createElement("p", { class: "hint" }, origin), createPill(status, pages, empty), details, progress);
  documentRows.set(id, { row, heading, progress, details, report, actions, title, status, access });
  showActions(id);
  return row;
}

// How others see an account: by its address, since everyone chooses a name.
const personName = (name, email) => (name ? `${name} (${email})` : email);

// Who added a document, unless it is the user, and its collections, unless it is only in that of everyone.
function describeOrigin({ is_own: isOwn, owner_id: ownerId, owner_email: email, owner_name: name, collection_ids: ids }) {
  const parts = [];
  if (!isOwn && ownerId) parts.push(email ? t("by", { account: personName(name, email) }) : t("by-other"));
  const its = collections.filter(({ id }) => ids.includes(id));
  if (its.some(({ kind }) => kind !== "everyone")) parts.push(t("in", { collections: its.map(({ name }) => name).join(", ") }));
  return parts.join(" ");
}

// Shows the buttons for what the user may do with a document in its state. The title of a document that is ready opens it.
function showActions(id) {
  const { heading, actions, title, status, access } = documentRows.get(id);
  const name = createElement("bdi", {}, title);
  const open = ({ currentTarget }) => openListed(id, title, currentTarget);
  heading.replaceChildren(status !== "ingested" ? name : createElement("button", {
    type: "button", class: "link", "aria-expanded": "false", "aria-controls": "source", click: open,
  }, name));
  const createButton = (label, click) => createElement("button", { type: "button", class: "quiet", click }, label);
  actions.replaceChildren(...[
    status === "ingested" && createButton(t("ask-document"), () => askDocument(id, title)),
    status === "ingested" && createElement("button", {
      type: "button", class: "quiet", "aria-expanded": "false", "aria-controls": "source", click: ({ currentTarget }) => openSummary(id, title, currentTarget),
    }, t("summary")),
    status === "failed" && access.can_change && createButton(t("try-again"), () => act("retryDocument", id)),
    access.can_delete && createButton(t("delete-ask"), () => act("deleteDocument", id, title)),
  ].filter(Boolean));
}

// Opens a document at its first page.
function openListed(id, title, button) {
  return withViewer(({ openDocument }) => openDocument(id, title, button));
}

// Opens a document at its summary.
async function openSummary(id, title, button) {
  button.disabled = true;
  try {
    await withViewer(({ openSummary: open }) => open(id, title, button));
  } catch (error) {
    documentRows.get(id)?.report.replaceChildren(createElement("p", { class: "reason", role: "alert" }, errorMessage(error)));
  }
  button.disabled = false;
}

// The status of a document. One that is ready with text on less than half of its pages has a warning.
function createPill(status, pages, empty) {
  if (status === "ingested" && empty * 2 > pages) {
    return createElement("span", { class: "pill pending" }, t("status-ingested-partly", { empty, pages }));
  }
  return createElement("span", { class: `pill ${status}` }, STATUS_LABELS[status] ?? status);
}

// Schedules the next poll of pending documents, with increasing delays, while the page is visible.
function schedulePoll() {
  clearTimeout(pollTimer);
  const hasPending = [...documentRows.values()].some(({ status }) => status === "pending");
  if (!hasPending || !session || document.hidden) return;
  pollTimer = setTimeout(pollPending, pollDelay);
  pollDelay = Math.min(pollDelay * 1.3, POLL_DELAY_MAX);
}

function pollSoon() {
  pollDelay = POLL_DELAY_MIN;
  schedulePoll();
}

async function pollPending() {
  const pending = [...documentRows].filter(([, { status }]) => status === "pending").map(([id]) => id);
  try {
    for (const id of pending.slice(0, POLLED_DOCUMENTS_MAX)) {
      updateStatus(await (await callApi(`/documents/${id}/report`)).json());
    }
  } catch { /* The next poll tries again. */ }
  schedulePoll();
}

// Shows the new status of a document, and opens its details if there is a failure or a warning.
async function updateStatus({ id, status, file, coverage, progress = null, waiting = null }) {
  const entry = documentRows.get(id);
  if (!entry) return;
  entry.progress.hidden = status !== "pending";
  const wait = file === null ? t("no-file") : waiting && t("waiting-for", { reason: waiting.reason });
  entry.progress.textContent = wait || describeProgress(progress);
  if (entry.status !== status) {
    entry.status = status;
    showActions(id);
    entry.row.querySelector(".pill").replaceWith(createPill(status, coverage?.pages, coverage?.pages - coverage?.pages_with_text));
    announce(`${entry.title}: ${STATUS_LABELS[status] ?? status}`);
    pollDelay = POLL_DELAY_MIN;
    showWelcome();
    const { failure, warnings } = await act("loadReport", id, entry.report) ?? {};
    if (failure || warnings?.length) entry.details.open = true;
  }
  showWelcomeProgress();
}

// The current step of an ingestion.
function describeProgress(progress) {
  if (!progress) return t("waiting");
  const { stage, page, pages } = progress;
  const texts = {
    extract: t("stage-extract"),
    recognize: page ? t("stage-recognize-page", { page: String(page), pages: String(pages) }) : t("stage-recognize"),
    chunk: t("stage-chunk", { count: pages }),
    embed: t("stage-embed", { count: pages }),
    index: t("stage-index", { count: pages }),
  };
  return texts[stage] ?? t("stage");
}

// Adds an uploaded document to the list, and returns its row.
async function addDocument(added) {
  // A list that is still being loaded would replace the row, and it can lack the document.
  await documentsLoading;
  documentRows.get(added.id)?.row.remove();
  byId("documents-list").prepend(createDocumentRow(added));
  showEmptyList();
  showWelcome();
  pollSoon();
  return documentRows.get(added.id);
}

// Removes a deleted document from the page.
function forgetDocument(id) {
  documentRows.get(id)?.row.remove();
  documentRows.delete(id);
  forgetChosenDocument(id);
  viewer?.closeDocument(id);
  showEmptyList();
  showWelcome();
}

function enqueueUploads(files) {
  openSidebar();
  act("enqueueUploads", [...files], byId("destination").value);
}

// Whether the service accepts PDFs only. Otherwise it finds the type of each file by its content.
function isPdfOnly() {
  return byId("files").dataset.types === "PDF";
}

const fileType = () => (isPdfOnly() ? "pdf" : "other");
const NO_UPLOADS = t("no-uploads");

function acceptDroppedFiles() {
  const hasFiles = (event) => event.dataTransfer?.types.includes("Files");
  const highlight = (isOver) => root.classList.toggle("over", isOver);
  addEventListener("dragover", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    highlight(session !== null);
  });
  addEventListener("dragleave", (event) => { if (!event.relatedTarget) highlight(false); });
  addEventListener("drop", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    highlight(false);
    if (session) enqueueUploads(event.dataTransfer.files);
  });
}
