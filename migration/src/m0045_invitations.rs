//! Invitations of people who have no account yet.

use crate::change::Change;
use crate::table::{flag, id_null, instant, primary_id, table};
use sea_orm_migration::schema::{binary_len, json_binary, string_len};

pub(crate) fn changes() -> Vec<Change> {
    let invitations = table("invitations")
        .columns([
            primary_id(),
            string_len("email", 320),
            // A list of IDs of groups, and roles by ID of the collection; both can have been deleted.
            json_binary("groups"),
            json_binary("collections"),
            // Null for the command line.
            id_null("invited_by"),
            flag("is_emailed", false),
            binary_len("sha256", 32),
            instant("created_at"),
            instant("expires_at"),
        ])
        // An invitation that outlives its inviter would look like one of the command line.
        .owned_by("invited_by", "users")
        .unique("invitations_email_key", &["email"])
        .unique("invitations_sha256_key", &["sha256"])
        .index("invitations_invited_by_idx", &["invited_by"])
        .index("invitations_created_at_idx", &["created_at", "id"])
        .index("invitations_expires_at_idx", &["expires_at"]);
    vec![Change::CreateTable(invitations)]
}
