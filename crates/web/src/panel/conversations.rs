//! `GET /admin/conversations`

use super::documents::{cut, email};
use super::listing::{List, find_of_account};
use crate::paging::PageNumber;
use crate::signed_in::page::PageResult;
use crate::signed_in::session::Staff;
use crate::times::Time;
use docent_app::accounts::users;
use docent_app::conversations as use_case;
use docent_domain::access::ViewConversations;
use docent_domain::listing::ConversationFilter;
use docent_http::{Query, State};
use serde::Serialize;

pub(super) type ConversationsPage = List<Row>;

#[derive(Serialize)]
pub(super) struct Row {
    id: String,
    title: String,
    owner: String,
    messages: u64,
    created: Time,
    updated: Time,
}

pub(super) async fn conversations(staff: Staff, context: State, query: Query) -> PageResult {
    let grant = staff.authorize::<ViewConversations>()?;
    let (text, owner) = (query.text("q").map(cut), query.text("owner").map(cut));
    let (app, number) = (&context.app, PageNumber::of(&query));
    let find = async |owner| {
        let filter = ConversationFilter { owner, text: text.clone(), ..ConversationFilter::default() };
        use_case::list(app, grant, &filter, number.page()).await
    };
    let found = find_of_account(app, owner.as_deref(), find).await?;
    let owners: Vec<_> = found.records.iter().map(|(conversation, _)| conversation.owner).collect();
    let (emails, now) = (users::emails(app, &owners).await?, app.now());
    let rows = found.records.iter().map(|(conversation, messages)| Row {
        id: conversation.id.to_string(),
        title: conversation.title.as_str().to_owned(),
        owner: email(&emails, conversation.owner),
        messages: *messages,
        created: Time::of(conversation.created_at, now),
        updated: Time::of(conversation.updated_at, now),
    });
    let filters = [("q", text), ("owner", owner)];
    let list = List::of("conversations", number, filters, found.total, rows.collect());
    staff.show(&context, "conversations", list)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl Samples for ConversationsPage {
        fn samples() -> Vec<Self> {
            let rows = || {
                vec![Row {
                    id: "1".to_owned(),
                    title: "Title".to_owned(),
                    owner: "owner@example.com".to_owned(),
                    messages: 2,
                    created: Time::sample(),
                    updated: Time::sample(),
                }]
            };
            List::sample_pages(["q", "owner"], rows).into()
        }
    }
}
