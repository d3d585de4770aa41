//! The account pages: `/account`.

mod api_keys;
mod chat_session;
mod deletion;
mod email;
mod groups;
mod language;
mod name;
mod password;
mod proof;
mod second_factor;
mod sessions;
mod sign_in;
pub(crate) mod single_sign_on;

use docent_app::accounts::create::Flags;
use docent_domain::user::User;
use docent_tests::app::{PASSWORD, TestApp};
use docent_tests::browser::Browser;

pub(crate) const ADA: &str = "ada@example.org";

/// Creates an account without permissions and signs it in to the account pages.
async fn ada(app: &TestApp) -> (Browser, User) {
    let user = app.account(ADA, Flags::default()).await;
    (at_account(app, ADA).await, user)
}

/// Signs an account in to the account pages.
pub(crate) async fn at_account(app: &TestApp, email: &str) -> Browser {
    let mut browser = Browser::new(app);
    let _ = browser.login_at("/account/login", email, PASSWORD).await.expect(303);
    browser
}

/// Returns subjects and recipients of the emails sent so far.
async fn notices(app: &TestApp) -> Vec<(String, String)> {
    app.mails().await.into_iter().map(|mail| (mail.subject, mail.to.as_str().to_owned())).collect()
}
