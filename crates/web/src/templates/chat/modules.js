
// Modules that are loaded when they are needed first: the viewer of documents, actions such as uploads and dialogs, and the dialog that asks for
// the password.

// What the modules use of this one. Values that change are read at each use.
const shared = () => ({
  t, tNodes, locale, byId, createElement, createGlyph, serviceUrl, callApi, withSession, accountHeader, jsonOptions, ApiError, errorMessage, setAlert, announce, delay, narrowScreen,
  formatPages, placeLabel, renderPassage, askDocument, askSuggested, hidePreview, listen, afterTyping, isSubmit, setChosen, loadCollections,
  loadConversations, focusConversation, fetchConversation, startConversation, addDocument, updateStatus, pollSoon, forgetDocument, openSidebar,
  isPdfOnly, describeReaders, withFixedName, hasMoreCollections, openListed, askAgain, setSharing,
  get session() { return session; },
  get chosen() { return chosen; },
  get collections() { return collections; },
  get documentRows() { return documentRows; },
  get conversationId() { return conversationId; },
  get isReader() { return sharing.by !== null; },
  get isAnswering() { return answerRequest !== null; },
});

let moduleFailures = 0;

// Loads a module and the stylesheet of this name, and starts it.
async function loadModule(name, style = name) {
  const { search, searchParams } = new URL(import.meta.url);
  const version = searchParams.get("v");
  // A browser does not request a module again whose request failed, so the next attempt has another address.
  const attempt = moduleFailures ? `&attempt=${moduleFailures}` : "";
  const styled = new Promise((resolve, reject) => {
    document.head.append(createElement("link", { rel: "stylesheet", href: serviceUrl(`/chat/${style}.css?v=${version}`), load: resolve, error: reject }));
  });
  const [loaded] = await Promise.all([import(serviceUrl(`/chat/${name}.js${search}${attempt}`)), styled]).catch(() => {
    moduleFailures += 1;
    throw new ApiError(0);
  });
  if (loaded.version !== version) throw new ApiError(1, t("updated"));
  return loaded.start(shared());
}

const modules = new Map(); // the promises of what the modules of actions return, by name

// Runs an action of the module "actions".
const act = (name, ...values) => actIn("actions", name, ...values);

// Runs an action of a module.
async function actIn(module, name, ...values) {
  if (!modules.has(module)) modules.set(module, loadModule(module, "actions"));
  let loaded;
  try {
    loaded = await modules.get(module);
  } catch (error) {
    modules.delete(module);
    setAlert("ask-alert", errorMessage(error));
    return null;
  }
  return loaded[name](...values);
}

let viewer = null; // what the module returns, once it is loaded
let viewerRequest = null; // the latest document to open while the module is being loaded

// Runs an action with the viewer, unless another document was opened or all were closed while it was being loaded.
async function withViewer(action) {
  const request = {};
  viewerRequest = request;
  try {
    viewer ??= await loadModule("viewer");
  } catch (error) {
    if (viewerRequest === request) setAlert("ask-alert", t("document-not-opened", { reason: errorMessage(error) }));
    return;
  }
  if (viewerRequest === request) await action(viewer);
}
