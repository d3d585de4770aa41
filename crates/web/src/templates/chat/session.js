
// The user's session and its tokens. The access token is kept in memory only. The refresh token is in the session
// storage of this tab: it survives a reload, other tabs cannot read it, and it is removed when the tab is closed.

const SESSION_KEY = "docent.session";
// An access token is replaced this long before it expires, in milliseconds.
const EXPIRY_MARGIN = 30000;

let session = null; // { email, refresh }
let accessToken = null; // { value, expiresAt }
let pendingRefresh = null;

try {
  session = JSON.parse(sessionStorage.getItem(SESSION_KEY));
} catch { /* Without storage, no session survives a reload. */ }

// Returns the lifetime of a token in milliseconds, from its own timestamps: the clock of this computer may be wrong.
function tokenLifetime(token) {
  try {
    const { iat, exp } = JSON.parse(atob(token.split(".")[1].replaceAll("-", "+").replaceAll("_", "/")));
    return (exp - iat) * 1000;
  } catch {
    return 2 * EXPIRY_MARGIN;
  }
}

function storeSession(tokens, email) {
  session = { email, refresh: tokens.refresh_token };
  const expiresAt = performance.now() + tokenLifetime(tokens.access_token) - EXPIRY_MARGIN;
  accessToken = { value: tokens.access_token, expiresAt };
  try {
    sessionStorage.setItem(SESSION_KEY, JSON.stringify(session));
  } catch { /* Without storage, the session lasts until the page is closed. */ }
}

function clearSession() {
  session = null;
  accessToken = null;
  try { sessionStorage.removeItem(SESSION_KEY); } catch { /* Without storage, there is nothing to remove. */ }
}

async function refreshSession() {
  const { email, refresh } = session;
  try {
    const response = await sendRequest("/auth/refresh", jsonOptions("POST", { refresh_token: refresh }));
    storeSession(await response.json(), email);
  } catch (error) {
    if (error.status === 401) endSession(error.userMessage);
    throw error;
  }
}

// Returns an access token that is not about to expire and is not `rejected`.
async function getAccessToken(rejected) {
  const isValid = accessToken && accessToken.value !== rejected && performance.now() < accessToken.expiresAt;
  if (isValid) return accessToken.value;
  if (!session) throw new ApiError(401);
  // Concurrent callers share one refresh: using a refresh token twice revokes the session.
  pendingRefresh ??= refreshSession().finally(() => { pendingRefresh = null; });
  await pendingRefresh;
  if (!accessToken) throw new ApiError(401);
  return accessToken.value;
}

// Runs an action with an access token, and repeats it once with a new token if the service rejects the first.
async function withAccessToken(action) {
  const token = await getAccessToken();
  try {
    return await action(token);
  } catch (error) {
    if (error.status !== 401) throw error;
  }
  try {
    return await action(await getAccessToken(token));
  } catch (error) {
    if (error.status === 401) endSession(error.userMessage);
    throw error;
  }
}

async function signIn(event) {
  event.preventDefault();
  const form = event.target;
  const { email, password, code } = form.elements;
  const button = form.querySelector("button");
  setAlert("sign-in-alert");
  button.disabled = true;
  try {
    const credentials = { email: email.value, password: password.value, code: code.value || null };
    const response = await sendRequest("/auth/token", jsonOptions("POST", credentials));
    storeSession(await response.json(), email.value.trim());
    form.reset();
    byId("code-field").hidden = true;
    showChat();
  } catch (error) {
    // The password was right; it stays in the form while the code is asked for.
    const asksForCode = error.code === "code_required" || error.code === "invalid_code";
    byId("code-field").hidden = !asksForCode;
    code.value = "";
    if (error.code !== "code_required") setAlert("sign-in-alert", signInMessage(error));
    if (!asksForCode) password.value = "";
    (asksForCode ? code : password).focus();
  }
  button.disabled = false;
}

function signInMessage(error) {
  if (error.code) return `${error.detail}.`;
  return error.status === 401 ? "Incorrect email address or password." : errorMessage(error);
}

async function signOut() {
  let notice = null;
  try {
    await callApi("/auth/logout", jsonOptions("POST", { refresh_token: session.refresh }));
  } catch (error) {
    if (error.status !== 401) {
      notice = `You are signed out on this device, but the service could not end the session: ${errorMessage(error)}`;
    }
  }
  byId("question").value = "";
  endSession(notice);
}
