//! Tasks that one process of an installation runs at a time, such as sweeps.

use crate::change::Change;
use crate::table::{id, instant, instant_null, table};
use sea_orm_migration::schema::text;

pub(crate) fn changes() -> Vec<Change> {
    let duties = table("duties")
        .columns([
            text("name"),
            // The lease of the last run.
            id("lease_id"),
            instant("held_until"),
            instant_null("done_at"),
        ])
        .primary_key(&["name"]);
    vec![Change::CreateTable(duties)]
}
