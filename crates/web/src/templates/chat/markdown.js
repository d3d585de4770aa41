
// Renders the Markdown of answers as elements and text nodes. Everything else, such as HTML, stays text.

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*$/;
const QUOTE = /^ {0,3}> ?/;
const THEMATIC_BREAK = /^ {0,3}([-*_])( *\1){2,} *$/;
const LIST_ITEM = /^( {0,12})([-*+]|\d{1,9}[.)])(?: +|$)(?=(.*))/;
const TABLE_ROW = /^ *\|.*\| *$/;
const BLOCK_STARTS = [FENCE, HEADING, QUOTE, THEMATIC_BREAK, LIST_ITEM, TABLE_ROW];
const DEPTH_MAX = 8;

const isBlank = (line) => line.trim() === "";
const startsBlock = (line) => BLOCK_STARTS.some((pattern) => pattern.test(line));
const indentOf = (line) => line.length - line.trimStart().length;

// Splits lines into blocks: the raw text of each, and a function that renders it.
function parseBlocks(lines, depth = 0) {
  const blocks = [];
  for (let start = 0; start < lines.length;) {
    if (isBlank(lines[start])) {
      start += 1;
      continue;
    }
    const { end, render } = depth < DEPTH_MAX ? parseBlock(lines, start, depth) : parseParagraph(lines, start);
    blocks.push({ raw: lines.slice(start, end).join("\n"), render });
    start = end;
  }
  return blocks;
}

// Parses the block that starts at a line. Like the other parse functions, it returns the line after the block.
function parseBlock(lines, start, depth) {
  const line = lines[start];
  if (FENCE.test(line)) return parseCode(lines, start);
  const heading = HEADING.exec(line);
  if (heading) {
    const tag = `h${Math.min(heading[1].length + 2, 6)}`;
    return { end: start + 1, render: () => createElement(tag, {}, ...renderInline(heading[2])) };
  }
  if (THEMATIC_BREAK.test(line)) return { end: start + 1, render: () => createElement("hr") };
  if (QUOTE.test(line)) {
    const end = findEnd(lines, start, (next) => QUOTE.test(next));
    const inner = lines.slice(start, end).map((quoted) => quoted.replace(QUOTE, ""));
    return { end, render: () => createElement("blockquote", {}, ...renderBlocks(inner, depth + 1)) };
  }
  if (LIST_ITEM.test(line)) return parseList(lines, start, depth);
  if (TABLE_ROW.test(line)) {
    const end = findEnd(lines, start, (next) => TABLE_ROW.test(next));
    return { end, render: () => renderPreformatted(lines.slice(start, end)) };
  }
  return parseParagraph(lines, start);
}

function findEnd(lines, start, belongs) {
  let end = start + 1;
  while (end < lines.length && belongs(lines[end])) end += 1;
  return end;
}

const renderBlocks = (lines, depth) => parseBlocks(lines, depth).map((block) => block.render());

// The block can be scrolled, so it has to be focusable for keyboard users.
function renderPreformatted(lines) {
  return createElement("pre", { tabindex: "0" }, createElement("code", {}, lines.join("\n")));
}

function parseParagraph(lines, start) {
  const end = findEnd(lines, start, (line) => !isBlank(line) && !startsBlock(line));
  const text = lines.slice(start, end).join("\n").trim();
  return { end, render: () => createElement("p", { dir: "auto" }, ...renderInline(text)) };
}

function parseCode(lines, start) {
  const fence = FENCE.exec(lines[start])[1];
  const isClosing = (line) => line.trim().startsWith(fence) && line.trim() === fence[0].repeat(line.trim().length);
  const end = findEnd(lines, start, (line) => !isClosing(line));
  return { end: Math.min(end + 1, lines.length), render: () => renderPreformatted(lines.slice(start + 1, end)) };
}

function parseList(lines, start, depth) {
  const [, indent, marker] = LIST_ITEM.exec(lines[start]);
  const isOrdered = /\d/.test(marker);
  const items = [];
  let contentIndent = 0;
  let end = start;
  for (; end < lines.length; end += 1) {
    const line = lines[end];
    const item = LIST_ITEM.exec(line);
    const isAfterBlank = end > start && isBlank(lines[end - 1]);
    if (item && item[1].length <= indent.length + 1) {
      if (/\d/.test(item[2]) !== isOrdered || THEMATIC_BREAK.test(line)) break;
      contentIndent = line.length - item[3].length;
      items.push([item[3]]);
    } else if (isBlank(line)) items.at(-1).push("");
    else if (indentOf(line) > indent.length + 1) items.at(-1).push(line.slice(Math.min(contentIndent, indentOf(line))));
    else if (isAfterBlank || startsBlock(line)) break;
    else items.at(-1).push(line.trimStart());
  }
  const render = () => {
    const elements = items.map((item) => createElement("li", { dir: "auto" }, ...renderListItem(item, depth)));
    const list = createElement(isOrdered ? "ol" : "ul", {}, ...elements);
    if (isOrdered && parseInt(marker, 10) !== 1) list.setAttribute("start", String(parseInt(marker, 10)));
    return list;
  };
  return { end, render };
}

// Renders the content of a list item. A paragraph at its start is rendered without its own element.
function renderListItem(lines, depth) {
  const [first, ...rest] = renderBlocks(lines, depth + 1);
  return first?.tagName === "P" ? [...first.childNodes, ...rest] : [first ?? "", ...rest];
}

// Code, strong, emphasis with * and with _, link, bare URL, escaped character. All lengths are bounded to limit the cost
// of markers that are never closed.
const INLINE = new RegExp([
  "(`{1,3})(?!`)(.{1,1000}?)(?<!`)\\1(?!`)",
  "\\*\\*(?=\\S)(.{1,1000}?)(?<=\\S)\\*\\*",
  "(?<![*\\w])\\*(?=[^\\s*])(.{1,1000}?)(?<=[^\\s*])\\*(?!\\*)",
  "(?<![_\\w])_(?=[^\\s_])(.{1,1000}?)(?<=[^\\s_])_(?!\\w)",
  "(?<!!)\\[([^\\]\\n]{1,300})\\]\\(([^()\\s]{1,2000})\\)",
  "\\b(https?://[^\\s<>()\"'*`]{1,2000}[^\\s<>()\"'*`.,;:!?])",
  "\\\\([\\\\`*_[\\]#>.!-])",
].join("|"), "gs");

function renderInline(text, depth = 0) {
  const nodes = [];
  let end = 0;
  for (const match of text.matchAll(INLINE)) {
    const [whole, , code, strong, starred, underscored, label, target, url, escaped] = match;
    nodes.push(text.slice(end, match.index));
    end = match.index + whole.length;
    const emphasis = starred ?? underscored;
    const renderInner = (inner) => (depth < DEPTH_MAX ? renderInline(inner, depth + 1) : [inner]);
    if (code !== undefined) nodes.push(createElement("code", {}, code));
    else if (strong !== undefined) nodes.push(createElement("strong", {}, ...renderInner(strong)));
    else if (emphasis !== undefined) nodes.push(createElement("em", {}, ...renderInner(emphasis)));
    else if (label !== undefined) nodes.push(...renderLink(label, target, whole));
    else if (url !== undefined) nodes.push(...renderLink(url, url, whole));
    else nodes.push(escaped);
  }
  nodes.push(text.slice(end));
  return nodes.filter((node) => node !== "");
}

// Renders an HTTP link; others stay text. The host of an external link is shown unless the label is the URL, because a
// document could try to mislead the reader.
function renderLink(label, target, whole) {
  let url;
  try { url = new URL(target, location.href); } catch { return [whole]; }
  if (!["http:", "https:"].includes(url.protocol) || url.username) return [whole];
  const attributes = { href: url.href, rel: "noopener noreferrer nofollow", target: "_blank" };
  const link = createElement("a", attributes, label);
  const needsHost = url.origin !== location.origin && label !== target;
  return needsHost ? [link, createElement("span", { class: "host" }, ` (${url.host})`)] : [link];
}

const renderedBlocks = new WeakMap();

// Shows Markdown in an element. Unchanged blocks keep their elements, so that a selection is kept while an answer grows.
function showMarkdown(target, text) {
  const previous = renderedBlocks.get(target) ?? [];
  const blocks = parseBlocks(text.replaceAll("\r\n", "\n").replaceAll("\t", "    ").split("\n"));
  blocks.forEach((block, index) => {
    if (previous[index] === block.raw) return;
    const element = block.render();
    if (target.children[index]) target.children[index].replaceWith(element);
    else target.append(element);
  });
  while (target.children.length > blocks.length) target.lastElementChild.remove();
  renderedBlocks.set(target, blocks.map((block) => block.raw));
}
