//! Outgoing email.

use super::check::{Context, Refusal};
use super::declare::{unset, variable};
use super::reader::Reader;
use super::section::section;
use super::url::{ConnectionUrl, HttpUrl};
use super::value::Value;
use ::url::Url;
use std::net::IpAddr;

section! {
    /// Outgoing email.
    Mail "Send email" {
        /// Mail server: `smtps://user:password@host` (TLS), `smtp://user:password@host?tls=required` (STARTTLS) or,
        /// without a password, `smtp://host`. In a password write `/`, `#` and `@` as `%2F`, `%23` and `%40`.
        smtp_url: Option<SmtpUrl> = unset("no email is sent; staff can create the links and pass them on");
        /// Sender of emails, such as `Docent <docent@example.org>`. Required with `smtp_url`.
        mail_from: Option<String> = unset("none"), check_sender;
    }
}

/// The URL of a mail server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SmtpUrl(ConnectionUrl);

impl SmtpUrl {
    /// The complete URL, with the password.
    pub fn expose(&self) -> &str {
        self.0.expose()
    }
}

impl Value for SmtpUrl {
    const KIND: &'static str = "URL";
    const IS_SECRET: bool = true;

    fn accepted() -> String {
        "smtps://user:password@host, smtp://user:password@host:587?tls=required, smtp://host".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        let (scheme, rest) = match text.split_once("://").ok_or("has no scheme")? {
            parts @ ("smtp" | "smtps", _) => parts,
            _ => return Err("has another scheme".to_owned()),
        };
        let url = ConnectionUrl::parse(scheme, rest)?;
        let parsed = Url::parse(text).map_err(|error| format!("is not a URL ({error})"))?;
        // The parser does not parse hosts of schemes it does not know.
        let host = parsed.host_str().unwrap_or_default().trim_matches(['[', ']']);
        let is_local = host == "localhost" || host.parse().is_ok_and(|address: IpAddr| address.is_loopback());
        match parsed.query() {
            Some("tls=required") if scheme == "smtp" => {}
            Some(_) => return Err("has parameters other than tls=required".to_owned()),
            None if scheme == "smtp" && parsed.password().is_some() && !is_local => {
                return Err("would send the password unencrypted".to_owned());
            }
            None => {}
        }
        Ok(Self(url))
    }

    fn show(&self) -> String {
        self.0.to_string()
    }
}

fn check_sender(from: &Option<String>, _: &Context) -> Result<(), Refusal> {
    let address = |text: &str| match text.rsplit_once('<') {
        Some((_, rest)) => rest.strip_suffix('>').map(str::to_owned),
        None => Some(text.to_owned()),
    };
    let is_address = |text: &String| {
        address(text).is_some_and(|address| docent_domain::text::Email::parse(&address).is_ok())
    };
    if from.as_ref().is_none_or(is_address) {
        return Ok(());
    }
    let accepted = "an address such as docent@example.org or Docent <docent@example.org>".to_owned();
    Err(Refusal { wrong: "contains no email address".to_owned(), accepted })
}

/// Reports settings that a mail server requires and that are missing.
pub(super) fn check_complete(reader: &mut Reader<'_>) {
    // An invalid value counts as set: it has been reported already.
    let is_set = |reader: &Reader<'_>, name| !matches!(reader.set(name), Ok(None));
    if !is_set(reader, "smtp_url") {
        return;
    }
    for (name, accepted) in [
        ("mail_from", "an address such as docent@example.org".to_owned()),
        ("public_url", HttpUrl::accepted()),
    ] {
        if !is_set(reader, name) {
            reader.refuse(variable(name), format!("must be set with {}", variable("smtp_url")), accepted);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smtp_password_requires_tls_except_on_loopback() {
        for accepted in [
            "smtps://ada:hunter2@mail.example.org",
            "smtp://ada:hunter2@mail.example.org:587?tls=required",
            "smtp://ada:hunter2@127.0.0.1:1025",
            "smtp://ada:hunter2@[::1]:1025",
            "smtp://relay",
        ] {
            let url = SmtpUrl::parse(accepted).unwrap();
            assert_eq!(url.expose(), accepted);
            assert!(!format!("{url:?} {}", url.show()).contains("hunter2"));
        }
        for rejected in [
            "mail.example.org",
            "https://mail.example.org",
            "smtp://ada:hunter2@mail.example.org",
            "smtp://ada:hunter2@mail.example.org?tls=opportunistic",
            "smtps://",
        ] {
            assert!(!SmtpUrl::parse(rejected).unwrap_err().contains("hunter2"), "{rejected}");
        }
    }
}
