//! What each account sees, compared with a model under random sequences of memberships, uploads, moves and deletions.
//!
//! The model has rules of its own: it shares no code with the scopes that it checks.

mod readers;

use crate::service::Service;
use bytes::Bytes;
use docent_app::collections::{self, CollectionSettings, members};
use docent_app::documents::label::{self, CollectionsChange, LabelChange};
use docent_app::documents::{delete, file, get, list, upload};
use docent_app::scope;
use docent_app::search::{self, SearchRequest};
use docent_app::settings::OpenCollectionsRule;
use docent_domain::access::Actor;
use docent_domain::collection::{CollectionDescription, CollectionName, CollectionRole, Member};
use docent_domain::group::{AssignedPermissions, Group};
use docent_domain::id::{CollectionId, DocumentId};
use docent_domain::listing::{AccountCollections, DocumentFilter};
use docent_domain::permission::Permission;
use docent_domain::scope::Scope;
use docent_domain::selection::Selection;
use docent_domain::user::User;
use docent_testkit::builders::{group, user};
use members::MemberName;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use tokio::runtime::{Builder, Runtime};

const USERS: usize = 3;
const GROUPS: usize = 2;
/// Shared collections; the `n`th belongs to the account `n % USERS`.
const SHARED: usize = 3;
/// The shared collections, that of everyone, and the personal ones.
const COLLECTIONS: usize = SHARED + 1 + USERS;
const EVERYONE: usize = SHARED;

/// Accounts that take no part in events: they read all documents in the panel, or would if they were active staff.
const SUPERUSER: u32 = 11;
const SUPERUSER_INACTIVE: u32 = 12;
const VIEWING_STAFF: u32 = 13;
const VIEWING_OTHER: u32 = 14;
const VIEWING_INACTIVE: u32 = 15;
const STAFF: u32 = 16;
/// The group with the permission to view documents.
const VIEWERS: u32 = 21;

fn staff() -> [User; 6] {
    [
        User { is_superuser: true, ..user(SUPERUSER) },
        User { is_superuser: true, is_active: false, ..user(SUPERUSER_INACTIVE) },
        User { is_staff: true, ..user(VIEWING_STAFF) },
        user(VIEWING_OTHER),
        User { is_staff: true, is_active: false, ..user(VIEWING_INACTIVE) },
        User { is_staff: true, ..user(STAFF) },
    ]
}

#[derive(Clone, Debug)]
enum Event {
    Upload {
        by: usize,
        into: usize,
    },
    /// By an account, or by the owner of the document.
    Move {
        by: Option<usize>,
        document: usize,
        to: BTreeSet<usize>,
    },
    Delete {
        by: usize,
        document: usize,
    },
    /// A member is an account or, from `USERS` on, a group.
    SetMember {
        by: usize,
        collection: usize,
        member: usize,
        role: Option<CollectionRole>,
    },
    SetRoleOfAll {
        by: usize,
        collection: usize,
        role: Option<CollectionRole>,
    },
    /// An account joins or leaves a group.
    Group {
        user: usize,
        group: usize,
    },
    Ingest,
    WriteLabels,
}

fn role() -> impl Strategy<Value = Option<CollectionRole>> {
    let all = CollectionRole::ALL.iter().copied().map(Some).chain([None]);
    prop::sample::select(all.collect::<Vec<_>>())
}

fn event() -> impl Strategy<Value = Event> {
    let (by, document) = (|| 0..USERS, || 0..4_usize);
    prop_oneof![
        3 => (by(), prop_oneof![0..COLLECTIONS, Just(EVERYONE)]).prop_map(|(by, into)| Event::Upload { by, into }),
        6 => (prop::option::weighted(0.3, by()), document(), prop::collection::btree_set(0..COLLECTIONS, 0..3))
            .prop_map(|(by, document, to)| Event::Move { by, document, to }),
        1 => (by(), document()).prop_map(|(by, document)| Event::Delete { by, document }),
        4 => (by(), 0..COLLECTIONS, 0..USERS + GROUPS, role())
            .prop_map(|(by, collection, member, role)| Event::SetMember { by, collection, member, role }),
        1 => (by(), 0..COLLECTIONS, role())
            .prop_map(|(by, collection, role)| Event::SetRoleOfAll { by, collection, role }),
        2 => (by(), 0..GROUPS).prop_map(|(user, group)| Event::Group { user, group }),
        3 => Just(Event::Ingest),
        2 => Just(Event::WriteLabels),
    ]
}

#[derive(Clone, Debug)]
struct ModelDocument {
    id: DocumentId,
    owner: usize,
    collections: BTreeSet<usize>,
    is_ingested: bool,
}

/// What is true.
#[derive(Default)]
struct Model {
    documents: Vec<ModelDocument>,
    members: BTreeMap<(usize, usize), CollectionRole>,
    role_of_all: BTreeMap<usize, CollectionRole>,
    groups: BTreeSet<(usize, usize)>,
}

impl Model {
    fn owns(user: usize, collection: usize) -> bool {
        if collection < SHARED {
            collection % USERS == user
        } else {
            collection > EVERYONE && collection - EVERYONE - 1 == user
        }
    }

    fn role(&self, user: usize, collection: usize) -> Option<CollectionRole> {
        let is_owner = Self::owns(user, collection);
        let of_groups = (0..GROUPS)
            .filter(|group| self.groups.contains(&(user, *group)))
            .filter_map(|group| self.members.get(&(collection, USERS + group)).copied());
        let own = self.members.get(&(collection, user)).copied();
        let of_all = self.role_of_all.get(&collection).copied();
        let owner = is_owner.then_some(CollectionRole::Manager);
        of_groups.chain(own).chain(of_all).chain(owner).max()
    }

    fn sees(&self, user: usize, document: &ModelDocument) -> bool {
        document.collections.iter().any(|collection| self.role(user, *collection).is_some())
    }

    fn manages(&self, user: usize, collection: usize) -> bool {
        self.role(user, collection) == Some(CollectionRole::Manager)
    }

    fn adds(&self, user: usize, collection: usize) -> bool {
        matches!(self.role(user, collection), Some(CollectionRole::Contributor | CollectionRole::Manager))
    }

    fn changes(&self, user: usize, document: &ModelDocument) -> bool {
        let is_own = document.owner == user && document.collections.iter().any(|of| self.adds(user, *of));
        is_own || document.collections.iter().all(|of| self.manages(user, *of))
    }
}

struct World {
    runtime: Runtime,
    service: Service,
    users: Vec<User>,
    collections: Vec<CollectionId>,
    model: Model,
}

impl World {
    fn new() -> Self {
        let runtime = Builder::new_current_thread().enable_time().build().unwrap();
        let service = Service::with_settings(|settings| {
            settings.open_collections = OpenCollectionsRule::Managers;
        });
        let users: Vec<User> = (1..=USERS).map(|n| user(u32::try_from(n).unwrap())).collect();
        let collections = runtime.block_on(async {
            let mut work = service.ports.store.begin().await.unwrap();
            for user in &users {
                work.users().insert(user).await.unwrap();
            }
            for n in 0..GROUPS {
                work.groups().insert(&group(u32::try_from(n).unwrap())).await.unwrap();
            }
            for user in staff() {
                work.users().insert(&user).await.unwrap();
            }
            let viewers = [Permission::ViewDocument].into_iter().collect();
            let viewers = Group { permissions: viewers, ..group(VIEWERS) };
            work.groups().insert(&viewers).await.unwrap();
            for n in [VIEWING_STAFF, VIEWING_OTHER, VIEWING_INACTIVE] {
                let assigned = AssignedPermissions { groups: [viewers.id].into(), ..Default::default() };
                work.groups().set_assigned_permissions(user(n).id, &assigned).await.unwrap();
            }
            work.commit().await.unwrap();
            let mut ids = Vec::new();
            for n in 0..SHARED {
                let settings = CollectionSettings {
                    name: CollectionName::parse(&format!("shared {n}")).unwrap(),
                    description: CollectionDescription::default(),
                    role_of_all: None,
                };
                let owner = Actor::of(&users[n % USERS]).unwrap();
                ids.push(collections::create(&service.app, &owner, settings).await.unwrap().id);
            }
            ids.push(CollectionId::EVERYONE);
            ids.extend(users.iter().map(|user| CollectionId::personal(user.id)));
            ids
        });
        let role_of_all = BTreeMap::from([(EVERYONE, CollectionRole::Contributor)]);
        Self { runtime, service, users, collections, model: Model { role_of_all, ..Model::default() } }
    }

    fn actor(&self, user: usize) -> Actor {
        Actor::of(&self.users[user]).unwrap()
    }

    fn apply(&mut self, event: &Event) {
        let Self { runtime, service, users, collections, model } = self;
        let app = &service.app;
        let actor = |by: usize| Actor::of(&users[by]).unwrap();
        runtime.block_on(async {
            match event {
                Event::Upload { by, into } => {
                    let actor = actor(*by);
                    let (grant, scope) =
                        (actor.authorize().unwrap(), scope::load(app, &actor).await.unwrap());
                    let into_id = collections[*into];
                    let found = collections::destination(app, &grant, &scope, Some(into_id));
                    assert_eq!(found.is_ok(), model.adds(*by, *into), "{event:?}");
                    let Ok(collection) = found else { return };
                    let mut upload = upload::begin(
                        app,
                        upload::NewDocument::new(grant, collection),
                        "a.pdf",
                        "application/pdf",
                        0,
                    )
                    .await
                    .unwrap();
                    upload.write(Bytes::from_static(b"zebras")).await.unwrap();
                    let id = upload.finish().await.unwrap().document.id;
                    let collections = BTreeSet::from([*into]);
                    model.documents.push(ModelDocument { id, owner: *by, collections, is_ingested: false });
                }
                Event::Move { by, document, to } => {
                    let Some(of) = model.documents.get(*document).cloned() else { return };
                    let by = &by.unwrap_or(of.owner);
                    let ids = to.iter().map(|n| collections[*n]).collect();
                    let change =
                        LabelChange { collections: Some(CollectionsChange::Set(ids)), attributes: None };
                    let done = label::label(app, &actor(*by), of.id, change).await;
                    let hidden = of.collections.iter().copied().filter(|it| model.role(*by, *it).is_none());
                    let after: BTreeSet<usize> = to.iter().copied().chain(hidden).collect();
                    let (mut added, mut removed) =
                        (after.difference(&of.collections), of.collections.difference(&after));
                    let only_removes = added.clone().next().is_none() && removed.clone().next().is_some();
                    let is_allowed = model.changes(*by, &of)
                        || (only_removes && removed.all(|it| model.manages(*by, *it)));
                    let is_allowed = model.sees(*by, &of)
                        && is_allowed
                        && added.all(|it| model.adds(*by, *it))
                        && !after.is_empty();
                    assert_eq!(done.is_ok(), is_allowed, "{event:?}: {done:?}");
                    if is_allowed {
                        model.documents[*document].collections = after;
                    }
                }
                Event::Delete { by, document } => {
                    let Some(of) = model.documents.get(*document).cloned() else { return };
                    let done = delete::delete(app, &actor(*by), of.id).await;
                    let is_allowed = model.sees(*by, &of) && model.changes(*by, &of);
                    assert_eq!(done.is_ok(), is_allowed, "{event:?}: {done:?}");
                    if is_allowed {
                        model.documents.remove(*document);
                    }
                }
                Event::SetMember { by, collection, member, role } => {
                    let id = collections[*collection];
                    let is_allowed = model.manages(*by, *collection);
                    let is_known = model.members.contains_key(&(*collection, *member));
                    let is_personal = *collection > EVERYONE;
                    match role {
                        Some(role) => {
                            let name = match member.checked_sub(USERS) {
                                None => MemberName::User(users[*member].email.clone()),
                                Some(n) => MemberName::Group(group(u32::try_from(n).unwrap()).name),
                            };
                            let done = members::set(app, &actor(*by), id, &name, *role).await;
                            let is_lower =
                                Model::owns(*member, *collection) && *role != CollectionRole::Manager;
                            let can_name = match member.checked_sub(USERS) {
                                None => true,
                                Some(group) => is_known || model.groups.contains(&(*by, group)),
                            };
                            let is_allowed = is_allowed && !is_personal && !is_lower && can_name;
                            assert_eq!(done.is_ok(), is_allowed, "{event:?}: {done:?}");
                            if done.is_ok() {
                                model.members.insert((*collection, *member), *role);
                            }
                        }
                        None => {
                            let of = match member.checked_sub(USERS) {
                                None => Member::User(users[*member].id),
                                Some(n) => Member::Group(group(u32::try_from(n).unwrap()).id),
                            };
                            let done = members::remove(app, &actor(*by), id, of).await;
                            let leaves = *member == *by && is_known;
                            assert_eq!(
                                done.is_ok(),
                                (is_allowed && is_known) || leaves,
                                "{event:?}: {done:?}"
                            );
                            if done.is_ok() {
                                model.members.remove(&(*collection, *member));
                            }
                        }
                    }
                }
                Event::SetRoleOfAll { by, collection, role } => {
                    let settings = |before: &docent_domain::collection::Collection| CollectionSettings {
                        name: before.name.clone(),
                        description: before.description.clone(),
                        role_of_all: *role,
                    };
                    let done =
                        collections::change(app, &actor(*by), collections[*collection], settings).await;
                    let is_allowed =
                        model.manages(*by, *collection) && (*collection <= EVERYONE || role.is_none());
                    assert_eq!(done.is_ok(), is_allowed, "{event:?}: {done:?}");
                    if is_allowed {
                        match role {
                            Some(role) => drop(model.role_of_all.insert(*collection, *role)),
                            None => drop(model.role_of_all.remove(collection)),
                        }
                    }
                }
                Event::Group { user, group: of } => {
                    if !model.groups.remove(&(*user, *of)) {
                        model.groups.insert((*user, *of));
                    }
                    let groups = model.groups.iter().filter(|(member, _)| member == user);
                    let groups = groups.map(|(_, n)| group(u32::try_from(*n).unwrap()).id).collect();
                    let assigned = AssignedPermissions { groups, ..AssignedPermissions::default() };
                    let mut work = service.ports.store.begin().await.unwrap();
                    work.groups().set_assigned_permissions(users[*user].id, &assigned).await.unwrap();
                    work.commit().await.unwrap();
                }
                Event::Ingest => {
                    service.drain().await;
                    model.documents.iter_mut().for_each(|document| document.is_ingested = true);
                }
                Event::WriteLabels => service.background().write_labels().await.unwrap(),
            }
        });
    }

    /// Compares what each account sees. `is_current` says that the index has all labels.
    fn check(&self, is_current: bool) {
        for user in 0..USERS {
            let actor = self.actor(user);
            self.runtime.block_on(self.check_account(user, &actor, is_current));
        }
        self.runtime.block_on(async {
            self.check_readers(is_current).await;
            self.check_reach().await;
        });
    }

    async fn check_account(&self, user: usize, actor: &Actor, is_current: bool) {
        let (app, model) = (&self.service.app, &self.model);
        let grant = || actor.authorize().unwrap();
        let scope: Scope = scope::load(app, actor).await.unwrap();
        let visible: BTreeSet<DocumentId> =
            model.documents.iter().filter(|of| model.sees(user, of)).map(|of| of.id).collect();
        let listed = list::list(app, grant(), &DocumentFilter::of(scope.clone())).await.unwrap();
        assert_eq!(listed.iter().map(|of| of.id).collect::<BTreeSet<_>>(), visible);
        let all = AccountCollections {
            user: actor.user(),
            scope: scope.clone(),
            name_contains: None,
            after: None,
            limit: 100,
        };
        let found = collections::list(app, grant(), &all).await.unwrap();
        let found: BTreeSet<CollectionId> = found.iter().map(|of| of.collection.id).collect();
        let expected = (0..COLLECTIONS).filter(|n| model.role(user, *n).is_some());
        assert_eq!(found, expected.map(|n| self.collections[n]).collect());
        let search = async |selection: &Selection, limit| {
            let request = SearchRequest { query: "zebras", scope: &scope, selection, limit };
            search::search(app, grant(), request).await.unwrap().passages
        };
        for document in &model.documents {
            let is_visible = visible.contains(&document.id);
            assert_eq!(get::get(app, grant(), &scope, document.id).await.is_ok(), is_visible);
            assert_eq!(file::open(app, grant(), &scope, document.id).await.is_ok(), is_visible);
            // Alone, since a search returns duplicates once.
            let alone = Selection { documents: Some(vec![document.id]), ..Selection::default() };
            let chunks = search(&alone, 5).await;
            let is_searchable = is_visible && document.is_ingested;
            assert!(chunks.is_empty() || is_searchable, "a search found {document:?} for {user}");
            assert!(
                !is_current || chunks.is_empty() != is_searchable,
                "a search lacks {document:?} for {user}"
            );
        }
        // However many better results are outside the scope, one inside is found.
        if is_current && model.documents.iter().any(|of| of.is_ingested && visible.contains(&of.id)) {
            let best = search(&Selection::default(), 1).await;
            assert!(best.first().is_some_and(|chunk| visible.contains(&chunk.document_id)));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    // Invariant: Searches rank only chunks of the scope, and what leaves it is not found from that moment.
    #[test]
    fn each_account_sees_what_the_model_allows(events in prop::collection::vec(event(), 1..40)) {
        let mut world = World::new();
        for event in &events {
            world.apply(event);
            world.check(false);
        }
        world.apply(&Event::Ingest);
        world.apply(&Event::WriteLabels);
        world.check(true);
    }
}
