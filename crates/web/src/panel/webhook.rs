//! `GET /admin/webhooks/{id}` and its actions `…/switch`, `…/replay`, `…/delete`

use super::nav::ROOT;
use super::webhooks::Row;
use crate::language::{self, t};
use crate::paging::{PageNumber, Paging};
use crate::signed_in::form::OwnForm;
use crate::signed_in::page::{self, PageResult, id_of};
use crate::signed_in::session::Staff;
use crate::times::Time;
use actix_web::http::StatusCode;
use actix_web::web::Path;
use chrono::{DateTime, Utc};
use docent_app::accounts::users;
use docent_app::webhooks::staff as use_case;
use docent_domain::access::{ChangeWebhooks, DeleteWebhooks, ViewDocuments, ViewWebhooks};
use docent_domain::id::WebhookId;
use docent_domain::permission::RecordKind;
use docent_domain::webhook::WebhookDelivery;
use docent_http::{ApiError, Query, State};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct WebhookPage {
    #[serde(flatten)]
    webhook: Row,
    updated: Time,
    deliveries: Vec<DeliveryView>,
    paging: Paging,
    may_change: bool,
    may_delete: bool,
    may_view_documents: bool,
}

#[derive(Serialize)]
struct DeliveryView {
    id: String,
    event: &'static str,
    document: Option<String>,
    state: &'static str,
    /// Label of the state.
    state_name: String,
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
            state_name: language::named("delivery-", delivery.state.name()),
            attempts: delivery.attempts,
            last: delivery.last_error.clone().or(status).unwrap_or_default(),
            next: delivery.state.next_attempt().map(|at| Time::of(at, now)),
            at: Time::of(delivery.created_at, now),
        }
    }
}

pub(super) async fn webhook(staff: Staff, context: State, id: Path<String>, query: Query) -> PageResult {
    let grant = staff.authorize::<ViewWebhooks>()?;
    let (id, number, app) = (id_of(RecordKind::Webhook, &id)?, PageNumber::of(&query), &context.app);
    let (webhook, found) = use_case::read(app, grant, id, number.page()).await?;
    let (emails, now) = (users::emails(app, &[webhook.owner]).await?, app.now());
    let page = WebhookPage {
        webhook: Row::of(&webhook, &emails, now),
        updated: Time::of(webhook.updated_at, now),
        deliveries: found.records.iter().map(|delivery| DeliveryView::of(delivery, now)).collect(),
        paging: Paging::of(number, found.records.len(), found.total, &address(id), &[]),
        may_change: staff.can::<ChangeWebhooks>(),
        may_delete: staff.can::<DeleteWebhooks>(),
        may_view_documents: staff.can::<ViewDocuments>(),
    };
    staff.show(&context, "webhooks", page)
}

pub(super) async fn switch(staff: Staff, context: State, id: Path<String>, form: OwnForm) -> PageResult {
    staff.authorize::<ViewWebhooks>()?;
    let (grant, id) = (staff.authorize::<ChangeWebhooks>()?, id_of(RecordKind::Webhook, &id)?);
    let is_active = form.text("active") == "on";
    use_case::switch(&context.app, grant, id, is_active).await?;
    staff.notify(if is_active { t!("webhook-enabled") } else { t!("webhook-disabled") })?;
    Ok(page::see_other(&address(id)))
}

pub(super) async fn replay(staff: Staff, context: State, id: Path<String>, form: OwnForm) -> PageResult {
    staff.authorize::<ViewWebhooks>()?;
    let (grant, id) = (staff.authorize::<ChangeWebhooks>()?, id_of(RecordKind::Webhook, &id)?);
    let delivery = form.text("delivery").parse();
    let delivery = delivery.map_err(|_| ApiError::new(StatusCode::NOT_FOUND, t!("delivery-not-found")))?;
    use_case::replay(&context.app, grant, id, delivery).await?;
    staff.notify(t!("delivery-will-be-sent"))?;
    Ok(page::see_other(&address(id)))
}

pub(super) async fn delete(staff: Staff, context: State, id: Path<String>, _: OwnForm) -> PageResult {
    staff.authorize::<ViewWebhooks>()?;
    let (grant, id) = (staff.authorize::<DeleteWebhooks>()?, id_of(RecordKind::Webhook, &id)?);
    use_case::delete(&context.app, grant, id).await?;
    staff.notify(t!("webhook-deleted"))?;
    Ok(page::see_other(&format!("{ROOT}/webhooks")))
}

fn address(id: WebhookId) -> String {
    format!("{ROOT}/webhooks/{id}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl Samples for WebhookPage {
        fn samples() -> Vec<Self> {
            let delivery = |document: Option<&str>, state: &'static str, next| DeliveryView {
                id: "1".to_owned(),
                event: "document.ingested",
                document: document.map(str::to_owned),
                state,
                state_name: state.to_owned(),
                attempts: 1,
                last: "200".to_owned(),
                next,
                at: Time::sample(),
            };
            let deliveries = || {
                vec![
                    delivery(Some("1"), "delivered", None),
                    delivery(None, "failed", None),
                    delivery(None, "pending", Some(Time::sample())),
                ]
            };
            let page = |webhook, deliveries, is_allowed| Self {
                webhook,
                updated: Time::sample(),
                deliveries,
                paging: Paging::sample(),
                may_change: is_allowed,
                may_delete: is_allowed,
                may_view_documents: is_allowed,
            };
            let webhooks = Row::samples().into_iter().chain(Row::samples());
            let variants = [(deliveries(), true), (deliveries(), false), (Vec::new(), true)];
            webhooks
                .zip(variants)
                .map(|(webhook, (deliveries, is_allowed))| page(webhook, deliveries, is_allowed))
                .collect()
        }
    }
}
