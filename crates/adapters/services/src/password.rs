//! Password hashing with Argon2id.

use argon2::password_hash::Error;
use argon2::password_hash::phc::{Output, ParamsString, PasswordHash as Phc, Salt};
use argon2::{Algorithm, Argon2, Params, PasswordHasher as _, PasswordVerifier as _, Version};
use async_trait::async_trait;
use docent_domain::fault::{Component, Fault, FaultKind, Result};
use docent_domain::user::{Password, PasswordHash};
use docent_ports::entropy::Entropy;
use docent_ports::password_hasher::PasswordHasher;
use std::num::NonZero;
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::task;

const SALT_BYTES: usize = 16;
/// Waiting calls per concurrent hash; more fail at once. At 20 ms per hash the last one waits about a second.
const WAITING_PER_HASH: usize = 50;
const UNREADABLE: &str = "a stored password hash cannot be parsed";

/// Hashes passwords with Argon2id. Ordinary calls leave one core for other work, reserved calls can use one more, and the
/// number of waiting calls is limited.
pub struct Argon2Hasher {
    argon2: Argon2<'static>,
    entropy: Arc<dyn Entropy>,
    /// The hash that passwords of unknown accounts are checked against. No known password matches it.
    decoy: PasswordHash,
    ordinary: Lane,
    /// For reserved calls, which also use the slots of the ordinary ones.
    reserved: Lane,
}

/// Capacity for calls.
struct Lane {
    /// Calls that run.
    slots: Arc<Semaphore>,
    /// Calls that wait or run.
    places: Arc<Semaphore>,
}

impl Lane {
    fn new(slots: usize) -> Self {
        let semaphore = |permits| Arc::new(Semaphore::new(permits));
        Self { slots: semaphore(slots), places: semaphore(slots * (1 + WAITING_PER_HASH)) }
    }
}

impl Argon2Hasher {
    /// Creates a hasher with 19 MiB and two passes, OWASP's minimum for Argon2id: about 20 ms of one core.
    ///
    /// # Errors
    /// If the parameters are invalid, which is a bug.
    pub fn new(entropy: Arc<dyn Entropy>) -> Result<Self> {
        Self::with_params(entropy, 19 * 1024, 2)
    }

    /// Creates a hasher with minimal memory and one pass. For tests only, which log in often.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn weak_but_fast(entropy: Arc<dyn Entropy>) -> Result<Self> {
        Self::with_params(entropy, Params::MIN_M_COST, 1)
    }

    fn with_params(entropy: Arc<dyn Entropy>, memory_kib: u32, passes: u32) -> Result<Self> {
        let params = Params::new(memory_kib, passes, 1, None)
            .map_err(|error| internal("invalid Argon2 parameters", error))?;
        let decoy = decoy(&params, &*entropy).map_err(|error| internal("create a decoy hash", error))?;
        let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        let hashes = (cores - 1).max(1);
        Ok(Self { argon2, entropy, decoy, ordinary: Lane::new(hashes), reserved: Lane::new(1) })
    }

    /// Runs `work` on a blocking thread as soon as a slot is free. The call takes one of the places of its lane until it ends.
    ///
    /// # Errors
    /// `Unavailable` if too many calls are waiting.
    async fn run<T: Send + 'static>(
        &self,
        lane: &Lane,
        work: impl FnOnce(Argon2<'static>) -> T + Send + 'static,
    ) -> Result<T> {
        let place = Arc::clone(&lane.places).try_acquire_owned().map_err(|_| {
            Fault::new(Component::Service, FaultKind::Unavailable, "too many passwords are being checked")
                .with_retry_after(Duration::from_secs(1))
        })?;
        let slot = tokio::select! {
            biased;
            slot = Arc::clone(&self.ordinary.slots).acquire_owned() => slot,
            slot = Arc::clone(&lane.slots).acquire_owned() => slot,
        };
        let argon2 = self.argon2.clone();
        task::spawn_blocking(move || {
            // The work continues if the caller is cancelled, so it keeps its slot.
            let (_place, _slot) = (place, slot);
            work(argon2)
        })
        .await
        .map_err(|error| internal("hash a password", error))
    }

    async fn verify_in(&self, lane: &Lane, password: Password, hash: Option<PasswordHash>) -> Result<bool> {
        let is_known = hash.is_some();
        let hash = parse(hash.as_ref().unwrap_or(&self.decoy))?;
        let verify = move |argon2: Argon2<'_>| argon2.verify_password(password.expose().as_bytes(), &hash);
        match self.run(lane, verify).await? {
            Ok(()) => Ok(is_known),
            Err(Error::PasswordInvalid) => Ok(false),
            Err(error) => Err(internal(UNREADABLE, error)),
        }
    }
}

/// Creates a hash with random salt and output. Checking a password against it costs as much as against a real one.
fn decoy(params: &Params, entropy: &dyn Entropy) -> Result<PasswordHash, Error> {
    let (mut salt, mut output) = ([0; SALT_BYTES], [0; Params::DEFAULT_OUTPUT_LEN]);
    entropy.fill(&mut salt);
    entropy.fill(&mut output);
    let hash = Phc {
        algorithm: Algorithm::Argon2id.ident(),
        version: Some(Version::V0x13.into()),
        params: ParamsString::try_from(params)?,
        salt: Some(Salt::new(&salt)?),
        hash: Some(Output::new(&output)?),
    };
    Ok(PasswordHash::from_phc(hash.to_string()))
}

fn internal(action: &'static str, error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Fault {
    Fault::new(Component::Service, FaultKind::Internal, action).caused_by(error)
}

#[async_trait]
impl PasswordHasher for Argon2Hasher {
    async fn hash(&self, password: Password) -> Result<PasswordHash> {
        let mut salt = [0; SALT_BYTES];
        self.entropy.fill(&mut salt);
        let hash = self
            .run(&self.ordinary, move |argon2| {
                argon2.hash_password_with_salt(password.expose().as_bytes(), &salt)
            })
            .await?
            .map_err(|error| internal("hash a password", error))?;
        Ok(PasswordHash::from_phc(hash.to_string()))
    }

    async fn verify(&self, password: Password, hash: Option<PasswordHash>) -> Result<bool> {
        self.verify_in(&self.ordinary, password, hash).await
    }

    async fn verify_reserved(&self, password: Password, hash: Option<PasswordHash>) -> Result<bool> {
        self.verify_in(&self.reserved, password, hash).await
    }
}

/// Parses a stored hash. Salt and output are required: without them verification would fail without doing any work.
fn parse(hash: &PasswordHash) -> Result<Phc> {
    let hash = Phc::new(hash.as_phc()).map_err(|error| internal(UNREADABLE, error))?;
    if hash.salt.is_none() || hash.hash.is_none() {
        return Err(Fault::new(Component::Service, FaultKind::Internal, UNREADABLE));
    }
    Ok(hash)
}

#[cfg(test)]
mod tests {
    use super::*;
    use docent_testkit::entropy::TestEntropy;
    use tokio::sync::SemaphorePermit;

    docent_testkit::password_hasher_contract!(async {
        (Arc::new(Argon2Hasher::weak_but_fast(Arc::new(TestEntropy::default())).unwrap()) as _, ())
    });

    fn password(text: &str) -> Password {
        Password::parse_existing(text.into()).unwrap()
    }

    // Invariant: Checking a password takes as long for an unknown account as for a known one.
    #[tokio::test]
    async fn hash_names_the_algorithm_and_the_recommended_cost() {
        let hasher = Argon2Hasher::new(Arc::new(TestEntropy::default())).unwrap();
        let cost = "$argon2id$v=19$m=19456,t=2,p=1$";
        let hash = hasher.hash(password("correct horse")).await.unwrap();
        assert!(hash.as_phc().starts_with(cost), "{}", hash.as_phc());
        // The decoy has the same algorithm, parameters and lengths, and so the same cost.
        assert!(hasher.decoy.as_phc().starts_with(cost), "{}", hasher.decoy.as_phc());
        assert_eq!(hasher.decoy.as_phc().len(), hash.as_phc().len());
    }

    #[tokio::test]
    async fn hash_is_verified_with_its_own_parameters() {
        let entropy = Arc::new(TestEntropy::default());
        let old = Argon2Hasher::with_params(Arc::clone(&entropy) as _, 16, 3).unwrap();
        let hash = old.hash(password("correct horse")).await.unwrap();
        let new = Argon2Hasher::weak_but_fast(entropy).unwrap();
        assert!(new.verify(password("correct horse"), Some(hash)).await.unwrap());
    }

    #[tokio::test]
    async fn invalid_stored_hash_is_an_internal_fault() {
        let hasher = Argon2Hasher::weak_but_fast(Arc::new(TestEntropy::default())).unwrap();
        for broken in ["", "plain", "$argon2id$v=19$m=8,t=1,p=1", "$pbkdf2$c2FsdHNhbHQ$aGFzaGhhc2g"] {
            let fault = hasher.verify(password("x"), Some(PasswordHash::from_phc(broken.into()))).await;
            assert_eq!(fault.unwrap_err().kind(), FaultKind::Internal, "{broken:?}");
        }
    }

    /// Takes all slots of ordinary calls.
    async fn occupy(hasher: &Argon2Hasher) -> SemaphorePermit<'_> {
        let all = u32::try_from(hasher.ordinary.slots.available_permits()).unwrap();
        hasher.ordinary.slots.acquire_many(all).await.unwrap()
    }

    #[tokio::test]
    async fn concurrent_hashes_are_limited_by_slots() {
        let hasher = Argon2Hasher::weak_but_fast(Arc::new(TestEntropy::default())).unwrap();
        let taken = occupy(&hasher).await;
        let mut hash = hasher.hash(password("x"));
        assert!(futures::poll!(&mut hash).is_pending());
        tokio::task::yield_now().await;
        assert!(futures::poll!(&mut hash).is_pending());
        drop(taken);
        hash.await.unwrap();
    }

    #[tokio::test]
    async fn call_beyond_the_queue_is_unavailable() {
        let hasher = Argon2Hasher::weak_but_fast(Arc::new(TestEntropy::default())).unwrap();
        let taken = occupy(&hasher).await;
        let places = hasher.ordinary.places.available_permits();
        let mut waiting: Vec<_> = (0..places).map(|_| hasher.hash(password("x"))).collect();
        for hash in &mut waiting {
            assert!(futures::poll!(hash).is_pending());
        }
        let fault = hasher.verify(password("x"), None).await.unwrap_err();
        assert_eq!(fault.kind(), FaultKind::Unavailable);
        assert!(!hasher.verify_reserved(password("x"), None).await.unwrap(), "a reserved call does not wait");
        drop((taken, waiting));
        hasher.hash(password("x")).await.unwrap();
    }

    #[tokio::test]
    async fn reserved_calls_wait_for_each_other_and_use_free_slots() {
        let hasher = Argon2Hasher::weak_but_fast(Arc::new(TestEntropy::default())).unwrap();
        let reserved = hasher.reserved.slots.acquire().await.unwrap();
        assert!(!hasher.verify_reserved(password("x"), None).await.unwrap(), "in an ordinary slot");
        let taken = occupy(&hasher).await;
        let places = hasher.reserved.places.available_permits();
        let mut waiting: Vec<_> = (0..places).map(|_| hasher.verify_reserved(password("x"), None)).collect();
        for verify in &mut waiting {
            assert!(futures::poll!(verify).is_pending());
        }
        let fault = hasher.verify_reserved(password("x"), None).await.unwrap_err();
        assert_eq!(fault.kind(), FaultKind::Unavailable);
        drop(reserved);
        for verify in waiting {
            assert!(!verify.await.unwrap());
        }
        drop(taken);
    }
}
