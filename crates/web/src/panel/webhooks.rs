//! `GET /admin/webhooks`

use super::{
    documents::{Q_MAX, email},
    listing::{PageNumber, Paging},
    nav::ROOT,
    page::{self, Broken},
    session::Staff,
    times::Time,
};
use actix_web::{HttpResponse, http::StatusCode};
use docent_app::{accounts::users, listing, webhooks::staff as use_case};
use docent_domain::{
    access::ViewWebhooks,
    listing::{Page, WebhookFilter},
};
use docent_http::{context::State, extract::query::Query};
use serde::Serialize;

#[derive(Serialize)]
struct Row {
    id: String,
    url: String,
    description: String,
    owner: String,
    events: String,
    all_documents: bool,
    is_active: bool,
    created: Time,
}

pub(super) async fn webhooks(staff: Staff, context: State, query: Query) -> Result<HttpResponse, Broken> {
    let grant = staff.authorize::<ViewWebhooks>()?;
    let owner = query.text("owner").map(|text| text.chars().take(Q_MAX).collect::<String>());
    let state = query.text("state").filter(|state| matches!(*state, "on" | "off")).map(str::to_owned);
    let number = PageNumber::of(&query);
    let app = &context.app;
    let account = match &owner {
        Some(email) => listing::owner(app, email).await?,
        None => None,
    };
    let found = if owner.is_some() && account.is_none() {
        Page::default()
    } else {
        let filter = WebhookFilter { owner: account, is_active: state.as_ref().map(|state| state == "on") };
        use_case::list(app, grant, filter, number.page()).await?
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
    let rows: Vec<Row> = rows.collect();

    let mut values = staff.page("webhooks");
    let filters = [("owner", owner.as_deref()), ("state", state.as_deref())];
    values.insert(
        "paging",
        &Paging::of(number, rows.len(), found.total, &format!("{ROOT}/webhooks"), &filters),
    );
    values.insert("webhooks", &rows);
    values.insert("is_filtered", &(owner.is_some() || state.is_some()));
    values.insert("owner", &owner.unwrap_or_default());
    values.insert("state", &state.unwrap_or_default());
    page::show(&context, StatusCode::OK, "webhooks.html", &values)
}
