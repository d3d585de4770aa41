//! Compares explanations of who reads a document, and of what an account reads, with the model.

use super::{
    COLLECTIONS, EVERYONE, GROUPS, ModelDocument, SHARED, SUPERUSER, USERS, VIEWING_STAFF, World, staff,
};
use docent_app::collections::readers::{self, Reader, Reason, Who};
use docent_domain::access::Actor;
use docent_domain::collection::{CollectionRole, RoleSource};
use docent_domain::id::CollectionId;
use docent_domain::listing::PageRequest;
use docent_testkit::builders::{group, user};
use std::collections::{BTreeMap, BTreeSet};

impl World {
    /// Explanations of who reads a document name exactly the accounts that read it, each with a reason that is true.
    pub(super) async fn check_readers(&self, is_current: bool) {
        let (app, model) = (&self.service.app, &self.model);
        let root = Actor::of(&staff()[0]).unwrap();
        let of = |page, document: &ModelDocument| {
            let grants = (root.authorize().unwrap(), root.authorize().unwrap(), root.authorize().unwrap());
            readers::of_document(app, grants, document.id, page)
        };
        for document in &model.documents {
            let all = of(PageRequest { offset: 0, limit: 100 }, document).await.unwrap().readers;
            assert_eq!(all.total, all.records.len() as u64);
            if is_current {
                let mut paged = Vec::new();
                for offset in (0..all.total).step_by(2) {
                    let page = of(PageRequest { offset, limit: 2 }, document).await.unwrap().readers;
                    assert_eq!(page.total, all.total);
                    paged.extend(page.records);
                }
                assert_eq!(paged, all.records);
            }
            let mut explained: BTreeSet<usize> = BTreeSet::new();
            let mut in_panel = Vec::new();
            for Reader { who, reason, is_active, .. } in &all.records {
                let index = |id: &CollectionId| self.collections.iter().position(|of| of == id).unwrap();
                let user_index = |id| self.users.iter().position(|user| user.id == id).unwrap();
                let group_index =
                    |id| (0..GROUPS).find(|n| group(u32::try_from(*n).unwrap()).id == id).unwrap();
                assert!(is_active, "{who:?}");
                match (who, reason) {
                    (Who::Everyone, Reason::Role(of, role)) => {
                        assert_eq!(model.role_of_all.get(&index(of)), Some(role));
                        explained.extend(0..USERS);
                    }
                    (Who::User(user), Reason::Owner(of)) => {
                        assert!(document.collections.contains(&index(of)));
                        assert_eq!(model.role(user_index(*user), index(of)), Some(CollectionRole::Manager));
                        explained.insert(user_index(*user));
                    }
                    (Who::User(user), Reason::Role(of, role)) => {
                        assert_eq!(model.members.get(&(index(of), user_index(*user))), Some(role));
                        explained.insert(user_index(*user));
                    }
                    (Who::Group(id), Reason::Role(of, role)) => {
                        let n = group_index(*id);
                        assert_eq!(model.members.get(&(index(of), USERS + n)), Some(role));
                        explained.extend((0..USERS).filter(|user| model.groups.contains(&(*user, n))));
                    }
                    (Who::User(user), Reason::Permission | Reason::Superuser) => {
                        in_panel.push((*user, *reason));
                    }
                    other => panic!("{other:?}"),
                }
            }
            let expected = (0..USERS).filter(|user| model.sees(*user, document));
            assert_eq!(explained, expected.collect(), "{document:?}");
            let staff =
                [(user(VIEWING_STAFF).id, Reason::Permission), (user(SUPERUSER).id, Reason::Superuser)];
            assert_eq!(in_panel, staff);
        }
    }

    /// The collections that an account reaches are those that the model gives it a role on, with that role.
    pub(super) async fn check_reach(&self) {
        let (app, model) = (&self.service.app, &self.model);
        let root = Actor::of(&staff()[0]).unwrap();
        let of = |id| {
            let grants = (root.authorize().unwrap(), root.authorize().unwrap());
            readers::of_account(app, grants, id, PageRequest { offset: 0, limit: 100 })
        };
        for (n, user) in self.users.iter().enumerate() {
            let reach = of(user.id).await.unwrap();
            assert_eq!(reach.views_all, None);
            let found: BTreeMap<CollectionId, (CollectionRole, u64)> = reach
                .collections
                .records
                .iter()
                .map(|of| (of.collection.id, (of.role, of.documents)))
                .collect();
            let documents =
                |c: usize| model.documents.iter().filter(|of| of.collections.contains(&c)).count() as u64;
            let expected = (0..COLLECTIONS)
                .filter_map(|c| Some((self.collections[c], (model.role(n, c)?, documents(c)))));
            assert_eq!(found, expected.collect());
            for of in &reach.collections.records {
                let c = self.collections.iter().position(|id| *id == of.collection.id).unwrap();
                let mut sources = BTreeSet::new();
                let is_owner =
                    if c < SHARED { c % USERS == n } else { c > EVERYONE && c - EVERYONE - 1 == n };
                sources.extend(is_owner.then_some(RoleSource::Owner));
                sources.extend(model.members.get(&(c, n)).map(|_| RoleSource::Member));
                sources.extend(model.role_of_all.get(&c).map(|_| RoleSource::Everyone));
                for g in (0..GROUPS).filter(|g| model.groups.contains(&(n, *g))) {
                    let through = RoleSource::Group(group(u32::try_from(g).unwrap()).id);
                    sources.extend(model.members.get(&(c, USERS + g)).map(|_| through));
                }
                assert_eq!(of.sources.iter().copied().collect::<BTreeSet<_>>(), sources);
            }
        }
        let expected = [
            Some(Reason::Superuser),
            Some(Reason::Superuser),
            Some(Reason::Permission),
            None,
            Some(Reason::Permission),
            None,
        ];
        for (user, expected) in staff().iter().zip(expected) {
            assert_eq!(of(user.id).await.unwrap().views_all, expected, "{}", user.email.as_str());
        }
    }
}
