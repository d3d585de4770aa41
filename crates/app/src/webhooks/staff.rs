//! What staff do with webhooks of all accounts. Secrets are not theirs to see or to change.

use super::{missing, send_again};
use crate::{
    App,
    audit::{AuditTarget, Changes, Initiator},
    error::Result,
};
use docent_domain::{
    access::{ChangeWebhooks, DeleteWebhooks, Grant, ViewWebhooks},
    audit::AuditAction,
    id::{WebhookDeliveryId, WebhookId},
    listing::{Page, PageRequest, WebhookFilter},
    permission::RecordKind,
    webhook::{Webhook, WebhookDelivery},
};

/// Webhooks of all accounts, newest first.
///
/// # Errors
/// When the database cannot be reached.
pub async fn list(
    app: &App,
    _grant: Grant<ViewWebhooks>,
    filter: WebhookFilter,
    page: PageRequest,
) -> Result<Page<Webhook>> {
    Ok(app.store.read().await?.webhooks().list(filter, page).await?)
}

/// A webhook with a page of its log, newest first.
///
/// # Errors
/// [`crate::Error::NotFound`], or when the database cannot be reached.
pub async fn read(
    app: &App,
    _grant: Grant<ViewWebhooks>,
    id: WebhookId,
    page: PageRequest,
) -> Result<(Webhook, Page<WebhookDelivery>)> {
    let mut view = app.store.read().await?;
    let webhook = view.webhooks().get(id).await?.ok_or(missing())?;
    let log = view.webhooks().deliveries(id, None, page).await?;
    Ok((webhook, log))
}

/// Turns a webhook on or off.
///
/// # Errors
/// [`crate::Error::NotFound`], or when the database cannot be reached.
pub async fn switch(app: &App, grant: Grant<ChangeWebhooks>, id: WebhookId, is_active: bool) -> Result<()> {
    let mut work = app.store.begin().await?;
    let known = work.webhooks().get(id).await?.ok_or(missing())?;
    let changes = Changes::default().changed("is_active", known.is_active, is_active);
    if !changes.is_empty() {
        let changed = Webhook { is_active, updated_at: app.now(), ..known };
        work.webhooks().update(&changed).await?;
        let by = Initiator::grantee(&grant);
        app.audit(&mut *work, &by, AuditAction::Change, audit_target(&changed), changes).await?;
    }
    work.commit().await?;
    app.process.new_deliveries.notify_one();
    Ok(())
}

/// Has a message sent again.
///
/// # Errors
/// As [`super::own::replay`].
pub async fn replay(
    app: &App,
    grant: Grant<ChangeWebhooks>,
    id: WebhookId,
    delivery: WebhookDeliveryId,
) -> Result<()> {
    let mut work = app.store.begin().await?;
    let webhook = work.webhooks().get(id).await?.ok_or(missing())?;
    send_again(app, &mut *work, &webhook, delivery).await?;
    let changes = Changes::default().added("delivery", delivery);
    app.audit(&mut *work, &Initiator::grantee(&grant), AuditAction::Retry, audit_target(&webhook), changes)
        .await?;
    work.commit().await?;
    app.process.new_deliveries.notify_one();
    Ok(())
}

/// Removes a webhook with its log.
///
/// # Errors
/// [`crate::Error::NotFound`], or when the database cannot be reached.
pub async fn delete(app: &App, grant: Grant<DeleteWebhooks>, id: WebhookId) -> Result<()> {
    let mut work = app.store.begin().await?;
    let webhook = work.webhooks().get(id).await?.ok_or(missing())?;
    work.webhooks().delete(id).await?;
    let by = Initiator::grantee(&grant);
    app.audit(&mut *work, &by, AuditAction::Delete, audit_target(&webhook), Changes::default()).await?;
    Ok(work.commit().await?)
}

fn audit_target(webhook: &Webhook) -> AuditTarget {
    AuditTarget::new(RecordKind::Webhook, webhook.id, webhook.url.as_str())
}
