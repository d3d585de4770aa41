//! The page of the signed-in account: `/admin/account`.

use super::{at_panel, staff_account, staff_with, submit};
use docent_tests::app::PASSWORD;
use docent_tests::member::Member;
use docent_tests::rules;
use std::time::Duration;

const NEW: &str = "another secret";

rules! {
    async fn password_change_with_the_current_password_ends_other_sessions(setup) {
        let app = setup.start().await;
        let user = staff_account(&app, "staff@example.org", &[]).await;
        let client = Member::login(&app, user).await;
        let mut here = at_panel(&app, "staff@example.org").await;
        let mut elsewhere = at_panel(&app, "staff@example.org").await;
        app.advance(Duration::from_secs(2));
        let path = "/admin/account/password";
        for (present, again, error) in [
            ("wrong", NEW, "Current password is incorrect."),
            (PASSWORD, "a third one", "Repeat new password does not match."),
        ] {
            let fields = [("present", present), ("password", NEW), ("again", again)];
            let page = submit(&mut here, path, &fields).await.expect(422).text;
            assert!(page.contains(error) && !page.contains(NEW), "{page}");
        }
        let _ = elsewhere.get("/admin").await.expect(200);
        let before = here.cookie.clone();
        let fields = [("present", PASSWORD), ("password", NEW), ("again", NEW)];
        let _ = submit(&mut here, path, &fields).await.expect(303);
        assert_ne!(here.cookie, before);
        assert!(here.get("/admin/account").await.expect(200).text.contains("Your password was changed"));
        let _ = elsewhere.get("/admin").await.expect(303);
        let _ = client.get("/documents").await.expect(401);
        here.cookie = before;
        let _ = here.get("/admin").await.expect(303);
        let _ = here.login("staff@example.org", PASSWORD).await.expect(401);
        let _ = here.login("staff@example.org", NEW).await.expect(303);
    }

    async fn wrong_current_passwords_are_rate_limited(setup) {
        let app = setup.start().await;
        let mut staff = staff_with(&app, &[]).await;
        let guess = [("present", "wrong"), ("password", NEW), ("again", NEW)];
        for _ in 0..10 {
            let _ = submit(&mut staff, "/admin/account/password", &guess).await.expect(422);
        }
        let right = [("present", PASSWORD), ("password", NEW), ("again", NEW)];
        let _ = submit(&mut staff, "/admin/account/password", &right).await.expect(429);
    }

    async fn account_page_shows_own_keys_sessions_and_permissions(setup) {
        let app = setup.start().await;
        let mut staff = staff_with(&app, &[]).await;
        let page = staff.get("/admin/account").await.expect(200).text;
        for text in ["staff@example.org", "No API keys yet.", "this device", "No additional permissions"] {
            assert!(page.contains(text), "{text}: {page}");
        }
        let _ = staff.post("/admin/account/password", &[("form_token", "x"), ("present", PASSWORD)]).await.expect(403);
        let _ = app.get("/admin/account").await.expect(303);
    }
}
