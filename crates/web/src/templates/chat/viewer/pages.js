
// The pages of the open document below each other. Only those near the visible part are loaded.

const LOAD_DELAY = 120; // in milliseconds after scrolling, so that pages that are passed quickly are not loaded
const WORDS_DELAY = 500;
const LOADS_MAX = 2; // pages that are loaded at the same time
const WIDTH_STEP = 400; // images are requested in widths that are multiples of it
const WIDTH_MAX = 2000;
const PARTS_MAX = 20; // parts of the text of one page
const TRIES_MAX = 10; // requests for one page while the service draws many others
const MARK_MARGIN = 16; // in pixels, beside a mark that is scrolled to

// Each page: { number, element, isNear, isLoaded, hasFailed, request, url, width, words, text, label }.
let views = [];
let observer = null;
let loadTimer = null;
let wordsTimer = null;
let scrollFrame = 0;

const viewOf = (number) => views[number - 1];

function removePages() {
  observer?.disconnect();
  observer = null;
  clearTimeout(loadTimer);
  clearTimeout(wordsTimer);
  for (const view of views) unloadView(view);
  views = [];
  byId("page-list").replaceChildren();
}

// Shows the open document at its page.
function showPages() {
  removePages();
  const list = byId("page-list");
  list.classList.toggle("text", opened.isText);
  byId("text-view").setAttribute("aria-pressed", String(opened.isText));
  const createView = (_, index) => {
    const number = index + 1;
    return { number, element: createElement("div", { class: "page", "data-page": String(number), "data-loading": t("loading") }) };
  };
  views = Array.from({ length: opened.pageCount }, createView);
  list.append(...views.map(({ element }) => element));
  setZoom(zoom);
  scrollToView(viewOf(opened.page));
  observer = new IntersectionObserver(onNear, { root: byId("pages"), rootMargin: "75% 0px" });
  for (const { element } of views) observer.observe(element);
  showPageNumber();
}

function onNear(entries) {
  for (const { target, isIntersecting } of entries) {
    const view = viewOf(Number(target.dataset.page));
    if (!view) continue;
    view.isNear = isIntersecting;
    if (!isIntersecting) unloadView(view);
  }
  scheduleLoad();
}

function scheduleLoad() {
  clearTimeout(loadTimer);
  loadTimer = setTimeout(loadNear, LOAD_DELAY);
}

// Loads the pages near the visible part, the current one first.
function loadNear() {
  if (!opened) return;
  const distance = ({ number }) => Math.abs(number - opened.page);
  const near = views.filter(({ isNear }) => isNear);
  const waiting = near.filter((view) => !view.isLoaded && !view.hasFailed && !view.request);
  const free = LOADS_MAX - near.filter(({ request }) => request).length;
  for (const view of waiting.sort((a, b) => distance(a) - distance(b)).slice(0, Math.max(free, 0))) loadView(view);
}

async function loadView(view) {
  const { source, isText } = opened;
  const controller = new AbortController();
  view.request = controller;
  if (view.hasFailed) view.element.replaceChildren();
  view.hasFailed = false;
  view.element.dataset.loading = t("loading");
  view.element.setAttribute("aria-busy", "true");
  try {
    if (isText) await loadText(view, source, controller.signal);
    else await loadImage(view, source, controller.signal);
    if (controller.signal.aborted) return;
    view.isLoaded = true;
  } catch (error) {
    if (controller.signal.aborted) return;
    // If a sharper image cannot be loaded, the present one stays.
    if (view.url) Object.assign(view, { isLoaded: true, width: WIDTH_MAX });
    else showPageError(view, error);
  }
  if (view.request !== controller) return;
  view.request = null;
  view.element.removeAttribute("aria-busy");
  loadNear();
}

// Sends a request for something that the service draws. If it draws too many pages, it says when to ask again.
async function requestDrawing({ element }, path, signal) {
  for (let tries = 1; ; tries += 1) {
    try {
      return await callApi(path, { signal });
    } catch (error) {
      if (error.code !== "drawing_queue_full" || tries === TRIES_MAX) throw error;
      element.dataset.loading = t("page-waits");
      await delay(error.retryAfter * 1000);
    }
  }
}

// Frees the memory of a page. Its element keeps its size, so that the pages below stay where they are.
function unloadView(view) {
  view.request?.abort();
  if (view.isLoaded && opened?.isText) view.element.style.minHeight = `${view.element.offsetHeight}px`;
  if (view.url) URL.revokeObjectURL(view.url);
  Object.assign(view, { request: null, isLoaded: false, hasFailed: false, url: null, words: null, text: null });
  view.element.replaceChildren();
  view.element.removeAttribute("aria-busy");
}

// The width of an image for the size in which a page is shown.
function wantedWidth({ element }) {
  const pixels = Math.ceil(element.clientWidth * devicePixelRatio / WIDTH_STEP) * WIDTH_STEP;
  return Math.min(Math.max(pixels, WIDTH_STEP), WIDTH_MAX);
}

// Loads sharper images after the zoom or the size of the window changed.
function refreshImages() {
  if (!opened || opened.isText) return;
  for (const view of views) if (view.isLoaded && view.width < wantedWidth(view)) view.isLoaded = false;
  scheduleLoad();
}

// Changes a page. The current page stays where it is if pages above it become higher or lower.
function keepPlace(change) {
  const pages = byId("pages");
  const element = viewAt(pages.getBoundingClientRect().top + pages.clientHeight / 3)?.element;
  const before = element?.getBoundingClientRect().top;
  change();
  if (element) pages.scrollTop += element.getBoundingClientRect().top - before;
}

async function loadImage(view, source, signal) {
  const width = wantedWidth(view);
  const path = `/documents/${source.document_id}/pages/${view.number}`;
  const response = await requestDrawing(view, `${path}?width=${width}`, signal);
  const url = URL.createObjectURL(new Blob([await response.arrayBuffer()], { type: "image/png" }));
  const image = createElement("img", { src: url, alt: t("page-image", { page: String(view.number), title: source.title }) + describeMarks(view.number) });
  const isDecoded = await image.decode().then(() => true, () => false);
  if (signal.aborted || !isDecoded) {
    URL.revokeObjectURL(url);
    throw new ApiError(422, t("page-image-broken"));
  }
  if (view.url) URL.revokeObjectURL(view.url);
  Object.assign(view, { url, width });
  const ratio = `${image.naturalWidth} / ${image.naturalHeight}`;
  const list = byId("page-list");
  keepPlace(() => {
    view.element.style.aspectRatio = ratio;
    // The other pages probably have the same size.
    if (!list.style.getPropertyValue("--ratio")) list.style.setProperty("--ratio", ratio);
  });
  const old = view.element.querySelector("img");
  if (old) old.replaceWith(image);
  else view.element.replaceChildren(image);
  if (hasMarks(view.number)) await placeMarks(view);
  if (signal.aborted) return;
  if (view.words) placeWords(view);
  scheduleWords();
  reveal(view);
}

// Shows the text of a page with its marks: always for files without page images.
async function loadText(view, source, signal) {
  const path = `/documents/${source.document_id}/pages/${view.number}/text`;
  let text = "";
  let offset = 0;
  for (let part = 0; offset !== undefined && part < PARTS_MAX; part += 1) {
    const page = await (await callApi(`${path}?offset=${offset}`, { signal })).json();
    if (signal.aborted) return;
    text += page.text;
    offset = page.next_offset;
    view.label = page.label && placeLabel(page.label);
  }
  view.text = text;
  keepPlace(() => {
    showText(view);
    view.element.style.minHeight = "";
  });
  showPageNumber();
  reveal(view);
}

function showText({ element, number, label, text }) {
  const content = createElement("div", { class: "page-text", dir: "auto" }, markText(text, number));
  element.replaceChildren(createElement("p", { class: "hint" }, label ?? t("page-number", { page: String(number) })), content);
}

function showPageError(view, error) {
  view.hasFailed = true;
  const isNotFound = error.status === 404;
  const message = isNotFound ? t("page-gone") : errorMessage(error);
  const retry = createElement("button", { type: "button", class: "quiet", click: () => retryPage(view) }, t("try-again"));
  const hasPassage = opened.source.text && isMarked(view.number);
  view.element.replaceChildren(createElement("div", { class: "page-error", role: "alert" },
    createElement("p", {}, createElement("strong", {}, t("page-failed", { page: String(view.number) })), ` ${message}`),
    isNotFound || !hasPassage ? null : createElement("p", {}, t("passage-above")),
    isNotFound ? null : retry));
  if (hasPassage) byId("passage").open = true;
}

// Loads a page again, or all pages if their number was not known.
function retryPage(view) {
  if (opened.hasReport) return loadView(view);
  view.element.replaceChildren();
  return showDocument(opened);
}

// Scrolls to the marks of the page that is to be shown.
function reveal(view) {
  if (!opened || opened.target !== view.number) return;
  const [mark, ...others] = ["current", "strong", "faint"].flatMap((kind) => [...view.element.getElementsByClassName(kind)]);
  const figure = mark?.className === "strong" ? view.element.querySelector(".figure") : null;
  // The quote can begin at the end of a line, so the leftmost of its lines decides.
  const lines = [mark, ...others].filter((other) => other?.className === mark?.className);
  const left = () => Math.min(...lines.map((line) => line?.getBoundingClientRect().left));
  if (mark && narrowScreen.matches && !opened.isText && !isZoomChosen) {
    const { height } = mark.getBoundingClientRect();
    const widthOf = (elements) => Math.max(...elements.map((element) => element.getBoundingClientRect().right)) - left();
    if (height > 0 && height < READABLE_LINE) setZoom(zoom * readableZoom(height, widthOf(lines), figure && widthOf([figure])));
  }
  scrollToView(view, mark, left(), figure);
  opened.target = null;
}

// Returns how much to enlarge a line of this height. If it is then still legible, all of it should be in view, or at least the part up to its
// cited number, if it has one.
function readableZoom(height, width, figureWidth) {
  const [smallest, largest] = [SMALL_LINE / height, READABLE_LINE / height];
  const fitting = (part) => (byId("pages").clientWidth - 2 * MARK_MARGIN) / part;
  if (fitting(width) >= smallest) return Math.min(fitting(width), largest);
  return figureWidth ? Math.min(Math.max(fitting(figureWidth), smallest), largest) : largest;
}

// Scrolls to a page or to a mark of it. The cited number is in view even if the start of its line is not.
function scrollToView({ element }, mark, left, figure) {
  const pages = byId("pages");
  const box = pages.getBoundingClientRect();
  const { top } = (mark ?? element).getBoundingClientRect();
  pages.scrollTop += top - box.top - (mark ? pages.clientHeight / 4 : 8);
  if (mark) pages.scrollLeft += left - box.left - MARK_MARGIN;
  if (figure) pages.scrollLeft += Math.max(figure.getBoundingClientRect().right - box.left - pages.clientWidth + MARK_MARGIN, 0);
}

function goToPage(number) {
  const page = Math.min(Math.max(number, 1), opened.pageCount);
  opened.target = null;
  opened.page = page;
  scrollToView(viewOf(page));
  showPageNumber();
}

// The page at a vertical position of the window.
function viewAt(y) {
  let [low, high] = [0, views.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (views[middle].element.getBoundingClientRect().bottom < y) low = middle + 1;
    else high = middle;
  }
  return views[low];
}

function onScroll() {
  scrollFrame ||= requestAnimationFrame(() => {
    scrollFrame = 0;
    if (!opened || !views.length) return;
    const pages = byId("pages");
    const box = pages.getBoundingClientRect();
    const isAtEnd = pages.scrollTop + pages.clientHeight >= pages.scrollHeight - 2;
    const view = isAtEnd && !opened.target ? viewAt(box.bottom - 12) : viewAt(box.top + box.height / 3);
    opened.page = opened.target ?? view.number;
    showPageNumber();
    scheduleWords();
  });
}
