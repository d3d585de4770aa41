//! Emails that tell the owner of an account about changes that another person could have made.

use crate::App;
use docent_domain::api_key::ApiKey;
use docent_domain::fault::report;
use docent_domain::oauth::AuthorizationCode;
use docent_domain::text::Email;
use docent_ports::mailer::{Mail, Mailer};
use docent_ports::recorder::Recorder;
use futures::{StreamExt, stream};
use std::net::IpAddr;
use std::sync::Arc;
use tracing::Instrument;

/// A change that the owner of an account is notified of.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Notice<'a> {
    /// The password was changed.
    PasswordChanged,
    /// The email address was changed to `new`; the notice goes to the earlier one.
    EmailChanged { new: &'a Email },
    /// An API key was created by the account with this email address.
    ApiKeyCreated { key: &'a ApiKey, by: &'a str },
    /// An application got access to the account.
    ApplicationConnected { code: &'a AuthorizationCode },
    /// A link for a new password was created by the account with this email address.
    ResetLinkCreated { by: &'a str },
    /// The account was added to these groups by the account with this email address.
    AddedToGroups { groups: &'a str, by: &'a str },
    /// A login from a network that the account has not used before.
    LoginFromNewNetwork { address: IpAddr, agent: Option<&'a str> },
    /// The second factor was set up.
    SecondFactorAdded,
    /// The second factor was removed.
    SecondFactorRemoved,
    /// Staff disconnected the account from the identity provider with this issuer.
    IdentityDisconnected { issuer: &'a str },
    /// A webhook to this URL, without its secrets, was created.
    WebhookCreated { url: &'a str },
    /// The account was deleted.
    AccountDeleted,
}

impl Notice<'_> {
    const fn subject(self) -> &'static str {
        match self {
            Self::PasswordChanged => "Your password was changed",
            Self::EmailChanged { .. } => "Your email address was changed",
            Self::ApiKeyCreated { .. } => "An API key was created for your account",
            Self::ApplicationConnected { .. } => "An application was connected to your account",
            Self::ResetLinkCreated { .. } => "A link for a new password was created for your account",
            Self::AddedToGroups { .. } => "Your account was added to a group",
            Self::LoginFromNewNetwork { .. } => "New sign-in to your account",
            Self::SecondFactorAdded => "A second factor was set up for your account",
            Self::SecondFactorRemoved => "The second factor of your account was removed",
            Self::IdentityDisconnected { .. } => "Your account was disconnected from a sign-in provider",
            Self::WebhookCreated { .. } => "A webhook was created for your account",
            Self::AccountDeleted => "Your account was deleted",
        }
    }

    /// What happened, and what to do if the owner did not want it.
    fn sentences(self, account_page: &str) -> String {
        let administrator = "tell your administrator";
        match self {
            Self::PasswordChanged => format!(
                "The password of your account was changed. All of its sessions were ended.\n\nIf you did not do this, \
                 reset the password and {administrator}."
            ),
            Self::EmailChanged { new } => format!(
                "The email address of your account was changed to {}.\n\nIf you did not do this, {administrator}.",
                new.as_str()
            ),
            Self::ApiKeyCreated { key, by } => format!(
                "{by} created the API key \"{}\" with the scopes \"{}\". Programs that have the key act for your account \
                 within these scopes.\n\nIf you did not expect this, revoke the key and {administrator}:\n\
                 {account_page}/api-keys",
                key.name.as_str(),
                key.scopes
            ),
            Self::ApplicationConnected { code } => format!(
                "The application \"{}\" got access to your account with the scopes \"{}\". It returns to {}.\n\nIf you did \
                 not allow this, disconnect it and {administrator}:\n{account_page}/applications",
                code.name.as_str(),
                code.scopes,
                code.redirect_uri.as_str()
            ),
            Self::ResetLinkCreated { by } => format!(
                "{by} created a link with which a new password can be set for your account, once and for a limited \
                 time.\n\nIf you did not ask for this, {administrator}."
            ),
            Self::AddedToGroups { groups, by } => format!(
                "{by} added your account to: {groups}. It now has the permissions of these groups and their roles on \
                 collections.\n\nIf you did not expect this, {administrator}."
            ),
            Self::LoginFromNewNetwork { address, agent } => format!(
                "There was a sign-in to your account from {address}, a network that it was not used from before, with \
                 {}.\n\nIf this was not you, end the session and change your password:\n{account_page}/sessions",
                agent.unwrap_or("an unknown program")
            ),
            Self::SecondFactorAdded => format!(
                "A second factor was set up for your account: signing in needs a code of an authenticator app, or a \
                 recovery code.\n\nIf you did not do this, {administrator}."
            ),
            Self::SecondFactorRemoved => format!(
                "The second factor of your account was removed: the password alone suffices to sign in.\n\nIf you did \
                 not do this, change your password and {administrator}:\n{account_page}/password"
            ),
            Self::IdentityDisconnected { issuer } => format!(
                "An administrator disconnected your account from {issuer}. A later sign-in there may connect it again.\n\nIf you \
                 did not expect this, {administrator}."
            ),
            Self::WebhookCreated { url } => format!(
                "A webhook was created for your account. Events of documents are sent to {url}.\n\nIf you did not \
                 expect this, {administrator}."
            ),
            Self::AccountDeleted => {
                format!(
                    "Your account was deleted, with its conversations and API keys.\n\nIf you did not do this, {administrator}."
                )
            }
        }
    }
}

impl App {
    /// Sends a notice in the background, if a mail server is configured. The change is made even if sending fails,
    /// which is logged.
    pub(crate) fn notify(&self, to: &Email, notice: Notice<'_>) {
        let site = &self.settings.public_url;
        let at = self.now().format("%Y-%m-%d %H:%M");
        let sentences = notice.sentences(&format!("{site}/account"));
        let text = format!("{sentences}\n\nAccount: {}\nSite: {site}\nTime: {at} UTC\n", to.as_str());
        self.send_in_background(Mail { to: to.clone(), subject: notice.subject().to_owned(), text });
    }

    /// Sends an email in the background. A failure is logged.
    pub(crate) fn send_in_background(&self, mail: Mail) {
        let limit = self.process.outgoing_mail.clone();
        self.deliver(|sender| async move {
            let _permit = limit.acquire().await;
            sender.send(&mail).await;
        });
    }

    /// Sends many emails in the background, a few at a time, so that they do not delay others. Failures are logged.
    pub(crate) fn send_list_in_background(&self, mails: Vec<Mail>) {
        self.deliver(|sender| async move {
            let send = |mail: Mail| {
                let sender = &sender;
                async move { sender.send(&mail).await }
            };
            stream::iter(mails).for_each_concurrent(LIST_CONCURRENCY, send).await;
        });
    }

    fn deliver<F: Future<Output = ()> + Send + 'static>(&self, sending: impl FnOnce(Sender) -> F) {
        if !self.mailer.is_configured() {
            tracing::debug!("an email is not sent: no mail server is configured");
            return;
        }
        let sender = Sender { mailer: Arc::clone(&self.mailer), recorder: Arc::clone(&self.recorder) };
        if self.spawn(sending(sender).in_current_span()).is_none() {
            tracing::warn!("an email is not sent: there is no runtime");
        }
    }
}

/// Emails of a list that are sent concurrently.
const LIST_CONCURRENCY: usize = 8;

/// Sends emails and logs failures.
struct Sender {
    mailer: Arc<dyn Mailer>,
    recorder: Arc<dyn Recorder>,
}

impl Sender {
    async fn send(&self, mail: &Mail) {
        if let Err(fault) = self.mailer.send(mail).await {
            self.recorder.fault(fault.component(), fault.kind());
            tracing::warn!(subject = mail.subject, error = %report(&fault), "an email could not be sent");
        }
    }
}
