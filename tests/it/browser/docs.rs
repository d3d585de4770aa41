//! The page of the API reference: `/docs`.

use super::{ROOT, journey, superuser_journey};
use docent_app::accounts::create::Flags;
use docent_tests::app::PASSWORD;
use docent_tests::chromium::optional_setting;
use serde_json::{Value, json};
use std::path::Path;

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

#[tokio::test]
async fn docs_page_follows_the_colours_of_the_system() {
    journey(async |_, window| {
        window.resize(1440, 900).await;
        let mut grounds = Vec::new();
        for scheme in ["light", "dark"] {
            let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
            window.devtools("Emulation.setEmulatedMedia", json!({ "features": features })).await;
            window.goto("/docs").await;
            window.see("/agents/{name}").await;
            window.click("#operations-Documents-create_document button.opblock-summary-control").await;
            window.click("#operations-Documents-create_document .copy-curl button").await;
            grounds.push(window.run("return getComputedStyle(document.body).backgroundColor", vec![]).await);
            if let Some(folder) = optional_setting("DOCENT_TEST_SCREENSHOTS") {
                for width in [1440, 390] {
                    window.resize(width, 900).await;
                    let file = Path::new(&folder).join(format!("api-{scheme}-{width}.png"));
                    std::fs::write(file, window.screenshot().await).unwrap();
                }
                window.resize(1440, 900).await;
            }
        }
        assert_ne!(grounds[0], grounds[1]);
    })
    .await;
}

#[tokio::test]
async fn docs_page_signs_in_and_copies_requests_as_curl() {
    journey(async |app, window| {
        app.account(ROOT, Flags { is_staff: true, is_superuser: true }).await;
        window.goto("/docs").await;
        window.see("/agents/{name}").await;
        let operation = "#operations-Documents-create_document";
        window.click(&format!("{operation} button.opblock-summary-control")).await;
        window.click(&format!("{operation} .copy-curl button")).await;
        let command = window.texts(&format!("{operation} .copy-curl pre")).await.remove(0);
        assert!(command.contains("/documents'") && command.contains("$TOKEN"), "{command}");
        assert!(command.contains(r#"-d '{"title":"#), "{command}");

        window.fill("email", ROOT).await;
        window.fill("password", PASSWORD).await;
        window.click("#sign-in button").await;
        window.see(&format!("Requests from this page are sent as {ROOT}")).await;
        window.click(&format!("{operation} .try-out__btn")).await;
        window.click(&format!("{operation} .execute")).await;
        window.find(&format!("{operation} .live-responses-table")).await;
        let statuses = window.texts(&format!("{operation} .live-responses-table .response-col_status")).await;
        assert!(statuses.iter().any(|status| status.contains("201")), "{statuses:?}");
        window.click(&format!("{operation} .copy-curl button")).await;
        let command = window.texts(&format!("{operation} .copy-curl pre")).await.remove(0);
        assert!(command.contains("Authorization: Bearer ey"), "{command}");

        window.click("#sign-out").await;
        window.see("Requests from this page are sent without an account.").await;
        assert_eq!(window.console_errors().await, Vec::<String>::new());
    })
    .await;
}

#[tokio::test]
async fn docs_page_and_header_of_the_panel_fit_on_a_phone() {
    let wide = "const width = document.documentElement.clientWidth; \
                return [...document.querySelectorAll('body *')] \
                    .filter((one) => one.getBoundingClientRect().right > width + 1 || one.matches('.top *') && one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 0) \
                    .slice(0, 9).map((one) => `${one.tagName}.${one.className}`)";
    let sideways = "return document.documentElement.scrollWidth > document.documentElement.clientWidth";
    superuser_journey(async |_, window| {
        window.resize(390, 800).await;
        window.goto("/admin").await;
        assert_eq!(window.run(wide, vec![]).await, json!([]));
        window.goto("/docs").await;
        window.see("/agents/{name}").await;
        let is_wide = window.run(sideways, vec![]).await;
        assert_eq!(is_wide, json!(false), "{}", window.run(wide, vec![]).await);
    })
    .await;
}
