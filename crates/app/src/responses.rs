//! Stored responses of the requesting account. Those of other accounts are not found, even by superusers; an API key that is limited to
//! collections finds only those that it requested.

use crate::App;
use crate::error::{Error, Result};
use docent_domain::access::{Chat, Grant};
use docent_domain::id::ResponseId;
use docent_domain::stored_response::StoredResponse;

/// Maximum number of responses that are read of a chain.
const CHAIN_MAX: usize = 200;
/// Size of their content in bytes at which no further response of a chain is read.
const CHAIN_BYTES: usize = 4 << 20;

/// A response and those that it continues.
#[derive(Debug)]
pub struct Chain {
    /// The responses, oldest first.
    pub responses: Vec<StoredResponse>,
    /// Whether there are older responses that were not read.
    pub is_cut: bool,
}

/// A stored response.
///
/// # Errors
/// [`Error::ResponseNotFound`], or when the database cannot be reached.
pub async fn get(app: &App, grant: &Grant<Chat>, id: ResponseId) -> Result<StoredResponse> {
    let found = app.store.read_latest().await?.conversations().response(id).await?;
    found.filter(|response| response.is_open_to(grant)).ok_or(Error::ResponseNotFound)
}

/// A response and those that it continues, as far as they are stored and their size is bounded. Deleted responses end the chain.
///
/// # Errors
/// [`Error::ResponseNotFound`] for the response itself, or when the database cannot be reached.
pub async fn chain(app: &App, grant: &Grant<Chat>, id: ResponseId) -> Result<Chain> {
    let mut view = app.store.read_latest().await?;
    let (mut responses, mut next, mut bytes): (Vec<StoredResponse>, _, _) = (Vec::new(), Some(id), 0);
    while let Some(id) = next {
        if responses.len() >= CHAIN_MAX || bytes >= CHAIN_BYTES {
            break;
        }
        let found = view.conversations().response(id).await?;
        let Some(found) = found.filter(|response| response.is_open_to(grant)) else {
            next = None;
            break;
        };
        bytes += found.content.len();
        next = found.previous;
        responses.push(found);
    }
    if responses.is_empty() {
        return Err(Error::ResponseNotFound);
    }
    responses.reverse();
    Ok(Chain { responses, is_cut: next.is_some() })
}

/// Stores a response.
///
/// # Errors
/// When the account was deleted meanwhile, or the database cannot be reached.
pub async fn store(app: &App, response: &StoredResponse) -> Result<()> {
    let mut work = app.store.begin().await?;
    work.conversations().insert_response(response).await?;
    Ok(work.commit().await?)
}

/// Deletes a stored response. Responses that continue it stay.
///
/// # Errors
/// [`Error::ResponseNotFound`], or when the database cannot be reached.
pub async fn delete(app: &App, grant: &Grant<Chat>, id: ResponseId) -> Result<()> {
    let mut work = app.store.begin_freeing().await?;
    let found = work.conversations().response(id).await?;
    found.filter(|response| response.is_open_to(grant)).ok_or(Error::ResponseNotFound)?;
    work.conversations().delete_response(id).await?;
    Ok(work.commit().await?)
}
