// Makes two panes of a `<fieldset data-picker>` of boxes: what can be chosen, and what is. The boxes stay what the
// form sends; each moves to the other pane when it is ticked or not.

for (const picker of document.querySelectorAll("fieldset[data-picker]")) {
  const kinds = [...picker.querySelectorAll(".kind")];
  if (kinds.length === 0) continue;

  const pane = (title) => {
    const element = document.createElement("div");
    const heading = document.createElement("p");
    element.className = "pane";
    element.setAttribute("role", "group");
    element.setAttribute("aria-label", title);
    heading.className = "help";
    element.append(heading);
    return { element, heading, title };
  };
  const available = pane("Available");
  const chosen = pane("Chosen");
  const panes = document.createElement("div");
  panes.className = "panes";
  panes.append(available.element, chosen.element);

  const filter = document.createElement("input");
  filter.type = "search";
  filter.placeholder = "Filter what is available";
  filter.setAttribute("aria-label", "Filter what is available");

  const places = kinds.map((kind) => {
    const twin = kind.cloneNode(true);
    twin.querySelector(".choices").replaceChildren();
    const labels = [...kind.querySelectorAll("label")];
    available.element.append(kind);
    chosen.element.append(twin);
    return { kind, twin, labels };
  });

  const arrange = () => {
    const wanted = filter.value.trim().toLowerCase();
    let count = 0;
    for (const { kind, twin, labels } of places) {
      const title = kind.querySelector("h3")?.textContent ?? "";
      for (const label of labels) {
        const isChosen = label.querySelector("input").checked;
        const text = `${title} ${label.textContent}`.toLowerCase();
        (isChosen ? twin : kind).querySelector(".choices").append(label);
        label.hidden = !isChosen && !text.includes(wanted);
        if (isChosen) count += 1;
      }
      kind.hidden = !labels.some((label) => kind.contains(label) && !label.hidden);
      twin.hidden = !labels.some((label) => twin.contains(label));
    }
    available.heading.textContent = available.title;
    chosen.heading.textContent = `${chosen.title}: ${count}`;
  };

  picker.append(filter, panes);
  filter.addEventListener("input", arrange);
  // Enter in the filter does not send the form.
  filter.addEventListener("keydown", (event) => { if (event.key === "Enter") event.preventDefault(); });
  picker.addEventListener("change", (event) => {
    if (event.target === filter) return;
    arrange();
    event.target.focus();
  });
  arrange();
}
