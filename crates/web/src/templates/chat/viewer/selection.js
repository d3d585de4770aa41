
// Questions about text that is selected on the pages. Images have an invisible layer of text for it.

const QUESTION_QUOTE_MAX = 1500; // characters of the selected text in a question

// Loads the words of the current page when the reader has stopped at it, so that its text can be selected.
function scheduleWords() {
  clearTimeout(wordsTimer);
  wordsTimer = setTimeout(async () => {
    if (!opened || opened.isText) return;
    const view = viewOf(opened.page);
    if (!view?.isLoaded || view.element.querySelector(".words")) return;
    try {
      await loadWords(view);
    } catch { return; }
    placeWords(view);
  }, WORDS_DELAY);
}

// Lays the words of a page over its image. Their line breaks become spaces when they are copied.
function placeWords({ words, element }) {
  if (!words || !opened || !element.querySelector("img") || element.querySelector(".words")) return;
  const height = element.clientHeight / element.clientWidth;
  const spans = words.words.map(({ text, bounds }) => {
    const span = placeBox(createElement("span", {}, `${text} `), bounds);
    span.style.fontSize = `${(bounds[3] - bounds[1]) * height * 80}cqw`;
    return span;
  });
  element.append(createElement("div", { class: "words", "aria-hidden": "true" }, spans));
}

// The selected text of the pages, or an empty text.
function selectedText() {
  const selection = document.getSelection();
  const isInside = opened && selection.rangeCount > 0 && byId("page-list").contains(selection.getRangeAt(0).commonAncestorContainer);
  return isInside ? selection.toString().replace(/\s+/g, " ").trim() : "";
}

function onSelectionChange() {
  byId("selection").hidden = !selectedText();
}

// Puts a question about the selected text into the composer, with the document as its source.
function askSelection() {
  const text = selectedText();
  if (!text) return;
  const { source, page } = opened;
  const start = document.getSelection().getRangeAt(0).startContainer.parentElement.closest(".page");
  const view = viewOf(Number(start?.dataset.page ?? page));
  const quote = text.length > QUESTION_QUOTE_MAX ? `${text.slice(0, QUESTION_QUOTE_MAX).trimEnd()}…` : text;
  document.getSelection().removeAllRanges();
  if (narrowScreen.matches) closeSource();
  const { document_id: id, title } = source;
  const question = t("quote-of", { quote, title, place: view.label ?? t("at-page", { page: String(view.number) }) });
  if (chat.isReader) startConversation();
  setChosen({ documents: [{ id, name: title, isAvailable: true }] });
  const field = byId("question");
  field.value = `${question}\n${field.value}`;
  field.focus();
  field.setSelectionRange(field.value.length, field.value.length);
  announce(t("selection-quoted", { title }));
}
