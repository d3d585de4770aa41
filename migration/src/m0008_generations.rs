//! Generations of the index.

use crate::change::Change;
use crate::table::{index, instant, instant_null, primary_id, table};
use sea_orm_migration::prelude::{ConditionalStatement, Expr, ExprTrait};
use sea_orm_migration::schema::{big_integer_null, text};

pub(crate) fn changes() -> Vec<Change> {
    // At most one is active, and at most one is being built.
    let state = index("generations_state_idx", "generations", &["state"])
        .unique()
        .cond_where(Expr::col("state").ne("retired"))
        .take();
    let generations = table("generations")
        .columns([
            primary_id(),
            text("model"),
            text("collection"),
            big_integer_null("dimensions"),
            // `building`, `active` or `retired`.
            text("state"),
            instant("created_at"),
            // When it became active or retired.
            instant_null("switched_at"),
        ])
        .with_index(state);
    vec![Change::CreateTable(generations)]
}
