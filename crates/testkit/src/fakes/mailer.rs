//! Mailer that records emails.

use async_trait::async_trait;
use docent_domain::fault::{Component, Fault, FaultKind, Result};
use docent_ports::mailer::{Mail, Mailer};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// Records emails in the order of sending.
#[derive(Debug, Default)]
pub struct FakeMailer {
    mails: Mutex<Vec<Mail>>,
    is_absent: AtomicBool,
    refuses: AtomicBool,
    hangs: AtomicBool,
}

impl FakeMailer {
    /// Returns the emails sent so far.
    pub fn mails(&self) -> Vec<Mail> {
        self.mails.lock().expect("not poisoned").clone()
    }

    /// Behaves as if no mail server were configured.
    pub fn go_away(&self) {
        self.is_absent.store(true, Ordering::Relaxed);
    }

    /// Never finishes to send further emails.
    pub fn hang(&self) {
        self.hangs.store(true, Ordering::Relaxed);
    }

    /// Rejects all further emails.
    pub fn refuse_all(&self) {
        self.refuses.store(true, Ordering::Relaxed);
    }
}

#[async_trait]
impl Mailer for FakeMailer {
    fn is_configured(&self) -> bool {
        !self.is_absent.load(Ordering::Relaxed)
    }

    async fn send(&self, mail: &Mail) -> Result<()> {
        if !self.is_configured() || self.refuses.load(Ordering::Relaxed) {
            return Err(Fault::new(Component::MailServer, FaultKind::Rejected, "the mail is refused"));
        }
        if self.hangs.load(Ordering::Relaxed) {
            std::future::pending::<()>().await;
        }
        self.mails.lock().expect("not poisoned").push(mail.clone());
        Ok(())
    }
}
