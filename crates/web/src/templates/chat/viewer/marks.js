
// Marks: the quote strongly and its passage faintly, on the image of a page and in its text.
//
// Only letters and digits are compared, because joining lines changes spaces and hyphens.

const EDGE_LETTERS = 24; // of a page that must be in a passage that continues from or on another page
const LINE_LETTERS = 8; // of a line that is searched for alone

const isLetter = (character) => /[\p{L}\p{N}]/u.test(character);

// The letters of a text in lower case, with the position of each.
function indexText(text) {
  const at = [];
  let letters = "";
  let position = 0;
  for (const character of text) {
    if (isLetter(character)) {
      const lower = character.toLowerCase();
      letters += lower;
      for (let index = 0; index < lower.length; index += 1) at.push(position);
    }
    position += character.length;
  }
  return { letters, at };
}

const lettersOf = (text) => indexText(text).letters;

// Returns the ranges of letters of a page that belong to a text, which can begin or end on another page.
function findRanges(letters, text) {
  const needle = lettersOf(text);
  if (!needle || !letters) return [];
  const at = letters.indexOf(needle);
  if (at >= 0) return [[at, at + needle.length]];
  const head = letters.slice(0, EDGE_LETTERS);
  const from = needle.lastIndexOf(head);
  if (from >= 0) {
    const rest = needle.slice(from, from + letters.length);
    if (letters.startsWith(rest)) return [[0, rest.length]];
  }
  const tail = letters.slice(-EDGE_LETTERS);
  const until = needle.indexOf(tail);
  if (until >= 0) {
    const start = needle.slice(0, until + tail.length);
    if (letters.endsWith(start)) return [[letters.length - start.length, letters.length]];
  }
  // Tables are joined differently: their lines are looked for one after the other.
  let searched = 0;
  return text.split("\n").flatMap((line) => {
    const part = lettersOf(line);
    const isNext = searched > 0 && letters.startsWith(part, searched);
    const found = isNext || part.length >= LINE_LETTERS ? letters.indexOf(part, searched) : -1;
    if (!part || found < 0) return [];
    searched = found + part.length;
    return [[found, searched]];
  });
}

const isMarked = (page) => opened.source.page_start <= page && page <= opened.source.page_end;

// The marks of a page: { kind, ranges }, of which later ones are on top.
function marksOf(letters, page) {
  const { text, quote } = opened.source;
  const cited = !isMarked(page) ? [] : [["faint", text], ["strong", quote]]
    .map(([kind, marked]) => ({ kind, ranges: marked ? findRanges(letters, marked) : [] }));
  return [...cited, ...findMarks(letters, page)];
}

const hasMarks = (page) => Boolean(describeMarks(page)) || (found?.hits.some((hit) => hit.page === page) ?? false);

// Describes the marks of a page for its alternative text.
function describeMarks(page) {
  const { text, quote } = opened.source;
  if (!isMarked(page) || !(quote || text)) return "";
  return quote ? t("marked-quote", { quote }) : t("marked-passage", { text });
}

// The text of a page in pieces, marked or not.
function markText(text, page) {
  const { letters, at } = indexText(text);
  const kinds = new Array(text.length).fill("");
  for (const { kind, ranges } of marksOf(letters, page)) {
    for (const [start, end] of ranges) {
      const [first, last] = [at[start], at[end - 1] + 1];
      const punctuation = text.slice(last, last + 4).match(/^[^\s\p{L}\p{N}]*/u)[0];
      kinds.fill(kind, first, last + punctuation.length);
    }
  }
  const pieces = [];
  for (let start = 0; start < text.length;) {
    let end = start + 1;
    while (end < text.length && kinds[end] === kinds[start]) end += 1;
    const piece = text.slice(start, end);
    pieces.push(kinds[start] ? createElement("mark", { class: kinds[start] }, piece) : piece);
    start = end;
  }
  return pieces;
}

// Loads the words of a page with their places, once.
async function loadWords(view) {
  if (view.words || !opened) return;
  const path = `/documents/${opened.source.document_id}/pages/${view.number}/words`;
  const { lines } = await (await requestDrawing(view, path, view.request?.signal)).json();
  const words = lines.flatMap((line, row) => line.map((word) => ({ ...word, row })));
  const at = [];
  let letters = "";
  words.forEach(({ text }, index) => {
    const own = lettersOf(text);
    for (let letter = 0; letter < own.length; letter += 1) at.push({ index, from: letter / own.length, to: (letter + 1) / own.length });
    letters += own;
  });
  view.words = { words, letters, at, lines };
}

const isYear = (number) => /^(?:19|20)\d\d$/.test(number);

// Returns the letters of the number that a claim takes from its quote. Without one, the text is empty.
function citedFigure() {
  const [claimed, quoted] = [opened.source.claim, opened.source.quote].map((text) => text?.match(/\p{N}+(?:[.,]\p{N}+)*/gu) ?? []);
  const shared = claimed.filter((number) => quoted.includes(number));
  return lettersOf(shared.find((number) => !isYear(number)) ?? shared[0] ?? "");
}

// Returns a box around the cited number within the marks of its quote, in a list, which is empty without a cited number.
function placeFigure({ words, at }, marks) {
  const figure = citedFigure();
  const ranges = marks.filter(({ kind }) => kind === "strong").flatMap((mark) => mark.ranges);
  const letter = ranges.flatMap(([start, end]) => at.slice(start, end)).find(({ index }) => lettersOf(words[index].text) === figure);
  return letter ? [placeBox(createElement("div", { class: "figure" }), words[letter.index].bounds)] : [];
}

// The boxes of a range of letters: one for each line.
function boxesOf({ words, at }, [start, end]) {
  const boxes = new Map();
  for (const { index, from, to } of at.slice(start, end)) {
    const { row, bounds: [left, top, right, bottom] } = words[index];
    const part = [left + (right - left) * from, top, left + (right - left) * to, bottom];
    const box = boxes.get(row);
    boxes.set(row, box ? [Math.min(box[0], part[0]), Math.min(box[1], top), Math.max(box[2], part[2]), Math.max(box[3], bottom)] : part);
  }
  return [...boxes.values()];
}

function placeBox(element, [left, top, right, bottom]) {
  const percent = (part) => `${part * 100}%`;
  Object.assign(element.style, { left: percent(left), top: percent(top), width: percent(right - left), height: percent(bottom - top) });
  return element;
}

// Places the marks on the image of a page. Without the places of its words, the page stays readable.
async function placeMarks(view) {
  try {
    await loadWords(view);
  } catch { return; }
  if (!view.words || !opened) return;
  const marks = marksOf(view.words.letters, view.number);
  const boxes = marks.flatMap(({ kind, ranges }) =>
    ranges.flatMap((range) => boxesOf(view.words, range)).map((box) => placeBox(createElement("div", { class: kind }), box)));
  view.element.querySelector(".marks")?.remove();
  view.element.append(createElement("div", { class: "marks", "aria-hidden": "true" }, boxes, placeFigure(view.words, marks)));
}
