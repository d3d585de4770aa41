//! Settings that select back ends.

use super::url::{ConnectionUrl, HttpUrl};
use super::value::Value;
use std::path::PathBuf;
use url::form_urlencoded;

/// URL of the relational database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DatabaseUrl {
    /// A SQLite file.
    Sqlite(PathBuf),
    /// A PostgreSQL server; the URL starts with `postgres://`.
    Postgres(ConnectionUrl),
}

impl Value for DatabaseUrl {
    const KIND: &'static str = "URL";
    const IS_SECRET: bool = true;

    fn accepted() -> String {
        "sqlite://path/to/file, sqlite:///absolute/path, postgres://user:password@host/database".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        let (scheme, rest) = text.split_once("://").ok_or("has no scheme")?;
        // Python stacks name the driver too: `postgresql+asyncpg`.
        let (database, driver) = scheme.split_once('+').unwrap_or((scheme, ""));
        match (database, driver) {
            ("postgres" | "postgresql", _) => ConnectionUrl::parse("postgres", rest).map(Self::Postgres),
            ("sqlite", "") => match rest.strip_suffix("?mode=rwc").unwrap_or(rest) {
                "" | ":memory:" => Err("has no file name; documents must survive a restart".to_owned()),
                path if path.contains('?') => Err("has parameters".to_owned()),
                path => Ok(Self::Sqlite(path.into())),
            },
            // In Python stacks `sqlite+driver:///file` is a relative path; guessing could open the wrong file.
            ("sqlite", _) => Err("names a driver".to_owned()),
            // The scheme is not quoted, because a misplaced password may be in it.
            _ => Err("has an unsupported scheme".to_owned()),
        }
    }

    fn show(&self) -> String {
        match self {
            Self::Sqlite(path) => format!("sqlite://{}", path.display()),
            Self::Postgres(url) => url.to_string(),
        }
    }
}

/// Name of a collection on a Qdrant server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CollectionName(pub String);

/// Later collections append 13 characters; Qdrant accepts 255.
const COLLECTION_NAME_MAX: usize = 200;

impl Value for CollectionName {
    const KIND: &'static str = "name";

    fn accepted() -> String {
        format!("1 to {COLLECTION_NAME_MAX} letters, digits, `-` and `_`")
    }

    fn parse(text: &str) -> Result<Self, String> {
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        match text.len() {
            1..=COLLECTION_NAME_MAX if text.bytes().all(is_allowed) => Ok(Self(text.to_owned())),
            1..=COLLECTION_NAME_MAX => Err("contains other characters".to_owned()),
            _ => Err(format!("has {} characters", text.len())),
        }
    }

    fn show(&self) -> String {
        self.0.clone()
    }
}

/// URL of the key-value store for refresh tokens and counters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyValueUrl {
    /// In this process.
    Memory,
    /// A Redis server; the URL starts with `redis://` or `rediss://`.
    Redis(ConnectionUrl),
}

impl Value for KeyValueUrl {
    const KIND: &'static str = "URL";
    const IS_SECRET: bool = true;

    fn accepted() -> String {
        "redis://host:6379/0, rediss://user:password@host:6380/0, memory://".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        match text.split_once("://").ok_or("has no scheme")? {
            ("memory", "") => Ok(Self::Memory),
            ("memory", _) => Err("has text after memory://".to_owned()),
            (scheme @ ("redis" | "rediss"), rest) => {
                let url = ConnectionUrl::parse(scheme, rest)?;
                let are_addresses =
                    |all: Vec<String>| !all.is_empty() && all.iter().all(|address| is_address(address));
                if !url.sentinels().is_none_or(are_addresses) {
                    return Err("has a sentinel that is no host with a port".to_owned());
                }
                Ok(Self::Redis(url))
            }
            _ => Err("has an unsupported scheme".to_owned()),
        }
    }

    fn show(&self) -> String {
        match self {
            Self::Memory => "memory://".to_owned(),
            Self::Redis(url) => url.to_string(),
        }
    }
}

impl ConnectionUrl {
    /// The addresses of the sentinels of a Redis URL.
    pub fn sentinels(&self) -> Option<Vec<String>> {
        let listed = self.parameter("sentinels")?;
        Some(listed.split(',').map(|one| one.trim().to_owned()).filter(|one| !one.is_empty()).collect())
    }
}

fn is_address(text: &str) -> bool {
    let host_and_port = text.rsplit_once(':').filter(|(host, _)| !host.is_empty());
    host_and_port.is_some_and(|(_, port)| port.parse::<u16>().is_ok())
}

/// URL of the blob store for uploaded files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlobStoreUrl {
    /// A directory.
    File(PathBuf),
    /// An S3 bucket.
    S3 {
        /// Name of the bucket.
        bucket: String,
        /// Prefix of all keys; may be empty.
        prefix: String,
        /// Where it is.
        host: S3Host,
    },
}

/// The server of a bucket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct S3Host {
    /// Base URL of the API without the bucket, if it is not AWS.
    pub endpoint: Option<HttpUrl>,
    /// The region.
    pub region: String,
    /// Whether the bucket is part of the host name instead of the path.
    pub is_virtual_hosted: bool,
}

const DEFAULT_REGION: &str = "us-east-1";

impl S3Host {
    /// Reads the parameters of a URL. Of several with the same name, the first applies.
    fn parse(query: &str) -> Result<Self, String> {
        let (mut endpoint, mut region, mut is_virtual_hosted) = (None, None, None);
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            let wrong = |why| format!("has a parameter {name} that {why}");
            match &*name {
                "endpoint" => _ = endpoint.get_or_insert(HttpUrl::parse(&value).map_err(wrong)?),
                "region" => _ = region.get_or_insert(String::parse(&value).map_err(wrong)?),
                "virtual_hosted" => _ = is_virtual_hosted.get_or_insert(bool::parse(&value).map_err(wrong)?),
                _ => return Err("has parameters other than endpoint, region and virtual_hosted".to_owned()),
            }
        }
        let region = region.unwrap_or_else(|| DEFAULT_REGION.to_owned());
        Ok(Self { endpoint, region, is_virtual_hosted: is_virtual_hosted.unwrap_or(false) })
    }

    /// The parameters that differ from their defaults.
    fn show(&self) -> String {
        let endpoint = self.endpoint.iter().map(|url| format!("endpoint={}", url.show()));
        let region = (self.region != DEFAULT_REGION).then(|| format!("region={}", self.region));
        let addressing = self.is_virtual_hosted.then(|| "virtual_hosted=true".to_owned());
        let parameters: Vec<String> = endpoint.chain(region).chain(addressing).collect();
        if parameters.is_empty() { String::new() } else { format!("?{}", parameters.join("&")) }
    }
}

impl BlobStoreUrl {
    /// The host of a bucket, if it is another machine and the connection has no TLS.
    pub(super) fn plaintext_host(&self) -> Option<String> {
        match self {
            Self::S3 { host, .. } => host.endpoint.as_ref()?.plaintext_host(),
            Self::File(_) => None,
        }
    }
}

impl Value for BlobStoreUrl {
    const KIND: &'static str = "URL";

    fn accepted() -> String {
        "file://path/to/directory, file:///absolute/path, s3://bucket/prefix".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        match text.split_once("://").ok_or("has no scheme")? {
            ("file", "") => Err("has no path".to_owned()),
            ("file", path) => Ok(Self::File(path.into())),
            ("s3", rest) => {
                let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
                let (bucket, prefix) = path.split_once('/').unwrap_or((path, ""));
                if bucket.is_empty() {
                    return Err("has no bucket name".to_owned());
                }
                let (bucket, prefix) = (bucket.to_owned(), prefix.trim_matches('/').to_owned());
                Ok(Self::S3 { bucket, prefix, host: S3Host::parse(query)? })
            }
            (scheme, _) => Err(format!("has the scheme {scheme:?}")),
        }
    }

    fn show(&self) -> String {
        match self {
            Self::File(path) => format!("file://{}", path.display()),
            Self::S3 { bucket, prefix, host } => format!("s3://{bucket}/{prefix}{}", host.show()),
        }
    }
}

macro_rules! choices {
    ($(#[$doc:meta])* $name:ident $list:literal { $($(#[$variant_doc:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)+
        }

        impl $crate::config::value::Value for $name {
            const KIND: &'static str = "choice";
            const LIST_KIND: &'static str = $list;

            fn accepted() -> String {
                [$($text),+].join(" or ")
            }

            fn parse(text: &str) -> Result<Self, String> {
                $(if text.eq_ignore_ascii_case($text) {
                    return Ok(Self::$variant);
                })+
                Err("is not one of the choices".to_owned())
            }

            fn show(&self) -> String {
                match self {
                    $(Self::$variant => $text,)+
                }
                .to_owned()
            }
        }
    };
}
pub(super) use choices;

choices! {
    /// The vector store.
    VectorDb "list" {
        /// A Qdrant server.
        Qdrant = "qdrant",
        /// In this process, with files in the data directory.
        Embedded = "embedded",
    }
}

/// The embedding back end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EmbeddingProvider {
    /// An API in the OpenAI embeddings format.
    OpenAi,
    /// Built in: lexical, without a model.
    Builtin,
    /// A static model in a folder, in this process.
    Local(PathBuf),
}

/// Precedes the folder of a local model.
const LOCAL: &str = "local:";

impl EmbeddingProvider {
    /// The folder of a local model, written as `local:DIR`; `None` if the text names something else.
    pub fn local_folder(text: &str) -> Option<PathBuf> {
        let (scheme, folder) = text.split_at_checked(LOCAL.len())?;
        (scheme.eq_ignore_ascii_case(LOCAL) && !folder.trim().is_empty()).then(|| folder.trim().into())
    }
}

impl Value for EmbeddingProvider {
    const KIND: &'static str = "choice";

    fn accepted() -> String {
        "openai, builtin, or local:DIR with the folder of a Model2Vec model".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        let is = |choice| text.eq_ignore_ascii_case(choice);
        if is("openai") {
            return Ok(Self::OpenAi);
        }
        if is("builtin") {
            return Ok(Self::Builtin);
        }
        if is("local") || is(LOCAL) {
            return Err("names no folder".to_owned());
        }
        Self::local_folder(text).map(Self::Local).ok_or_else(|| "is not one of the choices".to_owned())
    }

    fn show(&self) -> String {
        match self {
            Self::OpenAi => "openai".to_owned(),
            Self::Builtin => "builtin".to_owned(),
            Self::Local(folder) => format!("{LOCAL}{}", folder.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn database_urls_are_normalised() {
        for text in
            ["postgres://u:p@h:5432/d", "postgresql://u:p@h:5432/d", "postgresql+asyncpg://u:p@h:5432/d"]
        {
            let DatabaseUrl::Postgres(url) = DatabaseUrl::parse(text).unwrap() else { panic!("{text}") };
            assert_eq!(url.expose(), "postgres://u:p@h:5432/d");
        }
        for (text, path) in [
            ("sqlite://a/b.db", "a/b.db"),
            ("sqlite:///a/b.db", "/a/b.db"),
            ("sqlite://b.db?mode=rwc", "b.db"),
        ] {
            assert_eq!(DatabaseUrl::parse(text), Ok(DatabaseUrl::Sqlite(path.into())));
        }
        for text in
            ["", "x", "mysql://h/d", "sqlite://", "sqlite://:memory:", "sqlite+aiosqlite:///x", "postgres://"]
        {
            assert!(DatabaseUrl::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn passwords_in_urls_are_hidden() {
        for url in [
            format!("{:?}", DatabaseUrl::parse("postgresql://ada:hunter2@h/d?password=hunter2")),
            DatabaseUrl::parse("postgresql://ada:hunter2@h/d?password=hunter2").unwrap().show(),
            format!("{:?}", KeyValueUrl::parse("rediss://:hunter2@h:6380/1")),
            KeyValueUrl::parse("rediss://:hunter2@h:6380/1").unwrap().show(),
        ] {
            assert!(!url.contains("hunter2") && url.contains("://h"), "{url}");
        }
    }

    #[test]
    fn misplaced_passwords_are_rejected_and_hidden() {
        for url in [
            "ada:hunter2@postgres://h/d",
            "postgres://ada:1/hunter2@h/d",
            "postgres://ada:1#hunter2@h/d",
            "postgres://ada@h/d#hunter2",
            "redis://h/0#hunter2",
            "redis://ada:1/hunter2@h/0",
        ] {
            for read in [DatabaseUrl::parse(url).map(drop), KeyValueUrl::parse(url).map(drop)] {
                let reason = read.unwrap_err();
                assert!(!reason.contains("hunter2"), "{reason}");
            }
        }
    }

    #[test]
    fn key_value_urls_keep_their_scheme() {
        assert_eq!(KeyValueUrl::parse("memory://"), Ok(KeyValueUrl::Memory));
        let KeyValueUrl::Redis(url) = KeyValueUrl::parse("rediss://h/0").unwrap() else {
            panic!("no server")
        };
        assert_eq!(url.expose(), "rediss://h/0");
        for text in ["", "memory://x", "http://h", "redis://"] {
            assert!(KeyValueUrl::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn blob_store_urls_are_directories_or_buckets() {
        assert_eq!(BlobStoreUrl::parse("file:///srv/x"), Ok(BlobStoreUrl::File("/srv/x".into())));
        let aws = S3Host { endpoint: None, region: "us-east-1".into(), is_virtual_hosted: false };
        let s3 = |prefix: &str, host: &S3Host| {
            Ok(BlobStoreUrl::S3 { bucket: "b".into(), prefix: prefix.into(), host: host.clone() })
        };
        assert_eq!(BlobStoreUrl::parse("s3://b"), s3("", &aws));
        assert_eq!(BlobStoreUrl::parse("s3://b/p/q/"), s3("p/q", &aws));
        let text = "s3://b/p?endpoint=http://minio:9000&region=eu-1&virtual_hosted=true";
        let endpoint = HttpUrl::parse("http://minio:9000").ok();
        let host = S3Host { endpoint, region: "eu-1".into(), is_virtual_hosted: true };
        assert_eq!(BlobStoreUrl::parse(text), s3("p", &host));
        assert_eq!(BlobStoreUrl::parse(text).unwrap().show(), text);
        for text in [
            "",
            "/srv/x",
            "file://",
            "s3://",
            "s3:///p",
            "gs://b",
            "s3://b?endpoint=minio",
            "s3://b?virtual_hosted=2",
            "s3://b?key=x",
        ] {
            assert!(BlobStoreUrl::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn embedding_providers_are_names_or_folders() {
        for (text, provider) in [
            ("openai", EmbeddingProvider::OpenAi),
            ("Builtin", EmbeddingProvider::Builtin),
            ("local:/models/potion", EmbeddingProvider::Local("/models/potion".into())),
            ("LOCAL: models/ß", EmbeddingProvider::Local("models/ß".into())),
            ("local:C:\\models", EmbeddingProvider::Local("C:\\models".into())),
        ] {
            assert_eq!(EmbeddingProvider::parse(text), Ok(provider), "{text}");
        }
        for (text, wrong) in [
            ("", "is not one of the choices"),
            ("model2vec", "is not one of the choices"),
            ("/models/potion", "is not one of the choices"),
            ("localß", "is not one of the choices"),
            ("local", "names no folder"),
            ("local:", "names no folder"),
        ] {
            assert_eq!(EmbeddingProvider::parse(text), Err(wrong.to_owned()), "{text}");
        }
        assert_eq!(EmbeddingProvider::parse("LOCAL:a").unwrap().show(), "local:a");
    }
}
