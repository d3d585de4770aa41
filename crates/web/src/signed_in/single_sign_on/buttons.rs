//! Links to identity providers, shown by `providers.html`.

use docent_app::App;
use docent_app::accounts::single_sign_on::{connections::Connection, providers};
use docent_domain::identity::ProviderName;
use docent_http::extract::query::encode_query;
use serde::Serialize;

/// Link that opens a provider's page.
#[derive(Serialize)]
pub(crate) struct ProviderLink {
    label: String,
    href: String,
}

impl ProviderLink {
    fn new(name: &ProviderName, label: &str, action: &str, next: &str) -> Self {
        let query = encode_query(&[("next", Some(next).filter(|next| !next.is_empty()))]);
        let separator = if query.is_empty() { "" } else { "?" };
        Self { label: label.to_owned(), href: format!("/auth/oidc/{name}/{action}{separator}{query}") }
    }
}

/// Links of the sign-in pages.
pub(crate) fn sign_in_links(app: &App, next: &str) -> Vec<ProviderLink> {
    providers(app).map(|rules| ProviderLink::new(&rules.name, &rules.label, "login", next)).collect()
}

/// Links to the providers that an account is connected with, for a proof of identity.
pub(crate) fn proof_links(connections: &[Connection], next: &str) -> Vec<ProviderLink> {
    let connected = connections.iter().filter(|connection| connection.identity.is_some());
    connected.map(|known| ProviderLink::new(&known.name, &known.label, "confirm", next)).collect()
}

#[cfg(test)]
impl ProviderLink {
    pub(crate) fn samples() -> Vec<Self> {
        let name = ProviderName::parse("sso").unwrap();
        vec![Self::new(&name, "Example", "login", "/admin/jobs"), Self::new(&name, "Example", "login", "")]
    }
}
