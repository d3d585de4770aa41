//! Every language has the same texts, every text that is used exists, and every text is used.

use super::script::next_call;
use super::*;
use crate::templates::tests::{files, folder};
use docent_domain::document::FailureCode;
use docent_domain::permission::{PermissionSet, RecordKind};
use docent_http::error::sentence;
use fluent_syntax::ast::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// Elements that texts can have.
const ELEMENTS: [&str; 5] = ["a", "b", "code", "kbd", "span"];

impl Language {
    /// Runs a function in this language.
    pub(crate) fn speak<R>(&'static self, run: impl FnOnce() -> R) -> R {
        CURRENT.sync_scope(Cell::new(self), run)
    }

    /// The messages with the names of their values and the tags of their elements.
    fn messages(&self) -> BTreeMap<String, (BTreeSet<String>, Vec<String>)> {
        let mut found = BTreeMap::new();
        for entry in self.files.iter().flat_map(|file| file.entries()) {
            match entry {
                Entry::Message(message) => {
                    let parsed = format!("{message:?}");
                    let values = after_each(&parsed, "VariableReference { id: Identifier { name: \"", "\"");
                    let tags = after_each(&parsed, "<", ">").into_iter().collect();
                    let known = found.insert(message.id.name.to_owned(), (values, tags));
                    assert!(known.is_none(), "{}: {} is there twice", self.code, message.id.name);
                }
                Entry::Comment(_) | Entry::GroupComment(_) | Entry::ResourceComment(_) => {}
                other => panic!("{}: {other:?}", self.code),
            }
        }
        found
    }
}

/// What is between each `start` and the next `end`.
fn after_each(text: &str, start: &str, end: &str) -> BTreeSet<String> {
    let found = text.split(start).skip(1).filter_map(|rest| Some(rest.split_once(end)?.0.to_owned()));
    found.collect()
}

fn english() -> BTreeMap<String, (BTreeSet<String>, Vec<String>)> {
    default().messages()
}

// Invariant: Every language has the same texts, and every text is used.
#[test]
fn languages_have_the_same_texts_with_the_same_values_and_elements() {
    assert!(all().iter().any(|language| language.code() == DEFAULT));
    for (code, texts) in LOCALES {
        let _: FluentBundle<FluentResource> =
            FluentBundle::new_concurrent(vec![code.parse().expect("a language")]);
        for text in *texts {
            let read = FluentResource::try_new((*text).to_owned());
            assert!(read.is_ok(), "{code}: {:?}", read.map_err(|(_, errors)| errors).err());
        }
    }
    let english = english();
    for language in all() {
        let messages = language.messages();
        let missing: Vec<_> = english.keys().filter(|key| !messages.contains_key(*key)).collect();
        let unknown: Vec<_> = messages.keys().filter(|key| !english.contains_key(*key)).collect();
        assert_eq!((missing, unknown), (vec![], vec![]), "{}: missing and unknown texts", language.code());
        for (key, used) in messages {
            assert_eq!(Some(&used), english.get(&key), "{}: {key}", language.code());
            for tag in used.1 {
                assert!(ELEMENTS.contains(&tag.trim_start_matches('/')), "{key}: <{tag}>");
            }
        }
    }
}

/// The files of the crate whose names end so, with their contents, without tests.
fn sources(end: &str) -> Vec<(String, String)> {
    let root = folder("");
    let paths = files(&root, "", end).into_iter().filter(|path| !path.ends_with("tests.rs"));
    paths
        .map(|path| (path.clone(), fs::read_to_string(root.join(&path)).expect("the file is readable")))
        .collect()
}

/// Keys of the texts that scripts use.
fn keys_of_scripts() -> BTreeMap<String, String> {
    let english = english();
    let mut keys = BTreeMap::new();
    for (path, script) in sources(".js") {
        let mut rest = script.as_str();
        while let Some((_, key, after)) = next_call(rest) {
            let values = english.get(key).map(|(values, _)| values.clone()).unwrap_or_default();
            let given = after.split("})").next().unwrap_or_default();
            assert_eq!(after.starts_with(')'), values.is_empty(), "{path}: values of {key}");
            for value in values {
                assert!(given.contains(&value), "{path}: {key} has no {value}");
            }
            keys.insert(key.to_owned(), path.clone());
            rest = after;
        }
    }
    keys
}

// Invariant: Every language has the same texts, and every text is used.
#[test]
fn every_used_text_exists_and_every_text_is_used() {
    let english = english();
    let mut used = keys_of_scripts();
    let mut prefixes = Vec::new();
    for (path, text) in sources(".html") {
        for (start, is_html) in [(" t(key=\"", false), (" t_html(key=\"", true)] {
            for key in after_each(&text, start, "\"") {
                let has_elements = english.get(&key).is_some_and(|(_, tags)| !tags.is_empty());
                assert!(is_html || !has_elements, "{path}: {key} has elements and needs t_html");
                used.insert(key, path.clone());
            }
        }
    }
    for (path, code) in sources(".rs") {
        // Calls can be broken into lines.
        let code = code.split_whitespace().collect::<Vec<_>>().join(" ").replace("( ", "(");
        for (at, start) in code.match_indices("t!(\"") {
            let is_other_macro = code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
            if let (false, Some((key, _))) = (is_other_macro, code[at + start.len()..].split_once('"')) {
                used.insert(key.to_owned(), path.clone());
            }
        }
        used.extend(
            after_each(&code, ".text(\"language-", "\"")
                .into_iter()
                .map(|key| (format!("language-{key}"), path.clone())),
        );
        prefixes.extend(after_each(&code, "named(\"", "\""));
    }
    used.remove("key"); // of comments
    let missing: Vec<_> = used.iter().filter(|(key, _)| !english.contains_key(*key)).collect();
    let is_used =
        |key: &&String| used.contains_key(*key) || prefixes.iter().any(|prefix| key.starts_with(prefix));
    let unused: Vec<_> = english.keys().filter(|key| !is_used(key)).collect();
    assert_eq!((missing, unused), (vec![], vec![]), "missing and unused texts");
}

#[test]
fn scripts_have_the_texts_in_the_place_of_their_keys() {
    for language in all() {
        for key in keys_of_scripts().into_keys() {
            assert!(
                language.form(&key).is_some(),
                "{}: {key} is too complicated for a script",
                language.code()
            );
        }
    }
    let german = find("de").unwrap();
    let script = german
        .in_script("show(t(\"cancel\"), t(\"palette-count\", { count }), at(\"cancel\"), x.t(\"save\"), ...tNodes(\"save\"));");
    assert_eq!(
        script,
        "show(t(\"Abbrechen\"), t([\"count\",{\"0\":\"Keine Ergebnisse\",\"one\":\"{count} Ergebnis\",\"other\":\"{count} Ergebnisse\"}], \
         { count }), at(\"cancel\"), x.t(\"save\"), ...tNodes(\"Speichern\"));"
    );
}

#[test]
fn stylesheets_have_no_texts() {
    for (path, style) in sources(".css") {
        let texts = after_each(&style, "content: \"", "\"");
        assert!(texts.iter().all(|text| !text.contains(char::is_alphabetic)), "{path}: {texts:?}");
    }
}

#[test]
fn english_texts_of_failures_are_those_of_the_api() {
    for code in FailureCode::ALL {
        let english = ["failure-", "advice-"].map(|prefix| named(prefix, code.as_str()));
        assert_eq!(english, [code.sentence(), code.advice()]);
    }
}

#[test]
fn english_texts_of_components_faults_and_rules_are_those_of_the_api() {
    for component in Component::ALL {
        assert_eq!(component_name(component), sentence(component.name()));
        for kind in FaultKind::ALL {
            let fault = Fault::new(component, kind, "DOCENT_X is not set");
            assert_eq!(fault_sentence(&fault), sentence(&fault.public_message()));
        }
        for cause in FaultCause::ALL {
            let fault = Fault::new(component, FaultKind::Unavailable, "x").with_known_cause(cause);
            assert_eq!(fault_sentence(&fault), sentence(&fault.public_message()));
        }
    }
    let missing = MissingAccess { is_superuser: true, permissions: PermissionSet::all(), has_roles: true };
    let rules = [
        Rule::NotEmpty,
        Rule::MinCharacters(2),
        Rule::MaxCharacters(2),
        Rule::MaxBytes(2),
        Rule::NoControlCharacters,
        Rule::NoDirectionCharacters,
        Rule::NoAddress,
        Rule::EmailAddress,
        Rule::LineWithoutAddress(2),
        Rule::OtherAddress,
        Rule::NotCommon,
        Rule::NotLikeAddress,
        Rule::Scopes,
        Rule::Future,
        Rule::UnknownGroup,
        Rule::SuperuserOnly,
        Rule::GroupAccess(missing),
        Rule::OwnPermissions,
        Rule::OtherAccess(missing),
        Rule::DataAccess(missing),
        Rule::AccountAccess(missing),
        Rule::OwnAccess,
        Rule::Exists,
        Rule::NotDeactivated,
        Rule::ActiveAccount,
        Rule::OwnerManages,
        Rule::MaxMembers(2),
        Rule::MaxCount(2),
        Rule::AttributeKey(2),
        Rule::AttributeMaxCharacters(2),
        Rule::AttributeNoControlCharacters,
        Rule::AttributeFinite,
        Rule::AttributeNotBuiltIn("title"),
        Rule::Processed,
        Rule::InCollection,
        Rule::NotInCollection,
        Rule::InOtherCollection,
        Rule::InSomeCollection,
    ];
    for rule in rules {
        assert_eq!(reason(&ValidationError::of("field", rule)), rule.to_string());
    }
    for error in [
        Error::NotFound(RecordKind::Document),
        Error::Forbidden,
        Error::MissingAccess(missing),
        Error::NotFailed { state: "pending" },
    ] {
        assert_eq!(error_text(&error), Some(error.to_string()));
    }
}

#[test]
fn types_of_files_are_named_in_the_language_of_the_page() {
    for types in ["pdf", "pdf,txt", "all"] {
        let types = FileTypes::parse(types).unwrap();
        assert_eq!(file_types(types), types.to_string());
    }
    let german = find("de").unwrap();
    let types = FileTypes::parse("pdf,docx,txt").unwrap();
    assert_eq!(german.speak(|| file_types(types)), "PDF, DOCX und reiner Text");
}

#[test]
fn counts_have_the_separators_of_the_language() {
    assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    assert_eq!(t!("find-all", count = 12_345, kind = "Jobs"), "All 12,345 in Jobs");
    let german = find("de").unwrap();
    assert_eq!(german.speak(|| grouped(12_345)), "12.345");
    let text = german.speak(|| t!("find-all", count = 12_345, kind = "X"));
    assert!(text.contains("12.345"), "{text}");
}

#[test]
fn texts_have_the_plural_forms_of_their_language() {
    let german = find("de-AT").unwrap();
    assert_eq!(german.speak(|| t!("time-days-ago", count = 1)), "vor 1 Tag");
    assert_eq!(german.speak(|| t!("time-days-ago", count = 12)), "vor 12 Tagen");
    assert_eq!(t!("time-days-ago", count = 1), "1 day ago");
}

#[test]
fn labels_of_pages_are_in_the_language_of_the_page() {
    let german = find("de").expect("German");
    for (label, translated) in [
        ("Row 1", "Zeile 1"),
        ("Rows 1–4000", "Zeilen 1–4000"),
        ("Lines 302–453", "Zeilen 302–453"),
        ("Slide 3", "Folie 3"),
        ("Part 2", "Teil 2"),
        ("Message", "Nachricht"),
        ("Footnotes", "Fußnoten"),
        ("Rows 1–4 (part 2)", "Zeilen 1–4 (Teil 2)"),
        ("Setup › Network (part 12)", "Setup › Network (Teil 12)"),
    ] {
        assert_eq!(german.speak(|| place_label(label)), translated);
        assert_eq!(place_label(label), label);
    }
    for heading in
        ["Sales!A1:B9", "Part of a whole", "Slide", "Rows and lines", "Notes (part one)", "Parts 3", ""]
    {
        assert_eq!(german.speak(|| place_label(heading)), heading);
    }
}
