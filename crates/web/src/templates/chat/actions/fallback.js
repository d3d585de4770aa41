
// Why an answer consists of quotes.

function fallbackText(cause) {
  const reasons = {
    unreachable: t("fallback-unreachable"),
    timeout: t("fallback-timeout"),
    overloaded: t("fallback-overloaded"),
    loading: t("fallback-loading"),
    quota_exceeded: t("fallback-quota"),
    rejected: t("fallback-rejected"),
    context_length: t("fallback-length"),
  };
  return `${reasons[cause] ?? t("fallback-failed")} ${t("fallback-quotes")}`;
}
