
// Editing the last question in its place.

// Replaces a question by a form with its text. Sending it replaces the turn; its answer is kept as an earlier version.
function editQuestion(turn) {
  if (chat.isAnswering) return;
  const field = createElement("textarea", { rows: "1", maxlength: "100000", "aria-label": t("your-question-edit"), dir: "auto" }, turn.question);
  const close = () => {
    form.remove();
    turn.heading.hidden = false;
    turn.heading.querySelector(".edit")?.focus();
  };
  const submit = (event) => {
    event.preventDefault();
    const question = field.value.trim();
    if (!question || !chat.askAgain(turn, question)) field.focus();
  };
  const keydown = (event) => {
    if (event.key === "Escape") {
      event.stopPropagation();
      close();
    } else if (isSubmit(event)) submit(event);
  };
  const form = createElement("form", { class: "edit-form", submit },
    field, createElement("div", { class: "row" },
      createElement("button", { type: "submit" }, t("ask")), createButton(t("cancel"), close)));
  field.addEventListener("keydown", keydown);
  turn.heading.hidden = true;
  turn.heading.after(form);
  field.focus();
  field.setSelectionRange(field.value.length, field.value.length);
}
