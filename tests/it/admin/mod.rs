//! The admin panel: `/admin`.

mod answers;
mod api_keys;
mod audit;
mod bulk;
mod collections;
mod conversation_views;
mod conversations;
mod dashboard;
mod documents;
mod find;
mod german;
mod groups;
mod invitations;
mod jobs;
mod login;
mod model;
mod pages;
mod search;
mod service;
mod session;
mod sessions;
mod upload;
mod usage;
mod users;
mod verifications;
mod webhooks;

use docent_app::accounts::create::Flags;
use docent_domain::permission::Permission;
use docent_domain::user::User;
use docent_tests::app::{PASSWORD, TestApp};
use docent_tests::browser::{Browser, form_token};
use docent_tests::member::Member;
use docent_tests::reply::Reply;

/// Creates a staff account with these permissions.
async fn staff_account(app: &TestApp, email: &str, permissions: &[Permission]) -> User {
    let user = app.account(email, Flags { is_staff: true, is_superuser: false }).await;
    app.permit(user.id, permissions).await;
    user
}

/// Creates a staff account with these permissions and signs it in to the panel.
async fn staff_with(app: &TestApp, permissions: &[Permission]) -> Browser {
    staff_account(app, "staff@example.org", permissions).await;
    at_panel(app, "staff@example.org").await
}

/// Like [`staff_with`], and also signs the account in to the API.
pub(crate) async fn staff(app: &TestApp, permissions: &[Permission]) -> (Browser, Member) {
    let user = staff_account(app, "staff@example.org", permissions).await;
    (at_panel(app, "staff@example.org").await, Member::login(app, user).await)
}

/// Creates a superuser and signs it in to the panel.
async fn superuser(app: &TestApp) -> Browser {
    app.account("root@example.org", Flags { is_staff: true, is_superuser: true }).await;
    at_panel(app, "root@example.org").await
}

/// Signs an account in to the panel.
pub(crate) async fn at_panel(app: &TestApp, email: &str) -> Browser {
    let mut browser = Browser::new(app);
    let _ = browser.login(email, PASSWORD).await.expect(303);
    browser
}

/// Submits a form with the form token of the account page.
pub(crate) async fn submit(browser: &mut Browser, path: &str, fields: &[(&str, &str)]) -> Reply {
    let token = form_token(&browser.get("/account").await.expect(200));
    browser.post(path, &[&[("form_token", token.as_str())], fields].concat()).await
}

/// Returns the text between two parts of a page; empty when either is missing.
pub(crate) fn between<'p>(page: &'p str, start: &str, end: &str) -> &'p str {
    page.split_once(start).and_then(|(_, rest)| rest.split_once(end)).map_or("", |(text, _)| text)
}
