
// The summary of a document in the pane of its pages: sentences that open their page, and suggested questions.

const FALLBACKS = {
  model_failed: "The language model could not be reached. These are sentences of the document.",
  model_timeout: "The language model took too long. These are sentences of the document.",
  invalid_output: "The language model wrote no usable summary. These are sentences of the document.",
  not_allowed: "Your language model limit is reached. These are sentences of the document.",
};

async function fetchSummary(id) {
  return (await callApi(`/documents/${id}/summary`)).json();
}

// Opens a document from the list at the first sentence of its summary.
async function openSummary(id, title, button) {
  const entry = documentRows.get(id);
  button.disabled = true;
  try {
    const summary = await fetchSummary(id);
    const first = [summary.description, ...summary.points].find((place) => place?.page) ?? { page: 1, text: "" };
    const { page, text, chunk_id, label } = first;
    openSource({ document_id: id, title, chip: button, page_start: page, page_end: page, text, chunk_id, label }, page, button);
    showSummary(summary);
    byId("summary").open = true;
  } catch (error) {
    entry.report.replaceChildren(createElement("p", { class: "reason", role: "alert" }, errorMessage(error)));
  }
  button.disabled = false;
}

// Loads the summary of the open document when it is unfolded.
async function loadSummary() {
  const opened = openedSource;
  if (!byId("summary").open || !opened || opened.hasSummary) return;
  const content = byId("summary-content");
  content.replaceChildren(createElement("p", { class: "hint" }, "Reading the document…"));
  try {
    const summary = await fetchSummary(opened.source.document_id);
    if (openedSource === opened) showSummary(summary);
  } catch (error) {
    if (openedSource === opened) content.replaceChildren(createElement("p", { class: "reason", role: "alert" }, errorMessage(error)));
  }
}

function showSummary({ description, points, headings, questions, model, fallback }) {
  openedSource.hasSummary = true;
  const createPlace = (place) => [
    createElement("button", { type: "button", class: "link", click: () => showPlace(place) }, place.text ?? place.title),
    ` (${place.label ?? `page ${place.page}`})`,
  ];
  const createList = (name, items) => items.length > 0 && [
    createElement("h3", {}, name),
    createElement("ul", {}, ...items.map((item) => createElement("li", { dir: "auto" }, ...item))),
  ];
  const sections = headings.map((heading) => (heading.page ? createPlace(heading) : [heading.title]));
  const asked = questions.map(({ text }) =>
    [createElement("button", { type: "button", class: "link", click: () => askSuggested(text) }, text)]);
  const notice = FALLBACKS[fallback] ?? (model && `Written by ${model}. Check the pages.`);
  byId("summary-content").replaceChildren(...[
    description && createElement("p", { dir: "auto" }, ...(description.page ? createPlace(description) : [description.text])),
    createList("Key points", points.map(createPlace)),
    createList("Sections", sections),
    createList("Suggested questions", asked),
    notice && createElement("p", { class: "hint" }, notice),
    !description && !points.length && createElement("p", { class: "hint" }, "No sentences found: this document has little running text."),
  ].flat().filter(Boolean));
}

// Shows the page of a sentence with its passage marked.
function showPlace({ page, text = "", chunk_id, label }) {
  const { source } = openedSource;
  Object.assign(openedSource, { source: { ...source, page_start: page, page_end: page, text, chunk_id, label: label ?? source.label }, page });
  byId("passage").hidden = !text;
  byId("passage-text").replaceChildren(...renderPassage(text));
  loadPage();
}

// Asks a suggested question in a conversation about the open document.
function askSuggested(question) {
  const { document_id: id, title } = openedSource.source;
  closeSource();
  askDocument(id, title);
  byId("question").value = question;
  submitQuestion();
}
