//! The web chat after the service could not be reached.

use super::chat::{enter, renderer};
use super::journey_with;
use docent_tests::member::Member;
use docent_tests::pdf::pdf;

#[tokio::test]
async fn documents_can_be_opened_after_an_outage() {
    journey_with(
        |setup| setup.renderer(renderer()),
        async |app, window| {
            let member = Member::login(app, enter(app, window).await).await;
            member.add("Handbook.pdf", pdf(&["One.", "Two.", "Three."])).await;
            app.run_jobs().await;
            window.goto("/chat").await;
            window.find("#documents-list .title button").await;
            // The module of the viewer is not loaded yet.
            window.connect(false).await;
            window.click("#documents-list .title button").await;
            window.see("The document cannot be opened. The service cannot be reached.").await;
            window.connect(true).await;
            window.click("#documents-list .title button").await;
            window.find("#pages img[alt^='Page 1 of Handbook.pdf']").await;
            window.click("#source-close").await;

            // Without the report, the number of pages is not known.
            window.connect(false).await;
            window.click("#documents-list .title button").await;
            window.see("Page 1 cannot be shown.").await;
            assert_eq!(window.texts("#page-count").await, ["of 1"]);
            window.connect(true).await;
            window.press("Try again").await;
            window.find("#pages img[alt^='Page 1 of Handbook.pdf']").await;
            assert_eq!(window.texts("#page-count").await, ["of 3"]);
            assert!(!window.text().await.contains("cannot be shown"));
        },
    )
    .await;
}
