//! Recognises the REST port of a Qdrant server, given by mistake instead of the gRPC port.

use docent_http_client::http_client;
use reqwest::Url;
use serde::Deserialize;
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(1);

/// What a Qdrant server answers at the root of its REST API.
#[derive(Deserialize)]
struct Banner {
    title: String,
}

/// Whether a Qdrant server answers REST requests at this address.
pub(super) async fn is_rest_port(url: &str) -> bool {
    let banner = async {
        let url = Url::parse(url).ok()?;
        let reply = http_client(&url, TIMEOUT).ok()?.get(url).timeout(TIMEOUT).send().await.ok()?;
        reply.json::<Banner>().await.ok()
    };
    banner.await.is_some_and(|banner| banner.title.starts_with("qdrant"))
}
