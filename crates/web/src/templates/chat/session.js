
// The user's session. All tabs share its cookie, which scripts cannot read; requests name the account that this page shows,
// so that the page never acts for an account that another tab has signed in.

let session = null; // { id, email, name, is_staff, language }

const accountHeader = () => ({ "X-Docent-Account": session?.id ?? "none" });

const DRAFT = "draft"; // The account whose session ended, and what it had typed, for the page after the next sign-in.
let formerId = null; // the account whose session ended

const fetchSession = async () => (await sendRequest("/chat/session")).json();

// The sign-in page, which returns to this one.
function signInUrl() {
  const path = `/${location.href.slice(serviceUrl("").length)}`;
  return serviceUrl(`/account/login?${new URLSearchParams({ next: path })}`);
}

// Opens the chat if the browser is signed in, and otherwise the page to sign in, or the one that the account needs first.
async function restoreSession() {
  try {
    const { account, next } = await fetchSession();
    session = account;
    if (!session) {
      location.replace(next ? serviceUrl(next) : signInUrl());
      return;
    }
    showChat();
    restoreDraft();
  } catch (error) {
    showSignedOut(errorMessage(error));
  }
}

function keepDraft() {
  sessionStorage.setItem(DRAFT, JSON.stringify({ id: formerId, text: byId("question").value }));
}

function restoreDraft() {
  const draft = JSON.parse(sessionStorage.getItem(DRAFT) ?? "{}");
  sessionStorage.removeItem(DRAFT);
  if (draft.id === session.id) byId("question").value = draft.text;
}

// Another tab or window may have signed in or out since this one was looked at last.
async function followOtherTabs() {
  if (document.hidden || (!session && byId("signed-out").hidden)) return;
  try {
    const { account } = await fetchSession();
    if (session && account?.id !== session.id) endSession(t("signed-out"));
    if (session || !account) return;
    session = account;
    if (account.id !== formerId) byId("question").value = "";
    showChat();
    reloadInLanguage();
  } catch {
    // The page stays as it is.
  }
}

// Loads the page in the language of the account that has signed in, unless a question is being written.
function reloadInLanguage() {
  if (session && session.language !== pageLanguage && !byId("question").value) location.reload();
}

// Runs an action; ends the session of the page if the service says that it has ended. If the service asks for the
// password or a code, so does the page, and runs the action again.
async function withSession(action) {
  if (!session) throw new ApiError(401);
  try {
    return await action();
  } catch (error) {
    if (error.code === "proof_needed" && await actIn("proof", "prove", error)) return action();
    if (error.status === 401 && session) endSession(error.userMessage);
    throw error;
  }
}

// Ends the session in the browser: in all tabs, on the account pages and in the panel.
async function signOut() {
  let next;
  try {
    const response = await callApi("/chat/session", { method: "DELETE" });
    // The identity provider's session ends too.
    if (response.status === 200) ({ next } = await response.json());
  } catch (error) {
    if (error.status !== 401) {
      setAlert("ask-alert", t("still-signed-in", { reason: errorMessage(error) }));
      return;
    }
  }
  byId("question").value = "";
  endSession();
  history.replaceState(null, "", location.pathname);
  location.assign(next ?? signInUrl());
}
