//! Client ID metadata documents of OAuth clients.

use async_trait::async_trait;
use docent_domain::client_uri::ClientUrl;
use thiserror::Error;

/// Maximum size of a document in bytes.
pub const CLIENT_METADATA_MAX: usize = 16 * 1024;

/// Why a document cannot be read. The messages are for people and do not reveal internal network details.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ClientMetadataError {
    /// The host is not allowed, its name does not resolve to an allowed address, or it cannot be reached.
    #[error("the host cannot be reached")]
    Unreachable,
    /// The host did not answer in time.
    #[error("the host did not answer in time")]
    Timeout,
    /// The response is not JSON with the status 200, or too large.
    #[error("the response is not a JSON document of at most 16 KiB with the status 200")]
    InvalidResponse,
}

/// Fetches documents.
///
/// URLs are untrusted, so only hosts on the public internet are connected to unless configured otherwise. Every connection
/// is checked after name resolution.
#[async_trait]
pub trait ClientMetadataSource: Send + Sync {
    /// Fetches a document of at most [`CLIENT_METADATA_MAX`] bytes, within seconds. Redirects are not followed.
    async fn fetch(&self, url: &ClientUrl) -> Result<Vec<u8>, ClientMetadataError>;
}
