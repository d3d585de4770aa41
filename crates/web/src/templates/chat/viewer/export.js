// A conversation as Markdown, which is needed as rarely as the viewer.

const escapeMarkdown = (text) => text.replace(/[\\\x60*_<>[\]#|]/g, "\\$&");

// Writes the questions and answers of a conversation with the sources and their pages, without earlier versions.
function toMarkdown(title, messages) {
  const parts = messages.filter(({ replaced }) => !replaced).map(({ role, content, complete, sources = [], created_at: at }) => {
    if (role === "user") return `## ${escapeMarkdown(content).replace(/\s*\n\s*/g, " ")}\n\n*${new Date(at).toLocaleString()}*`;
    const places = sources.map((source, index) => `${index + 1}. ${escapeMarkdown(`${source.title}, ${formatPages(source)}`)}`);
    const note = complete ? [] : ["*This answer is incomplete or was stopped.*"];
    return [content, ...note, ...(places.length ? ["**Sources**", places.join("\n")] : [])].join("\n\n");
  });
  return `${[`# ${escapeMarkdown(title)}`, ...parts].join("\n\n")}\n`;
}
