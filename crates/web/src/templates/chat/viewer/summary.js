
// The summary of a document in the pane of its pages: sentences that open their page, and suggested questions.

const fallbackNotice = (fallback) => ({
  model_failed: t("fallback-failed"),
  model_timeout: t("fallback-timeout"),
  invalid_output: t("fallback-invalid"),
  not_allowed: t("fallback-limit"),
})[fallback];

async function fetchSummary(id) {
  return (await callApi(`/documents/${id}/summary`)).json();
}

// Opens a document from the list at the first sentence of its summary.
async function openSummary(id, title, button) {
  const summary = await fetchSummary(id);
  const first = [summary.description, ...summary.points].find((place) => place?.page) ?? { page: 1, text: "" };
  const { page, text, chunk_id, label } = first;
  const opening = openSource({ document_id: id, title, page_start: page, page_end: page, text, chunk_id, label }, page, button, button);
  if (!opened) return;
  showSummary(summary);
  byId("summary").open = true;
  await opening;
}

// Loads the summary of the open document when it is unfolded.
async function loadSummary() {
  const mine = opened;
  if (!byId("summary").open || !mine || mine.hasSummary) return;
  const content = byId("summary-content");
  content.replaceChildren(createElement("p", { class: "hint" }, t("summary-reading")));
  try {
    const summary = await fetchSummary(mine.source.document_id);
    if (opened === mine) showSummary(summary);
  } catch (error) {
    if (opened === mine) content.replaceChildren(createElement("p", { class: "reason", role: "alert" }, errorMessage(error)));
  }
}

function showSummary({ description, points, headings, questions, model, fallback }) {
  opened.hasSummary = true;
  const createPlace = (place) => [
    createElement("button", { type: "button", class: "link", click: () => showPlace(place) }, place.text ?? place.title),
    ` (${place.label ? placeLabel(place.label) : t("at-page", { page: String(place.page) })})`,
  ];
  const createList = (name, items) => items.length > 0 && [
    createElement("h3", {}, name),
    createElement("ul", {}, ...items.map((item) => createElement("li", { dir: "auto" }, ...item))),
  ];
  const sections = headings.map((heading) => (heading.page ? createPlace(heading) : [heading.title]));
  const asked = questions.map(({ text }) =>
    [createElement("button", { type: "button", class: "link", click: () => askQuestionOfSummary(text) }, text)]);
  const notice = fallbackNotice(fallback) ?? (model && t("summary-by", { model }));
  byId("summary-content").replaceChildren(...[
    description && createElement("p", { dir: "auto" }, ...(description.page ? createPlace(description) : [description.text])),
    createList(t("key-points"), points.map(createPlace)),
    createList(t("sections"), sections),
    createList(t("suggested-questions"), asked),
    notice && createElement("p", { class: "hint" }, notice),
    !description && !points.length && createElement("p", { class: "hint" }, t("summary-none")),
  ].flat().filter(Boolean));
}

// Shows the page of a sentence with its passage marked.
function showPlace({ page, text = "", chunk_id, label }) {
  const { source } = opened;
  const place = { page_start: page, page_end: page, text, quote: null, chunk_id, label: label ?? source.label };
  Object.assign(opened, { source: { ...source, ...place }, page, target: page });
  showSource();
  showPages();
}

// Asks a suggested question in a conversation about the open document.
function askQuestionOfSummary(question) {
  const { document_id: id, title } = opened.source;
  closeSource();
  askDocument(id, title);
  askSuggested(question);
}
