
// Renders the Markdown of answers as elements and text nodes. Everything else, such as HTML, stays text.
//
// Documents and models can write hostile Markdown, so the time is linear in the length of the text: lines and characters
// are read once by code without backtracking, and nesting is limited.

const DEPTH_MAX = 8;
// Emphasis and brackets that can be open at the same time; further markers stay text.
const OPEN_MAX = 32;
const COLUMNS_MAX = 50;
const URL_MAX = 2000;
// Steps of the parsers so far. Tests compare them with the length of the text.
let markdownSteps = 0;

const isBlank = (line) => line.trim() === "";
const indentOf = (line) => line.length - line.trimStart().length;

// Returns how often a character is repeated from a position.
function runLength(text, start) {
  let end = start + 1;
  while (end < text.length && text[end] === text[start]) end += 1;
  markdownSteps += end - start;
  return end - start;
}

// The start of a block that is not indented like a code block, or an empty text.
function blockStart(line) {
  const indent = indentOf(line);
  markdownSteps += indent + 1;
  return indent <= 3 ? line.slice(indent) : "";
}

// Returns the marker of a code block: three or more backticks or tildes.
function fenceOf(line) {
  const start = blockStart(line);
  if (start[0] !== "`" && start[0] !== "~") return null;
  const length = runLength(start, 0);
  return length >= 3 ? start.slice(0, length) : null;
}

function headingOf(line) {
  const start = blockStart(line);
  if (start[0] !== "#") return null;
  const level = runLength(start, 0);
  if (level > 6 || start.length > level && start[level] !== " ") return null;
  const text = start.slice(level).trim();
  let end = text.length;
  while (end > 0 && text[end - 1] === "#") end -= 1;
  markdownSteps += text.length;
  const isClosed = end < text.length && (end === 0 || text[end - 1] === " ");
  return { level, text: isClosed ? text.slice(0, end).trimEnd() : text };
}

const isQuote = (line) => blockStart(line)[0] === ">";

function isThematicBreak(line) {
  const start = blockStart(line);
  if (!"-*_".includes(start[0] ?? " ")) return false;
  let count = 0;
  for (const character of start) {
    if (character === start[0]) count += 1;
    else if (character !== " ") return false;
  }
  markdownSteps += start.length;
  return count >= 3;
}

// Returns the parts of a line that starts a list item.
function listItemOf(line) {
  const indent = indentOf(line);
  let end = indent;
  if (indent > 12) return null;
  while (end - indent < 9 && line[end] >= "0" && line[end] <= "9") end += 1;
  const isOrdered = end > indent;
  if (isOrdered ? line[end] !== "." && line[end] !== ")" : !"-*+".includes(line[end] ?? " ")) return null;
  markdownSteps += end;
  end += 1;
  if (end < line.length && line[end] !== " ") return null;
  const content = line.slice(end).trimStart();
  return { indent, isOrdered, number: parseInt(line.slice(indent), 10), content };
}

// Splits a row of a table at the bars that are not escaped.
function cellsOf(line) {
  const row = line.trim();
  const cells = [];
  let cell = "";
  for (let at = row[0] === "|" ? 1 : 0; at < row.length; at += 1) {
    if (row[at] === "\\" && row[at + 1] === "|") {
      cell += "|";
      at += 1;
    } else if (row[at] === "|") {
      cells.push(cell.trim());
      cell = "";
    } else cell += row[at];
  }
  markdownSteps += row.length;
  if (cell.trim() !== "" || row[row.length - 1] !== "|") cells.push(cell.trim());
  return cells;
}

// Returns the alignments that the line below the header of a table sets.
function alignmentsOf(line) {
  if (!line.includes("-") || !line.includes("|")) return null;
  const alignments = [];
  for (const cell of cellsOf(line)) {
    const isRight = cell.endsWith(":") && cell.length > 1;
    const isLeft = cell.startsWith(":");
    const dashes = cell.slice(isLeft ? 1 : 0, isRight ? -1 : undefined);
    if (dashes === "" || runLength(dashes, 0) !== dashes.length || dashes[0] !== "-") return null;
    alignments.push(isRight ? (isLeft ? "center" : "right") : "left");
  }
  return alignments;
}

function startsTable(lines, start) {
  if (!lines[start].includes("|") || start + 1 >= lines.length) return false;
  const columns = alignmentsOf(lines[start + 1])?.length ?? 0;
  return columns > 0 && columns <= COLUMNS_MAX && cellsOf(lines[start]).length === columns;
}

function startsBlock(lines, at) {
  const line = lines[at];
  return fenceOf(line) !== null || headingOf(line) !== null || isQuote(line) || isThematicBreak(line)
    || listItemOf(line) !== null || startsTable(lines, at);
}

// Splits lines into blocks: the raw text of each, and a function that renders it.
function parseBlocks(lines, depth = 0) {
  const blocks = [];
  for (let start = 0; start < lines.length;) {
    markdownSteps += 1;
    if (isBlank(lines[start])) {
      start += 1;
      continue;
    }
    const { end, render } = depth < DEPTH_MAX ? parseBlock(lines, start, depth) : parsePlain(lines, start);
    blocks.push({ raw: lines.slice(start, end).join("\n"), render });
    start = end;
  }
  return blocks;
}

// Parses the block that starts at a line. Like the other parse functions, it returns the line after the block.
function parseBlock(lines, start, depth) {
  const line = lines[start];
  if (fenceOf(line) !== null) return parseCode(lines, start);
  const heading = headingOf(line);
  if (heading) {
    const tag = `h${Math.min(heading.level + 2, 6)}`;
    return { end: start + 1, render: () => createElement(tag, {}, renderInline(heading.text)) };
  }
  if (isThematicBreak(line)) return { end: start + 1, render: () => createElement("hr") };
  if (isQuote(line)) {
    const end = findEnd(lines, start, (at) => isQuote(lines[at]));
    const unquote = (quoted) => {
      const rest = blockStart(quoted).slice(1);
      return rest[0] === " " ? rest.slice(1) : rest;
    };
    const inner = lines.slice(start, end).map(unquote);
    return { end, render: () => createElement("blockquote", {}, renderBlocks(inner, depth + 1)) };
  }
  if (listItemOf(line)) return parseList(lines, start, depth);
  if (startsTable(lines, start)) return parseTable(lines, start);
  return parseParagraph(lines, start);
}

function findEnd(lines, start, belongs) {
  let end = start + 1;
  while (end < lines.length && belongs(end)) end += 1;
  return end;
}

const renderBlocks = (lines, depth) => parseBlocks(lines, depth).map((block) => block.render());

function renderParagraph(lines, start, end) {
  const text = lines.slice(start, end).join("\n").trim();
  return { end, render: () => createElement("p", { dir: "auto" }, renderInline(text)) };
}

function parseParagraph(lines, start) {
  return renderParagraph(lines, start, findEnd(lines, start, (at) => !isBlank(lines[at]) && !startsBlock(lines, at)));
}

// A paragraph that is nested too deeply for other blocks.
function parsePlain(lines, start) {
  return renderParagraph(lines, start, findEnd(lines, start, (at) => !isBlank(lines[at])));
}

// The block can be scrolled, so it has to be focusable for keyboard users.
function parseCode(lines, start) {
  const fence = fenceOf(lines[start]);
  const isClosing = (line) => {
    const text = line.trim();
    return text.startsWith(fence) && runLength(text, 0) === text.length;
  };
  const end = findEnd(lines, start, (at) => !isClosing(lines[at]));
  const render = () => {
    const code = createElement("code", {}, lines.slice(start + 1, end).join("\n"));
    return createElement("pre", { tabindex: "0" }, code);
  };
  return { end: Math.min(end + 1, lines.length), render };
}

// Whether a cell has a number, with a currency, a unit or a citation. Longer cells are not read, to keep the time linear.
function isFigure(cell) {
  if (cell.length > 300) return false;
  const [text] = cell.split(/ \((?=[^)]*\p{L}{3})/u);
  return text.length < 40 && /^[^\p{L}\d]*(?:[A-Z]{3} )?[^\p{L}\d]*\d[\d.,\s]*[^\p{L}\d]*[\p{L}.]{0,9}[^\p{L}\d]*$/u.test(text);
}

// Columns of numbers are aligned to the right, except the first one, which names the rows.
function alignColumn(alignment, column, rows) {
  const cells = rows.map((row) => row[column] ?? "");
  const isRight = column && alignment === "left" && cells.some(isFigure) && cells.every((cell) => isFigure(cell) || !/[\p{L}\d]/u.test(cell));
  return isRight ? "right" : alignment;
}

// Rows have at most as many cells as the header. Missing cells are not added, because a few characters could then make
// very many.
function parseTable(lines, start) {
  const aligned = alignmentsOf(lines[start + 1]);
  const end = findEnd(lines, start + 1, (at) => !isBlank(lines[at]) && lines[at].includes("|"));
  const render = () => {
    const [header, , ...rows] = lines.slice(start, end).map((line) => cellsOf(line).slice(0, aligned.length));
    const alignments = aligned.map((alignment, column) => alignColumn(alignment, column, rows));
    const renderRow = (cells, tag) => {
      const attributes = (column) => ({ class: alignments[column], dir: "auto", ...(tag === "th" && { scope: "col" }) });
      return createElement("tr", {}, cells.map((cell, column) => createElement(tag, attributes(column), renderInline(cell))));
    };
    return createElement("div", { class: "table", tabindex: "0", role: "group", "aria-label": t("table") },
      createElement("table", {},
        createElement("thead", {}, renderRow(header, "th")),
        createElement("tbody", {}, rows.map((cells) => renderRow(cells, "td")))));
  };
  return { end, render };
}

// Returns text from a document: its tables as tables, and everything else unchanged.
function renderPassage(text) {
  const lines = text.split("\n");
  const passage = document.createDocumentFragment();
  for (let start = 0; start < lines.length;) {
    const table = startsTable(lines, start) && parseTable(lines, start);
    passage.append(table ? table.render() : `${lines[start]}\n`);
    start = table ? table.end : start + 1;
  }
  return passage;
}

function parseList(lines, start, depth) {
  const first = listItemOf(lines[start]);
  const items = [];
  let contentIndent = 0;
  let end = start;
  for (; end < lines.length; end += 1) {
    markdownSteps += 1;
    const line = lines[end];
    const item = listItemOf(line);
    const isAfterBlank = end > start && isBlank(lines[end - 1]);
    if (item && item.indent <= first.indent + 1) {
      if (item.isOrdered !== first.isOrdered || isThematicBreak(line)) break;
      contentIndent = line.length - item.content.length;
      items.push([item.content]);
    } else if (isBlank(line)) items[items.length - 1].push("");
    else if (indentOf(line) > first.indent + 1) {
      items[items.length - 1].push(line.slice(Math.min(contentIndent, indentOf(line))));
    } else if (isAfterBlank || startsBlock(lines, end)) break;
    else items[items.length - 1].push(line.trimStart());
  }
  const render = () => {
    const elements = items.map((item) => createElement("li", { dir: "auto" }, renderListItem(item, depth)));
    const list = createElement(first.isOrdered ? "ol" : "ul", {}, elements);
    if (first.isOrdered && first.number !== 1) list.setAttribute("start", String(first.number));
    return list;
  };
  return { end, render };
}

// Renders the content of a list item. A paragraph at its start is rendered without its own element.
function renderListItem(lines, depth) {
  const [first, ...rest] = renderBlocks(lines, depth + 1);
  return first?.tagName === "P" ? [...first.childNodes, ...rest] : [first ?? "", ...rest];
}

const PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";
const URL_ENDS = " \n<>()\"'*`";
const isWord = (character) => character !== undefined && /\w/.test(character);
const isSpace = (character) => character === undefined || character === " " || character === "\n";

// Returns the nodes of a text with code, emphasis, links, bare URLs and escaped characters. Markers without a counterpart
// stay text.
function renderInline(text) {
  const ticks = closingTicks(text);
  // Open markers; the first entry collects the result.
  const stack = [{ marker: "", children: [] }];
  const open = { "*": 0, _: 0, "[": 0 };
  const add = (nodes) => {
    const { children } = stack[stack.length - 1];
    for (const node of nodes) {
      const isJoined = typeof node === "string" && typeof children[children.length - 1] === "string";
      if (isJoined) children[children.length - 1] += node;
      else children.push(node);
    }
  };
  // Closes the entries above one: their markers stay text.
  const flatten = (level) => {
    const target = stack[level].children;
    for (const entry of stack.splice(level + 1)) {
      markdownSteps += entry.children.length + 1;
      if (entry.kind) open[entry.kind] -= 1;
      target.push(entry.marker);
      for (const child of entry.children) target.push(child);
    }
  };
  const push = (kind, marker, details) => {
    if (stack.length > OPEN_MAX) return add([marker]);
    open[kind] += 1;
    stack.push({ kind, marker, children: [], ...details });
  };
  const findOpen = (kind) => {
    let level = stack.length - 1;
    while (stack[level].kind !== kind) level -= 1;
    markdownSteps += stack.length - level;
    return level;
  };

  // Closes emphasis with a run of markers as far as it is open, and returns how many markers are left.
  const closeEmphasis = (kind, count) => {
    let left = count;
    while (left > 0 && open[kind] > 0) {
      const level = findOpen(kind);
      flatten(level);
      const entry = stack[level];
      const used = Math.min(2, left, entry.marker.length);
      const element = createElement(used === 2 ? "strong" : "em", {}, entry.children);
      left -= used;
      entry.marker = entry.marker.slice(used);
      if (entry.marker === "") {
        stack.pop();
        open[kind] -= 1;
        add([element]);
      } else entry.children = [element];
    }
    return left;
  };

  // Closes a link at a `]`, and returns the position after it, or null if it is none.
  const closeLink = (at) => {
    const level = findOpen("[");
    const { start, isImage } = stack[level];
    const end = text[at + 1] === "(" && !isImage ? endOfTarget(text, at + 2) : -1;
    if (end < 0) {
      // Stays on the stack as text if emphasis is open above it.
      open["["] -= 1;
      stack[level].kind = null;
      if (level === stack.length - 1) flatten(level - 1);
      return null;
    }
    flatten(level);
    const { children } = stack.pop();
    // Links contain no links.
    for (const entry of stack) if (entry.kind === "[") entry.kind = null;
    open["["] = 0;
    const target = text.slice(at + 2, end);
    add(renderLink(children, text.slice(start, at), target) ?? ["[", ...children, `](${target})`]);
    return end + 1;
  };

  let plain = 0;
  let at = 0;
  // Adds the text that was read since the last node, and continues at a position.
  const proceed = (next, nodes = []) => {
    if (at > plain) add([text.slice(plain, at)]);
    add(nodes);
    at = next;
    plain = next;
  };
  while (at < text.length) {
    markdownSteps += 1;
    const character = text[at];
    if (character === "\\" && PUNCTUATION.includes(text[at + 1] ?? " ")) proceed(at + 2, [text[at + 1]]);
    else if (character === "`") {
      const length = runLength(text, at);
      const end = ticks(length, at + length);
      if (end < 0) at += length;
      else proceed(end + length, [createElement("code", {}, codeText(text.slice(at + length, end)))]);
    } else if (character === "*" || character === "_") {
      const length = runLength(text, at);
      const [before, after] = [text[at - 1], text[at + length]];
      const isOpening = !isSpace(after) && !(isWord(before) && (character === "_" || length === 1));
      const isClosing = !isSpace(before) && !(character === "_" && isWord(after));
      if (length <= 3 && (isOpening || isClosing)) {
        proceed(at + length);
        const left = isClosing ? closeEmphasis(character, length) : length;
        if (left > 0 && isOpening) push(character, character.repeat(left));
        else if (left > 0) add([character.repeat(left)]);
      } else at += length;
    } else if (character === "[") {
      const isImage = text[at - 1] === "!";
      proceed(at + 1);
      push("[", "[", { start: at, isImage });
    } else if (character === "]" && open["["] > 0) {
      proceed(at);
      const end = closeLink(at);
      if (end === null) at += 1;
      else proceed(end);
    } else if (character === "h" && open["["] === 0 && startsUrl(text, at)) {
      const end = endOfUrl(text, at);
      const url = text.slice(at, end);
      proceed(end, renderLink([url], url, url) ?? [url]);
    } else at += 1;
  }
  proceed(text.length);
  flatten(0);
  return stack[0].children.filter((node) => node !== "");
}

// Returns a function that finds the next run of exactly as many backticks from a position. Positions only grow, so each
// list is read once.
function closingTicks(text) {
  const starts = new Map();
  for (let at = text.indexOf("`"); at >= 0; at = text.indexOf("`", at)) {
    const length = runLength(text, at);
    if (!starts.has(length)) starts.set(length, { positions: [], next: 0 });
    starts.get(length).positions.push(at);
    at += length;
  }
  return (length, from) => {
    const list = starts.get(length);
    while (list.next < list.positions.length && list.positions[list.next] < from) {
      list.next += 1;
      markdownSteps += 1;
    }
    return list.positions[list.next] ?? -1;
  };
}

// Code in the text: one space around it, which separates backticks at its ends from the markers, is removed.
function codeText(text) {
  const line = text.replaceAll("\n", " ");
  const isPadded = line.length > 2 && line.startsWith(" ") && line.endsWith(" ") && line.trim() !== "";
  return isPadded ? line.slice(1, -1) : line;
}

// Returns the position of the `)` after the target of a link, or -1. The next target starts after it.
function endOfTarget(text, start) {
  let end = start;
  while (end < text.length && !"() \n".includes(text[end])) end += 1;
  markdownSteps += end - start + 1;
  return text[end] === ")" && end > start && end - start <= URL_MAX ? end : -1;
}

const startsUrl = (text, at) => !isWord(text[at - 1]) && /^https?:\/\//.test(text.slice(at, at + 8));

// Returns the end of a bare URL, without punctuation after it.
function endOfUrl(text, start) {
  let end = start;
  while (end < text.length && !URL_ENDS.includes(text[end])) end += 1;
  while (".,;:!?]".includes(text[end - 1])) end -= 1;
  markdownSteps += end - start;
  return end;
}

// Renders an HTTP link; returns null for others. The host of an external link is shown unless the label is the URL, because
// a document could try to mislead the reader.
function renderLink(children, label, target) {
  let url;
  try { url = new URL(target, location.href); } catch { return null; }
  if (!["http:", "https:"].includes(url.protocol) || url.username || target.length > URL_MAX) return null;
  const attributes = { href: url.href, rel: "noopener noreferrer nofollow", target: "_blank" };
  const link = createElement("a", attributes, children);
  const needsHost = url.origin !== location.origin && label !== target;
  return needsHost ? [link, createElement("span", { class: "host" }, ` (${url.host})`)] : [link];
}

const renderedBlocks = new WeakMap();

// Shows Markdown in an element. A text that cannot be rendered is shown as it is, so that its conversation can be read.
function showMarkdown(target, text) {
  try {
    showBlocks(target, text);
  } catch (error) {
    console.error(error);
    target.replaceChildren(createElement("p", { dir: "auto" }, text));
    renderedBlocks.set(target, []);
  }
}

// Unchanged blocks keep their elements, so that a selection is kept while an answer grows.
function showBlocks(target, text) {
  const previous = renderedBlocks.get(target) ?? [];
  const blocks = parseBlocks(text.replaceAll("\r\n", "\n").replaceAll("\t", "    ").split("\n"));
  // Elements are not found by their index, because that counts those before them.
  let shown = target.firstElementChild;
  blocks.forEach((block, index) => {
    const next = shown?.nextElementSibling;
    if (previous[index] !== block.raw) {
      const element = block.render();
      if (shown) shown.replaceWith(element);
      else target.append(element);
    }
    shown = next;
  });
  while (shown) {
    const next = shown.nextElementSibling;
    shown.remove();
    shown = next;
  }
  renderedBlocks.set(target, blocks.map((block) => block.raw));
}
