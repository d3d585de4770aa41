
// The form for what was wrong with an answer.

const FEEDBACK_COMMENT_MAX = 2000;

function createFeedbackForm({ feedback, save, withdraw, close }) {
  const reasons = {
    "": t("reason-none"),
    incorrect: t("reason-incorrect"),
    incomplete: t("reason-incomplete"),
    off_topic: t("reason-off-topic"),
    wrong_sources: t("reason-wrong-sources"),
    outdated: t("reason-outdated"),
    other: t("reason-other"),
  };
  const options = Object.entries(reasons).map(([value, label]) =>
    createElement("option", { value, selected: value === (feedback.reason ?? "") }, label));
  const reason = createElement("select", {}, ...options);
  const comment = createElement("textarea", { rows: "2", maxlength: String(FEEDBACK_COMMENT_MAX), dir: "auto" }, feedback.comment ?? "");
  const submit = async (event) => {
    event.preventDefault();
    const given = { rating: "down", reason: reason.value || null, comment: comment.value.trim() || null };
    if (await save(given)) close();
  };
  const keydown = (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    close();
  };
  return createElement("form", { class: "feedback", "aria-label": t("feedback-question"), submit, keydown },
    createElement("label", {}, t("feedback-question"), reason),
    createElement("label", {}, t("comment"), comment),
    createElement("div", { class: "row" },
      createElement("button", { type: "submit" }, t("save")), createButton(t("withdraw"), withdraw), createButton(t("cancel"), close)));
}
