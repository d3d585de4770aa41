//! Identity providers.

use anyhow::Context;
use docent::config::{NamedProvider, PasswordLogin, Secret, Settings};
use docent_app::settings;
use docent_domain::identity::ProviderRules;
use docent_ports::clock::Clock;
use docent_ports::identity_provider::ConfiguredProvider;
use docent_services::openid_connect::{OpenIdProvider, ProviderOptions};
use std::sync::Arc;

/// Creates the providers. None of them is contacted yet.
pub(crate) fn identity_providers(
    settings: &Settings,
    clock: &Arc<dyn Clock>,
) -> anyhow::Result<Vec<ConfiguredProvider>> {
    settings.identity_providers.iter().map(|known| configured(known, clock)).collect()
}

fn configured(known: &NamedProvider, clock: &Arc<dyn Clock>) -> anyhow::Result<ConfiguredProvider> {
    let settings = &known.settings;
    let rules = ProviderRules {
        name: known.name.clone(),
        label: settings.oidc_label.clone(),
        email_domains: settings.oidc_email_domains.iter().map(|domain| domain.to_lowercase()).collect(),
        creates_accounts: settings.oidc_create_accounts,
        links_by_email: settings.oidc_link_by_email,
        links_used_accounts: true,
        trusts_email: settings.oidc_trust_email,
        groups: settings.oidc_groups.iter().map(|mapped| mapped.0.clone()).collect(),
        staff_group: settings.oidc_staff_group.clone(),
        superuser_group: settings.oidc_superuser_group.clone(),
        second_factor_values: settings.oidc_second_factor.clone(),
    };
    let options = ProviderOptions {
        issuer: known.issuer.clone(),
        client_id: known.client_id.clone(),
        client_secret: settings.oidc_client_secret.as_ref().map(Secret::expose).map(str::to_owned),
        scopes: settings.oidc_scopes.clone(),
        groups_claim: settings.oidc_groups_claim.clone(),
        needs_groups: rules.manages_groups(),
    };
    let provider = OpenIdProvider::new(options, Arc::clone(clock));
    let provider = provider.with_context(|| format!("identity provider {}", known.name))?;
    Ok(ConfiguredProvider { rules, provider: Arc::new(provider) })
}

/// The accounts that can sign in with their password.
pub(crate) fn password_login(settings: &Settings) -> settings::PasswordLogin {
    match &settings.accounts.password_login {
        PasswordLogin::On => settings::PasswordLogin::Everyone,
        PasswordLogin::Off => settings::PasswordLogin::Only(Vec::new()),
        PasswordLogin::Only(emails) => settings::PasswordLogin::Only(emails.clone()),
    }
}
