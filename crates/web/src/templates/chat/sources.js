
// Sources of an answer: the chips below it, and the pane that shows a page of a source.

let openedSource = null; // { source, chip, page, pageCount, opener }; `pageCount` is null while unknown
let pageImageUrl = null;
let pageRequest = null; // AbortController of the page being loaded
let cachedFile = null; // { documentId, url } of the file that was fetched last

// Where a passage is: pages of a PDF, or the label of a slide, a range of a sheet or a section.
function formatPages({ page_start: first, page_end: last, label }) {
  if (label) return label;
  return first === last ? `page ${first}` : `pages ${first}–${last}`;
}

function createChips(sources) {
  const createChip = (source, index) => {
    if (source.available === false) return createLostChip(source, index);
    const chip = createElement("button", {
      type: "button",
      class: "chip",
      "aria-expanded": "false",
      "aria-controls": "source",
      click: () => openSource(source, source.citedPage ?? source.page_start, chip),
    }, createElement("b", {}, String(index + 1)), createElement("bdi", {}, source.title),
    createElement("span", {}, source.recognized ? `${formatPages(source)}, recognised text` : formatPages(source)));
    source.chip = chip;
    return createElement("li", {}, chip);
  };
  return createElement("ol", { class: "chips", "aria-label": "Sources" }, ...sources.map(createChip));
}

// A source whose document was deleted, or can no longer be read.
function createLostChip({ title }, index) {
  return createElement("li", {}, createElement("span", { class: "chip lost" }, createElement("b", {}, String(index + 1)),
    createElement("bdi", {}, title), createElement("span", {}, "no longer available")));
}

// Turns citations in an answer, such as "Terms.pdf, page 4", into links that open the source.
function linkCitations(answer, stored) {
  const sources = stored.filter(({ available }) => available !== false);
  if (!sources.length) return;
  const escapePattern = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const titles = sources.map(({ title }) => escapePattern(title));
  const labels = sources.filter(({ label }) => label).map(({ label }) => escapePattern(label));
  const places = ["(?:pages?|p\\.) (\\d{1,6})\\b(?: to \\d{1,6}\\b)?", ...labels.length ? [`(${labels.join("|")})`] : []];
  const citation = new RegExp(`(${titles.join("|")}),? (?:${places.join("|")})`, "g");
  const walker = document.createTreeWalker(answer, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) texts.push(walker.currentNode);
  for (const text of texts.filter(({ parentElement }) => !parentElement.closest("a, code"))) {
    const nodes = [];
    let end = 0;
    for (const { 0: whole, 1: title, 2: number, 3: label, index } of text.data.matchAll(citation)) {
      const isCited = ({ page_start: first, page_end: last, label: own }) =>
        label ? own === label : first <= Number(number) && Number(number) <= last;
      const source = sources.find((candidate) => candidate.title === title && isCited(candidate));
      if (!source) continue;
      const page = label ? source.page_start : Number(number);
      source.citedPage ??= page;
      const click = (event) => {
        event.preventDefault();
        openSource(source, page, event.currentTarget);
      };
      // A link and not a button, because a link can break across lines.
      nodes.push(text.data.slice(end, index), createElement("a", { href: "#source", click }, whole));
      end = index + whole.length;
    }
    if (nodes.length) text.replaceWith(...nodes, text.data.slice(end));
  }
}

// Opens a source at a page. Pressing the chip of the open source closes it. `opener` is the pressed chip or link, which
// receives the focus again when the source is closed.
async function openSource(source, page, opener) {
  const { chip } = source;
  const isToggle = openedSource?.chip === chip && opener === chip;
  closeSource();
  if (isToggle) return;
  const opened = { source, chip, page, pageCount: null, opener };
  openedSource = opened;
  chip.setAttribute("aria-expanded", "true");
  byId("source-title").textContent = source.title;
  byId("passage-text").replaceChildren(...renderPassage(source.text));
  byId("recognized-note").hidden = !source.recognized;
  byId("passage").open = false;
  byId("passage").hidden = !source.text;
  byId("summary").open = false;
  byId("summary-content").replaceChildren();
  byId("source-version").hidden = true;
  byId("source").hidden = false;
  byId("workspace").classList.add("reading");
  placeSourcePane();
  byId("source-title").focus({ preventScroll: true });
  if (narrowScreen.matches) byId("source").scrollIntoView({ block: "nearest" });
  loadPage();
  try {
    const report = await (await callApi(`/documents/${source.document_id}/report`)).json();
    opened.pageCount = report.coverage?.pages ?? null;
    const quoted = source.version ?? 1;
    if (openedSource === opened && quoted < report.version) {
      byId("source-version").textContent = `The answer quotes version ${quoted} of this document. The page shown is of version ${report.version}, and can differ.`;
      byId("source-version").hidden = false;
      byId("passage").open = true;
    }
  } catch { /* The page count is optional; errors of the page itself are shown in the pane. */ }
  if (openedSource === opened) updatePageControls();
}

// Puts the pane beside the answer on a wide screen, and below its chips on a narrow one.
function placeSourcePane() {
  const pane = byId("source");
  if (openedSource && narrowScreen.matches) openedSource.chip.closest(".chips, details").after(pane);
  else byId("workspace").append(pane);
}

function closeSource() {
  if (!openedSource) return;
  const { chip, opener } = openedSource;
  pageRequest?.abort();
  chip.setAttribute("aria-expanded", "false");
  byId("source").hidden = true;
  byId("workspace").classList.remove("reading");
  openedSource = null;
  clearPageImage();
  placeSourcePane();
  if (opener.isConnected) opener.focus({ preventScroll: true });
}

function clearPageImage() {
  byId("page-image").replaceChildren();
  if (pageImageUrl) URL.revokeObjectURL(pageImageUrl);
  pageImageUrl = null;
}

function updatePageControls() {
  const { page, pageCount } = openedSource;
  const number = pageCount ? `Page ${page} of ${pageCount}` : `Page ${page}`;
  byId("page-number").textContent = openedSource.label ? `${openedSource.label} (${number.toLowerCase()})` : number;
  byId("previous-page").disabled = page <= 1;
  byId("next-page").disabled = pageCount !== null && page >= pageCount;
  byId("source-file").textContent = openedSource.source.label ? "Download the file" : `Open the file at page ${page}`;
}

function changePage(step) {
  if (!openedSource) return;
  openedSource.page += step;
  loadPage();
}

async function loadPage() {
  const { source, page } = openedSource;
  const container = byId("page-image");
  pageRequest?.abort();
  pageRequest = new AbortController();
  const { signal } = pageRequest;
  updatePageControls();
  setAlert("source-alert");
  // The previous page stays until the new one is loaded, so that the layout does not jump.
  container.setAttribute("aria-busy", "true");
  if (source.label) {
    await loadText(signal);
    container.removeAttribute("aria-busy");
    return;
  }
  const pixels = Math.ceil(container.clientWidth * devicePixelRatio / 200) * 200;
  const query = new URLSearchParams({ width: String(Math.min(Math.max(pixels, 400), 3000)) });
  if (source.chunk_id) query.set("passage", source.chunk_id);
  try {
    const response = await callApi(`/documents/${source.document_id}/pages/${page}?${query}`, { signal });
    const url = URL.createObjectURL(new Blob([await response.arrayBuffer()], { type: "image/png" }));
    const isMarked = source.text && page >= source.page_start && page <= source.page_end;
    const passage = isMarked ? `, with this passage marked: ${source.text}` : "";
    const image = createElement("img", { src: url, alt: `Page ${page} of ${source.title}${passage}` });
    const isDecoded = await image.decode().then(() => true, () => false);
    if (signal.aborted) {
      URL.revokeObjectURL(url);
      return;
    }
    clearPageImage();
    pageImageUrl = url;
    if (!isDecoded) throw new ApiError(422, "The page image cannot be displayed");
    container.append(image);
  } catch (error) {
    if (signal.aborted) return;
    clearPageImage();
    container.append(createPageError(error));
    byId("passage").open = true;
  }
  container.removeAttribute("aria-busy");
}

// Shows the text of the current page with the passage marked: files other than PDFs have no page images.
async function loadText(signal) {
  const { source, page } = openedSource;
  const container = byId("page-image");
  try {
    const response = await callApi(`/documents/${source.document_id}/pages/${page}/text`, { signal });
    const { text, label } = await response.json();
    if (signal.aborted) return;
    openedSource.label = label;
    updatePageControls();
    const isMarked = page >= source.page_start && page <= source.page_end;
    const ranges = isMarked ? findPassage(text, source.text) : [];
    const pieces = [];
    let end = 0;
    for (const [from, to] of ranges) {
      pieces.push(text.slice(end, from), createElement("mark", {}, text.slice(from, to)));
      end = to;
    }
    const view = createElement("div", { class: "page-text", dir: "auto" }, ...pieces, text.slice(end));
    clearPageImage();
    container.append(view);
    view.querySelector("mark")?.scrollIntoView({ block: "nearest" });
  } catch (error) {
    if (signal.aborted) return;
    clearPageImage();
    container.append(createPageError(error));
    byId("passage").open = true;
  }
}

// Returns the ranges of a passage in the text of a page. White space can differ. A passage of several pages is looked for
// line by line.
function findPassage(text, passage) {
  const squeeze = (whole) => {
    const at = [];
    let letters = "";
    for (let index = 0; index < whole.length; index += 1) {
      if (/\s/.test(whole[index])) continue;
      letters += whole[index];
      at.push(index);
    }
    return { letters, at };
  };
  const { letters, at } = squeeze(text);
  let searched = 0;
  const find = (part) => {
    const wanted = squeeze(part).letters;
    const start = wanted ? letters.indexOf(wanted, searched) : -1;
    if (start < 0) return null;
    searched = start + wanted.length;
    return [at[start], at[searched - 1] + 1];
  };
  const whole = find(passage);
  if (whole) return [whole];
  return passage.split("\n").filter((line) => line.trim().length > 3).map(find).filter(Boolean);
}

function createPageError(error) {
  const isNotFound = error.status === 404;
  const message = isNotFound ? "Page not found: the document may have been deleted." : errorMessage(error);
  const retry = createElement("button", { type: "button", class: "quiet", click: loadPage }, "Try again");
  return createElement("div", { class: "page-error", role: "alert" },
    createElement("p", {}, createElement("strong", {}, `Page ${openedSource.page} cannot be shown.`), ` ${message}`),
    isNotFound ? null : createElement("p", {}, "The passage is shown below as text."),
    isNotFound ? null : retry);
}

// Opens the file at the current page. It is fetched by script, because a plain link would not send the access token.
// The window is opened before the request: browsers block windows that are not opened directly by a click.
async function openFile() {
  const { source, page } = openedSource;
  if (source.label) {
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
    if (!view) throw new ApiError(1, "The browser blocked the new window. Allow pop-ups for this page and try again");
    view.opener = null;
    view.location.replace(`${cachedFile.url}#page=${page}`);
  } catch (error) {
    view?.close();
    setAlert("source-alert", error.status === 404 ? "This document has no file." : errorMessage(error));
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
    setAlert("source-alert", error.status === 404 ? "This document has no file." : errorMessage(error));
  }
}

function releaseFile() {
  if (cachedFile) URL.revokeObjectURL(cachedFile.url);
  cachedFile = null;
}
