//! Contract of every mailer.

use docent_domain::fault::{Component, FaultKind};
use docent_domain::text::Email;
use docent_ports::mailer::{Mail, Mailer};
use std::fmt;
use std::sync::Arc;

/// A mailer and its mail server.
pub struct Subject {
    /// The mailer.
    pub mailer: Arc<dyn Mailer>,
    /// The decoded emails that the server accepted.
    pub arrived: Box<dyn Fn() -> Vec<Mail> + Send>,
    /// Makes the server permanently reject all further email.
    pub refuse: Box<dyn Fn() + Send>,
}

impl fmt::Debug for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Subject")
    }
}

fn mail(to: &str, text: &str) -> Mail {
    Mail {
        to: Email::parse(to).unwrap(),
        subject: "Wählen Sie: a new password".to_owned(),
        text: text.to_owned(),
    }
}

crate::battery! {
    mailer_contract in mailer (Subject);

    async fn email_arrives_unchanged_and_in_order(subject) {
        let long = format!("https://example.org/account?token={}", "x".repeat(400));
        let mails = [
            mail("ada@example.org", "Hello Ada,\nthis is a line.\n\nGrüße 🐎\n"),
            mail("bob@example.org", &format!(".\n..leading dots\n{long}\n")),
        ];
        assert!(subject.mailer.is_configured());
        for mail in &mails {
            subject.mailer.send(mail).await.unwrap();
        }
        let arrived = (subject.arrived)();
        assert_eq!(arrived.len(), 2);
        for (sent, came) in mails.iter().zip(&arrived) {
            assert_eq!((&came.to, &came.subject, &came.text), (&sent.to, &sent.subject, &sent.text));
        }
    }

    async fn rejected_email_returns_fault(subject) {
        (subject.refuse)();
        let fault = subject.mailer.send(&mail("ada@example.org", "Hello")).await.unwrap_err();
        assert_eq!((fault.component(), fault.kind()), (Component::MailServer, FaultKind::Rejected));
        assert!((subject.arrived)().is_empty());
    }

    async fn emails_are_sent_concurrently(subject) {
        let names: Vec<String> = (0..8).map(|n| format!("user{n}@example.org")).collect();
        let mails: Vec<Mail> = names.iter().map(|name| mail(name, "Hello")).collect();
        let sending = mails.iter().map(|mail| subject.mailer.send(mail));
        for sent in futures::future::join_all(sending).await {
            sent.unwrap();
        }
        let mut to: Vec<String> = (subject.arrived)().into_iter().map(|mail| mail.to.as_str().to_owned()).collect();
        to.sort();
        assert_eq!(to, names);
    }
}
