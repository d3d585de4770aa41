
// The list of the user's conversations: opening, renaming and deleting them.

const CONVERSATIONS_FIRST = 8;
const CONVERSATIONS_STEP = 20;
const MESSAGES_PER_REQUEST = 1000;
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

function openConversationFromUrl() {
  if (!session) return;
  const id = location.hash.match(CONVERSATION_FRAGMENT)?.[1];
  if (!id && turns.length) clearConversation();
  else if (id && !(turns.length && id === conversationId)) openConversation(id);
}

// Returns the heading of the group of the list that a time belongs to.
function dateGroup(time) {
  const date = new Date(time);
  const days = Math.round((new Date().setHours(0, 0, 0, 0) - new Date(time).setHours(0, 0, 0, 0)) / 86400000);
  if (days < 2) return days < 1 ? "Today" : "Yesterday";
  if (days < 31) return `Previous ${days < 8 ? 7 : 30} days`;
  return date.toLocaleDateString("en", { month: "long", year: "numeric" });
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
    const { entries, hasMore } = await fetchConversations({ limit: conversationsLimit, ...(q ? { q } : { pinned: false }) });
    const list = byId("conversations-list");
    // A title that is being edited must not be replaced.
    if (request !== conversationsRequest || list.querySelector("input")) return;
    const focusedId = list.contains(document.activeElement) ? document.activeElement.closest("li")?.dataset.id : null;
    const groups = new Map();
    for (const entry of [...pinned, ...entries]) {
      const name = q ? "Results" : entry.pinned ? "Pinned" : dateGroup(entry.updated_at);
      if (!groups.has(name)) groups.set(name, createElement("ul", { class: "list", "aria-label": name }));
      groups.get(name).append(createConversationRow(entry));
    }
    list.replaceChildren(...[...groups].flatMap(([name, rows]) => [createElement("h3", {}, name), rows]));
    byId("conversations-more").hidden = !hasMore;
    const empty = byId("conversations-empty");
    empty.textContent = q ? "No matching conversations." : "Your questions appear here.";
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

function createConversationRow({ id, title, pinned, updated_at: updatedAt }) {
  const createButton = (label, click) => createElement("button", { type: "button", class: "quiet", click }, label);
  const open = createElement("button", {
    type: "button", class: "open", title: new Date(updatedAt).toLocaleString(), click: () => openConversation(id, true),
  }, createElement("bdi", {}, title));
  const details = createElement("details", {},
    createElement("summary", {}, "Change", createElement("span", { class: "visually-hidden" }, ` ${title}`)),
    createButton("Rename", () => showRenameForm(id, title, row)), " ",
    createButton(pinned ? "Unpin" : "Pin", () => pinConversation(id, !pinned)), " ",
    createButton("Export", () => exportConversation(id, title)), " ",
    createButton("Delete…", () => deleteConversation(id, title)));
  const row = createElement("li", { class: "conversation-row", "data-id": id }, open, details);
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
    const { messages, collectionIds, documentIds } = await fetchConversation(id);
    if (request !== openRequest || !session) return;
    clearConversation();
    conversationId = id;
    restoreChosen(collectionIds, documentIds);
    for (let index = 0; index < messages.length; index += 1) {
      const [question, answer] = messages.slice(index, index + 2);
      if (question.role !== "user") continue;
      if (question.replaced) appendEarlierVersion(question.content, answer?.content ?? "");
      else appendStoredTurn(question.content, answer?.role === "assistant" ? answer : null);
    }
    updateUrl();
    if (isSelected) closeDrawer();
    if (isSelected) byId("question").focus({ preventScroll: true });
    scrollToEnd();
  } catch (error) {
    if (request !== openRequest || !session) return;
    const isNotFound = error.status === 404;
    setAlert("conversations-alert", isNotFound ? "This conversation no longer exists." : errorMessage(error));
    history.replaceState(null, "", location.pathname + (turns.length ? `#${conversationId}` : ""));
    if (isNotFound && isSelected) loadConversations();
  }
}

async function fetchConversation(id) {
  const messages = [];
  let [cursor, collectionIds, documentIds] = [null, null, null];
  do {
    const query = new URLSearchParams({ limit: String(MESSAGES_PER_REQUEST), ...(cursor && { cursor }) });
    const response = await callApi(`/conversations/${id}?${query}`);
    const page = await response.json();
    messages.push(...page.messages);
    ({ collection_ids: collectionIds, document_ids: documentIds } = page);
    cursor = response.headers.get("X-Next-Cursor");
  } while (cursor);
  return { messages, collectionIds, documentIds };
}

function appendStoredTurn(question, answer) {
  const turn = createTurn(question);
  appendTurn(turn);
  turn.answer = answer?.content ?? "";
  showMarkdown(turn.answerElement, turn.answer);
  if (!answer) showNote(turn, "No answer received.");
  else if (!answer.complete) showNote(turn, "This answer is incomplete or was stopped.");
  completeTurn(turn, answer?.sources ?? [], answer?.id, answer?.feedback);
}

// Replaces a row of the list by a form for the title.
function showRenameForm(id, title, row) {
  const field = createElement("input", { "aria-label": "Title", maxlength: "200", value: title, dir: "auto" });
  const form = createElement("form", { class: "rename", submit: (event) => { event.preventDefault(); save(); } },
    field, createElement("button", { type: "submit" }, "Save"),
    createElement("button", { type: "button", class: "quiet", click: close }, "Cancel"));
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    close();
  });
  row.replaceChildren(form);
  field.select();

  function close() {
    form.remove();
    loadConversations().then(() => focusConversation(id));
  }
  async function save() {
    try {
      await callApi(`/conversations/${id}`, jsonOptions("PATCH", { title: field.value }));
      close();
    } catch (error) {
      // The form stays open, so that the user can correct the title.
      setAlert("conversations-alert", `Not renamed. ${errorMessage(error)}`);
      field.focus();
    }
  }
}

async function pinConversation(id, pinned) {
  try {
    await callApi(`/conversations/${id}`, jsonOptions("PATCH", { pinned }));
    await loadConversations();
    focusConversation(id);
  } catch (error) {
    setAlert("conversations-alert", errorMessage(error));
  }
}

// Saves a conversation as a Markdown file.
async function exportConversation(id, title) {
  try {
    const { messages } = await fetchConversation(id);
    viewer ??= await loadViewer();
    const href = URL.createObjectURL(new Blob([viewer.toMarkdown(title, messages)], { type: "text/markdown" }));
    createElement("a", { href, download: `${title.replace(/[\\/:*?\x22<>|.]+/g, " ").trim() || "Conversation"}.md` }).click();
    setTimeout(() => URL.revokeObjectURL(href), 60000);
  } catch (error) {
    setAlert("conversations-alert", `Not exported. ${errorMessage(error)}`);
  }
}

async function deleteConversation(id, title) {
  const consequence = "and its messages will be permanently deleted.";
  if (!await confirmDeletion("Delete this conversation?", title, consequence)) return;
  try {
    await callApi(`/conversations/${id}`, { method: "DELETE" });
  } catch (error) {
    // 404: the conversation is already deleted.
    if (error.status !== 404) {
      setAlert("conversations-alert", `Not deleted. ${errorMessage(error)}`);
      return;
    }
  }
  if (id === conversationId) startConversation();
  announce(`${title} was deleted.`);
  await loadConversations();
  byId("question").focus({ preventScroll: true });
}
