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

// `<code data-id="the ID" title="ID">` shows the end of a long id, and a button copies all of it.
for (const code of document.querySelectorAll("code[data-id]")) {
  if (!navigator.clipboard) break;
  const whole = code.title || code.textContent.trim();
  const button = document.createElement("button");
  const label = `Copy ${code.dataset.id}`;
  const draw = (icon, text) => {
    button.innerHTML = `<svg class="glyph" aria-hidden="true"><use href="#${icon}"/></svg>`;
    button.title = text;
    button.setAttribute("aria-label", text);
  };
  button.type = "button";
  button.className = "copy";
  draw("copy", label);
  code.textContent = whole.slice(-8);
  code.title = whole;
  (code.closest("a") ?? code).after(button);
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(whole);
    draw("copied", "Copied");
    setTimeout(() => draw("copy", label), 2000);
  });
}

// Looks at a document's page again and again, ever more slowly, until its ingestion has ended. `show` gets what the page
// says of the steps, and `end` the page itself, or nothing when it cannot be had.
function follow(address, show, end) {
  let pause = 1000;
  const look = async () => {
    if (document.hidden) return again();
    let page;
    try {
      const answer = await fetch(address, { redirect: "error" });
      if (!answer.ok) return end();
      page = new DOMParser().parseFromString(await answer.text(), "text/html");
    } catch {
      return again();
    }
    const steps = page.querySelector("[data-progress] .stages");
    if (!steps) return end(page);
    show(steps);
    again();
  };
  const again = () => {
    setTimeout(look, pause);
    pause = Math.min(pause * 1.2, 15000);
  };
  look();
}

// Puts steps in the place of others, unless they say the same: what did not change is not announced.
function advance(from, to) {
  if (from.innerHTML !== to.innerHTML) from.innerHTML = to.innerHTML;
}

const progress = document.querySelector("[data-progress] .stages");
if (progress) follow(location.href, (steps) => advance(progress, steps), (page) => { if (page) location.reload(); });

// `<form data-upload>` sends its files one after the other and shows how far each has come; files can be dropped.
for (const form of document.querySelectorAll("form[data-upload]")) {
  const list = document.querySelector("[data-upload-list]");
  const drop = form.querySelector("[data-drop]");
  const input = form.querySelector("input[type=file]");
  const hint = form.querySelector("[data-drop-hint]");
  const hasLinks = "uploadLinks" in list.dataset;
  if (hint) hint.hidden = false;

  // Says below a file's name how far its ingestion has come, and in the end what came of it.
  const watch = (name, line) => {
    let steps;
    follow(name.href, (now) => {
      if (steps) return advance(steps, now);
      steps = document.importNode(now, true);
      line.replaceChildren(name, steps);
    }, (page) => {
      const status = page?.querySelector("[data-status]");
      if (!status) return;
      const reason = page.querySelector("[data-reason]");
      line.replaceChildren(name, " ", document.importNode(status, true));
      if (reason) line.append(` ${reason.textContent}`);
    });
  };

  const send = (file, line) => new Promise((resolve) => {
    const bar = document.createElement("progress");
    bar.max = 1;
    bar.value = 0;
    bar.setAttribute("aria-label", `Uploading ${file.name}`);
    line.replaceChildren(`${file.name} `, bar);
    const end = (text) => {
      line.className = "reason";
      line.replaceChildren(`${file.name}: ${text}`);
      resolve();
    };
    const request = new XMLHttpRequest();
    request.open("POST", form.action);
    request.setRequestHeader("Accept", "application/json");
    request.responseType = "json";
    request.upload.addEventListener("progress", (event) => {
      if (event.lengthComputable) bar.value = event.loaded / event.total;
    });
    request.addEventListener("error", () => end("not uploaded, since the connection was lost. Try it again."));
    request.addEventListener("load", () => {
      const answer = request.response;
      const done = answer?.uploaded?.[0];
      if (!done) {
        const reason = answer?.refused?.[0]?.reason ?? `the server answered ${request.status}. Load this page anew`;
        end(`not uploaded: ${reason}.`);
        return;
      }
      const name = document.createElement(hasLinks ? "a" : "span");
      if (hasLinks) name.href = `/admin/documents/${done.id}`;
      name.textContent = done.title;
      line.replaceChildren(name, ": uploaded, processing.");
      if (hasLinks) watch(name, line);
      resolve();
    });
    // The token comes first: the server reads it before any file.
    const body = new FormData();
    body.append("form_token", form.elements.form_token.value);
    body.append("file", file);
    request.send(body);
  });

  let queue = Promise.resolve();
  const take = (files) => {
    for (const file of files) {
      const line = document.createElement("li");
      line.textContent = `${file.name}: waiting`;
      list.append(line);
      queue = queue.then(() => send(file, line));
    }
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    take(input.files);
    form.reset();
  });
  if (drop) {
    const mark = (isOver) => drop.classList.toggle("over", isOver);
    drop.addEventListener("dragover", (event) => { event.preventDefault(); mark(true); });
    drop.addEventListener("dragleave", () => mark(false));
    drop.addEventListener("drop", (event) => {
      event.preventDefault();
      mark(false);
      take(event.dataTransfer.files);
    });
  }
}
