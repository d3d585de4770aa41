
// Feedback on an answer: two buttons below it.

// Adds the buttons to an answer that is stored as this message, with the feedback given earlier.
function addFeedback({ tools }, messageId, stored) {
  const path = `/conversations/${conversationId}/messages/${messageId}/feedback`;
  let feedback = stored ?? null;
  let form = null;
  let isSaving = false;
  const createButton = (rating, label, click, more) =>
    createElement("button", { type: "button", class: "quiet icon", "aria-label": label, title: label, click, ...more },
      createGlyph(`i-${rating}`));
  const up = createButton("up", t("answer-good"), () => save(feedback?.rating === "up" ? null : { rating: "up" }));
  const down = createButton("down", t("answer-bad"), rateDown, { "aria-expanded": "false" });
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
      announce(next ? t("feedback-saved") : t("feedback-withdrawn"));
      return true;
    } catch (error) {
      alert.textContent = t("feedback-not-saved", { reason: errorMessage(error) });
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

  async function openForm() {
    const created = await act("createFeedbackForm", { feedback, save, withdraw, close: closeForm });
    if (!created || form || feedback?.rating !== "down") return;
    form = created;
    alert.after(form);
    down.setAttribute("aria-expanded", "true");
    form.querySelector("select").focus();
  }

  async function withdraw() {
    if (await save(null)) down.focus();
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
