//! Where data is kept.

use super::{
    declare::{Default, Defaults, both, section, text, unset},
    reader::Context,
    secret::Secret,
    selector::{BlobStoreUrl, DatabaseUrl, KeyValueUrl, VectorDb},
    url::HttpUrl,
};

section! {
    /// Where data is kept.
    Storage "Storage" {
        /// The relational database: `sqlite://…` or `postgres://…`.
        database_url: DatabaseUrl = Defaults {
            dev: Default::Computed { words: "`docent.db` in `data_dir`", text: database_file },
            serve: Default::Unset("must be set"),
        };
        /// The key-value store of refresh tokens and rate-limit counters: `redis://…`, `rediss://…`
        /// or `memory://`.
        redis_url: KeyValueUrl = Defaults {
            dev: Default::Text("memory://"),
            serve: Default::Text("redis://127.0.0.1:6379/0"),
        };
        /// Where uploaded files are kept: `file://…` or `s3://bucket/prefix`.
        blob_store: BlobStoreUrl = both(Default::Computed { words: "`blobs` in `data_dir`", text: blob_folder });
        /// The vector store: `qdrant` or `embedded`.
        vector_db: VectorDb = Defaults { dev: Default::Text("embedded"), serve: Default::Text("qdrant") };
        /// The address of the Qdrant server (REST).
        qdrant_url: HttpUrl = text("http://127.0.0.1:6333");
        /// The key of the Qdrant server.
        qdrant_api_key: Option<Secret> = unset("none");
    }
}

fn database_file(context: &Context) -> String {
    format!("sqlite://{}", context.data_dir.join("docent.db").display())
}

fn blob_folder(context: &Context) -> String {
    format!("file://{}", context.data_dir.join("blobs").display())
}
