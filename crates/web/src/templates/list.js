// Lists: filters that apply while one types, the choice of columns, saved views, and keys for rows. The address always
// names what is shown, so that it can be shared, and going back works.

const filterForm = document.querySelector("form[data-filters]");
const listPart = document.querySelector('[data-part="list"]');
const listPath = location.pathname;

function readStored(key) {
  try { return JSON.parse(localStorage.getItem(key)); } catch { return null; }
}

function writeStored(key, value) {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, JSON.stringify(value));
  } catch { /* Without storage, the choice applies to this page only. */ }
}

function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

// A button that opens a panel with `children`.
function menuOf(label, ...children) {
  const menu = make("details", { className: "menu" }, make("summary", {}, label), make("div", {}, ...children));
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });
  document.addEventListener("click", (event) => {
    // The target can have left the page, such as the button of a deleted view.
    if (!event.composedPath().includes(menu)) menu.open = false;
  });
  return menu;
}

// ---- Columns: `columns` in the address has the names of those that are shown; without it, all are.

const columnsKey = `columns:${listPath}`;
const columnName = (header) => header.textContent.trim().toLowerCase().replace(/[^a-z0-9]+/g, "-");
const headers = () => [...(listPart?.querySelectorAll("thead th") ?? [])];
// The first column with a title names the record and stays.
const choosable = () => headers().filter((header) => columnName(header)).slice(1);
let chosenColumns = new URLSearchParams(location.search).get("columns") ?? readStored(columnsKey);

function isColumnShown(header) {
  if (!chosenColumns || !choosable().includes(header)) return true;
  return chosenColumns.split(",").includes(columnName(header));
}

// Adds the choice to an address of this list.
function withColumns(address) {
  const url = new URL(address, location.href);
  url.searchParams.delete("columns");
  if (chosenColumns) url.searchParams.set("columns", chosenColumns);
  return url.pathname + url.search.replaceAll("%2C", ",");
}

function showColumns() {
  const shown = headers().map(isColumnShown);
  for (const row of listPart.querySelectorAll("table tr")) {
    [...row.cells].forEach((cell, index) => { cell.hidden = shown[index] === false; });
  }
  for (const link of document.querySelectorAll('.paging a, [data-part="clear"] a, [data-part="list"] .empty a')) {
    if (new URL(link.href).pathname === listPath) link.href = withColumns(link.href);
  }
}

function columnMenu() {
  const boxes = choosable().map((header) => {
    const box = make("input", { type: "checkbox", checked: isColumnShown(header), value: columnName(header) });
    return make("label", { className: "choice" }, box, ` ${header.textContent.trim()}`);
  });
  const fieldset = make("fieldset", { className: "plain" }, make("legend", { className: "visually-hidden" }, t("columns")), ...boxes);
  fieldset.addEventListener("change", () => {
    const all = [...fieldset.querySelectorAll("input")];
    const kept = all.filter((box) => box.checked).map((box) => box.value);
    // A list with only its first column has the value `none`.
    chosenColumns = kept.length === all.length ? null : kept.join(",") || "none";
    writeStored(columnsKey, chosenColumns);
    history.replaceState(null, "", withColumns(location.href));
    showColumns();
  });
  return menuOf(t("columns"), fieldset);
}

// ---- Saved views: names of addresses of this list, kept in this browser for the account.

const viewsKey = `views:${document.body.dataset.account}:${listPath}`;

function viewMenu(status) {
  const list = make("ul", { className: "views" });
  const input = make("input", { id: "view-name", maxLength: 60, autocomplete: "off" });
  const button = make("button", { type: "button", className: "quiet" }, t("save"));
  const views = () => readStored(viewsKey) ?? [];
  const render = () => {
    list.replaceChildren(...views().map(({ name, query }) => {
      const link = make("a", { href: listPath + query }, name);
      if (query === location.search) link.setAttribute("aria-current", "true");
      const remove = make("button", { type: "button", className: "quiet" }, t("delete"));
      remove.setAttribute("aria-label", t("view-delete", { name }));
      remove.addEventListener("click", () => {
        writeStored(viewsKey, views().filter((view) => view.name !== name));
        status.textContent = t("view-deleted", { name });
        render();
        input.focus();
      });
      return make("li", {}, link, remove);
    }));
    if (views().length === 0) list.replaceChildren(make("li", { className: "help" }, t("views-none")));
  };
  const save = () => {
    const name = input.value.trim();
    if (!name) return input.focus();
    writeStored(viewsKey, [...views().filter((view) => view.name !== name), { name, query: location.search }]);
    input.value = "";
    status.textContent = t("view-saved", { name });
    render();
  };
  button.addEventListener("click", save);
  // The field is inside of the form of the filters, which Enter must not submit.
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    save();
  });
  const field = make("p", {}, make("label", { htmlFor: "view-name" }, t("view-save-as")), make("span", { className: "pair" }, input, button));
  const menu = menuOf(t("views"), list, field, make("p", { className: "help" }, t("views-hint")));
  menu.addEventListener("toggle", render);
  return menu;
}

// ---- Filters

if (filterForm && listPart) {
  const status = document.querySelector("[data-list-status]");
  const tools = filterForm.querySelector("[data-list-tools]");
  filterForm.querySelector("button[type=submit]").hidden = true;
  let latest = 0;
  let timer = 0;
  // The field whose changes replace the current entry of the history.
  let typing = null;

  const filteredAddress = () => {
    const filters = new URLSearchParams();
    for (const [name, value] of new FormData(filterForm)) {
      if (value) filters.append(name, value);
    }
    return withColumns(`${listPath}?${filters}`);
  };

  const announce = () => {
    const count = listPart.querySelector(".paging > span") ?? listPart.querySelector(".empty");
    status.textContent = count ? count.textContent.trim() : "";
  };

  const fail = (reason) => {
    listPart.replaceChildren(make("p", { className: "alert" }, reason));
    status.textContent = reason;
  };

  // Loads an address of the list and replaces all parts but the form, so that focus and caret stay.
  const load = async (address) => {
    const number = ++latest;
    let response;
    let page;
    listPart.setAttribute("aria-busy", "true");
    try {
      response = await fetch(address, { headers: { Accept: "text/html" } });
      page = new DOMParser().parseFromString(await response.text(), "text/html");
    } catch {
      if (number === latest) fail(t("list-unreachable"));
      return null;
    } finally {
      if (number === latest) listPart.removeAttribute("aria-busy");
    }
    if (number !== latest) return null;
    // The session has ended.
    if (response.redirected) {
      location.assign(address);
      return null;
    }
    if (!response.ok) {
      fail(page.querySelector("h1")?.textContent ?? t("error-status", { status: String(response.status) }));
      return null;
    }
    for (const part of document.querySelectorAll("[data-part]")) {
      const fresh = page.querySelector(`[data-part="${part.dataset.part}"]`);
      if (fresh) part.replaceChildren(...fresh.childNodes);
    }
    enhance(listPart);
    showTools();
    showColumns();
    announce();
    return page;
  };

  const apply = (field) => {
    clearTimeout(timer);
    const address = filteredAddress();
    if (address === location.pathname + location.search) return;
    const method = field && field === typing ? "replaceState" : "pushState";
    typing = field;
    history[method](null, "", address);
    load(address);
  };

  filterForm.addEventListener("input", (event) => {
    const field = event.target;
    if (!field.name || !field.checkValidity()) return;
    clearTimeout(timer);
    const isText = field.matches("input:not([type=date])");
    timer = setTimeout(() => apply(field), isText ? 300 : 0);
  });
  filterForm.addEventListener("change", (event) => {
    if (event.target.name && event.target.checkValidity()) apply(event.target);
  });
  filterForm.addEventListener("focusout", () => { typing = null; });
  filterForm.addEventListener("submit", (event) => {
    event.preventDefault();
    apply(typing);
  });
  window.addEventListener("popstate", async () => {
    typing = null;
    clearTimeout(timer);
    chosenColumns = new URLSearchParams(location.search).get("columns");
    const page = await load(location.href);
    for (const field of filterForm.elements) {
      const fresh = field.name && page?.querySelector(`[data-filters] [name="${field.name}"]`);
      if (fresh) field.value = fresh.value;
    }
  });

  const showTools = () => {
    const open = tools.querySelector("details[open] summary")?.textContent;
    const menus = choosable().length > 1 ? [columnMenu(), viewMenu(status)] : [viewMenu(status)];
    tools.replaceChildren(...menus);
    for (const menu of menus) menu.open = menu.querySelector("summary").textContent === open;
    tools.hidden = false;
  };

  showTools();
  if (chosenColumns) history.replaceState(null, "", withColumns(location.href));
  showColumns();
}

// ---- Keys. Single keys can be turned off, because they disturb dictation.

const keysKey = "single-keys-off";
const isTyping = (target) => target.closest?.("input:not([type=checkbox]), select, textarea, [contenteditable]");
const rowsOfList = () => [...document.querySelectorAll('[data-part="list"] tbody tr')];

function focusRow(row) {
  let target = row.querySelector("a.row") ?? row.querySelector("a, button");
  if (!target) {
    row.tabIndex = -1;
    target = row;
  }
  target.focus();
  row.scrollIntoView({ block: "nearest" });
}

function moveRow(step) {
  const rows = rowsOfList();
  const current = rows.indexOf(document.activeElement?.closest("tbody tr"));
  const next = current < 0 ? (step > 0 ? 0 : rows.length - 1) : current + step;
  if (rows[next]) focusRow(rows[next]);
}

const KEYS = [
  ["j, ↓", t("key-next-row")],
  ["k, ↑", t("key-previous-row")],
  ["Enter", t("key-open-row")],
  ["x", t("key-select-row")],
  ["/", t("key-filters")],
  ["Ctrl K, ⌘ K", t("palette-search")],
  ["?", t("show-keys")],
];

let keyDialog = null;

function showKeys() {
  if (!keyDialog) {
    const rows = KEYS.flatMap(([keys, text]) => [make("dt", {}, make("kbd", {}, keys)), make("dd", {}, text)]);
    const box = make("input", { type: "checkbox", checked: !readStored(keysKey) });
    const close = make("button", { type: "button" }, t("close"));
    keyDialog = make("dialog", { className: "keys" }, make("h2", { id: "keys-title" }, t("keys")), make("dl", {}, ...rows),
      make("p", {}, make("label", { className: "choice" }, box, ` ${t("keys-single")}`)), close);
    keyDialog.setAttribute("aria-labelledby", "keys-title");
    box.addEventListener("change", () => writeStored(keysKey, box.checked ? null : true));
    close.addEventListener("click", () => keyDialog.close());
    document.body.append(keyDialog);
  }
  keyDialog.showModal();
}

for (const button of document.querySelectorAll("button[data-keys]")) {
  button.hidden = false;
  button.addEventListener("click", showKeys);
}

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (isTyping(event.target) || document.querySelector("dialog[open]")) return;
  const row = document.activeElement?.closest('[data-part="list"] tbody tr');
  if (row && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
    event.preventDefault();
    moveRow(event.key === "ArrowDown" ? 1 : -1);
    return;
  }
  if (readStored(keysKey)) return;
  const field = filterForm?.querySelector("input[name], select[name]");
  const actions = {
    j: () => moveRow(1),
    k: () => moveRow(-1),
    x: () => row?.querySelector("input[type=checkbox]")?.click(),
    "/": () => field?.focus(),
    "?": showKeys,
  };
  if (!Object.hasOwn(actions, event.key)) return;
  event.preventDefault();
  actions[event.key]();
});
