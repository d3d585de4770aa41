
// Feedback on an answer: two buttons below it, and a form for what was wrong.

const FEEDBACK_REASONS = {
  "": "Not given",
  incorrect: "Incorrect",
  incomplete: "Incomplete",
  off_topic: "Off topic",
  wrong_sources: "Wrong sources",
  outdated: "Outdated",
  other: "Other",
};
const FEEDBACK_COMMENT_MAX = 2000;

// Adds the buttons to an answer that is stored as this message, with the feedback given earlier.
function addFeedback({ tools }, messageId, stored) {
  const path = `/conversations/${conversationId}/messages/${messageId}/feedback`;
  let feedback = stored ?? null;
  let form = null;
  let isSaving = false;
  const createButton = (rating, label, click, more) =>
    createElement("button", { type: "button", class: "quiet icon", "aria-label": label, title: label, click, ...more },
      createGlyph(`i-${rating}`));
  const up = createButton("up", "Good answer", () => save(feedback?.rating === "up" ? null : { rating: "up" }));
  const down = createButton("down", "Bad answer", rateDown, { "aria-expanded": "false" });
  const alert = createElement("p", { class: "alert", role: "alert", hidden: true });
  tools.append(up, down);
  tools.after(alert);
  update();

  function update() {
    up.setAttribute("aria-pressed", String(feedback?.rating === "up"));
    down.setAttribute("aria-pressed", String(feedback?.rating === "down"));
    if (feedback?.rating !== "down") closeForm();
  }

  // Returns whether the feedback is saved; null withdraws it.
  async function save(next) {
    if (isSaving) return false;
    isSaving = true;
    alert.hidden = true;
    try {
      await callApi(path, next ? jsonOptions("PUT", next) : { method: "DELETE" });
      feedback = next;
      update();
      announce(next ? "Your feedback was saved." : "Your feedback was withdrawn.");
      return true;
    } catch (error) {
      alert.textContent = `Your feedback was not saved. ${errorMessage(error)}`;
      alert.hidden = false;
      return false;
    } finally {
      isSaving = false;
    }
  }

  async function rateDown() {
    if (form) closeForm();
    else if (feedback?.rating === "down" || await save({ rating: "down" })) openForm();
  }

  function openForm() {
    const options = Object.entries(FEEDBACK_REASONS).map(([value, label]) =>
      createElement("option", { value, selected: value === (feedback.reason ?? "") }, label));
    const reason = createElement("select", {}, ...options);
    const comment = createElement("textarea", { rows: "2", maxlength: String(FEEDBACK_COMMENT_MAX), dir: "auto" },
      feedback.comment ?? "");
    const submit = async (event) => {
      event.preventDefault();
      const given = { rating: "down", reason: reason.value || null, comment: comment.value.trim() || null };
      if (await save(given)) closeForm();
    };
    const withdraw = async () => {
      if (await save(null)) down.focus();
    };
    const keydown = (event) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      closeForm();
    };
    form = createElement("form", { class: "feedback", "aria-label": "What was wrong?", submit, keydown },
      createElement("label", {}, "What was wrong?", reason),
      createElement("label", {}, "Comment", comment),
      createElement("div", { class: "row" },
        createElement("button", { type: "submit" }, "Save"),
        createElement("button", { type: "button", class: "quiet", click: withdraw }, "Withdraw"),
        createElement("button", { type: "button", class: "quiet", click: closeForm }, "Cancel")));
    alert.after(form);
    down.setAttribute("aria-expanded", "true");
    reason.focus();
  }

  function closeForm() {
    if (!form) return;
    const hadFocus = form.contains(document.activeElement);
    form.remove();
    form = null;
    down.setAttribute("aria-expanded", "false");
    if (hadFocus) down.focus();
  }
}
