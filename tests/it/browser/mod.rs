//! The panel and the web chat in a real browser.

mod access;
mod chat;
mod conversations;
mod docs;
mod documents;
mod inspection;
mod login;
mod pages;
mod records;
mod stored_script;

use docent_app::accounts::create::Flags;
use docent_tests::{
    app::TestApp,
    chromium::Chromium,
    setup::{Setup, Started},
    stack::Stack,
};
use futures::FutureExt;
use std::panic::{AssertUnwindSafe, resume_unwind};

const ROOT: &str = "root@example.org";

/// Starts a service on the embedded adapters, opens a window and does something with both. The window is closed
/// in any case.
async fn journey(arrange: impl FnOnce(Setup) -> Setup, steps: impl AsyncFnOnce(&TestApp, &Chromium)) {
    let started = Started::default();
    let app = arrange(Setup::new(Stack::Embedded, &started)).start().await;
    let window = Chromium::open(&app).await;
    let outcome = AssertUnwindSafe(steps(&app, &window)).catch_unwind().await;
    window.close().await;
    outcome.unwrap_or_else(|panic| resume_unwind(panic));
    started.finish().await;
}

/// Makes a superuser and logs them in.
async fn superuser(app: &TestApp, window: &Chromium) {
    app.account(ROOT, Flags { is_staff: true, is_superuser: true }).await;
    window.login(ROOT).await;
}
