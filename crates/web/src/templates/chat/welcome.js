
// What an empty conversation shows: questions about the newest documents, or the first steps while no document is ready.

const SUGGESTIONS_MAX = 3;

let suggestions = new Map(); // by document ID: the promise of its suggested questions
let welcomed = ""; // what is shown, so that it is not replaced by the same

const isReady = ({ status }) => status === "ingested";

function showWelcome() {
  // The rows of a search do not say what there is.
  if (turns.length || byId("documents-search").value.trim()) return;
  const ready = [...documentRows].filter(([, row]) => isReady(row)).slice(0, SUGGESTIONS_MAX);
  const key = ready.map(([id]) => id).join() || [...documentRows.values()].map(({ title, status }) => title + status).join();
  if (ready.length && key === welcomed) return;
  welcomed = key;
  if (ready.length) showSuggestions(ready, key);
  else showFirstSteps();
}

function forgetWelcome() {
  suggestions = new Map();
  welcomed = "";
  byId("welcome").replaceChildren();
}

// Shows one question of each document, and then further ones of the newest.
async function showSuggestions(ready, key) {
  byId("welcome").replaceChildren();
  const found = await Promise.all(ready.map(async ([id, { title }]) => {
    if (!suggestions.has(id)) suggestions.set(id, fetchSuggestions(id));
    return (await suggestions.get(id)).map(({ text }) => ({ id, title, text }));
  }));
  if (key !== welcomed) return;
  const all = [0, 1, 2].flatMap((n) => found.map((questions) => questions[n]).filter(Boolean)).slice(0, SUGGESTIONS_MAX);
  if (!all.length) return;
  const createSuggestion = ({ id, title, text }) => createElement("li", {}, createElement("button", {
    type: "button", class: "quiet suggestion", dir: "auto", click: () => { askDocument(id, title); askSuggested(text); },
  }, text, createElement("span", { class: "hint" }, createElement("bdi", {}, title))));
  byId("welcome").replaceChildren(createElement("h3", { id: "suggestions-title" }, t("suggested-questions")),
    createElement("ul", { class: "suggestions", "aria-labelledby": "suggestions-title" }, ...all.map(createSuggestion)));
}

// The questions of the summary. Without one, the service makes it from sentences of the document, and calls no model.
async function fetchSuggestions(id) {
  try {
    const { questions } = await (await callApi(`/documents/${id}/summary?model=false`)).json();
    return questions.length ? questions : [{ text: t("question-about") }];
  } catch {
    return []; // The page works without them.
  }
}

// Shows the three steps of a first visit, with a button for the next one.
function showFirstSteps() {
  const canUpload = !byId("upload-area").hidden;
  const isUploaded = [...documentRows.values()].some(({ status }) => status === "pending");
  const upload = createElement("button", { type: "button", click: () => byId("files").click() }, t("upload-one", { type: fileType() }));
  const createStep = (name, isNext, ...content) =>
    createElement("li", isNext ? { "aria-current": "step" } : {}, createElement("h3", {}, name), ...content.filter(Boolean));
  const createText = (text) => createElement("p", {}, text);
  byId("welcome").replaceChildren(createElement("ol", { class: "first-steps", "aria-label": t("first-steps") },
    createStep(t("upload-one", { type: fileType() }), true,
      !isUploaded && createText(canUpload ? t("step-upload-hint") : NO_UPLOADS),
      isUploaded && createElement("p", { id: "welcome-progress", role: "status" }),
      canUpload && !isUploaded && upload),
    createStep(t("step-ask"), false, createText(t("step-ask-hint"))),
    createStep(t("step-check"), false, createText(t("step-check-hint")))));
  showWelcomeProgress();
}

// Shows the current step of the first document.
function showWelcomeProgress() {
  const first = [...documentRows.values()].find(({ status }) => status === "pending");
  const place = byId("welcome-progress");
  if (place && first) place.replaceChildren(createElement("bdi", {}, first.title), `: ${first.progress.textContent || t("waiting")}`);
}
