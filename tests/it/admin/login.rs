//! Signing in to the panel: `/admin/login`.

use docent_app::accounts::create::Flags;
use docent_domain::audit::AuditAction;
use docent_domain::listing::AuditFilter;
use docent_tests::app::PASSWORD;
use docent_tests::browser::{Browser, form_token};
use docent_tests::rules;

const STAFF: Flags = Flags { is_staff: true, is_superuser: false };
const SUPERUSER: Flags = Flags { is_staff: false, is_superuser: true };
const WRONG: &str = "Invalid email or password.";

rules! {
    async fn staff_and_superusers_can_sign_in(setup) {
        let app = setup.start().await;
        for (email, flags) in [("staff@example.org", STAFF), ("super@example.org", SUPERUSER)] {
            app.account(email, flags).await;
            let mut browser = Browser::new(&app);
            let reply = browser.login(email, PASSWORD).await.expect(303);
            assert_eq!(reply.header("location"), "/admin");
            assert!(browser.get("/admin").await.expect(200).text.contains("Dashboard"));
        }
    }

    async fn account_without_panel_access_is_told_so_after_its_password(setup) {
        let app = setup.start().await;
        let user = app.account("plain@example.org", Flags::default()).await;
        let mut browser = Browser::new(&app);
        let page = browser.login("plain@example.org", PASSWORD).await.expect(403);
        assert!(page.text.contains("This account has no access to the panel."));
        assert!(page.text.contains("href=\"/chat\"") && !page.text.contains(WRONG));
        for path in ["/admin", "/account"] {
            let _ = browser.get(path).await.expect(303);
        }
        let failures = AuditFilter { action: Some(AuditAction::LoginFailed), ..AuditFilter::default() };
        let entry = app.audit(failures).await.remove(0);
        assert_eq!(entry.record, user.id.to_string());
        assert_eq!(entry.changes["reason"].after.as_deref(), Some("no access to the panel"));
    }

    async fn account_signed_in_elsewhere_reads_that_it_has_no_panel_access(setup) {
        let app = setup.start().await;
        app.account("plain@example.org", Flags::default()).await;
        app.account("staff@example.org", STAFF).await;
        let mut browser = Browser::new(&app);
        let _ = browser.login_at("/account/login", "plain@example.org", PASSWORD).await.expect(303);
        assert_eq!(browser.get("/admin").await.expect(303).header("location"), "/admin/login");
        assert!(browser.get("/admin/login").await.expect(200).text.contains("no access to the panel"));
        let _ = browser.get("/account").await.expect(200);
        let _ = browser.login("staff@example.org", PASSWORD).await.expect(303);
        assert!(!browser.get("/admin/login").await.expect(200).text.contains("no access to the panel"));
    }

    async fn wrong_password_does_not_show_who_is_staff(setup) {
        let app = setup.start().await;
        app.account("plain@example.org", Flags::default()).await;
        app.account("staff@example.org", STAFF).await;
        let mut pages = Vec::new();
        for (email, password) in
            [("plain@example.org", "wrong"), ("staff@example.org", "wrong"), ("unknown@example.org", PASSWORD)]
        {
            let mut browser = Browser::new(&app);
            let page = browser.login(email, password).await.expect(401);
            assert!(page.text.contains(WRONG));
            let token = form_token(&page);
            pages.push(page.text.replace(email, "").replace(&token, ""));
            let reply = browser.get("/admin").await.expect(303);
            assert_eq!(reply.header("location"), "/admin/login");
        }
        assert!(pages.iter().all(|page| *page == pages[0]));
    }

    async fn bearer_token_does_not_open_the_panel(setup) {
        let app = setup.start().await;
        let user = app.account("staff@example.org", STAFF).await;
        let member = docent_tests::member::Member::login(&app, user).await;
        let _ = member.get("/admin").await.expect(303);
    }

    async fn failed_sign_ins_are_rate_limited_with_the_api(setup) {
        let app = setup.start().await;
        app.account("staff@example.org", STAFF).await;
        let mut browser = Browser::new(&app);
        for _ in 0..10 {
            let _ = browser.login("staff@example.org", "wrong").await.expect(401);
        }
        let page = browser.login("staff@example.org", PASSWORD).await.expect(429);
        assert_eq!(page.header("retry-after"), "900");
        let _ = app.login("staff@example.org", PASSWORD).await.expect(429);
    }

    async fn sign_ins_without_access_are_rate_limited(setup) {
        let app = setup.start().await;
        app.account("plain@example.org", Flags::default()).await;
        let mut browser = Browser::new(&app);
        for _ in 0..10 {
            let _ = browser.login("plain@example.org", "wrong").await.expect(401);
        }
        let _ = browser.login("plain@example.org", PASSWORD).await.expect(429);
    }

    async fn sign_in_without_form_token_is_refused(setup) {
        let app = setup.start().await;
        app.account("staff@example.org", STAFF).await;
        let fields = [("email", "staff@example.org"), ("password", PASSWORD)];
        let mut browser = Browser::new(&app);
        let _ = browser.post("/admin/login", &fields).await.expect(403);
        let foreign = form_token(&Browser::new(&app).get("/admin/login").await);
        let fields = [("email", "staff@example.org"), ("password", PASSWORD), ("form_token", &foreign)];
        let _ = browser.post("/admin/login", &fields).await.expect(403);
        let _ = browser.get("/admin").await.expect(303);
    }

    async fn sign_in_redirects_to_the_requested_page(setup) {
        let app = setup.start().await;
        app.account("staff@example.org", STAFF).await;
        let mut browser = Browser::new(&app);
        let reply = browser.get("/admin/documents?status=failed").await.expect(303);
        let login = reply.header("location");
        assert_eq!(login, "/admin/login?next=%2Fadmin%2Fdocuments%3Fstatus%3Dfailed");
        let token = form_token(&browser.get(login).await.expect(200));
        let submit = [("form_token", token.as_str()), ("email", "staff@example.org"), ("password", PASSWORD)];
        let next = ("next", "/admin/documents?status=failed");
        let reply = browser.post("/admin/login", &[&submit[..], &[next]].concat()).await.expect(303);
        assert_eq!(reply.header("location"), "/admin/documents?status=failed");
        let token = form_token(&browser.get("/admin/login").await);
        let submit = [("form_token", token.as_str()), ("email", "staff@example.org"), ("password", PASSWORD)];
        let next = ("next", "https://evil.example/");
        let reply = browser.post("/admin/login", &[&submit[..], &[next]].concat()).await.expect(303);
        assert_eq!(reply.header("location"), "/admin");
    }

    async fn entered_email_is_escaped(setup) {
        let app = setup.start().await;
        let page = Browser::new(&app).login("\"><script>x</script>@x", "p").await.expect(401);
        assert!(!page.text.contains("<script>"), "{}", page.text);
    }
}
