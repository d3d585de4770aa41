//! Texts of scripts. A script is sent with the texts in the place of their keys, so that it needs no list of texts, and says nothing twice.

use super::{Language, all, default};
use crate::asset::{Asset, JAVASCRIPT};
use fluent_syntax::ast::{Entry, Expression, InlineExpression, Pattern, PatternElement, VariantKey};
use serde_json::{Map, Value, json};

/// A script in every language.
pub(crate) struct Script(Vec<(&'static str, Asset)>);

impl Script {
    pub(crate) fn new(source: &str) -> Self {
        let asset = |language: &Language| Asset::new(JAVASCRIPT, language.in_script(source));
        Self(all().iter().map(|language| (language.code(), asset(language))).collect())
    }

    /// The script in the language with this code, which is a part of its address, since it is cached; or else in the default.
    pub(crate) fn asset(&'static self, code: Option<&str>) -> &'static Asset {
        let of = |code: &str| self.0.iter().find(|(other, _)| *other == code);
        &code.and_then(of).or_else(|| of(default().code())).unwrap_or(&self.0[0]).1
    }
}

/// A call of a script that takes a text: what is before the key, the key, and what is after it.
pub(super) fn next_call(script: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    while let Some(at) = script[from..].find("(\"").map(|at| from + at) {
        let name = script[..at].rsplit(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
        let object = &script[..at - name.len()];
        let is_method = object.ends_with('.') && !object.ends_with("...");
        let (before, rest) = script.split_at(at + 1);
        if matches!(name, "t" | "tNodes")
            && !is_method
            && let Some((key, after)) = rest[1..].split_once('"')
        {
            return Some((before, key, after));
        }
        from = at + 1;
    }
    None
}

impl Language {
    /// A script with the texts of this language.
    pub(super) fn in_script(&self, source: &str) -> String {
        let (mut script, mut rest) = (String::new(), source);
        while let Some((before, key, after)) = next_call(rest) {
            let text = self.form(key);
            debug_assert!(text.is_some(), "{key} cannot be a text of a script");
            script.push_str(before);
            script.push_str(&text.unwrap_or_else(|| json!(key)).to_string());
            rest = after;
        }
        script + rest
    }

    /// A message as scripts format it: a text with names in braces for values, or for several forms the name of the value that decides,
    /// and the texts by its plural categories. None for messages that have more than that.
    pub(super) fn form(&self, key: &str) -> Option<Value> {
        let entries = self.files.iter().flat_map(|file| file.entries());
        let pattern = entries.filter_map(|entry| match entry {
            Entry::Message(message) if message.id.name == key => message.value.as_ref(),
            _ => None,
        });
        let pattern = pattern.last()?;
        let select = pattern.elements.iter().position(|element| plain(element).is_none());
        let Some(at) = select else { return Some(json!(joined(&pattern.elements)?)) };
        let PatternElement::Placeable { expression: Expression::Select { selector, variants } } =
            &pattern.elements[at]
        else {
            return None;
        };
        let InlineExpression::VariableReference { id } = selector else { return None };
        let (before, after) = (joined(&pattern.elements[..at])?, joined(&pattern.elements[at + 1..])?);
        let form = |(key, value): (&VariantKey<&str>, &Pattern<&str>)| {
            let (VariantKey::Identifier { name } | VariantKey::NumberLiteral { value: name }) = key;
            Some(((*name).to_owned(), json!(format!("{before}{}{after}", joined(&value.elements)?))))
        };
        let forms: Map<_, _> =
            variants.iter().map(|variant| form((&variant.key, &variant.value))).collect::<Option<_>>()?;
        forms.contains_key("other").then(|| json!([id.name, forms]))
    }
}

fn joined(elements: &[PatternElement<&str>]) -> Option<String> {
    elements.iter().map(plain).collect()
}

/// A text, or the name of a value in braces.
fn plain(element: &PatternElement<&str>) -> Option<String> {
    match element {
        PatternElement::TextElement { value } => Some((*value).to_owned()),
        PatternElement::Placeable {
            expression: Expression::Inline(InlineExpression::VariableReference { id }),
        } => Some(format!("{{{}}}", id.name)),
        PatternElement::Placeable { .. } => None,
    }
}
