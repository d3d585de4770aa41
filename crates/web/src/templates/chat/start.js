
// Opening and leaving, keys, and what listens to what.

function open() {
  byId("door").hidden = true;
  byId("desk").hidden = false;
  byId("who").textContent = session.email;
  for (const id of ["side-toggle", "new", "logout"]) byId(id).hidden = false;
  fold();
  byId("question").focus({ preventScroll: true });
  list();
  listTalks();
  reopen();
}

// Forgets everything of who was here. A question that is being typed stays when a session ends by itself.
function leave(notice) {
  forget();
  clearTimeout(polling);
  begin();
  dropFile();
  rows = new Map();
  byId("documents-list").replaceChildren();
  byId("uploads").replaceChildren();
  byId("talks").replaceChildren();
  listed = TALKS_FIRST;
  byId("who").textContent = "";
  showDoor(notice);
}

function showDoor(notice) {
  for (const id of ["side-toggle", "new", "logout", "desk"]) byId(id).hidden = true;
  byId("door").hidden = false;
  alertIn("door-alert", notice);
  byId("email").focus();
}

// Conversations and documents are beside a wide page, and folded away above a narrow one.
function fold() {
  byId("side").classList.toggle("folded", narrow.matches);
  tellSide();
  placeSource();
}

function tellSide() {
  byId("side-toggle").setAttribute("aria-expanded", String(!byId("side").classList.contains("folded")));
}

function onKey(event) {
  const isTyping = event.target.closest?.("input, textarea, dialog");
  if (event.key === "Escape" && !byId("confirm").open) {
    if (answering) answering.abort();
    else closeSource();
  } else if (event.key === "/" && !isTyping && session && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    byId("question").focus();
  }
}

function onQuestionKey(event) {
  // Enter also ends the input of a word in scripts that are composed.
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  if (!answering) submitQuestion();
}

const on = (id, name, action) => byId(id).addEventListener(name, action);

let searching = null;
on("theme", "click", switchTheme);
on("login", "submit", logIn);
on("logout", "click", logOut);
on("new", "click", () => { begin(); byId("question").focus(); });
on("ask", "submit", submitQuestion);
on("question", "keydown", onQuestionKey);
on("side-toggle", "click", () => { byId("side").classList.toggle("folded"); tellSide(); });
on("talks-more", "click", () => { listed += TALKS_MORE; listTalks(); });
on("documents-search", "input", () => { clearTimeout(searching); searching = setTimeout(() => list(), 250); });
on("documents-more", "click", () => list({ more: true }));
on("files", "change", (event) => { upload([...event.target.files]); event.target.value = ""; });
on("source-close", "click", closeSource);
on("page-back", "click", () => turnPage(-1));
on("page-on", "click", () => turnPage(1));
on("source-file", "click", openFile);
addEventListener("keydown", onKey);
addEventListener("hashchange", reopen);
document.addEventListener("visibilitychange", pollSoon);
narrow.addEventListener("change", fold);
watchDrops();
byId("theme").hidden = false;

if (session) open();
else showDoor();
