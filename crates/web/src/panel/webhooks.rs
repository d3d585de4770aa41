//! `GET /admin/webhooks`

use super::{
    documents::{cut, email},
    listing::{List, PageNumber, account_of},
    page::PageResult,
    session::Staff,
    times::Time,
};
use docent_app::{accounts::users, webhooks::staff as use_case};
use docent_domain::{
    access::ViewWebhooks,
    listing::{Page, WebhookFilter},
};
use docent_http::{context::State, extract::query::Query};
use serde::Serialize;

pub(super) type WebhooksPage = List<Row>;

#[derive(Serialize)]
pub(super) struct Row {
    id: String,
    url: String,
    description: String,
    owner: String,
    events: String,
    all_documents: bool,
    is_active: bool,
    created: Time,
}

pub(super) async fn webhooks(staff: Staff, context: State, query: Query) -> PageResult {
    let grant = staff.authorize::<ViewWebhooks>()?;
    let owner = query.text("owner").map(cut);
    let state = query.text("state").filter(|state| matches!(*state, "on" | "off")).map(str::to_owned);
    let (app, number) = (&context.app, PageNumber::of(&query));
    let found = match account_of(app, owner.as_deref()).await? {
        Some(None) => Page::default(),
        owner => {
            let is_active = state.as_ref().map(|state| state == "on");
            let filter = WebhookFilter { owner: owner.flatten(), is_active };
            use_case::list(app, grant, filter, number.page()).await?
        }
    };
    let owners: Vec<_> = found.records.iter().map(|webhook| webhook.owner).collect();
    let (emails, now) = (users::emails(app, &owners).await?, app.now());
    let rows = found.records.iter().map(|webhook| Row {
        id: webhook.id.to_string(),
        url: webhook.url.as_str().to_owned(),
        description: webhook.description.as_str().to_owned(),
        owner: email(&emails, webhook.owner),
        events: webhook.events.names().collect::<Vec<_>>().join(", "),
        all_documents: webhook.all_documents,
        is_active: webhook.is_active,
        created: Time::of(webhook.created_at, now),
    });
    let filters = [("owner", owner), ("state", state)];
    let list = List::of("webhooks", number, filters, found.total, rows.collect());
    staff.show(&context, "webhooks", list)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl Samples for WebhooksPage {
        fn samples() -> Vec<Self> {
            let row = |description: &str, is_active| Row {
                id: "1".to_owned(),
                url: "https://example.com/hook".to_owned(),
                description: description.to_owned(),
                owner: "owner@example.com".to_owned(),
                events: "document.ingested".to_owned(),
                all_documents: is_active,
                is_active,
                created: Time::sample(),
            };
            let rows = move || vec![row("Description", true), row("", false)];
            List::sample_pages(["owner", "state"], rows).into()
        }
    }
}
