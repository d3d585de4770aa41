//! Webhooks of one account. A webhook of another account is not found here; see [`staff`](super::staff).

use super::{audit_target, events, log, not_found, requeue};
use crate::App;
use crate::accounts::authenticate;
use crate::accounts::notices::Notice;
use crate::audit::{Changes, Initiator};
use crate::error::{Error, Result};
use docent_domain::access::{Actor, DirectWebhooks, Grant, ManageWebhooks, ViewDocuments};
use docent_domain::audit::AuditAction;
use docent_domain::id::{WebhookDeliveryId, WebhookId};
use docent_domain::listing::{DeliveryPosition, PageRequest, WebhookFilter};
use docent_domain::webhook::{
    WEBHOOKS_MAX, Webhook, WebhookDelivery, WebhookDescription, WebhookEvents, WebhookSecret, WebhookUrl,
};
use docent_ports::webhooks::WebhookReader;

/// The fields of a new webhook.
#[derive(Clone, Debug)]
pub struct WebhookInput {
    /// The receiver's URL.
    pub url: WebhookUrl,
    /// The purpose.
    pub description: WebhookDescription,
    /// The subscribed events.
    pub events: WebhookEvents,
    /// Whether it receives the events of all accounts' documents.
    pub all_documents: bool,
}

/// Changes to a webhook; a field that is none stays unchanged.
#[derive(Clone, Debug, Default)]
pub struct WebhookUpdate {
    /// The receiver's URL.
    pub url: Option<WebhookUrl>,
    /// The purpose.
    pub description: Option<WebhookDescription>,
    /// The subscribed events.
    pub events: Option<WebhookEvents>,
    /// Whether it receives the events of all accounts' documents.
    pub all_documents: Option<bool>,
    /// Whether messages are sent.
    pub is_active: Option<bool>,
}

/// Creates a webhook. The caller shows its secret once.
///
/// # Errors
/// [`Error::TooManyWebhooks`], [`Error::Invalid`] for a URL that is not allowed, [`Error::Forbidden`] for the
/// documents of all accounts without permission to view them, or when the database cannot be reached.
pub async fn create(
    app: &App,
    actor: &Actor,
    grant: &Grant<DirectWebhooks>,
    input: WebhookInput,
) -> Result<Webhook> {
    check_scope(app, actor, input.all_documents).await?;
    app.webhooks.check(&input.url).await?;
    let now = app.now();
    let webhook = Webhook {
        id: app.new_id(WebhookId::generate),
        owner: grant.user(),
        url: input.url,
        description: input.description,
        events: input.events,
        all_documents: input.all_documents,
        is_active: true,
        secret: new_secret(app),
        previous_secret: None,
        created_at: now,
        updated_at: now,
    };
    let mut work = app.store.begin().await?;
    // Locks the account, so that concurrent calls cannot exceed the maximum.
    let owner = work.users().get(grant.user()).await?.ok_or(Error::Unauthenticated)?;
    let own = WebhookFilter { owner: Some(grant.user()), ..WebhookFilter::default() };
    if work.webhooks().list(own, PageRequest { offset: 0, limit: 1 }).await?.total >= WEBHOOKS_MAX {
        return Err(Error::TooManyWebhooks);
    }
    work.webhooks().insert(&webhook).await?;
    let changes = Changes::default()
        .added("url", webhook.url.masked())
        .added("events", webhook.events)
        .added("all_documents", webhook.all_documents);
    app.audit(&mut *work, &Initiator::grantee(grant), AuditAction::Add, audit_target(&webhook), changes)
        .await?;
    work.commit().await?;
    app.notify(&owner.email, Notice::WebhookCreated { url: &webhook.url.masked() });
    Ok(webhook)
}

/// All webhooks of the grant's holder, newest first.
///
/// # Errors
/// When the database cannot be reached.
pub async fn list(app: &App, grant: &Grant<ManageWebhooks>) -> Result<Vec<Webhook>> {
    let own = WebhookFilter { owner: Some(grant.user()), ..WebhookFilter::default() };
    let page = PageRequest { offset: 0, limit: WEBHOOKS_MAX };
    Ok(app.store.read().await?.webhooks().list(own, page).await?.records)
}

/// One webhook.
///
/// # Errors
/// [`Error::NotFound`], or when the database cannot be reached.
pub async fn get(app: &App, grant: &Grant<ManageWebhooks>, id: WebhookId) -> Result<Webhook> {
    find(app.store.read().await?.webhooks(), grant, id).await
}

/// Changes a webhook. Its URL and events decide what is sent where, so their change needs a recent proof of
/// identity.
///
/// # Errors
/// [`Error::NotFound`], [`Error::ProofNeeded`], and as [`create`].
pub async fn change(
    app: &App,
    actor: &Actor,
    grant: &Grant<ManageWebhooks>,
    id: WebhookId,
    update: WebhookUpdate,
) -> Result<Webhook> {
    let current = get(app, grant, id).await?;
    check_scope(app, actor, update.all_documents.unwrap_or(current.all_documents)).await?;
    if let Some(url) = &update.url {
        app.webhooks.check(url).await?;
    }
    let mut work = app.store.begin().await?;
    let current = find(work.webhooks(), grant, id).await?;
    let changed = Webhook {
        url: update.url.unwrap_or_else(|| current.url.clone()),
        description: update.description.unwrap_or_else(|| current.description.clone()),
        events: update.events.unwrap_or(current.events),
        all_documents: update.all_documents.unwrap_or(current.all_documents),
        is_active: update.is_active.unwrap_or(current.is_active),
        updated_at: app.now(),
        ..current.clone()
    };
    let target = |webhook: &Webhook| (webhook.url.clone(), webhook.events, webhook.all_documents);
    if target(&current) != target(&changed) {
        actor.authorize::<DirectWebhooks>()?;
    }
    work.webhooks().update(&changed).await?;
    let [before, after] = url_change(&current.url, &changed.url);
    let changes = Changes::default()
        .field("url", before, after)
        .changed("description", current.description.as_str(), changed.description.as_str())
        .changed("events", current.events, changed.events)
        .changed("all_documents", current.all_documents, changed.all_documents)
        .changed("is_active", current.is_active, changed.is_active);
    if !changes.is_empty() {
        let initiator = Initiator::grantee(grant);
        app.audit(&mut *work, &initiator, AuditAction::Change, audit_target(&changed), changes).await?;
    }
    work.commit().await?;
    app.process.new_deliveries.notify_one();
    Ok(changed)
}

/// Deletes a webhook and its log.
///
/// # Errors
/// [`Error::NotFound`], or when the database cannot be reached.
pub async fn delete(app: &App, grant: &Grant<ManageWebhooks>, id: WebhookId) -> Result<()> {
    let mut work = app.store.begin().await?;
    let webhook = find(work.webhooks(), grant, id).await?;
    work.webhooks().delete(id).await?;
    let initiator = Initiator::grantee(grant);
    app.audit(&mut *work, &initiator, AuditAction::Delete, audit_target(&webhook), Changes::default())
        .await?;
    Ok(work.commit().await?)
}

/// Replaces the secret of a webhook. The caller shows the new secret once; the previous one also signs for a day.
///
/// # Errors
/// [`Error::NotFound`], or when the database cannot be reached.
pub async fn rotate(app: &App, grant: &Grant<DirectWebhooks>, id: WebhookId) -> Result<Webhook> {
    let mut work = app.store.begin().await?;
    let webhook = find(work.webhooks(), grant, id).await?;
    let rotated = webhook.rotated(new_secret(app), app.now());
    work.webhooks().update(&rotated).await?;
    let changes = Changes::default().added("secret", "another one");
    let initiator = Initiator::grantee(grant);
    app.audit(&mut *work, &initiator, AuditAction::Change, audit_target(&rotated), changes).await?;
    work.commit().await?;
    Ok(rotated)
}

/// Queues a test message.
///
/// # Errors
/// [`Error::NotFound`], [`Error::WebhookDisabled`], or when the database cannot be reached.
pub async fn ping(app: &App, grant: &Grant<ManageWebhooks>, id: WebhookId) -> Result<WebhookDelivery> {
    let mut work = app.store.begin().await?;
    if !find(work.webhooks(), grant, id).await?.is_active {
        return Err(Error::WebhookDisabled);
    }
    let ping = events::ping(app, id)?;
    work.webhooks().add_delivery(&ping).await?;
    work.commit().await?;
    app.process.new_deliveries.notify_one();
    Ok(ping)
}

/// At most `limit` deliveries after a position of a webhook's log, newest first.
///
/// # Errors
/// [`Error::NotFound`], or when the database cannot be reached.
pub async fn deliveries(
    app: &App,
    grant: &Grant<ManageWebhooks>,
    id: WebhookId,
    after: Option<DeliveryPosition>,
    limit: u64,
) -> Result<Vec<WebhookDelivery>> {
    get(app, grant, id).await?;
    log(app, id, after, limit).await
}

/// Queues a delivery again, whatever its state: the same message with the same ID.
///
/// # Errors
/// [`Error::NotFound`], [`Error::DeliveryNotFound`], [`Error::WebhookDisabled`], [`Error::DeliveryInProgress`], or when the
/// database cannot be reached.
pub async fn replay(
    app: &App,
    grant: &Grant<ManageWebhooks>,
    id: WebhookId,
    delivery: WebhookDeliveryId,
) -> Result<WebhookDelivery> {
    let mut work = app.store.begin().await?;
    let webhook = find(work.webhooks(), grant, id).await?;
    let queued = requeue(app, &mut *work, &webhook, delivery).await?;
    work.commit().await?;
    app.process.new_deliveries.notify_one();
    Ok(queued)
}

async fn find<A>(reader: &mut dyn WebhookReader, grant: &Grant<A>, id: WebhookId) -> Result<Webhook> {
    reader.get(id).await?.filter(|webhook| webhook.owner == grant.user()).ok_or(not_found())
}

/// Subscribing to the documents of all accounts requires permission to view them.
async fn check_scope(app: &App, actor: &Actor, all_documents: bool) -> Result<()> {
    if all_documents {
        authenticate::with_permissions(app, actor.clone()).await?.authorize::<ViewDocuments>()?;
    }
    Ok(())
}

fn new_secret(app: &App) -> WebhookSecret {
    let mut bytes = [0; 32];
    app.entropy.fill(&mut bytes);
    WebhookSecret::from_bytes(bytes)
}

/// A change of the URL for the audit log, without the secrets in it.
fn url_change(before: &WebhookUrl, after: &WebhookUrl) -> [Option<String>; 2] {
    let [shown_before, mut shown_after] = [before, after].map(WebhookUrl::masked);
    if before != after && shown_before == shown_after {
        shown_after.push_str(" (another secret)");
    }
    [Some(shown_before), Some(shown_after)]
}
