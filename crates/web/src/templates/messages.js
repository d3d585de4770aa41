// The messages of a conversation: answers with their Markdown, and tables of passages. Without scripts, they are plain text.

for (const plain of document.querySelectorAll("pre[data-markdown]")) {
  const answer = createElement("div", { class: "markdown" });
  showMarkdown(answer, plain.textContent);
  answer.setAttribute("dir", "auto");
  plain.replaceWith(answer);
}

for (const plain of document.querySelectorAll("pre[data-passage]")) {
  plain.replaceChildren(renderPassage(plain.textContent));
}
