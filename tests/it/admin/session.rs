//! The panel's session and its cookie.

use docent_app::accounts::create::Flags;
use docent_tests::app::{PASSWORD, TestApp};
use docent_tests::browser::{Browser, form_token};
use docent_tests::rules;
use std::time::Duration;

const STAFF: Flags = Flags { is_staff: true, is_superuser: false };
const EMAIL: &str = "staff@example.org";

async fn staff(app: &TestApp) -> Browser {
    app.account(EMAIL, STAFF).await;
    let mut browser = Browser::new(app);
    let _ = browser.login(EMAIL, PASSWORD).await.expect(303);
    browser
}

fn minutes(n: u64) -> Duration {
    Duration::from_secs(60 * n)
}

rules! {
    async fn cookie_is_http_only_and_same_site(setup) {
        let app = setup.start().await;
        for path in ["/admin/login", "/account/login"] {
        let reply = app.get(path).await;
        let cookie = reply.header("set-cookie");
        assert!(cookie.starts_with("docent_session="), "{cookie}");
        for attribute in ["; HttpOnly", "; SameSite=Lax", "; Path=/"] {
            assert!(cookie.contains(attribute), "{cookie}");
        }
        assert!(!cookie.contains("Secure"), "without TLS the browser would not keep it");
        }
    }

    async fn cookie_of_an_https_service_is_secure_and_of_this_host_alone(setup) {
        let app = setup.settings(|settings| settings.public_url = "https://docs.example.org".to_owned()).start().await;
        for path in ["/admin/login", "/account/login"] {
            let reply = app.get(path).await;
            let cookie = reply.header("set-cookie");
            assert!(cookie.starts_with("__Host-docent_session="), "{cookie}");
            for attribute in ["; Secure", "; Path=/", "; HttpOnly", "; SameSite=Lax"] {
                assert!(cookie.contains(attribute), "{cookie}");
            }
            assert!(!cookie.contains("Domain"), "browsers refuse the prefix with a domain: {cookie}");
        }
        let browser = staff(&app).await;
        let mut planted = browser.clone();
        planted.cookie = browser.cookie.replace("__Host-", "");
        let _ = planted.get("/admin").await.expect(303);
        let _ = browser.clone().get("/admin").await.expect(200);
    }

    async fn login_replaces_cookie_and_form_token(setup) {
        let app = setup.start().await;
        app.account(EMAIL, STAFF).await;
        let mut browser = Browser::new(&app);
        let before = form_token(&browser.get("/admin/login").await);
        let planted = browser.clone();
        let fields = [("form_token", before.as_str()), ("email", EMAIL), ("password", PASSWORD)];
        let _ = browser.post("/admin/login", &fields).await.expect(303);
        assert_ne!(planted.cookie, browser.cookie);
        assert_ne!(form_token(&browser.get("/admin").await.expect(200)), before);
        let _ = planted.clone().get("/admin").await.expect(303);
    }

    async fn altered_cookie_is_refused(setup) {
        let app = setup.start().await;
        let browser = staff(&app).await;
        let _ = browser.clone().get("/admin").await.expect(200);
        for at in [browser.cookie.len() / 4, browser.cookie.len() / 2, browser.cookie.len() - 2] {
            let mut forged = browser.clone();
            let other = if forged.cookie.as_bytes()[at] == b'a' { "b" } else { "a" };
            forged.cookie.replace_range(at..=at, other);
            let _ = forged.get("/admin").await.expect(303);
        }
        let mut none = browser.clone();
        none.cookie = "docent_session=".to_owned();
        let _ = none.get("/admin").await.expect(303);
    }

    async fn session_ends_after_thirty_idle_minutes(setup) {
        let app = setup.start().await;
        let mut browser = staff(&app).await;
        for _ in 0..3 {
            app.advance(minutes(29));
            let _ = browser.get("/admin").await.expect(200);
        }
        app.advance(minutes(31));
        let _ = browser.get("/admin").await.expect(303);
    }

    async fn session_ends_after_twelve_hours_of_use(setup) {
        let app = setup.start().await;
        let mut browser = staff(&app).await;
        for _ in 0..35 {
            app.advance(minutes(20));
            let _ = browser.get("/admin").await.expect(200);
        }
        app.advance(minutes(20));
        let _ = browser.get("/admin").await.expect(303);
    }

    /// The cookie has an end, and is given it again with each change.
    async fn person_who_stays_signed_in_comes_back_after_weeks(setup) {
        let app = setup.start().await;
        app.account(EMAIL, STAFF).await;
        let mut browser = Browser::new(&app);
        let token = form_token(&browser.get("/account/login").await);
        let fields = [("form_token", token.as_str()), ("email", EMAIL), ("password", PASSWORD), ("stay", "on")];
        let reply = browser.post("/account/login", &fields).await.expect(303);
        let cookie = reply.header("set-cookie");
        assert!(cookie.ends_with("; Max-Age=2592000") && cookie.matches("Max-Age").count() == 1, "{cookie}");
        for _ in 0..5 {
            app.advance(minutes(5 * 24 * 60));
            let _ = browser.get("/account").await.expect(200);
        }
        // The panel needs a proof of identity after twelve hours.
        let reply = browser.get("/admin").await.expect(303);
        assert_eq!(reply.header("location"), "/account/confirm?next=%2Fadmin");
        let page = browser.get("/account/confirm?next=%2Fadmin").await.expect(200);
        let fields = [("form_token", form_token(&page)), ("proof", PASSWORD.to_owned()), ("next", "/admin".to_owned())];
        let fields = fields.each_ref().map(|(name, value)| (*name, value.as_str()));
        let reply = browser.post("/account/confirm", &fields).await.expect(303);
        assert_eq!(reply.header("location"), "/admin");
        let _ = browser.get("/admin").await.expect(200);
        // A new password starts another session, which lasts as well.
        let token = form_token(&browser.get("/account/password").await);
        let new = "correct horse battery staple";
        let fields = [("form_token", token.as_str()), ("present", PASSWORD), ("password", new), ("again", new)];
        let reply = browser.post("/account/password", &fields).await.expect(303);
        assert!(reply.header("set-cookie").ends_with("; Max-Age=2592000"));
        app.advance(minutes(29 * 24 * 60));
        let _ = browser.get("/account").await.expect(200);
        app.advance(minutes(2 * 24 * 60));
        let _ = browser.get("/account").await.expect(303);
    }

    async fn copied_cookie_after_logout_is_refused(setup) {
        let app = setup.start().await;
        let mut browser = staff(&app).await;
        let mut thief = browser.clone();
        let _ = thief.get("/admin").await.expect(200);
        let token = form_token(&browser.get("/admin").await);
        let _ = browser.post("/admin/logout", &[("form_token", &token)]).await.expect(303);
        let _ = thief.get("/admin").await.expect(303);
    }

    async fn logout_ends_the_session(setup) {
        let app = setup.start().await;
        let mut browser = staff(&app).await;
        let token = form_token(&browser.get("/admin").await);
        let _ = browser.post("/admin/logout", &[("form_token", "x")]).await.expect(403);
        let _ = browser.get("/admin").await.expect(200);
        let reply = browser.post("/admin/logout", &[("form_token", &token)]).await.expect(303);
        assert_eq!(reply.header("location"), "/admin/login");
        assert_eq!(browser.cookie, "");
        let _ = browser.get("/admin").await.expect(303);
        let _ = browser.get("/admin/logout").await.expect(405);
    }

    async fn losing_staff_status_closes_the_panel(setup) {
        let app = setup.start().await;
        let mut browser = staff(&app).await;
        let mut work = app.ports.store.begin().await.unwrap();
        let email = docent_domain::text::Email::parse(EMAIL).unwrap();
        let mut user = work.users().by_email(&email).await.unwrap().unwrap();
        user.is_staff = false;
        work.users().update(&user).await.unwrap();
        work.commit().await.unwrap();
        let _ = browser.get("/admin").await.expect(303);
        let account = browser.get("/account").await.expect(200).text;
        assert!(account.contains(">Chat</a>") && !account.contains("Admin panel"), "{account}");
    }

    async fn deactivation_ends_the_session(setup) {
        let app = setup.start().await;
        let mut browser = staff(&app).await;
        let email = docent_domain::text::Email::parse(EMAIL).unwrap();
        let user = app.ports.store.read().await.unwrap().users().by_email(&email).await.unwrap().unwrap();
        app.deactivate(user.id).await;
        let _ = browser.get("/admin/documents").await.expect(303);
    }
}
