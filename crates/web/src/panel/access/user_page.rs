//! Details of an account, shown below its form and on the account page of the user.

use super::kinds::{self, Allowed};
use super::tables::EntryRow;
use super::user_reach::ReachView;
use crate::language::t;
use crate::panel::nav::ROOT;
use crate::signed_in::form;
use crate::signed_in::page::PageError;
use crate::signed_in::rows::{KeyRow, SessionRow};
use crate::signed_in::session::Staff;
use crate::times::Time;
use chrono::{DateTime, Utc};
use docent_app::accounts::single_sign_on::connections::{self, AccountIdentity};
use docent_app::accounts::users::Account;
use docent_app::accounts::{api_keys, sessions};
use docent_app::{audit, scope};
use docent_domain::access::{
    Actor, AddVerifications, ChangeUsers, DeleteSessions, DeleteUsers, ViewApiKeys, ViewAuditLog,
    ViewSessions, ViewUsers,
};
use docent_domain::identity::Identity;
use docent_domain::listing::{ApiKeyFilter, AuditFilter, Page, PageRequest, SessionFilter};
use docent_domain::permission::{PermissionSet, RecordKind};
use docent_domain::scope::Scope;
use docent_domain::user::User;
use docent_http::State;
use docent_http::extract::query::encode_query;
use serde::Serialize;

/// Maximum number of rows per table.
const ROWS: PageRequest = PageRequest { offset: 0, limit: 10 };

/// Facts about an account.
#[derive(Serialize)]
pub(super) struct AccountFacts {
    id: String,
    email: String,
    /// Name that the person chose.
    name: Option<String>,
    is_superuser: bool,
    created: Time,
    last_login: Option<Time>,
    /// What every account may do.
    base: String,
    /// Effective permissions.
    allowed: Vec<Allowed>,
}

impl AccountFacts {
    pub(super) fn of(user: &User, permissions: PermissionSet, now: DateTime<Utc>) -> Self {
        Self {
            id: user.id.to_string(),
            email: user.email.as_str().to_owned(),
            name: user.name.as_ref().map(String::from),
            is_superuser: user.is_superuser,
            created: Time::of(user.created_at, now),
            last_login: user.last_login_at.map(|at| Time::of(at, now)),
            base: t!("every-account"),
            allowed: kinds::allowed(permissions),
        }
    }
}

/// An account with the first rows of its tables. Tables that the actor may not view are none.
#[derive(Serialize)]
pub(super) struct AccountView {
    #[serde(flatten)]
    facts: AccountFacts,
    is_active: bool,
    /// When the email address was verified.
    verified: Option<Time>,
    /// Digest of the shown account, to detect concurrent changes.
    seen: String,
    keys: Option<Table<KeyRow>>,
    sessions: Option<Table<SessionRow>>,
    entries: Option<Table<EntryRow>>,
    identities: Vec<IdentityRow>,
    /// None if the user may not view it.
    reach: Option<ReachView>,
    /// Query that filters keys and sessions by the account.
    user_query: String,
    /// Query that filters the audit log by the account.
    who_query: String,
    may_set_password: bool,
    may_set_limits: bool,
    may_link: bool,
    may_link_password: bool,
    may_delete: bool,
    /// When the second factor was set up.
    second_factor: Option<Time>,
    may_reset_second_factor: bool,
    may_end_sessions: bool,
}

/// An identity of the account at a provider.
#[derive(Serialize)]
struct IdentityRow {
    provider: String,
    subject: String,
    /// Email address at the provider.
    email: Option<String>,
    connected: Time,
    last_used: Time,
    /// Page that asks whether to disconnect it; none if the user may not.
    disconnect: Option<String>,
}

impl IdentityRow {
    fn of(known: AccountIdentity, may_disconnect: bool, now: DateTime<Utc>) -> Self {
        let identity = known.identity;
        let link = || disconnect_link(&identity);
        Self {
            provider: known.provider,
            disconnect: may_disconnect.then(link),
            connected: Time::of(identity.created_at, now),
            last_used: Time::of(identity.last_used_at, now),
            subject: identity.subject,
            email: identity.email,
        }
    }
}

/// First rows of a table.
#[derive(Serialize)]
struct Table<R> {
    rows: Vec<R>,
    /// Number of all rows.
    total: u64,
}

impl<R> Table<R> {
    fn of<T>(found: &Page<T>, row: impl Fn(&T) -> R) -> Self {
        Self { rows: found.records.iter().map(row).collect(), total: found.total }
    }
}

impl AccountView {
    pub(super) async fn read(staff: &Staff, context: &State, account: &Account) -> Result<Self, PageError> {
        let (user, actor, app) = (&account.user, &staff.actor, &context.app);
        let (id, email, now) = (user.id, &user.email, app.now());
        let emails = [(id, email.clone())].into();
        let mut keys = None;
        if let Ok(grant) = actor.authorize::<ViewApiKeys>() {
            let filter = ApiKeyFilter { user: Some(id), ..ApiKeyFilter::default() };
            let found = api_keys::list(app, grant, &filter, ROWS).await?;
            keys = Some(Table::of(&found, |key| KeyRow::of(key, &emails, staff, now)));
        }
        let mut sessions = None;
        if let Ok(grant) = actor.authorize::<ViewSessions>() {
            let filter = SessionFilter { user: Some(id), valid_at: Some(now), ..SessionFilter::default() };
            let found = sessions::list(app, grant, &filter, ROWS).await?;
            sessions = Some(Table::of(&found, |session| SessionRow::of(session, &emails, staff, now)));
        }
        let mut entries = None;
        if let Ok(grant) = actor.authorize::<ViewAuditLog>() {
            let record = Some(id.to_string());
            let filter = AuditFilter { kind: Some(RecordKind::User), record, ..AuditFilter::default() };
            let found = audit::list(app, grant, &filter, ROWS).await?;
            entries = Some(Table::of(&found, |entry| EntryRow::of(entry, staff, now)));
        }
        let identities = connections::of_account(app, staff.authorize::<ViewUsers>()?, id).await?;
        let scope = scope::load(app, actor).await?;
        let may_take_over = actor.can_manage(&scope, &account.access().with_data());
        let may_manage = actor.can_manage(&scope, &account.access());
        let second_factor = user.confirmed_second_factor().and_then(|factor| factor.confirmed_at);
        let may_link = staff.can::<AddVerifications>() && user.is_active;
        let may_take_over_and_change = may_take_over && may_change(account, actor);
        let identity = |known| IdentityRow::of(known, may_take_over_and_change, now);
        Ok(Self {
            facts: AccountFacts::of(user, account.permissions, now),
            is_active: user.is_active,
            verified: user.email_verified_at.map(|at| Time::of(at, now)),
            seen: revision(account),
            keys,
            sessions,
            entries,
            identities: identities.into_iter().map(identity).collect(),
            reach: ReachView::read(staff, context, id).await?,
            user_query: encode_query(&[("user", Some(email.as_str()))]),
            who_query: encode_query(&[("who", Some(email.as_str()))]),
            may_set_password: may_take_over_and_change,
            may_set_limits: may_manage && may_change(account, actor),
            may_link: may_link && (may_take_over || user.email_verified_at.is_none()),
            may_link_password: may_take_over && may_link,
            may_delete: may_delete(account, actor, &scope),
            second_factor: second_factor.map(|at| Time::of(at, now)),
            may_reset_second_factor: second_factor.is_some() && may_take_over_and_change,
            may_end_sessions: actor.authorize_for::<DeleteSessions>(Some(id)).is_ok(),
        })
    }
}

/// Page that asks whether to disconnect an identity, and target of its form.
pub(super) fn disconnect_link(identity: &Identity) -> String {
    let query = [("issuer", Some(identity.issuer.as_str())), ("subject", Some(identity.subject.as_str()))];
    format!("{ROOT}/users/{}/identities/disconnect?{}", identity.user, encode_query(&query))
}

/// Digest of an account, to detect concurrent changes.
pub(super) fn revision(account: &Account) -> String {
    let Account { user, assigned, .. } = account;
    let permissions: Vec<_> = assigned.permissions.iter().map(|permission| permission.to_string()).collect();
    let flags = [user.is_active, user.is_staff, user.is_superuser];
    form::digest(&(user.email.as_str(), flags, &assigned.groups, permissions))
}

pub(super) fn may_change(account: &Account, actor: &Actor) -> bool {
    actor.can_edit(&account.user) && actor.can::<ChangeUsers>()
}

pub(super) fn may_delete(account: &Account, actor: &Actor, scope: &Scope) -> bool {
    let is_own = account.user.id == actor.user();
    actor.can_manage(scope, &account.access()) && !is_own && actor.can::<DeleteUsers>()
}

#[cfg(test)]
mod tests {
    use super::*;

    impl AccountFacts {
        /// A superuser who has never signed in, an account with permissions, and one without.
        pub(crate) fn samples() -> [Self; 3] {
            let facts = |is_superuser, last_login, allowed| Self {
                id: "1".to_owned(),
                email: "a@example.com".to_owned(),
                name: Some("Ada".to_owned()),
                is_superuser,
                created: Time::sample(),
                last_login,
                base: t!("every-account"),
                allowed,
            };
            [
                facts(true, None, Vec::new()),
                facts(false, Some(Time::sample()), Allowed::samples()),
                facts(false, None, Vec::new()),
            ]
        }
    }

    impl AccountView {
        /// An account with full tables, one with empty tables, and one without permission to view them.
        pub(crate) fn samples() -> [Self; 3] {
            let [superuser, permitted, plain] = AccountFacts::samples();
            let view = |facts, is_active, verified| Self {
                facts,
                is_active,
                verified,
                seen: "0f".to_owned(),
                keys: None,
                sessions: None,
                entries: None,
                identities: Vec::new(),
                reach: None,
                user_query: "user=a".to_owned(),
                who_query: "who=a".to_owned(),
                may_set_password: is_active,
                may_set_limits: is_active,
                may_link: is_active,
                may_link_password: is_active,
                may_delete: is_active,
                second_factor: is_active.then(Time::sample),
                may_reset_second_factor: is_active,
                may_end_sessions: is_active,
            };
            let [all, some] = ReachView::samples();
            let identity = |email: Option<&str>, disconnect: Option<&str>| IdentityRow {
                provider: "Example ID".to_owned(),
                subject: "248289761001".to_owned(),
                email: email.map(str::to_owned),
                connected: Time::sample(),
                last_used: Time::sample(),
                disconnect: disconnect.map(str::to_owned),
            };
            let full = Self {
                identities: vec![identity(Some("a@example.com"), Some("/admin")), identity(None, None)],
                reach: Some(all),
                keys: Some(Table { rows: KeyRow::samples(), total: 2 }),
                sessions: Some(Table { rows: SessionRow::samples(), total: 2 }),
                entries: Some(Table { rows: EntryRow::samples(), total: 3 }),
                ..view(superuser, true, None)
            };
            let empty = Self {
                reach: Some(some),
                keys: Some(Table { rows: Vec::new(), total: 0 }),
                sessions: Some(Table { rows: Vec::new(), total: 0 }),
                entries: Some(Table { rows: Vec::new(), total: 0 }),
                ..view(permitted, false, Some(Time::sample()))
            };
            [full, empty, view(plain, false, None)]
        }
    }
}
