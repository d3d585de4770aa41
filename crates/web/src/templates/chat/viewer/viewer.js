// The document viewer: a second module, which the chat loads when a document is opened first. crates/web/src/chat.rs
// concatenates the files of this folder. They use the names of the chat below.

let chat;
let t, tNodes, byId, createElement, callApi, ApiError, errorMessage, setAlert, announce, delay, narrowScreen, formatPages, placeLabel, renderPassage, askDocument, askSuggested, hidePreview, startConversation,
  setChosen;

const ZOOM_MIN = 0.5;
const ZOOM_MAX = 5;
const ZOOM_STEP = 1.25;
const SCROLL_STEP = 60; // in pixels, for an arrow key
const READABLE_LINE = 16; // height of a line in pixels to which a narrow screen zooms
const SMALL_LINE = 12; // the same at least, so that more of the line is in view
const THREE_COLUMNS = 1400; // width in pixels from which sidebar, conversation and document have room

// The open document: { source, page, chip, opener, pageCount, isPdf, isText, hasReport, target, hasSummary }. Without its report, the number of pages
// is not known. `target` is the page to show until its marks are placed or the reader scrolls.
let opened = null;
let zoom = 1;
let isZoomChosen = false;
let pinch = null; // { distance, zoom } at the start of a gesture
let hasFoldedSidebar = false;
let cachedFile = null; // { documentId, url } of the file that was fetched last

// Sets up the viewer with the names of the chat.
export function start(names) {
  chat = names;
  ({
    t, tNodes, byId, createElement, callApi, ApiError, errorMessage, setAlert, announce, delay, narrowScreen, formatPages, placeLabel, renderPassage, askDocument, askSuggested, hidePreview,
    startConversation, setChosen,
  } = names);
  const listen = (id, event, listener, options) => byId(id).addEventListener(event, listener, options);
  listen("source-close", "click", closeSource);
  listen("source", "cancel", (event) => { event.preventDefault(); closeSource(); });
  listen("source", "keydown", onViewerKeydown);
  listen("previous-page", "click", () => changePage(-1));
  listen("next-page", "click", () => changePage(1));
  listen("page-number", "change", enterPage);
  listen("page-number", "focus", ({ target }) => target.select());
  listen("page-number", "keydown", (event) => {
    if (event.key !== "Enter") return;
    enterPage();
    event.target.select();
  });
  listen("zoom-out", "click", () => chooseZoom(zoom / ZOOM_STEP));
  listen("zoom-in", "click", () => chooseZoom(zoom * ZOOM_STEP));
  listen("zoom-reset", "click", () => chooseZoom(1));
  listen("text-view", "click", toggleText);
  listen("find-toggle", "click", () => (byId("find").hidden ? openFind() : closeFind()));
  listen("find-text", "input", onFindInput);
  listen("find", "keydown", onFindKeydown);
  listen("find", "submit", onFindSubmit);
  listen("find-previous", "click", () => changeHit(-1));
  listen("find-next", "click", () => changeHit(1));
  listen("source-file", "click", openFile);
  listen("source-ask", "click", () => {
    const { document_id: id, title } = opened.source;
    closeSource();
    askDocument(id, title);
  });
  listen("summary", "toggle", loadSummary);
  listen("pages", "scroll", onScroll, { passive: true });
  listen("pages", "wheel", onWheel, { passive: false });
  listen("pages", "touchstart", onTouchStart, { passive: true });
  listen("pages", "touchmove", onTouchMove, { passive: false });
  listen("pages", "touchend", () => { pinch = null; });
  listen("selection-ask", "click", askSelection);
  // A press on the button would remove the selection.
  listen("selection-ask", "pointerdown", (event) => event.preventDefault());
  document.addEventListener("selectionchange", onSelectionChange);
  narrowScreen.addEventListener("change", showDialog);
  new ResizeObserver(onResize).observe(byId("pages"));
  return { openSource, openLinked, openDocument, openSummary, closeSource, closeDocument, isOpenedFrom, releaseFile };
}

let shownWidth = 0; // of the pages, in pixels

// Pages get higher or lower with the width, as when a phone is turned: the current one stays in view.
function onResize() {
  const { clientWidth } = byId("pages");
  const isOther = shownWidth && clientWidth && clientWidth !== shownWidth;
  if (isOther && opened && views.length && !opened.target) scrollToView(viewOf(opened.page));
  shownWidth = clientWidth || shownWidth;
  refreshImages();
}

// Opens a source at a page. Pressing the chip of the open source closes it. `opener` is the pressed chip or link, which
// receives the focus again when the source is closed.
async function openSource(source, page, chip, opener) {
  const isToggle = opened?.chip === chip && opener === chip;
  closeSource();
  if (isToggle) return;
  const mine = { source, page, chip, opener, pageCount: source.page_end, isPdf: !source.label, isText: false, hasReport: false, target: page };
  opened = mine;
  chip.setAttribute("aria-expanded", "true");
  byId("source-title").textContent = source.title;
  showSource();
  byId("summary").open = false;
  byId("summary-content").replaceChildren();
  byId("source-version").hidden = true;
  byId("source").dataset.document = source.document_id;
  byId("workspace").classList.add("reading");
  foldSidebar();
  showDialog();
  byId("source-title").focus({ preventScroll: true });
  await showDocument(mine);
}

// Loads how many pages the open document has, and which version, and shows it.
async function showDocument(mine) {
  const { source, page } = mine;
  try {
    const report = await (await callApi(`/documents/${source.document_id}/report`)).json();
    mine.pageCount = Math.max(report.coverage?.pages ?? 1, page);
    if (report.file) mine.isPdf = report.file.type === "pdf";
    mine.hasReport = true;
    const quoted = source.version ?? 1;
    if (opened === mine && source.text && quoted < report.version) {
      byId("source-version").textContent = t("other-version", { quoted: String(quoted), shown: String(report.version) });
      byId("source-version").hidden = false;
      byId("passage").open = true;
    }
  } catch { /* The pages can be shown without it; their own errors are shown in the pane. */ }
  if (opened !== mine) return;
  mine.isText = !mine.isPdf;
  byId("text-view").hidden = !mine.isPdf;
  byId("page-count").textContent = t("of-pages", { pages: String(mine.pageCount) });
  showPages();
}

// Opens a document from the list at its first page.
function openDocument(id, title, button) {
  return openSource({ document_id: id, title, page_start: 1, page_end: 1 }, 1, button, button);
}

// Shows what belongs to the current passage.
function showSource() {
  const { text, recognized } = opened.source;
  byId("passage-text").replaceChildren(renderPassage(text ?? ""));
  byId("passage").hidden = !text;
  byId("passage").open = false;
  byId("recognized-note").hidden = !recognized;
}

// Opens a document at the page of a link, such as those in answers of the OpenAI API.
async function openLinked(id, page) {
  setAlert("ask-alert");
  try {
    const { title } = await (await callApi(`/documents/${id}`)).json();
    // No button of the page has opened it.
    const opener = createElement("button");
    const source = { document_id: id, title, page_start: page, page_end: page };
    await openSource(source, page, opener, opener);
  } catch (error) {
    if (chat.session) setAlert("ask-alert", t("document-not-opened", { reason: errorMessage(error) }));
  }
}

// Shows the open document beside the answer on a wide screen, and as a modal dialog over the whole of a narrow one.
function showDialog() {
  const dialog = byId("source");
  const focused = dialog.contains(document.activeElement) ? document.activeElement : null;
  if (dialog.open) dialog.close();
  if (!opened) return;
  if (narrowScreen.matches) dialog.showModal();
  else dialog.show();
  focused?.focus({ preventScroll: true });
}

function closeSource() {
  if (!opened) return;
  const { chip, opener } = opened;
  opened = null;
  closeFind();
  removePages();
  // The dialog stays in the page, where the next user of the browser could read its texts.
  for (const id of ["source-title", "page-label", "passage-text", "summary-content"]) byId(id).replaceChildren();
  chip.setAttribute("aria-expanded", "false");
  byId("source").close();
  setAlert("source-alert");
  byId("workspace").classList.remove("reading");
  unfoldSidebar();
  if (opener.isConnected) opener.focus({ preventScroll: true });
  hidePreview();
}

// Folds the sidebar while a document is open, unless there is room for both or the document was opened from it.
function foldSidebar() {
  const side = byId("side");
  const isFolded = side.classList.contains("folded");
  if (isFolded || narrowScreen.matches || innerWidth >= THREE_COLUMNS || side.contains(opened.chip)) return;
  byId("side-toggle").click();
  hasFoldedSidebar = true;
}

function unfoldSidebar() {
  const isStillFolded = hasFoldedSidebar && byId("side").classList.contains("folded");
  if (isStillFolded && !narrowScreen.matches) byId("side-toggle").click();
  hasFoldedSidebar = false;
}

// Whether the open document was opened from within an element.
const isOpenedFrom = (element) => opened !== null && element.contains(opened.chip);

// Forgets a document that was deleted.
function closeDocument(id) {
  if (opened?.source.document_id === id) closeSource();
  if (cachedFile?.documentId === id) releaseFile();
}

function showPageNumber() {
  const { page, pageCount, isPdf } = opened;
  const field = byId("page-number");
  if (document.activeElement !== field) field.value = String(page);
  byId("page-label").textContent = viewOf(page)?.label ?? "";
  byId("previous-page").disabled = page <= 1;
  byId("next-page").disabled = page >= pageCount;
  byId("source-file").textContent = isPdf ? t("file-open-at", { page: String(page) }) : t("file-download");
}

function changePage(step) {
  goToPage(opened.page + step);
  announce(t("page-of", { page: String(opened.page), pages: String(opened.pageCount) }));
}

// Goes to the page that was entered. Text that is no page is replaced by the current one.
function enterPage() {
  const field = byId("page-number");
  const page = Number(field.value);
  if (Number.isInteger(page) && page >= 1 && page <= opened.pageCount) goToPage(page);
  else announce(t("page-enter", { pages: String(opened.pageCount) }));
  field.value = String(opened.page);
}

// Shows the text instead of images, or the other way round. Each has a zoom of its own.
function toggleText() {
  opened.isText = !opened.isText;
  opened.target = opened.page;
  isZoomChosen = false;
  zoom = 1;
  showPages();
}

function onViewerKeydown(event) {
  if (!opened || event.target.closest("input, summary") || event.altKey) return;
  const pages = byId("pages");
  const isWide = pages.scrollWidth > pages.clientWidth;
  const scroll = (distance) => { opened.target = null; pages.scrollBy(0, distance); };
  const actions = {
    ArrowDown: () => scroll(SCROLL_STEP),
    ArrowUp: () => scroll(-SCROLL_STEP),
    PageDown: () => scroll(pages.clientHeight * 0.9),
    PageUp: () => scroll(-pages.clientHeight * 0.9),
    ArrowRight: () => (isWide ? pages.scrollBy(SCROLL_STEP, 0) : changePage(1)),
    ArrowLeft: () => (isWide ? pages.scrollBy(-SCROLL_STEP, 0) : changePage(-1)),
    Home: () => goToPage(1),
    End: () => goToPage(opened.pageCount),
    "+": () => chooseZoom(zoom * ZOOM_STEP),
    "=": () => chooseZoom(zoom * ZOOM_STEP),
    "-": () => chooseZoom(zoom / ZOOM_STEP),
    0: () => chooseZoom(1),
  };
  const isZoom = "+=-0".includes(event.key);
  if (event.key === "f" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    openFind();
    return;
  }
  if (!actions[event.key] || ((event.ctrlKey || event.metaKey) && !isZoom)) return;
  event.preventDefault();
  actions[event.key]();
}

function onWheel(event) {
  if (opened) opened.target = null;
  if (!event.ctrlKey) return;
  event.preventDefault();
  chooseZoom(zoom * Math.exp(-event.deltaY / 300), event.clientX, event.clientY);
}

const distanceOf = ([a, b]) => Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);

function onTouchStart({ touches }) {
  if (opened) opened.target = null;
  pinch = touches.length === 2 ? { distance: distanceOf(touches), zoom } : null;
}

// Zooms with two fingers, around the point between them.
function onTouchMove(event) {
  const { touches } = event;
  if (!pinch || touches.length !== 2) return;
  event.preventDefault();
  const [x, y] = ["clientX", "clientY"].map((axis) => (touches[0][axis] + touches[1][axis]) / 2);
  chooseZoom(pinch.zoom * distanceOf(touches) / pinch.distance, x, y);
}

function chooseZoom(value, x, y) {
  isZoomChosen = true;
  setZoom(value, x, y);
}

// Changes the zoom. The point of the page at a position of the window, by default in the middle, stays where it is.
function setZoom(value, x, y) {
  const pages = byId("pages");
  const box = pages.getBoundingClientRect();
  const [left, top] = [x ?? box.left + box.width / 2, y ?? box.top + box.height / 3];
  const element = viewAt(top)?.element;
  const before = element?.getBoundingClientRect();
  zoom = Math.min(Math.max(Math.round(value * 100) / 100, ZOOM_MIN), ZOOM_MAX);
  pages.style.setProperty("--zoom", String(zoom));
  byId("zoom-reset").textContent = t("percent", { number: String(Math.round(zoom * 100)) });
  byId("zoom-out").disabled = zoom <= ZOOM_MIN;
  byId("zoom-in").disabled = zoom >= ZOOM_MAX;
  if (element) {
    const after = element.getBoundingClientRect();
    pages.scrollTop += after.top + (top - before.top) * after.height / before.height - top;
    pages.scrollLeft += after.left + (left - before.left) * after.width / before.width - left;
  }
  refreshImages();
}

// Opens the file at the current page. It is fetched by script, because a plain link would not send the access token.
// The window is opened before the request: browsers block windows that are not opened directly by a click.
async function openFile() {
  const { source, page, isPdf } = opened;
  if (!isPdf) {
    await downloadFile(source);
    return;
  }
  const button = byId("source-file");
  const view = window.open("", "_blank");
  button.disabled = true;
  setAlert("source-alert");
  try {
    if (cachedFile?.documentId !== source.document_id) {
      const response = await callApi(`/documents/${source.document_id}/file`);
      releaseFile();
      // The fixed type makes the browser open any content as a PDF and never as a page of this site.
      const blob = new Blob([await response.arrayBuffer()], { type: "application/pdf" });
      cachedFile = { documentId: source.document_id, url: URL.createObjectURL(blob) };
    }
    if (!view) throw new ApiError(1, t("window-blocked"));
    view.opener = null;
    view.location.replace(`${cachedFile.url}#page=${page}`);
  } catch (error) {
    view?.close();
    setAlert("source-alert", error.status === 404 ? t("file-none") : errorMessage(error));
  }
  button.disabled = false;
}

// Saves a file that is not a PDF. It is never opened, since a web page would run on this site.
async function downloadFile(source) {
  setAlert("source-alert");
  try {
    const response = await callApi(`/documents/${source.document_id}/file`);
    const url = URL.createObjectURL(new Blob([await response.arrayBuffer()], { type: "application/octet-stream" }));
    createElement("a", { href: url, download: source.title }).click();
    setTimeout(() => URL.revokeObjectURL(url), 60000);
  } catch (error) {
    setAlert("source-alert", error.status === 404 ? t("file-none") : errorMessage(error));
  }
}

function releaseFile() {
  if (cachedFile) URL.revokeObjectURL(cachedFile.url);
  cachedFile = null;
}
