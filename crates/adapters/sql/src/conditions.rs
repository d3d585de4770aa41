//! Documents of a scope, of collections, and those that meet a condition.

use super::entities::collections;
use super::entities::document_collections as memberships;
use super::entities::documents::{Column, Entity};
use super::entities::file_purposes;
use docent_domain::attributes::{AttributeKey, AttributeValue, BuiltIn};
use docent_domain::collection::CollectionRole;
use docent_domain::condition::{Condition, NumberOrder};
use docent_domain::file_batch::FilePurpose;
use docent_domain::id::{CollectionId, UserId};
use docent_domain::scope::{Readable, Scope};
use sea_orm::sea_query::{Expr, ExprTrait, IntoColumnRef, Query, SelectStatement};
use sea_orm::{ColumnTrait, DbBackend, EntityTrait, QueryFilter, QuerySelect, QueryTrait, Select};
use serde_json::Value;
use uuid::Uuid;

/// Documents of the query that are in the scope.
pub(super) fn in_scope(query: Select<Entity>, scope: &Scope) -> Select<Entity> {
    let collection = (memberships::Entity, memberships::Column::CollectionId);
    match scope.collections() {
        None => query,
        Some(readable) => query.filter(in_collection(is_of_readable(collection, readable))),
    }
}

/// Whether a document is in one of these collections.
pub(super) fn in_any(collections: impl IntoIterator<Item = Uuid>) -> Expr {
    let collection = (memberships::Entity, memberships::Column::CollectionId);
    in_collection(Expr::col(collection).is_in(collections))
}

/// Whether a document is in a collection that meets a condition.
fn in_collection(condition: Expr) -> Expr {
    let memberships = Query::select()
        .expr(Expr::val(1))
        .from(memberships::Entity)
        .and_where(
            Expr::col((memberships::Entity, memberships::Column::DocumentId)).equals((Entity, Column::Id)),
        )
        .and_where(condition)
        .take();
    Expr::exists(memberships)
}

/// Whether a row of the table of collections is readable.
pub(super) fn is_readable(readable: &Readable) -> Expr {
    let is_named = collections::Column::Id.is_in(readable.named().map(CollectionId::as_uuid));
    match is_open(readable) {
        None => is_named,
        Some(is_open) => is_named.or(is_open),
    }
}

/// Whether a column has the ID of a readable collection. Open collections are looked up one by one, so that the cost does not
/// depend on their number.
pub(super) fn is_of_readable<C: IntoColumnRef + Copy>(collection: C, readable: &Readable) -> Expr {
    let is_named = Expr::col(collection).is_in(readable.named().map(CollectionId::as_uuid));
    let Some(is_open) = is_open(readable) else { return is_named };
    let open = Query::select()
        .expr(Expr::val(1))
        .from(collections::Entity)
        .and_where(Expr::col((collections::Entity, collections::Column::Id)).eq(Expr::col(collection)))
        .and_where(is_open)
        .take();
    is_named.or(Expr::exists(open))
}

/// Whether a row of the table of collections is an open one of a scope; `None` if there are none.
fn is_open(readable: &Readable) -> Option<Expr> {
    use collections::Column::{Id, RoleOfAll};
    if !readable.has_open() {
        return None;
    }
    let is_open = match readable.least() {
        None => RoleOfAll.is_not_null(),
        Some(least) => {
            let roles = CollectionRole::ALL.iter().filter(|role| **role >= least);
            RoleOfAll.is_in(roles.map(|role| role.name()))
        }
    };
    let without = readable.without();
    Some(match without.len() {
        0 => is_open,
        _ => is_open.and(Id.is_not_in(without.map(CollectionId::as_uuid))),
    })
}

/// Documents that are in no other collection than this one.
pub(super) fn in_no_other_than(collection: CollectionId) -> Expr {
    let others: SelectStatement = memberships::Entity::find()
        .select_only()
        .column(memberships::Column::DocumentId)
        .filter(memberships::Column::CollectionId.ne(collection.as_uuid()))
        .into_query();
    Expr::col((Entity, Column::Id)).not_in_subquery(others)
}

/// Whether a document meets a condition; never NULL.
pub(super) fn meets(condition: &Condition, backend: DbBackend) -> Expr {
    match condition {
        Condition::OneOf { key, values, is_negated } => {
            let any = values
                .iter()
                .map(|value| equals(key, value, backend))
                .reduce(ExprTrait::or)
                .unwrap_or_else(|| Expr::val(false));
            Expr::case(any, !is_negated).finally(*is_negated).into()
        }
        Condition::Number { key, order, number } => {
            Expr::case(compares(key, *order, *number, backend), true).finally(false).into()
        }
        Condition::And(all) => all
            .iter()
            .map(|one| meets(one, backend))
            .reduce(ExprTrait::and)
            .unwrap_or_else(|| Expr::val(true)),
        Condition::Or(all) => all
            .iter()
            .map(|one| meets(one, backend))
            .reduce(ExprTrait::or)
            .unwrap_or_else(|| Expr::val(false)),
    }
}

/// Whether an attribute has a value; can be NULL.
fn equals(key: &AttributeKey, value: &AttributeValue, backend: DbBackend) -> Expr {
    let Some(built_in) = key.built_in() else { return attribute_equals(key, value, backend) };
    let id = |text: &str| Uuid::parse_str(text).ok().filter(|id| id.hyphenated().to_string() == text);
    match (built_in, value) {
        (BuiltIn::Collection, AttributeValue::String(text)) => id(text).map(|id| in_any([id])),
        (BuiltIn::Owner, AttributeValue::String(text)) => {
            id(text).map(|id| Column::OwnerId.eq(UserId::from_uuid(id).as_uuid()))
        }
        (BuiltIn::Title, AttributeValue::String(text)) => Some(Column::Title.eq(text.as_str())),
        (BuiltIn::FileName, AttributeValue::String(text)) => Some(file_name().eq(text.as_str())),
        (BuiltIn::Language, AttributeValue::String(text)) => Some(Column::Language.eq(text.as_str())),
        (BuiltIn::Pages, AttributeValue::Number(number)) => Some(pages().eq(*number)),
        (BuiltIn::CreatedAt, AttributeValue::Number(number)) => Some(created_at().eq(*number)),
        _ => None,
    }
    .unwrap_or_else(|| Expr::val(false))
}

/// Whether a number compares so; can be NULL.
fn compares(key: &AttributeKey, order: NumberOrder, number: f64, backend: DbBackend) -> Expr {
    let column = match key.built_in() {
        None => attribute_number(key, backend),
        Some(BuiltIn::Pages) => pages(),
        Some(BuiltIn::CreatedAt) => created_at(),
        Some(_) => return Expr::val(false),
    };
    match order {
        NumberOrder::Greater => column.gt(number),
        NumberOrder::GreaterOrEqual => column.gte(number),
        NumberOrder::Less => column.lt(number),
        NumberOrder::LessOrEqual => column.lte(number),
    }
}

fn file_name() -> Expr {
    Expr::cust("COALESCE(\"documents\".\"file_name\", '')")
}

fn pages() -> Expr {
    Expr::cust("COALESCE(\"documents\".\"pages\", 0)")
}

/// Whole seconds since 1970.
fn created_at() -> Expr {
    // Division truncates; no document was created before 1970.
    Expr::cust("(\"documents\".\"created_at\" / 1000000)")
}

fn attribute_equals(key: &AttributeKey, value: &AttributeValue, backend: DbBackend) -> Expr {
    let column = "\"documents\".\"attributes\"";
    if backend != DbBackend::Sqlite {
        let value = match value {
            AttributeValue::String(text) => Value::from(text.as_str()),
            AttributeValue::Number(number) => Value::from(*number),
            AttributeValue::Boolean(is_true) => Value::from(*is_true),
        };
        return Expr::cust_with_values(
            format!("{column} -> $1 = $2::jsonb"),
            [sea_orm::Value::from(key.as_str()), sea_orm::Value::from(value.to_string())],
        );
    }
    let path = path(key);
    let (types, value): (_, sea_orm::Value) = match value {
        AttributeValue::String(text) => ("('text')", text.as_str().into()),
        AttributeValue::Number(number) => ("('integer', 'real')", (*number).into()),
        AttributeValue::Boolean(true) => ("('true')", 1.into()),
        AttributeValue::Boolean(false) => ("('false')", 0.into()),
    };
    Expr::cust_with_values(
        format!("json_type({column}, ?) IN {types} AND json_extract({column}, ?) = ?"),
        [path.clone().into(), path.into(), value],
    )
}

/// The number that an attribute is; NULL if it is none.
fn attribute_number(key: &AttributeKey, backend: DbBackend) -> Expr {
    let column = "\"documents\".\"attributes\"";
    if backend != DbBackend::Sqlite {
        let key = || sea_orm::Value::from(key.as_str());
        let sql = format!(
            "CASE WHEN jsonb_typeof({column} -> $1) = 'number' THEN ({column} ->> $2)::double precision END"
        );
        return Expr::cust_with_values(sql, [key(), key()]);
    }
    let path = || sea_orm::Value::from(path(key));
    let sql =
        format!("CASE WHEN json_type({column}, ?) IN ('integer', 'real') THEN json_extract({column}, ?) END");
    Expr::cust_with_values(sql, [path(), path()])
}

/// SQLite's path of an attribute. Keys have no quotation marks.
fn path(key: &AttributeKey) -> String {
    format!("$.\"{}\"", key.as_str())
}

/// Whether a document has a purpose; documents without a stored one have the default.
pub(super) fn has_purpose(purpose: FilePurpose) -> Expr {
    let stored = Query::select()
        .column(file_purposes::Column::DocumentId)
        .from(file_purposes::Entity)
        .and_where(Expr::col(file_purposes::Column::Purpose).eq(FilePurpose::UserData.name()))
        .take();
    let id = Expr::col((Entity, Column::Id));
    match purpose {
        FilePurpose::UserData => id.in_subquery(stored),
        FilePurpose::Assistants => id.not_in_subquery(stored),
    }
}
