//! The collections whose readers can read a conversation.

use crate::change::Change;
use crate::table::{NewTable, id, table};

pub(crate) fn changes() -> Vec<Change> {
    vec![Change::CreateTable(conversation_collections())]
}

fn conversation_collections() -> NewTable {
    table("conversation_collections")
        .columns([id("conversation_id"), id("collection_id")])
        .primary_key(&["conversation_id", "collection_id"])
        .owned_by("conversation_id", "conversations")
        .owned_by("collection_id", "collections")
        .index("conversation_collections_collection_id_idx", &["collection_id"])
}
