//! Filters of points: by document, by scope and by condition.

use super::labels::{COLLECTIONS, path};
use super::points::DOCUMENT;
use docent_domain::attributes::{AttributeKey, AttributeValue, BuiltIn};
use docent_domain::condition::{Condition, NumberOrder};
use docent_domain::id::{CollectionId, VersionId};
use docent_domain::retrieval::ChunkFilter;
use qdrant_client::qdrant::{Condition as Clause, Filter, PointId, Range};

/// All points of a document.
pub(super) fn all_of(document: VersionId) -> Filter {
    Filter::must([Clause::matches(DOCUMENT, document.to_string())])
}

/// The points with these IDs.
pub(super) fn only(points: Vec<PointId>) -> Filter {
    Filter::must([Clause::has_id(points)])
}

/// All points of these documents.
pub(super) fn any_of(documents: &[VersionId]) -> Filter {
    Filter::must([of_documents(documents)])
}

/// All points of a document except these.
pub(super) fn all_of_except(document: VersionId, except: Vec<PointId>) -> Filter {
    let must_not = if except.is_empty() { Vec::new() } else { vec![Clause::has_id(except)] };
    Filter { must_not, ..all_of(document) }
}

fn of_documents(documents: &[VersionId]) -> Clause {
    let ids: Vec<String> = documents.iter().map(VersionId::to_string).collect();
    Clause::matches(DOCUMENT, ids)
}

/// The clauses that the results of a search must meet; `None` if nothing can meet them.
pub(super) fn required(filter: ChunkFilter<'_>) -> Option<Vec<Clause>> {
    let documents = match filter.versions {
        None => Selected::All,
        Some([]) => Selected::Nothing,
        Some(documents) => Selected::by(of_documents(documents)),
    };
    let scope = match filter.scope.collections() {
        None => Selected::All,
        Some(readable) => in_collections(readable.iter().map(|id| id.to_string()).collect()),
    };
    let condition = filter.condition.map_or(Selected::All, meeting);
    let mut clauses = Vec::new();
    for selected in [documents, scope, condition] {
        match selected {
            Selected::All => {}
            Selected::Nothing => return None,
            Selected::Only(clause) => clauses.push(*clause),
        }
    }
    Some(clauses)
}

/// The points that a filter selects. Selections of all and of no points are not sent, because the server ignores empty
/// clauses.
#[derive(Clone, Debug, PartialEq)]
enum Selected {
    All,
    Nothing,
    Only(Box<Clause>),
}

impl Selected {
    fn by(clause: impl Into<Clause>) -> Self {
        Self::Only(Box::new(clause.into()))
    }
}

/// Points of documents in one of these collections. Points of versions without collections are in Everyone.
fn in_collections(ids: Vec<String>) -> Selected {
    if ids.is_empty() {
        return Selected::Nothing;
    }
    let has_everyone = ids.contains(&CollectionId::EVERYONE.to_string());
    let listed = Clause::matches(COLLECTIONS, ids);
    if has_everyone {
        Selected::by(Filter::should([listed, Clause::is_empty(COLLECTIONS)]))
    } else {
        Selected::by(listed)
    }
}

/// Points of documents that meet a condition.
fn meeting(condition: &Condition) -> Selected {
    match condition {
        Condition::OneOf { key, values, is_negated: false } => one_of(key, values),
        Condition::OneOf { key, values, is_negated: true } => not(one_of(key, values)),
        // The IDs of collections are no numbers.
        Condition::Number { key, .. } if key.built_in() == Some(BuiltIn::Collection) => Selected::Nothing,
        Condition::Number { key, order, number } => {
            let none = Range::default();
            let range = match order {
                NumberOrder::Greater => Range { gt: Some(*number), ..none },
                NumberOrder::GreaterOrEqual => Range { gte: Some(*number), ..none },
                NumberOrder::Less => Range { lt: Some(*number), ..none },
                NumberOrder::LessOrEqual => Range { lte: Some(*number), ..none },
            };
            Selected::by(Clause::range(path(key), range))
        }
        Condition::And(conditions) => all(conditions.iter().map(meeting)),
        Condition::Or(conditions) => any(conditions.iter().map(meeting)),
    }
}

/// Points whose attribute has one of these values.
fn one_of(key: &AttributeKey, values: &[AttributeValue]) -> Selected {
    let texts = values.iter().filter_map(|value| match value {
        AttributeValue::String(text) => Some(text.clone()),
        AttributeValue::Number(_) | AttributeValue::Boolean(_) => None,
    });
    let texts: Vec<String> = texts.collect();
    if key.built_in() == Some(BuiltIn::Collection) {
        return in_collections(texts);
    }
    let path = path(key);
    let others = values.iter().filter_map(|value| match value {
        AttributeValue::String(_) => None,
        // The server matches only whole numbers.
        AttributeValue::Number(number) => {
            let range = Range { gte: Some(*number), lte: Some(*number), ..Range::default() };
            Some(Clause::range(path.clone(), range))
        }
        AttributeValue::Boolean(boolean) => Some(Clause::matches(path.clone(), *boolean)),
    });
    let texts = (!texts.is_empty()).then(|| Clause::matches(path.clone(), texts));
    any(texts.into_iter().chain(others).map(Selected::by))
}

fn not(selected: Selected) -> Selected {
    match selected {
        Selected::All => Selected::Nothing,
        Selected::Nothing => Selected::All,
        Selected::Only(clause) => Selected::by(Filter::must_not([*clause])),
    }
}

fn all(selected: impl Iterator<Item = Selected>) -> Selected {
    let mut clauses = Vec::new();
    for selected in selected {
        match selected {
            Selected::All => {}
            Selected::Nothing => return Selected::Nothing,
            Selected::Only(clause) => clauses.push(*clause),
        }
    }
    if clauses.is_empty() { Selected::All } else { Selected::by(Filter::must(clauses)) }
}

fn any(selected: impl Iterator<Item = Selected>) -> Selected {
    let mut clauses = Vec::new();
    for selected in selected {
        match selected {
            Selected::All => return Selected::All,
            Selected::Nothing => {}
            Selected::Only(clause) => clauses.push(*clause),
        }
    }
    if clauses.is_empty() { Selected::Nothing } else { Selected::by(Filter::should(clauses)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use docent_domain::condition::Comparison;
    use docent_domain::scope::Scope;
    use docent_testkit::builders::id;

    fn compare(key: &str, operator: &str, values: &[AttributeValue]) -> Condition {
        let key = AttributeKey::parse(key).unwrap();
        Condition::compare(key, Comparison::parse(operator).unwrap(), values.to_vec()).unwrap()
    }

    fn text(text: &str) -> AttributeValue {
        AttributeValue::string(text).unwrap()
    }

    fn clauses(condition: &Condition) -> Option<Vec<Clause>> {
        required(ChunkFilter { condition: Some(condition), ..ChunkFilter::all(1) })
    }

    #[test]
    fn scope_is_a_clause_on_collections() {
        let scope = Scope::SERVICE.within(&[id(7), id(8)]).unwrap();
        let ids = [7, 8].map(|n| id::<CollectionId>(n).to_string()).to_vec();
        let filter = ChunkFilter { scope: &scope, ..ChunkFilter::all(1) };
        assert_eq!(required(filter), Some(vec![Clause::matches(COLLECTIONS, ids)]));
        let everyone = Scope::SERVICE.within(&[CollectionId::EVERYONE]).unwrap();
        let listed = Clause::matches(COLLECTIONS, vec![CollectionId::EVERYONE.to_string()]);
        let either: Clause = Filter::should([listed, Clause::is_empty(COLLECTIONS)]).into();
        let filter = ChunkFilter { scope: &everyone, ..ChunkFilter::all(1) };
        assert_eq!(required(filter), Some(vec![either]));
        let none = Scope::SERVICE.within(&[]).unwrap();
        assert_eq!(required(ChunkFilter { scope: &none, ..ChunkFilter::all(1) }), None);
        assert_eq!(required(ChunkFilter::all(1)), Some(Vec::new()));
    }

    #[test]
    fn values_are_compared_by_type_at_a_quoted_path() {
        let mixed = compare(
            "a.b-c",
            "nin",
            &[text("x"), AttributeValue::Number(2.5), text("y"), AttributeValue::Boolean(true)],
        );
        let path = "attributes.\"a.b-c\"";
        let found = Filter::should([
            Clause::matches(path, vec!["x".to_owned(), "y".to_owned()]),
            Clause::range(path, Range { gte: Some(2.5), lte: Some(2.5), ..Range::default() }),
            Clause::matches(path, true),
        ]);
        assert_eq!(clauses(&mixed), Some(vec![Filter::must_not([found.into()]).into()]));
        let less = compare("pages", "lt", &[AttributeValue::Number(3.0)]);
        let range = Range { lt: Some(3.0), ..Range::default() };
        assert_eq!(clauses(&less), Some(vec![Clause::range("attributes.\"pages\"", range)]));
    }

    #[test]
    fn constant_parts_of_conditions_are_not_sent() {
        let never = || compare("a", "in", &[]);
        let always = || compare("a", "nin", &[]);
        let some = || compare("a", "gt", &[AttributeValue::Number(1.0)]);
        let Selected::Only(clause) = meeting(&some()) else { panic!("it is not constant") };
        let clause = *clause;
        for (condition, expected) in [
            (never(), None),
            (always(), Some(vec![])),
            (Condition::And(vec![]), Some(vec![])),
            (Condition::Or(vec![]), None),
            (Condition::And(vec![some(), never()]), None),
            (Condition::Or(vec![some(), always()]), Some(vec![])),
            (Condition::And(vec![some(), always()]), Some(vec![Filter::must([clause.clone()]).into()])),
            (Condition::Or(vec![some(), never()]), Some(vec![Filter::should([clause.clone()]).into()])),
            (compare("collection", "gt", &[AttributeValue::Number(1.0)]), None),
            (compare("collection", "eq", &[AttributeValue::Boolean(true)]), None),
        ] {
            assert_eq!(clauses(&condition), expected, "{condition:?}");
        }
    }
}
