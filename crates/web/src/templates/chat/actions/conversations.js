
// What the user does with conversations: renaming, pinning, sharing, exporting and deleting them.

// Replaces a row of the list by a form for the title.
function showRenameForm(id, title, row) {
  const field = createElement("input", { "aria-label": t("title"), maxlength: "200", value: title, dir: "auto" });
  const form = createElement("form", { class: "rename", submit: (event) => { event.preventDefault(); save(); } },
    field, createElement("button", { type: "submit" }, t("save")),
    createElement("button", { type: "button", class: "quiet", click: close }, t("cancel")));
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    close();
  });
  row.replaceChildren(form);
  field.select();

  function close() {
    form.remove();
    chat.loadConversations().then(() => chat.focusConversation(id));
  }
  async function save() {
    if (!field.value.trim()) {
      setAlert("conversations-alert", t("title-empty"));
      field.focus();
      return;
    }
    try {
      await callApi(`/conversations/${id}`, jsonOptions("PATCH", { title: field.value }));
      close();
    } catch (error) {
      // The form stays open, so that the user can correct the title.
      setAlert("conversations-alert", t("not-renamed", { reason: errorMessage(error) }));
      field.focus();
    }
  }
}

async function pinConversation(id, pinned) {
  try {
    await callApi(`/conversations/${id}`, jsonOptions("PATCH", { pinned }));
    await chat.loadConversations();
    chat.focusConversation(id);
  } catch (error) {
    setAlert("conversations-alert", errorMessage(error));
  }
}

// Saves a conversation as a Markdown file.
async function exportConversation(id, title) {
  try {
    const conversation = await chat.fetchConversation(id);
    const href = URL.createObjectURL(new Blob([toMarkdown(title, conversation)], { type: "text/markdown" }));
    createElement("a", { href, download: `${title.replace(/[\\/:*?\x22<>|.]+/g, " ").trim() || t("conversation")}.md` }).click();
    setTimeout(() => URL.revokeObjectURL(href), 60000);
  } catch (error) {
    setAlert("conversations-alert", t("not-exported", { reason: errorMessage(error) }));
  }
}

async function deleteConversation(id, title) {
  const text = tNodes("conversation-delete-text", { title: createName(title) });
  if (!await confirmDeletion(t("conversation-delete"), text)) return;
  try {
    await callApi(`/conversations/${id}`, { method: "DELETE" });
  } catch (error) {
    // 404: the conversation is already deleted.
    if (error.status !== 404) {
      setAlert("conversations-alert", t("not-deleted", { reason: errorMessage(error) }));
      return;
    }
  }
  if (id === chat.conversationId) chat.startConversation();
  announce(t("deleted", { title }));
  await chat.loadConversations();
  byId("question").focus({ preventScroll: true });
}

const escapeMarkdown = (text) => text.replace(/[\\\x60*_<>[\]#|]/g, "\\$&");

// Writes the questions and answers of a conversation with the sources and their pages, without earlier versions.
function toMarkdown(title, { messages, owner }) {
  const shown = messages.filter(({ replaced, withheld }) => !replaced && !withheld);
  const parts = shown.map(({ role, content, complete, fallback_cause: fallback, sources = [], created_at: at }) => {
    if (role === "user") return `## ${escapeMarkdown(content).replace(/\s*\n\s*/g, " ")}\n\n*${new Date(at).toLocaleString(locale)}*`;
    const places = sources.map((source, index) => `${index + 1}. ${escapeMarkdown(`${source.title}, ${formatPages(source)}`)}`);
    const note = complete ? [] : [`*${t("answer-incomplete")}*`];
    const label = fallback ? [`*${fallbackText(fallback)}*`] : [];
    return [...label, content, ...note, ...(places.length ? [`**${t("sources")}**`, places.join("\n")] : [])].join("\n\n");
  });
  const by = owner ? [t("exported-shared-by", { owner: escapeMarkdown(owner) })] : [];
  const rest = messages.some(({ withheld }) => withheld) ? [`*${t("exported-withheld")}*`] : [];
  return `${[`# ${escapeMarkdown(title)}`, ...by, ...parts, ...rest].join("\n\n")}\n`;
}
