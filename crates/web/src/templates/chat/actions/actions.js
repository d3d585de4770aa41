// Actions of the user: a second module, which the chat loads with the first of them. crates/web/src/chat.rs concatenates the
// files of this folder. They use the names of the chat below, and read what changes from `chat`.

let chat;
let t, tNodes, locale, byId, createElement, serviceUrl, callApi, withSession, accountHeader, jsonOptions, ApiError, errorMessage, setAlert, announce, listen, afterTyping, isSubmit, formatPages;

// Sets up the module with the names of the chat.
export function start(names) {
  chat = names;
  ({
    t, tNodes, locale, byId, createElement, serviceUrl, callApi, withSession, accountHeader, jsonOptions, ApiError, errorMessage, setAlert, announce, listen, afterTyping, isSubmit,
    formatPages,
  } = names);
  document.body.append(createPicker(), createShareDialog());
  listenToPicker();
  return {
    endSession, openPicker, enqueueUploads, loadReport, retryDocument, deleteDocument, showRenameForm, pinConversation, exportConversation,
    deleteConversation, editQuestion, createFeedbackForm, shareConversation, fallbackText, incompleteText,
  };
}

// Removes the data of the user.
function endSession() {
  otherCollections = [];
  byId("picker-collections").replaceChildren();
  byId("picker-documents").replaceChildren();
  byId("share-collections").replaceChildren();
}

const createButton = (label, click, style = "quiet") => createElement("button", { type: "button", class: style, click }, label);
const createName = (text) => createElement("strong", { id: "confirm-name", dir: "auto" }, text);
const createHidden = (text) => createElement("span", { class: "visually-hidden" }, text);
