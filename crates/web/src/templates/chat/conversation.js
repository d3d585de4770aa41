
// The open conversation: questions, streamed answers and their display.

// Limits of the history that is sent with a question.
const HISTORY_TURNS_MAX = 50;
const HISTORY_CHARACTERS_MAX = 200000;

let conversationId = randomUuid(); // the service creates the conversation with its first question
let turns = []; // { question, answer, element, heading, steps, answerElement, note, tools, fallback, … }, oldest first
// Who else reads the open conversation: IDs of collections, and the owner if it is another account.
let sharing = { with: [], by: null };
let answerRequest = null; // AbortController of the answer being streamed

// Returns the previous messages that are sent with the next question.
function buildHistory() {
  const messages = [];
  let remaining = HISTORY_CHARACTERS_MAX;
  for (const { question, answer } of turns.slice(-HISTORY_TURNS_MAX).reverse()) {
    remaining -= question.length + answer.length;
    if (remaining < 0) break;
    // The model would answer an unanswered question together with the next one.
    if (answer) messages.unshift({ role: "user", content: question }, { role: "assistant", content: answer });
  }
  return messages;
}

function createTurn(question) {
  const steps = createElement("ul", { class: "steps", "aria-label": t("steps"), hidden: true });
  const answerElement = createElement("div", { class: "answer" });
  const note = createElement("p", { class: "note", hidden: true });
  const tools = createElement("div", { class: "tools" });
  const heading = createElement("div", { class: "asked" }, createElement("h2", { class: "question", dir: "auto" }, question));
  const element = createElement("article", { class: "turn" }, heading, steps, answerElement, note, tools);
  return { question, answer: "", element, heading, steps, answerElement, note, tools };
}

async function askQuestion(question, selection, replaces, search) {
  const messages = [...buildHistory(), { role: "user", content: question }];
  const turn = { ...createTurn(question), replaces, search };
  appendTurn(turn);
  updateUrl();
  await streamAnswer(turn, messages, selection);
}

function appendTurn(turn) {
  // Only the last question can be asked again or edited: later questions were asked with the existing answer as context.
  for (const { element, heading } of turns) {
    for (const part of element.querySelectorAll(".retry, .search-first, .edit, .edit-form, .choices")) part.remove();
    heading.hidden = false;
  }
  turns.push(turn);
  byId("empty-conversation").hidden = true;
  byId("turns").append(turn.element);
  turn.element.scrollIntoView({ block: "nearest" });
  scrollToEnd();
}

async function streamAnswer(turn, messages, selection) {
  const controller = new AbortController();
  answerRequest = controller;
  updateSendButton();
  // While the turn is busy, screen readers wait and then read the whole answer.
  turn.element.setAttribute("aria-busy", "true");
  turn.answerElement.replaceChildren(createElement("p", { class: "waiting" }, t("searching")));
  let sources = [];
  let messageId = null;
  let incomplete = null;
  let frame = 0;
  const renderAnswer = () => {
    frame = 0;
    const wasAtEnd = isAtEnd();
    if (!renderedBlocks.has(turn.answerElement)) turn.answerElement.replaceChildren();
    showMarkdown(turn.answerElement, turn.answer);
    if (wasAtEnd) scrollToEnd(turn);
  };
  let failure = null;
  try {
    const body = { messages, ...selection, conversation_id: conversationId, include_sources: true, include_metadata: true, include_reasoning: true, fallback: "quotes", search: turn.search };
    const send = () => callApi("/agents/chat", {
      ...jsonOptions("POST", turn.replaces ? { ...body, replaces: turn.replaces } : body), signal: controller.signal,
    });
    const response = await send().catch((error) => {
      // An answer that was stopped a moment ago may not be recorded yet.
      if (error.status !== 404 || !turn.replaces) throw error;
      turn.replaces = null;
      return send();
    });
    messageId = response.headers.get("X-Message-Id");
    for await (const { event, data } of readEvents(response)) {
      if (event === "error") throw new ApiError(1, t("answer-incomplete-because", { reason: data.detail }));
      if (event === "sources") sources = data.results;
      else if (event === "metadata") {
        if (data.type === "incomplete") incomplete = data.reason;
        else if (data.type === "not_searched") turn.isNotSearched = true;
        else if (data.type === "fallback") showFallback(turn, data.cause);
        else if (data.type === "choices") turn.choices = data.choices;
        else showStep(turn, data);
      }
      else if (event === "reasoning") showReasoning(turn, data);
      else if (event === "message") {
        turn.answer += data;
        frame ||= requestAnimationFrame(renderAnswer);
      }
    }
  } catch (error) {
    failure = error;
  }
  if (failure?.status === 404 && selection.collection_ids) {
    await refreshChosen();
    failure = new ApiError(1, t("source-gone"));
  }
  cancelAnimationFrame(frame);
  if (answerRequest === controller) answerRequest = null;
  updateSendButton();
  if (turns.includes(turn)) {
    const wasAtEnd = isAtEnd();
    renderAnswer();
    if (failure?.name === "AbortError") showNote(turn, t("stopped"));
    else if (incomplete && incomplete !== "error") showNote(turn, await act("incompleteText", incomplete, turn.answer) ?? t("answer-incomplete"), true);
    else if (failure) showNote(turn, t("question-kept", { reason: errorMessage(failure) }), true);
    else if (!turn.answer) showNote(turn, t("answer-empty"));
    else if (turn.isNotSearched) showNote(turn, t("answer-not-searched"));
    completeTurn(turn, sources, messageId);
    if (wasAtEnd) scrollToEnd(turn);
  } else if (failure?.status === 401) {
    byId("question").value ||= turn.question;
    // The conversation does not exist without its first question.
    if (messages.length === 1) history.replaceState(null, "", location.pathname);
  }
  if (session) loadConversations();
}

// Shows how an answer is made: what was searched for, and what was left out or removed.
function showStep({ steps, question }, { type, query, count }) {
  // A search for the question itself is not worth a line.
  if (query === question) return;
  const texts = {
    searched: t("step-searched", { query }),
    history_shortened: t("step-shortened"),
    citations_removed: t("step-citations", { count }),
  };
  const text = texts[type];
  if (!text || [...steps.children].some((step) => step.textContent === text)) return;
  steps.append(createElement("li", { dir: "auto" }, text));
  steps.hidden = false;
}

// Shows what the model writes for itself, folded, above its answer. The service does not store it.
function showReasoning(turn, text) {
  if (!turn.reasoning) {
    turn.reasoning = createElement("div", { dir: "auto" });
    turn.answerElement.before(createElement("details", { class: "reasoning" }, createElement("summary", {}, t("reasoning")), turn.reasoning));
  }
  turn.reasoning.append(text);
}

// Says that an answer consists of quotes, because the model could not answer. Its reasoning is not about them.
function showFallback(turn, cause) {
  turn.fallback = cause;
  turn.reasoning?.parentElement.remove();
  turn.answerElement.before(createFallbackLabel(cause));
}

function createFallbackLabel(cause) {
  const label = createElement("p", { class: "fallback" }, t("quotes-only"));
  act("fallbackText", cause).then((text) => { if (text) label.textContent = text; });
  return label;
}

// Adds the sources and buttons below an answer that has ended. It has an ID if it is stored.
function completeTurn(turn, sources, messageId, feedback) {
  if (sources.length) showSources(turn, sources);
  turn.messageId = messageId;
  if (turn.answer && messageId) addFeedback(turn, messageId, feedback);
  if (turn.answer && navigator.clipboard) {
    const click = (event) => copyAnswer(event.currentTarget, turn);
    turn.tools.append(createElement("button", { type: "button", class: "quiet", click }, t("copy")));
  }
  if (turns.at(-1) === turn && !sharing.by) {
    if (turn.choices) turn.answerElement.after(createChoices(turn.choices));
    const click = () => askAgain(turn);
    if (turn.isNotSearched) {
      const search = () => askAgain(turn, turn.question, "first");
      turn.tools.append(createElement("button", { type: "button", class: "quiet search-first", click: search }, t("search-and-ask")));
    }
    turn.tools.append(createElement("button", { type: "button", class: "quiet retry", click }, turn.fallback ? t("ask-model-again") : t("ask-again")));
    turn.heading.append(createElement("button", {
      type: "button", class: "quiet icon edit", "aria-label": t("question-edit"), title: t("question-edit"), click: () => act("editQuestion", turn),
    }, createGlyph("i-edit")));
  }
  turn.element.removeAttribute("aria-busy");
}

// Creates buttons that answer a question back.
function createChoices(choices) {
  const choose = (choice) => {
    const selection = !answerRequest && checkSelection();
    if (!selection) return;
    byId("question").focus({ preventScroll: true });
    askQuestion(choice, selection);
  };
  const buttons = choices.map((choice) => createElement("button", { type: "button", class: "quiet", dir: "auto", click: () => choose(choice) }, choice));
  return createElement("div", { class: "choices", role: "group", "aria-label": t("choices") }, ...buttons);
}

function showNote({ note }, text, isError = false) {
  note.textContent = text;
  note.hidden = false;
  note.classList.toggle("alert", isError);
}

async function copyAnswer(button, { answer }) {
  try {
    await navigator.clipboard.writeText(answer);
    button.textContent = t("copied");
  } catch {
    button.textContent = t("copy-blocked");
  }
  announce(button.textContent);
  await delay(2000);
  button.textContent = t("copy");
}

// Replaces the last turn by one with the same or an edited question, with a search before the answer if `search` says so. Returns whether it was asked.
function askAgain(turn, question = turn.question, search) {
  const selection = checkSelection();
  if (answerRequest || !selection) return false;
  if (viewer?.isOpenedFrom(turn.element)) closeSource();
  turns.pop();
  turn.element.remove();
  if (turn.messageId) appendEarlierVersion(turn.question, turn.answer, turn.fallback);
  byId("question").focus({ preventScroll: true });
  askQuestion(question, selection, turn.messageId ?? turn.replaces, search);
  return true;
}

// Shows a question that was asked again, folded, before its next version.
function appendEarlierVersion(question, answer, fallback) {
  const content = createElement("div", { class: "answer" });
  showMarkdown(content, answer);
  byId("turns").append(createElement("details", { class: "note" },
    createElement("summary", {}, ...tNodes("earlier-version", { question: createElement("bdi", {}, question) })),
    fallback ? createFallbackLabel(fallback) : null, content));
}

// New text scrolls the page only if the reader is at the end, within this many pixels.
const END_TOLERANCE = 80;
const isAtEnd = () => root.scrollHeight - innerHeight - scrollY < END_TOLERANCE;

// Scrolls to the end, or to the question of a turn whose answer does not fit below it.
function scrollToEnd(turn) {
  const header = Number.parseFloat(getComputedStyle(root).scrollPaddingTop);
  const question = turn ? turn.element.getBoundingClientRect().top + scrollY - header : Infinity;
  scrollTo({ top: Math.min(root.scrollHeight, question), behavior: "instant" });
}

function updateSendButton() {
  const button = byId("send");
  button.textContent = answerRequest ? t("stop") : t("ask");
  button.classList.toggle("quiet", answerRequest !== null);
}

function submitQuestion(event) {
  event?.preventDefault();
  if (answerRequest) {
    answerRequest.abort();
    return;
  }
  const field = byId("question");
  const question = field.value.trim();
  const selection = question && checkSelection();
  if (!selection) return;
  field.value = "";
  askQuestion(question, selection);
}

// Returns the sources of the next question. Shows a message and returns null if none is left of those that were chosen.
function checkSelection() {
  const selection = selectionOfQuestion();
  const message = t("sources-gone");
  setAlert("ask-alert", selection ? null : message);
  return selection;
}

function setSharing(collectionIds, by) {
  sharing = { with: collectionIds, by };
  showSharing();
}

// Says who else reads the open conversation. Those it is shared with cannot ask in it.
function showSharing() {
  const names = sharing.with.map((id) => collections.find((one) => one.id === id)?.name ?? t("collection-lost"));
  byId("ask").hidden = sharing.by !== null;
  byId("sharing").hidden = !sharing.by && !names.length;
  byId("sharing").textContent = sharing.by
    ? t("shared-by", { owner: sharing.by })
    : t("shared-with", { collections: names.join(", ") });
}

// Begins a conversation, as a new entry of the history.
function startConversation() {
  clearConversation();
  updateUrl();
}

function clearConversation() {
  answerRequest?.abort();
  answerRequest = null;
  updateSendButton();
  closeSource();
  turns = [];
  conversationId = randomUuid();
  markOpenConversation();
  setChosen({});
  setSharing([], null);
  byId("turns").replaceChildren();
  byId("empty-conversation").hidden = false;
  showWelcome();
}
