//! Records that batteries insert first, each kind in one unit of work.

use docent_domain::collection::Collection;
use docent_domain::document::Document;
use docent_domain::job::Job;
use docent_domain::listing::PageRequest;
use docent_domain::user::User;
use docent_ports::store::Store;

pub(super) async fn add_users(store: &dyn Store, users: &[User]) {
    let mut unit = store.begin().await.unwrap();
    for user in users {
        assert!(unit.users().insert(user).await.unwrap());
    }
    unit.commit().await.unwrap();
}

pub(super) async fn add_collections(store: &dyn Store, collections: &[Collection]) {
    let mut unit = store.begin().await.unwrap();
    for collection in collections {
        unit.collections().insert(collection).await.unwrap();
    }
    unit.commit().await.unwrap();
}

pub(super) async fn add_documents(store: &dyn Store, documents: &[Document]) {
    let mut unit = store.begin().await.unwrap();
    for document in documents {
        unit.documents().insert(document).await.unwrap();
    }
    unit.commit().await.unwrap();
}

pub(super) async fn add_jobs(store: &dyn Store, jobs: &[Job]) {
    let mut unit = store.begin().await.unwrap();
    for job in jobs {
        unit.jobs().insert(job).await.unwrap();
    }
    unit.commit().await.unwrap();
}

/// The first `limit` records of a list.
pub(super) const fn first(limit: u64) -> PageRequest {
    PageRequest { offset: 0, limit }
}
