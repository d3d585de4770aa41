
// HTTP requests, errors of the API, and event streams.

// A failed request. The status is 0 if there was no response, and 1 for errors that this page detects itself.
class ApiError extends Error {
  constructor(status, detail = "", retryAfter = 0, code = "") {
    super(detail);
    Object.assign(this, { status, detail, retryAfter, code });
  }

  static fromResponse(status, body, retryAfter) {
    const reasons = (body?.errors ?? []).map(({ loc, msg }) => `${loc?.at(-1)} ${msg}`).join("; ");
    return new ApiError(status, reasons || String(body?.detail ?? ""), Number(retryAfter) || 0, body?.code);
  }

  // What happened and what the user can do.
  get userMessage() {
    const detail = ERRORS[this.code] ?? (this.detail || t("status", { status: String(this.status) }));
    if (this.status === 0) return t("unreachable");
    if (this.status === 401) return t("signed-out");
    if (this.status === 429) {
      return this.retryAfter ? t("too-many-in", { time: formatSeconds(this.retryAfter) }) : t("too-many");
    }
    if (this.status >= 500) return t("failed-later", { detail });
    return `${detail}.`;
  }
}

// What the service refuses, by the codes of its errors.
const ERRORS = {
  second_factor_required: t("error-second-factor-required"),
};

function formatSeconds(seconds) {
  return seconds < 120 ? t("seconds", { count: seconds }) : t("minutes", { count: Math.ceil(seconds / 60) });
}

function errorMessage(error) {
  return error instanceof ApiError ? error.userMessage : t("page-error", { reason: error.message });
}

// Sends a request and throws an `ApiError` unless it succeeds.
async function sendRequest(path, options) {
  let response;
  try {
    response = await fetch(serviceUrl(path), { ...options, credentials: "same-origin", cache: "no-store" });
  } catch (error) {
    throw error.name === "AbortError" ? error : new ApiError(0);
  }
  if (response.ok) return response;
  const body = await response.json().catch(() => null);
  throw ApiError.fromResponse(response.status, body, response.headers.get("Retry-After"));
}

function jsonOptions(method, body) {
  return { method, headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
}

// Sends a request for the account of the session.
function callApi(path, options = {}) {
  return withSession(() => sendRequest(path, { ...options, headers: { ...options.headers, ...accountHeader() } }));
}

// Yields the server-sent events of a response: the name and the parsed JSON of each.
async function* readEvents(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = "";
  let [event, data] = ["message", []];
  for (;;) {
    const { done, value } = await reader.read().catch((error) => {
      throw error.name === "AbortError" ? error : new ApiError(0);
    });
    if (done) return;
    const lines = (buffer + value).split("\n");
    buffer = lines.pop();
    for (const line of lines.map((raw) => raw.replace(/\r$/, ""))) {
      if (line.startsWith("event:")) event = line.slice(6).trim();
      else if (line.startsWith("data:")) data.push(line.slice(5));
      else if (line === "") {
        if (data.length) yield { event, data: JSON.parse(data.join("\n")) };
        [event, data] = ["message", []];
      }
    }
  }
}
