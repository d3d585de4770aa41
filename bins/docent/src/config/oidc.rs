//! Identity providers (OpenID Connect).
//!
//! The settings of one provider are `DOCENT_OIDC_…`. Those of further providers have the provider's name inserted, such as
//! `DOCENT_OIDC_ENTRA_ISSUER` for `entra` in `DOCENT_OIDC_PROVIDERS`.

use super::Profile;
use super::check::{Context, Refusal};
use super::declare::{text, unset, variable};
use super::reader::Reader;
use super::secret::Secret;
use super::section::section;
use super::value::Value;
use docent_domain::group::GroupName;
use docent_domain::identity::{GroupMapping, ProviderName};
use docent_domain::text::Email;
use std::net::IpAddr;
use url::Url;

/// Name of the provider whose settings have no name.
const UNNAMED: &str = "sso";

section! {
    /// An identity provider.
    Oidc "Sign in with an identity provider" {
        /// Issuer of an OpenID Connect provider, exactly as the provider names it, such as `https://id.example.org/realms/main`. With
        /// it, the sign-in pages have a button for the provider. Register `DOCENT_PUBLIC_URL/auth/oidc/sso/callback` there as redirect
        /// URI. Settings of further providers (see `oidc_providers`) have their names inserted: `DOCENT_OIDC_ENTRA_ISSUER`.
        oidc_issuer: Option<String> = unset("no identity provider"), check_issuer;
        /// Client ID of the service at the provider. Required with `oidc_issuer`.
        oidc_client_id: Option<String> = unset("none");
        /// Client secret of the service at the provider.
        oidc_client_secret: Option<Secret> = unset("a public client, with PKCE alone");
        /// Name of the provider on its button.
        oidc_label: String = text("Single sign-on");
        /// Scopes that are requested, besides `openid`.
        oidc_scopes: Vec<String> = text("profile,email");
        /// Domains of the email addresses that can sign in with the provider, such as `example.org`.
        oidc_email_domains: Vec<String> = text("[]"), check_domains;
        /// Whether a first sign-in creates an account if no account has the verified email address.
        oidc_create_accounts: bool = text("true");
        /// Whether a first sign-in uses an existing account with the same verified email address. Staff and superusers always
        /// connect their accounts themselves, after a sign-in with their password.
        oidc_link_by_email: bool = text("true");
        /// Whether email addresses count as verified although the provider does not say so in `email_verified`. Only for
        /// providers whose users cannot choose their addresses, such as a single tenant of Entra ID.
        oidc_trust_email: bool = text("false");
        /// Claim with the names of a person's groups.
        oidc_groups_claim: String = text("groups");
        /// Groups at the provider and groups of Docent whose members they become, as `provider-group:docent-group`. At each sign-in,
        /// accounts are added to and removed from these groups; other memberships stay as they are.
        oidc_groups: Vec<MappedGroup> = text("[]");
        /// Group at the provider whose members are staff. Others lose the flag at their next sign-in.
        oidc_staff_group: Option<String> = unset("staff are named in Docent alone");
        /// Group at the provider whose members are superusers. Others lose the flag at their next sign-in.
        oidc_superuser_group: Option<String> = unset("superusers are named in Docent alone");
        /// Values of the claims `amr` and `acr` with which a sign-in satisfies `require_2fa`.
        oidc_second_factor: Vec<String> = text("mfa");
    }
}

/// A provider with its name.
#[derive(Clone, Debug)]
pub struct NamedProvider {
    /// The name.
    pub name: ProviderName,
    /// The issuer.
    pub issuer: String,
    /// The client ID.
    pub client_id: String,
    /// Its other settings.
    pub settings: Oidc,
}

/// The accounts that can sign in with their password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PasswordLogin {
    /// All accounts.
    On,
    /// None.
    Off,
    /// These accounts.
    Only(Vec<Email>),
}

impl Value for PasswordLogin {
    const KIND: &'static str = "choice";

    fn accepted() -> String {
        "on, off, or the email addresses of accounts, separated by commas".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        match text {
            "on" => Ok(Self::On),
            "off" => Ok(Self::Off),
            emails => {
                let email = |text: &str| {
                    Email::parse(text.trim()).map_err(|_| "has no valid email address".to_owned())
                };
                emails.split(',').map(email).collect::<Result<_, _>>().map(Self::Only)
            }
        }
    }

    fn show(&self) -> String {
        match self {
            Self::On => "on".to_owned(),
            Self::Off => "off".to_owned(),
            Self::Only(emails) => emails.iter().map(Email::as_str).collect::<Vec<_>>().join(","),
        }
    }
}

impl Value for ProviderName {
    const KIND: &'static str = "name";
    const LIST_KIND: &'static str = "list of names";

    fn accepted() -> String {
        "a name of lower-case letters, digits and hyphens".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        Self::parse(text).map_err(|_| "is not such a name".to_owned())
    }

    fn show(&self) -> String {
        self.as_str().to_owned()
    }
}

/// A group at a provider and a group of Docent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MappedGroup(pub GroupMapping);

impl Value for MappedGroup {
    const KIND: &'static str = "group";
    const LIST_KIND: &'static str = "list of groups";

    fn accepted() -> String {
        "provider-group:docent-group".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        let (claim, group) = text.rsplit_once(':').ok_or("has no colon")?;
        if claim.trim().is_empty() {
            return Err("names no group of the provider".to_owned());
        }
        let group = GroupName::parse(group).map_err(|_| "names no valid group of Docent".to_owned())?;
        Ok(Self(GroupMapping { claim: claim.trim().to_owned(), group }))
    }

    fn show(&self) -> String {
        format!("{}:{}", self.0.claim, self.0.group.as_str())
    }
}

/// Codes and keys are sent over TLS, except on this machine.
fn check_issuer(issuer: &Option<String>, context: &Context) -> Result<(), Refusal> {
    let Some(issuer) = issuer else { return Ok(()) };
    let accepted = "a URL such as https://id.example.org/realms/main".to_owned();
    let Ok(url) = Url::parse(issuer) else {
        return Err(Refusal { wrong: "is not a URL".to_owned(), accepted });
    };
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    let is_local = host == "localhost" || host.parse().is_ok_and(|address: IpAddr| address.is_loopback());
    let is_plain = url.query().is_none() && url.fragment().is_none() && url.username().is_empty();
    match url.scheme() {
        "https" if is_plain => Ok(()),
        "http" if is_plain && (is_local || context.debug) => Ok(()),
        "http" => Err(Refusal { wrong: "would send codes and keys unencrypted".to_owned(), accepted }),
        _ => Err(Refusal { wrong: "is not the URL of an issuer".to_owned(), accepted }),
    }
}

#[expect(clippy::ptr_arg, reason = "a check takes the type of its setting")]
fn check_domains(domains: &Vec<String>, _: &Context) -> Result<(), Refusal> {
    if domains.iter().any(|domain| domain.contains('@')) {
        let accepted = "domains such as example.org".to_owned();
        return Err(Refusal { wrong: "has an address instead of a domain".to_owned(), accepted });
    }
    Ok(())
}

/// Reports settings with which no account can sign in.
pub(super) fn check_password_login(reader: &mut Reader<'_>, login: &PasswordLogin, has_other: bool) {
    if *login == PasswordLogin::Off && !has_other {
        let accepted = "an identity provider as well";
        reader.refuse(variable("password_login"), "lets no account sign in", accepted);
    }
}

/// Reads all providers: the one without a name first, then those of the list.
pub(super) fn read_providers(reader: &mut Reader<'_>, names: &[ProviderName]) -> Option<Vec<NamedProvider>> {
    let mut all = Vec::new();
    let mut is_complete = true;
    for name in std::iter::once(None).chain(names.iter().map(Some)) {
        reader.set_group(name.map(ProviderName::as_str));
        let settings = Oidc::read(reader);
        reader.set_group(None);
        let prefix = match name {
            Some(name) => format!("oidc_{}_", name.as_str().replace('-', "_")),
            None => "oidc_".to_owned(),
        };
        let Some(settings) = settings else {
            is_complete = false;
            continue;
        };
        match (settings.oidc_issuer.clone(), settings.oidc_client_id.clone()) {
            (None, None) if name.is_none() => {}
            (Some(issuer), Some(client_id)) => {
                let parsed = name.cloned().or_else(|| ProviderName::parse(UNNAMED).ok())?;
                all.push(NamedProvider { name: parsed, issuer, client_id, settings });
            }
            (issuer, _) => {
                let missing = if issuer.is_none() { "issuer" } else { "client_id" };
                let accepted = "the issuer and the client ID of the provider, together";
                reader.refuse(variable(&format!("{prefix}{missing}")), "must be set", accepted);
                is_complete = false;
            }
        }
    }
    let is_known = |at: usize| all[..at].iter().any(|other: &NamedProvider| other.name == all[at].name);
    if (0..all.len()).any(is_known) {
        let accepted = "different names; sso is that of the provider without a name";
        reader.refuse(variable("oidc_providers"), "names a provider twice", accepted);
    }
    is_complete.then_some(all)
}

/// Reports a missing public URL: providers send browsers back to it.
pub(super) fn check_public_url(reader: &mut Reader<'_>, providers: &[NamedProvider], profile: Profile) {
    if profile == Profile::Serve && !providers.is_empty() && matches!(reader.set("public_url"), Ok(None)) {
        let accepted = "a URL such as https://docs.example.org";
        reader.refuse(variable("public_url"), "must be set with an identity provider", accepted);
    }
}
