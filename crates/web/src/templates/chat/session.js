
// The user's session. All tabs share its cookie, which scripts cannot read; requests name the account that this page shows,
// so that the page never acts for an account that another tab has signed in.

let session = null; // { id, email, name, is_staff, language }

const accountHeader = () => ({ "X-Docent-Account": session?.id ?? "none" });

const fetchAccount = async () => (await (await sendRequest("/chat/session")).json()).account;

// Opens the chat if the browser is signed in, and otherwise the form to sign in.
async function restoreSession() {
  try {
    session = await fetchAccount();
    if (session) showChat();
    else showSignIn();
  } catch (error) {
    showSignIn(errorMessage(error));
  }
}

// Another tab or window may have signed in or out since this one was looked at last.
async function followOtherTabs() {
  if (document.hidden || (!session && byId("sign-in").hidden)) return;
  try {
    const account = await fetchAccount();
    if (session && account?.id !== session.id) endSession(t("signed-out"));
    if (session || !account) return;
    session = account;
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

async function signIn(event) {
  event.preventDefault();
  const form = event.target;
  const { email, password, code, stay } = form.elements;
  const button = form.querySelector("button");
  setAlert("sign-in-alert");
  button.disabled = true;
  try {
    const body = new URLSearchParams({ email: email.value, password: password.value, code: code.value });
    if (stay.checked) body.set("stay", stay.value);
    const response = await sendRequest("/chat/session", { method: "POST", headers: accountHeader(), body });
    session = (await response.json()).account;
    form.reset();
    byId("code-field").hidden = true;
    showChat();
    reloadInLanguage();
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
  if (ERRORS[error.code]) return `${ERRORS[error.code]}.`;
  return error.status === 401 ? t("sign-in-incorrect") : errorMessage(error);
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
  if (next) location.assign(next);
}
