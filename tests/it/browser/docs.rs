//! The page of the API reference: `/docs`.

use super::journey;
use serde_json::Value;

/// Returns the number of operations in the OpenAPI document.
fn operations() -> usize {
    let document: Value = serde_json::from_str(&docent_server::openapi::json().unwrap()).unwrap();
    document["paths"].as_object().unwrap().values().map(|item| item.as_object().unwrap().len()).sum()
}

#[tokio::test]
async fn docs_page_lists_every_operation_and_can_send_requests() {
    journey(async |_, window| {
        window.goto("/docs").await;
        window.see("/agents/{name}").await;
        assert_eq!(window.texts(".opblock").await.len(), operations());
        window.click("#operations-Service-get_liveness button.opblock-summary-control").await;
        window.click("#operations-Service-get_liveness .try-out__btn").await;
        window.click("#operations-Service-get_liveness .execute").await;
        window.find("#operations-Service-get_liveness .live-responses-table").await;
        assert_eq!(window.console_errors().await, Vec::<String>::new());
    })
    .await;
}
