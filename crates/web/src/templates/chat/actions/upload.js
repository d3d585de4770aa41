
// Uploads: one file after the other, with their progress, and what the user can do about those that fail.

let uploadQueue = Promise.resolve();
let unsentUploads = 0;

// Leaving the page would end the uploads.
addEventListener("beforeunload", (event) => { if (unsentUploads) event.preventDefault(); });

function enqueueUploads(files, destination) {
  for (const file of files) {
    const line = createElement("li", {}, ...tNodes("upload-waiting", { name: createElement("bdi", {}, file.name) }));
    byId("uploads").append(line);
    enqueueUpload(file, destination, line);
  }
}

function enqueueUpload(file, destination, line) {
  unsentUploads += 1;
  uploadQueue = uploadQueue.then(() => uploadFile(file, destination, line)).finally(() => { unsentUploads -= 1; });
}

async function uploadFile(file, destination, line) {
  const isPdf = file.type === "application/pdf" || file.name.toLowerCase().endsWith(".pdf");
  try {
    if (!isPdf && chat.isPdfOnly()) throw new ApiError(415, t("only-pdf"));
    const progress = createElement("progress", { max: "1", value: "0", "aria-label": t("upload-progress", { name: file.name }) });
    const bytes = createElement("span", { class: "hint" });
    const onProgress = (sent, total) => {
      progress.value = sent / total;
      // The request is larger than the file.
      bytes.textContent = t("upload-bytes", { sent: formatBytes(Math.min(sent, file.size)), size: formatBytes(file.size) });
    };
    onProgress(0, 1);
    line.replaceChildren(createElement("bdi", {}, file.name), " ", bytes, progress);
    const uploaded = await withSession(() => postFile(file, destination, onProgress));
    if (!chat.session) return;
    line.remove();
    await showUploaded(uploaded, destination);
  } catch (error) {
    showFailedUpload(file, destination, line, error);
  }
}

// Adds an uploaded document to the list, with where it is and who can read it.
async function showUploaded(uploaded, destination) {
  const { id, title } = uploaded;
  announce(t("uploaded", { title }));
  const access = { is_own: true, collection_ids: [], can_change: true, can_delete: true };
  const { progress } = await chat.addDocument({ ...uploaded, access });
  const collection = chat.collections.find((one) => one.id === destination);
  if (collection) {
    progress.before(createElement("p", { class: "hint" }, ...tNodes("uploaded-to", {
      collection: createElement("bdi", {}, collection.name), readers: chat.describeReaders(collection),
    })));
  }
  try {
    const report = await (await callApi(`/documents/${id}/report`)).json();
    await chat.updateStatus(report);
    if (report.duplicate_of) await showDuplicate(progress, report.duplicate_of);
  } catch { /* The list shows the document without it. */ }
}

// Says which document has the same file, and opens it.
async function showDuplicate(place, id) {
  const { title, status } = await (await callApi(`/documents/${id}`)).json();
  const name = createElement("bdi", {}, title);
  const link = status === "ingested"
    ? createElement("button", {
      type: "button", class: "link", "aria-expanded": "false", "aria-controls": "source",
      click: ({ currentTarget }) => chat.openListed(id, title, currentTarget),
    }, name)
    : name;
  place.before(createElement("p", { class: "warning" }, ...tNodes("duplicate", { document: link })));
}

function showFailedUpload(file, destination, line, error) {
  const isUnknown = error.status === 404 || error.status === 403;
  const message = isUnknown ? t("upload-not-allowed") : uploadMessage(error);
  if (isUnknown && chat.session) chat.loadCollections().catch(() => { /* The list stays as it is. */ });
  const retry = () => {
    line.replaceChildren(...tNodes("upload-waiting", { name: createElement("bdi", {}, file.name) }));
    enqueueUpload(file, destination, line);
  };
  // Without a change, the service would refuse the same request again.
  const canRetry = [0, 401, 408, 429].includes(error.status) || error.status >= 500;
  line.replaceChildren(...[
    createElement("span", { class: "reason" }, ...tNodes("not-uploaded", { name: createElement("bdi", {}, file.name), reason: message })), " ",
    canRetry && createButton(t("try-again"), retry), " ",
    createButton(t("dismiss"), () => line.remove()),
  ].filter(Boolean));
  announce(t("not-uploaded", { name: file.name, reason: message }));
}

// Why the service refuses a file.
function uploadMessage(error) {
  if (error.status === 413) return t("upload-too-large");
  if (error.status !== 415) return errorMessage(error);
  const reason = chat.isPdfOnly() ? `${t("only-pdf")}.` : t("upload-unsupported", { types: byId("files").dataset.types });
  return chat.session?.is_staff ? `${reason} ${t("upload-types-setting")}.` : reason;
}

// Uploads a file with XMLHttpRequest, because `fetch` does not report the progress of an upload.
function postFile(file, destination, onProgress) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", serviceUrl(`/documents/upload${destination ? `?collection_id=${destination}` : ""}`));
    for (const [name, value] of Object.entries(accountHeader())) request.setRequestHeader(name, value);
    request.responseType = "json";
    request.upload.addEventListener("progress", (event) => {
      if (event.lengthComputable) onProgress(event.loaded, event.total);
    });
    request.addEventListener("error", () => reject(new ApiError(0)));
    request.addEventListener("load", () => {
      const { status, response } = request;
      if (status === 202) resolve(response);
      else reject(ApiError.fromResponse(status, response, request.getResponseHeader("Retry-After")));
    });
    const body = new FormData();
    body.append("file", new File([file], file.name, chat.isPdfOnly() ? { type: "application/pdf" } : { type: file.type }));
    request.send(body);
  });
}

function formatBytes(bytes) {
  if (bytes < 1000) return `${bytes} B`;
  const [size, unit] = bytes < 1e6 ? [bytes / 1e3, "kB"] : [bytes / 1e6, "MB"];
  return `${size.toLocaleString(locale, { maximumFractionDigits: size < 10 ? 1 : 0 })} ${unit}`;
}
