//! Scripted faults of components.
//!
//! A [`FaultSwitch`] decides which calls fail and how; clones share its state. [`Faulty`] checks it before each call of
//! the wrapped port, so that a test can take a component down while the service uses it. [`store::FaultyStore`] has a
//! switch for each step of a unit of work.
//!
//! ```
//! use docent_domain::fault::{FaultKind, Component};
//! use docent_testkit::faults::FaultSwitch;
//!
//! let database = FaultSwitch::new(Component::Database);
//! assert!(database.check().is_ok());
//! database.fail_all(FaultKind::Unavailable);
//! assert!(database.check().is_err());
//! database.clear();
//! assert!(database.check().is_ok());
//! ```

pub mod blob_store;
pub mod rate_limiter;
pub mod search;
pub mod store;
pub mod token_store;

use docent_domain::fault::{Component, Fault, FaultKind, Result};
use std::sync::{Arc, Mutex};

/// Decides which calls of a component fail. Clones share the state.
#[derive(Clone, Debug)]
pub struct FaultSwitch {
    part: Component,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    script: Script,
    calls: u64,
}

#[derive(Clone, Copy, Debug, Default)]
enum Script {
    #[default]
    Off,
    All(FaultKind),
    Window {
        pass: u64,
        fail: u64,
        kind: FaultKind,
    },
    /// The call after this many takes effect, and its answer is lost.
    Loss {
        pass: u64,
        kind: FaultKind,
    },
    /// The answer of the call that is being made is lost.
    Lost(FaultKind),
    Writes(FaultKind),
}

impl FaultSwitch {
    /// Creates a switch that lets every call pass.
    pub fn new(part: Component) -> Self {
        Self { part, state: Arc::default() }
    }

    /// Fails every call until [`Self::clear`].
    pub fn fail_all(&self, kind: FaultKind) {
        self.set(Script::All(kind));
    }

    /// Fails the next `n` calls; those after them pass.
    pub fn fail_next(&self, n: u64, kind: FaultKind) {
        self.fail_after(0, n, kind);
    }

    /// Lets `pass` calls pass, fails the `n` that follow, and lets the rest pass:
    /// `fail_after(1, 1, kind)` fails the second call from now.
    pub fn fail_after(&self, pass: u64, n: u64, kind: FaultKind) {
        self.set(Script::Window { pass, fail: n, kind });
    }

    /// Lets `pass` calls pass, and loses the answer of the next one, which takes effect.
    pub fn lose_answer_after(&self, pass: u64, kind: FaultKind) {
        self.set(Script::Loss { pass, kind });
    }

    /// Fails every write until [`Self::clear`], as on a full disk.
    pub fn fail_writes(&self, kind: FaultKind) {
        self.set(Script::Writes(kind));
    }

    /// Lets every call pass again.
    pub fn clear(&self) {
        self.set(Script::Off);
    }

    /// Number of calls so far, including failed ones.
    pub fn calls(&self) -> u64 {
        self.state.lock().unwrap().calls
    }

    /// Counts a call and decides whether it fails. Wrappers call this first.
    ///
    /// # Errors
    /// A fault of the switch's component, if scripted.
    pub fn check(&self) -> Result<()> {
        let mut state = self.state.lock().unwrap();
        state.calls += 1;
        let kind = match &mut state.script {
            Script::Off | Script::Lost(_) | Script::Writes(_) => None,
            Script::All(kind) => Some(*kind),
            Script::Window { pass, fail, kind } => match (*pass, *fail) {
                (0, 0) => None,
                (0, _) => {
                    *fail -= 1;
                    Some(*kind)
                }
                _ => {
                    *pass -= 1;
                    None
                }
            },
            Script::Loss { pass, kind } => {
                if *pass == 0 {
                    state.script = Script::Lost(*kind);
                } else {
                    *pass -= 1;
                }
                None
            }
        };
        kind.map_or(Ok(()), |kind| Err(self.fault(kind)))
    }

    /// Makes a call, which may fail before or after it takes effect.
    ///
    /// # Errors
    /// That of the call, or the scripted fault.
    pub async fn call<T>(&self, call: impl Future<Output = Result<T>>) -> Result<T> {
        self.check()?;
        let answer = call.await;
        let mut state = self.state.lock().unwrap();
        let Script::Lost(kind) = state.script else { return answer };
        state.script = Script::Off;
        Err(self.fault(kind))
    }

    /// Makes a call that writes. See [`Self::call`].
    ///
    /// # Errors
    /// As for [`Self::call`].
    pub async fn write<T>(&self, call: impl Future<Output = Result<T>>) -> Result<T> {
        let script = self.state.lock().unwrap().script;
        match script {
            Script::Writes(kind) => Err(self.fault(kind)),
            _ => self.call(call).await,
        }
    }

    fn fault(&self, kind: FaultKind) -> Fault {
        Fault::new(self.part, kind, "a scripted fault")
    }

    fn set(&self, script: Script) {
        self.state.lock().unwrap().script = script;
    }
}

/// A port whose calls fail according to a switch: `Faulty<dyn TokenStore>` is a `TokenStore`.
#[derive(Debug)]
pub struct Faulty<P: ?Sized> {
    inner: Arc<P>,
    switch: FaultSwitch,
}

impl<P: ?Sized> Faulty<P> {
    /// Wraps `inner` with a switch.
    pub fn new(inner: Arc<P>, switch: &FaultSwitch) -> Self {
        Self { inner, switch: switch.clone() }
    }

    /// Returns the wrapped port if the switch lets this call pass.
    ///
    /// # Errors
    /// The scripted fault.
    pub fn pass(&self) -> Result<&P> {
        self.switch.check()?;
        Ok(&self.inner)
    }

    /// The switch.
    pub fn switch(&self) -> &FaultSwitch {
        &self.switch
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    fn outcomes(switch: &FaultSwitch, calls: usize) -> Vec<bool> {
        (0..calls).map(|_| switch.check().is_ok()).collect()
    }

    #[test]
    fn a_switch_fails_exactly_the_scripted_calls() {
        let switch = FaultSwitch::new(Component::Embedder);
        assert_eq!(outcomes(&switch, 2), [true, true]);
        switch.fail_next(2, FaultKind::Timeout);
        assert_eq!(outcomes(&switch, 4), [false, false, true, true]);
        switch.fail_after(1, 1, FaultKind::Timeout);
        assert_eq!(outcomes(&switch, 3), [true, false, true]);
        switch.fail_all(FaultKind::Timeout);
        assert_eq!(outcomes(&switch, 2), [false, false]);
        switch.clear();
        assert_eq!(outcomes(&switch, 1), [true]);
        assert_eq!(switch.calls(), 12);
    }

    #[tokio::test]
    async fn a_lost_answer_is_of_a_call_that_took_effect() {
        let (switch, made) = (FaultSwitch::new(Component::VectorStore), AtomicU64::new(0));
        let call = || switch.call(async { Ok(made.fetch_add(1, Ordering::Relaxed)) });
        switch.lose_answer_after(1, FaultKind::Unavailable);
        assert_eq!((call().await.is_ok(), call().await.is_ok(), call().await.is_ok()), (true, false, true));
        assert_eq!(made.into_inner(), 3);
    }

    #[tokio::test]
    async fn writes_fail_alone() {
        let switch = FaultSwitch::new(Component::VectorStore);
        switch.fail_writes(FaultKind::Full);
        assert_eq!(switch.call(async { Ok(1) }).await.unwrap(), 1);
        assert_eq!(switch.write(async { Ok(1) }).await.unwrap_err().kind(), FaultKind::Full);
        switch.clear();
        assert_eq!(switch.write(async { Ok(1) }).await.unwrap(), 1);
    }

    #[test]
    fn clones_are_one_switch_and_faults_name_their_part() {
        let switch = FaultSwitch::new(Component::ChatModel);
        switch.clone().fail_next(1, FaultKind::RateLimited);
        let fault = switch.check().unwrap_err();
        assert_eq!((fault.component(), fault.kind()), (Component::ChatModel, FaultKind::RateLimited));
    }
}
