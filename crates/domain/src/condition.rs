//! Conditions on the attributes of documents, with the grammar of the OpenAI API's vector store filters.

use crate::attributes::{AttributeKey, AttributeValue, BuiltIn};
use crate::error::ValidationError;
use crate::id::CollectionId;
use crate::labels::DocumentLabels;
use crate::scope::Scope;

/// Maximum depth of nested conditions.
pub const CONDITION_DEPTH_MAX: usize = 8;
/// Maximum number of comparisons in one condition, counting each value of `in` and `nin`.
pub const COMPARISONS_MAX: usize = 200;

/// A condition that a document meets or not.
///
/// A document without the attribute meets only `ne` and `nin`. Values of different types are never equal.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// `eq` (`is_negated`: `ne`), or `in` (`nin`): one of the attribute's values is one of these.
    OneOf {
        /// Key of the attribute.
        key: AttributeKey,
        /// Values to find.
        values: Vec<AttributeValue>,
        /// Whether none must be found.
        is_negated: bool,
    },
    /// `gt`, `gte`, `lt` or `lte`: the attribute is a number that compares so.
    Number {
        /// Key of the attribute.
        key: AttributeKey,
        /// How it compares.
        order: NumberOrder,
        /// Number to compare with.
        number: f64,
    },
    /// All of these; true if there are none.
    And(Vec<Condition>),
    /// At least one of these; false if there are none.
    Or(Vec<Condition>),
}

/// How an attribute compares with a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberOrder {
    /// Greater.
    Greater,
    /// Greater or equal.
    GreaterOrEqual,
    /// Less.
    Less,
    /// Less or equal.
    LessOrEqual,
}

impl NumberOrder {
    /// Whether `a` compares so with `b`.
    pub fn holds(self, a: f64, b: f64) -> bool {
        match self {
            Self::Greater => a > b,
            Self::GreaterOrEqual => a >= b,
            Self::Less => a < b,
            Self::LessOrEqual => a <= b,
        }
    }
}

/// The operator of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// Equal to the value.
    Eq,
    /// Not equal to the value.
    Ne,
    /// One of the values.
    In,
    /// None of the values.
    Nin,
    /// Compares with the number.
    Number(NumberOrder),
}

impl Comparison {
    /// All operators with their names.
    pub const ALL: &[(&str, Self)] = &[
        ("eq", Self::Eq),
        ("ne", Self::Ne),
        ("gt", Self::Number(NumberOrder::Greater)),
        ("gte", Self::Number(NumberOrder::GreaterOrEqual)),
        ("lt", Self::Number(NumberOrder::Less)),
        ("lte", Self::Number(NumberOrder::LessOrEqual)),
        ("in", Self::In),
        ("nin", Self::Nin),
    ];

    /// Parses a name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, comparison)| *comparison)
    }
}

impl Condition {
    /// Creates a comparison of an attribute with values: one, except for [`Comparison::In`] and [`Comparison::Nin`].
    ///
    /// A time in RFC 3339 stands for its number of seconds if the attribute is [`BuiltIn::CreatedAt`].
    ///
    /// # Errors
    /// If the number of values is wrong, or a value cannot be compared so.
    pub fn compare(
        key: AttributeKey,
        comparison: Comparison,
        values: Vec<AttributeValue>,
    ) -> Result<Self, ValidationError> {
        let values = values.into_iter().map(|value| typed(&key, value)).collect::<Result<Vec<_>, _>>()?;
        let is_list = matches!(comparison, Comparison::In | Comparison::Nin);
        if !is_list && values.len() != 1 {
            return Err(invalid("must compare with one value, except with \"in\" and \"nin\""));
        }
        match (comparison, values.first()) {
            (Comparison::Number(order), Some(AttributeValue::Number(number))) => {
                Ok(Self::Number { key, order, number: *number })
            }
            (Comparison::Number(_), _) => {
                let times =
                    if key.built_in() == Some(BuiltIn::CreatedAt) { " and times in RFC 3339" } else { "" };
                Err(invalid(format!(
                    "can compare only numbers{times} with \"gt\", \"gte\", \"lt\" and \"lte\""
                )))
            }
            (Comparison::Eq | Comparison::In, _) => Ok(Self::OneOf { key, values, is_negated: false }),
            (Comparison::Ne | Comparison::Nin, _) => Ok(Self::OneOf { key, values, is_negated: true }),
        }
    }

    /// Checks that the condition is not larger than stores can evaluate.
    ///
    /// # Errors
    /// If it is nested deeper than [`CONDITION_DEPTH_MAX`] or has more than [`COMPARISONS_MAX`] comparisons.
    pub fn checked(self) -> Result<Self, ValidationError> {
        if self.depth() > CONDITION_DEPTH_MAX {
            return Err(invalid(format!("must not be nested deeper than {CONDITION_DEPTH_MAX} levels")));
        }
        if self.comparisons() > COMPARISONS_MAX {
            return Err(invalid(format!("must have at most {COMPARISONS_MAX} comparisons")));
        }
        Ok(self)
    }

    /// The condition for an actor with this scope. Collections outside the scope are compared as if no document were in them:
    /// otherwise it would show which hidden collections have a document.
    #[must_use]
    pub fn within(self, scope: &Scope) -> Self {
        let all = |conditions: Vec<Self>| conditions.into_iter().map(|of| of.within(scope)).collect();
        match self {
            Self::And(conditions) => Self::And(all(conditions)),
            Self::Or(conditions) => Self::Or(all(conditions)),
            Self::OneOf { key, mut values, is_negated } if key.built_in() == Some(BuiltIn::Collection) => {
                values.retain(|value| is_in_scope(value, scope));
                match (values.is_empty(), is_negated) {
                    (true, true) => Self::And(Vec::new()),
                    (true, false) => Self::Or(Vec::new()),
                    (false, _) => Self::OneOf { key, values, is_negated },
                }
            }
            other @ (Self::OneOf { .. } | Self::Number { .. }) => other,
        }
    }

    fn depth(&self) -> usize {
        match self {
            Self::OneOf { .. } | Self::Number { .. } => 1,
            Self::And(all) | Self::Or(all) => 1 + all.iter().map(Self::depth).max().unwrap_or(0),
        }
    }

    fn comparisons(&self) -> usize {
        match self {
            Self::OneOf { values, .. } => values.len().max(1),
            Self::Number { .. } => 1,
            Self::And(all) | Self::Or(all) => all.iter().map(Self::comparisons).sum(),
        }
    }

    /// Whether a document with these labels meets the condition.
    pub fn is_met_by(&self, labels: &DocumentLabels) -> bool {
        match self {
            Self::OneOf { key, values, is_negated } => {
                labels.values(key).iter().any(|value| values.contains(value)) != *is_negated
            }
            Self::Number { key, order, number } => labels
                .values(key)
                .iter()
                .any(|value| matches!(value, AttributeValue::Number(value) if order.holds(*value, *number))),
            Self::And(all) => all.iter().all(|condition| condition.is_met_by(labels)),
            Self::Or(all) => all.iter().any(|condition| condition.is_met_by(labels)),
        }
    }
}

/// Whether the value is the ID of a collection in the scope.
fn is_in_scope(value: &AttributeValue, scope: &Scope) -> bool {
    match value {
        AttributeValue::String(text) => {
            text.parse::<CollectionId>().is_ok_and(|id| scope.role_in(id).is_some())
        }
        AttributeValue::Number(_) | AttributeValue::Boolean(_) => false,
    }
}

/// The value in the type of a built-in attribute.
fn typed(key: &AttributeKey, value: AttributeValue) -> Result<AttributeValue, ValidationError> {
    match (key.built_in(), value) {
        (Some(BuiltIn::CreatedAt), AttributeValue::String(text)) => {
            let time = chrono::DateTime::parse_from_rfc3339(&text).map_err(|_| {
                invalid("must compare \"created_at\" with seconds since 1970 or a time in RFC 3339")
            })?;
            Ok(AttributeValue::Number(time.timestamp() as f64))
        }
        (_, value) => Ok(value),
    }
}

fn invalid(reason: impl Into<String>) -> ValidationError {
    ValidationError::new("filters", reason)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attributes::Attributes;
    use chrono::DateTime;
    use std::collections::BTreeSet;
    use uuid::Uuid;

    fn key(text: &str) -> AttributeKey {
        AttributeKey::parse(text).unwrap()
    }

    fn text(text: &str) -> AttributeValue {
        AttributeValue::string(text).unwrap()
    }

    fn labels() -> DocumentLabels {
        let values = [
            (key("year"), AttributeValue::Number(2023.0)),
            (key("lang"), text("de")),
            (key("draft"), AttributeValue::Boolean(false)),
        ];
        DocumentLabels {
            collections: BTreeSet::from([CollectionId::EVERYONE]),
            owner: None,
            title: "Report".to_owned(),
            file_name: "report.pdf".to_owned(),
            pages: 12,
            language: None,
            created_at: DateTime::from_timestamp(1_700_000_000, 0).unwrap(),
            attributes: Attributes::new(values.into_iter().collect()).unwrap(),
        }
    }

    fn met(key: AttributeKey, operator: &str, values: Vec<AttributeValue>) -> bool {
        let comparison = Comparison::parse(operator).unwrap();
        Condition::compare(key, comparison, values).unwrap().is_met_by(&labels())
    }

    #[test]
    fn comparisons_follow_the_grammar() {
        let number = |n: f64| vec![AttributeValue::Number(n)];
        for (operator, number, expected) in [
            ("eq", number(2023.0), true),
            ("ne", number(2023.0), false),
            ("gt", number(2023.0), false),
            ("gte", number(2023.0), true),
            ("lt", number(2024.0), true),
            ("lte", number(2022.9), false),
        ] {
            assert_eq!(met(key("year"), operator, number), expected, "{operator}");
        }
        assert!(met(key("lang"), "in", vec![text("en"), text("de")]));
        assert!(met(key("lang"), "nin", vec![text("en")]) && !met(key("lang"), "nin", vec![text("de")]));
        assert!(met(key("draft"), "eq", vec![AttributeValue::Boolean(false)]));
        assert!(!met(key("year"), "eq", vec![text("2023")]), "values of different types are never equal");
    }

    #[test]
    fn missing_attribute_meets_only_negations() {
        let one = || vec![AttributeValue::Number(1.0)];
        for (operator, expected) in
            [("eq", false), ("ne", true), ("gt", false), ("gte", false), ("lt", false), ("lte", false)]
        {
            assert_eq!(met(key("none"), operator, one()), expected, "{operator}");
        }
        assert!(met(key("none"), "nin", one()) && !met(key("none"), "in", one()));
        assert!(met(key("none"), "nin", Vec::new()) && !met(key("year"), "in", Vec::new()));
    }

    #[test]
    fn built_in_attributes_can_be_compared() {
        assert!(met(key("collection"), "eq", vec![text(&CollectionId::EVERYONE.to_string())]));
        assert!(met(key("owner"), "ne", vec![text("x")]) && !met(key("owner"), "eq", vec![text("")]));
        assert!(met(key("pages"), "gt", vec![AttributeValue::Number(11.0)]));
        assert!(met(key("file_name"), "eq", vec![text("report.pdf")]));
        assert!(met(key("created_at"), "lt", vec![text("2023-11-14T22:13:21Z")]));
        assert!(!met(key("created_at"), "lt", vec![text("2023-11-14T22:13:20Z")]));
        assert!(Condition::compare(key("created_at"), Comparison::Eq, vec![text("soon")]).is_err());
    }

    #[test]
    fn conditions_can_be_nested() {
        let year = |operator: &str, n: f64| {
            let comparison = Comparison::parse(operator).unwrap();
            Condition::compare(key("year"), comparison, vec![AttributeValue::Number(n)]).unwrap()
        };
        let either = Condition::Or(vec![year("eq", 1.0), year("gte", 2023.0)]);
        assert!(either.is_met_by(&labels()));
        assert!(!Condition::And(vec![either, year("lt", 2023.0)]).is_met_by(&labels()));
        assert!(Condition::And(Vec::new()).is_met_by(&labels()));
        assert!(!Condition::Or(Vec::new()).is_met_by(&labels()));
    }

    #[test]
    fn wrong_and_oversized_conditions_are_rejected() {
        assert!(
            Condition::compare(key("a"), Comparison::Number(NumberOrder::Less), vec![text("b")]).is_err()
        );
        assert!(Condition::compare(key("a"), Comparison::Eq, Vec::new()).is_err());
        assert!(Condition::compare(key("a"), Comparison::Eq, vec![text("b"), text("c")]).is_err());
        let one = || Condition::compare(key("a"), Comparison::Eq, vec![text("b")]).unwrap();
        let nested = |depth: usize| (1..depth).fold(one(), |inner, _| Condition::And(vec![inner]));
        assert!(nested(CONDITION_DEPTH_MAX).checked().is_ok());
        assert!(nested(CONDITION_DEPTH_MAX + 1).checked().is_err());
        let wide = |n: usize| Condition::Or((0..n).map(|_| one()).collect());
        assert!(wide(COMPARISONS_MAX).checked().is_ok() && wide(COMPARISONS_MAX + 1).checked().is_err());
    }

    #[test]
    fn collections_outside_the_scope_are_compared_as_if_they_were_empty() {
        let id = |n| CollectionId::from_uuid(Uuid::from_u128(n));
        let scope = Scope::SERVICE.within(&[id(1), id(2)]).unwrap();
        let compare = |ids: &[u128], is_negated| Condition::OneOf {
            key: key("collection"),
            values: ids.iter().map(|n| AttributeValue::String(id(*n).to_string())).collect(),
            is_negated,
        };
        assert_eq!(compare(&[1], false).within(&scope), compare(&[1], false));
        assert_eq!(compare(&[1, 3], true).within(&scope), compare(&[1], true));
        assert_eq!(compare(&[3], false).within(&scope), Condition::Or(Vec::new()));
        let nested = Condition::Or(vec![Condition::And(vec![compare(&[3, 4], true)])]);
        let expected = Condition::Or(vec![Condition::And(vec![Condition::And(Vec::new())])]);
        assert_eq!(nested.within(&scope), expected);
        let other = Condition::OneOf {
            key: key("kind"),
            values: vec![AttributeValue::String(id(3).to_string())],
            is_negated: false,
        };
        assert_eq!(other.clone().within(&scope), other);
        assert_eq!(compare(&[3], false).within(Scope::SERVICE), compare(&[3], false));
    }
}
