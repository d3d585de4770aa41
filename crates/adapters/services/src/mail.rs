//! Mailers: SMTP, and none.

use async_trait::async_trait;
use docent_domain::fault::{Component, Fault, FaultKind, Result};
use docent_ports::clock::Clock;
use docent_ports::entropy::Entropy;
use docent_ports::mailer::{Mail, Mailer};
use lettre::message::{Mailbox, SinglePart, header};
use lettre::transport::smtp;
use lettre::{Address, AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;
use uuid::Builder;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Limit for sending a message, including the connection.
const SEND_TIMEOUT: Duration = Duration::from_secs(30);

/// Sends messages by SMTP, each over a new connection, because there are few.
pub struct SmtpMailer {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: Mailbox,
    send_timeout: Duration,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
}

impl SmtpMailer {
    /// Creates a mailer for the server at `url` with the sender `from`, such as `Docent <docent@example.org>`.
    ///
    /// `smtps://user:password@host` uses TLS (port 465), `smtp://…?tls=required` STARTTLS (port 587), and `smtp://host`
    /// no encryption (port 25).
    ///
    /// # Errors
    /// If `url` or `from` is invalid.
    pub fn new(url: &str, from: &str, clock: Arc<dyn Clock>, entropy: Arc<dyn Entropy>) -> Result<Self> {
        let invalid = |what: &'static str| Fault::new(Component::MailServer, FaultKind::Rejected, what);
        let transport = AsyncSmtpTransport::<Tokio1Executor>::from_url(url);
        // The error may quote the URL, which may contain a password.
        let transport = transport.map_err(|_| invalid("the mail server's URL is invalid"))?;
        let from = from.parse().map_err(|_| invalid("the sender's email address is invalid"))?;
        Ok(Self {
            transport: transport.timeout(Some(CONNECT_TIMEOUT)).build(),
            from,
            send_timeout: SEND_TIMEOUT,
            clock,
            entropy,
        })
    }

    /// Sets the limit for sending a message.
    #[must_use]
    pub fn with_send_timeout(self, send_timeout: Duration) -> Self {
        Self { send_timeout, ..self }
    }

    fn message(&self, mail: &Mail) -> Result<Message> {
        let invalid = |error: &(dyn std::error::Error + Send + Sync)| {
            Fault::new(
                Component::MailServer,
                FaultKind::Rejected,
                format!("the message cannot be created: {error}"),
            )
        };
        let to: Address =
            mail.to.as_str().parse().map_err(|error: lettre::address::AddressError| invalid(&error))?;
        let mut random = [0; 16];
        self.entropy.fill(&mut random);
        let id = Builder::from_random_bytes(random).into_uuid();
        let part = SinglePart::builder()
            .header(header::ContentType::TEXT_PLAIN)
            .header(header::ContentTransferEncoding::Base64)
            .body(mail.text.clone());
        Message::builder()
            .from(self.from.clone())
            .to(Mailbox::new(None, to))
            .subject(mail.subject.clone())
            .date(self.clock.now().into())
            .message_id(Some(format!("<{id}@{}>", self.from.email.domain())))
            // Suppresses automatic replies such as absence notices.
            .header(AutoSubmitted)
            .singlepart(part)
            .map_err(|error| invalid(&error))
    }
}

#[async_trait]
impl Mailer for SmtpMailer {
    fn is_configured(&self) -> bool {
        true
    }

    async fn send(&self, mail: &Mail) -> Result<()> {
        let message = self.message(mail)?;
        match timeout(self.send_timeout, self.transport.send(message)).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => Err(fault(error)),
            Err(_) => Err(Fault::new(
                Component::MailServer,
                FaultKind::Timeout,
                "the mail server did not accept the message in time",
            )),
        }
    }
}

fn fault(error: smtp::Error) -> Fault {
    let kind = if error.is_permanent() || error.is_client() {
        FaultKind::Rejected
    } else if error.is_timeout() {
        FaultKind::Timeout
    } else if error.is_response() {
        FaultKind::InvalidResponse
    } else {
        FaultKind::Unavailable
    };
    Fault::new(Component::MailServer, kind, "cannot send the message").caused_by(error)
}

/// `Auto-Submitted: auto-generated` (RFC 3834).
#[derive(Clone)]
struct AutoSubmitted;

impl header::Header for AutoSubmitted {
    fn name() -> header::HeaderName {
        header::HeaderName::new_from_ascii_str("Auto-Submitted")
    }

    fn parse(_: &str) -> std::result::Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        Ok(Self)
    }

    fn display(&self) -> header::HeaderValue {
        header::HeaderValue::new(Self::name(), "auto-generated".to_owned())
    }
}

/// Rejects every message, because no mail server is configured.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoMailer;

#[async_trait]
impl Mailer for NoMailer {
    fn is_configured(&self) -> bool {
        false
    }

    async fn send(&self, _: &Mail) -> Result<()> {
        Err(Fault::new(Component::MailServer, FaultKind::Rejected, "no mail server is configured"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use docent_domain::text::Email;
    use docent_testkit::clock::TestClock;
    use docent_testkit::contract::mailer::Subject;
    use docent_testkit::entropy::TestEntropy;
    use docent_testkit::wire::smtp::FakeSmtp;

    const FROM: &str = "Docent <docent@example.org>";

    fn mailer(url: &str) -> Result<SmtpMailer> {
        SmtpMailer::new(url, FROM, Arc::new(TestClock::default()), Arc::new(TestEntropy::default()))
    }

    async fn subject() -> (Subject, ()) {
        let server = FakeSmtp::start().await;
        let (arrived, refusing) = (server.clone(), server.clone());
        let subject = Subject {
            mailer: Arc::new(mailer(&server.url()).unwrap()),
            arrived: Box::new(move || arrived.mails()),
            refuse: Box::new(move || refusing.refuse_all()),
        };
        (subject, ())
    }

    docent_testkit::mailer_contract!(subject());

    fn mail() -> Mail {
        let to = Email::parse("ada@example.org").unwrap();
        Mail { to, subject: "A subject".to_owned(), text: "Words".to_owned() }
    }

    #[tokio::test]
    async fn message_has_sender_and_auto_submitted_headers() {
        let server = FakeSmtp::start().await;
        mailer(&server.url()).unwrap().send(&mail()).await.unwrap();
        let [raw] = server.raw().try_into().unwrap();
        for header in [
            "From: Docent <docent@example.org>",
            "To: ada@example.org",
            "Auto-Submitted: auto-generated",
            "Message-ID: <",
            "Date: ",
        ] {
            assert!(raw.contains(header), "{header}: {raw}");
        }
    }

    #[tokio::test]
    async fn silent_server_times_out() {
        let server = FakeSmtp::start().await;
        server.fall_silent();
        let mailer = mailer(&server.url()).unwrap().with_send_timeout(Duration::from_millis(50));
        assert_eq!(mailer.send(&mail()).await.unwrap_err().kind(), FaultKind::Timeout);
    }

    #[tokio::test]
    async fn unreachable_server_is_unavailable() {
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let fault = mailer(&format!("smtp://127.0.0.1:{port}")).unwrap().send(&mail()).await.unwrap_err();
        assert_eq!((fault.component(), fault.kind()), (Component::MailServer, FaultKind::Unavailable));
    }

    #[tokio::test]
    async fn invalid_url_is_rejected_without_showing_the_password() {
        for url in ["", "http://host", "smtp://user:hunter2@", "smtp://user:hunter2@host?tls=perhaps"] {
            let Err(fault) = mailer(url) else { panic!("{url} is accepted") };
            assert!(!fault.report().contains("hunter2"), "{fault}");
        }
        let (clock, entropy) = (Arc::new(TestClock::default()), Arc::new(TestEntropy::default()));
        assert!(SmtpMailer::new("smtp://host", "invalid", clock, entropy).is_err());
    }

    #[tokio::test]
    async fn message_without_a_mail_server_is_rejected() {
        assert!(!NoMailer.is_configured());
        assert_eq!(NoMailer.send(&mail()).await.unwrap_err().kind(), FaultKind::Rejected);
    }
}
