
// Sources of an answer: the chips below it, and what opens them in the viewer.

// Citations of an answer that are linked, and characters of the text before each that are compared with passages. Answers can be
// hostile, and the time is limited.
const CITATIONS_MAX = 500;
const CLAIM_MAX = 2000;

// Where a passage is: pages of a PDF, or the label of a slide, a range of a sheet or a section.
function formatPages({ page_start: first, page_end: last, label }) {
  if (label) return placeLabel(label);
  return first === last ? t("at-page", { page: String(first) }) : t("at-pages", { first: String(first), last: String(last) });
}

// A label, such as "Rows 1–4", in the language of the page: extraction writes it in English. Headings stay as they are.
function placeLabel(label) {
  const [, start, part] = label.match(/^(.+) \(part (\d+)\)$/) ?? [];
  if (part) return t("place-part", { place: placeLabel(start), part });
  const words = /^(?:(Rows?|Lines?|Part|Slide) ([\d–]+)|Message|Footnotes|Endnotes)$/;
  const [whole, kind = whole, at = ""] = label.match(words) ?? [];
  return kind ? t("place-label", { kind, at }).trim() : label;
}

// Merges passages of the same place of a document: { number, title, place, passages, chip, cited, pages, isLost }. Entries get their numbers when
// they are cited, or at the end.
function mergeSources(sources) {
  const entries = new Map();
  for (const source of sources) {
    const isLost = source.available === false;
    const place = isLost ? t("unavailable") : formatPages(source);
    const key = JSON.stringify([source.document_id, source.version, place]);
    if (!entries.has(key)) entries.set(key, { title: source.title, place, passages: [], isLost });
    entries.get(key).passages.push(source);
  }
  return [...entries.values()];
}

// Adds the numbered sources below an answer, and their numbers in it. Those that it does not cite are folded, unless it cites none.
function showSources(turn, sources) {
  const entries = mergeSources(sources);
  linkCitations(turn.answerElement, entries);
  let last = entries.filter(({ number }) => number).length;
  for (const entry of entries) {
    entry.number ??= last += 1;
    // Where the answer cites pages of a passage, the chip shows only these.
    if (entry.pages && !entry.passages[0].label) entry.place = formatPages({ page_start: Math.min(...entry.pages), page_end: Math.max(...entry.pages) });
  }
  entries.sort((a, b) => a.number - b.number);
  const createList = (list, label) => createElement("ol", { class: "chips", "aria-label": label }, ...list.map(createChip));
  const further = entries.filter(({ cited, isLost }) => !cited && !isLost);
  const isFolded = further.length && entries.some(({ cited }) => cited);
  const shown = isFolded ? entries.filter((entry) => !further.includes(entry)) : entries;
  const label = t("further-sources", { count: String(further.length) });
  turn.note.after(...[
    createList(shown, t("sources")),
    isFolded && createElement("details", { class: "further-sources" }, createElement("summary", {}, label), createList(further, label)),
  ].filter(Boolean));
}

function createChip(entry) {
  const { number, title, place, passages, isLost } = entry;
  const content = [createElement("b", {}, String(number)), createElement("bdi", {}, title)];
  if (isLost) return createElement("li", {}, createElement("span", { class: "chip lost" }, ...content, createElement("span", {}, place)));
  const isRecognized = passages.some(({ recognized }) => recognized);
  entry.chip = createElement("button", {
    type: "button", class: "chip", "aria-expanded": "false", "aria-controls": "source",
  }, ...content, createElement("span", {}, isRecognized ? t("recognized-at", { place }) : place));
  addPreview(entry.chip, entry.cited ?? { entry, passage: passages[0], page: passages[0].page_start });
  return createElement("li", {}, entry.chip);
}

// Replaces citations in an answer, such as "(Terms.pdf, page 4)", by the numbers of their sources.
function linkCitations(answer, entries) {
  const linked = entries.filter(({ isLost }) => !isLost);
  if (!linked.length) return;
  const escapePattern = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const passages = linked.flatMap((entry) => entry.passages);
  const titles = passages.map(({ title }) => escapePattern(title)).join("|");
  const labels = passages.filter(({ label }) => label).map(({ label }) => escapePattern(label));
  const place = ["(?:pages?|Seiten?|p\\.) \\d{1,6}\\b(?: to \\d{1,6}\\b)?", ...labels].join("|");
  const one = `(?:${titles}),? (?:${place})`;
  const citations = new RegExp(` ?\\((${one}(?:; ${one})*)\\)|${one}`, "g");
  const parts = new RegExp(`(${titles}),? (${place})`, "g");
  const walker = document.createTreeWalker(answer, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) texts.push(walker.currentNode);
  let [count, made] = [0, 0];
  for (const text of texts.filter(({ parentElement }) => !parentElement.closest("a, code"))) {
    const nodes = [];
    let end = 0;
    for (const { 0: whole, 1: group, index } of text.data.matchAll(citations)) {
      const matches = [...(group ?? whole).matchAll(parts)];
      made += matches.length;
      if (made > CITATIONS_MAX) break;
      const claim = claimBefore(text, index);
      const cited = matches.map(([, title, at]) => findCited(linked, title, at, claim));
      if (!cited.every(Boolean)) continue;
      // Numbers replace citations in parentheses. Those that are a part of a sentence stay.
      nodes.push(group ? text.data.slice(end, index) : `${text.data.slice(end, index + whole.length)} `);
      for (const citation of cited) {
        citation.entry.number ??= count += 1;
        citation.entry.cited ??= citation;
        (citation.entry.pages ??= []).push(...citation.pages);
        nodes.push(createCitation(citation));
      }
      end = index + whole.length;
    }
    if (nodes.length) text.replaceWith(...nodes, text.data.slice(end));
  }
}

// The passage that a citation means: of those with its place the one with the best quote for the claim.
function findCited(entries, title, place, claim) {
  const pages = (place.match(/\d+/g) ?? []).map(Number);
  const [number] = pages;
  const isPlace = ({ label, page_start: start, page_end: end }) => label === place || (start <= number && number <= end);
  const candidates = entries.filter((entry) => entry.title === title).flatMap((entry) =>
    entry.passages.filter(isPlace).map((passage) => ({ entry, passage, ...findQuote(passage.text, claim) })));
  const found = candidates.reduce((best, next) => (best && best.score >= next.score ? best : next), null);
  return found && { ...found, claim, pages, page: found.passage.label === place ? found.passage.page_start : number };
}

// The quotation or the last sentence before a position of a text, or the block before it. Of a table, the row of the position or the first row
// with a bold figure, after this figure, or else the first row.
function claimBefore(text, index) {
  const block = text.parentElement.closest("p, li, td, th, blockquote, h3, h4, h5, h6, .answer");
  const range = document.createRange();
  range.setStart(block, 0);
  range.setEnd(text, index);
  const before = range.toString().slice(-CLAIM_MAX);
  const quotation = before.match(/[“„][^“„]+[”“](?=\W*$)/)?.[0];
  if (quotation) return quotation;
  const sentence = splitSentences(before).filter((part) => /\p{L}/u.test(part)).at(-1);
  const above = block.previousElementSibling;
  const figure = block.closest("tr") ? block : above?.querySelector("td strong") ?? above?.querySelector("td");
  const claim = sentence ?? (figure ? `${figure.innerText} ${figure.closest("tr").innerText}` : above?.innerText ?? "");
  return claim.slice(0, CLAIM_MAX);
}

// A link and not a button, because a link can break across lines.
function createCitation(citation) {
  const { number, title, place } = citation.entry;
  const name = citation.passage.label ? place : t("at-page", { page: String(citation.page) });
  const link = createElement("a", { class: "cite", href: "#source", "aria-label": t("source-name", { number: String(number), title, place: name }) }, String(number));
  addPreview(link, citation);
  return link;
}

const PREVIEW_DELAY = 150; // in milliseconds
const PREVIEW_CHARACTERS = 320;

let previewed = null; // the link or chip whose quote is shown
let previewTimer = null;

// Shows the quote of a source while the pointer or the focus is on a link or chip, which opens the source. A finger cannot hover: its first
// tap shows the quote, the second one opens the source.
function addPreview(link, citation) {
  let isFirstTap = false;
  const later = (action, delay = PREVIEW_DELAY) => {
    clearTimeout(previewTimer);
    previewTimer = setTimeout(action, delay);
  };
  const listeners = {
    pointerenter: ({ pointerType }) => { if (pointerType === "mouse") later(() => showPreview(link, citation)); },
    pointerleave: ({ pointerType }) => { if (pointerType === "mouse") later(hidePreview); },
    pointerdown: ({ pointerType }) => { isFirstTap = pointerType === "touch" && previewed !== link; },
    focus: () => { if (link.matches(":focus-visible")) showPreview(link, citation); },
    blur: hidePreview,
    click: (event) => {
      event.preventDefault();
      const isPreview = isFirstTap && event.pointerType === "touch";
      isFirstTap = false;
      if (isPreview) return showPreview(link, citation, true);
      hidePreview();
      openSource(citation, link);
    },
  };
  for (const [event, listener] of Object.entries(listeners)) link.addEventListener(event, listener);
}

function showPreview(link, { entry, passage, page, quote }, isTap = false) {
  clearTimeout(previewTimer);
  hidePreview();
  previewed = link;
  const preview = byId("preview");
  const start = passage.text.slice(0, PREVIEW_CHARACTERS);
  const text = quote ?? (start.length < passage.text.length ? `${start.trimEnd()}…` : start);
  const place = passage.label ? entry.place : t("at-page", { page: String(page) });
  preview.replaceChildren(...[
    createElement("p", { class: "hint" }, createElement("bdi", {}, entry.title), `, ${quote ? place : t("passage-start", { place })}`),
    createElement("blockquote", { dir: "auto" }, renderPassage(text)),
    isTap && createElement("p", { class: "hint" }, t("tap-again")),
  ].filter(Boolean));
  preview.hidden = false;
  link.setAttribute("aria-describedby", "preview");
  const { left, top, bottom } = link.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = preview;
  const isBelow = bottom + height + 12 < innerHeight || top < height + 12;
  preview.style.left = `${Math.max(Math.min(left, innerWidth - width - 8), 8)}px`;
  preview.style.top = `${isBelow ? bottom + 4 : top - height - 4}px`;
}

function hidePreview() {
  clearTimeout(previewTimer);
  previewed?.removeAttribute("aria-describedby");
  previewed = null;
  byId("preview").hidden = true;
}

// Opens the passage of a citation. `opener` is the pressed link or chip.
function openSource({ entry, passage, page, quote, claim }, opener) {
  withViewer(({ openSource: open }) => open({ ...passage, quote, claim }, page, entry.chip, opener));
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

// Returns the part of a passage that a claim is based on: what the claim quotes, or else the sentence or row that has most of its words.
// Without such a part the text is null. The score is the weight of the common words relative to the length.
function findQuote(passage, claim) {
  const spaced = claim.match(/^[“„](.+)[”“]$/s)?.[1].replace(/[\\^$.*+?()[\]{}|]/g, "\\$&").replace(/\s+/g, "\\s+");
  const quoted = spaced && passage.match(new RegExp(spaced))?.[0];
  if (quoted) return { score: Infinity, quote: quoted };
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
  return { score: best.score, quote: best.text?.trim() ?? null };
}

function splitSentences(text) {
  if (!Intl.Segmenter) return text.match(/[^.!?]+[.!?]*\s*/g) ?? [];
  // A line break within a sentence would end it.
  const segments = new Intl.Segmenter(undefined, { granularity: "sentence" }).segment(text.replaceAll("\n", " "));
  return Array.from(segments, ({ segment }) => segment);
}
