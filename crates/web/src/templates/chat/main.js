
// Entry point: shows the chat, or that no account is signed in, and attaches event listeners.

const SIGNED_IN_IDS = ["side-toggle", "new", "account", "panel", "logout", "workspace"];
const SEARCH_DELAY = 250; // in milliseconds, after the last keystroke

function showChat() {
  byId("signed-out").hidden = true;
  for (const id of SIGNED_IN_IDS) byId(id).hidden = false;
  byId("user").textContent = session.name ?? session.email;
  byId("panel").hidden = !session.is_staff;
  // Only staff can connect a model.
  document.querySelector(".mode a")?.toggleAttribute("hidden", !session.is_staff);
  updateLayout();
  byId("question").focus({ preventScroll: true });
  showChosen();
  // The rows of documents show the names of collections.
  loadCollections().catch((error) => {
    if (session) setAlert("documents-alert", errorMessage(error));
  }).finally(loadDocuments);
  loadConversations();
  openFromUrl();
}

function showSignedOut(notice) {
  for (const id of SIGNED_IN_IDS) byId(id).hidden = true;
  byId("signed-out").hidden = false;
  setAlert("signed-out-alert", notice);
  byId("sign-in").href = signInUrl();
  byId("sign-in").focus();
}

// Removes the session and all data of the user from the page. The text of the question field and the address stay, because
// a session can expire while the user types.
function endSession(notice) {
  formerId = session?.id ?? formerId;
  session = null;
  clearTimeout(pollTimer);
  clearConversation();
  viewer?.releaseFile();
  documentRows = new Map();
  collections = [];
  byId("destination").replaceChildren();
  for (const dialog of document.querySelectorAll("dialog:modal")) dialog.close();
  modules.get("actions")?.then(({ endSession: end }) => end(), () => { /* It was not loaded. */ });
  forgetWelcome();
  byId("documents-list").replaceChildren();
  byId("uploads").replaceChildren();
  byId("conversations-list").replaceChildren();
  byId("conversations-search").value = "";
  conversationsLimit = CONVERSATIONS_FIRST;
  byId("user").textContent = "";
  showSignedOut(notice);
}

// Opens the sidebar on a wide screen and collapses it on a narrow one.
function updateLayout() {
  byId("side").classList.toggle("folded", narrowScreen.matches);
  updateSidebarToggle();
}

function openSidebar() {
  byId("side").classList.remove("folded");
  updateSidebarToggle();
}

function toggleSidebar() {
  const isFolded = byId("side").classList.toggle("folded");
  updateSidebarToggle();
  if (!isFolded && narrowScreen.matches) byId("side").focus();
}

// Closes the sidebar where it covers the conversation.
function closeDrawer() {
  if (!narrowScreen.matches || byId("side").classList.contains("folded")) return;
  const hadFocus = byId("side").contains(document.activeElement);
  toggleSidebar();
  if (hadFocus) byId("side-toggle").focus();
}

function updateSidebarToggle() {
  byId("side-toggle").setAttribute("aria-expanded", String(!byId("side").classList.contains("folded")));
}

function onKeydown(event) {
  const isTyping = event.target.closest?.("input, textarea, select, dialog:modal");
  if (event.key === "Escape" && previewed) hidePreview();
  else if (event.key === "Escape" && !document.querySelector("dialog:modal")) {
    if (narrowScreen.matches && !byId("side").classList.contains("folded")) closeDrawer();
    else if (answerRequest) answerRequest.abort();
    else closeSource();
  } else if (event.key === "/" && !isTyping && session && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    byId("question").focus();
  }
}

// Whether a key sends a question. In input methods, for example for Japanese, Enter also confirms a composed word.
const isSubmit = (event) => event.key === "Enter" && !event.shiftKey && !event.isComposing;

function onQuestionKeydown(event) {
  if (!isSubmit(event)) return;
  event.preventDefault();
  if (!answerRequest) submitQuestion();
}

// Returns a listener that calls `load` after the last of several events.
function afterTyping(load) {
  let timer = null;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(load, SEARCH_DELAY);
  };
}

const listen = (id, event, listener) => byId(id).addEventListener(event, listener);

listen("theme", "click", toggleTheme);
listen("sign-in", "click", keepDraft);
listen("logout", "click", signOut);
listen("new", "click", () => { startConversation(); closeDrawer(); byId("question").focus(); });
listen("workspace", "click", ({ target }) => { if (target.closest(".conversation, .source")) closeDrawer(); });
listen("ask", "submit", submitQuestion);
listen("question", "keydown", onQuestionKeydown);
listen("side-toggle", "click", toggleSidebar);
listen("conversations-more", "click", () => { conversationsLimit += CONVERSATIONS_STEP; loadConversations(); });
listen("documents-search", "input", afterTyping(() => loadDocuments()));
listen("conversations-search", "input", afterTyping(loadConversations));
listen("documents-more", "click", () => loadDocuments({ more: true }));
listen("files", "change", (event) => { enqueueUploads([...event.target.files]); event.target.value = ""; });
listen("choose", "click", () => act("openPicker"));
listen("destination", "change", showReaders);
addEventListener("keydown", onKeydown);
listen("preview", "pointerenter", () => clearTimeout(previewTimer));
listen("preview", "pointerleave", hidePreview);
addEventListener("scroll", hidePreview, { passive: true });
addEventListener("popstate", openFromUrl);
document.addEventListener("visibilitychange", schedulePoll);
document.addEventListener("visibilitychange", followOtherTabs);
addEventListener("focus", followOtherTabs);
narrowScreen.addEventListener("change", updateLayout);
acceptDroppedFiles();
byId("theme").hidden = false;

restoreSession();
