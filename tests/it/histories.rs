//! Random histories of collections: after each event, every account sees what a model of the rules says.

use docent_tests::app::TestApp;
use docent_tests::member::Member;
use docent_tests::pdf::pdf;
use docent_tests::rules;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

const EVERYONE: &str = "00000000-0000-0000-0000-000000000001";
const ROLES: [&str; 3] = ["viewer", "contributor", "manager"];
const EVENTS: u64 = 40;

/// A sequence of numbers (Steele, Lea and Flood 2014: SplitMix64).
struct Random(u64);

impl Random {
    fn below(&mut self, max: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % max as u64).unwrap()
    }
}

/// What the rules say, beside the service.
struct History {
    app: TestApp,
    random: Random,
    /// Manages all collections.
    ada: Member,
    members: Vec<Member>,
    /// IDs of the shared collections.
    collections: Vec<String>,
    /// Roles on them by collection and member; [`EVERYONE`] needs none.
    roles: BTreeMap<(String, usize), usize>,
    /// Collections of the documents that are not deleted.
    documents: BTreeMap<String, BTreeSet<String>>,
    uploads: usize,
    /// Whether all documents are ingested, and the index has their collections.
    is_settled: bool,
}

impl History {
    async fn begin(app: TestApp, seed: u64) -> Self {
        let ada = app.ada().await;
        let mut members = Vec::new();
        for name in ["bob", "cem", "dan"] {
            members.push(app.member(&format!("{name}@example.org")).await);
        }
        let mut collections = Vec::new();
        for name in ["One", "Two", "Three"] {
            let created = ada.post("/collections", json!({ "name": name })).await.expect(201).json();
            collections.push(created["id"].as_str().unwrap().to_owned());
        }
        Self {
            app,
            random: Random(seed),
            ada,
            members,
            collections,
            roles: BTreeMap::new(),
            documents: BTreeMap::new(),
            uploads: 0,
            is_settled: true,
        }
    }

    fn role(&self, collection: &str, member: usize) -> Option<usize> {
        let contributor = (collection == EVERYONE).then_some(1);
        contributor.or_else(|| self.roles.get(&(collection.to_owned(), member)).copied())
    }

    fn can_read(&self, member: usize, document: &str) -> bool {
        let collections = self.documents.get(document);
        collections.is_some_and(|all| all.iter().any(|collection| self.role(collection, member).is_some()))
    }

    fn any_collection(&mut self) -> String {
        let at = self.random.below(self.collections.len() + 1);
        self.collections.get(at).map_or(EVERYONE, String::as_str).to_owned()
    }

    fn any_document(&mut self) -> Option<String> {
        let at = self.random.below(self.documents.len().max(1));
        self.documents.keys().nth(at).cloned()
    }

    async fn event(&mut self) {
        let member = self.random.below(self.members.len());
        match self.random.below(10) {
            0..=2 => self.upload(member).await,
            3 | 4 => self.give_role(member).await,
            5 => self.take_role(member).await,
            6 => self.move_document().await,
            7 => self.delete(member).await,
            _ => {
                self.app.run_jobs().await;
                self.app.write_labels().await;
                self.is_settled = true;
            }
        }
    }

    async fn upload(&mut self, member: usize) {
        let collection = self.any_collection();
        if self.documents.len() == 8 {
            return;
        }
        self.uploads += 1;
        let text = format!("zebras {}", self.uploads);
        let path = format!("/documents/upload?collection_id={collection}");
        let reply = self.members[member].upload_to(&path, "a.pdf", pdf(&[&text])).await;
        match self.role(&collection, member) {
            None => reply.refused(404, "Collection not found"),
            Some(0) => drop(reply.expect(403)),
            Some(_) => {
                let document = reply.expect(202).json()["id"].as_str().unwrap().to_owned();
                self.documents.insert(document, BTreeSet::from([collection]));
                self.is_settled = false;
            }
        }
    }

    async fn give_role(&mut self, member: usize) {
        let (at, role) = (self.random.below(self.collections.len()), self.random.below(ROLES.len()));
        let collection = self.collections[at].clone();
        let body = json!({ "email": self.members[member].user.email.as_str(), "role": ROLES[role] });
        let _ = self.ada.put(&format!("/collections/{collection}/members"), body).await.expect(200);
        self.roles.insert((collection, member), role);
    }

    async fn take_role(&mut self, member: usize) {
        let at = self.random.below(self.collections.len());
        let collection = self.collections[at].clone();
        let path = format!("/collections/{collection}/members/{}", self.members[member].user.id);
        let was_member = self.roles.remove(&(collection, member)).is_some();
        let _ = self.ada.delete(&path).await.expect(if was_member { 204 } else { 404 });
    }

    /// Ada puts a document of her collections into others of hers.
    async fn move_document(&mut self) {
        let Some(document) = self.any_document().filter(|id| !self.documents[id].contains(EVERYONE)) else {
            return;
        };
        let first = self.random.below(self.collections.len());
        let mut to = BTreeSet::from([self.collections[first].clone()]);
        let second = self.random.below(self.collections.len() * 2);
        to.extend(self.collections.get(second).cloned());
        let path = format!("/documents/{document}");
        let _ = self.ada.patch(&path, json!({ "collection_ids": to })).await.expect(200);
        self.documents.insert(document, to);
        self.is_settled = false;
    }

    /// Ada deletes a document of her collections, or a member tries one that it cannot read.
    async fn delete(&mut self, member: usize) {
        let Some(document) = self.any_document() else { return };
        let path = format!("/documents/{document}");
        if !self.can_read(member, &document) {
            self.members[member].delete(&path).await.refused(404, "Document not found");
        } else if !self.documents[&document].contains(EVERYONE) {
            let _ = self.ada.delete(&path).await.expect(204);
            self.documents.remove(&document);
        }
    }

    /// Compares what each member sees with the model.
    async fn check(&self, context: &str) {
        let text = |value: &Value, field: &str| value[field].as_str().unwrap().to_owned();
        for (number, member) in self.members.iter().enumerate() {
            let context = format!("{context}, member {number}");
            let readable: BTreeSet<String> =
                self.documents.keys().filter(|id| self.can_read(number, id)).cloned().collect();
            let list = member.get("/documents").await.expect(200).json();
            let listed: BTreeSet<_> = list.as_array().unwrap().iter().map(|it| text(it, "id")).collect();
            assert_eq!(listed, readable, "{context}");
            let body = json!({ "query": "zebras", "limit": 10 });
            let reply = member.post("/search", body).await.expect(200).json();
            let found: BTreeSet<_> =
                reply["results"].as_array().unwrap().iter().map(|it| text(it, "document_id")).collect();
            assert!(found.is_subset(&readable), "{context}: {found:?} of {readable:?}");
            assert!(!self.is_settled || found == readable, "{context}: {found:?} of {readable:?}");
            for document in self.documents.keys() {
                let reply = member.get(&format!("/documents/{document}/report")).await;
                assert_eq!(reply.status == 200, readable.contains(document), "{context}: {}", reply.text);
            }
            for collection in &self.collections {
                let reply = member.get(&format!("/documents?collection_id={collection}")).await;
                assert_eq!(reply.status == 200, self.role(collection, number).is_some(), "{context}");
            }
        }
    }
}

rules! {
    async fn accounts_see_what_the_model_allows(setup) {
        let (seed, app) = (16, setup.start().await);
        let mut history = History::begin(app, seed).await;
        for event in 0..EVENTS {
            history.event().await;
            history.check(&format!("seed {seed}, event {event}")).await;
        }
        assert!(history.uploads > 5, "{}", history.uploads);
        history.app.leave_jobs();
    }
}
