//! Items of earlier responses.

use super::items::ResponseInputItem;
use super::stored::Content;
use crate::openai::ids;
use actix_web::http::StatusCode;
use docent_app::App;
use docent_app::error::Error;
use docent_app::responses;
use docent_domain::access::{Chat, Grant};
use docent_domain::id::ResponseId;
use docent_http::ApiError;
use serde_json::Value;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

/// Maximum size of the items that references of a request stand for, and of the responses that are read for them, in bytes.
const REFERENCES_BYTES: usize = 4 << 20;

/// The items of a response that is continued, and of those before it.
#[derive(Default)]
pub(super) struct Earlier {
    pub(super) previous: Option<ResponseId>,
    pub(super) items: Vec<ResponseInputItem>,
    /// Whether there are older responses that were not read.
    pub(super) is_cut: bool,
}

/// Reads the response that a request continues, if any.
///
/// # Errors
/// 400 for an unknown response, or when the database cannot be reached.
pub(super) async fn earlier(app: &App, grant: &Grant<Chat>, id: Option<&str>) -> Result<Earlier, ApiError> {
    let Some(text) = id else { return Ok(Earlier::default()) };
    let not_found = || {
        let reason = "is not the ID of a stored response";
        let error = ApiError::invalid_field(&["body", "previous_response_id"], reason);
        error.with_code("previous_response_not_found")
    };
    let id = ids::decode::<ResponseId>(text).ok_or_else(not_found)?;
    let chain = responses::chain(app, grant, id).await.map_err(|error| match error {
        Error::ResponseNotFound => not_found(),
        error => error.into(),
    })?;
    let mut items = Vec::new();
    // Outputs of functions that were called in responses that were not read say nothing.
    let mut calls = HashSet::new();
    for response in &chain.responses {
        let Content { input, mut response } = Content::of(response)?;
        let mut output = response.get_mut("output").map(Value::take);
        let output = output.as_mut().and_then(Value::as_array_mut).map(std::mem::take).unwrap_or_default();
        for item in input.into_iter().chain(output) {
            let item = ResponseInputItem::parse(item).map_err(|_| ApiError::internal())?;
            match &item {
                ResponseInputItem::FunctionCall { call_id, .. } => drop(calls.insert(call_id.clone())),
                ResponseInputItem::FunctionCallOutput { call_id, .. } if !calls.contains(call_id) => continue,
                _ => {}
            }
            items.push(item);
        }
    }
    Ok(Earlier { previous: Some(id), items, is_cut: chain.is_cut })
}

/// Replaces references by the items that they refer to. All of them together are as long as a request can be.
///
/// # Errors
/// 404 for an unknown item; 400 for too long items or references to too many responses; or when the database cannot be reached.
pub(super) async fn resolved(
    app: &App,
    grant: &Grant<Chat>,
    mut items: Vec<ResponseInputItem>,
) -> Result<Vec<ResponseInputItem>, ApiError> {
    let mut responses: HashMap<ResponseId, Content> = HashMap::new();
    let (mut bytes, mut read_bytes) = (0, 0);
    let too_long = || {
        let reason = "refers to items that are too long together, or to items of too many responses";
        ApiError::invalid_field(&["body", "input"], reason)
    };
    for item in &mut items {
        let ResponseInputItem::ItemReference { id } = item else { continue };
        let not_found = || {
            let detail = format!("Item with id '{}' not found", id.chars().take(100).collect::<String>());
            ApiError::new(StatusCode::NOT_FOUND, detail)
        };
        let of = super::response_of_item(id).ok_or_else(not_found)?;
        let content = match responses.entry(of) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(_) if read_bytes > REFERENCES_BYTES => return Err(too_long()),
            Entry::Vacant(unknown) => {
                let found =
                    docent_app::responses::get(app, grant, of).await.map_err(|error| match error {
                        Error::ResponseNotFound => not_found(),
                        error => error.into(),
                    })?;
                read_bytes += found.content.len();
                unknown.insert(Content::of(&found)?)
            }
        };
        let found = content.item(id).ok_or_else(not_found)?;
        bytes += found.to_string().len();
        if bytes > REFERENCES_BYTES {
            return Err(too_long());
        }
        *item = ResponseInputItem::parse(found.clone()).map_err(|_| ApiError::internal())?;
    }
    Ok(items)
}
