
// Markdown as answers have it, made of elements and text nodes: whatever is no Markdown, HTML above all, stays text.

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*$/;
const QUOTE = /^ {0,3}> ?/;
const RULE = /^ {0,3}([-*_])( *\1){2,} *$/;
const ITEM = /^( {0,12})([-*+]|\d{1,9}[.)])(?: +|$)(?=(.*))/;
const TABLE = /^ *\|.*\| *$/;
const DEPTH_MAX = 8;

const isBlank = (line) => line.trim() === "";
const begins = (line) =>
  FENCE.test(line) || HEADING.test(line) || QUOTE.test(line) || RULE.test(line) || ITEM.test(line) || TABLE.test(line);
const indentOf = (line) => line.length - line.trimStart().length;

// Cuts lines into blocks: of each the number of its lines, and what makes its element.
function blocks(lines, depth = 0) {
  const found = [];
  for (let at = 0; at < lines.length;) {
    if (isBlank(lines[at])) {
      at += 1;
      continue;
    }
    const block = depth < DEPTH_MAX ? blockAt(lines, at, depth) : paragraphAt(lines, at);
    found.push({ raw: lines.slice(at, block.end).join("\n"), make: block.make });
    at = block.end;
  }
  return found;
}

function blockAt(lines, at, depth) {
  const line = lines[at];
  if (FENCE.test(line)) return codeAt(lines, at);
  const heading = HEADING.exec(line);
  if (heading) {
    const tag = `h${Math.min(heading[1].length + 2, 6)}`;
    return { end: at + 1, make: () => el(tag, {}, ...inline(heading[2])) };
  }
  if (RULE.test(line)) return { end: at + 1, make: () => el("hr") };
  if (QUOTE.test(line)) {
    const end = endOf(lines, at, (next) => QUOTE.test(next));
    const inner = lines.slice(at, end).map((quoted) => quoted.replace(QUOTE, ""));
    return { end, make: () => el("blockquote", {}, ...made(inner, depth + 1)) };
  }
  if (ITEM.test(line)) return listAt(lines, at, depth);
  if (TABLE.test(line)) {
    const end = endOf(lines, at, (next) => TABLE.test(next));
    return { end, make: () => preformatted(lines.slice(at, end)) };
  }
  return paragraphAt(lines, at);
}

function endOf(lines, at, belongs) {
  let end = at + 1;
  while (end < lines.length && belongs(lines[end])) end += 1;
  return end;
}

const made = (lines, depth) => blocks(lines, depth).map((block) => block.make());
// It can be scrolled, so it can be reached by keyboard.
const preformatted = (lines) => el("pre", { tabindex: "0" }, el("code", {}, lines.join("\n")));

function paragraphAt(lines, at) {
  const end = endOf(lines, at, (line) => !isBlank(line) && !begins(line));
  return { end, make: () => el("p", { dir: "auto" }, ...inline(lines.slice(at, end).join("\n").trim())) };
}

function codeAt(lines, at) {
  const mark = FENCE.exec(lines[at])[1];
  const closes = (line) => line.trim().startsWith(mark) && line.trim() === mark[0].repeat(line.trim().length);
  const end = endOf(lines, at, (line) => !closes(line));
  return { end: Math.min(end + 1, lines.length), make: () => preformatted(lines.slice(at + 1, end)) };
}

function listAt(lines, at, depth) {
  const [, indent, mark] = ITEM.exec(lines[at]);
  const isOrdered = /\d/.test(mark);
  const items = [];
  let width = 0;
  let end = at;
  for (; end < lines.length; end += 1) {
    const line = lines[end];
    const item = ITEM.exec(line);
    const isAfterBlank = end > at && isBlank(lines[end - 1]);
    if (item && item[1].length <= indent.length + 1) {
      if (/\d/.test(item[2]) !== isOrdered || RULE.test(line)) break;
      width = line.length - item[3].length;
      items.push([item[3]]);
    } else if (isBlank(line)) items.at(-1).push("");
    else if (indentOf(line) > indent.length + 1) items.at(-1).push(line.slice(Math.min(width, indentOf(line))));
    else if (isAfterBlank || begins(line)) break;
    else items.at(-1).push(line.trimStart());
  }
  const make = () => {
    const list = el(isOrdered ? "ol" : "ul", {}, ...items.map((item) => el("li", { dir: "auto" }, ...itemOf(item, depth))));
    if (isOrdered && parseInt(mark, 10) !== 1) list.setAttribute("start", String(parseInt(mark, 10)));
    return list;
  };
  return { end, make };
}

// A paragraph that an item begins with needs no element.
function itemOf(lines, depth) {
  const [first, ...rest] = made(lines, depth + 1);
  return first?.tagName === "P" ? [...first.childNodes, ...rest] : [first ?? "", ...rest];
}

// Code, strong, emphasis, link, address, escaped sign. What is marked is bounded, so that marks that are never closed
// cost little.
const INLINE = new RegExp([
  "(`{1,3})(?!`)(.{1,1000}?)(?<!`)\\1(?!`)",
  "\\*\\*(?=\\S)(.{1,1000}?)(?<=\\S)\\*\\*",
  "(?<![*\\w])\\*(?=[^\\s*])(.{1,1000}?)(?<=[^\\s*])\\*(?!\\*)",
  "(?<![_\\w])_(?=[^\\s_])(.{1,1000}?)(?<=[^\\s_])_(?!\\w)",
  "(?<!!)\\[([^\\]\\n]{1,300})\\]\\(([^()\\s]{1,2000})\\)",
  "\\b(https?://[^\\s<>()\"'*`]{1,2000}[^\\s<>()\"'*`.,;:!?])",
  "\\\\([\\\\`*_[\\]#>.!-])",
].join("|"), "gs");

function inline(text, depth = 0) {
  const nodes = [];
  let at = 0;
  for (const match of text.matchAll(INLINE)) {
    const [whole, , code, strong, slanted, underlined, label, target, address, escaped] = match;
    nodes.push(text.slice(at, match.index));
    at = match.index + whole.length;
    const emphasis = slanted ?? underlined;
    const inner = (marked) => (depth < DEPTH_MAX ? inline(marked, depth + 1) : [marked]);
    if (code !== undefined) nodes.push(el("code", {}, code));
    else if (strong !== undefined) nodes.push(el("strong", {}, ...inner(strong)));
    else if (emphasis !== undefined) nodes.push(el("em", {}, ...inner(emphasis)));
    else if (label !== undefined) nodes.push(...link(label, target, whole));
    else if (address !== undefined) nodes.push(...link(address, address, whole));
    else nodes.push(escaped);
  }
  nodes.push(text.slice(at));
  return nodes.filter((node) => node !== "");
}

// A link of a page to a page. Where it leads is said beside a text that says something else: a document may try to lure.
function link(label, target, whole) {
  let url;
  try { url = new URL(target, location.href); } catch { return [whole]; }
  if (!["http:", "https:"].includes(url.protocol) || url.username) return [whole];
  const anchor = el("a", { href: url.href, rel: "noopener noreferrer nofollow", target: "_blank" }, label);
  const isElsewhere = url.origin !== location.origin && label !== target;
  return isElsewhere ? [anchor, el("span", { class: "host" }, ` (${url.host})`)] : [anchor];
}

const shownBlocks = new WeakMap();

// Shows Markdown in an element. Blocks that have not changed since the last time stay the elements that they are, so that
// a growing answer does not lose what is selected in it.
function showMarkdown(target, text) {
  const before = shownBlocks.get(target) ?? [];
  const now = blocks(text.replaceAll("\r\n", "\n").replaceAll("\t", "    ").split("\n"));
  now.forEach((block, place) => {
    if (before[place] === block.raw) return;
    const node = block.make();
    if (target.children[place]) target.children[place].replaceWith(node);
    else target.append(node);
  });
  while (target.children.length > now.length) target.lastElementChild.remove();
  shownBlocks.set(target, now.map((block) => block.raw));
}
