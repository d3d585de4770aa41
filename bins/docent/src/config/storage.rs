//! Databases, vector store and blob store.

use super::check::{Context, Refusal};
use super::declare::{Default, Defaults, both, text, unset, variable};
use super::problem::Warning;
use super::reader::Reader;
use super::secret::Secret;
use super::section::section;
use super::selector::{BlobStoreUrl, CollectionName, DatabaseUrl, KeyValueUrl, VectorDb};
use super::url::{ConnectionUrl, HttpUrl};

section! {
    /// Databases, vector store and blob store.
    Storage "Storage" {
        /// URL of the relational database: `sqlite://…` or `postgres://…`.
        database_url: DatabaseUrl = Defaults {
            dev: Default::Computed { words: "`docent.db` in `data_dir`", text: database_file },
            serve: Default::Unset("must be set"),
        };
        /// URL of the store for refresh tokens and rate-limit counters: `redis://…` or `rediss://…`. With
        /// `memory://`, tokens are in the relational database and counters in the memory of the process.
        redis_url: KeyValueUrl = Defaults {
            dev: Default::Text("memory://"),
            serve: Default::Computed { words: "`memory://` with SQLite, otherwise `redis://127.0.0.1:6379/0`", text: key_value_url },
        };
        /// URL of another Redis server for rate-limit counters. Clients decide how many there are, so it can be given
        /// little memory and may evict them, which must not happen to refresh tokens.
        redis_counters_url: Option<KeyValueUrl> = unset("`redis_url`");
        /// Addresses of Redis Sentinel processes, such as `sentinel-1.example.org:26379`. The host of `redis_url` and of
        /// `redis_counters_url` is then the name of the group whose primary they say; `rediss://` is for the sentinels too.
        redis_sentinels: Vec<String> = text("[]"), check_addresses;
        /// Password of the sentinels. That of the servers is in the URL.
        redis_sentinel_password: Option<Secret> = unset("none");
        /// URL of the blob store for uploaded files: `file://…` or `s3://bucket/prefix`.
        blob_store: BlobStoreUrl = both(Default::Computed { words: "`blobs` in `data_dir`", text: blob_folder });
        /// Base URL of the S3 API, without the bucket, such as `https://minio.example.com:9000`.
        s3_endpoint: Option<HttpUrl> = unset("AWS in `s3_region`");
        /// Region of the bucket.
        s3_region: String = text("us-east-1");
        /// Access key ID for the bucket. Without it, credentials come from AWS's credential chain: the
        /// standard `AWS_…` variables (keys, web identity, container role), or the instance's role.
        s3_access_key_id: Option<String> = unset("AWS's credential chain");
        /// Secret access key for the bucket. Set if and only if `s3_access_key_id` is set.
        s3_secret_access_key: Option<Secret> = unset("AWS's credential chain");
        /// Whether the bucket is part of the host name (`https://bucket.host`) instead of the path.
        s3_virtual_hosted: bool = text("false");
        /// Vector store: `qdrant` or `embedded`.
        vector_db: VectorDb = Defaults {
            dev: Default::Text("embedded"),
            serve: Default::Computed { words: "`embedded` with SQLite, otherwise `qdrant`", text: vector_store },
        };
        /// URL of the Qdrant server. Docent uses its gRPC port: 6333, the REST port, is replaced by 6334.
        qdrant_url: HttpUrl = text("http://127.0.0.1:6333");
        /// Name of the first collection on the Qdrant server; the names of later ones begin with it. Installations that
        /// share a server need different names.
        qdrant_collection: CollectionName = text("docent_chunks");
        /// API key of the Qdrant server.
        qdrant_api_key: Option<Secret> = unset("none");
        /// Whether a new collection on the Qdrant server keeps its vectors and indexes on disk, and in memory only dense vectors with a byte per
        /// dimension.
        qdrant_on_disk: bool = text("false");
    }
}

/// Reports an S3 access key without its other half.
pub(super) fn check_s3_keys(reader: &mut Reader<'_>) {
    let [id, secret] = ["s3_access_key_id", "s3_secret_access_key"];
    for (name, other) in [(id, secret), (secret, id)] {
        if matches!((reader.set(name), reader.set(other)), (Ok(None), Ok(Some(_)))) {
            let wrong = format!("must be set when {} is set", variable(other));
            reader.refuse(variable(name), wrong, "the other half of the access key");
        }
    }
}

#[expect(clippy::ptr_arg, reason = "a check takes the type of its setting")]
fn check_addresses(addresses: &Vec<String>, _: &Context) -> Result<(), Refusal> {
    let is_address = |address: &&String| {
        let port = address.rsplit_once(':').filter(|(host, _)| !host.is_empty()).map(|(_, port)| port);
        port.is_some_and(|port| port.parse::<u16>().is_ok())
    };
    match addresses.iter().find(|address| !is_address(address)) {
        Some(_) => Err(Refusal {
            wrong: "has an item that is no host with a port".to_owned(),
            accepted: "a list such as sentinel-1:26379,sentinel-2:26379".to_owned(),
        }),
        None => Ok(()),
    }
}

/// Returns a warning for each store on another host that may be used without TLS.
pub(super) fn plaintext_warnings(storage: &Storage) -> Vec<Warning> {
    let warning = |name, host: String, advice: &str| Warning {
        variable: variable(name),
        wrong: format!(
            "permits connections to {host} without TLS, which others in the network can read and change"
        ),
        advice: advice.to_owned(),
    };
    let database = match &storage.database_url {
        DatabaseUrl::Postgres(url) if !url.is_local() && !requires_tls(url) => {
            Some(warning("database_url", url.host(), "append ?sslmode=verify-full"))
        }
        DatabaseUrl::Postgres(_) | DatabaseUrl::Sqlite(_) => None,
    };
    let key_value = |(name, url): (&'static str, &KeyValueUrl)| match url {
        KeyValueUrl::Redis(url) if !url.is_local() && url.scheme() == "redis" => {
            Some(warning(name, url.host(), "use rediss://"))
        }
        KeyValueUrl::Redis(_) | KeyValueUrl::Memory => None,
    };
    let counters = storage.redis_counters_url.iter().map(|url| ("redis_counters_url", url));
    let key_values = [("redis_url", &storage.redis_url)].into_iter().chain(counters);
    let blobs = storage.s3_endpoint.as_ref().and_then(HttpUrl::plaintext_host);
    let blobs = blobs.map(|host| warning("s3_endpoint", host, "use https://"));
    database.into_iter().chain(key_values.filter_map(key_value)).chain(blobs).collect()
}

/// Whether the `sslmode` excludes plaintext. The default, `prefer`, falls back to it.
fn requires_tls(url: &ConnectionUrl) -> bool {
    let mode = url.parameter("sslmode").or_else(|| url.parameter("ssl-mode"));
    mode.is_some_and(|mode| matches!(mode.as_str(), "require" | "verify-ca" | "verify-full"))
}

fn key_value_url(context: &Context) -> String {
    if context.is_sqlite { "memory://" } else { "redis://127.0.0.1:6379/0" }.to_owned()
}

fn vector_store(context: &Context) -> String {
    if context.is_sqlite { "embedded" } else { "qdrant" }.to_owned()
}

fn database_file(context: &Context) -> String {
    format!("sqlite://{}", context.data_dir.join("docent.db").display())
}

fn blob_folder(context: &Context) -> String {
    format!("file://{}", context.data_dir.join("blobs").display())
}
