//! What a member of staff can read after any sequence of allowed actions, compared with a model of the rules.
//!
//! The model knows only what the member of staff had at the beginning. It shares no code with the rules of
//! delegation.

use crate::fixture::{DATA, Fixture, email};
use docent_app::accounts::api_keys::{self, ApiKeyInput};
use docent_app::accounts::users::{self, AccountInput};
use docent_app::accounts::{authenticate, groups, verification};
use docent_app::collections::members::{self, MemberName};
use docent_app::conversations::own;
use docent_app::documents::get;
use docent_app::scope;
use docent_domain::access::{Actor, Operation, UseAdminPanel, ViewConversations, ViewDocuments};
use docent_domain::api_key::{ApiKey, ApiKeyName, ApiKeyScopes};
use docent_domain::collection::{CollectionRole, Member};
use docent_domain::document::Document;
use docent_domain::group::{AssignedPermissions, GroupName};
use docent_domain::id::{CollectionId, ConversationId, DocumentId, GroupId, UserId};
use docent_domain::listing::PageRequest;
use docent_domain::permission::Permission::{
    self, AddApiKey, AddGroup, AddUser, AddVerification, ChangeCollection, ChangeGroup, ChangeUser,
    DeleteGroup, DeleteUser, ViewCollection, ViewConversation, ViewDocument, ViewGroup, ViewUser,
};
use docent_domain::permission::PermissionSet;
use docent_domain::user::Password;
use docent_domain::verification::VerificationPurpose;
use docent_testkit::builders::{conversation, document};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::mem::discriminant;
use std::sync::Mutex;
use tokio::runtime::{Builder, Runtime};

const COLLECTIONS: usize = 2;
const GROUPS: usize = 2;
const OTHERS: usize = 3;
/// The member of staff, and the other accounts.
const USERS: usize = 1 + OTHERS;

const MANAGING: &[Permission] = &[
    ViewUser,
    AddUser,
    ChangeUser,
    DeleteUser,
    ViewGroup,
    AddGroup,
    ChangeGroup,
    DeleteGroup,
    AddApiKey,
    AddVerification,
];

/// The accounts, groups and roles at the beginning.
#[derive(Clone, Debug)]
struct Beginning {
    /// Permissions of the accounts, then of the groups.
    permissions: Vec<PermissionSet>,
    /// Which groups each account is in.
    groups: Vec<[bool; GROUPS]>,
    /// Roles of the accounts, then of the groups, on each collection.
    roles: Vec<[Option<CollectionRole>; COLLECTIONS]>,
    is_staff: [bool; OTHERS],
}

/// What an action does.
#[derive(Clone, Debug)]
enum Action {
    Create { groups: [bool; GROUPS], permissions: PermissionSet, is_staff: bool },
    Assign { user: usize, groups: [bool; GROUPS], permissions: PermissionSet, is_staff: bool },
    Readdress { user: usize },
    SetPassword { user: usize },
    Link { user: usize },
    Key { user: usize, scopes: Vec<&'static str> },
    ChangeGroup { group: usize, permissions: PermissionSet },
    DeleteGroup { group: usize },
    DeleteUser { user: usize },
    SetMember { collection: usize, member: usize, role: CollectionRole },
}

fn some(of: &'static [Permission], probability: f64) -> impl Strategy<Value = PermissionSet> {
    prop::collection::vec(prop::bool::weighted(probability), of.len()).prop_map(move |chosen| {
        of.iter().zip(chosen).filter(|(_, is_chosen)| *is_chosen).map(|(permission, _)| *permission).collect()
    })
}

/// Permissions that open something, with or without all of those for data.
fn opening(probability: f64) -> impl Strategy<Value = PermissionSet> {
    const SEEING: &[Permission] = &[ViewDocument, ViewCollection, ChangeCollection, ViewConversation];
    let data = prop_oneof![2 => Just(0.0), 2 => Just(1.0), 1 => Just(0.9)];
    (some(SEEING, probability), data.prop_flat_map(|of| some(DATA, of))).prop_map(|(a, b)| a.union(b))
}

fn role() -> impl Strategy<Value = CollectionRole> {
    prop::sample::select(CollectionRole::ALL)
}

fn roles(probability: f64) -> impl Strategy<Value = [Option<CollectionRole>; COLLECTIONS]> {
    prop::array::uniform2(prop::option::weighted(probability, role()))
}

fn beginning() -> impl Strategy<Value = Beginning> {
    let staff = (some(MANAGING, 0.9), opening(0.3)).prop_map(|(a, b)| a.union(b));
    let others = prop::collection::vec(opening(0.2), OTHERS + GROUPS);
    let permissions = (staff, others).prop_map(|(staff, others)| [vec![staff], others].concat());
    let in_group = || prop::array::uniform2(prop::bool::weighted(0.3));
    let roles_of = (prop::collection::vec(roles(0.3), USERS), prop::collection::vec(roles(0.6), GROUPS));
    (permissions, prop::collection::vec(in_group(), USERS), roles_of, any::<[bool; OTHERS]>()).prop_map(
        |(permissions, groups, (users, of_groups), is_staff)| Beginning {
            permissions,
            groups,
            roles: [users, of_groups].concat(),
            is_staff,
        },
    )
}

/// An action by one of the accounts that the member of staff controls. Accounts are counted with those
/// created later.
fn action() -> impl Strategy<Value = (usize, Action)> {
    let (user, groups) = (|| 0..USERS + 2, || any::<[bool; GROUPS]>());
    let permissions =
        || prop_oneof![2 => Just(PermissionSet::EMPTY), 1 => opening(0.3), 1 => some(MANAGING, 0.5)];
    let scopes = prop::sample::subsequence(vec!["read", "ingest", "chat", "admin"], 1..=4);
    let action = prop_oneof![
        2 => (groups(), permissions(), any::<bool>())
            .prop_map(|(groups, permissions, is_staff)| Action::Create { groups, permissions, is_staff }),
        4 => (user(), groups(), permissions(), any::<bool>()).prop_map(|(user, groups, permissions, is_staff)| {
            Action::Assign { user, groups, permissions, is_staff }
        }),
        1 => user().prop_map(|user| Action::Readdress { user }),
        2 => user().prop_map(|user| Action::SetPassword { user }),
        1 => user().prop_map(|user| Action::Link { user }),
        2 => (user(), scopes).prop_map(|(user, scopes)| Action::Key { user, scopes }),
        1 => (0..GROUPS, permissions()).prop_map(|(group, permissions)| Action::ChangeGroup { group, permissions }),
        1 => (0..GROUPS).prop_map(|group| Action::DeleteGroup { group }),
        1 => (1..USERS).prop_map(|user| Action::DeleteUser { user }),
        3 => (0..COLLECTIONS, 0..USERS + GROUPS, role())
            .prop_map(|(collection, member, role)| Action::SetMember { collection, member, role }),
    ];
    (0..4_usize, action)
}

/// What can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Text {
    DocumentOf(usize),
    ConversationSharedWith(usize),
    PersonalDocument(usize),
    PrivateConversation(usize),
}

/// What the member of staff may read: at the beginning, and at most after any actions.
struct Model<'b>(&'b Beginning);

impl Model<'_> {
    fn has(&self, permission: Permission) -> bool {
        let own = self.0.permissions[0];
        let of_groups = (0..GROUPS).filter(|group| self.0.groups[0][*group]);
        own.contains(permission)
            || of_groups.map(|group| self.0.permissions[USERS + group]).any(|of| of.contains(permission))
    }

    fn has_role(&self, collection: usize) -> bool {
        let of_groups = (0..GROUPS).filter(|group| self.0.groups[0][*group]);
        self.0.roles[0][collection].is_some()
            || of_groups.map(|group| self.0.roles[USERS + group][collection]).any(|role| role.is_some())
    }

    /// Whether it may make itself a member of any collection.
    fn can_set_roles(&self) -> bool {
        self.has(ViewCollection) && self.has(ChangeCollection)
    }

    fn reads(&self, text: Text) -> bool {
        match text {
            Text::DocumentOf(collection) => self.has_role(collection) || self.has(ViewDocument),
            Text::ConversationSharedWith(collection) => {
                self.has_role(collection) || self.has(ViewConversation)
            }
            Text::PersonalDocument(_) => self.has(ViewDocument),
            Text::PrivateConversation(_) => self.has(ViewConversation),
        }
    }

    fn may_come_to_read(&self, text: Text) -> bool {
        let by_role = matches!(text, Text::DocumentOf(_) | Text::ConversationSharedWith(_));
        self.reads(text) || by_role && self.can_set_roles()
    }
}

/// How the member of staff acts for an account.
#[derive(Clone, Debug)]
enum Control {
    Account(UserId),
    Key(Box<ApiKey>),
}

struct World {
    runtime: Runtime,
    fixture: Fixture,
    users: Vec<UserId>,
    groups: Vec<GroupId>,
    collections: Vec<CollectionId>,
    documents: BTreeMap<Text, DocumentId>,
    conversations: BTreeMap<Text, ConversationId>,
    controlled: Vec<Control>,
}

impl World {
    fn new(beginning: &Beginning) -> Self {
        let runtime = Builder::new_current_thread().enable_time().build().unwrap();
        let fixture = Fixture::new();
        let mut world = Self {
            runtime,
            fixture,
            users: Vec::new(),
            groups: Vec::new(),
            collections: Vec::new(),
            documents: BTreeMap::new(),
            conversations: BTreeMap::new(),
            controlled: Vec::new(),
        };
        let Self { runtime, fixture, users, groups, collections, documents, conversations, controlled } =
            &mut world;
        runtime.block_on(async {
            for n in 0..GROUPS {
                let permissions: Vec<Permission> = beginning.permissions[USERS + n].iter().collect();
                groups.push(fixture.group(&format!("group {n}"), &permissions).await.id);
            }
            for n in 0..USERS {
                let is_staff = n == 0 || beginning.is_staff[n - 1];
                let name = format!("user{n}");
                let user =
                    if is_staff { fixture.staff(&name, &[]).await } else { fixture.ordinary(&name).await };
                users.push(user.id);
            }
            for n in 0..COLLECTIONS {
                let member = |m: usize| match m.checked_sub(USERS) {
                    None => Member::User(users[m]),
                    Some(group) => Member::Group(groups[group]),
                };
                let roles = beginning.roles.iter().enumerate();
                let roles: Vec<_> = roles.filter_map(|(m, of)| Some((member(m), of[n]?))).collect();
                collections.push(fixture.collection(&format!("collection {n}"), &roles).await.id);
            }
            let mut work = fixture.1.store.begin().await.unwrap();
            for (n, user) in users.iter().enumerate() {
                let assigned = assigned(groups, beginning.groups[n], beginning.permissions[n]);
                work.groups().set_assigned_permissions(*user, &assigned).await.unwrap();
            }
            let of_collections = (0..COLLECTIONS).map(|n| {
                (Text::DocumentOf(n), Text::ConversationSharedWith(n), users[1], Some(collections[n]))
            });
            let of_accounts =
                (1..USERS).map(|n| (Text::PersonalDocument(n), Text::PrivateConversation(n), users[n], None));
            let texts = (1..).zip(of_collections.chain(of_accounts));
            for (n, (of_document, of_conversation, owner, shared)) in texts {
                let collection = shared.unwrap_or(CollectionId::personal(owner));
                let of = Document { owner: Some(owner), collections: [collection].into(), ..document(n) };
                work.documents().insert(&of).await.unwrap();
                documents.insert(of_document, of.id);
                let talk = conversation(n, owner);
                assert!(work.conversations().insert(&talk).await.unwrap());
                let with: BTreeSet<CollectionId> = shared.into_iter().collect();
                work.conversations().share(talk.id, &with).await.unwrap();
                conversations.insert(of_conversation, talk.id);
            }
            work.commit().await.unwrap();
            controlled.push(Control::Account(users[0]));
        });
        world
    }

    async fn actor(fixture: &Fixture, control: &Control) -> Option<Actor> {
        let id = match control {
            Control::Account(id) => *id,
            Control::Key(key) => key.user,
        };
        let user = fixture.1.store.read().await.unwrap().users().get(id).await.unwrap()?;
        let actor = authenticate::with_permissions(&fixture.0, Actor::of(&user)?).await.unwrap();
        Some(match control {
            Control::Account(_) => actor,
            Control::Key(key) => actor.with_key(key),
        })
    }

    /// Tries an action; returns whether it was allowed. One that is refused changes nothing.
    fn apply(&mut self, by: usize, action: &Action) -> bool {
        let Self { runtime, fixture, users, groups, collections, controlled, .. } = self;
        let app = &fixture.0;
        let password = || Password::parse_new("another secret".to_owned()).unwrap();
        runtime.block_on(async {
            let Some(actor) = Self::actor(fixture, &controlled[by % controlled.len()]).await else {
                return false;
            };
            if let Action::SetMember { collection, member, role } = action {
                let name = match member.checked_sub(USERS) {
                    None => MemberName::User(email(&format!("user{member}"))),
                    Some(n) => MemberName::Group(GroupName::parse(&format!("group {n}")).unwrap()),
                };
                return members::set(app, &actor, collections[*collection], &name, *role).await.is_ok();
            }
            if actor.authorize::<UseAdminPanel>().is_err() {
                return false;
            }
            let target = |user: usize| users.get(user).copied();
            match action {
                Action::Create { groups: of, permissions, is_staff } => {
                    let Ok(grant) = actor.authorize() else { return false };
                    let input = AccountInput {
                        email: email(&format!("new{}", users.len())),
                        is_active: true,
                        is_staff: *is_staff,
                        is_superuser: false,
                        assigned: assigned(groups, *of, *permissions),
                    };
                    let Ok(user) = users::create(app, &actor, grant, input, password()).await else {
                        return false;
                    };
                    users.push(user.id);
                    controlled.push(Control::Account(user.id));
                    true
                }
                Action::Assign { user, groups: of, permissions, is_staff } => {
                    let (Ok(grant), Some(user)) = (actor.authorize(), target(*user)) else { return false };
                    if !exists(fixture, user).await {
                        return false;
                    }
                    let input = AccountInput {
                        is_staff: *is_staff,
                        assigned: assigned(groups, *of, *permissions),
                        ..fixture.current(user).await
                    };
                    users::change(app, &actor, grant, user, &input).await.is_ok()
                }
                Action::Readdress { user } => {
                    let (Ok(grant), Some(user)) = (actor.authorize(), target(*user)) else { return false };
                    if !exists(fixture, user).await {
                        return false;
                    }
                    let before = fixture.current(user).await;
                    let input = AccountInput { email: email("own-mailbox"), ..before.clone() };
                    let is_allowed = users::change(app, &actor, grant, user, &input).await.is_ok();
                    if is_allowed {
                        controlled.push(Control::Account(user));
                        // Members are named by their first address.
                        let grant = actor.authorize().unwrap();
                        let _ = users::change(app, &actor, grant, user, &before).await;
                    }
                    is_allowed
                }
                Action::SetPassword { user } => {
                    let (Ok(grant), Some(user)) = (actor.authorize(), target(*user)) else { return false };
                    let is_allowed = users::set_password(app, &actor, grant, user, password()).await.is_ok();
                    controlled.extend(is_allowed.then_some(Control::Account(user)));
                    is_allowed
                }
                Action::Link { user } => {
                    let (Ok(grant), Some(user)) = (actor.authorize(), target(*user)) else { return false };
                    let purpose = VerificationPurpose::ResetPassword;
                    let is_allowed = verification::issue(app, &actor, &grant, user, purpose).await.is_ok();
                    controlled.extend(is_allowed.then_some(Control::Account(user)));
                    is_allowed
                }
                Action::Key { user, scopes } => {
                    let Some(user) = target(*user) else { return false };
                    let scopes = ApiKeyScopes::parse(scopes.iter().copied()).unwrap();
                    let name = ApiKeyName::parse("a key").unwrap();
                    let input = ApiKeyInput { user, name, scopes, collections: None, expires_at: None };
                    let Ok(new) = api_keys::create(app, &actor, input).await else { return false };
                    controlled.push(Control::Key(Box::new(new.record)));
                    true
                }
                Action::ChangeGroup { group, permissions } => {
                    let Ok(grant) = actor.authorize() else { return false };
                    let name = GroupName::parse(&format!("group {group}")).unwrap();
                    groups::change(app, &actor, grant, groups[*group], name, *permissions).await.is_ok()
                }
                Action::DeleteGroup { group } => {
                    let Ok(grant) = actor.authorize() else { return false };
                    groups::delete(app, &actor, grant, groups[*group]).await.is_ok()
                }
                Action::DeleteUser { user } => {
                    let (Ok(grant), Some(user)) = (actor.authorize(), target(*user)) else { return false };
                    users::delete(app, &actor, grant, user).await.is_ok()
                }
                Action::SetMember { .. } => false,
            }
        })
    }

    /// Everything that the controlled accounts and keys can read, in the panel and elsewhere.
    fn read(&self) -> BTreeSet<Text> {
        let (app, mut read) = (&self.fixture.0, BTreeSet::new());
        self.runtime.block_on(async {
            for control in &self.controlled {
                let Some(actor) = Self::actor(&self.fixture, control).await else { continue };
                let scope = scope::load(app, &actor).await.unwrap();
                for (text, id) in &self.documents {
                    let in_scope = match actor.authorize() {
                        Ok(grant) => get::get(app, grant, &scope, *id).await.is_ok(),
                        Err(_) => false,
                    };
                    if in_scope || sees_in_panel::<ViewDocuments>(&actor) {
                        read.insert(*text);
                    }
                }
                for (text, id) in &self.conversations {
                    let page = PageRequest { offset: 0, limit: 1 };
                    let is_open = match actor.authorize() {
                        Ok(grant) => own::read(app, &grant, &scope, *id, page).await.is_ok(),
                        Err(_) => false,
                    };
                    if is_open || sees_in_panel::<ViewConversations>(&actor) {
                        read.insert(*text);
                    }
                }
            }
        });
        read
    }
}

fn sees_in_panel<A: Operation>(actor: &Actor) -> bool {
    actor.authorize::<UseAdminPanel>().is_ok() && actor.authorize::<A>().is_ok()
}

async fn exists(fixture: &Fixture, user: UserId) -> bool {
    fixture.1.store.read().await.unwrap().users().get(user).await.unwrap().is_some()
}

fn assigned(groups: &[GroupId], chosen: [bool; GROUPS], permissions: PermissionSet) -> AssignedPermissions {
    let groups = groups.iter().zip(chosen).filter(|(_, is_in)| *is_in).map(|(id, _)| *id).collect();
    AssignedPermissions { permissions, groups, ..AssignedPermissions::default() }
}

// Invariant: Whatever staff do, they come to read no more than what they could read or make themselves
// members of at the beginning.
#[test]
fn staff_come_to_read_no_more_than_the_model_allows() {
    let config = ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() };
    let cases = (beginning(), prop::collection::vec(action(), 1..16));
    let allowed = Mutex::new(HashMap::new());
    let result = TestRunner::new(config).run(&cases, |(beginning, actions)| {
        let (mut world, model) = (World::new(&beginning), Model(&beginning));
        let texts: BTreeSet<Text> =
            world.documents.keys().chain(world.conversations.keys()).copied().collect();
        let first: BTreeSet<Text> = texts.iter().copied().filter(|text| model.reads(*text)).collect();
        prop_assert_eq!(world.read(), first);
        for (n, (by, action)) in actions.iter().enumerate() {
            if world.apply(*by, action) {
                *allowed.lock().unwrap().entry(discriminant(action)).or_insert(0) += 1;
            }
            for text in world.read() {
                prop_assert!(model.may_come_to_read(text), "{:?} is read after {:?}", text, &actions[..=n]);
            }
        }
        Ok(())
    });
    result.unwrap();
    // Of each of the ten kinds, or else refusals alone were tried.
    let allowed = allowed.into_inner().unwrap();
    assert!(allowed.len() == 10 && allowed.values().all(|times| *times >= 10), "{allowed:?}");
}
