//! The audit log: who changed what.
//!
//! An entry is written in the same unit of work as the change it describes: neither exists without the other.

pub(crate) mod failed_logins;

use crate::{App, error};
use chrono::{DateTime, TimeDelta, Utc};
use docent_domain::access::{Actor, Grant, ViewAuditLog};
use docent_domain::audit::{AuditAction, AuditActor, AuditEntry, Change};
use docent_domain::collection::Collection;
use docent_domain::document::Document;
use docent_domain::fault::Result;
use docent_domain::group::Group;
use docent_domain::id::{ApiKeyId, AuditId, UserId};
use docent_domain::listing::{AuditFilter, Page, PageRequest};
use docent_domain::permission::RecordKind;
use docent_domain::user::User;
use docent_ports::store::UnitOfWork;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// The maximum number of characters of a record's label and of a field's value.
const TEXT_MAX: usize = 500;

/// The clocks of processes differ by this much at most.
pub(crate) const CLOCK_DIFFERENCE: TimeDelta = TimeDelta::minutes(5);

/// Who starts an operation, and the address of the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Initiator {
    kind: InitiatorKind,
    address: Option<IpAddr>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum InitiatorKind {
    User(UserId, Option<ApiKeyId>),
    CommandLine,
    Unauthenticated,
}

impl Initiator {
    /// The holder of a grant.
    pub fn grantee<A>(grant: &Grant<A>) -> Self {
        Self { kind: InitiatorKind::User(grant.user(), grant.api_key()), address: grant.client_ip() }
    }

    /// An authenticated actor.
    pub fn actor(actor: &Actor) -> Self {
        Self { kind: InitiatorKind::User(actor.user(), actor.api_key()), address: actor.client_ip() }
    }

    /// An account that has just proved its identity, by a password or by a link.
    pub fn account(user: UserId, address: Option<IpAddr>) -> Self {
        Self { kind: InitiatorKind::User(user, None), address }
    }

    /// The account, unless it is the command line or an unauthenticated client.
    pub(crate) const fn user(&self) -> Option<UserId> {
        match self.kind {
            InitiatorKind::User(user, _) => Some(user),
            InitiatorKind::CommandLine | InitiatorKind::Unauthenticated => None,
        }
    }

    /// An operator at the command line.
    pub fn command_line() -> Self {
        Self { kind: InitiatorKind::CommandLine, address: None }
    }

    /// Several unauthenticated clients.
    pub(crate) fn clients() -> Self {
        Self { kind: InitiatorKind::Unauthenticated, address: None }
    }

    /// The service itself.
    pub(crate) fn service() -> Self {
        Self::command_line()
    }

    /// An unauthenticated client.
    pub fn unauthenticated(address: IpAddr) -> Self {
        Self { kind: InitiatorKind::Unauthenticated, address: Some(address) }
    }
}

/// The record that an entry is about.
#[derive(Clone, Debug)]
pub struct AuditTarget {
    kind: RecordKind,
    id: String,
    label: String,
}

impl AuditTarget {
    /// A record of any kind; `label` is its name for people.
    pub fn new(kind: RecordKind, id: impl ToString, label: &str) -> Self {
        Self { kind, id: id.to_string(), label: truncate(label) }
    }

    /// A document.
    pub fn document(document: &Document) -> Self {
        Self::new(RecordKind::Document, document.id, document.title.as_str())
    }

    /// A collection.
    pub fn collection(collection: &Collection) -> Self {
        Self::new(RecordKind::Collection, collection.id, collection.name.as_str())
    }

    /// An account.
    pub fn user(user: &User) -> Self {
        Self::new(RecordKind::User, user.id, user.email.as_str())
    }

    /// A group.
    pub fn group(group: &Group) -> Self {
        Self::new(RecordKind::Group, group.id, group.name.as_str())
    }
}

/// The changed fields of a record. Never contains secrets.
#[derive(Clone, Debug, Default)]
pub struct Changes(BTreeMap<String, Change>);

impl Changes {
    /// Adds a field if its value has changed.
    #[must_use]
    pub fn field(mut self, name: &str, before: Option<String>, after: Option<String>) -> Self {
        let truncate = |text: Option<String>| text.map(|text| truncate(&text));
        if before != after {
            self.0.insert(name.to_owned(), Change { before: truncate(before), after: truncate(after) });
        }
        self
    }

    /// Adds a field of a new record.
    #[must_use]
    pub fn added(self, name: &str, value: impl ToString) -> Self {
        self.field(name, None, Some(value.to_string()))
    }

    /// Adds a field that has a value before and after, if the two differ.
    #[must_use]
    pub fn changed<T: ToString>(self, name: &str, before: T, after: T) -> Self {
        self.field(name, Some(before.to_string()), Some(after.to_string()))
    }

    /// Whether no field has changed.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn truncate(text: &str) -> String {
    text.chars().take(TEXT_MAX).collect()
}

/// Appends an entry in the unit of work of the change. If it fails, the unit of work cannot be committed.
pub(crate) async fn append(
    work: &mut dyn UnitOfWork,
    id: AuditId,
    at: DateTime<Utc>,
    initiator: &Initiator,
    action: AuditAction,
    target: AuditTarget,
    changes: Changes,
) -> Result<()> {
    let actor = match initiator.kind {
        InitiatorKind::CommandLine => AuditActor::CommandLine,
        InitiatorKind::Unauthenticated => AuditActor::Unauthenticated,
        InitiatorKind::User(id, api_key) => {
            let emails = work.users().emails(&[id]).await?;
            let email = emails.get(&id).map_or_else(String::new, |email| email.as_str().to_owned());
            AuditActor::User { id, email, api_key }
        }
    };
    let entry = AuditEntry {
        id,
        at,
        actor,
        client_ip: initiator.address,
        action,
        kind: target.kind,
        record: target.id,
        label: target.label,
        changes: changes.0,
    };
    work.audit().append(&entry).await
}

/// The time of the newest entry, if it is ahead of the clock by more than [`CLOCK_DIFFERENCE`]: the clock was ahead when it was
/// written, or is behind now.
///
/// # Errors
/// When the database cannot be reached.
pub async fn newest_ahead_of_clock(app: &App) -> Result<Option<DateTime<Utc>>> {
    let first = PageRequest { offset: 0, limit: 1 };
    let newest = app.store.read().await?.audit().list(&AuditFilter::default(), first).await?.records;
    Ok(newest.first().map(|entry| entry.at).filter(|at| *at > app.now() + CLOCK_DIFFERENCE))
}

/// A page of entries, newest first.
///
/// # Errors
/// When the database cannot be reached.
pub async fn list(
    app: &App,
    _grant: Grant<ViewAuditLog>,
    filter: &AuditFilter,
    page: PageRequest,
) -> error::Result<Page<AuditEntry>> {
    Ok(app.store.read().await?.audit().list(filter, page).await?)
}

/// The entry with this ID.
///
/// # Errors
/// [`error::Error::NotFound`], or when the database cannot be reached.
pub async fn get(app: &App, _grant: Grant<ViewAuditLog>, id: AuditId) -> error::Result<AuditEntry> {
    let entry = app.store.read().await?.audit().get(id).await?;
    entry.ok_or(error::Error::NotFound(RecordKind::AuditEntry))
}

impl App {
    /// Writes an audit log entry in the unit of work of the change it describes.
    pub(crate) async fn audit(
        &self,
        work: &mut dyn UnitOfWork,
        initiator: &Initiator,
        action: AuditAction,
        target: AuditTarget,
        changes: Changes,
    ) -> Result<()> {
        self.account_service().audit(work, initiator, action, target, changes).await
    }
}
