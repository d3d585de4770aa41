//! What an account does with its own webhooks. To everybody else they do not exist, but at the panel.

use super::{events, log, missing, send_again};
use crate::{
    App,
    accounts::authenticate,
    audit::{AuditTarget, Changes, Initiator},
    error::{Error, Result},
};
use docent_domain::{
    access::{Actor, Grant, ManageWebhooks, ViewDocuments},
    audit::AuditAction,
    id::{WebhookDeliveryId, WebhookId},
    listing::{DeliveryPosition, PageRequest, WebhookFilter},
    permission::RecordKind,
    webhook::{
        WEBHOOKS_MAX, Webhook, WebhookDelivery, WebhookDescription, WebhookEvents, WebhookSecret, WebhookUrl,
    },
};
use docent_ports::webhooks::WebhookReader;

/// What somebody wants to be told, and where.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Where.
    pub url: WebhookUrl,
    /// What it is for.
    pub description: WebhookDescription,
    /// Of what.
    pub events: WebhookEvents,
    /// Of the documents of all accounts.
    pub all_documents: bool,
}

/// What somebody wants to change; what is none stays as it is.
#[derive(Clone, Debug, Default)]
pub struct Change {
    /// Where it is told.
    pub url: Option<WebhookUrl>,
    /// What it is for.
    pub description: Option<WebhookDescription>,
    /// Of what it is told.
    pub events: Option<WebhookEvents>,
    /// Whether of the documents of all accounts.
    pub all_documents: Option<bool>,
    /// Whether of anything.
    pub is_active: Option<bool>,
}

/// Makes a webhook; its secret is for showing once.
///
/// # Errors
/// [`Error::TooManyWebhooks`], [`Error::Invalid`] for an address that may not be asked, [`Error::Forbidden`] for the
/// documents of all accounts without the right to see them, or when the database cannot be reached.
pub async fn create(
    app: &App,
    actor: &Actor,
    grant: &Grant<ManageWebhooks>,
    wanted: Wanted,
) -> Result<Webhook> {
    check_scope(app, actor, wanted.all_documents).await?;
    app.webhooks.check(&wanted.url).await?;
    let now = app.now();
    let webhook = Webhook {
        id: app.new_id(WebhookId::generate),
        owner: grant.user(),
        url: wanted.url,
        description: wanted.description,
        events: wanted.events,
        all_documents: wanted.all_documents,
        is_active: true,
        secret: new_secret(app),
        previous_secret: None,
        created_at: now,
        updated_at: now,
    };
    let mut work = app.store.begin().await?;
    // Holds the account, so that two who add to its webhooks take turns.
    work.users().get(grant.user()).await?.ok_or(Error::Unauthenticated)?;
    let own = WebhookFilter { owner: Some(grant.user()), ..WebhookFilter::default() };
    if work.webhooks().list(own, PageRequest { offset: 0, limit: 1 }).await?.total >= WEBHOOKS_MAX {
        return Err(Error::TooManyWebhooks);
    }
    work.webhooks().insert(&webhook).await?;
    let changes = Changes::default()
        .added("url", webhook.url.as_str())
        .added("events", webhook.events)
        .added("all_documents", webhook.all_documents);
    app.audit(&mut *work, &Initiator::grantee(grant), AuditAction::Add, audit_target(&webhook), changes)
        .await?;
    work.commit().await?;
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

/// Changes a webhook.
///
/// # Errors
/// [`Error::NotFound`], and as [`create`].
pub async fn change(
    app: &App,
    actor: &Actor,
    grant: &Grant<ManageWebhooks>,
    id: WebhookId,
    change: Change,
) -> Result<Webhook> {
    let known = get(app, grant, id).await?;
    check_scope(app, actor, change.all_documents.unwrap_or(known.all_documents)).await?;
    if let Some(url) = &change.url {
        app.webhooks.check(url).await?;
    }
    let mut work = app.store.begin().await?;
    let known = find(work.webhooks(), grant, id).await?;
    let changed = Webhook {
        url: change.url.unwrap_or_else(|| known.url.clone()),
        description: change.description.unwrap_or_else(|| known.description.clone()),
        events: change.events.unwrap_or(known.events),
        all_documents: change.all_documents.unwrap_or(known.all_documents),
        is_active: change.is_active.unwrap_or(known.is_active),
        updated_at: app.now(),
        ..known.clone()
    };
    work.webhooks().update(&changed).await?;
    let changes = Changes::default()
        .changed("url", known.url.as_str(), changed.url.as_str())
        .changed("description", known.description.as_str(), changed.description.as_str())
        .changed("events", known.events, changed.events)
        .changed("all_documents", known.all_documents, changed.all_documents)
        .changed("is_active", known.is_active, changed.is_active);
    if !changes.is_empty() {
        let by = Initiator::grantee(grant);
        app.audit(&mut *work, &by, AuditAction::Change, audit_target(&changed), changes).await?;
    }
    work.commit().await?;
    app.process.new_deliveries.notify_one();
    Ok(changed)
}

/// Removes a webhook with its log.
///
/// # Errors
/// [`Error::NotFound`], or when the database cannot be reached.
pub async fn delete(app: &App, grant: &Grant<ManageWebhooks>, id: WebhookId) -> Result<()> {
    let mut work = app.store.begin().await?;
    let webhook = find(work.webhooks(), grant, id).await?;
    work.webhooks().delete(id).await?;
    let by = Initiator::grantee(grant);
    app.audit(&mut *work, &by, AuditAction::Delete, audit_target(&webhook), Changes::default()).await?;
    Ok(work.commit().await?)
}

/// Gives a webhook another secret, which is for showing once; the one before signs too for a day.
///
/// # Errors
/// [`Error::NotFound`], or when the database cannot be reached.
pub async fn rotate(app: &App, grant: &Grant<ManageWebhooks>, id: WebhookId) -> Result<Webhook> {
    let mut work = app.store.begin().await?;
    let webhook = find(work.webhooks(), grant, id).await?;
    let rotated = webhook.rotated(new_secret(app), app.now());
    work.webhooks().update(&rotated).await?;
    let changes = Changes::default().added("secret", "another one");
    let by = Initiator::grantee(grant);
    app.audit(&mut *work, &by, AuditAction::Change, audit_target(&rotated), changes).await?;
    work.commit().await?;
    Ok(rotated)
}

/// Has a message sent that tells nothing but that it arrives.
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

/// At most `limit` deliveries behind a place of a webhook's log, newest first.
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

/// Has a message sent again, whatever became of it: the same words with the same id.
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
    let again = send_again(app, &mut *work, &webhook, delivery).await?;
    work.commit().await?;
    app.process.new_deliveries.notify_one();
    Ok(again)
}

async fn find<R: WebhookReader + ?Sized>(
    reader: &mut R,
    grant: &Grant<ManageWebhooks>,
    id: WebhookId,
) -> Result<Webhook> {
    reader.get(id).await?.filter(|webhook| webhook.owner == grant.user()).ok_or(missing())
}

/// Documents of all accounts are for those who may see them at the panel.
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

fn audit_target(webhook: &Webhook) -> AuditTarget {
    AuditTarget::new(RecordKind::Webhook, webhook.id, webhook.url.as_str())
}
