//! Blobs in a bucket of AWS S3 or of another service with its protocol.

pub(super) mod service;

use super::{Location, ObjectBlobStore};
use docent_domain::fault::{Component, Fault, FaultKind, Result};
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::path::Path;
use object_store::prefix::PrefixStore;
use object_store::{BackoffConfig, ObjectStore, RetryConfig};
use reqwest::Url;
use service::Connector;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The longest pause between two attempts of a request.
const MAX_PAUSE: Duration = Duration::from_secs(2);

/// Where a bucket's name goes in URLs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addressing {
    /// In the path: `https://host/bucket/key`. Supported by every service.
    Path,
    /// In the host: `https://bucket.host/key`.
    VirtualHosted,
}

/// The settings of AWS's credential chain; all others come from [`S3Options`].
const CREDENTIAL_KEYS: [AmazonS3ConfigKey; 12] = [
    AmazonS3ConfigKey::AccessKeyId,
    AmazonS3ConfigKey::SecretAccessKey,
    AmazonS3ConfigKey::Token,
    AmazonS3ConfigKey::WebIdentityTokenFile,
    AmazonS3ConfigKey::RoleArn,
    AmazonS3ConfigKey::RoleSessionName,
    AmazonS3ConfigKey::StsEndpoint,
    AmazonS3ConfigKey::ContainerCredentialsRelativeUri,
    AmazonS3ConfigKey::ContainerCredentialsFullUri,
    AmazonS3ConfigKey::ContainerAuthorizationTokenFile,
    AmazonS3ConfigKey::MetadataEndpoint,
    AmazonS3ConfigKey::ImdsV1Fallback,
];

/// How requests to S3 are authenticated.
#[derive(Clone)]
pub struct S3Credentials(Vec<(AmazonS3ConfigKey, String)>);

impl S3Credentials {
    /// A fixed pair of keys.
    pub fn keys(access_key_id: impl Into<String>, secret_access_key: impl Into<String>) -> Self {
        Self(vec![
            (AmazonS3ConfigKey::AccessKeyId, access_key_id.into()),
            (AmazonS3ConfigKey::SecretAccessKey, secret_access_key.into()),
        ])
    }

    /// AWS's credential chain, configured by the `AWS_…` variables of this process: keys, a web identity, a
    /// container's role, or else the instance's role.
    pub fn from_env() -> Self {
        Self::from_builder(&AmazonS3Builder::from_env())
    }

    /// AWS's credential chain with these `AWS_…` variables; others are ignored.
    pub fn from_variables<'a>(variables: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let set =
            |builder: AmazonS3Builder, (name, value): (&str, &str)| match name.to_ascii_lowercase().parse() {
                Ok(key) => builder.with_config(key, value),
                Err(_) => builder,
            };
        Self::from_builder(&variables.into_iter().fold(AmazonS3Builder::new(), set))
    }

    fn from_builder(builder: &AmazonS3Builder) -> Self {
        let value = |key| Some((key, builder.get_config_value(&key)?));
        Self(CREDENTIAL_KEYS.into_iter().filter_map(value).collect())
    }
}

impl fmt::Debug for S3Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(key, _)| key.as_ref())).finish()
    }
}

/// How the bucket's service is reached.
///
/// The credentials must allow `s3:GetObject`, `s3:PutObject`, `s3:DeleteObject` and `s3:AbortMultipartUpload` below the
/// prefix, and `s3:ListBucket`: without it S3 reports a missing blob as forbidden.
#[derive(Clone, Debug)]
pub struct S3Options {
    /// The service's URL without the bucket, as in `http://localhost:9000`; `None` is AWS in the region.
    pub endpoint: Option<String>,
    /// The bucket's region.
    pub region: String,
    /// How requests are authenticated.
    pub credentials: S3Credentials,
    /// Where the bucket's name goes in URLs.
    pub addressing: Addressing,
    /// The longest wait for a connection.
    pub connect_timeout: Duration,
    /// The longest wait for a response, which includes the upload of a part, and for each piece of its body. No retry
    /// starts later than this after the first attempt.
    pub read_timeout: Duration,
    /// How often a request is repeated after a transient fault.
    pub retries: usize,
    /// The pause before the first retry; later ones are longer.
    pub retry_pause: Duration,
}

impl S3Options {
    /// AWS in `us-east-1`.
    pub fn new(credentials: S3Credentials) -> Self {
        Self {
            endpoint: None,
            region: "us-east-1".to_owned(),
            credentials,
            addressing: Addressing::Path,
            connect_timeout: Duration::from_secs(3),
            read_timeout: Duration::from_secs(20),
            retries: 3,
            retry_pause: Duration::from_millis(100),
        }
    }
}

impl ObjectBlobStore {
    /// Opens a bucket whose objects have keys that begin with `prefix`, which may be empty. Does not connect yet.
    ///
    /// Small blobs take one request; larger ones are sent in parts, with one part in memory at a time. Unfinished
    /// uploads are aborted. Those of a killed process remain until a lifecycle rule of the bucket for incomplete
    /// multipart uploads removes them.
    ///
    /// # Errors
    /// If the options, the bucket's name or the prefix are invalid.
    pub fn s3(bucket: &str, prefix: &str, options: &S3Options) -> Result<Self> {
        let prefix = Path::parse(prefix)
            .map_err(|error| rejected("the prefix is not valid in S3 keys").caused_by(error))?;
        let endpoint = endpoint(bucket, options)?;
        let retry = RetryConfig {
            backoff: BackoffConfig { init_backoff: options.retry_pause, max_backoff: MAX_PAUSE, base: 2.0 },
            max_retries: options.retries,
            retry_timeout: options.read_timeout,
        };
        let credentials = options.credentials.0.iter();
        let bucket = credentials
            .fold(AmazonS3Builder::new(), |builder, (key, value)| builder.with_config(*key, value))
            .with_bucket_name(bucket)
            .with_endpoint(endpoint.as_str().trim_end_matches('/'))
            .with_region(&options.region)
            .with_virtual_hosted_style_request(options.addressing == Addressing::VirtualHosted)
            // TLS protects the payload; without TLS the signature covers it.
            .with_unsigned_payload(endpoint.scheme() == "https")
            // Not every service supports bulk deletes, and none are sent.
            .with_disable_bulk_delete(true)
            .with_retry(retry)
            .with_http_connector(Connector::new(&endpoint, options)?)
            .build()
            .map_err(|error| rejected("the S3 settings are invalid").caused_by(error))?;
        let objects: Arc<dyn ObjectStore> =
            if prefix.is_root() { Arc::new(bucket) } else { Arc::new(PrefixStore::new(bucket, prefix)) };
        Ok(Self::new(objects, Location::Bucket))
    }
}

fn rejected(message: impl Into<Cow<'static, str>>) -> Fault {
    Fault::new(Component::BlobStore, FaultKind::Rejected, message)
}

/// Returns the URL that object keys are appended to, without the bucket of path-style addressing.
fn endpoint(bucket: &str, options: &S3Options) -> Result<Url> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.');
    if !(3..=63).contains(&bucket.len()) || !bucket.chars().all(plain) || bucket.starts_with(['-', '.']) {
        return Err(rejected("the S3 bucket's name is invalid (3 to 63 of a-z, 0-9, - and .)"));
    }
    if options.region.is_empty() || !options.region.chars().all(plain) {
        return Err(rejected("the S3 region is invalid"));
    }
    let aws = || format!("https://s3.{}.amazonaws.com", options.region);
    let address = options.endpoint.clone().unwrap_or_else(aws);
    let mut url = Url::parse(address.trim())
        .map_err(|error| rejected("the S3 endpoint is not a URL").caused_by(error))?;
    if !matches!(url.scheme(), "https" | "http") {
        return Err(rejected("the S3 endpoint must begin with https:// or http://"));
    }
    // Credentials in the endpoint would appear in logs.
    let has_more = url.query().is_some() || url.fragment().is_some() || url.password().is_some();
    if has_more || !url.username().is_empty() {
        return Err(rejected("the S3 endpoint may contain only a host, a port and a path"));
    }
    if options.addressing == Addressing::VirtualHosted {
        let host = url.domain().map(|domain| format!("{bucket}.{domain}"));
        let host =
            host.ok_or_else(|| rejected("virtual-hosted S3 addressing needs an endpoint with a host name"))?;
        url.set_host(Some(&host))
            .map_err(|error| rejected("the S3 bucket's name is not valid in a host name").caused_by(error))?;
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(endpoint: Option<&str>) -> S3Options {
        let endpoint = endpoint.map(str::to_owned);
        S3Options { endpoint, ..S3Options::new(S3Credentials::keys("id", "secret")) }
    }

    #[test]
    fn endpoint_contains_bucket_by_addressing() {
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
    fn invalid_options_are_rejected_by_name() {
        let rejection = |bucket: &str, prefix: &str, options: &S3Options| {
            let fault = ObjectBlobStore::s3(bucket, prefix, options).unwrap_err();
            assert_eq!((fault.component(), fault.kind()), (Component::BlobStore, FaultKind::Rejected));
            fault.report()
        };
        let good = options(Some("http://localhost:9000"));
        for bucket in ["", "b", "Docs", "a/b", "docs?x", ".docs"] {
            assert!(rejection(bucket, "", &good).contains("bucket"), "{bucket}");
        }
        assert!(rejection("docs", "a//b", &good).contains("prefix"));
        for address in ["", "localhost:9000", "ftp://host", "http://", "http://u:p@host", "http://host/?a=b"]
        {
            assert!(rejection("docs", "", &options(Some(address))).contains("endpoint"), "{address}");
        }
        let region = S3Options { region: "eu/1".to_owned(), ..good.clone() };
        assert!(rejection("docs", "", &region).contains("region"));
        let half = S3Credentials::from_variables([("AWS_ACCESS_KEY_ID", "id")]);
        assert!(
            rejection("docs", "", &S3Options { credentials: half, ..good })
                .contains("Missing SecretAccessKey")
        );
    }

    #[test]
    fn debug_output_omits_secrets() {
        let variables = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"];
        let chain = S3Credentials::from_variables(variables.map(|name| (name, "hunter1")));
        for credentials in [S3Credentials::keys("hunter1", "hunter2"), chain] {
            let shown = format!("{:?}", S3Options::new(credentials));
            assert!(!shown.contains("hunter") && shown.contains("aws_secret_access_key"), "{shown}");
        }
    }

    #[test]
    fn only_credentials_are_taken_from_variables() {
        let variables =
            [("AWS_ACCESS_KEY_ID", "id"), ("AWS_SKIP_SIGNATURE", "true"), ("AWS_ENDPOINT_URL_S3", "x")];
        let S3Credentials(keys) = S3Credentials::from_variables(variables);
        let names: Vec<_> = keys.iter().map(|(key, _)| key.as_ref()).collect();
        assert_eq!(names, ["aws_access_key_id", "aws_imdsv1_fallback"]);
    }
}
