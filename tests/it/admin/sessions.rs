//! The list of sessions: `/admin/sessions`.

use super::{at_panel, between, staff_account, staff_with, submit, superuser};
use docent_domain::fault::FaultKind;
use docent_domain::permission::Permission;
use docent_tests::browser::Browser;
use docent_tests::member::Member;
use docent_tests::rules;
use serde_json::json;
use std::time::Duration;

/// Returns the path that revokes the first active session of a list.
async fn first_revoke_path(browser: &mut Browser, query: &str) -> String {
    let list = browser.get(&format!("/admin/sessions?{query}")).await.expect(200).text;
    let id = between(&list, "action=\"/admin/sessions/", "/revoke\"");
    assert_eq!(id.len(), 36, "{list}");
    format!("/admin/sessions/{id}/revoke")
}

rules! {
    async fn revoked_session_is_refused_immediately(setup) {
        let app = setup.start().await;
        let mut root = superuser(&app).await;
        staff_account(&app, "ada@example.org", &[]).await;
        let mut ada = at_panel(&app, "ada@example.org").await;
        let revoke = first_revoke_path(&mut root, "user=ada@example.org&state=good").await;
        let _ = root.post(&revoke, &[("form_token", "x")]).await.expect(403);
        let _ = ada.get("/admin").await.expect(200);
        let reply = submit(&mut root, &revoke, &[("back", "/admin/sessions")]).await.expect(303);
        assert_eq!(reply.header("location"), "/admin/sessions");
        let _ = ada.get("/admin").await.expect(303);
        let list = root.get("/admin/sessions?user=ada@example.org").await.expect(200).text;
        assert!(list.contains(">ended<") && !list.contains("/revoke\""), "{list}");
        assert!(root.get("/admin/sessions?user=ada@example.org&state=good").await.text.contains("No matching sessions."));
        let reply = submit(&mut root, &revoke, &[("back", "https://evil.example/")]).await.expect(303);
        assert_eq!(reply.header("location"), "/admin");
    }

    async fn idle_session_is_listed_as_expired(setup) {
        let app = setup.start().await;
        let mut root = superuser(&app).await;
        staff_account(&app, "ada@example.org", &[]).await;
        let _ada = at_panel(&app, "ada@example.org").await;
        for _ in 0..2 {
            app.advance(Duration::from_secs(20 * 60));
            let _ = root.get("/admin").await.expect(200);
        }
        let good = root.get("/admin/sessions?state=good").await.expect(200).text;
        assert!(good.contains("1–1 of 1") && !good.contains("ada@example.org"), "{good}");
        let all = root.get("/admin/sessions?user=ada@example.org").await.expect(200).text;
        assert!(all.contains(">expired<"), "{all}");
    }

    async fn revoked_api_session_cannot_refresh(setup) {
        let app = setup.start().await;
        let mut root = superuser(&app).await;
        let user = staff_account(&app, "ada@example.org", &[]).await;
        let ada = Member::login(&app, user).await;
        let revoke = first_revoke_path(&mut root, "kind=api").await;
        app.faults.tokens.fail_all(FaultKind::Unavailable);
        let page = submit(&mut root, &revoke, &[]).await.expect(503);
        assert!(page.header("content-type").starts_with("text/html"));
        app.faults.tokens.clear();
        assert!(root.get("/admin/sessions?kind=api&state=good").await.text.contains("ada@example.org"), "the session is still active");
        let _ = submit(&mut root, &revoke, &[]).await.expect(303);
        let _ = app.post("/auth/refresh", json!({ "refresh_token": ada.refresh })).await.expect(401);
    }

    async fn ending_all_sessions_of_an_account_revokes_each(setup) {
        let app = setup.start().await;
        let mut root = superuser(&app).await;
        let user = staff_account(&app, "ada@example.org", &[]).await;
        let ada = Member::login(&app, user.clone()).await;
        let mut one = at_panel(&app, "ada@example.org").await;
        let mut other = at_panel(&app, "ada@example.org").await;
        app.advance(std::time::Duration::from_secs(2));
        let page = format!("/admin/users/{}", user.id);
        assert!(root.get(&page).await.expect(200).text.contains("End all sessions"));
        let _ = submit(&mut root, &format!("{page}/end-sessions"), &[("back", &page)]).await.expect(303);
        let _ = one.get("/admin").await.expect(303);
        let _ = other.get("/admin").await.expect(303);
        let _ = app.post("/auth/refresh", json!({ "refresh_token": ada.refresh })).await.expect(401);
        let _ = ada.get("/documents").await.expect(401);
        let _ = root.get("/admin").await.expect(200);
        assert!(root.get(&page).await.expect(200).text.contains("No active sessions."));
    }

    async fn sessions_of_other_accounts_require_permission(setup) {
        let app = setup.start().await;
        let mut root = superuser(&app).await;
        staff_account(&app, "ada@example.org", &[]).await;
        let mut ada = at_panel(&app, "ada@example.org").await;
        let revoke = first_revoke_path(&mut root, "user=ada@example.org").await;
        let mut staff = staff_with(&app, &[]).await;
        let _ = staff.get("/admin/sessions").await.expect(403);
        let _ = submit(&mut staff, &revoke, &[]).await.expect(403);
        staff_account(&app, "viewer@example.org", &[Permission::ViewSession]).await;
        let mut viewer = at_panel(&app, "viewer@example.org").await;
        let list = viewer.get("/admin/sessions?user=ada@example.org").await.expect(200).text;
        assert!(list.contains("127.0.0.1") && !list.contains("/revoke\"") && !list.contains("End all"), "{list}");
        let _ = submit(&mut viewer, &revoke, &[]).await.expect(403);
        let _ = ada.get("/admin").await.expect(200);
    }

    async fn revoking_the_current_session_signs_out(setup) {
        let app = setup.start().await;
        let mut staff = staff_with(&app, &[]).await;
        let account = staff.get("/account/sessions").await.expect(200).text;
        assert!(account.contains("this device"));
        let id = between(&account, "action=\"/account/sessions/", "/revoke\"").to_owned();
        let reply = submit(&mut staff, &format!("/admin/sessions/{id}/revoke"), &[]).await.expect(303);
        assert_eq!(reply.header("location"), "/admin/login");
        let _ = staff.get("/admin").await.expect(303);
    }
}
