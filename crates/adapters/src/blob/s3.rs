//! A bucket at AWS S3, or at another service that speaks its protocol.

pub(super) mod service;

use super::{ObjectBlobStore, Place};
use docent_ports::error::{Component, Fault, FaultKind, Result};
use object_store::{
    BackoffConfig, ObjectStore, RetryConfig, aws::AmazonS3Builder, path::Path, prefix::PrefixStore,
};
use reqwest::Url;
use service::Connector;
use std::{borrow::Cow, fmt, sync::Arc, time::Duration};

/// The longest pause between two tries of a request.
const MAX_PAUSE: Duration = Duration::from_secs(2);

/// How a bucket is named in addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addressing {
    /// In the path: `https://host/bucket/key`. Every service knows it.
    Path,
    /// In the host: `https://bucket.host/key`.
    VirtualHosted,
}

/// How the service that has the bucket is reached. The keys must allow `s3:GetObject`,
/// `s3:PutObject`, `s3:DeleteObject` and `s3:AbortMultipartUpload` below the prefix, and
/// `s3:ListBucket`, without which a blob that is not there is answered as if it were forbidden.
#[derive(Clone)]
pub struct S3Options {
    /// The service's address without the bucket, as in `http://localhost:9000`; `None` is AWS in the region.
    pub endpoint: Option<String>,
    /// The bucket's region.
    pub region: String,
    /// The public half of the keys.
    pub access_key_id: String,
    /// Their secret half.
    pub secret_access_key: String,
    /// What temporary keys come with.
    pub session_token: Option<String>,
    /// Whether an address without TLS is accepted.
    pub allow_http: bool,
    /// How the bucket is named.
    pub addressing: Addressing,
    /// What making a connection may take.
    pub connect_timeout: Duration,
    /// The longest wait for an answer to a request, which may have a part of an upload to carry
    /// there first, and for each piece of it. No try begins later than this after the first.
    pub read_timeout: Duration,
    /// How often a request is tried again after a fault that may pass.
    pub retries: usize,
    /// The first pause before that; later ones are longer.
    pub retry_pause: Duration,
}

impl S3Options {
    /// AWS in `us-east-1`, with these keys.
    pub fn new(access_key_id: impl Into<String>, secret_access_key: impl Into<String>) -> Self {
        Self {
            endpoint: None,
            region: "us-east-1".to_owned(),
            access_key_id: access_key_id.into(),
            secret_access_key: secret_access_key.into(),
            session_token: None,
            allow_http: false,
            addressing: Addressing::Path,
            connect_timeout: Duration::from_secs(3),
            read_timeout: Duration::from_secs(20),
            retries: 3,
            retry_pause: Duration::from_millis(100),
        }
    }
}

impl fmt::Debug for S3Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // All but the keys.
        f.debug_struct("S3Options")
            .field("endpoint", &self.endpoint)
            .field("region", &self.region)
            .field("addressing", &self.addressing)
            .finish_non_exhaustive()
    }
}

impl ObjectBlobStore {
    /// Keeps blobs as objects of a bucket, under keys that begin with `prefix`, which may be empty.
    /// Small blobs are one request; larger ones are sent in parts, of which one is in memory at a
    /// time. What was begun and not finished is thrown away, but for what a process leaves that is
    /// killed: a lifecycle rule of the bucket for incomplete multipart uploads removes that.
    /// Connects to nothing yet.
    ///
    /// # Errors
    /// When the options, the bucket's name or the prefix cannot be used.
    pub fn s3(bucket: &str, prefix: &str, options: &S3Options) -> Result<Self> {
        if options.access_key_id.is_empty() || options.secret_access_key.is_empty() {
            return Err(rejected("the S3 access key or its secret is missing"));
        }
        let prefix = Path::parse(prefix)
            .map_err(|error| rejected("the prefix cannot begin S3 keys").caused_by(error))?;
        let endpoint = endpoint(bucket, options)?;
        let retry = RetryConfig {
            backoff: BackoffConfig { init_backoff: options.retry_pause, max_backoff: MAX_PAUSE, base: 2.0 },
            max_retries: options.retries,
            retry_timeout: options.read_timeout,
        };
        let mut builder = AmazonS3Builder::new()
            .with_bucket_name(bucket)
            .with_endpoint(endpoint.as_str().trim_end_matches('/'))
            .with_region(&options.region)
            .with_access_key_id(&options.access_key_id)
            .with_secret_access_key(&options.secret_access_key)
            .with_virtual_hosted_style_request(options.addressing == Addressing::VirtualHosted)
            // TLS protects what is sent; without it the signature has to.
            .with_unsigned_payload(endpoint.scheme() == "https")
            // Not every service can delete many at once, and we never do.
            .with_disable_bulk_delete(true)
            .with_retry(retry)
            .with_http_connector(Connector::new(&endpoint, options)?);
        if let Some(token) = &options.session_token {
            builder = builder.with_token(token);
        }
        let bucket =
            builder.build().map_err(|error| rejected("the S3 bucket cannot be set up").caused_by(error))?;
        let objects: Arc<dyn ObjectStore> =
            if prefix.is_root() { Arc::new(bucket) } else { Arc::new(PrefixStore::new(bucket, prefix)) };
        Ok(Self::new(objects, Place::Bucket))
    }
}

fn rejected(message: impl Into<Cow<'static, str>>) -> Fault {
    Fault::new(Component::BlobStore, FaultKind::Rejected, message)
}

/// What the keys of objects are added to, apart from the bucket in the path.
fn endpoint(bucket: &str, options: &S3Options) -> Result<Url> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.');
    if !(3..=63).contains(&bucket.len()) || !bucket.chars().all(plain) || bucket.starts_with(['-', '.']) {
        return Err(rejected("the S3 bucket's name is none"));
    }
    if options.region.is_empty() || !options.region.chars().all(plain) {
        return Err(rejected("the S3 region is none"));
    }
    let of_aws = || format!("https://s3.{}.amazonaws.com", options.region);
    let address = options.endpoint.clone().unwrap_or_else(of_aws);
    let mut url = Url::parse(address.trim())
        .map_err(|error| rejected("the S3 endpoint is no address").caused_by(error))?;
    match url.scheme() {
        "https" => {}
        "http" if options.allow_http => {}
        "http" => return Err(rejected("the S3 endpoint has no TLS, which must be allowed expressly")),
        _ => return Err(rejected("the S3 endpoint must begin with https:// or http://")),
    }
    // Keys in it would be told in logs.
    let has_more = url.query().is_some() || url.fragment().is_some() || url.password().is_some();
    if has_more || !url.username().is_empty() {
        return Err(rejected("the S3 endpoint has more than a host, a port and a path"));
    }
    if options.addressing == Addressing::VirtualHosted {
        let host = url.domain().map(|domain| format!("{bucket}.{domain}"));
        let host = host.ok_or_else(|| rejected("an S3 bucket cannot be part of a host without a name"))?;
        url.set_host(Some(&host))
            .map_err(|error| rejected("the S3 bucket cannot be part of the host").caused_by(error))?;
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(endpoint: Option<&str>) -> S3Options {
        let endpoint = endpoint.map(str::to_owned);
        S3Options { endpoint, allow_http: true, ..S3Options::new("id", "secret") }
    }

    #[test]
    fn buckets_are_addressed_by_path_or_by_host() {
        let eu = S3Options { region: "eu-central-1".to_owned(), ..options(None) };
        assert_eq!(endpoint("docs", &eu).unwrap().as_str(), "https://s3.eu-central-1.amazonaws.com/");
        let virtually = |address| S3Options { addressing: Addressing::VirtualHosted, ..options(address) };
        let url = endpoint("docs", &virtually(None)).unwrap();
        assert_eq!(url.as_str(), "https://docs.s3.us-east-1.amazonaws.com/");
        let url = endpoint("docs", &virtually(Some("http://minio:9000/s3/"))).unwrap();
        assert_eq!(url.as_str(), "http://docs.minio:9000/s3/");
        assert!(endpoint("docs", &virtually(Some("http://127.0.0.1:9000"))).is_err());
    }

    #[test]
    fn what_cannot_be_used_is_refused_and_named() {
        let told = |bucket: &str, prefix: &str, options: &S3Options| {
            let fault = ObjectBlobStore::s3(bucket, prefix, options).unwrap_err();
            assert_eq!((fault.component(), fault.kind()), (Component::BlobStore, FaultKind::Rejected));
            fault.report()
        };
        let good = options(Some("http://localhost:9000"));
        for bucket in ["", "b", "Docs", "a/b", "docs?x", ".docs"] {
            assert!(told(bucket, "", &good).contains("bucket"), "{bucket}");
        }
        assert!(told("docs", "a//b", &good).contains("prefix"));
        for address in ["", "localhost:9000", "ftp://host", "http://", "http://u:p@host", "http://host/?a=b"]
        {
            assert!(told("docs", "", &options(Some(address))).contains("endpoint"), "{address}");
        }
        let strict = S3Options { allow_http: false, ..good.clone() };
        assert!(told("docs", "", &strict).contains("TLS"));
        let region = S3Options { region: "eu/1".to_owned(), ..good.clone() };
        assert!(told("docs", "", &region).contains("region"));
        let keyless = S3Options { secret_access_key: String::new(), ..good };
        assert!(told("docs", "", &keyless).contains("secret"));
    }

    #[test]
    fn keys_are_never_shown() {
        let token = Some("hunter3".to_owned());
        let options = S3Options { session_token: token, ..S3Options::new("hunter1", "hunter2") };
        let shown = format!("{options:?}");
        assert!(!shown.contains("hunter"), "{shown}");
    }
}
