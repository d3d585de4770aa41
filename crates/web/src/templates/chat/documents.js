
// Documents: the list with their status, uploads and deletion.

const DOCUMENTS_PER_REQUEST = 50;
const STATUS_LABELS = { pending: "Processing", ingested: "Ready", failed: "Failed" };
const POLLED_DOCUMENTS_MAX = 10;
// In milliseconds.
const POLL_DELAY_MIN = 1000;
const POLL_DELAY_MAX = 15000;

let documentRows = new Map(); // by document ID: { row, heading, details, report, actions, title, status, access }
let nextDocumentsCursor = null;
let documentsRequest = 0; // number of the latest request for the list; earlier responses are ignored
let pollTimer = null;
let pollDelay = POLL_DELAY_MIN;
let uploadQueue = Promise.resolve();

async function loadDocuments({ more = false } = {}) {
  documentsRequest += 1;
  const request = documentsRequest;
  const query = new URLSearchParams({ limit: String(DOCUMENTS_PER_REQUEST), include: "access" });
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
    const empty = byId("documents-empty");
    empty.hidden = documentRows.size > 0;
    empty.textContent = search ? "No matching documents." : `No documents yet. Upload a ${isPdfOnly() ? "PDF" : "file"} to start.`;
    schedulePoll();
  } catch (error) {
    if (request === documentsRequest && session) setAlert("documents-alert", errorMessage(error));
  }
}

function createDocumentRow({ id, title, status, access }) {
  const report = createElement("div", { class: "report" });
  const actions = createElement("div", { class: "actions" });
  const details = createElement("details", {
    toggle: () => { if (details.open) loadReport(id, report); },
  }, createElement("summary", {}, "Details", createElement("span", { class: "visually-hidden" }, ` of ${title}`)), report,
  actions);
  const origin = describeOrigin(access);
  const heading = createElement("div", { class: "title" });
  const row = createElement("li", {}, heading,
    origin && createElement("p", { class: "hint" }, origin), createPill(status), details);
  documentRows.set(id, { row, heading, details, report, actions, title, status, access });
  showActions(id);
  return row;
}

// Who added a document, unless it is the user, and its collections, unless it is only in that of everyone.
function describeOrigin({ is_own: isOwn, owner_id: ownerId, owner_email: email, collection_ids: ids }) {
  const parts = [];
  if (!isOwn && ownerId) parts.push(email ? `by ${email}` : "by another account");
  const its = collections.filter(({ id }) => ids.includes(id));
  if (its.some(({ kind }) => kind !== "everyone")) parts.push(`in ${its.map(({ name }) => name).join(", ")}`);
  return parts.join(" ");
}

// Shows the buttons for what the user may do with a document in its state. The title of a document that is ready opens it.
function showActions(id) {
  const { heading, actions, title, status, access } = documentRows.get(id);
  const name = createElement("bdi", {}, title);
  const open = ({ currentTarget }) => withViewer(({ openDocument }) => openDocument(id, title, currentTarget));
  heading.replaceChildren(status !== "ingested" ? name : createElement("button", {
    type: "button", class: "link", "aria-expanded": "false", "aria-controls": "source", click: open,
  }, name));
  const createButton = (label, click) => createElement("button", { type: "button", class: "quiet", click }, label);
  actions.replaceChildren(...[
    status === "ingested" && createButton("Ask this document", () => askDocument(id, title)),
    status === "ingested" && createElement("button", {
      type: "button", class: "quiet", "aria-expanded": "false", "aria-controls": "source", click: ({ currentTarget }) => openSummary(id, title, currentTarget),
    }, "Summary"),
    status === "failed" && access.can_change && createButton("Try again", () => retryDocument(id)),
    access.can_delete && createButton("Delete…", () => deleteDocument(id, title)),
  ].filter(Boolean));
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

async function retryDocument(id) {
  const entry = documentRows.get(id);
  try {
    await updateStatus(await (await callApi(`/documents/${id}/retry`, { method: "POST" })).json());
    entry.details.querySelector("summary").focus({ preventScroll: true });
    schedulePoll();
  } catch (error) {
    const message = `Not tried again. ${errorMessage(error)}`;
    entry.report.replaceChildren(createElement("p", { class: "reason", role: "alert" }, message));
  }
}

function createPill(status) {
  return createElement("span", { class: `pill ${status}` }, STATUS_LABELS[status] ?? status);
}

// Shows the ingestion report of a document: its failure, coverage and warnings.
async function loadReport(id, container) {
  const createLine = (text, style) => createElement("p", style ? { class: style } : {}, text);
  try {
    const { coverage, failure, warnings } = await (await callApi(`/documents/${id}/report`)).json();
    const lines = [];
    if (failure) lines.push(createLine(`Failed: ${failure.reason}`, "reason"), createLine(`What to do: ${failure.advice}`));
    if (coverage) lines.push(createLine(`Pages: ${coverage.pages}, ${coverage.pages_with_text} with text.`));
    for (const warning of warnings) lines.push(createLine(`Warning: ${warning}`, "warning"));
    container.replaceChildren(...(lines.length ? lines : [createLine("No details yet.")]));
    return { failure, warnings };
  } catch (error) {
    container.replaceChildren(createLine(errorMessage(error), "reason"));
    return { failure: null, warnings: [] };
  }
}

// Schedules the next poll of pending documents, with increasing delays, while the page is visible.
function schedulePoll() {
  clearTimeout(pollTimer);
  const hasPending = [...documentRows.values()].some(({ status }) => status === "pending");
  if (!hasPending || !session || document.hidden) return;
  pollTimer = setTimeout(pollPending, pollDelay);
  pollDelay = Math.min(pollDelay * 1.3, POLL_DELAY_MAX);
}

async function pollPending() {
  const pending = [...documentRows].filter(([, { status }]) => status === "pending").map(([id]) => id);
  try {
    for (const id of pending.slice(0, POLLED_DOCUMENTS_MAX)) {
      updateStatus(await (await callApi(`/documents/${id}`)).json());
    }
  } catch { /* The next poll tries again. */ }
  schedulePoll();
}

// Shows the new status of a document, and opens its details if there is a failure or a warning.
async function updateStatus({ id, status }) {
  const entry = documentRows.get(id);
  if (!entry || entry.status === status) return;
  entry.status = status;
  showActions(id);
  entry.row.querySelector(".pill").replaceWith(createPill(status));
  announce(`${entry.title}: ${STATUS_LABELS[status] ?? status}`);
  pollDelay = POLL_DELAY_MIN;
  const { failure, warnings } = await loadReport(id, entry.report);
  if (failure || warnings.length) entry.details.open = true;
}

function enqueueUploads(files) {
  byId("side").classList.remove("folded");
  updateSidebarToggle();
  const destination = byId("destination").value;
  for (const file of files) {
    const line = createElement("li", {}, createElement("bdi", {}, file.name), ": waiting");
    byId("uploads").append(line);
    uploadQueue = uploadQueue.then(() => uploadFile(file, destination, line));
  }
}

// Whether the service accepts PDFs only. Otherwise it finds the type of each file by its content.
function isPdfOnly() {
  return byId("files").dataset.types === "PDF";
}

async function uploadFile(file, destination, line) {
  const isPdf = file.type === "application/pdf" || file.name.toLowerCase().endsWith(".pdf");
  const name = createElement("bdi", {}, file.name);
  try {
    if (!isPdf && isPdfOnly()) throw new ApiError(415, "Only PDF files are supported");
    const progress = createElement("progress", { max: "1", value: "0", "aria-label": `Uploading ${file.name}` });
    line.replaceChildren(name, " ", progress);
    const uploaded = await withSession(() =>
      postFile(file, destination, (part) => { progress.value = part; }));
    if (!session) return;
    line.remove();
    announce(`${uploaded.title} was uploaded and is being processed.`);
    const access = { is_own: true, collection_ids: [destination], can_change: true, can_delete: true };
    byId("documents-list").prepend(createDocumentRow({ ...uploaded, access }));
    byId("documents-empty").hidden = true;
    pollDelay = POLL_DELAY_MIN;
    schedulePoll();
  } catch (error) {
    const isUnknown = error.status === 404 || error.status === 403;
    const message = isUnknown ? "You can no longer add documents to this collection." : errorMessage(error);
    if (isUnknown && session) loadCollections().catch(() => { /* The list stays as it is. */ });
    const dismiss = createElement("button", { type: "button", class: "quiet", click: () => line.remove() }, "Dismiss");
    line.replaceChildren(createElement("span", { class: "reason" }, name, `: not uploaded. ${message}`), dismiss);
    announce(`${file.name} was not uploaded. ${message}`);
  }
}

// Uploads a file with XMLHttpRequest, because `fetch` does not report the progress of an upload.
function postFile(file, destination, onProgress) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", `/documents/upload${destination ? `?collection_id=${destination}` : ""}`);
    for (const [name, value] of Object.entries(accountHeader())) request.setRequestHeader(name, value);
    request.responseType = "json";
    request.upload.addEventListener("progress", (event) => {
      if (event.lengthComputable) onProgress(event.loaded / event.total);
    });
    request.addEventListener("error", () => reject(new ApiError(0)));
    request.addEventListener("load", () => {
      const { status, response } = request;
      if (status === 202) resolve(response);
      else reject(ApiError.fromResponse(status, response, request.getResponseHeader("Retry-After")));
    });
    const body = new FormData();
    body.append("file", new File([file], file.name, isPdfOnly() ? { type: "application/pdf" } : { type: file.type }));
    request.send(body);
  });
}

async function deleteDocument(id, title) {
  const consequence = "and its extracted text will be permanently deleted. Answers can no longer cite it.";
  if (!await confirmDeletion("Delete this document?", title, consequence)) return;
  const entry = documentRows.get(id);
  try {
    await callApi(`/documents/${id}`, { method: "DELETE" });
  } catch (error) {
    // 404: the document is already deleted.
    if (error.status !== 404) {
      const reason = `Not deleted. ${errorMessage(error)}`;
      entry?.report.replaceChildren(createElement("p", { class: "reason", role: "alert" }, reason));
      return;
    }
  }
  documentRows.delete(id);
  forgetChosenDocument(id);
  entry?.row.remove();
  viewer?.closeDocument(id);
  byId("documents-empty").hidden = documentRows.size > 0;
  announce(`${title} was deleted.`);
  byId("documents-search").focus({ preventScroll: true });
}

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
