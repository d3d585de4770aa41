//! What every mailer does.

use docent_domain::text::Email;
use docent_ports::{
    error::{Component, FaultKind},
    mailer::{Mail, Mailer},
};
use std::{fmt, sync::Arc};

/// A mailer with a server, and what is at the other end.
pub struct Subject {
    /// The mailer.
    pub mailer: Arc<dyn Mailer>,
    /// The mails that the server took, decoded.
    pub arrived: Box<dyn Fn() -> Vec<Mail> + Send>,
    /// Has the server refuse all further mail for good.
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

    /// What is sent arrives, word by word, once, in the order of sending.
    async fn mail_arrives_as_it_was_sent(subject) {
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

    /// A refusal is told as such, as the mail server's.
    async fn a_refusal_is_told(subject) {
        (subject.refuse)();
        let fault = subject.mailer.send(&mail("ada@example.org", "Hello")).await.unwrap_err();
        assert_eq!((fault.component(), fault.kind()), (Component::MailServer, FaultKind::Rejected));
        assert!((subject.arrived)().is_empty());
    }

    /// Mails may be sent at the same time.
    async fn mails_do_not_wait_for_each_other(subject) {
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
