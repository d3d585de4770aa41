//! Signing in to the account pages: `/account/login`.

use super::{ADA, ada, at_account};
use docent_app::accounts::create::Flags;
use docent_tests::app::PASSWORD;
use docent_tests::browser::{Browser, form_token};
use docent_tests::member::Member;
use docent_tests::rules;

const STAFF: Flags = Flags { is_staff: true, is_superuser: false };

rules! {
    async fn any_active_account_can_sign_in_and_only_staff_reach_the_panel(setup) {
        let app = setup.start().await;
        let (mut ada, _) = ada(&app).await;
        let page = ada.get("/account").await.expect(200).text;
        assert!(page.contains(ADA) && !page.contains("Admin panel") && !page.contains("Effective permissions"), "{page}");
        let reply = ada.get("/admin").await.expect(303);
        assert_eq!(reply.header("location"), "/admin/login");
        let _ = ada.get("/account").await.expect(200);
        app.account("staff@example.org", STAFF).await;
        let mut staff = at_account(&app, "staff@example.org").await;
        assert!(staff.get("/account").await.expect(200).text.contains("Admin panel"));
        assert!(staff.get("/admin").await.expect(200).text.contains("Dashboard"), "one session for both");
    }

    async fn wrong_password_unknown_and_inactive_account_get_the_same_page(setup) {
        let app = setup.start().await;
        let (_, user) = ada(&app).await;
        app.account("inactive@example.org", Flags::default()).await;
        app.account("other@example.org", Flags::default()).await;
        app.deactivate(user.id).await;
        let mut pages = Vec::new();
        for (email, password) in [(ADA, PASSWORD), ("other@example.org", "wrong"), ("unknown@example.org", PASSWORD)] {
            let page = Browser::new(&app).login_at("/account/login", email, password).await.expect(401);
            let token = form_token(&page);
            pages.push(page.text.replace(email, "").replace(&token, ""));
        }
        assert!(pages.iter().all(|page| *page == pages[0]));
    }

    async fn account_page_without_a_session_redirects_to_its_login(setup) {
        let app = setup.start().await;
        app.account(ADA, Flags::default()).await;
        let mut browser = Browser::new(&app);
        let reply = browser.get("/account/sessions").await.expect(303);
        let login = reply.header("location").to_owned();
        assert_eq!(login, "/account/login?next=%2Faccount%2Fsessions");
        let token = form_token(&browser.get(&login).await.expect(200));
        let submit = [("form_token", token.as_str()), ("email", ADA), ("password", PASSWORD)];
        let reply = browser.post("/account/login", &[&submit[..], &[("next", "/admin")]].concat()).await.expect(303);
        assert_eq!(reply.header("location"), "/account", "a page of the area alone");
        assert!(app.get("/account/nothing").await.expect(404).text.contains("Page not found"));
    }

    async fn bearer_token_and_api_key_do_not_open_the_account_pages(setup) {
        let app = setup.api_keys().start().await;
        let user = app.account(ADA, Flags::default()).await;
        let key = app.api_key(user.id, &["read", "admin"]).await.key;
        let member = Member::login(&app, user).await;
        let _ = member.get("/account").await.expect(303);
        let _ = app.send(app.request(reqwest::Method::GET, "/account").bearer_auth(key)).await.expect(303);
    }

    async fn signing_out_ends_the_session_for_both_areas(setup) {
        let app = setup.start().await;
        app.account("staff@example.org", STAFF).await;
        let mut staff = at_account(&app, "staff@example.org").await;
        let mut copy = staff.clone();
        let token = form_token(&staff.get("/account").await.expect(200));
        let _ = staff.post("/account/logout", &[("form_token", "x")]).await.expect(403);
        let reply = staff.post("/account/logout", &[("form_token", &token)]).await.expect(303);
        assert_eq!((reply.header("location"), staff.cookie.as_str()), ("/account/login", ""));
        let _ = copy.clone().get("/account").await.expect(303);
        let _ = copy.get("/admin").await.expect(303);
    }
}
