//! Changing the email address: `/account/email` and `/account/confirm-email`.

use super::{ADA, ada, at_account, notices};
use crate::admin::submit;
use docent_app::accounts::create::Flags;
use docent_tests::app::{PASSWORD, TestApp};
use docent_tests::browser::Browser;
use docent_tests::rules;
use std::time::Duration;

const NEW: &str = "ada.new@example.org";
const PATH: &str = "/account/email";

/// Returns the token of the link in the last email.
async fn token(app: &TestApp) -> String {
    let mail = app.mails().await.pop().unwrap();
    let (_, rest) = mail.text.split_once("/account/confirm-email?token=").expect("a link");
    rest.split_whitespace().next().unwrap().to_owned()
}

async fn request(browser: &mut Browser, new: &str) -> u16 {
    submit(browser, PATH, &[("email", new), ("present", PASSWORD)]).await.status
}

rules! {
    async fn address_changes_when_the_link_to_the_new_one_is_confirmed(setup) {
        let app = setup.start().await;
        let (mut browser, _) = ada(&app).await;
        for (new, present, error) in [
            ("nothing", PASSWORD, "New email address"),
            (NEW, "wrong", "Current password is incorrect."),
            (ADA, PASSWORD, "New email address is already the address of this account."),
        ] {
            let page = submit(&mut browser, PATH, &[("email", new), ("present", present)]).await.expect(422).text;
            assert!(page.contains(error), "{error}: {page}");
        }
        assert_eq!(request(&mut browser, NEW).await, 303);
        assert_eq!(notices(&app).await, [("Confirm your new email address".to_owned(), NEW.to_owned())]);
        assert!(browser.get("/account").await.expect(200).text.contains(ADA), "nothing has changed yet");
        let token = token(&app).await;
        let opened = app.get(&format!("/account/confirm-email?token={token}")).await.expect(200);
        assert!(opened.text.contains(&token) && browser.get("/account").await.text.contains(ADA));
        let done = app.submit("/account/confirm-email", &[("token", &token)]).await.expect(200);
        assert!(done.text.contains("Your email address has been changed"));
        let page = browser.get("/account").await.expect(200).text;
        assert!(page.contains(NEW) && page.contains("(verified)"), "the session stays: {page}");
        assert_eq!(notices(&app).await[1], ("Your email address was changed".to_owned(), ADA.to_owned()));
        let _ = app.submit("/account/confirm-email", &[("token", &token)]).await.expect(400);
        let _ = Browser::new(&app).login_at("/account/login", ADA, PASSWORD).await.expect(401);
        let _ = at_account(&app, NEW).await;
    }

    async fn address_of_another_account_gets_no_email_and_the_same_reply(setup) {
        let app = setup.start().await;
        let (mut browser, _) = ada(&app).await;
        app.account(NEW, Flags::default()).await;
        let reply = submit(&mut browser, PATH, &[("email", NEW), ("present", PASSWORD)]).await.expect(303);
        assert_eq!(reply.header("location"), "/account");
        assert!(notices(&app).await.is_empty());
        assert!(browser.get("/account").await.expect(200).text.contains("We sent a link to"));
    }

    async fn address_taken_in_the_meantime_is_refused(setup) {
        let app = setup.start().await;
        let (mut browser, _) = ada(&app).await;
        assert_eq!(request(&mut browser, NEW).await, 303);
        let token = token(&app).await;
        app.account(NEW, Flags::default()).await;
        let page = app.submit("/account/confirm-email", &[("token", &token)]).await.expect(409).text;
        assert!(page.contains("already in use"), "{page}");
        assert!(browser.get("/account").await.expect(200).text.contains(ADA));
    }

    async fn link_expires_and_links_for_other_purposes_change_nothing(setup) {
        let app = setup.start().await;
        let (mut browser, _) = ada(&app).await;
        assert_eq!(request(&mut browser, NEW).await, 303);
        let token = token(&app).await;
        let _ = app.submit("/account/verify-email", &[("token", &token)]).await.expect(400);
        let reset = [("token", token.as_str()), ("password", "a long secret")];
        let _ = app.submit("/account/reset-password", &reset).await.expect(400);
        app.advance(Duration::from_secs(3 * 24 * 60 * 60));
        let _ = app.submit("/account/confirm-email", &[("token", &token)]).await.expect(400);
    }

    async fn requests_are_limited_per_account_whatever_the_new_address(setup) {
        let app = setup.start().await;
        let (mut browser, _) = ada(&app).await;
        for n in 0..3 {
            assert_eq!(request(&mut browser, &format!("new{n}@example.org")).await, 303);
        }
        assert_eq!(request(&mut browser, NEW).await, 429);
        assert_eq!(notices(&app).await.len(), 3);
    }

    async fn address_cannot_be_changed_without_a_mail_server(setup) {
        let app = setup.start().await;
        let (mut browser, _) = ada(&app).await;
        app.mailer.go_away();
        assert!(browser.get("/account").await.expect(200).text.contains("an administrator can change it"));
        assert!(!browser.get(PATH).await.expect(200).text.contains("name=\"email\""));
        assert_eq!(request(&mut browser, NEW).await, 422);
    }
}
