//! Writing down who did what.
//!
//! An entry is written in the unit of work of the change that it tells of: there is no change without its
//! entry, and no entry without its change.

use crate::{App, error};
use docent_domain::{
    access::{Actor, Grant, ViewAuditLog},
    audit::{AuditAction, AuditActor, AuditEntry, Change},
    document::Document,
    group::Group,
    id::{ApiKeyId, AuditId, UserId},
    permission::RecordKind,
    user::User,
};
use docent_ports::{
    audit::AuditFilter,
    clock::Clock,
    entropy::Entropy,
    error::Result,
    page::{Page, PageRequest},
    store::UnitOfWork,
};
use std::{collections::BTreeMap, net::IpAddr};

/// The most characters of what a record is called, and of what a field held.
const LONGEST: usize = 500;

/// Who does something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct By {
    who: Who,
    from: Option<IpAddr>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Who {
    User(UserId, Option<ApiKeyId>),
    CommandLine,
    Nobody,
}

impl By {
    /// The holder of a right.
    pub fn holder<A>(grant: &Grant<A>) -> Self {
        Self { who: Who::User(grant.user(), grant.api_key()), from: grant.client_ip() }
    }

    /// Somebody who has proved who they are.
    pub fn actor(actor: &Actor) -> Self {
        Self { who: Who::User(actor.user(), actor.api_key()), from: actor.client_ip() }
    }

    /// An account itself, from this address.
    pub fn account(user: UserId, from: Option<IpAddr>) -> Self {
        Self { who: Who::User(user, None), from }
    }

    /// An operator, by the program's command line.
    pub fn command_line() -> Self {
        Self { who: Who::CommandLine, from: None }
    }

    /// Somebody unknown, from this address.
    pub fn nobody(from: IpAddr) -> Self {
        Self { who: Who::Nobody, from: Some(from) }
    }
}

/// A record as the log names it.
#[derive(Clone, Debug)]
pub struct Subject {
    kind: RecordKind,
    id: String,
    label: String,
}

impl Subject {
    /// A record of a kind; `label` is what people know it by.
    pub fn new(kind: RecordKind, id: impl ToString, label: &str) -> Self {
        Self { kind, id: id.to_string(), label: label.chars().take(LONGEST).collect() }
    }

    /// A document.
    pub fn document(document: &Document) -> Self {
        Self::new(RecordKind::Document, document.id, document.title.as_str())
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

/// The fields that a change changes.
#[derive(Clone, Debug, Default)]
pub struct Changes(BTreeMap<String, Change>);

impl Changes {
    /// Adds a field, unless it stays as it was. No secret goes in here.
    #[must_use]
    pub fn field(mut self, name: &str, before: Option<String>, after: Option<String>) -> Self {
        let short = |text: Option<String>| text.map(|text| text.chars().take(LONGEST).collect::<String>());
        if before != after {
            self.0.insert(name.to_owned(), Change { before: short(before), after: short(after) });
        }
        self
    }

    /// Adds a field of a new record.
    #[must_use]
    pub fn added(self, name: &str, value: impl ToString) -> Self {
        self.field(name, None, Some(value.to_string()))
    }

    /// Adds a field that has a value before and after.
    #[must_use]
    pub fn changed<T: ToString>(self, name: &str, before: T, after: T) -> Self {
        self.field(name, Some(before.to_string()), Some(after.to_string()))
    }

    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Writes entries of the audit log.
#[derive(Clone, Copy)]
#[allow(missing_debug_implementations, reason = "ports have no debug form")]
pub struct Auditor<'a> {
    /// Time.
    pub clock: &'a dyn Clock,
    /// Chance.
    pub entropy: &'a dyn Entropy,
}

impl Auditor<'_> {
    /// Writes that `by` did `deed` to `subject`, in the unit of work that does it.
    ///
    /// # Errors
    /// When the database does not work; the unit of work is of no use then.
    pub async fn write(
        self,
        work: &mut dyn UnitOfWork,
        by: &By,
        deed: AuditAction,
        subject: Subject,
        changes: Changes,
    ) -> Result<()> {
        let actor = match by.who {
            Who::CommandLine => AuditActor::CommandLine,
            Who::Nobody => AuditActor::Unauthenticated,
            Who::User(id, api_key) => {
                let emails = work.users().emails(&[id]).await?;
                let email = emails.get(&id).map_or_else(String::new, |email| email.as_str().to_owned());
                AuditActor::User { id, email, api_key }
            }
        };
        let mut random = [0; 10];
        self.entropy.fill(&mut random);
        let at = self.clock.now();
        let entry = AuditEntry {
            id: AuditId::generate(at, random),
            at,
            actor,
            client_ip: by.from,
            action: deed,
            kind: subject.kind,
            record: subject.id,
            label: subject.label,
            changes: changes.0,
        };
        work.audit().append(&entry).await
    }
}

/// Entries, newest first.
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

/// One entry.
///
/// # Errors
/// [`error::Error::NotFound`], or when the database cannot be reached.
pub async fn get(app: &App, _grant: Grant<ViewAuditLog>, id: AuditId) -> error::Result<AuditEntry> {
    let entry = app.store.read().await?.audit().get(id).await?;
    entry.ok_or(error::Error::NotFound(RecordKind::AuditEntry))
}

impl App {
    /// Writes the audit log.
    pub fn auditor(&self) -> Auditor<'_> {
        Auditor { clock: &*self.clock, entropy: &*self.entropy }
    }
}
