
// Questions and answers.

// What goes along with a question of what was said before, at most.
const TURNS_MAX = 50;
const SIGNS_MAX = 200000;

let conversation = newId(); // is at the service once something was asked in it
let turns = []; // { question, answer, node, … }, the oldest first
let answering = null; // stops the answer under way

function saidBefore() {
  const messages = [];
  let room = SIGNS_MAX;
  for (const { question, answer } of turns.slice(-TURNS_MAX).reverse()) {
    room -= question.length + answer.length;
    if (room < 0) break;
    // A question without an answer would be answered along with the next one.
    if (answer) messages.unshift({ role: "user", content: question }, { role: "assistant", content: answer });
  }
  return messages;
}

function turnOf(question) {
  const answer = el("div", { class: "answer" });
  const note = el("p", { class: "note", hidden: true });
  const tools = el("div", { class: "tools" });
  const node = el("article", { class: "turn" },
    el("h2", { class: "question", dir: "auto" }, question), answer, note, tools);
  return { question, answer: "", node, place: answer, note, tools };
}

async function ask(question) {
  const turn = turnOf(question);
  // Only the last question can be asked once more: later ones were asked with its answer in mind.
  for (const { tools } of turns) tools.querySelector(".retry")?.remove();
  const messages = [...saidBefore(), { role: "user", content: question }];
  show(turn);
  nameAddress();
  await answerTo(turn, messages);
}

function show(turn) {
  turns.push(turn);
  byId("hollow").hidden = true;
  byId("turns").append(turn.node);
  turn.node.scrollIntoView({ block: "nearest" });
  stayAtEnd(true);
}

async function answerTo(turn, messages) {
  const stopper = new AbortController();
  answering = stopper;
  tellAnswering();
  // Busy, so that screen readers read the whole answer when it is there.
  turn.node.setAttribute("aria-busy", "true");
  turn.place.replaceChildren(el("p", { class: "waiting" }, "Searching the documents…"));
  let sources = [];
  let frame = 0;
  const draw = () => {
    frame = 0;
    const isAtEnd = atEnd();
    if (!shownBlocks.has(turn.place)) turn.place.replaceChildren();
    showMarkdown(turn.place, turn.answer);
    stayAtEnd(isAtEnd);
  };
  let fault = null;
  try {
    const body = { messages, conversation_id: conversation, include_sources: true };
    const answer = await call("/agents/chat", { ...asJson("POST", body), signal: stopper.signal });
    for await (const { event, data } of eventsOf(answer)) {
      if (event === "error") throw new Failure(1, `The answer is incomplete: ${data.detail}`);
      if (event === "sources") sources = data.results;
      else if (event === "message") {
        turn.answer += data;
        frame ||= requestAnimationFrame(draw);
      }
    }
  } catch (error) {
    fault = error;
  }
  cancelAnimationFrame(frame);
  if (answering === stopper) answering = null;
  tellAnswering();
  if (turns.includes(turn)) {
    const isAtEnd = atEnd();
    draw();
    if (fault?.name === "AbortError") tellNote(turn, turn.answer ? "Stopped." : "Stopped.", false);
    else if (fault) tellNote(turn, `${sentenceOf(fault)} Your question is kept: ask it again below.`, true);
    else if (!turn.answer) tellNote(turn, "The model returned no answer. Try again or rephrase the question.", false);
    finish(turn, sources);
    stayAtEnd(isAtEnd);
  } else if (fault?.status === 401) byId("question").value ||= turn.question;
  if (session) listTalks();
}

// What an answer that is over has below it.
function finish(turn, sources) {
  if (sources.length) {
    turn.note.after(chips(sources));
    linkCitations(turn.place, sources);
  }
  if (turn.answer && navigator.clipboard) {
    turn.tools.append(el("button", { type: "button", class: "quiet", click: (event) => copy(event, turn) }, "Copy"));
  }
  if (turns.at(-1) === turn) {
    turn.tools.append(el("button", { type: "button", class: "quiet retry", click: () => retry(turn) }, "Ask again"));
  }
  turn.node.removeAttribute("aria-busy");
}

function tellNote(turn, text, isFault) {
  turn.note.textContent = text;
  turn.note.hidden = false;
  turn.note.classList.toggle("alert", isFault);
}

async function copy(event, { answer }) {
  const button = event.currentTarget;
  try {
    await navigator.clipboard.writeText(answer);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Not copied: the browser does not allow it";
  }
  say(button.textContent);
  await later(2000);
  button.textContent = "Copy";
}

function retry(turn) {
  if (answering) return;
  if (turn.node.contains(shown?.chip)) closeSource();
  turns.pop();
  turn.node.remove();
  byId("question").focus({ preventScroll: true });
  ask(turn.question);
}

// The events of a stream, as they come: a name, and JSON.
async function* eventsOf(answer) {
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let [event, data] = ["message", []];
  for (;;) {
    const { done, value } = await reader.read().catch((error) => {
      throw error.name === "AbortError" ? error : new Failure(0);
    });
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines.map((ended) => ended.replace(/\r$/, ""))) {
      if (line.startsWith("event:")) event = line.slice(6).trim();
      else if (line.startsWith("data:")) data.push(line.slice(5));
      else if (line === "") {
        if (data.length) yield { event, data: JSON.parse(data.join("\n")) };
        [event, data] = ["message", []];
      }
    }
  }
}

// Whoever reads at the end goes on reading there; who has scrolled away is left alone.
const END_ROOM = 80;
const atEnd = () => root.scrollHeight - innerHeight - scrollY < END_ROOM;

function stayAtEnd(isAtEnd) {
  if (isAtEnd) scrollTo({ top: root.scrollHeight, behavior: "instant" });
}

function tellAnswering() {
  const button = byId("send");
  button.textContent = answering ? "Stop" : "Ask";
  button.classList.toggle("quiet", answering !== null);
}

function submitQuestion(event) {
  event?.preventDefault();
  if (answering) {
    answering.abort();
    return;
  }
  const field = byId("question");
  const question = field.value.trim();
  if (!question) return;
  field.value = "";
  ask(question);
}

function begin() {
  answering?.abort();
  answering = null;
  tellAnswering();
  closeSource();
  turns = [];
  conversation = newId();
  nameAddress();
  byId("turns").replaceChildren();
  byId("hollow").hidden = false;
}
