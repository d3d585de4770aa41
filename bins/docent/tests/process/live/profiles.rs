//! Backup from one profile and restore into the other.

use super::installation::Installation;
use crate::maintenance::{QUESTION, ask, installation};
use crate::program::{docent, run};
use tempfile::TempDir;

#[tokio::test]
async fn archive_restores_across_profiles() {
    let (folder, id) = installation().await;
    let before = ask(folder.path(), QUESTION).await;
    let archives = TempDir::new().unwrap();
    let (embedded, servers) =
        (archives.path().join("embedded.tar.gz"), archives.path().join("servers.tar.gz"));
    let (status, _, error) = run(docent(folder.path()).args(["backup", "--dev"]).arg(&embedded)).await;
    assert!(status.success(), "{error}");

    let other = Installation::empty().await;
    let (status, printed, error) = run(other.docent("restore").arg("restore").arg(&embedded)).await;
    assert!(status.success(), "{error}");
    assert!(printed.contains("embedded again"), "{printed}");
    assert_eq!(other.chunks().into_keys().collect::<Vec<_>>(), std::slice::from_ref(&id));
    let (status, printed, error) = run(other.docent("doctor").arg("doctor")).await;
    assert_eq!(status.code(), Some(0), "{printed}{error}");
    let mut replica = other.serve("api", &[]).await;
    replica.authenticate().await;
    assert_eq!(replica.documents().await.into_iter().collect::<Vec<_>>(), [(id, "ingested".to_owned())]);

    // While the service runs.
    let (status, printed, error) = run(other.docent("backup").arg("backup").arg(&servers)).await;
    assert!(status.success(), "{printed}{error}");
    replica.terminate().await;
    let back = TempDir::new().unwrap();
    let (status, _, error) = run(docent(back.path()).args(["restore", "--dev"]).arg(&servers)).await;
    assert!(status.success(), "{error}");
    assert_eq!(ask(back.path(), QUESTION).await, before);
}
