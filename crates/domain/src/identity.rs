//! Identities of accounts at identity providers (OpenID Connect), and what the operator decided about each provider.

use crate::error::ValidationError;
use crate::group::GroupName;
use crate::id::{SessionId, UserId};
use crate::text::{Email, PersonName};
use chrono::{DateTime, Utc};
use std::collections::BTreeSet;
use std::fmt;

/// Maximum stored length of a subject or of a provider's session ID in bytes; OpenID Connect limits subjects to it.
pub const SUBJECT_MAX: usize = 255;

/// The name of a provider in settings and paths: 1 to 32 lower-case letters, digits and hyphens.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProviderName(String);

impl ProviderName {
    /// Maximum length.
    pub const MAX: usize = 32;

    /// Parses a name.
    ///
    /// # Errors
    /// If it is empty, too long or has other characters.
    pub fn parse(text: &str) -> Result<Self, ValidationError> {
        let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if text.is_empty() || text.len() > Self::MAX || !text.bytes().all(is_plain) {
            let reason = "must consist of 1 to 32 lower-case letters, digits and hyphens";
            return Err(ValidationError::new("provider", reason));
        }
        Ok(Self(text.to_owned()))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ProviderName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A group at a provider whose members are members of a group of this service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupMapping {
    /// Name of the group in the provider's claim.
    pub claim: String,
    /// Name of the group of this service.
    pub group: GroupName,
}

/// What the operator decided about a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderRules {
    /// Name in settings and paths.
    pub name: ProviderName,
    /// Name on buttons.
    pub label: String,
    /// Domains of the email addresses that can sign in, in lower case; all if empty.
    pub email_domains: Vec<String>,
    /// Whether a first sign-in can create an account.
    pub creates_accounts: bool,
    /// Whether a first sign-in can use the existing account with the same verified email address.
    pub links_by_email: bool,
    /// Whether that account can have a password or another identity, with which another person may have signed in before.
    pub links_used_accounts: bool,
    /// Whether email addresses count as verified although the provider does not say so.
    pub trusts_email: bool,
    /// Groups that the provider manages.
    pub groups: Vec<GroupMapping>,
    /// Group at the provider whose members are staff.
    pub staff_group: Option<String>,
    /// Group at the provider whose members are superusers.
    pub superuser_group: Option<String>,
    /// Values of the claims `amr` and `acr` that mean a second factor.
    pub second_factor_values: Vec<String>,
}

impl ProviderRules {
    /// Whether accounts with this email address can sign in.
    pub fn allows_domain(&self, email: &Email) -> bool {
        let domain = email.as_str().rsplit_once('@').map_or("", |(_, domain)| domain);
        self.email_domains.is_empty() || self.email_domains.iter().any(|allowed| allowed == domain)
    }

    /// Whether the provider checked a second factor.
    pub fn has_second_factor(&self, claims: &IdentityClaims) -> bool {
        let mut values = claims.methods.iter().chain(&claims.context);
        values.any(|value| self.second_factor_values.contains(value))
    }

    /// Whether memberships or flags of accounts follow the provider's groups.
    pub fn manages_groups(&self) -> bool {
        !self.groups.is_empty() || self.staff_group.is_some() || self.superuser_group.is_some()
    }
}

/// What a provider said about a person in signed claims, after all checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdentityClaims {
    /// The provider.
    pub issuer: String,
    /// The person's unchanging ID at the provider.
    pub subject: String,
    /// Email address, if it is valid.
    pub email: Option<Email>,
    /// Whether the provider has verified the email address; `None` if it does not say so.
    pub is_email_verified: Option<bool>,
    /// Name of the person, if it is valid.
    pub name: Option<PersonName>,
    /// Groups at the provider; empty if it named none.
    pub groups: BTreeSet<String>,
    /// The provider's session.
    pub session: Option<String>,
    /// Time at which the person signed in at the provider, if the provider said so.
    pub authenticated_at: Option<DateTime<Utc>>,
    /// Methods by which the person signed in (`amr`).
    pub methods: Vec<String>,
    /// Class of the sign-in (`acr`).
    pub context: Option<String>,
    /// The signed token, which names the session when the provider ends it.
    pub id_token: Option<String>,
}

impl IdentityClaims {
    /// A person of whom nothing but the subject is known.
    pub fn new(issuer: impl Into<String>, subject: impl Into<String>) -> Self {
        Self {
            issuer: issuer.into(),
            subject: subject.into(),
            email: None,
            is_email_verified: None,
            name: None,
            groups: BTreeSet::new(),
            session: None,
            authenticated_at: None,
            methods: Vec::new(),
            context: None,
            id_token: None,
        }
    }
}

/// The connection of an account with a person at a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The provider.
    pub issuer: String,
    /// The person's ID at the provider.
    pub subject: String,
    /// The account.
    pub user: UserId,
    /// Email address at the provider when the connection was made, for display alone.
    pub email: Option<String>,
    /// Time of the connection.
    pub created_at: DateTime<Utc>,
    /// Time of the last sign-in.
    pub last_used_at: DateTime<Utc>,
}

/// The sign-in at a provider by which a session began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderSession {
    /// The session.
    pub session: SessionId,
    /// The provider.
    pub issuer: String,
    /// The person's ID at the provider.
    pub subject: String,
    /// ID of the provider's session.
    pub provider_session: Option<String>,
    /// Whether the provider checked a second factor.
    pub has_second_factor: bool,
    /// The signed token, which names the session when the provider ends it.
    pub id_token: Option<String>,
}

/// What a provider asks to end (OpenID Connect Back-Channel Logout).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogoutRequest {
    /// The provider.
    pub issuer: String,
    /// The person's ID at the provider.
    pub subject: Option<String>,
    /// ID of the provider's session.
    pub provider_session: Option<String>,
    /// Time of the request. Later sessions remain.
    pub issued_at: DateTime<Utc>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> ProviderRules {
        ProviderRules {
            name: ProviderName::parse("sso").unwrap(),
            label: "Single sign-on".to_owned(),
            email_domains: vec!["example.org".to_owned()],
            creates_accounts: true,
            links_by_email: true,
            links_used_accounts: true,
            trusts_email: false,
            groups: Vec::new(),
            staff_group: None,
            superuser_group: None,
            second_factor_values: vec!["mfa".to_owned(), "phr".to_owned()],
        }
    }

    fn claims(methods: &[&str], context: Option<&str>) -> IdentityClaims {
        IdentityClaims {
            methods: methods.iter().map(|method| (*method).to_owned()).collect(),
            context: context.map(str::to_owned),
            ..IdentityClaims::new("https://idp.example.org", "1")
        }
    }

    #[test]
    fn provider_names_fit_in_paths_and_variables() {
        for name in ["sso", "entra-2", "a", &"x".repeat(32)] {
            assert_eq!(ProviderName::parse(name).unwrap().as_str(), name);
        }
        for name in ["", "Entra", "a b", "a/b", "..", "ä", &"x".repeat(33)] {
            assert!(ProviderName::parse(name).is_err(), "{name:?}");
        }
    }

    #[test]
    fn only_listed_domains_are_allowed() {
        let allows = |email: &str| rules().allows_domain(&Email::parse(email).unwrap());
        assert!(allows("ada@example.org") && allows("ada@EXAMPLE.org"));
        assert!(!allows("ada@sub.example.org") && !allows("ada@example.org.evil.example"));
        assert!(!allows("ada@notexample.org"));
        let all = ProviderRules { email_domains: Vec::new(), ..rules() };
        assert!(all.allows_domain(&Email::parse("ada@anywhere.example").unwrap()));
    }

    #[test]
    fn second_factor_is_a_listed_method_or_class() {
        assert!(rules().has_second_factor(&claims(&["pwd", "mfa"], None)));
        assert!(rules().has_second_factor(&claims(&[], Some("phr"))));
        assert!(!rules().has_second_factor(&claims(&["pwd"], Some("0"))));
        assert!(!rules().has_second_factor(&claims(&[], None)));
    }
}
