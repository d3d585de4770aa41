
// Sources: chips below an answer, and the pane that shows a page.

// The source that the pane shows, the page of it, and how many there are, where that is known.
let shown = null; // { source, chip, page, pages, opener }
let picture = null; // the address of the page's picture
let drawing = null; // stops the drawing under way
let file = null; // { id, address }: the file that was fetched last

const pagesOf = ({ page_start, page_end }) =>
  page_start === page_end ? `page ${page_start}` : `pages ${page_start}–${page_end}`;

function chips(sources) {
  const chip = (source, place) => {
    const button = el("button", {
      type: "button",
      class: "chip",
      "aria-expanded": "false",
      "aria-controls": "source",
      click: () => openSource(source, button, source.cited ?? source.page_start, button),
    }, el("b", {}, String(place + 1)), el("bdi", {}, source.title), el("span", {}, pagesOf(source)));
    source.chip = button;
    return el("li", {}, button);
  };
  return el("ol", { class: "chips", "aria-label": "Sources" }, ...sources.map(chip));
}

// Makes what an answer says of pages of its sources, such as "Terms.pdf, page 4", lead there.
function linkCitations(answer, sources) {
  const titles = sources.map(({ title }) => title.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const citation = new RegExp(`(${titles.join("|")}),? (?:page|p\\.) (\\d{1,6})\\b`, "g");
  const walker = document.createTreeWalker(answer, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) texts.push(walker.currentNode);
  for (const text of texts.filter(({ parentElement }) => !parentElement.closest("a, code"))) {
    const nodes = [];
    let at = 0;
    for (const { 0: whole, 1: title, 2: number, index } of text.data.matchAll(citation)) {
      const page = Number(number);
      const source = sources.find((known) => known.title === title && known.page_start <= page && page <= known.page_end);
      if (!source) continue;
      source.cited ??= page;
      const click = (event) => {
        event.preventDefault();
        openSource(source, source.chip, page, event.currentTarget);
      };
      // A link, since it breaks lines as the text does, where a button would not.
      nodes.push(text.data.slice(at, index), el("a", { href: "#source", click }, whole));
      at = index + whole.length;
    }
    if (nodes.length) text.replaceWith(...nodes, text.data.slice(at));
  }
}

// Opens a source at a page, or closes it if its chip is pressed once more. `opener` is what was pressed.
async function openSource(source, chip, page, opener) {
  const isSame = shown?.chip === chip && opener === chip;
  closeSource();
  if (isSame) return;
  const own = { source, chip, page, pages: null, opener };
  shown = own;
  chip.setAttribute("aria-expanded", "true");
  byId("source-title").textContent = source.title;
  byId("passage-text").textContent = source.text;
  byId("passage").open = false;
  byId("source").hidden = false;
  byId("desk").classList.add("reading");
  placeSource();
  byId("source-title").focus({ preventScroll: true });
  if (narrow.matches) byId("source").scrollIntoView({ block: "nearest" });
  showPage();
  try {
    own.pages = (await (await call(`/documents/${source.document_id}/report`)).json()).coverage?.pages ?? null;
  } catch { /* The pane tells of what went wrong with the page itself. */ }
  if (shown === own) numberPage();
}

// Beside the answer where there is room, and else below it.
function placeSource() {
  const pane = byId("source");
  if (shown && narrow.matches) shown.chip.closest(".chips").after(pane);
  else byId("desk").append(pane);
}

function closeSource() {
  if (!shown) return;
  const { chip, opener } = shown;
  drawing?.abort();
  chip.setAttribute("aria-expanded", "false");
  byId("source").hidden = true;
  byId("desk").classList.remove("reading");
  shown = null;
  dropPicture();
  placeSource();
  if (opener.isConnected) opener.focus({ preventScroll: true });
}

function dropPicture() {
  byId("sheet").replaceChildren();
  if (picture) URL.revokeObjectURL(picture);
  picture = null;
}

function numberPage() {
  const { page, pages } = shown;
  byId("page-number").textContent = pages ? `Page ${page} of ${pages}` : `Page ${page}`;
  byId("page-back").disabled = page <= 1;
  byId("page-on").disabled = pages !== null && page >= pages;
  byId("source-file").textContent = `Open the file at page ${page}`;
}

function turnPage(step) {
  if (!shown) return;
  shown.page += step;
  showPage();
}

async function showPage() {
  const { source, page } = shown;
  const sheet = byId("sheet");
  drawing?.abort();
  drawing = new AbortController();
  const { signal } = drawing;
  numberPage();
  alertIn("source-alert");
  // The page before stays until this one is there, so that nothing jumps.
  sheet.setAttribute("aria-busy", "true");
  const pixels = Math.ceil(sheet.clientWidth * devicePixelRatio / 200) * 200;
  const query = new URLSearchParams({ passage: source.chunk_id, width: String(Math.min(Math.max(pixels, 400), 3000)) });
  try {
    const answer = await call(`/documents/${source.document_id}/pages/${page}?${query}`, { signal });
    const address = URL.createObjectURL(new Blob([await answer.arrayBuffer()], { type: "image/png" }));
    const isMarked = page >= source.page_start && page <= source.page_end;
    const passage = isMarked ? `, with this passage marked: ${source.text}` : "";
    const image = el("img", { src: address, alt: `Page ${page} of ${source.title}${passage}` });
    const isPicture = await image.decode().then(() => true, () => false);
    if (signal.aborted) {
      URL.revokeObjectURL(address);
      return;
    }
    dropPicture();
    picture = address;
    if (!isPicture) throw new Failure(422, "The page image cannot be displayed");
    sheet.append(image);
  } catch (error) {
    if (signal.aborted) return;
    dropPicture();
    sheet.append(pageFault(error));
    byId("passage").open = true;
  }
  sheet.removeAttribute("aria-busy");
}

function pageFault(error) {
  const isGone = error.status === 404;
  const what = isGone ? "Page not found: the document may have been deleted." : sentenceOf(error);
  const again = el("button", { type: "button", class: "quiet", click: showPage }, "Try again");
  return el("div", { class: "fault", role: "alert" },
    el("p", {}, el("strong", {}, `Page ${shown.page} cannot be shown.`), ` ${what}`),
    isGone ? null : el("p", {}, "The passage is shown below as text."),
    isGone ? null : again);
}

// Fetches the file, which a plain link could not, and opens it at the page that is shown. The window comes first: later
// it would count as one that nobody asked for.
async function openFile() {
  const { source, page } = shown;
  const button = byId("source-file");
  const view = window.open("", "_blank");
  button.disabled = true;
  alertIn("source-alert");
  try {
    if (file?.id !== source.document_id) {
      const answer = await call(`/documents/${source.document_id}/file`);
      dropFile();
      // Whatever the file is, it is opened as a PDF and never as a page of this site.
      const blob = new Blob([await answer.arrayBuffer()], { type: "application/pdf" });
      file = { id: source.document_id, address: URL.createObjectURL(blob) };
    }
    if (!view) throw new Failure(1, "The browser blocked the new window. Allow pop-ups for this page and try again");
    view.opener = null;
    view.location.replace(`${file.address}#page=${page}`);
  } catch (error) {
    view?.close();
    alertIn("source-alert", error.status === 404 ? "This document has no file." : sentenceOf(error));
  }
  button.disabled = false;
}

function dropFile() {
  if (file) URL.revokeObjectURL(file.address);
  file = null;
}
