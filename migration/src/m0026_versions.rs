//! Versions of documents: a new file becomes the next version once it is ingested.

use crate::change::Change;
use crate::table::{id_null, index};
use sea_orm_migration::prelude::{ColumnDef, ConditionalStatement, Expr, ExprTrait};
use sea_orm_migration::schema::{big_integer, big_integer_null, binary_len_null, json_binary_null};

pub(crate) fn changes() -> Vec<Change> {
    let add = |column: ColumnDef| Change::AddColumn { table: "documents", column };
    let find_by = |name, column: &'static str| {
        let index = index(name, "documents", &[column]).cond_where(Expr::col(column).is_not_null()).take();
        Change::CreateIndex(index)
    };
    vec![
        add(big_integer("version").default(1).take()),
        // Null for the first version, which has the ID of the document.
        add(id_null("version_id")),
        // Version, file name, failure and time of the replacement, as JSON.
        add(json_binary_null("replacement")),
        add(id_null("replacement_id")),
        add(big_integer_null("replacement_bytes")),
        add(binary_len_null("replacement_sha256", 32)),
        find_by("documents_version_id_idx", "version_id"),
        find_by("documents_replacement_id_idx", "replacement_id"),
        find_by("documents_replacement_sha256_idx", "replacement_sha256"),
    ]
}
