//! Every template is rendered with sample values. Undefined variables and unescaped text fail the tests.

use super::{InLayout, Page, SHARED, Template};
use crate::language;
use docent_testkit::html::texts;
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use tera::{Context, Kwargs, State, Tera, TeraResult};

/// Values with which the tests render a page or a layout. The samples together show its variants.
pub(crate) trait Samples: Sized {
    fn samples() -> Vec<Self>;
}

impl<L: Samples, P: Samples> Samples for InLayout<L, P> {
    /// Each page in each layout.
    fn samples() -> Vec<Self> {
        let layouts = 0..L::samples().len();
        let in_layout = |n| L::samples().remove(n);
        layouts
            .flat_map(|n| P::samples().into_iter().map(move |page| Self { layout: in_layout(n), page }))
            .collect()
    }
}

/// Samples of a page as JSON.
pub(crate) fn samples<P: Page + Samples>() -> Vec<Value> {
    P::samples().iter().map(|page| serde_json::to_value(page).expect("pages are serializable")).collect()
}

fn all() -> impl Iterator<Item = &'static Template> {
    SHARED.iter().chain(crate::routes::templates())
}

/// Pages with each of their samples.
fn pages() -> impl Iterator<Item = (&'static Template, Value)> {
    all().flat_map(|template| (template.samples)().into_iter().map(move |sample| (template, sample)))
}

/// Compiles templates so that conditions fail on undefined fields, as output does. Tera treats them as false.
fn strict(templates: impl IntoIterator<Item = (&'static str, &'static str)>) -> Tera {
    let mut tera = super::functions::engine();
    let defined = |value: tera::Value, _: Kwargs, _: &State<'_>| -> TeraResult<tera::Value> {
        if value.is_undefined() {
            Err(tera::Error::message("undefined field in a condition"))
        } else {
            Ok(value)
        }
    };
    tera.register_filter("defined", defined);
    let templates = templates.into_iter().map(|(path, text)| (path, with_strict_conditions(text)));
    tera.add_raw_templates(templates).expect("templates compile");
    tera
}

fn strict_templates() -> Tera {
    strict(all().map(|template| (template.path, template.text)))
}

fn with_strict_conditions(text: &str) -> String {
    let is_field = |word: &str| {
        word.contains('.') && word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_'))
    };
    let strict = |word: &str| if is_field(word) { format!("({word} | defined)") } else { word.to_owned() };
    let piece = |piece: &str| match piece.split_once("%}") {
        Some((tag, rest)) if tag.trim_start().starts_with("if ") || tag.trim_start().starts_with("elif ") => {
            let tag: Vec<_> = tag.split(' ').map(strict).collect();
            format!("{}%}}{rest}", tag.join(" "))
        }
        _ => piece.to_owned(),
    };
    text.split("{%").map(piece).collect::<Vec<_>>().join("{%")
}

#[test]
fn conditions_fail_on_undefined_fields() {
    let tera = strict([("page.html", "{% if not key.name or key.name == 1 %}{% endif %}")]);
    let render = |key: Value| {
        let values = Context::from_serialize(&json!({ "key": key })).expect("a map");
        tera.render("page.html", &values)
    };
    assert_eq!(render(json!({ "name": null })).expect("the field exists"), "");
    assert!(render(json!({ "title": null })).is_err());
}

/// Names that a template binds itself with `set` or `for`.
fn bound(text: &str) -> HashSet<&str> {
    let name = |tag: &'static str| text.split(tag).skip(1).filter_map(|rest| rest.split(' ').next());
    name("{% set ").chain(name("{% for ")).collect()
}

fn render(tera: &Tera, template: &Template, values: &Value) -> String {
    let values = Context::from_serialize(values).expect("pages are maps");
    tera.render(template.path, &values).unwrap_or_else(|error| panic!("{}: {error}", template.path))
}

// Invariant: Every value that a page template uses exists, and every text on a page is escaped.
#[test]
fn every_page_renders_its_samples_without_undefined_variables() {
    let tera = strict_templates();
    for (template, sample) in pages() {
        let used = tera.get_template_variables(template.path).expect("the template exists");
        let bound = bound(template.text);
        for name in used.into_iter().filter(|name| !bound.contains(name)) {
            assert!(sample.get(name).is_some(), "{}: no value {name}", template.path);
        }
        for language in language::all() {
            let html = language.speak(|| render(&tera, template, &sample));
            let is_page = html.contains(&format!("<html lang=\"{}\">", language.code()));
            assert!(is_page, "{}: no language", template.path);
            assert!(!html.contains("&lt;time"), "{}: a time in t() instead of t_html()", template.path);
        }
    }
}

/// A template without its tags for Tera.
fn without_tags(text: &str) -> String {
    let ends = [("{%", "%}"), ("{{", "}}"), ("{#", "#}")];
    ends.into_iter().fold(text.to_owned(), |text, (start, end)| {
        let mut pieces = text.split(start);
        let first = pieces.next().unwrap_or_default().to_owned();
        let after = |piece: &str| piece.split_once(end).map_or(String::new(), |(_, rest)| rest.to_owned());
        pieces.fold(first, |text, piece| text + &after(piece))
    })
}

#[test]
fn templates_have_no_texts_of_their_own() {
    assert_eq!(texts(&without_tags("<p title=\"Tip\">{% if a %}Text{% endif %}{{ b }}</p>")).len(), 2);
    for template in all() {
        let texts = texts(&without_tags(template.text));
        assert!(texts.is_empty(), "{}: use t(key=…) for {texts:?}", template.path);
        for literal in template.text.split("{% set ").skip(1).filter_map(|tag| tag.split("%}").next()) {
            let is_text = |literal: &str| literal.contains(' ') && literal.starts_with(char::is_uppercase);
            assert!(!literal.split('"').skip(1).step_by(2).any(is_text), "{}: {literal}", template.path);
        }
    }
}

/// Words that another language has too.
const SAME_WORDS: [&str; 14] = [
    "12 ms", "API", "Chat", "Code", "ID", "Name", "SHA-256", "Status", "Text", "Tokens", "URL", "Version",
    "Webhook", "Webhooks",
];

/// Strings of a value.
fn strings(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(string) => found.push(string.clone()),
        Value::Array(values) => values.iter().for_each(|value| strings(value, found)),
        Value::Object(values) => values.values().for_each(|value| strings(value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A page without the texts of its sample, to which its template adds nothing.
fn without_samples(text: &str, samples: &[String]) -> String {
    samples.iter().fold(text.to_owned(), |text, sample| text.replace(sample, ""))
}

#[test]
fn pages_have_no_english_texts_in_other_languages() {
    let tera = strict_templates();
    let mut same = BTreeSet::new();
    for (template, sample) in pages() {
        let mut samples = Vec::new();
        strings(&sample, &mut samples);
        let escaped = |sample: &String| {
            let mut escaped = Vec::new();
            tera::escape_html(sample, &mut escaped).expect("memory is writable");
            String::from_utf8(escaped).expect("the text is UTF-8")
        };
        let mut escaped: Vec<_> = samples.iter().map(escaped).filter(|sample| sample.len() > 2).collect();
        escaped.sort_by_key(|sample| std::cmp::Reverse(sample.len()));
        let english = texts(&render(&tera, template, &sample));
        for language in language::all().iter().filter(|language| !language.is_default()) {
            let other = language.speak(|| texts(&render(&tera, template, &sample)));
            let is_text = |text: &&String| {
                let rest = without_samples(text, &escaped);
                let rest = rest.trim_matches([' ', '·']);
                !samples.contains(text) && rest.contains(char::is_alphabetic) && !SAME_WORDS.contains(&rest)
            };
            let texts = english.intersection(&other).filter(is_text);
            same.extend(texts.map(|text| format!("{}: {}: {text}", language.code(), template.path)));
        }
    }
    assert!(same.is_empty(), "not translated:\n{}", same.into_iter().collect::<Vec<_>>().join("\n"));
}

// Invariant: Every value that a page template uses exists, and every text on a page is escaped.
#[test]
fn every_text_of_a_page_is_escaped() {
    const MARK: &str = "<mark a='\"&";
    let tera = strict_templates();
    for (template, mut sample) in pages() {
        mark(&mut sample, MARK);
        let html = render(&tera, template, &sample);
        assert!(!html.contains("<mark"), "{}: {html}", template.path);
        assert!(html.contains("&lt;mark"), "{}: no text is shown", template.path);
    }
}

/// Appends a text to every string.
fn mark(value: &mut Value, text: &str) {
    match value {
        Value::String(string) => string.push_str(text),
        Value::Array(values) => values.iter_mut().for_each(|value| mark(value, text)),
        Value::Object(values) => values.values_mut().for_each(|value| mark(value, text)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The service may be below a path of its host.
#[test]
fn scripts_name_paths_of_the_service_only_in_calls_that_add_the_base_path() {
    let folder = folder("templates");
    let mut paths = 0;
    for file in files(&folder, "", ".js") {
        let script = fs::read_to_string(folder.join(&file)).expect("the script is readable");
        let script: String = script.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        for quote in ["\"/", "`/", "'/"] {
            for (at, _) in script.match_indices(quote) {
                let (before, rest) = (&script[..at], &script[at + quote.len()..]);
                if rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '$') {
                    // The last is the end of a path in a selector.
                    let calls = [
                        "callApi(",
                        "changeCollection(",
                        "sendRequest(",
                        "serviceUrl(",
                        "const path = ",
                        "action$=",
                    ];
                    assert!(calls.iter().any(|call| before.ends_with(call)), "{file}: {quote}{rest:.40}");
                    paths += 1;
                }
            }
        }
        // A path that was built elsewhere.
        assert!(!script.contains("fetch(path"), "{file}");
    }
    assert!(paths > 20, "{paths}");
}

/// The base path is added to quoted attributes.
#[test]
fn urls_in_templates_are_quoted() {
    for template in all() {
        for attribute in ["href=", "src=", "action="] {
            for rest in template.text.split(attribute).skip(1) {
                assert!(rest.starts_with('"'), "{}: {attribute}{rest:.40}", template.path);
            }
        }
    }
}

/// A template without samples must be listed as shared, and be used.
#[test]
fn every_template_file_is_a_page_or_shared() {
    let mut listed: Vec<_> = all().map(|template| template.path.to_owned()).collect();
    listed.sort();
    assert_eq!(listed, files(&folder("templates"), "", ".html"));
    for template in all() {
        let is_shared = SHARED.iter().any(|shared| shared.path == template.path);
        assert_eq!((template.samples)().is_empty(), is_shared, "{}", template.path);
        let quoted = format!(" \"{}\" ", template.path);
        assert!(!is_shared || all().any(|user| user.text.contains(&quoted)), "{} is unused", template.path);
    }
}

/// A folder of the sources of this crate.
pub(crate) fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(name)
}

/// Paths of the files below a folder whose names end so, sorted.
pub(crate) fn files(folder: &Path, prefix: &str, end: &str) -> Vec<String> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).expect("the folder exists") {
        let entry = entry.expect("the folder is readable");
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            paths.extend(files(&entry.path(), &format!("{path}/"), end));
        } else if path.ends_with(end) {
            paths.push(path);
        }
    }
    paths.sort();
    paths
}

#[test]
fn counts_in_cells_have_separators() {
    // Formatted in Rust, since they have fractions or units.
    let formatted = [
        "size",
        "score",
        "body",
        "headings",
        "title",
        "lead",
        "dense",
        "constant",
        "weight",
        "probability",
        "value",
    ];
    for template in all() {
        for cell in template.text.split("<td class=\"number").skip(1) {
            let cell = cell.split("</td>").next().unwrap_or_default();
            let content = cell.split_once('>').map_or("", |(_, content)| content);
            for output in content.split("{{ ").skip(1).filter_map(|rest| Some(rest.split_once(" }}")?.0)) {
                let field = output.rsplit('.').next().unwrap_or_default();
                let is_formatted = output.ends_with("| count") || output.starts_with("t(key=");
                let is_address = output.ends_with(".id") || output.contains("query");
                assert!(
                    is_formatted || is_address || formatted.contains(&field),
                    "{}: {output} has no filter count",
                    template.path
                );
            }
        }
    }
}
