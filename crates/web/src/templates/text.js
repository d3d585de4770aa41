// Texts in the language of the page. The service puts each text in the place of its key, so that scripts contain only
// those of one language.

const pageLanguage = document.documentElement.lang;
// The user's variant of the language, such as en-GB, for dates and numbers.
const locale = navigator.languages.find((tag) => tag.split("-")[0] === pageLanguage) ?? pageLanguage;
const plurals = new Intl.PluralRules(pageLanguage);
const numbers = new Intl.NumberFormat(locale, { useGrouping: "min2" });

// Returns a text with its values.
function t(text, values = {}) {
  return tNodes(text, values).join("");
}

// Returns a text in pieces, since its values can be elements. A text with several forms is a list: the name of the value that
// decides, and the forms by their plural category or value.
function tNodes(text, values) {
  const [name, forms] = Array.isArray(text) ? text : ["", { other: text }];
  const form = forms[values[name]] ?? forms[plurals.select(values[name])] ?? forms.other;
  const format = (value) => (typeof value === "number" ? numbers.format(value) : value);
  return form.split(/\{(\w+)\}/).map((part, index) => (index % 2 ? format(values[part]) : part));
}

