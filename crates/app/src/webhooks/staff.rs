//! Administration of all accounts' webhooks. Staff can neither read nor change secrets.

use super::{audit_target, not_found, requeue};
use crate::App;
use crate::audit::{Changes, Initiator};
use crate::error::Result;
use docent_domain::access::{ChangeWebhooks, DeleteWebhooks, Grant, ViewWebhooks};
use docent_domain::audit::AuditAction;
use docent_domain::id::{WebhookDeliveryId, WebhookId};
use docent_domain::listing::{Page, PageRequest, WebhookFilter};
use docent_domain::webhook::{Webhook, WebhookDelivery};

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

/// A webhook and a page of its log, newest first.
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
    let webhook = view.webhooks().get(id).await?.ok_or(not_found())?;
    let log = view.webhooks().deliveries(id, None, page).await?;
    Ok((webhook, log))
}

/// Enables or disables a webhook.
///
/// # Errors
/// [`crate::Error::NotFound`], or when the database cannot be reached.
pub async fn switch(app: &App, grant: Grant<ChangeWebhooks>, id: WebhookId, is_active: bool) -> Result<()> {
    let mut work = app.store.begin().await?;
    let current = work.webhooks().get(id).await?.ok_or(not_found())?;
    let changes = Changes::default().changed("is_active", current.is_active, is_active);
    if !changes.is_empty() {
        let changed = Webhook { is_active, updated_at: app.now(), ..current };
        work.webhooks().update(&changed).await?;
        let initiator = Initiator::grantee(&grant);
        app.audit(&mut *work, &initiator, AuditAction::Change, audit_target(&changed), changes).await?;
    }
    work.commit().await?;
    app.process.new_deliveries.notify_one();
    Ok(())
}

/// Queues a delivery again: the same message with the same ID.
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
    let webhook = work.webhooks().get(id).await?.ok_or(not_found())?;
    requeue(app, &mut *work, &webhook, delivery).await?;
    let changes = Changes::default().added("delivery", delivery);
    app.audit(&mut *work, &Initiator::grantee(&grant), AuditAction::Retry, audit_target(&webhook), changes)
        .await?;
    work.commit().await?;
    app.process.new_deliveries.notify_one();
    Ok(())
}

/// Deletes a webhook and its log.
///
/// # Errors
/// [`crate::Error::NotFound`], or when the database cannot be reached.
pub async fn delete(app: &App, grant: Grant<DeleteWebhooks>, id: WebhookId) -> Result<()> {
    let mut work = app.store.begin().await?;
    let webhook = work.webhooks().get(id).await?.ok_or(not_found())?;
    work.webhooks().delete(id).await?;
    let initiator = Initiator::grantee(&grant);
    app.audit(&mut *work, &initiator, AuditAction::Delete, audit_target(&webhook), Changes::default())
        .await?;
    Ok(work.commit().await?)
}
