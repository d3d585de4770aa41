//! `/admin`

mod bulk;
mod conversations;
mod dashboard;
mod documents;
mod jobs;
mod login;
mod pages;
mod session;
mod upload;
mod usage;

use docent_app::accounts::create::Flags;
use docent_domain::permission::Permission;
use docent_tests::{
    app::{PASSWORD, TestApp},
    browser::Browser,
    member::Member,
};

/// A staff account with these permissions, at the panel and in the API.
async fn staff(app: &TestApp, permissions: &[Permission]) -> (Browser, Member) {
    let user = app.account("staff@example.org", Flags { is_staff: true, is_superuser: false }).await;
    app.permit(user.id, permissions).await;
    let mut browser = Browser::new(app);
    let _ = browser.login("staff@example.org", PASSWORD).await.expect(303);
    (browser, Member::login(app, user).await)
}
