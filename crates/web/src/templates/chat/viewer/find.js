
// Finds a text in the open document, exactly except for letter case and white space, and marks it on the pages.

const FIND_DELAY = 250; // in milliseconds, after the last keystroke

let found = null; // { text, hits, total, current }; `current` is the index of the hit that is shown, or -1
let findTimer = null;
let findRequest = 0; // number of the latest request; earlier responses are ignored

function openFind() {
  byId("find").hidden = false;
  byId("find-toggle").setAttribute("aria-expanded", "true");
  byId("find-text").focus();
  byId("find-text").select();
}

function closeFind() {
  forgetFound();
  byId("find").hidden = true;
  byId("find-text").value = "";
  byId("find-toggle").setAttribute("aria-expanded", "false");
  refreshMarks();
}

function forgetFound() {
  clearTimeout(findTimer);
  findRequest += 1;
  found = null;
  byId("find-hits").replaceChildren();
  byId("find-count").textContent = "";
  byId("find-previous").disabled = true;
  byId("find-next").disabled = true;
}

function onFindInput() {
  clearTimeout(findTimer);
  findTimer = setTimeout(find, FIND_DELAY);
}

function onFindKeydown(event) {
  if (event.key !== "Escape") return;
  event.preventDefault();
  event.stopPropagation();
  closeFind();
  byId("find-toggle").focus();
}

// Enter goes to the next place.
function onFindSubmit(event) {
  event.preventDefault();
  if (found && found.text === byId("find-text").value.trim()) changeHit(1);
  else find();
}

async function find() {
  const text = byId("find-text").value.trim();
  const mine = opened;
  forgetFound();
  const request = findRequest;
  if (text && mine) {
    try {
      const query = new URLSearchParams({ q: text });
      const { hits, total } = await (await callApi(`/documents/${mine.source.document_id}/find?${query}`)).json();
      if (request !== findRequest || opened !== mine) return;
      found = { text, hits, total, current: -1 };
      byId("find-hits").append(...hits.map(createHit));
      byId("find-previous").disabled = !hits.length;
      byId("find-next").disabled = !hits.length;
      // The first place from the current page on.
      const next = hits.findIndex(({ page }) => page >= opened.page);
      if (hits.length) goToHit(Math.max(next, 0), false);
      else byId("find-count").textContent = t("find-none");
    } catch (error) {
      if (request === findRequest) byId("find-count").textContent = errorMessage(error);
    }
  }
  refreshMarks();
}

function createHit({ page, label, before, text, after }, index) {
  return createElement("li", {}, createElement("button", { type: "button", class: "hit", click: () => goToHit(index) },
    createElement("span", {}, label ? placeLabel(label) : t("page-number", { page: String(page) })),
    createElement("bdi", {}, withoutRules(before), createElement("mark", {}, text), withoutRules(after))));
}

// A text around a place without the lines of tables.
const withoutRules = (text) => text.replaceAll("|", " ").replace(/(?<!\S):?-{3,}:?(?!\S)/g, "").replace(/\s{2,}/g, " ");

function changeHit(step) {
  const { hits, current } = found;
  if (hits.length) goToHit((current + step + hits.length) % hits.length);
}

function goToHit(index, isChosen = true) {
  const list = byId("find-hits");
  list.children[found.current]?.firstChild.removeAttribute("aria-current");
  found.current = index;
  const row = list.children[index];
  row.firstChild.setAttribute("aria-current", "true");
  list.scrollTop = row.offsetTop - list.offsetTop - (list.clientHeight - row.offsetHeight) / 2;
  const { hits, total } = found;
  byId("find-count").textContent = t("find-count", { number: index + 1, total });
  const view = viewOf(hits[index].page);
  if (!view) return;
  Object.assign(opened, { page: view.number, target: view.number });
  if (!view.isLoaded) scrollToView(view);
  showPageNumber();
  if (isChosen) refreshMarks();
}

// The place of the current hit among those of its page, or -1 if it is on another page.
function currentOnPage(page) {
  const { hits, current } = found;
  if (hits[current]?.page !== page) return -1;
  return hits.slice(0, current).filter((hit) => hit.page === page).length;
}

// The ranges of letters of a page that were found.
function findMarks(letters, page) {
  if (!found?.hits.some((hit) => hit.page === page)) return [];
  const needle = lettersOf(found.text);
  const ranges = [];
  for (let at = needle ? letters.indexOf(needle) : -1; at >= 0; at = letters.indexOf(needle, at + needle.length)) {
    ranges.push([at, at + needle.length]);
  }
  const current = currentOnPage(page);
  return [{ kind: "hit", ranges }, { kind: "current", ranges: ranges.slice(current, current + 1).filter(() => current >= 0) }];
}

// Places the marks of the loaded pages again.
async function refreshMarks() {
  if (!opened) return;
  for (const view of views) {
    if (!opened) return;
    // While marks are placed, other pages can be freed, as for their text.
    if (!view.isLoaded) continue;
    if (opened.isText) showText(view);
    else if (hasMarks(view.number) || view.element.querySelector(".marks")) await placeMarks(view);
    reveal(view);
  }
}
