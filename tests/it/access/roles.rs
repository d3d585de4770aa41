//! The roles that send requests, and the result expected for each.

use super::records::{TestAccount, key, permit};
use super::rows::{RecordOwner, Requires, Row};
use chrono::TimeDelta;
use docent_app::accounts::create::Flags;
use docent_app::audit::Initiator;
use docent_domain::api_key::ApiKeyScope;
use docent_domain::permission::{Permission, PermissionSet};
use docent_tests::app::TestApp;
use docent_tests::librechat::{SECRET, sign};
use serde_json::json;
use std::time::Duration;

/// The token for `/metrics`.
pub(super) const SCRAPE_TOKEN: &str = "the token of metrics";

/// The accounts that send requests.
pub(super) struct Accounts {
    plain: TestAccount,
    /// One per staff role.
    staff: Vec<TestAccount>,
    superuser: TestAccount,
    /// Lost its staff status after its panel session began, and still has every permission.
    demoted: TestAccount,
    /// A superuser that was deactivated after its panel session began.
    deactivated: TestAccount,
}

/// The account of a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Caller {
    Anonymous,
    Plain,
    /// Index into [`Accounts::staff`].
    Staff(usize),
    Superuser,
    Demoted,
    Deactivated,
}

/// The credentials besides the session cookie.
#[derive(Clone, Debug)]
enum Bearer {
    Nothing,
    AccessToken,
    Key(String, Option<ApiKeyScope>),
    ScrapeToken,
    /// A token of LibreChat.
    LibreChat(String),
    /// None, but the header of the web chat, which makes the API accept the session.
    WebChat,
}

/// A way to send requests: an account, its credentials and its permissions.
#[derive(Clone, Debug)]
pub(super) struct Role {
    pub(super) name: String,
    caller: Caller,
    bearer: Bearer,
    has_session: bool,
    permissions: Permissions,
}

/// The permissions of a role.
#[derive(Clone, Copy, Debug)]
enum Permissions {
    Fixed(PermissionSet),
    /// Exactly those that the row requires.
    Required,
}

/// The expected result of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    Allowed,
    /// 401, or on pages with a session a redirect to the login page.
    Unauthenticated,
    Refused(u16),
}

impl Accounts {
    pub(super) async fn new(app: &TestApp) -> Self {
        let (staff, root) =
            (Flags { is_staff: true, is_superuser: false }, Flags { is_staff: true, is_superuser: true });
        let mut accounts = Self {
            plain: TestAccount::new(app, "plain@example.org", Flags::default()).await,
            staff: Vec::new(),
            superuser: TestAccount::new(app, "superuser@example.org", root).await,
            demoted: TestAccount::new(app, "demoted@example.org", staff).await,
            deactivated: TestAccount::new(app, "deactivated@example.org", root).await,
        };
        let mut work = app.ports.store.begin().await.unwrap();
        let mut user = accounts.demoted.member.user.clone();
        user.is_staff = false;
        work.users().update(&user).await.unwrap();
        work.commit().await.unwrap();
        permit(app, &accounts.demoted, PermissionSet::all()).await;
        app.deactivate(accounts.deactivated.member.user.id).await;
        for (number, (_, permissions)) in staff_roles().into_iter().enumerate() {
            let account = TestAccount::new(app, &format!("staff{number}@example.org"), staff).await;
            if let Permissions::Fixed(permissions) = permissions {
                permit(app, &account, permissions).await;
            }
            accounts.staff.push(account);
        }
        accounts
    }

    fn get(&self, caller: Caller) -> Option<&TestAccount> {
        match caller {
            Caller::Anonymous => None,
            Caller::Plain => Some(&self.plain),
            Caller::Staff(number) => self.staff.get(number),
            Caller::Superuser => Some(&self.superuser),
            Caller::Demoted => Some(&self.demoted),
            Caller::Deactivated => Some(&self.deactivated),
        }
    }

    fn get_mut(&mut self, caller: Caller) -> Option<&mut TestAccount> {
        match caller {
            Caller::Anonymous => None,
            Caller::Plain => Some(&mut self.plain),
            Caller::Staff(number) => self.staff.get_mut(number),
            Caller::Superuser => Some(&mut self.superuser),
            Caller::Demoted => Some(&mut self.demoted),
            Caller::Deactivated => Some(&mut self.deactivated),
        }
    }
}

/// The staff roles that are not superusers, and their permissions.
fn staff_roles() -> Vec<(String, Permissions)> {
    let only = |permission: &Permission| {
        let permissions = [*permission].into_iter().collect();
        (format!("staff with {permission}"), Permissions::Fixed(permissions))
    };
    let mut roles: Vec<_> = Permission::ALL.iter().map(only).collect();
    roles.push(("staff without permissions".to_owned(), Permissions::Fixed(PermissionSet::EMPTY)));
    roles.push(("staff with exactly the required permissions".to_owned(), Permissions::Required));
    roles.push(("staff with every permission".to_owned(), Permissions::Fixed(PermissionSet::all())));
    roles
}

impl Role {
    fn new(name: impl Into<String>, caller: Caller, bearer: Bearer, has_session: bool) -> Self {
        let permissions = match caller {
            Caller::Superuser | Caller::Demoted => PermissionSet::all(),
            Caller::Anonymous | Caller::Plain | Caller::Staff(_) | Caller::Deactivated => {
                PermissionSet::EMPTY
            }
        };
        Self { name: name.into(), caller, bearer, has_session, permissions: Permissions::Fixed(permissions) }
    }

    /// Returns all roles. Those with an access token and a session send both with every request.
    pub(super) async fn all(app: &TestApp, accounts: &Accounts) -> Vec<Self> {
        let claims = json!({ "id": "65f0c0ffee", "exp": (app.app.now() + TimeDelta::days(1)).timestamp() });
        let librechat = sign(&json!({ "alg": "HS256" }), &claims, SECRET.as_bytes());
        let mut roles = vec![
            Self::new("anonymous", Caller::Anonymous, Bearer::Nothing, false),
            Self::new("a scraper", Caller::Anonymous, Bearer::ScrapeToken, false),
            Self::new("a user of LibreChat", Caller::Anonymous, Bearer::LibreChat(librechat), false),
            Self::new("a plain user", Caller::Plain, Bearer::AccessToken, false),
            Self::new("a plain user's session", Caller::Plain, Bearer::AccessToken, true),
            Self::new("a superuser", Caller::Superuser, Bearer::AccessToken, true),
            Self::new("a superuser without a session", Caller::Superuser, Bearer::AccessToken, false),
            Self::new("a superuser's session alone", Caller::Superuser, Bearer::Nothing, true),
            Self::new("a plain user's web chat", Caller::Plain, Bearer::WebChat, true),
            Self::new("a superuser's web chat", Caller::Superuser, Bearer::WebChat, true),
            Self::new("a deactivated superuser", Caller::Deactivated, Bearer::AccessToken, true),
            Self::new("a former staff account", Caller::Demoted, Bearer::AccessToken, true),
        ];
        for scope in ApiKeyScope::ALL.iter().copied() {
            for (whose, caller) in [("a plain user's", Caller::Plain), ("a superuser's", Caller::Superuser)] {
                let user = accounts.get(caller).unwrap().member.user.id;
                let (key, _) = key(app, user, "a key", &[scope.name()], None).await;
                let name = format!("{whose} key with the scope {}", scope.name());
                roles.push(Self::new(name, caller, Bearer::Key(key, Some(scope)), false));
            }
        }
        let scopes: Vec<_> = ApiKeyScope::ALL.iter().map(|scope| scope.name()).collect();
        let root = accounts.superuser.member.user.id;
        let (expired, _) = key(app, root, "expired", &scopes, Some(TimeDelta::seconds(1))).await;
        app.advance(Duration::from_secs(1));
        let (revoked, id) = key(app, root, "revoked", &scopes, None).await;
        app.app
            .account_service()
            .revoke_api_key(&Initiator::command_line(), id.parse().unwrap())
            .await
            .unwrap();
        let (orphaned, _) = key(app, accounts.deactivated.member.user.id, "orphaned", &scopes, None).await;
        for (name, key) in [("an expired key", expired), ("a revoked key", revoked)] {
            roles.push(Self::new(name, Caller::Superuser, Bearer::Key(key, None), false));
        }
        roles.push(Self::new(
            "a deactivated superuser's key",
            Caller::Deactivated,
            Bearer::Key(orphaned, None),
            false,
        ));
        let staff = staff_roles().into_iter().enumerate().map(|(number, (name, permissions))| Self {
            permissions,
            ..Self::new(name, Caller::Staff(number), Bearer::AccessToken, true)
        });
        roles.extend(staff);
        roles
    }

    pub(super) fn account<'p>(&self, accounts: &'p Accounts) -> Option<&'p TestAccount> {
        accounts.get(self.caller)
    }

    pub(super) fn account_mut<'p>(&self, accounts: &'p mut Accounts) -> Option<&'p mut TestAccount> {
        accounts.get_mut(self.caller)
    }

    /// Returns the bearer token to send.
    pub(super) fn bearer(&self, accounts: &Accounts) -> Option<String> {
        match &self.bearer {
            Bearer::Nothing | Bearer::WebChat => None,
            Bearer::AccessToken => self.account(accounts).map(|account| account.member.access.clone()),
            Bearer::Key(key, _) => Some(key.clone()),
            Bearer::ScrapeToken => Some(SCRAPE_TOKEN.to_owned()),
            Bearer::LibreChat(token) => Some(token.clone()),
        }
    }

    /// Returns the account that the header of the web chat names.
    pub(super) fn web_chat(&self, accounts: &Accounts) -> Option<String> {
        let account = self.account(accounts).filter(|_| matches!(self.bearer, Bearer::WebChat))?;
        Some(account.member.user.id.to_string())
    }

    /// Returns the session cookie and form token to send.
    pub(super) fn session<'p>(&self, accounts: &'p Accounts) -> Option<(&'p str, &'p str)> {
        let account = self.account(accounts).filter(|_| self.has_session)?;
        Some((&account.cookie, &account.form_token))
    }

    /// Grants the account exactly the row's required permissions, if that is the role.
    pub(super) async fn prepare(&self, app: &TestApp, accounts: &Accounts, row: &Row) {
        if let (Permissions::Required, Some(account)) = (self.permissions, self.account(accounts)) {
            permit(app, account, self.permissions(row)).await;
        }
    }

    fn permissions(&self, row: &Row) -> PermissionSet {
        match (self.permissions, row.requires) {
            (Permissions::Fixed(permissions), _) => permissions,
            (Permissions::Required, Requires::Panel(needed) | Requires::Granted(needed)) => {
                needed.iter().copied().collect()
            }
            (Permissions::Required, _) => PermissionSet::EMPTY,
        }
    }

    /// Returns the expected result of requesting a row.
    pub(super) fn expected(&self, row: &Row) -> Expected {
        let allowed_if =
            |is_allowed| if is_allowed { Expected::Allowed } else { Expected::Refused(row.refusals[0]) };
        match row.requires {
            Requires::Nothing => return Expected::Allowed,
            Requires::ScrapeToken if matches!(self.bearer, Bearer::ScrapeToken) => return Expected::Allowed,
            Requires::ScrapeToken => return Expected::Unauthenticated,
            Requires::LibreChat if matches!(self.bearer, Bearer::LibreChat(_)) => return Expected::Allowed,
            Requires::LibreChat => return Expected::Unauthenticated,
            Requires::WebChat => return allowed_if(matches!(self.bearer, Bearer::WebChat)),
            // It ends the sessions of API clients.
            Requires::AccessToken if matches!(self.bearer, Bearer::WebChat) => {
                return Expected::Unauthenticated;
            }
            Requires::Account(_) | Requires::Owner(_) | Requires::AccessToken | Requires::Granted(_)
                if !self.is_authenticated() =>
            {
                return Expected::Unauthenticated;
            }
            Requires::Staff | Requires::Panel(_) | Requires::Superuser if !self.has_panel_session() => {
                return Expected::Unauthenticated;
            }
            Requires::SignedIn | Requires::SignedInOwner if !self.has_browser_session() => {
                return Expected::Unauthenticated;
            }
            _ => {}
        }
        let has = |permission: &Permission| self.permissions(row).contains(*permission);
        match row.requires {
            Requires::Account(scope) => {
                // The permission for the records of all accounts includes the own ones.
                let as_holder = row.owner == RecordOwner::Own && self.has_scope(ApiKeyScope::Admin);
                allowed_if(self.has_scope(scope) || as_holder && self.caller == Caller::Superuser)
            }
            Requires::Owner(scope) if row.owner == RecordOwner::Own => allowed_if(self.has_scope(scope)),
            Requires::Owner(scope) if self.has_scope(scope) => Expected::Refused(row.refusals[0]),
            Requires::Owner(_) => Expected::Refused(row.refusals[1]),
            Requires::AccessToken => allowed_if(matches!(self.bearer, Bearer::AccessToken)),
            Requires::Granted(needed) => {
                allowed_if(needed.iter().all(has) && self.has_scope(ApiKeyScope::Admin))
            }
            Requires::Superuser => allowed_if(self.caller == Caller::Superuser),
            Requires::Panel(needed) => match needed.iter().position(|permission| !has(permission)) {
                None => Expected::Allowed,
                Some(missing) => Expected::Refused(row.refusals[missing.min(1)]),
            },
            Requires::SignedInOwner => allowed_if(row.owner == RecordOwner::Own),
            Requires::Staff
            | Requires::SignedIn
            | Requires::Nothing
            | Requires::ScrapeToken
            | Requires::LibreChat
            | Requires::WebChat => Expected::Allowed,
        }
    }

    /// Whether the API accepts the credentials. A key without a scope stands for an invalid key.
    fn is_authenticated(&self) -> bool {
        let is_valid = matches!(self.bearer, Bearer::AccessToken | Bearer::WebChat | Bearer::Key(_, Some(_)));
        is_valid && self.caller != Caller::Deactivated
    }

    fn has_browser_session(&self) -> bool {
        self.has_session && self.caller != Caller::Deactivated
    }

    fn has_panel_session(&self) -> bool {
        self.has_session && matches!(self.caller, Caller::Staff(_) | Caller::Superuser)
    }

    fn has_scope(&self, needed: ApiKeyScope) -> bool {
        match self.bearer {
            Bearer::Key(_, scope) => scope == Some(needed),
            Bearer::Nothing
            | Bearer::AccessToken
            | Bearer::ScrapeToken
            | Bearer::LibreChat(_)
            | Bearer::WebChat => true,
        }
    }
}
