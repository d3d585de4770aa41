//! `GET /admin/webhooks`

use super::documents::{cut, email};
use super::listing::{List, find_of_account};
use crate::paging::PageNumber;
use crate::signed_in::page::PageResult;
use crate::signed_in::session::Staff;
use crate::times::Time;
use chrono::{DateTime, Utc};
use docent_app::accounts::users;
use docent_app::webhooks::staff as use_case;
use docent_domain::access::ViewWebhooks;
use docent_domain::id::UserId;
use docent_domain::listing::WebhookFilter;
use docent_domain::text::Email;
use docent_domain::webhook::Webhook;
use docent_http::{Query, State};
use serde::Serialize;
use std::collections::HashMap;

pub(super) type WebhooksPage = List<Row>;

/// A webhook.
#[derive(Serialize)]
pub(super) struct Row {
    id: String,
    url: String,
    description: String,
    owner: String,
    /// Names of the events, separated by commas.
    events: String,
    all_documents: bool,
    is_active: bool,
    created: Time,
}

impl Row {
    pub(super) fn of(webhook: &Webhook, emails: &HashMap<UserId, Email>, now: DateTime<Utc>) -> Self {
        Self {
            id: webhook.id.to_string(),
            url: webhook.url.masked(),
            description: webhook.description.as_str().to_owned(),
            owner: email(emails, webhook.owner),
            events: webhook.events.names().collect::<Vec<_>>().join(", "),
            all_documents: webhook.all_documents,
            is_active: webhook.is_active,
            created: Time::of(webhook.created_at, now),
        }
    }
}

pub(super) async fn webhooks(staff: Staff, context: State, query: Query) -> PageResult {
    let grant = staff.authorize::<ViewWebhooks>()?;
    let owner = query.text("owner").map(cut);
    let state = query.text("state").filter(|state| matches!(*state, "on" | "off")).map(str::to_owned);
    let (app, number) = (&context.app, PageNumber::of(&query));
    let is_active = state.as_ref().map(|state| state == "on");
    let find =
        async |owner| use_case::list(app, grant, WebhookFilter { owner, is_active }, number.page()).await;
    let found = find_of_account(app, owner.as_deref(), find).await?;
    let owners: Vec<_> = found.records.iter().map(|webhook| webhook.owner).collect();
    let (emails, now) = (users::emails(app, &owners).await?, app.now());
    let rows = found.records.iter().map(|webhook| Row::of(webhook, &emails, now)).collect();
    let list = List::of("webhooks", number, [("owner", owner), ("state", state)], found.total, rows);
    staff.show(&context, "webhooks", list)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl Row {
        /// An active webhook with all values, and an inactive one.
        pub(crate) fn samples() -> Vec<Self> {
            let row = |description: &str, is_active| Self {
                id: "1".to_owned(),
                url: "https://example.com/hook".to_owned(),
                description: description.to_owned(),
                owner: "owner@example.com".to_owned(),
                events: "document.ingested".to_owned(),
                all_documents: is_active,
                is_active,
                created: Time::sample(),
            };
            vec![row("Description", true), row("", false)]
        }
    }

    impl Samples for WebhooksPage {
        fn samples() -> Vec<Self> {
            List::sample_pages(["owner", "state"], Row::samples).into()
        }
    }
}
