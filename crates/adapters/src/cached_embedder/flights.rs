//! Texts that are being embedded by calls of this process.

use docent_ports::embedding_cache::TextDigest;
use std::{
    collections::{HashMap, hash_map::Entry},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::sync::watch;

/// A vector, as soon as it is available.
type Landed = Option<Arc<[f32]>>;

/// The texts that are being embedded.
#[derive(Debug, Default)]
pub(super) struct Flights(Mutex<HashMap<TextDigest, watch::Receiver<Landed>>>);

/// A text that another call is embedding.
#[derive(Debug)]
pub(super) struct Awaited {
    pub(super) text: TextDigest,
    vector: watch::Receiver<Landed>,
}

impl Awaited {
    /// Its vector; none when who was embedding it gave up.
    pub(super) async fn landed(mut self) -> Landed {
        self.vector.wait_for(Option::is_some).await.ok().and_then(|vector| vector.clone())
    }
}

/// Texts that the holder must embed. Other calls wait for them; dropping the claims releases the texts.
#[derive(Debug)]
pub(super) struct Claims<'a> {
    flights: &'a Flights,
    claimed: HashMap<TextDigest, watch::Sender<Landed>>,
}

impl Flights {
    /// Claims those of these texts that nobody is embedding; the others are awaited.
    pub(super) fn claim(&self, texts: impl Iterator<Item = TextDigest>) -> (Claims<'_>, Vec<Awaited>) {
        let (mut claimed, mut awaited) = (HashMap::new(), Vec::new());
        let mut flights = self.flights();
        for text in texts {
            match flights.entry(text) {
                Entry::Occupied(theirs) => awaited.push(Awaited { text, vector: theirs.get().clone() }),
                Entry::Vacant(free) => {
                    let (sender, receiver) = watch::channel(None);
                    free.insert(receiver);
                    claimed.insert(text, sender);
                }
            }
        }
        drop(flights);
        (Claims { flights: self, claimed }, awaited)
    }

    // The map is consistent even if a thread panicked while holding the lock.
    fn flights(&self) -> MutexGuard<'_, HashMap<TextDigest, watch::Receiver<Landed>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Claims<'_> {
    /// The claimed texts without a vector, in no particular order.
    pub(super) fn texts(&self) -> impl Iterator<Item = TextDigest> {
        self.claimed.keys().copied()
    }

    /// Whether a text is claimed and has no vector yet.
    pub(super) fn holds(&self, text: &TextDigest) -> bool {
        self.claimed.contains_key(text)
    }

    /// Passes a text's vector to all waiting calls.
    pub(super) fn land(&mut self, text: &TextDigest, vector: &Arc<[f32]>) {
        if let Some(sender) = self.claimed.remove(text) {
            sender.send_replace(Some(Arc::clone(vector)));
            self.flights.flights().remove(text);
        }
    }
}

impl Drop for Claims<'_> {
    fn drop(&mut self) {
        let mut flights = self.flights.flights();
        for text in self.claimed.keys() {
            flights.remove(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXTS: [TextDigest; 2] = [[1; 32], [2; 32]];

    #[tokio::test]
    async fn a_text_is_claimed_once_and_lands_for_all() {
        let flights = Flights::default();
        let (mut ours, none) = flights.claim(TEXTS.into_iter());
        assert_eq!((ours.texts().count(), none.len()), (2, 0));
        let (theirs, mut awaited) = flights.claim(TEXTS.into_iter());
        assert_eq!((theirs.texts().count(), awaited.len()), (0, 2));
        let vector: Arc<[f32]> = Arc::new([1.0]);
        ours.land(&TEXTS[0], &vector);
        assert!(!ours.holds(&TEXTS[0]) && ours.holds(&TEXTS[1]));
        let (second, first) = (awaited.pop().unwrap(), awaited.pop().unwrap());
        assert_eq!(first.landed().await, Some(vector));
        drop(ours);
        assert_eq!(second.landed().await, None, "it was given up");
        assert_eq!(flights.claim(TEXTS.into_iter()).0.texts().count(), 2, "and all are free again");
    }
}
