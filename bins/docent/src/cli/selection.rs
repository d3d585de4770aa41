//! Options that limit a request to some documents.

use clap::Args;
use docent_domain::id::{CollectionId, DocumentId};
use serde_json::{Value, json};
use std::convert::Infallible;
use std::str::FromStr;

/// Which documents a command is about; all that the account may read by default.
#[derive(Clone, Debug, Default, Args)]
pub struct SelectionArgs {
    /// Only the document with this ID; can be repeated.
    #[arg(long = "document", value_name = "ID")]
    pub documents: Vec<DocumentId>,
    /// Only documents of the collection with this ID or name; can be repeated.
    #[arg(long = "collection", value_name = "COLLECTION")]
    pub collections: Vec<CollectionArg>,
    /// Only documents whose attribute compares so, such as 'year>=2024', 'kind=lease' or 'final!=true'; can be repeated, then all
    /// must.
    #[arg(long = "where", value_name = "CONDITION")]
    pub conditions: Vec<ConditionArg>,
}

impl SelectionArgs {
    /// Adds the options, with the IDs of the collections, to the body of a request.
    pub fn add_to(&self, collections: &[CollectionId], body: &mut Value) {
        let texts = |ids: &mut dyn Iterator<Item = String>| ids.collect::<Vec<_>>();
        if !self.documents.is_empty() {
            body["document_ids"] = json!(texts(&mut self.documents.iter().map(ToString::to_string)));
        }
        if !collections.is_empty() {
            body["collection_ids"] = json!(texts(&mut collections.iter().map(ToString::to_string)));
        }
        if let Some(filter) = ConditionArg::all(&self.conditions) {
            body["filters"] = filter;
        }
    }
}

/// A collection, by its ID or by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CollectionArg {
    /// Its ID.
    Id(CollectionId),
    /// Its name, which must be the name of one collection only.
    Name(String),
}

impl FromStr for CollectionArg {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(text.parse().map_or_else(|_| Self::Name(text.to_owned()), Self::Id))
    }
}

/// A comparison of an attribute, as the API's filter.
#[derive(Clone, Debug, PartialEq)]
pub struct ConditionArg(Value);

impl ConditionArg {
    /// The API's filter for documents that meet all these conditions; none without conditions.
    pub fn all(conditions: &[Self]) -> Option<Value> {
        let filters: Vec<&Value> = conditions.iter().map(|Self(filter)| filter).collect();
        (!filters.is_empty()).then(|| json!({ "type": "and", "filters": filters }))
    }
}

/// An attribute and its value.
#[derive(Clone, Debug, PartialEq)]
pub struct AttributeArg {
    /// Key of the attribute.
    pub key: String,
    /// Its value: a boolean, a number or a string.
    pub value: Value,
}

impl FromStr for AttributeArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (key, value) = text.split_once('=').ok_or("is not KEY=VALUE")?;
        match key.trim() {
            "" => Err("has no key before `=`".to_owned()),
            key => Ok(Self { key: key.to_owned(), value: attribute_value(value.trim()) }),
        }
    }
}

/// A value as a boolean, a number, or else a string.
fn attribute_value(text: &str) -> Value {
    match text {
        "true" => json!(true),
        "false" => json!(false),
        text => match text.parse::<f64>() {
            Ok(number) if number.is_finite() => serde_json::from_str(text).unwrap_or(json!(number)),
            Ok(_) | Err(_) => json!(text),
        },
    }
}

/// Operators of [`ConditionArg`]; of two with the same beginning, the longer one first.
const OPERATORS: [(&str, &str); 6] =
    [(">=", "gte"), ("<=", "lte"), ("!=", "ne"), (">", "gt"), ("<", "lt"), ("=", "eq")];

impl FromStr for ConditionArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = OPERATORS.iter().filter_map(|(sign, name)| Some((text.find(sign)?, *sign, *name)));
        let Some((at, sign, name)) = found.min_by_key(|(at, sign, _)| (*at, std::cmp::Reverse(sign.len())))
        else {
            return Err("has no operator: =, !=, >, >=, < or <=".to_owned());
        };
        let (key, value) = (text[..at].trim(), text[at + sign.len()..].trim());
        if key.is_empty() {
            return Err("has no attribute before the operator".to_owned());
        }
        Ok(Self(json!({ "type": name, "key": key, "value": attribute_value(value) })))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_read_as_filters() {
        for (text, kind, key, value) in [
            ("year>=2024", "gte", "year", json!(2024)),
            ("year < 2024.5", "lt", "year", json!(2024.5)),
            ("kind = lease contract", "eq", "kind", json!("lease contract")),
            ("final!=true", "ne", "final", json!(true)),
            ("note=a>=b", "eq", "note", json!("a>=b")),
            ("empty=", "eq", "empty", json!("")),
            ("code=007", "eq", "code", json!(7.0)),
        ] {
            let filter = json!({ "type": kind, "key": key, "value": value });
            assert_eq!(text.parse(), Ok(ConditionArg(filter)), "{text}");
        }
        assert!("year".parse::<ConditionArg>().is_err() && "=1".parse::<ConditionArg>().is_err());
    }

    #[test]
    fn attributes_have_a_key_and_a_value() {
        let parse = |text: &str| text.parse::<AttributeArg>().map(|AttributeArg { key, value }| (key, value));
        assert_eq!(parse("year=2025"), Ok(("year".to_owned(), json!(2025))));
        assert_eq!(parse("note = a=b "), Ok(("note".to_owned(), json!("a=b"))));
        assert!(parse("year").is_err() && parse("=1").is_err());
    }

    #[test]
    fn options_become_fields_of_the_request() {
        let mut body = json!({ "query": "q" });
        SelectionArgs::default().add_to(&[], &mut body);
        assert_eq!(body, json!({ "query": "q" }));
        let args = SelectionArgs {
            conditions: vec!["a=1".parse().unwrap(), "b=c".parse().unwrap()],
            ..SelectionArgs::default()
        };
        args.add_to(&[CollectionId::EVERYONE], &mut body);
        assert_eq!(body["collection_ids"], json!(["00000000-0000-0000-0000-000000000001"]));
        assert_eq!(body["filters"]["filters"][1], json!({ "type": "eq", "key": "b", "value": "c" }));
    }

    #[test]
    fn collections_are_named_by_id_or_name() {
        let id = "00000000-0000-0000-0000-000000000001";
        assert_eq!(id.parse(), Ok(CollectionArg::Id(CollectionId::EVERYONE)));
        assert_eq!("Legal 2".parse(), Ok(CollectionArg::Name("Legal 2".to_owned())));
    }
}
