//! Mail, and what its links lead to.

use super::{
    declare::{section, unset, variable},
    reader::{Context, Reader, Refusal},
    url::{ConnectionUrl, HttpUrl},
    value::Value,
};
use ::url::Url;
use std::net::IpAddr;

section! {
    /// Mail.
    Mail "Mail" {
        /// The mail server: `smtps://user:password@host` (TLS), `smtp://user:password@host?tls=required` (STARTTLS) or,
        /// without a password, `smtp://host`. In a password write `/`, `#` and `@` as `%2F`, `%23` and `%40`.
        smtp_url: Option<SmtpUrl> = unset("nothing is sent; staff can make the links and hand them on");
        /// Whom letters come from, such as `Docent <docent@example.org>`. Must be set when `smtp_url` is.
        mail_from: Option<String> = unset("none"), sender;
        /// The address that people open the service at, such as `https://docs.example.org`; links in letters begin
        /// with it. Must be set when `smtp_url` is.
        public_url: Option<HttpUrl> = unset("`http://` and `bind_address`");
    }
}

/// The address of a mail server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SmtpUrl(ConnectionUrl);

impl SmtpUrl {
    /// The whole address.
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
        let parsed = Url::parse(text).map_err(|error| format!("is no URL ({error})"))?;
        // Hosts of schemes that the parser does not know are text to it.
        let host = parsed.host_str().unwrap_or_default().trim_matches(['[', ']']);
        let is_local = host == "localhost" || host.parse().is_ok_and(|address: IpAddr| address.is_loopback());
        match parsed.query() {
            Some("tls=required") if scheme == "smtp" => {}
            Some(_) => return Err("has parameters other than tls=required".to_owned()),
            None if scheme == "smtp" && parsed.password().is_some() && !is_local => {
                return Err("would send the password in the clear".to_owned());
            }
            None => {}
        }
        Ok(Self(url))
    }

    fn show(&self) -> String {
        self.0.to_string()
    }
}

fn sender(from: &Option<String>, _: &Context) -> Result<(), Refusal> {
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
    let accepted = "an address such as docent@example.org, or Docent <docent@example.org>".to_owned();
    Err(Refusal { wrong: "holds no e-mail address".to_owned(), accepted })
}

/// Reports a mail server that was given without what its letters need.
pub(super) fn check_letters(reader: &mut Reader<'_>) {
    // A value that cannot be read has been reported, but it was set.
    let is_set = |reader: &Reader<'_>, name| !matches!(reader.set(name), Ok(None));
    if !is_set(reader, "smtp_url") {
        return;
    }
    for (name, accepted) in [
        ("mail_from", "an address such as docent@example.org".to_owned()),
        ("public_url", HttpUrl::accepted()),
    ] {
        if !is_set(reader, name) {
            reader.refuse(variable(name), format!("must be set when {} is", variable("smtp_url")), accepted);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_goes_to_a_mail_server_over_tls_or_not_at_all() {
        for good in [
            "smtps://ada:hunter2@mail.example.org",
            "smtp://ada:hunter2@mail.example.org:587?tls=required",
            "smtp://ada:hunter2@127.0.0.1:1025",
            "smtp://ada:hunter2@[::1]:1025",
            "smtp://relay",
        ] {
            let url = SmtpUrl::parse(good).unwrap();
            assert_eq!(url.expose(), good);
            assert!(!format!("{url:?} {}", url.show()).contains("hunter2"));
        }
        for wrong in [
            "mail.example.org",
            "https://mail.example.org",
            "smtp://ada:hunter2@mail.example.org",
            "smtp://ada:hunter2@mail.example.org?tls=opportunistic",
            "smtps://",
        ] {
            assert!(!SmtpUrl::parse(wrong).unwrap_err().contains("hunter2"), "{wrong}");
        }
    }
}
