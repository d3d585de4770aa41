// Progressive enhancement of the panel, which works without scripts: theme, menu, bulk selection, copy buttons,
// ingestion progress and uploads.

for (const button of document.querySelectorAll("button[data-theme]")) {
  button.hidden = false;
  button.addEventListener("click", toggleTheme);
}

for (const choices of document.querySelectorAll("[data-themes]")) {
  choices.hidden = false;
  const showChosen = () => {
    for (const choice of choices.querySelectorAll("input")) choice.checked = choice.value === (root.dataset.theme ?? "system");
  };
  showChosen();
  choices.addEventListener("change", ({ target }) => chooseTheme(target.value));
  // The button at the top changes it too.
  new MutationObserver(showChosen).observe(root, { attributeFilter: ["data-theme"] });
}

// After another tab has signed out, this one shows the form to sign in.
document.addEventListener("visibilitychange", async () => {
  if (document.hidden || !document.querySelector("form[action$='/logout']")) return;
  const response = await fetch(serviceUrl("/chat/session"), { cache: "no-store" }).catch(() => null);
  if (response?.ok && !(await response.json()).account) location.replace(location.pathname + location.search);
});

// After a form was refused, its first wrong field comes into view.
document.querySelector("[aria-invalid=true]")?.focus();

const SENDING = 3000; // in milliseconds

// A second press before the response would do the same again.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented || form.method !== "post") return;
  if ("sending" in form.dataset) event.preventDefault();
  form.dataset.sending = "";
  setTimeout(() => { delete form.dataset.sending; }, SENDING);
});

// The menu is open on a wide screen and closed on a narrow one.
const menu = document.querySelector("details.side");
if (menu) {
  const narrowScreen = matchMedia("(max-width: 800px)");
  const updateMenu = () => { menu.open = !narrowScreen.matches; };
  updateMenu();
  narrowScreen.addEventListener("change", updateMenu);
}

// `<form data-bulk>` contains a table with checkboxes and an action bar that is shown while rows are selected.
function enhanceBulk(form) {
  const checkboxes = [...form.querySelectorAll("tbody input[type=checkbox]")];
  const selectAll = form.querySelector("thead input[type=checkbox]");
  const bar = form.querySelector("[data-bulk-bar]");
  const count = form.querySelector("[data-bulk-count]");
  const update = () => {
    const selected = checkboxes.filter((checkbox) => checkbox.checked).length;
    if (bar) bar.classList.toggle("idle", selected === 0);
    if (count) count.textContent = t("bulk-selected", { count: selected });
    if (selectAll) {
      selectAll.checked = selected > 0 && selected === checkboxes.length;
      selectAll.indeterminate = selected > 0 && selected < checkboxes.length;
    }
  };
  if (selectAll) {
    selectAll.hidden = false;
    selectAll.addEventListener("change", () => {
      for (const checkbox of checkboxes) checkbox.checked = selectAll.checked;
      update();
    });
  }
  for (const checkbox of checkboxes) checkbox.addEventListener("change", update);
  update();
}

// `<button data-copy="ID" hidden>` copies the text of the element with this ID.
for (const button of document.querySelectorAll("button[data-copy]")) {
  const source = document.getElementById(button.dataset.copy);
  if (!source || !navigator.clipboard) continue;
  button.hidden = false;
  const label = button.textContent;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(source.textContent.trim());
    button.textContent = t("copied");
    setTimeout(() => { button.textContent = label; }, 2000);
  });
}

// `<code data-id="the ID" title="ID">` shows the end of a long ID; a button copies the whole ID.
function enhanceId(code) {
  const id = code.title || code.textContent.trim();
  const button = document.createElement("button");
  const label = t("copy-id", { id: code.dataset.id });
  const setButton = (icon, text) => {
    button.innerHTML = `<svg class="glyph" aria-hidden="true"><use href="#${icon}"/></svg>`;
    button.title = text;
    button.setAttribute("aria-label", text);
  };
  button.type = "button";
  button.className = "copy";
  setButton("copy", label);
  code.textContent = id.slice(-8);
  code.title = id;
  (code.closest("a") ?? code).after(button);
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(id);
    setButton("copied", t("copied"));
    setTimeout(() => setButton("copy", label), 2000);
  });
}

// Adds what scripts add to a part of a page.
function enhance(part) {
  for (const form of part.querySelectorAll("form[data-bulk]")) enhanceBulk(form);
  if (!navigator.clipboard) return;
  for (const code of part.querySelectorAll("code[data-id]")) enhanceId(code);
}

enhance(document);

// Polls a document's page with increasing delays until its ingestion has ended. `onStages` receives the list of stages.
// `onEnd` receives the last page, or nothing if it could not be loaded.
function pollIngestion(url, onStages, onEnd) {
  let delay = 1000;
  const poll = async () => {
    if (document.hidden) return schedule();
    let page;
    try {
      const response = await fetch(url, { redirect: "error" });
      if (!response.ok) return onEnd();
      page = new DOMParser().parseFromString(await response.text(), "text/html");
    } catch {
      return schedule();
    }
    const stages = page.querySelector("[data-progress] .stages");
    if (!stages) return onEnd(page);
    onStages(stages);
    schedule();
  };
  const schedule = () => {
    setTimeout(poll, delay);
    delay = Math.min(delay * 1.2, 15000);
  };
  poll();
}

// Updates a list of stages only if it has changed, because screen readers announce every update.
function updateStages(shown, latest) {
  if (shown.innerHTML !== latest.innerHTML) shown.innerHTML = latest.innerHTML;
}

const pageStages = document.querySelector("[data-progress] .stages");
if (pageStages) {
  const reload = (page) => { if (page) location.reload(); };
  pollIngestion(location.href, (stages) => updateStages(pageStages, stages), reload);
}

// `<form data-upload>` uploads its files one after the other and shows the progress of each. It accepts dropped files.
for (const form of document.querySelectorAll("form[data-upload]")) {
  const list = document.querySelector("[data-upload-list]");
  const dropZone = form.querySelector("[data-drop]");
  const input = form.querySelector("input[type=file]");
  const hint = form.querySelector("[data-drop-hint]");
  const hasLinks = "uploadLinks" in list.dataset;
  if (hint) hint.hidden = false;

  // Shows the stages of a document's ingestion, and its status after the last one.
  const showIngestion = (link, line) => {
    let shown;
    pollIngestion(link.href, (stages) => {
      if (shown) return updateStages(shown, stages);
      shown = document.importNode(stages, true);
      line.replaceChildren(link, shown);
    }, (page) => {
      const status = page?.querySelector("[data-status]");
      if (!status) return;
      const reason = page.querySelector("[data-reason]");
      line.replaceChildren(link, " ", document.importNode(status, true));
      if (reason) line.append(` ${reason.textContent}`);
    });
  };

  // Uploads a file with XMLHttpRequest, because `fetch` does not report the progress of an upload.
  const uploadFile = (file, line) => new Promise((resolve) => {
    const progress = document.createElement("progress");
    progress.max = 1;
    progress.value = 0;
    progress.setAttribute("aria-label", t("upload-progress", { name: file.name }));
    line.replaceChildren(`${file.name} `, progress);
    const fail = (reason) => {
      line.className = "reason";
      line.replaceChildren(t("upload-failed", { name: file.name, reason }));
      resolve();
    };
    const request = new XMLHttpRequest();
    request.open("POST", form.action);
    request.setRequestHeader("Accept", "application/json");
    request.responseType = "json";
    request.upload.addEventListener("progress", (event) => {
      if (event.lengthComputable) progress.value = event.loaded / event.total;
    });
    request.addEventListener("error", () => fail(t("upload-connection-lost")));
    request.addEventListener("load", () => {
      const outcome = request.response;
      const uploaded = outcome?.uploaded?.[0];
      if (!uploaded) {
        const unexpected = t("upload-unexpected", { status: String(request.status) });
        fail(outcome?.refused?.[0]?.reason ?? unexpected);
        return;
      }
      const name = document.createElement(hasLinks ? "a" : "span");
      if (hasLinks) name.href = serviceUrl(`/admin/documents/${uploaded.id}`);
      name.textContent = uploaded.title;
      line.replaceChildren(...tNodes("upload-done", { name }));
      if (hasLinks) showIngestion(name, line);
      resolve();
    });
    // The token and the collection come first: the server checks them before it reads any file.
    const body = new FormData();
    body.append("form_token", form.elements.form_token.value);
    body.append("collection", form.elements.collection.value);
    body.append("file", file);
    request.send(body);
  });

  let queue = Promise.resolve();
  const enqueue = (files) => {
    for (const file of files) {
      const line = document.createElement("li");
      line.textContent = t("upload-waiting", { name: file.name });
      list.append(line);
      queue = queue.then(() => uploadFile(file, line));
    }
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    enqueue(input.files);
    input.value = "";
  });
  if (dropZone) {
    const highlight = (isOver) => dropZone.classList.toggle("over", isOver);
    dropZone.addEventListener("dragover", (event) => { event.preventDefault(); highlight(true); });
    dropZone.addEventListener("dragleave", () => highlight(false));
    dropZone.addEventListener("drop", (event) => {
      event.preventDefault();
      highlight(false);
      enqueue(event.dataTransfer.files);
    });
  }
}
