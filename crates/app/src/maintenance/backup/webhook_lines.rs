//! Webhooks with their secrets in the archive format.

use super::BackupError;
use super::lines::{digest, hex, id, instant, invalid};
use docent_domain::webhook::{Webhook, WebhookDescription, WebhookEvents, WebhookSecret, WebhookUrl};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
pub(super) struct WebhookLine {
    id: String,
    owner: String,
    url: String,
    description: String,
    events: String,
    all_documents: bool,
    is_active: bool,
    secret: String,
    /// The previous secret, and until when it is used.
    previous_secret: Option<(String, i64)>,
    created_at: i64,
    updated_at: i64,
}

impl WebhookLine {
    pub(super) fn of(webhook: &Webhook) -> Self {
        let previous = webhook.previous_secret.as_ref();
        Self {
            id: webhook.id.to_string(),
            owner: webhook.owner.to_string(),
            url: webhook.url.as_str().to_owned(),
            description: webhook.description.as_str().to_owned(),
            events: webhook.events.to_string(),
            all_documents: webhook.all_documents,
            is_active: webhook.is_active,
            secret: hex(webhook.secret.expose()),
            previous_secret: previous.map(|(secret, until)| (hex(secret.expose()), until.timestamp_micros())),
            created_at: webhook.created_at.timestamp_micros(),
            updated_at: webhook.updated_at.timestamp_micros(),
        }
    }

    pub(super) fn webhook(&self) -> Result<Webhook, BackupError> {
        let secret = |text: &str| digest(text).map(WebhookSecret::from_bytes);
        let previous = self.previous_secret.as_ref();
        let previous = previous.map(|(text, until)| Ok::<_, BackupError>((secret(text)?, instant(*until)?)));
        Ok(Webhook {
            id: id(&self.id)?,
            owner: id(&self.owner)?,
            url: WebhookUrl::parse(&self.url).map_err(invalid)?,
            description: WebhookDescription::parse(&self.description).map_err(invalid)?,
            events: WebhookEvents::parse(self.events.split(' ')).map_err(invalid)?,
            all_documents: self.all_documents,
            is_active: self.is_active,
            secret: secret(&self.secret)?,
            previous_secret: previous.transpose()?,
            created_at: instant(self.created_at)?,
            updated_at: instant(self.updated_at)?,
        })
    }
}
