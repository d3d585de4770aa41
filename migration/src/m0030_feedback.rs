//! Feedback on answers, and which answers staff should look at.

use crate::change::Change;
use crate::table::{flag, index, instant_null};
use sea_orm_migration::schema::{float_null, string_len_null, text_null};

pub(crate) fn changes() -> Vec<Change> {
    let add = |column| Change::AddColumn { table: "messages", column };
    vec![
        add(flag("is_declined", false)),
        // Null if scores of different questions are not comparable.
        add(float_null("best_score")),
        // `up` or `down`; null without feedback.
        add(string_len_null("rating", 10)),
        add(string_len_null("feedback_reason", 20)),
        add(text_null("feedback_comment")),
        add(instant_null("feedback_at")),
        Change::CreateIndex(index("messages_rating_idx", "messages", &["rating", "created_at", "id"])),
        Change::CreateIndex(index(
            "messages_is_declined_idx",
            "messages",
            &["is_declined", "created_at", "id"],
        )),
        Change::CreateIndex(index("messages_best_score_idx", "messages", &["best_score"])),
    ]
}
