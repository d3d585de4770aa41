//! `GET /admin/webhooks/{id}` and its actions `…/switch`, `…/replay`, `…/delete`

use super::{
    documents::email,
    form::OwnForm,
    listing::{PageNumber, Paging},
    nav::ROOT,
    page::{self, Broken, id_of},
    session::Staff,
    times::Time,
};
use actix_web::{HttpResponse, http::StatusCode, web::Path};
use chrono::{DateTime, Utc};
use docent_app::{accounts::users, webhooks::staff as use_case};
use docent_domain::{
    access::{ChangeWebhooks, DeleteWebhooks, ViewDocuments, ViewWebhooks},
    id::WebhookId,
    permission::RecordKind,
    webhook::WebhookDelivery,
};
use docent_http::{context::State, error::ApiError, extract::query::Query};
use serde::Serialize;

#[derive(Serialize)]
struct DeliveryView {
    id: String,
    event: &'static str,
    document: Option<String>,
    state: &'static str,
    attempts: u32,
    /// HTTP status of the last response, or the error.
    last: String,
    next: Option<Time>,
    at: Time,
}

impl DeliveryView {
    fn of(delivery: &WebhookDelivery, now: DateTime<Utc>) -> Self {
        let status = delivery.last_status.map(|status| status.to_string());
        Self {
            id: delivery.id.to_string(),
            event: delivery.event.name(),
            document: delivery.document.map(|id| id.to_string()),
            state: delivery.state.name(),
            attempts: delivery.attempts,
            last: delivery.last_error.clone().or(status).unwrap_or_default(),
            next: delivery.state.next_attempt().map(|at| Time::of(at, now)),
            at: Time::of(delivery.created_at, now),
        }
    }
}

pub(super) async fn webhook(
    staff: Staff,
    context: State,
    id: Path<String>,
    query: Query,
) -> Result<HttpResponse, Broken> {
    let grant = staff.authorize::<ViewWebhooks>()?;
    let (id, number, app) = (id_of(RecordKind::Webhook, &id)?, PageNumber::of(&query), &context.app);
    let (webhook, found) = use_case::read(app, grant, id, number.page()).await?;
    let (emails, now) = (users::emails(app, &[webhook.owner]).await?, app.now());
    let deliveries: Vec<_> = found.records.iter().map(|delivery| DeliveryView::of(delivery, now)).collect();

    let mut values = staff.page("webhooks");
    values.insert("paging", &Paging::of(number, deliveries.len(), found.total, &address(id), &[]));
    values.insert("id", &id.to_string());
    values.insert("url", webhook.url.as_str());
    values.insert("description", webhook.description.as_str());
    values.insert("owner", &email(&emails, webhook.owner));
    values.insert("events", &webhook.events.names().collect::<Vec<_>>().join(", "));
    values.insert("all_documents", &webhook.all_documents);
    values.insert("is_active", &webhook.is_active);
    values.insert("created", &Time::of(webhook.created_at, now));
    values.insert("updated", &Time::of(webhook.updated_at, now));
    values.insert("deliveries", &deliveries);
    values.insert("may_change", &staff.authorize::<ChangeWebhooks>().is_ok());
    values.insert("may_delete", &staff.authorize::<DeleteWebhooks>().is_ok());
    values.insert("may_view_documents", &staff.authorize::<ViewDocuments>().is_ok());
    page::show(&context, StatusCode::OK, "webhook.html", &values)
}

pub(super) async fn switch(
    staff: Staff,
    context: State,
    id: Path<String>,
    OwnForm(form): OwnForm,
) -> Result<HttpResponse, Broken> {
    staff.authorize::<ViewWebhooks>()?;
    let (grant, id) = (staff.authorize::<ChangeWebhooks>()?, id_of(RecordKind::Webhook, &id)?);
    let is_active = form.text("active") == "on";
    use_case::switch(&context.app, grant, id, is_active).await?;
    staff.say(if is_active { "Webhook enabled." } else { "Webhook disabled." })?;
    Ok(page::see_other(&address(id)))
}

pub(super) async fn replay(
    staff: Staff,
    context: State,
    id: Path<String>,
    OwnForm(form): OwnForm,
) -> Result<HttpResponse, Broken> {
    staff.authorize::<ViewWebhooks>()?;
    let (grant, id) = (staff.authorize::<ChangeWebhooks>()?, id_of(RecordKind::Webhook, &id)?);
    let delivery = form.text("delivery").parse();
    let delivery = delivery.map_err(|_| ApiError::new(StatusCode::NOT_FOUND, "Delivery not found"))?;
    use_case::replay(&context.app, grant, id, delivery).await?;
    staff.say("The message will be sent again.")?;
    Ok(page::see_other(&address(id)))
}

pub(super) async fn delete(
    staff: Staff,
    context: State,
    id: Path<String>,
    OwnForm(_): OwnForm,
) -> Result<HttpResponse, Broken> {
    staff.authorize::<ViewWebhooks>()?;
    let (grant, id) = (staff.authorize::<DeleteWebhooks>()?, id_of(RecordKind::Webhook, &id)?);
    use_case::delete(&context.app, grant, id).await?;
    staff.say("The webhook was deleted.")?;
    Ok(page::see_other(&format!("{ROOT}/webhooks")))
}

fn address(id: WebhookId) -> String {
    format!("{ROOT}/webhooks/{id}")
}
