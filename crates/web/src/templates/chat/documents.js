
// Documents: the list and its states, uploads, deletions.

const LISTED = 50;
const STATES = { pending: "Processing", ingested: "Ready", failed: "Failed" };
const POLL_FIRST = 1000;
const POLL_LAST = 15000;

let rows = new Map(); // of the documents in the list, by id: { node, status }
let cursor = null;
let listing = 0; // counts the lists that were asked for, so that a late one is known
let polling = null;
let pause = POLL_FIRST;
let uploads = Promise.resolve();

async function list({ more = false } = {}) {
  listing += 1;
  const own = listing;
  const query = new URLSearchParams({ limit: String(LISTED) });
  const search = byId("documents-search").value.trim();
  if (search) query.set("q", search);
  if (more && cursor) query.set("cursor", cursor);
  alertIn("documents-alert");
  try {
    const answer = await call(`/documents?${query}`);
    const documents = await answer.json();
    if (own !== listing) return;
    cursor = answer.headers.get("X-Next-Cursor");
    if (!more) {
      rows = new Map();
      byId("documents-list").replaceChildren();
    }
    for (const document of documents) byId("documents-list").append(rowOf(document));
    byId("documents-more").hidden = !cursor;
    const empty = byId("documents-empty");
    empty.hidden = rows.size > 0;
    empty.textContent = search ? "No matching documents." : "No documents yet. Upload a PDF to start.";
    pollSoon();
  } catch (error) {
    if (own === listing && session) alertIn("documents-alert", sentenceOf(error));
  }
}

function rowOf({ id, title, status }) {
  const report = el("div", { class: "report" });
  const details = el("details", {
    toggle: () => { if (details.open) tellReport(id, report); },
  }, el("summary", {}, "Details", el("span", { class: "unseen" }, ` of ${title}`)), report,
  el("button", { type: "button", class: "quiet", click: () => remove(id, title) }, "Delete…"));
  const node = el("li", {}, el("bdi", { class: "title" }, title), pill(status), details);
  rows.set(id, { node, details, report, title, status });
  return node;
}

const pill = (status) => el("span", { class: `pill ${status}` }, STATES[status] ?? status);

// Says what became of an upload: why it failed, or what of it cannot be found.
async function tellReport(id, place) {
  try {
    const { coverage, failure, warnings } = await (await call(`/documents/${id}/report`)).json();
    const lines = [];
    if (failure) lines.push(el("p", { class: "reason" }, `Failed: ${failure.reason}`));
    if (coverage) lines.push(el("p", {}, `Pages: ${coverage.pages}, ${coverage.pages_with_text} with text.`));
    for (const warning of warnings) lines.push(el("p", { class: "warning" }, `Warning: ${warning}`));
    place.replaceChildren(...(lines.length ? lines : [el("p", {}, "No details yet.")]));
    return { failure, warnings };
  } catch (error) {
    place.replaceChildren(el("p", { class: "reason" }, sentenceOf(error)));
    return { failure: null, warnings: [] };
  }
}

// Looks at pending documents again and again, ever more slowly, for as long as the page is seen.
function pollSoon() {
  clearTimeout(polling);
  const isWaiting = [...rows.values()].some(({ status }) => status === "pending");
  if (!isWaiting || !session || document.hidden) return;
  polling = setTimeout(poll, pause);
  pause = Math.min(pause * 1.3, POLL_LAST);
}

async function poll() {
  const waiting = [...rows].filter(([, { status }]) => status === "pending").map(([id]) => id).slice(0, 10);
  try {
    for (const id of waiting) settle(await (await call(`/documents/${id}`)).json());
  } catch { /* The next look may do better. */ }
  pollSoon();
}

// Shows a document's new state, and what is to be known of it.
async function settle({ id, status }) {
  const row = rows.get(id);
  if (!row || row.status === status) return;
  row.status = status;
  row.node.querySelector(".pill").replaceWith(pill(status));
  say(`${row.title}: ${STATES[status] ?? status}`);
  pause = POLL_FIRST;
  const { failure, warnings } = await tellReport(id, row.report);
  if (failure || warnings.length) row.details.open = true;
}

function upload(files) {
  byId("side").classList.remove("folded");
  tellSide();
  for (const chosen of files) {
    const line = el("li", {}, el("bdi", {}, chosen.name), ": waiting");
    byId("uploads").append(line);
    uploads = uploads.then(() => uploadOne(chosen, line));
  }
}

async function uploadOne(chosen, line) {
  const isPdf = chosen.type === "application/pdf" || chosen.name.toLowerCase().endsWith(".pdf");
  const name = el("bdi", {}, chosen.name);
  try {
    if (!isPdf) throw new Failure(415, "Only PDF files are supported");
    const bar = el("progress", { max: "1", value: "0", "aria-label": `Uploading ${chosen.name}` });
    line.replaceChildren(name, " ", bar);
    const document = await withToken((bearer) => post(chosen, bearer, (part) => { bar.value = part; }));
    if (!session) return;
    line.remove();
    say(`${document.title} was uploaded and is being processed.`);
    byId("documents-list").prepend(rowOf(document));
    byId("documents-empty").hidden = true;
    pause = POLL_FIRST;
    pollSoon();
  } catch (error) {
    const dismiss = el("button", { type: "button", class: "quiet", click: () => line.remove() }, "Dismiss");
    line.replaceChildren(el("span", { class: "reason" }, name, `: not uploaded. ${sentenceOf(error)}`), dismiss);
    say(`${chosen.name} is not uploaded. ${sentenceOf(error)}`);
  }
}

// Sends a file, by a request that tells how far it has come.
function post(chosen, bearer, progressed) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", "/documents/upload");
    request.setRequestHeader("Authorization", `Bearer ${bearer}`);
    request.responseType = "json";
    request.upload.addEventListener("progress", (event) => {
      if (event.lengthComputable) progressed(event.loaded / event.total);
    });
    request.addEventListener("error", () => reject(new Failure(0)));
    request.addEventListener("load", () => {
      const { status, response } = request;
      if (status === 202) resolve(response);
      else reject(Failure.of(status, response, request.getResponseHeader("Retry-After")));
    });
    const body = new FormData();
    body.append("file", new File([chosen], chosen.name, { type: "application/pdf" }));
    request.send(body);
  });
}

async function remove(id, title) {
  const what = "and its extracted text will be permanently deleted. Answers can no longer cite it.";
  if (!await confirmed("Delete this document?", title, what)) return;
  const row = rows.get(id);
  try {
    await call(`/documents/${id}`, { method: "DELETE" });
  } catch (error) {
    // Somebody else may have deleted it already.
    if (error.status !== 404) {
      const why = error.status === 403 ? "Only the uploader or an administrator can delete this document." : sentenceOf(error);
      row?.report.replaceChildren(el("p", { class: "reason", role: "alert" }, `Not deleted. ${why}`));
      return;
    }
  }
  rows.delete(id);
  row?.node.remove();
  if (shown?.source.document_id === id) closeSource();
  if (file?.id === id) dropFile();
  byId("documents-empty").hidden = rows.size > 0;
  say(`${title} is deleted.`);
  byId("documents-search").focus({ preventScroll: true });
}

function watchDrops() {
  const hasFiles = (event) => event.dataTransfer?.types.includes("Files");
  const mark = (isOver) => root.classList.toggle("over", isOver);
  addEventListener("dragover", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    mark(session !== null);
  });
  addEventListener("dragleave", (event) => { if (!event.relatedTarget) mark(false); });
  addEventListener("drop", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    mark(false);
    if (session) upload(event.dataTransfer.files);
  });
}
