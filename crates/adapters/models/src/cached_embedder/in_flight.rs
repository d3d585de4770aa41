//! Texts that are being embedded by calls of this process.

use super::TextVector;
use docent_ports::embedding_cache::TextDigest;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// A vector, as soon as it is available.
type MaybeVector = Option<TextVector>;

/// The texts that are being embedded.
#[derive(Debug, Default)]
pub(super) struct InFlightTexts(Mutex<HashMap<TextDigest, watch::Receiver<MaybeVector>>>);

/// A text that another call is embedding.
#[derive(Debug)]
pub(super) struct PendingText {
    pub(super) text: TextDigest,
    vector: watch::Receiver<MaybeVector>,
}

impl PendingText {
    /// Waits for the vector; `None` if the other call failed.
    pub(super) async fn vector(mut self) -> MaybeVector {
        self.vector.wait_for(Option::is_some).await.ok().and_then(|vector| vector.clone())
    }
}

/// Texts that the holder must embed. Other calls wait for them; dropping the claims releases the texts.
#[derive(Debug)]
pub(super) struct Claims<'a> {
    in_flight: &'a InFlightTexts,
    claimed: HashMap<TextDigest, watch::Sender<MaybeVector>>,
}

impl InFlightTexts {
    /// Claims the texts that no call is embedding, and returns the others as pending.
    pub(super) fn claim(&self, texts: impl Iterator<Item = TextDigest>) -> (Claims<'_>, Vec<PendingText>) {
        let (mut claimed, mut pending) = (HashMap::new(), Vec::new());
        let mut in_flight = self.lock();
        for text in texts {
            match in_flight.entry(text) {
                Entry::Occupied(theirs) => pending.push(PendingText { text, vector: theirs.get().clone() }),
                Entry::Vacant(free) => {
                    let (sender, receiver) = watch::channel(None);
                    free.insert(receiver);
                    claimed.insert(text, sender);
                }
            }
        }
        drop(in_flight);
        (Claims { in_flight: self, claimed }, pending)
    }

    // The map is consistent even if a thread panicked while holding the lock.
    fn lock(&self) -> MutexGuard<'_, HashMap<TextDigest, watch::Receiver<MaybeVector>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Claims<'_> {
    /// The claimed texts without a vector, in no particular order.
    pub(super) fn texts(&self) -> impl Iterator<Item = TextDigest> {
        self.claimed.keys().copied()
    }

    /// Whether a text is claimed and has no vector yet.
    pub(super) fn contains(&self, text: &TextDigest) -> bool {
        self.claimed.contains_key(text)
    }

    /// Passes a text's vector to all waiting calls.
    pub(super) fn complete(&mut self, text: &TextDigest, vector: &TextVector) {
        if let Some(sender) = self.claimed.remove(text) {
            sender.send_replace(Some(vector.clone()));
            self.in_flight.lock().remove(text);
        }
    }
}

impl Drop for Claims<'_> {
    fn drop(&mut self) {
        let mut in_flight = self.in_flight.lock();
        for text in self.claimed.keys() {
            in_flight.remove(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXTS: [TextDigest; 2] = [[1; 32], [2; 32]];

    #[tokio::test]
    async fn text_is_claimed_once_and_completed_for_all() {
        let in_flight = InFlightTexts::default();
        let (mut ours, none) = in_flight.claim(TEXTS.into_iter());
        assert_eq!((ours.texts().count(), none.len()), (2, 0));
        let (theirs, mut pending) = in_flight.claim(TEXTS.into_iter());
        assert_eq!((theirs.texts().count(), pending.len()), (0, 2));
        let vector = TextVector { vector: [1.0].into(), is_shortened: true };
        ours.complete(&TEXTS[0], &vector);
        assert!(!ours.contains(&TEXTS[0]) && ours.contains(&TEXTS[1]));
        let (second, first) = (pending.pop().unwrap(), pending.pop().unwrap());
        assert_eq!(first.vector().await, Some(vector));
        drop(ours);
        assert_eq!(second.vector().await, None, "the claim was dropped");
        assert_eq!(in_flight.claim(TEXTS.into_iter()).0.texts().count(), 2, "all texts are released");
    }
}
