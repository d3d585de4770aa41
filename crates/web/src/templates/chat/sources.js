
// Sources of an answer: the chips below it, and what opens them in the viewer.

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
      click: () => openSource(source, source.citedPage ?? source.page_start, chip, source.quote),
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
      const quote = findQuote(source.text, text.data.slice(end, index));
      source.citedPage ??= page;
      source.quote ??= quote;
      const click = (event) => {
        event.preventDefault();
        openSource(source, page, event.currentTarget, quote);
      };
      // A link and not a button, because a link can break across lines.
      nodes.push(text.data.slice(end, index), createElement("a", { href: "#source", click }, whole));
      end = index + whole.length;
    }
    if (nodes.length) text.replaceWith(...nodes, text.data.slice(end));
  }
}

// Loads the viewer, which is a module of its own, when a document is opened first.
async function loadViewer() {
  const { script, style } = byId("source").dataset;
  const styled = new Promise((resolve, reject) => {
    const link = createElement("link", { rel: "stylesheet", href: style, load: resolve, error: () => reject(new ApiError(0)) });
    document.head.append(link);
  });
  const loaded = import(script).catch(() => { throw new ApiError(0); });
  const [{ version, start }] = await Promise.all([loaded, styled]);
  if (version !== new URL(import.meta.url).searchParams.get("v")) {
    throw new ApiError(1, "The service was updated. Reload this page to open documents");
  }
  return start({
    byId, createElement, callApi, ApiError, errorMessage, setAlert, announce, narrowScreen, formatPages, renderPassage, askDocument, askSuggested,
  });
}

let viewer = null; // what the module returns, once it is loaded
let viewerRequest = null; // the latest document to open while the module is being loaded

// Runs an action with the viewer, unless another document was opened or all were closed while it was being loaded.
async function withViewer(action) {
  const request = {};
  viewerRequest = request;
  try {
    viewer ??= await loadViewer();
  } catch (error) {
    if (viewerRequest === request) setAlert("ask-alert", `The document cannot be opened. ${errorMessage(error)}`);
    return;
  }
  if (viewerRequest === request) await action(viewer);
}

function openSource(source, page, opener, quote) {
  withViewer(({ openSource: open }) => open({ ...source, quote }, page, source.chip, opener));
}

function closeSource() {
  viewerRequest = null;
  viewer?.closeSource();
}

// Asks a suggested question.
function askSuggested(question) {
  byId("question").value = question;
  submitQuestion();
}

// Returns the part of a passage that a claim is based on: what the claim quotes, or else the sentence or row that has most of its words;
// null if there is none.
function findQuote(passage, claim) {
  const words = (text) => new Set(text.toLowerCase().match(/\p{L}{4,}|\p{N}+(?:[.,]\p{N}+)*/gu));
  const claimed = words(claim);
  let best = { score: 0, text: null };
  for (const line of passage.split(/\n(?=\s*\||\s*\n)|(?<=\|)\n/)) {
    for (const text of line.includes("|") ? [line] : splitSentences(line)) {
      const own = words(text);
      const shared = [...own].filter((word) => claimed.has(word));
      // A number counts as much as three words. Of sentences with the same words, the shorter one is better.
      const weight = shared.reduce((sum, word) => sum + (/\p{N}/u.test(word) ? 3 : 1), 0);
      const score = weight / (own.size + 10);
      if (shared.length >= Math.min(2, claimed.size) && score > best.score) best = { score, text };
    }
  }
  return best.text?.trim() ?? null;
}

function splitSentences(text) {
  if (!Intl.Segmenter) return text.match(/[^.!?]+[.!?]*\s*/g) ?? [];
  // A line break within a sentence would end it.
  const segments = new Intl.Segmenter(undefined, { granularity: "sentence" }).segment(text.replaceAll("\n", " "));
  return Array.from(segments, ({ segment }) => segment);
}
