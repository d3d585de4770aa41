use super::*;
use std::sync::Arc;
use tempfile::TempDir;

mod sqlite;

async fn open_with(folder: &TempDir, options: SqlOptions) -> SqlStore {
    let url = SqlStore::sqlite_url(&folder.path().join("docent.db"));
    SqlStore::connect(&url, options).await.unwrap()
}

async fn open(folder: &TempDir) -> SqlStore {
    open_with(folder, SqlOptions::default()).await
}

/// An empty database in a folder of its own.
async fn fresh() -> (Arc<dyn Store>, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder).await;
    store.migrate().await.unwrap();
    (Arc::new(store), folder)
}

docent_testkit::relational_contracts!(fresh);

mod processes {
    use super::*;

    docent_testkit::processes_contract!(async {
        let (store, folder) = fresh().await;
        ([store, Arc::new(open(&folder).await) as _], folder)
    });
}
