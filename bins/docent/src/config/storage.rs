//! Databases, vector store and blob store.

use super::check::Context;
use super::declare::{Default, Defaults, both, text, unset, variable};
use super::problem::Warning;
use super::reader::Reader;
use super::secret::Secret;
use super::section::section;
use super::selector::{BlobStoreUrl, CollectionName, DatabaseUrl, KeyValueUrl, VectorDb};
use super::url::{ConnectionUrl, HttpUrl};

section! {
    /// Databases, vector store and blob store.
    Storage "Store records, files and chunks" {
        /// URL of the relational database: `sqlite://…` or `postgres://…`.
        database_url: DatabaseUrl = Defaults {
            dev: Default::Computed { words: "`docent.db` in `data_dir`", text: database_file },
            serve: Default::Unset("must be set"),
        };
        /// URL of the store for refresh tokens and rate-limit counters: `redis://…` or `rediss://…`. With
        /// `memory://`, tokens are in the relational database and counters in the memory of the process. With Redis Sentinel the host is the name
        /// of the group, such as `redis://:password@docent/0?sentinels=sentinel-1:26379,sentinel-2:26379`; `sentinel_password` is another
        /// parameter, and `rediss://` is for the sentinels too.
        redis_url: KeyValueUrl = Defaults {
            dev: Default::Text("memory://"),
            serve: Default::Computed { words: "`memory://` with SQLite, otherwise `redis://127.0.0.1:6379/0`", text: key_value_url },
        };
        /// URL of another Redis server for rate-limit counters. Clients decide how many there are, so it can be given
        /// little memory and may evict them, which must not happen to refresh tokens.
        redis_counters_url: Option<KeyValueUrl> = unset("`redis_url`");
        /// URL of the blob store for uploaded files: `file://…` or `s3://bucket/prefix`. Parameters of a bucket are `endpoint` (base URL of
        /// the S3 API without the bucket, if it is not AWS), `region` (`us-east-1` by default) and `virtual_hosted` (`true` if the bucket is
        /// part of the host name), such as `s3://docs/prefix?endpoint=https://minio.example.com:9000&region=eu-1`.
        blob_store: BlobStoreUrl = both(Default::Computed { words: "`blobs` in `data_dir`", text: blob_folder });
        /// Access key ID for the bucket. Without it, credentials come from AWS's credential chain: the
        /// standard `AWS_…` variables (keys, web identity, container role), or the instance's role.
        s3_access_key_id: Option<String> = unset("AWS's credential chain");
        /// Secret access key for the bucket. Set if and only if `s3_access_key_id` is set.
        s3_secret_access_key: Option<Secret> = unset("AWS's credential chain");
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
    let blobs = storage.blob_store.plaintext_host();
    let blobs = blobs.map(|host| warning("blob_store", host, "use https:// in its endpoint"));
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
