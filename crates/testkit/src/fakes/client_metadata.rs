//! Client ID metadata documents in memory.

use async_trait::async_trait;
use docent_domain::client_uri::ClientUrl;
use docent_ports::client_metadata::{ClientMetadataError, ClientMetadataSource};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Documents by URL. Hosts of other URLs cannot be reached.
#[derive(Debug, Default)]
pub struct FakeClientMetadata {
    documents: Mutex<HashMap<String, Result<Vec<u8>, ClientMetadataError>>>,
    fetches: Mutex<u64>,
}

impl FakeClientMetadata {
    /// Sets the result for a URL.
    pub fn set(&self, url: &str, result: Result<&str, ClientMetadataError>) {
        let result = result.map(|document| document.as_bytes().to_vec());
        self.documents.lock().unwrap_or_else(PoisonError::into_inner).insert(url.to_owned(), result);
    }

    /// Number of fetches.
    pub fn fetches(&self) -> u64 {
        *self.fetches.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl ClientMetadataSource for FakeClientMetadata {
    async fn fetch(&self, url: &ClientUrl) -> Result<Vec<u8>, ClientMetadataError> {
        *self.fetches.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        let documents = self.documents.lock().unwrap_or_else(PoisonError::into_inner);
        documents.get(url.as_str()).cloned().unwrap_or(Err(ClientMetadataError::Unreachable))
    }
}
