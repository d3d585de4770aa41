
// The list of the user's conversations.

const CONVERSATIONS_FIRST = 8;
const CONVERSATIONS_STEP = 20;
const MESSAGES_PER_REQUEST = 1000;
const DOCUMENT_FRAGMENT = /^#document=([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})&page=([1-9]\d{0,8})$/;
const CONVERSATION_FRAGMENT = /^#([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

let conversationsLimit = CONVERSATIONS_FIRST;
// Numbers of the latest requests for the list and for a conversation; earlier responses are ignored.
let conversationsRequest = 0;
let openRequest = 0;

// Puts the ID of the open conversation in the URL, as a new entry of the history.
function updateUrl() {
  const fragment = turns.length ? `#${conversationId}` : "";
  if (location.hash !== fragment) history.pushState(null, "", location.pathname + fragment);
  markOpenConversation();
}

// Opens the conversation or the document that the address names.
function openFromUrl() {
  if (!session) return;
  const [, documentId, page] = location.hash.match(DOCUMENT_FRAGMENT) ?? [];
  if (documentId) {
    withViewer(({ openLinked }) => openLinked(documentId, Number(page)));
    return;
  }
  const id = location.hash.match(CONVERSATION_FRAGMENT)?.[1];
  if (!id && turns.length) clearConversation();
  else if (id && !(turns.length && id === conversationId)) openConversation(id);
}

// Returns the heading of the group of the list that a time belongs to.
function dateGroup(time) {
  const date = new Date(time);
  const days = Math.round((new Date().setHours(0, 0, 0, 0) - new Date(time).setHours(0, 0, 0, 0)) / 86400000);
  if (days < 2) return days < 1 ? t("today") : t("yesterday");
  if (days < 31) return t("previous-days", { count: days < 8 ? 7 : 30 });
  return date.toLocaleDateString(locale, { month: "long", year: "numeric" });
}

async function fetchConversations(parameters) {
  const response = await callApi(`/conversations?${new URLSearchParams(parameters)}`);
  return { entries: await response.json(), hasMore: response.headers.has("X-Next-Cursor") };
}

async function loadConversations() {
  conversationsRequest += 1;
  const request = conversationsRequest;
  try {
    const q = byId("conversations-search").value.trim();
    const pinned = q ? [] : (await fetchConversations({ pinned: true })).entries;
    const found = { limit: conversationsLimit, ...(q && { q }) };
    const { entries, hasMore } = await fetchConversations({ ...found, ...(!q && { pinned: false }) });
    const shared = await fetchConversations({ ...found, shared: true });
    const list = byId("conversations-list");
    // A title that is being edited must not be replaced.
    if (request !== conversationsRequest || list.querySelector("input")) return;
    const focusedId = list.contains(document.activeElement) ? document.activeElement.closest("li")?.dataset.id : null;
    const groups = new Map();
    for (const entry of [...pinned, ...entries, ...shared.entries]) {
      const name = entry.shared_by ? t("shared-with-me") : q ? t("results") : entry.pinned ? t("pinned") : dateGroup(entry.updated_at);
      if (!groups.has(name)) groups.set(name, createElement("ul", { class: "list", "aria-label": name }));
      groups.get(name).append(createConversationRow(entry));
    }
    list.replaceChildren(...[...groups].flatMap(([name, rows]) => [createElement("h3", {}, name), rows]));
    byId("conversations-more").hidden = !hasMore && !shared.hasMore;
    const empty = byId("conversations-empty");
    empty.textContent = q
      ? t("conversations-none-match")
      : t("conversations-none");
    empty.hidden = groups.size > 0;
    byId("conversations-search").hidden = !q && !groups.size;
    setAlert("conversations-alert");
    markOpenConversation();
    if (focusedId) focusConversation(focusedId);
  } catch (error) {
    if (request === conversationsRequest && session) setAlert("conversations-alert", errorMessage(error));
  }
}

function focusConversation(id) {
  byId("conversations-list").querySelector(`[data-id="${id}"] .open`)?.focus({ preventScroll: true });
}

function createConversationRow({ id, title, pinned, updated_at: updatedAt, shared_by: owner, shared_by_name: name, shared_with: sharedWith }) {
  const createButton = (label, click) => createElement("button", { type: "button", class: "quiet", click }, label);
  const open = createElement("button", {
    type: "button", class: "open", title: `${title}\n${new Date(updatedAt).toLocaleString(locale)}`, click: () => openConversation(id, true),
  }, createElement("bdi", {}, title));
  const exported = createButton(t("export"), () => act("exportConversation", id, title));
  const buttons = owner ? [exported] : [
    createButton(t("rename"), () => act("showRenameForm", id, title, row)), " ",
    createButton(pinned ? t("unpin") : t("pin"), () => act("pinConversation", id, !pinned)), " ",
    createButton(t("share-ask"), () => act("shareConversation", id, title)), " ", exported, " ",
    createButton(t("delete-ask"), () => act("deleteConversation", id, title)),
  ];
  const summary = createElement("summary", { "aria-label": t("conversation-actions", { title }) }, "⋯");
  const details = createElement("details", {}, summary, ...buttons);
  const note = owner || sharedWith.length ? createElement("span", { class: "hint" }, owner ? personName(name, owner) : t("shared")) : null;
  const row = createElement("li", { class: "conversation-row", "data-id": id }, open, note, details);
  return row;
}

function markOpenConversation() {
  for (const row of byId("conversations-list").querySelectorAll("li")) {
    const isOpen = turns.length > 0 && row.dataset.id === conversationId;
    row.querySelector(".open")?.setAttribute("aria-current", String(isOpen));
  }
}

// Loads and shows a conversation. If the user selected it in the list, the focus moves to the question field.
async function openConversation(id, isSelected = false) {
  openRequest += 1;
  const request = openRequest;
  setAlert("conversations-alert");
  try {
    const { messages, ...conversation } = await fetchConversation(id);
    if (request !== openRequest || !session) return;
    clearConversation();
    conversationId = id;
    setSharing(conversation.shared_with, conversation.owner);
    restoreChosen(conversation.collection_ids, conversation.document_ids);
    for (let index = 0; index < messages.length; index += 1) {
      const [question, answer] = messages.slice(index, index + 2);
      if (question.role !== "user") continue;
      if (question.withheld) {
        appendWithheldTurn();
        break;
      }
      if (question.replaced) appendEarlierVersion(question.content, answer?.content ?? "", answer?.fallback_cause);
      else appendStoredTurn(question.content, answer?.role === "assistant" ? answer : null);
    }
    updateUrl();
    if (isSelected) closeDrawer();
    if (isSelected) byId("question").focus({ preventScroll: true });
    scrollToEnd();
  } catch (error) {
    if (request !== openRequest || !session) return;
    const isNotFound = error.status === 404;
    history.replaceState(null, "", location.pathname + (turns.length ? `#${conversationId}` : ""));
    if (isNotFound && isSelected) await loadConversations();
    // A conversation of the address was not chosen in the list, which can be folded.
    setAlert(isSelected ? "conversations-alert" : "ask-alert", isNotFound ? t("conversation-gone") : errorMessage(error));
  }
}

async function fetchConversation(id) {
  const messages = [];
  let [cursor, conversation] = [null, null];
  do {
    const query = new URLSearchParams({ limit: String(MESSAGES_PER_REQUEST), ...(cursor && { cursor }) });
    const response = await callApi(`/conversations/${id}?${query}`);
    conversation = await response.json();
    messages.push(...conversation.messages);
    cursor = response.headers.get("X-Next-Cursor");
  } while (cursor);
  const { shared_by: email, shared_by_name: name } = conversation;
  return { ...conversation, messages, owner: email && personName(name, email) };
}

function appendWithheldTurn() {
  const turn = createTurn("");
  turn.heading.hidden = true;
  appendTurn(turn);
  showNote(turn, t("answer-withheld"));
}

function appendStoredTurn(question, answer) {
  const turn = createTurn(question);
  appendTurn(turn);
  turn.answer = answer?.content ?? "";
  showMarkdown(turn.answerElement, turn.answer);
  if (answer?.fallback_cause) showFallback(turn, answer.fallback_cause);
  if (!answer) showNote(turn, t("answer-none"));
  else if (!answer.complete) showNote(turn, t("answer-incomplete"));
  // Only the owner can rate an answer.
  completeTurn(turn, answer?.sources ?? [], sharing.by ? null : answer?.id, answer?.feedback);
}
