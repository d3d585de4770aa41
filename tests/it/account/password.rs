//! Changing the password: `/account/password`.

use super::{ADA, ada, at_account, notices};
use crate::admin::submit;
use docent_app::accounts::create::Flags;
use docent_tests::app::PASSWORD;
use docent_tests::member::Member;
use docent_tests::rules;
use std::time::Duration;

const NEW: &str = "a secret of its own";
const PATH: &str = "/account/password";

rules! {
    async fn password_change_with_the_current_password_ends_other_sessions(setup) {
        let app = setup.start().await;
        let user = app.account(ADA, Flags::default()).await;
        let client = Member::login(&app, user).await;
        let mut here = at_account(&app, ADA).await;
        let mut elsewhere = at_account(&app, ADA).await;
        app.advance(Duration::from_secs(2));
        for (present, again, error) in [
            ("wrong", NEW, "Current password is incorrect."),
            (PASSWORD, "a third one", "Repeat new password does not match."),
        ] {
            let fields = [("present", present), ("password", NEW), ("again", again)];
            let page = submit(&mut here, PATH, &fields).await.expect(422).text;
            assert!(page.contains(error) && !page.contains(NEW), "{page}");
        }
        let _ = elsewhere.get("/account").await.expect(200);
        assert!(notices(&app).await.is_empty());
        let before = here.cookie.clone();
        let fields = [("present", PASSWORD), ("password", NEW), ("again", NEW)];
        let _ = submit(&mut here, PATH, &fields).await.expect(303);
        assert_ne!(here.cookie, before);
        assert!(here.get("/account").await.expect(200).text.contains("Your password was changed"));
        assert_eq!(notices(&app).await, [("Your password was changed".to_owned(), ADA.to_owned())]);
        let _ = elsewhere.get("/account").await.expect(303);
        let _ = client.get("/documents").await.expect(401);
        here.cookie = before;
        let _ = here.get("/account").await.expect(303);
        let _ = here.login_at("/account/login", ADA, PASSWORD).await.expect(401);
        let _ = here.login_at("/account/login", ADA, NEW).await.expect(303);
    }

    async fn wrong_current_passwords_are_rate_limited(setup) {
        let app = setup.start().await;
        let (mut browser, _) = ada(&app).await;
        let guess = [("present", "wrong"), ("password", NEW), ("again", NEW)];
        for _ in 0..10 {
            let _ = submit(&mut browser, PATH, &guess).await.expect(422);
        }
        let right = [("present", PASSWORD), ("password", NEW), ("again", NEW)];
        let _ = submit(&mut browser, PATH, &right).await.expect(429);
    }

    async fn password_form_without_its_token_changes_nothing(setup) {
        let app = setup.start().await;
        let (mut browser, _) = ada(&app).await;
        let fields = [("form_token", "x"), ("present", PASSWORD), ("password", NEW), ("again", NEW)];
        let _ = browser.post(PATH, &fields).await.expect(403);
        let _ = at_account(&app, ADA).await;
    }
}
