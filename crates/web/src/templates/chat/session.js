
// Who is logged in. The access token is in this module's memory alone. The refresh token is in the storage of this tab, so
// that reloading the page is no logging out; it is gone with the tab, and other tabs do not see it.

const STORED = "docent.session";
// An access token is replaced this long before it ends, in milliseconds.
const MARGIN = 30000;

let session = null; // { email, refresh }
let access = null; // { token, until }
let refreshing = null;

try { session = JSON.parse(sessionStorage.getItem(STORED)); } catch { /* Nobody, then. */ }

// What the service has refused, or was not there to answer (status 0).
class Failure extends Error {
  constructor(status, detail = "", wait = 0) {
    super(detail);
    Object.assign(this, { status, detail, wait });
  }

  static of(status, body, retryAfter) {
    const reasons = (body?.errors ?? []).map(({ loc, msg }) => `${loc?.at(-1)} ${msg}`).join("; ");
    return new Failure(status, reasons || String(body?.detail ?? ""), Number(retryAfter) || 0);
  }

  // What happened, and what to do.
  get sentence() {
    const detail = this.detail || `The service responded with status ${this.status}`;
    if (this.status === 0) return "The service cannot be reached. Check your connection and try again.";
    if (this.status === 401) return "Your session has ended. Sign in again.";
    if (this.status === 429) return `Too many requests. Try again ${this.wait ? `in ${spell(this.wait)}` : "later"}.`;
    if (this.status >= 500) return `${detail}. Nothing is lost; try again in a moment.`;
    return `${detail}.`;
  }
}

function spell(seconds) {
  return seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} minutes`;
}

const sentenceOf = (error) => (error instanceof Failure ? error.sentence : `Something went wrong on this page: ${error.message}.`);

async function send(path, options) {
  let answer;
  try {
    answer = await fetch(path, { ...options, credentials: "omit", cache: "no-store" });
  } catch (error) {
    throw error.name === "AbortError" ? error : new Failure(0);
  }
  if (answer.ok) return answer;
  throw Failure.of(answer.status, await answer.json().catch(() => null), answer.headers.get("Retry-After"));
}

const asJson = (method, body) => ({ method, headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });

// How long a token lasts, by its own clock: the one here may be wrong.
function lifetime(token) {
  try {
    const { iat, exp } = JSON.parse(atob(token.split(".")[1].replaceAll("-", "+").replaceAll("_", "/")));
    return (exp - iat) * 1000;
  } catch {
    return 2 * MARGIN;
  }
}

function enter(pair, email) {
  session = { email, refresh: pair.refresh_token };
  access = { token: pair.access_token, until: performance.now() + lifetime(pair.access_token) - MARGIN };
  try { sessionStorage.setItem(STORED, JSON.stringify(session)); } catch { /* It lasts as long as the page, then. */ }
}

function forget() {
  session = null;
  access = null;
  try { sessionStorage.removeItem(STORED); } catch { /* There was none. */ }
}

async function refresh() {
  const { email, refresh: refresh_token } = session;
  try {
    enter(await (await send("/auth/refresh", asJson("POST", { refresh_token }))).json(), email);
  } catch (error) {
    if (error.status === 401) leave(error.sentence);
    throw error;
  }
}

// A token that is good for a while, and another one than `stale`, which was refused.
async function token(stale) {
  if (access && access.token !== stale && performance.now() < access.until) return access.token;
  if (!session) throw new Failure(401);
  // Callers at the same time share one exchange: a token that is used twice may count as stolen.
  refreshing ??= refresh().finally(() => { refreshing = null; });
  await refreshing;
  if (!access) throw new Failure(401);
  return access.token;
}

// Does something with an access token, and once more with a new one if that one was refused.
async function withToken(action) {
  const first = await token();
  try {
    return await action(first);
  } catch (error) {
    if (error.status !== 401) throw error;
  }
  try {
    return await action(await token(first));
  } catch (error) {
    if (error.status === 401) leave(error.sentence);
    throw error;
  }
}

function call(path, options = {}) {
  return withToken((bearer) =>
    send(path, { ...options, headers: { ...options.headers, Authorization: `Bearer ${bearer}` } }));
}

async function logIn(event) {
  event.preventDefault();
  const form = event.target;
  const [email, password, button] = [form.elements.email, form.elements.password, form.querySelector("button")];
  alertIn("door-alert");
  button.disabled = true;
  try {
    const pair = await send("/auth/token", asJson("POST", { email: email.value, password: password.value }));
    enter(await pair.json(), email.value.trim());
    form.reset();
    open();
  } catch (error) {
    const isWrong = error.status === 401;
    alertIn("door-alert", isWrong ? "Incorrect email address or password." : sentenceOf(error));
    password.value = "";
    password.focus();
  }
  button.disabled = false;
}

async function logOut() {
  let notice = null;
  try {
    await call("/auth/logout", asJson("POST", { refresh_token: session.refresh }));
  } catch (error) {
    if (error.status !== 401) {
      notice = `You are signed out on this device, but the service could not end the session: ${sentenceOf(error)}`;
    }
  }
  byId("question").value = "";
  leave(notice);
}
