// The panel works without this. With it: a theme that is remembered, bulk selection, copying.

const root = document.documentElement;
const themes = ["light", "dark"];

function remembered() {
  try { return localStorage.getItem("theme"); } catch { return null; }
}

function show(theme) {
  if (themes.includes(theme)) root.dataset.theme = theme;
}

show(remembered());

for (const button of document.querySelectorAll("[data-theme]")) {
  if (button === root) continue;
  button.hidden = false;
  button.addEventListener("click", () => {
    const isDark = root.dataset.theme
      ? root.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    const theme = isDark ? "light" : "dark";
    show(theme);
    try { localStorage.setItem("theme", theme); } catch { /* It lasts as long as the page, then. */ }
  });
}

// The menu is open beside a wide page and closed above a narrow one.
const side = document.querySelector("details.side");
if (side) {
  const narrow = matchMedia("(max-width: 800px)");
  const fold = () => { side.open = !narrow.matches; };
  fold();
  narrow.addEventListener("change", fold);
}

// `<form data-bulk>` holds a table of boxes and a bar that appears with a selection.
for (const form of document.querySelectorAll("form[data-bulk]")) {
  const boxes = [...form.querySelectorAll("tbody input[type=checkbox]")];
  const all = form.querySelector("thead input[type=checkbox]");
  const bar = form.querySelector("[data-bulk-bar]");
  const count = form.querySelector("[data-bulk-count]");
  const update = () => {
    const chosen = boxes.filter((box) => box.checked).length;
    if (bar) bar.classList.toggle("idle", chosen === 0);
    if (count) count.textContent = `${chosen} selected`;
    if (all) {
      all.checked = chosen > 0 && chosen === boxes.length;
      all.indeterminate = chosen > 0 && chosen < boxes.length;
    }
  };
  if (all) {
    all.hidden = false;
    all.addEventListener("change", () => {
      for (const box of boxes) box.checked = all.checked;
      update();
    });
  }
  for (const box of boxes) box.addEventListener("change", update);
  update();
}

// `<button data-copy="ID" hidden>` copies the text of the element with that id.
for (const button of document.querySelectorAll("button[data-copy]")) {
  const source = document.getElementById(button.dataset.copy);
  if (!source || !navigator.clipboard) continue;
  button.hidden = false;
  const label = button.textContent;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(source.textContent.trim());
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = label; }, 2000);
  });
}
