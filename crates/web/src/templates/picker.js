// Splits the checkboxes of a `<fieldset data-picker>` into two panes: available and selected options. A checkbox moves
// to the other pane when it changes. The form still submits the same checkboxes.

for (const picker of document.querySelectorAll("fieldset[data-picker]")) {
  const groups = [...picker.querySelectorAll(".kind")];
  if (groups.length === 0) continue;

  const createPane = (title) => {
    const element = document.createElement("div");
    const heading = document.createElement("p");
    element.className = "pane";
    element.setAttribute("role", "group");
    element.setAttribute("aria-label", title);
    heading.className = "help";
    element.append(heading);
    return { element, heading, title };
  };
  const available = createPane(t("picker-available"));
  const selected = createPane(t("picker-selected"));
  const panes = document.createElement("div");
  panes.className = "panes";
  panes.append(available.element, selected.element);

  const filter = document.createElement("input");
  filter.type = "search";
  filter.placeholder = t("picker-filter");
  filter.setAttribute("aria-label", t("picker-filter"));

  // Each group exists in both panes.
  const pairs = groups.map((availableGroup) => {
    const selectedGroup = availableGroup.cloneNode(true);
    selectedGroup.querySelector(".choices").replaceChildren();
    const labels = [...availableGroup.querySelectorAll("label")];
    available.element.append(availableGroup);
    selected.element.append(selectedGroup);
    return { availableGroup, selectedGroup, labels };
  });

  const update = () => {
    const query = filter.value.trim().toLowerCase();
    let count = 0;
    for (const { availableGroup, selectedGroup, labels } of pairs) {
      const title = availableGroup.querySelector("h3")?.textContent ?? "";
      for (const label of labels) {
        const isSelected = label.querySelector("input").checked;
        const text = `${title} ${label.textContent}`.toLowerCase();
        (isSelected ? selectedGroup : availableGroup).querySelector(".choices").append(label);
        label.hidden = !isSelected && !text.includes(query);
        if (isSelected) count += 1;
      }
      availableGroup.hidden = !labels.some((label) => availableGroup.contains(label) && !label.hidden);
      selectedGroup.hidden = !labels.some((label) => selectedGroup.contains(label));
    }
    available.heading.textContent = available.title;
    selected.heading.textContent = `${selected.title}: ${count}`;
  };

  picker.append(filter, panes);
  filter.addEventListener("input", update);
  // Enter in the filter must not submit the form.
  filter.addEventListener("keydown", (event) => { if (event.key === "Enter") event.preventDefault(); });
  picker.addEventListener("change", (event) => {
    if (event.target === filter) return;
    update();
    // Moving a checkbox removes its focus.
    event.target.focus();
  });
  update();
}
