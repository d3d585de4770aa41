// The command palette: pages and records by name. It shows the links of the page `/admin/find`, which works without
// scripts.

const paletteLink = document.querySelector("a[data-palette]");
let palette = null;

function createPalette() {
  const input = make("input", { type: "text", id: "palette-input", placeholder: t("palette-search"), autocomplete: "off", spellcheck: false });
  const list = make("div", { id: "palette-list" });
  const status = make("p", { className: "help" });
  const dialog = make("dialog", { className: "palette" }, input, list, status);
  const attributes = {
    role: "combobox", "aria-label": t("palette-search"), "aria-controls": "palette-list",
    "aria-expanded": "true", "aria-autocomplete": "list",
  };
  for (const [name, value] of Object.entries(attributes)) input.setAttribute(name, value);
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", t("results"));
  status.setAttribute("role", "status");
  dialog.setAttribute("aria-label", t("search"));

  let active = -1;
  let latest = 0;
  let timer = 0;
  const options = () => [...list.querySelectorAll("[role=option]")];

  const select = (index) => {
    const all = options();
    active = all.length === 0 ? -1 : (index + all.length) % all.length;
    all.forEach((option, at) => option.setAttribute("aria-selected", String(at === active)));
    if (active < 0) return input.removeAttribute("aria-activedescendant");
    input.setAttribute("aria-activedescendant", all[active].id);
    all[active].scrollIntoView({ block: "nearest" });
  };

  const showHits = (page) => {
    let count = 0;
    const groups = [...page.querySelectorAll("[data-hits] section")].map((section, index) => {
      const title = make("p", { id: `palette-kind-${index}` }, section.querySelector("h2").textContent);
      title.setAttribute("role", "presentation");
      const links = [...section.querySelectorAll("a")].map((link) => {
        const option = make("a", { href: link.getAttribute("href"), id: `palette-hit-${count++}`, tabIndex: -1, dir: "auto" }, link.textContent);
        option.setAttribute("role", "option");
        return option;
      });
      const group = make("div", {}, title, ...links);
      group.setAttribute("role", "group");
      group.setAttribute("aria-labelledby", title.id);
      return group;
    });
    list.replaceChildren(...groups);
    status.textContent = t("palette-count", { count });
    select(0);
  };

  const search = async () => {
    const number = ++latest;
    const address = `${paletteLink.getAttribute("href")}?q=${encodeURIComponent(input.value.trim())}`;
    try {
      const response = await fetch(address, { headers: { Accept: "text/html" } });
      const text = await response.text();
      if (number !== latest) return;
      // The session has ended.
      if (response.redirected) return location.assign(address);
      if (!response.ok) throw new Error(String(response.status));
      showHits(new DOMParser().parseFromString(text, "text/html"));
    } catch {
      if (number !== latest) return;
      list.replaceChildren();
      status.textContent = t("palette-failed");
    }
  };

  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(search, 150);
  });
  input.addEventListener("keydown", (event) => {
    const steps = { ArrowDown: active + 1, ArrowUp: active - 1 };
    if (Object.hasOwn(steps, event.key)) {
      event.preventDefault();
      select(steps[event.key]);
    } else if (event.key === "Enter") {
      event.preventDefault();
      options()[active]?.click();
    }
  });
  // A click beside the palette closes it.
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  document.body.append(dialog);
  return {
    open() {
      if (dialog.open) return dialog.close();
      dialog.showModal();
      input.select();
      search();
    },
  };
}

if (paletteLink) {
  const open = (event) => {
    event.preventDefault();
    palette ??= createPalette();
    palette.open();
  };
  const isMac = navigator.platform.startsWith("Mac");
  const hint = paletteLink.querySelector("kbd");
  hint.hidden = false;
  hint.textContent = isMac ? "⌘ K" : "Ctrl K";
  paletteLink.setAttribute("aria-haspopup", "dialog");
  paletteLink.addEventListener("click", (event) => {
    if (!event.ctrlKey && !event.metaKey && !event.shiftKey) open(event);
  });
  document.addEventListener("keydown", (event) => {
    const isShortcut = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "k";
    if (isShortcut && !document.querySelector("dialog[open]:not(.palette)")) open(event);
  });
}
