
// The conversations that the service keeps: their list, opening, renaming and deleting.

const TALKS_FIRST = 8;
const TALKS_MORE = 20;
// Messages that are read at once.
const SAID = 1000;
const ID = /^#([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

let listed = TALKS_FIRST;
let talkListing = 0; // counts the lists that were asked for, so that a late one is known
let opening = 0; // and likewise the conversations

// The address of the page names the conversation, so that reloading the page, or a bookmark, leads to it.
function nameAddress() {
  const name = turns.length ? `#${conversation}` : "";
  if (location.hash !== name) history.replaceState(null, "", location.pathname + name);
  markTalk();
}

// Opens the conversation that the address names.
function reopen() {
  const id = location.hash.match(ID)?.[1];
  if (id && session && !(turns.length && id === conversation)) openTalk(id);
}

async function listTalks() {
  talkListing += 1;
  const own = talkListing;
  try {
    const answer = await call(`/conversations?limit=${listed}`);
    const talks = await answer.json();
    if (own !== talkListing || byId("talks").querySelector("input")) return;
    const place = byId("talks").contains(document.activeElement) ? document.activeElement.closest("li")?.dataset.id : null;
    byId("talks").replaceChildren(...talks.map(talkRow));
    byId("talks-more").hidden = !answer.headers.get("X-Next-Cursor");
    byId("talks-empty").hidden = talks.length > 0;
    alertIn("talks-alert");
    markTalk();
    if (place) byId("talks").querySelector(`[data-id="${place}"] .open`)?.focus({ preventScroll: true });
  } catch (error) {
    if (own === talkListing && session) alertIn("talks-alert", sentenceOf(error));
  }
}

function talkRow({ id, title, updated_at: at }) {
  const rename = el("button", { type: "button", class: "quiet", click: () => renameTalk(id, title, node) }, "Rename");
  const drop = el("button", { type: "button", class: "quiet", click: () => removeTalk(id, title) }, "Delete…");
  const open = el("button", {
    type: "button", class: "open", title: new Date(at).toLocaleString(), click: () => openTalk(id, true),
  }, el("bdi", {}, title));
  const node = el("li", { class: "talk-row", "data-id": id }, open,
    el("details", {}, el("summary", {}, "Change", el("span", { class: "unseen" }, ` ${title}`)), rename, " ", drop));
  return node;
}

function markTalk() {
  for (const row of byId("talks").children) {
    row.querySelector(".open")?.setAttribute("aria-current", String(turns.length > 0 && row.dataset.id === conversation));
  }
}

// Shows what was said in a conversation. `isChosen` when somebody pressed it, and wants to go on with it.
async function openTalk(id, isChosen = false) {
  opening += 1;
  const own = opening;
  alertIn("talks-alert");
  try {
    const messages = await saidIn(id);
    if (own !== opening || !session) return;
    begin();
    conversation = id;
    for (let at = 0; at < messages.length; at += 1) {
      const [asked, answered] = messages.slice(at, at + 2);
      if (asked.role !== "user") continue;
      retell(asked.content, answered?.role === "assistant" ? answered : null);
    }
    nameAddress();
    if (isChosen && narrow.matches) {
      byId("side").classList.add("folded");
      tellSide();
    }
    if (isChosen) byId("question").focus({ preventScroll: true });
    stayAtEnd(true);
  } catch (error) {
    if (own !== opening || !session) return;
    const isGone = error.status === 404;
    alertIn("talks-alert", isGone ? "This conversation no longer exists." : sentenceOf(error));
    nameAddress();
    if (isGone && isChosen) listTalks();
  }
}

async function saidIn(id) {
  const messages = [];
  let cursor = null;
  do {
    const query = new URLSearchParams({ limit: String(SAID), ...(cursor && { cursor }) });
    const answer = await call(`/conversations/${id}?${query}`);
    messages.push(...(await answer.json()).messages);
    cursor = answer.headers.get("X-Next-Cursor");
  } while (cursor);
  return messages;
}

function retell(question, answered) {
  const turn = turnOf(question);
  for (const { tools } of turns) tools.querySelector(".retry")?.remove();
  show(turn);
  turn.answer = answered?.content ?? "";
  showMarkdown(turn.place, turn.answer);
  if (!answered) tellNote(turn, "No answer received.", false);
  else if (!answered.complete) tellNote(turn, "This answer is incomplete or was stopped.", false);
  finish(turn, answered?.sources ?? []);
}

function renameTalk(id, title, node) {
  const field = el("input", { "aria-label": "Title", maxlength: "200", value: title, dir: "auto" });
  const form = el("form", { class: "rename", submit: (event) => { event.preventDefault(); save(); } },
    field, el("button", { type: "submit" }, "Save"),
    el("button", { type: "button", class: "quiet", click: close }, "Cancel"));
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    close();
  });
  node.replaceChildren(form);
  field.select();

  function close() {
    form.remove();
    listTalks().then(() => byId("talks").querySelector(`[data-id="${id}"] .open`)?.focus({ preventScroll: true }));
  }
  async function save() {
    try {
      await call(`/conversations/${id}`, asJson("PATCH", { title: field.value }));
      close();
    } catch (error) {
      // What was typed stays, to be mended.
      alertIn("talks-alert", `Not renamed. ${sentenceOf(error)}`);
      field.focus();
    }
  }
}

async function removeTalk(id, title) {
  if (!await confirmed("Delete this conversation?", title, "and its messages will be permanently deleted.")) return;
  try {
    await call(`/conversations/${id}`, { method: "DELETE" });
  } catch (error) {
    if (error.status !== 404) {
      alertIn("talks-alert", `Not deleted. ${sentenceOf(error)}`);
      return;
    }
  }
  if (id === conversation) begin();
  say(`${title} is deleted.`);
  await listTalks();
  byId("question").focus({ preventScroll: true });
}
