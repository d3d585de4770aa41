//! Limits of an account that replace those of the settings.

use crate::change::Change;
use sea_orm_migration::schema::big_integer_null;

pub(crate) fn changes() -> Vec<Change> {
    let names = ["answers_limit", "tokens_limit", "bytes_limit", "images_limit"];
    names.map(|name| Change::AddColumn { table: "users", column: big_integer_null(name) }).into()
}
