use super::*;
use chrono::TimeDelta;
use docent_ports::clock::Clock;
use docent_testkit::clock::TestClock;
use std::{fs, path::PathBuf, time::Duration};

mod ephemeral {
    use super::*;

    docent_testkit::token_store_contract!(async { (Arc::new(MemoryTokenStore::ephemeral()) as _, ()) });
}

mod journaled {
    use super::*;

    docent_testkit::token_store_contract!(async {
        let folder = tempfile::tempdir().unwrap();
        (Arc::new(MemoryTokenStore::open(&folder.path().join("tokens")).unwrap()) as _, folder)
    });
}

fn now() -> DateTime<Utc> {
    TestClock::default().now()
}

fn user(n: u8) -> UserId {
    UserId::generate(now(), [n; 10])
}

fn family(n: u8) -> FamilyId {
    FamilyId::generate(now(), [n; 10])
}

fn token(n: u8) -> TokenId {
    TokenId::generate(now(), [n; 10])
}

async fn start(store: &MemoryTokenStore, n: u8) {
    store.start(user(n), family(n), token(n), now() + TimeDelta::days(30), now()).await.unwrap();
}

/// Uses token `presented` of family `n`, `after` the start.
async fn use_token(store: &MemoryTokenStore, n: u8, presented: u8, after: TimeDelta) -> RotationOutcome {
    let rotation = Rotation {
        family: family(n),
        presented: token(presented),
        successor: token(presented + 100),
        expires_at: now() + TimeDelta::days(30),
        grace: Duration::from_secs(30),
        now: now() + after,
    };
    store.rotate(rotation).await.unwrap()
}

fn journal() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tokens");
    (folder, path)
}

#[tokio::test]
async fn logins_survive_a_restart_and_ended_ones_stay_ended() {
    let (_folder, path) = journal();
    let store = MemoryTokenStore::open(&path).unwrap();
    for n in 1..=4 {
        start(&store, n).await;
    }
    store.revoke(family(2)).await.unwrap();
    store.revoke_all(user(3), now()).await.unwrap();
    assert_eq!(use_token(&store, 4, 4, TimeDelta::zero()).await, RotationOutcome::Renewed);
    drop(store);

    // Twice, since the first opening rewrites the file.
    for _ in 0..2 {
        let store = MemoryTokenStore::open(&path).unwrap();
        assert_eq!(use_token(&store, 1, 1, TimeDelta::zero()).await, RotationOutcome::Renewed);
        assert_eq!(use_token(&store, 2, 2, TimeDelta::zero()).await, RotationOutcome::Unknown);
        assert_eq!(use_token(&store, 3, 3, TimeDelta::zero()).await, RotationOutcome::Unknown);
        assert_eq!(use_token(&store, 4, 104, TimeDelta::zero()).await, RotationOutcome::Renewed);
    }

    // The replaced token is known as such, and so is its theft.
    let store = MemoryTokenStore::open(&path).unwrap();
    assert_eq!(use_token(&store, 4, 4, TimeDelta::minutes(1)).await, RotationOutcome::Reused);
    drop(store);
    let store = MemoryTokenStore::open(&path).unwrap();
    assert_eq!(use_token(&store, 4, 104, TimeDelta::zero()).await, RotationOutcome::Unknown);
}

#[tokio::test]
async fn a_crash_at_any_byte_keeps_exactly_the_changes_whose_lines_are_whole() {
    let (folder, path) = journal();
    let store = MemoryTokenStore::open(&path).unwrap();
    start(&store, 1).await;
    start(&store, 2).await;
    store.revoke(family(1)).await.unwrap();
    store.revoke(family(2)).await.unwrap();
    let bytes = fs::read(&path).unwrap();
    let ends: Vec<usize> = (0..bytes.len()).filter(|i| bytes[*i] == b'\n').map(|i| i + 1).collect();
    assert_eq!(ends.len(), 4);

    let cut = folder.path().join("cut");
    for length in 0..=bytes.len() {
        // A file system may keep a lost tail's length and fill it with zeros.
        for tail in [0, 7] {
            let mut kept = bytes[..length].to_vec();
            kept.extend_from_slice(&vec![0; tail]);
            fs::write(&cut, &kept).unwrap();
            let whole = ends.iter().filter(|end| **end <= length).count();
            let store = MemoryTokenStore::open(&cut).unwrap();
            let expect = |good| if good { RotationOutcome::Renewed } else { RotationOutcome::Unknown };
            assert_eq!(use_token(&store, 1, 1, TimeDelta::zero()).await, expect((1..3).contains(&whole)));
            assert_eq!(use_token(&store, 2, 2, TimeDelta::zero()).await, expect((2..4).contains(&whole)));
        }
    }
}

#[tokio::test]
async fn a_damaged_line_is_refused_because_it_may_have_ended_a_login() {
    let (_folder, path) = journal();
    let store = MemoryTokenStore::open(&path).unwrap();
    start(&store, 1).await;
    store.revoke(family(1)).await.unwrap();
    start(&store, 2).await;
    drop(store);
    let damaged = fs::read_to_string(&path).unwrap().replace("revoke", "rexoke");
    fs::write(&path, &damaged).unwrap();
    let fault = MemoryTokenStore::open(&path).unwrap_err();
    assert!(fault.report().contains("line 2 is damaged"), "{fault}");
    assert_eq!(fs::read_to_string(&path).unwrap(), damaged, "nothing is lost by trying");
}

#[tokio::test]
async fn one_process_at_a_time_has_the_journal() {
    let (_folder, path) = journal();
    let store = MemoryTokenStore::open(&path).unwrap();
    let fault = MemoryTokenStore::open(&path).unwrap_err();
    assert!(fault.report().contains("another process uses this file"), "{fault}");
    assert_eq!(fault.kind(), FaultKind::InUse);
    drop(store);
    MemoryTokenStore::open(&path).unwrap();
}

#[tokio::test]
async fn a_failed_write_changes_nothing_and_is_reported() {
    let store = MemoryTokenStore::ephemeral();
    start(&store, 1).await;
    let (folder, path) = journal();
    let mut broken = Journal::open(&path, |_| {}).unwrap();
    // Writing to the folder where the new file should go fails; so does everything after it.
    fs::create_dir(folder.path().join("tokens.new")).unwrap();
    assert!(broken.rewrite(std::iter::empty()).is_err());
    broken.refuse_writes();
    store.state.lock().unwrap().journal = Some(broken);

    let fault = store.revoke(family(1)).await.unwrap_err();
    assert_eq!((fault.component(), fault.kind()), (Component::KeyValueStore, FaultKind::Unavailable));
    let expires_at = now() + TimeDelta::days(1);
    assert!(store.start(user(2), family(2), token(2), expires_at, now()).await.is_err());
    store.state.lock().unwrap().journal = None;
    assert_eq!(use_token(&store, 1, 1, TimeDelta::zero()).await, RotationOutcome::Renewed);
    assert_eq!(use_token(&store, 2, 2, TimeDelta::zero()).await, RotationOutcome::Unknown);
}

#[tokio::test]
async fn the_journal_is_rewritten_when_it_has_grown_long() {
    let (_folder, path) = journal();
    let store = MemoryTokenStore::open(&path).unwrap();
    store.state.lock().unwrap().journal.as_mut().unwrap().rewrite_from(2000);
    start(&store, 1).await;
    for _ in 0..50 {
        start(&store, 2).await;
        store.revoke(family(2)).await.unwrap();
    }
    assert!(fs::metadata(&path).unwrap().len() < 2500);
    drop(store);
    let store = MemoryTokenStore::open(&path).unwrap();
    assert_eq!(use_token(&store, 1, 1, TimeDelta::zero()).await, RotationOutcome::Renewed);
    assert_eq!(use_token(&store, 2, 2, TimeDelta::zero()).await, RotationOutcome::Unknown);
}

#[tokio::test]
async fn expired_families_are_forgotten_as_logins_come() {
    let store = MemoryTokenStore::ephemeral();
    let clock = TestClock::default();
    for n in 0_u16..2000 {
        let [a, b] = n.to_be_bytes();
        let family = FamilyId::generate(now(), [a, b, 0, 0, 0, 0, 0, 0, 0, 0]);
        let expires_at = clock.now() + TimeDelta::seconds(10);
        store.start(user(1), family, token(1), expires_at, clock.now()).await.unwrap();
        clock.advance(Duration::from_secs(1));
    }
    let left = store.state.lock().unwrap().families.len();
    assert!(left <= 270, "{left}");
}

#[cfg(unix)]
#[tokio::test]
async fn only_the_owner_may_read_the_journal() {
    use std::os::unix::fs::PermissionsExt;
    let (folder, path) = journal();
    fs::write(&path, "").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let _store = MemoryTokenStore::open(&path).unwrap();
    for file in fs::read_dir(folder.path()).unwrap() {
        assert_eq!(file.unwrap().metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
}
