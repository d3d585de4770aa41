//! `/librechat`: the RAG API of LibreChat.

mod accounts;
mod files;
mod searches;
mod uploads;

use docent_tests::reply::Reply;
use serde_json::Value;

/// The ID of a file, as LibreChat makes them.
const FILE: &str = "0b1f4c52-3c0f-4a61-9f0e-5b6b2f1c9a10";
/// IDs of users, as MongoDB makes them.
const ADA: &str = "65f0c0ffee65f0c0ffee65f0";
const BOB: &str = "65f0c0ffee65f0c0ffee65f1";

/// The passages of a search as LibreChat reads them: text, name of the file, page and relevance.
fn results(reply: &Reply) -> Vec<(String, String, u64, f64)> {
    let data = reply.json();
    let result = |pair: &Value| {
        let (passage, distance) = (&pair[0], pair[1].as_f64().unwrap());
        let metadata = &passage["metadata"];
        let name = metadata["source"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
        let text = passage["page_content"].as_str().unwrap().trim().to_owned();
        (text, name, metadata["page"].as_u64().unwrap(), 1.0 - distance)
    };
    data.as_array().unwrap().iter().map(result).collect()
}
