//! The use cases on fakes, with helpers to create accounts and groups.

use docent_app::App;
use docent_app::accounts::authenticate;
use docent_app::accounts::create::Flags;
use docent_app::accounts::users::AccountInput;
use docent_app::audit::Initiator;
use docent_app::error::{Error, Result};
use docent_app::settings::Settings;
use docent_domain::access::Actor;
use docent_domain::audit::{AuditAction, AuditEntry};
use docent_domain::collection::{Collection, CollectionKind, CollectionName, CollectionRole, Member};
use docent_domain::group::{AssignedPermissions, Group, GroupName};
use docent_domain::id::{CollectionId, GroupId, UserId};
use docent_domain::listing::{AuditFilter, PageRequest};
use docent_domain::missing_access::MissingAccess;
use docent_domain::permission::{Permission, PermissionSet};
use docent_domain::text::Email;
use docent_domain::user::{Password, User};
use docent_ports::Ports;
use docent_ports::mailer::Mail;
use docent_testkit::clock::TestClock;
use docent_testkit::fakes;
use docent_testkit::fakes::mailer::FakeMailer;
use std::sync::Arc;

/// The permissions for the data of accounts, without which staff take over no account.
pub(crate) const DATA: &[Permission] = &[
    Permission::ViewDocument,
    Permission::AddDocument,
    Permission::ChangeDocument,
    Permission::DeleteDocument,
    Permission::ViewConversation,
    Permission::DeleteConversation,
    Permission::ViewWebhook,
    Permission::ChangeWebhook,
    Permission::DeleteWebhook,
];

/// The use cases on fakes, the fakes, their clock and the sent emails.
pub(crate) struct Fixture(pub(crate) App, pub(crate) Ports, pub(crate) Arc<TestClock>, Arc<FakeMailer>);

impl Fixture {
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    pub(crate) fn with(change: impl FnOnce(&mut Settings)) -> Self {
        let mut settings = Settings { accepts_api_keys: true, ..Settings::default() };
        change(&mut settings);
        let (clock, mailer) = (Arc::new(TestClock::default()), Arc::new(FakeMailer::default()));
        let ports =
            Ports { clock: Arc::clone(&clock) as _, mailer: Arc::clone(&mailer) as _, ..fakes::ports() };
        Self(App::new(ports.clone(), settings), ports, clock, mailer)
    }

    /// Returns the emails sent, in order. Sending happens on the runtime of the test, which has one thread.
    pub(crate) async fn mails(&self) -> Vec<Mail> {
        while !self.0.is_idle() {
            tokio::task::yield_now().await;
        }
        self.3.mails()
    }

    async fn account(&self, name: &str, flags: Flags) -> User {
        let initiator = Initiator::command_line();
        self.0.account_service().create(&initiator, email(name), password(), flags).await.unwrap()
    }

    /// Creates a superuser.
    pub(crate) async fn superuser(&self, name: &str) -> User {
        self.account(name, Flags { is_staff: true, is_superuser: true }).await
    }

    /// Creates an account without access to the panel.
    pub(crate) async fn ordinary(&self, name: &str) -> User {
        self.account(name, Flags::default()).await
    }

    /// Creates a staff account with these permissions.
    pub(crate) async fn staff(&self, name: &str, permissions: &[Permission]) -> User {
        let user = self.account(name, Flags { is_staff: true, is_superuser: false }).await;
        let mut work = self.1.store.begin().await.unwrap();
        let assigned_permissions =
            AssignedPermissions { permissions: set(permissions), ..AssignedPermissions::default() };
        work.groups().set_assigned_permissions(user.id, &assigned_permissions).await.unwrap();
        work.commit().await.unwrap();
        user
    }

    /// Returns the actor of an account with its current permissions.
    pub(crate) async fn actor(&self, user: &User) -> Actor {
        let user = self.user(user.id).await;
        authenticate::with_permissions(&self.0, Actor::of(&user).unwrap()).await.unwrap()
    }

    pub(crate) async fn user(&self, id: UserId) -> User {
        self.1.store.read().await.unwrap().users().get(id).await.unwrap().unwrap()
    }

    pub(crate) async fn assigned_permissions(&self, id: UserId) -> AssignedPermissions {
        self.1.store.read().await.unwrap().groups().assigned_permissions(id).await.unwrap()
    }

    pub(crate) async fn group(&self, name: &str, permissions: &[Permission]) -> Group {
        let group = Group {
            id: self.0.new_id(GroupId::generate),
            name: GroupName::parse(name).unwrap(),
            permissions: set(permissions),
            created_at: self.0.now(),
        };
        let mut work = self.1.store.begin().await.unwrap();
        assert!(work.groups().insert(&group).await.unwrap());
        work.commit().await.unwrap();
        group
    }

    /// Creates a closed collection without an owner, on which these members have roles.
    pub(crate) async fn collection(&self, name: &str, members: &[(Member, CollectionRole)]) -> Collection {
        let collection = Collection {
            id: self.0.new_id(CollectionId::generate),
            kind: CollectionKind::Shared,
            name: CollectionName::parse(name).unwrap(),
            role_of_all: None,
            ..Collection::everyone(self.0.now())
        };
        let mut work = self.1.store.begin().await.unwrap();
        work.collections().insert(&collection).await.unwrap();
        for (member, role) in members {
            work.collections().set_member(collection.id, *member, Some(*role)).await.unwrap();
        }
        work.commit().await.unwrap();
        collection
    }

    /// Gives a member another role on a collection, or none.
    pub(crate) async fn set_role(&self, of: &Collection, member: Member, role: Option<CollectionRole>) {
        let mut work = self.1.store.begin().await.unwrap();
        work.collections().set_member(of.id, member, role).await.unwrap();
        work.commit().await.unwrap();
    }

    /// Returns the audit entries of changes to an account.
    pub(crate) async fn changes(&self, id: UserId) -> Vec<AuditEntry> {
        let filter = AuditFilter {
            action: Some(AuditAction::Change),
            record: Some(id.to_string()),
            ..AuditFilter::default()
        };
        let page = PageRequest { offset: 0, limit: 100 };
        self.1.store.read().await.unwrap().audit().list(&filter, page).await.unwrap().records
    }

    /// Returns the current state of an account as input for a change.
    pub(crate) async fn current(&self, id: UserId) -> AccountInput {
        let user = self.user(id).await;
        AccountInput {
            email: user.email,
            is_active: user.is_active,
            is_staff: user.is_staff,
            is_superuser: user.is_superuser,
            assigned: self.assigned_permissions(id).await,
        }
    }
}

pub(crate) fn email(name: &str) -> Email {
    Email::parse(&format!("{name}@example.org")).unwrap()
}

pub(crate) fn password() -> Password {
    Password::parse_new("correct horse".to_owned()).unwrap()
}

pub(crate) fn set(permissions: &[Permission]) -> PermissionSet {
    permissions.iter().copied().collect()
}

/// Returns what an actor lacks for a use case that was refused.
pub(crate) fn missing<T: std::fmt::Debug>(result: Result<T>) -> MissingAccess {
    match result {
        Err(Error::MissingAccess(missing)) => missing,
        other => panic!("{other:?}"),
    }
}

/// Returns the field that a use case refused.
pub(crate) fn refused_field<T: std::fmt::Debug>(result: Result<T>) -> &'static str {
    match result {
        Err(Error::Invalid(invalid)) => invalid.field,
        other => panic!("{other:?}"),
    }
}
