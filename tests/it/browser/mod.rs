//! The panel and the web chat in a real browser.

mod access;
mod chat;
mod chat_answers;
mod chat_session;
mod citations;
mod conversations;
mod docs;
mod documentation;
mod documents;
mod fallback;
mod feedback;
mod formats;
mod german;
mod inspection;
mod lists;
mod login;
mod markdown;
mod oauth;
mod outage;
mod pages;
mod proof;
mod proxies;
mod sharing;
mod sources;
mod stored_script;
mod upload;
mod viewer;
mod welcome;

use crate::records::ROOT;
use docent_app::accounts::create::Flags;
use docent_tests::app::TestApp;
use docent_tests::chromium::Chromium;
use docent_tests::setup::{Setup, Started};
use docent_tests::stack::Stack;
use futures::FutureExt;
use std::panic::{AssertUnwindSafe, resume_unwind};

/// Runs steps in a browser window against a service on the embedded adapters.
async fn journey(steps: impl AsyncFnOnce(&TestApp, &Chromium)) {
    journey_with(|setup| setup, steps).await;
}

/// Like [`journey`], with a superuser signed in to the panel.
async fn superuser_journey(steps: impl AsyncFnOnce(&TestApp, &Chromium)) {
    journey(async |app, window| {
        superuser(app, window).await;
        steps(app, window).await;
    })
    .await;
}

/// Like [`journey`], with a service that `arrange` sets up. The window is closed even if a step panics.
async fn journey_with(arrange: impl FnOnce(Setup) -> Setup, steps: impl AsyncFnOnce(&TestApp, &Chromium)) {
    let started = Started::default();
    let app = arrange(Setup::new(Stack::Embedded, &started)).start().await;
    let window = Chromium::open(&app).await;
    let outcome = AssertUnwindSafe(steps(&app, &window)).catch_unwind().await;
    window.close().await;
    outcome.unwrap_or_else(|panic| resume_unwind(panic));
    started.finish().await;
}

/// Creates a superuser and signs it in to the panel.
async fn superuser(app: &TestApp, window: &Chromium) {
    app.account(ROOT, Flags { is_staff: true, is_superuser: true }).await;
    window.login(ROOT).await;
}
