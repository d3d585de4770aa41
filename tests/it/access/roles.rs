//! Who asks, and what they are to be told.

use super::{
    rows::{Row, Takes, Whose},
    world::{Person, key, permit},
};
use chrono::TimeDelta;
use docent_app::{accounts::create::Flags, audit::Initiator};
use docent_domain::{
    api_key::ApiKeyScope,
    permission::{Permission, PermissionSet},
};
use docent_tests::app::TestApp;
use std::time::Duration;

/// The token of those who watch the service.
pub(super) const SCRAPE_TOKEN: &str = "the token of metrics";

/// The accounts that ask.
pub(super) struct People {
    plain: Person,
    /// One for each role of staff.
    staff: Vec<Person>,
    superuser: Person,
    /// Was staff, and still holds every permission, when its session at the panel began.
    demoted: Person,
    /// Was a superuser then.
    deactivated: Person,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who {
    Nobody,
    Plain,
    /// One of those in [`People::staff`].
    Staff(usize),
    Superuser,
    Demoted,
    Deactivated,
}

/// What stands in `Authorization`.
#[derive(Clone, Debug)]
enum Bearer {
    Nothing,
    AccessToken,
    Key(String, Option<ApiKeyScope>),
    ScrapeToken,
}

/// Somebody who asks.
#[derive(Clone, Debug)]
pub(super) struct Role {
    pub(super) name: String,
    who: Who,
    bearer: Bearer,
    has_session: bool,
    allowed: Allowed,
}

#[derive(Clone, Copy, Debug)]
enum Allowed {
    These(PermissionSet),
    /// What the row takes and no more.
    Exactly,
}

/// What a role is to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Answered,
    /// 401, or at the panel the way to its login.
    Unknown,
    Refused(u16),
}

impl People {
    pub(super) async fn new(app: &TestApp) -> Self {
        let (staff, root) =
            (Flags { is_staff: true, is_superuser: false }, Flags { is_staff: true, is_superuser: true });
        let mut people = Self {
            plain: Person::new(app, "plain@example.org", Flags::default()).await,
            staff: Vec::new(),
            superuser: Person::new(app, "superuser@example.org", root).await,
            demoted: Person::new(app, "demoted@example.org", staff).await,
            deactivated: Person::new(app, "deactivated@example.org", root).await,
        };
        let mut work = app.app.store.begin().await.unwrap();
        let mut user = people.demoted.member.user.clone();
        user.is_staff = false;
        work.users().update(&user).await.unwrap();
        work.commit().await.unwrap();
        permit(app, &people.demoted, PermissionSet::all()).await;
        app.deactivate(people.deactivated.member.user.id).await;
        for (number, (_, allowed)) in staff_roles().into_iter().enumerate() {
            let person = Person::new(app, &format!("staff{number}@example.org"), staff).await;
            if let Allowed::These(these) = allowed {
                permit(app, &person, these).await;
            }
            people.staff.push(person);
        }
        people
    }

    fn get(&self, who: Who) -> Option<&Person> {
        match who {
            Who::Nobody => None,
            Who::Plain => Some(&self.plain),
            Who::Staff(number) => self.staff.get(number),
            Who::Superuser => Some(&self.superuser),
            Who::Demoted => Some(&self.demoted),
            Who::Deactivated => Some(&self.deactivated),
        }
    }

    fn get_mut(&mut self, who: Who) -> Option<&mut Person> {
        match who {
            Who::Nobody => None,
            Who::Plain => Some(&mut self.plain),
            Who::Staff(number) => self.staff.get_mut(number),
            Who::Superuser => Some(&mut self.superuser),
            Who::Demoted => Some(&mut self.demoted),
            Who::Deactivated => Some(&mut self.deactivated),
        }
    }
}

/// The roles of staff who are no superusers.
fn staff_roles() -> Vec<(String, Allowed)> {
    let only = |permission: &Permission| {
        let these = [*permission].into_iter().collect();
        (format!("staff with {permission}"), Allowed::These(these))
    };
    let mut roles: Vec<_> = Permission::ALL.iter().map(only).collect();
    roles.push(("staff without permissions".to_owned(), Allowed::These(PermissionSet::EMPTY)));
    roles.push(("staff with what it takes".to_owned(), Allowed::Exactly));
    roles.push(("staff with every permission".to_owned(), Allowed::These(PermissionSet::all())));
    roles
}

impl Role {
    fn new(name: impl Into<String>, who: Who, bearer: Bearer, has_session: bool) -> Self {
        let allowed = match who {
            Who::Superuser | Who::Demoted => PermissionSet::all(),
            Who::Nobody | Who::Plain | Who::Staff(_) | Who::Deactivated => PermissionSet::EMPTY,
        };
        Self { name: name.into(), who, bearer, has_session, allowed: Allowed::These(allowed) }
    }

    /// All of them. Those with access token and session send both everywhere.
    pub(super) async fn all(app: &TestApp, people: &People) -> Vec<Self> {
        let mut roles = vec![
            Self::new("anonymous", Who::Nobody, Bearer::Nothing, false),
            Self::new("a scraper", Who::Nobody, Bearer::ScrapeToken, false),
            Self::new("a plain user", Who::Plain, Bearer::AccessToken, false),
            Self::new("a superuser", Who::Superuser, Bearer::AccessToken, true),
            Self::new("a superuser without a session", Who::Superuser, Bearer::AccessToken, false),
            Self::new("a superuser's session alone", Who::Superuser, Bearer::Nothing, true),
            Self::new("a deactivated superuser", Who::Deactivated, Bearer::AccessToken, true),
            Self::new("somebody who was staff", Who::Demoted, Bearer::AccessToken, true),
        ];
        for scope in ApiKeyScope::ALL.iter().copied() {
            for (whose, who) in [("a plain user's", Who::Plain), ("a superuser's", Who::Superuser)] {
                let user = people.get(who).unwrap().member.user.id;
                let (key, _) = key(app, user, "a key", &[scope.name()], None).await;
                let name = format!("{whose} key with the scope {}", scope.name());
                roles.push(Self::new(name, who, Bearer::Key(key, Some(scope)), false));
            }
        }
        let scopes: Vec<_> = ApiKeyScope::ALL.iter().map(|scope| scope.name()).collect();
        let root = people.superuser.member.user.id;
        let (expired, _) = key(app, root, "expired", &scopes, Some(TimeDelta::seconds(1))).await;
        app.advance(Duration::from_secs(1));
        let (revoked, id) = key(app, root, "revoked", &scopes, None).await;
        app.app
            .account_service()
            .revoke_api_key(&Initiator::command_line(), id.parse().unwrap())
            .await
            .unwrap();
        let (orphaned, _) = key(app, people.deactivated.member.user.id, "orphaned", &scopes, None).await;
        for (name, key) in [("an expired key", expired), ("a revoked key", revoked)] {
            roles.push(Self::new(name, Who::Superuser, Bearer::Key(key, None), false));
        }
        roles.push(Self::new(
            "a deactivated superuser's key",
            Who::Deactivated,
            Bearer::Key(orphaned, None),
            false,
        ));
        let staff = staff_roles().into_iter().enumerate().map(|(number, (name, allowed))| Self {
            allowed,
            ..Self::new(name, Who::Staff(number), Bearer::AccessToken, true)
        });
        roles.extend(staff);
        roles
    }

    pub(super) fn person<'p>(&self, people: &'p People) -> Option<&'p Person> {
        people.get(self.who)
    }

    pub(super) fn person_mut<'p>(&self, people: &'p mut People) -> Option<&'p mut Person> {
        people.get_mut(self.who)
    }

    /// What it sends in `Authorization`.
    pub(super) fn bearer(&self, people: &People) -> Option<String> {
        match &self.bearer {
            Bearer::Nothing => None,
            Bearer::AccessToken => self.person(people).map(|person| person.member.access.clone()),
            Bearer::Key(key, _) => Some(key.clone()),
            Bearer::ScrapeToken => Some(SCRAPE_TOKEN.to_owned()),
        }
    }

    /// What it sends as `Cookie`, and the token of its forms.
    pub(super) fn session<'p>(&self, people: &'p People) -> Option<(&'p str, &'p str)> {
        let person = self.person(people).filter(|_| self.has_session)?;
        Some((&person.cookie, &person.form_token))
    }

    /// Before it asks for the row, its account is permitted what the row takes, if that is its role.
    pub(super) async fn prepare(&self, app: &TestApp, people: &People, row: &Row) {
        if let (Allowed::Exactly, Some(person)) = (self.allowed, self.person(people)) {
            permit(app, person, self.permissions(row)).await;
        }
    }

    fn permissions(&self, row: &Row) -> PermissionSet {
        match (self.allowed, row.takes) {
            (Allowed::These(these), _) => these,
            (Allowed::Exactly, Takes::Panel(needed)) => needed.iter().copied().collect(),
            (Allowed::Exactly, Takes::Holder(needed)) => [needed].into_iter().collect(),
            (Allowed::Exactly, _) => PermissionSet::EMPTY,
        }
    }

    /// What it is to be told.
    pub(super) fn verdict(&self, row: &Row) -> Verdict {
        let allow =
            |is_allowed| if is_allowed { Verdict::Answered } else { Verdict::Refused(row.refusals[0]) };
        match row.takes {
            Takes::Nothing => return Verdict::Answered,
            Takes::ScrapeToken if matches!(self.bearer, Bearer::ScrapeToken) => return Verdict::Answered,
            Takes::ScrapeToken => return Verdict::Unknown,
            Takes::Account(_) | Takes::Owner(_) | Takes::Login | Takes::Holder(_)
                if !self.is_known_to_api() =>
            {
                return Verdict::Unknown;
            }
            Takes::Staff | Takes::Panel(_) | Takes::Superuser if !self.is_at_panel() => {
                return Verdict::Unknown;
            }
            _ => {}
        }
        let has = |permission: &Permission| self.permissions(row).contains(*permission);
        match row.takes {
            Takes::Account(scope) => {
                // What is one's own is also for whoever may do it to what is anybody's.
                let as_holder = row.whose == Whose::Own && self.has_scope(ApiKeyScope::Admin);
                allow(self.has_scope(scope) || as_holder && self.who == Who::Superuser)
            }
            Takes::Owner(scope) if row.whose == Whose::Own => allow(self.has_scope(scope)),
            Takes::Owner(scope) if self.has_scope(scope) => Verdict::Refused(row.refusals[0]),
            Takes::Owner(_) => Verdict::Refused(row.refusals[1]),
            Takes::Login => allow(matches!(self.bearer, Bearer::AccessToken)),
            Takes::Holder(needed) => allow(has(&needed) && self.has_scope(ApiKeyScope::Admin)),
            Takes::Superuser => allow(self.who == Who::Superuser),
            Takes::Panel(needed) => match needed.iter().position(|permission| !has(permission)) {
                None => Verdict::Answered,
                Some(missing) => Verdict::Refused(row.refusals[missing.min(1)]),
            },
            Takes::Staff | Takes::Nothing | Takes::ScrapeToken => Verdict::Answered,
        }
    }

    /// A key without a scope stands for one that is not good.
    fn is_known_to_api(&self) -> bool {
        let is_good = matches!(self.bearer, Bearer::AccessToken | Bearer::Key(_, Some(_)));
        is_good && self.who != Who::Deactivated
    }

    fn is_at_panel(&self) -> bool {
        self.has_session && matches!(self.who, Who::Staff(_) | Who::Superuser)
    }

    fn has_scope(&self, needed: ApiKeyScope) -> bool {
        match self.bearer {
            Bearer::Key(_, scope) => scope == Some(needed),
            Bearer::Nothing | Bearer::AccessToken | Bearer::ScrapeToken => true,
        }
    }
}
