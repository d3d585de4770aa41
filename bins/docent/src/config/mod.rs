//! Settings, read once from the environment. All problems are reported together.
//!
//! Each section is declared in its own file with [`section!`](section), which generates the struct, its parser and
//! its entries in the reference. To add a setting, add a line there and run `cargo xtask gen`.

mod accounts;
mod agent;
mod check;
mod declare;
mod example;
mod former;
mod http;
mod ingestion;
mod limits;
mod mail;
mod models;
mod oidc;
mod problem;
mod reader;
mod recognition;
mod reference;
mod secret;
mod section;
mod selector;
mod service;
mod storage;
mod telemetry;
mod unit;
mod url;
mod value;
mod webhooks;

pub use accounts::{Accounts, AuthBackend, DefaultCollection, OpenCollections, Require2fa};
pub use agent::{Agent, AgentSearch};
pub use declare::{Default, Setting};
pub use example::environment_example;
pub use http::Http;
pub use ingestion::Ingestion;
pub use limits::Limits;
pub use mail::{Mail, SmtpUrl};
pub use models::Models;
pub use oidc::{MappedGroup, NamedProvider, Oidc, PasswordLogin};
pub use problem::{Problem, Problems, Warning};
pub use reader::{Effective, Environment, Source};
pub use recognition::{Recognition, Recognizer, Vision};
pub use reference::reference;
pub use secret::Secret;
pub use selector::{BlobStoreUrl, DatabaseUrl, EmbeddingProvider, KeyValueUrl, S3Host, VectorDb};
pub use service::Service;
pub use storage::Storage;
pub use telemetry::{LogFormat, Telemetry};
pub use unit::ByteSize;
pub use unit::parse_duration;
pub use url::{ConnectionUrl, HttpUrl, Origin};
pub use value::TextPrefix;
pub use webhooks::Webhooks;

use reader::Reader;

/// A set of defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// `docent dev`: everything embedded, no required settings.
    Dev,
    /// `docent serve`: the back ends of a production deployment.
    Serve,
    /// `docent worker`: as `docent serve`, without the secret key, because a worker signs and checks no tokens.
    Worker,
}

/// Every setting, by section.
#[derive(Clone, Debug)]
pub struct Settings {
    /// General settings.
    pub service: Service,
    /// HTTP.
    pub http: Http,
    /// Accounts and tokens.
    pub accounts: Accounts,
    /// Identity providers.
    pub identity_providers: Vec<NamedProvider>,
    /// Outgoing email.
    pub mail: Mail,
    /// Request limits.
    pub limits: Limits,
    /// Where data is kept.
    pub storage: Storage,
    /// Chat and embedding models.
    pub models: Models,
    /// Background ingestion.
    pub ingestion: Ingestion,
    /// Recognition of text on images of pages.
    pub recognition: Recognition,
    /// Agents and search.
    pub agent: Agent,
    /// Webhooks.
    pub webhooks: Webhooks,
    /// Traces and metrics.
    pub telemetry: Telemetry,
}

/// The settings of a valid environment.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The settings.
    pub settings: Settings,
    /// Each setting's value and source, in the order of the reference; secrets are hidden.
    pub effective: Vec<Effective>,
    /// Problems that do not prevent the start.
    pub warnings: Vec<Warning>,
}

/// What can be read of an environment, valid or not.
#[derive(Clone, Debug)]
pub struct Inspection {
    /// The value and source of each setting that could be read, in the order of the reference; secrets are hidden.
    pub effective: Vec<Effective>,
    /// Problems that prevent the start.
    pub problems: Problems,
    /// Problems that do not.
    pub warnings: Vec<Warning>,
}

impl Settings {
    /// Reads the settings of `profile`.
    ///
    /// # Errors
    /// All problems, if any value is invalid.
    pub fn load(profile: Profile, environment: &Environment) -> Result<Loaded, Problems> {
        let (settings, Inspection { effective, problems, warnings }) = Self::read(profile, environment);
        match settings {
            Some(settings) if problems.0.is_empty() => Ok(Loaded { settings, effective, warnings }),
            // A section that could not be read has reported a problem.
            Some(_) | None => Err(problems),
        }
    }

    /// Reads what can be read of the settings of `profile`.
    pub fn inspect(profile: Profile, environment: &Environment) -> Inspection {
        Self::read(profile, environment).1
    }

    fn read(profile: Profile, environment: &Environment) -> (Option<Self>, Inspection) {
        let mut reader = Reader::new(profile, environment);
        // First, because defaults and checks of other settings depend on it.
        let service = Service::read(&mut reader);
        if let Some(service) = &service {
            reader.set_context(service.debug, &service.data_dir);
        }
        let http = Http::read(&mut reader);
        let accounts = Accounts::read(&mut reader);
        if let Some(accounts) = &accounts {
            accounts::check_distinct_secrets(&mut reader, accounts);
        }
        let names = accounts.as_ref().map_or(&[][..], |accounts| &accounts.oidc_providers);
        let identity_providers = oidc::read_providers(&mut reader, names);
        oidc::check_public_url(&mut reader, identity_providers.as_deref().unwrap_or_default(), profile);
        if let (Some(accounts), Some(providers)) = (&accounts, &identity_providers) {
            // LibreChat signs its users in itself.
            let has_other = !providers.is_empty() || accounts.librechat_jwt_secret.is_some();
            oidc::check_password_login(&mut reader, &accounts.password_login, has_other);
        }
        let mail = Mail::read(&mut reader);
        mail::check_complete(&mut reader);
        let limits = Limits::read(&mut reader);
        let storage = Storage::read(&mut reader);
        storage::check_s3_keys(&mut reader);
        let models = Models::read(&mut reader);
        models::check_back_ends(&mut reader);
        let ingestion = Ingestion::read(&mut reader);
        let recognition = Recognition::read(&mut reader);
        let agent = Agent::read(&mut reader);
        let webhooks = Webhooks::read(&mut reader);
        let telemetry = Telemetry::read(&mut reader);
        let settings = || {
            Some(Self {
                service: service?,
                http: http?,
                accounts: accounts?,
                identity_providers: identity_providers?,
                mail: mail?,
                limits: limits?,
                storage: storage?,
                models: models?,
                ingestion: ingestion?,
                recognition: recognition?,
                agent: agent?,
                webhooks: webhooks?,
                telemetry: telemetry?,
            })
        };
        let settings = settings();
        let mut inspection = reader.finish(&all());
        if let Some(settings) = &settings {
            inspection.warnings.extend(storage::plaintext_warnings(&settings.storage));
            inspection.warnings.extend(ingestion::size_warning(&settings.ingestion));
            if profile != Profile::Worker {
                inspection.warnings.extend(http::proxy_warning(&settings.http));
            }
        }
        (settings, inspection)
    }
}

/// The declarations of all settings, in the order of the reference.
pub fn all() -> Vec<Setting> {
    [
        Service::SETTINGS,
        Http::SETTINGS,
        Accounts::SETTINGS,
        Oidc::SETTINGS,
        Mail::SETTINGS,
        Limits::SETTINGS,
        Storage::SETTINGS,
        Models::SETTINGS,
        Ingestion::SETTINGS,
        Recognition::SETTINGS,
        Agent::SETTINGS,
        Webhooks::SETTINGS,
        Telemetry::SETTINGS,
    ]
    .concat()
}

#[cfg(test)]
mod tests;
