//! Sending mail.

use crate::error::Result;
use async_trait::async_trait;
use docent_domain::text::Email;
use std::fmt;

/// A message to one address, in plain text.
#[derive(Clone, PartialEq, Eq)]
pub struct Mail {
    /// Whom it is for.
    pub to: Email,
    /// Its subject, one line.
    pub subject: String,
    /// Its words. They may hold a secret link.
    pub text: String,
}

impl fmt::Debug for Mail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Mail({:?})", self.subject)
    }
}

/// Sends mail.
#[async_trait]
pub trait Mailer: Send + Sync {
    /// Whether there is any way to send mail; without one links are shown to staff who ask for them.
    fn is_there(&self) -> bool;

    /// Hands a message over to the mail server. A message that it took may still not arrive.
    ///
    /// # Errors
    /// `Rejected` when the server refuses the message or there is no server, otherwise as any part that cannot
    /// be reached. It is not known then whether the message was taken.
    async fn send(&self, mail: &Mail) -> Result<()>;
}
