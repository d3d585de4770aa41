use super::*;
use std::sync::Arc;
use tempfile::TempDir;

async fn open(folder: &TempDir) -> SqlStore {
    let url = format!("sqlite://{}/docent.db", folder.path().display());
    SqlStore::connect(&url, SqlOptions::default()).await.unwrap()
}

/// An empty database in a folder of its own.
async fn fresh() -> (Arc<dyn Store>, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder).await;
    store.migrate().await.unwrap();
    (Arc::new(store), folder)
}

docent_testkit::store_contract!(fresh());

mod documents {
    docent_testkit::documents_contract!(super::fresh());
}

mod jobs {
    docent_testkit::jobs_contract!(super::fresh());
}

mod job_ledger {
    docent_testkit::job_ledger_contract!(super::fresh());
}

mod users {
    docent_testkit::users_contract!(super::fresh());
}

mod usage {
    docent_testkit::usage_contract!(super::fresh());
}
