//! Sending of email.

use async_trait::async_trait;
use docent_domain::fault::Result;
use docent_domain::text::Email;
use std::fmt;

/// A plain-text email to one address.
#[derive(Clone, PartialEq, Eq)]
pub struct Mail {
    /// Recipient.
    pub to: Email,
    /// Subject: one line.
    pub subject: String,
    /// Body. It can contain a secret link.
    pub text: String,
}

impl fmt::Debug for Mail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Mail({:?})", self.subject)
    }
}

/// Sends email.
#[async_trait]
pub trait Mailer: Send + Sync {
    /// Whether a mail server is configured. If not, links are shown to staff on request.
    fn is_configured(&self) -> bool;

    /// Hands an email over to the mail server, which does not guarantee its arrival.
    ///
    /// # Errors
    /// `Rejected` if the server rejects the email or no server is configured. After any other fault it is unknown
    /// whether the server accepted it.
    async fn send(&self, mail: &Mail) -> Result<()>;
}
