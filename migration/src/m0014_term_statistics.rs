//! Term statistics for vector stores that do not provide them.

use crate::change::Change;
use crate::table::{count, id, table};
use sea_orm_migration::schema::{big_integer, blob, text};

pub(crate) fn changes() -> Vec<Change> {
    let terms = table("collection_terms")
        .columns([
            text("collection"),
            // The term's place in sparse vectors; the collection's totals are below 0.
            big_integer("place"),
            big_integer("frequency"),
        ])
        .primary_key(&["collection", "place"]);
    let documents = table("collection_documents")
        .columns([
            text("collection"),
            id("document_id"),
            count("chunks"),
            count("length"),
            // Pairs of a place and the number added there, both 32 bits, little-endian.
            blob("places"),
        ])
        .primary_key(&["collection", "document_id"]);
    vec![Change::CreateTable(terms), Change::CreateTable(documents)]
}
