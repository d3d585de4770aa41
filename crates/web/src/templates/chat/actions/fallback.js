
// Why an answer consists of quotes.

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
