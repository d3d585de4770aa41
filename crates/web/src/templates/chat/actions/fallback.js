
// Why an answer consists of quotes, is incomplete or is missing.

function fallbackText(cause) {
  const reasons = {
    unreachable: t("quotes-unreachable"),
    timeout: t("quotes-timeout"),
    overloaded: t("quotes-overloaded"),
    loading: t("quotes-loading"),
    quota_exceeded: t("quotes-quota"),
    rejected: t("quotes-rejected"),
    context_length: t("quotes-length"),
  };
  return `${reasons[cause] ?? t("quotes-failed")} ${t("quotes-only")}`;
}

// Why an answer is incomplete or missing.
function incompleteText(reason, answer) {
  const texts = {
    length: t("answer-cut-length"),
    content_filter: t("answer-cut-filter"),
    iterations: t("answer-iterations"),
    reasoning_only: t("answer-reasoning-only"),
  };
  return texts[reason] ?? (answer ? t("answer-incomplete") : t("answer-empty"));
}
