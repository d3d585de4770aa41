//! Links for passwords and email addresses: `/admin/verifications`.

use super::{at_panel, between, staff, staff_account, staff_with, submit, superuser};
use docent_app::accounts::create::Flags;
use docent_domain::permission::Permission;
use docent_tests::app::{DATA, PASSWORD};
use docent_tests::rules;
use serde_json::json;

/// Returns the token of the link on a page that shows one.
fn token_of(page: &str) -> String {
    let link = between(page, "<code id=\"secret\">", "</code>");
    let (_, token) = link.rsplit_once('=').unwrap_or_default();
    assert!(token.len() > 40, "{page}");
    token.to_owned()
}

rules! {
    async fn password_reset_link_is_shown_once_and_works(setup) {
        let app = setup.start().await;
        let mut root = superuser(&app).await;
        let ada = staff_account(&app, "ada@example.org", &[]).await;
        assert!(root.get("/admin/verifications").await.expect(200).text.contains("No active links."));
        let id = ada.id.to_string();
        let page = root.get(&format!("/admin/users/{id}")).await.expect(200).text;
        assert!(page.contains("Create password reset link"), "{page}");
        let fields = [("user", id.as_str()), ("purpose", "reset_password")];
        let token = token_of(&submit(&mut root, "/admin/verifications/add", &fields).await.expect(200).text);
        let list = root.get("/admin/verifications?user=ada@example.org").await.expect(200).text;
        assert!(list.contains("password reset") && !list.contains(&token), "{list}");
        let body = json!({ "token": token, "password": "a better horse" });
        let _ = app.post("/auth/password-reset/confirm", body).await.expect(204);
        let _ = app.login("ada@example.org", "a better horse").await.expect(200);
        let _ = app.login("ada@example.org", PASSWORD).await.expect(401);
        assert!(root.get("/admin/verifications").await.expect(200).text.contains("No active links."));
    }

    async fn revoked_link_is_refused(setup) {
        let app = setup.start().await;
        let mut root = superuser(&app).await;
        let ada = staff_account(&app, "ada@example.org", &[]).await.id.to_string();
        let fields = [("user", ada.as_str()), ("purpose", "reset_password")];
        let token = token_of(&submit(&mut root, "/admin/verifications/add", &fields).await.expect(200).text);
        let list = root.get("/admin/verifications").await.expect(200).text;
        let id = between(&list, "action=\"/admin/verifications/", "/revoke\"");
        let revoke = format!("/admin/verifications/{id}/revoke");
        let _ = root.post(&revoke, &[("form_token", "x")]).await.expect(403);
        let _ = submit(&mut root, &revoke, &[]).await.expect(303);
        let body = json!({ "token": token, "password": "a better horse" });
        let _ = app.post("/auth/password-reset/confirm", body).await.expect(400);
        let _ = submit(&mut root, &revoke, &[]).await.expect(303);
        let list = root.get("/admin/verifications").await.expect(200).text;
        assert!(list.contains("The link was already used or had expired."), "{list}");
    }

    async fn links_require_their_permissions(setup) {
        let app = setup.start().await;
        let mut staff = staff_with(&app, &[Permission::ViewUser, Permission::ViewVerification]).await;
        let ada = staff_account(&app, "ada@example.org", &[]).await.id.to_string();
        let page = staff.get(&format!("/admin/users/{ada}")).await.expect(200).text;
        assert!(!page.contains("/admin/verifications/add"), "{page}");
        let _ = staff.get("/admin/verifications").await.expect(200);
        let fields = [("user", ada.as_str()), ("purpose", "reset_password")];
        let _ = submit(&mut staff, "/admin/verifications/add", &fields).await.expect(403);
        let revoke = format!("/admin/verifications/{ada}/revoke");
        let _ = submit(&mut staff, &revoke, &[]).await.expect(403);

        staff_account(&app, "none@example.org", &[]).await;
        let mut other = at_panel(&app, "none@example.org").await;
        let _ = other.get("/admin/verifications").await.expect(403);
    }

    async fn link_for_an_account_with_more_permissions_is_refused(setup) {
        let app = setup.start().await;
        let rights = [Permission::ViewUser, Permission::AddVerification];
        let (mut staff, member) = staff(&app, &[&rights, DATA].concat()).await;
        let more = staff_account(&app, "more@example.org", &[Permission::ViewUsage]).await.id.to_string();
        let page = staff.get(&format!("/admin/users/{more}")).await.expect(200).text;
        assert!(!page.contains("Create password reset link"), "{page}");
        let fields = [("user", more.as_str()), ("purpose", "reset_password")];
        let _ = submit(&mut staff, "/admin/verifications/add", &fields).await.expect(403);
        let fields = [("user", more.as_str()), ("purpose", "become_root")];
        let _ = submit(&mut staff, "/admin/verifications/add", &fields).await.expect(404);
        // Nor is one for an account without permissions, whose documents the staff may not see.
        app.permit(member.user.id, &[&rights, &DATA[1..]].concat()).await;
        let plain = app.account("plain@example.org", Flags::default()).await.id.to_string();
        let page = staff.get(&format!("/admin/users/{plain}")).await.expect(200).text;
        assert!(!page.contains("Create password reset link") && page.contains("Create verification link"), "{page}");
        let fields = [("user", plain.as_str()), ("purpose", "reset_password")];
        let refusal = submit(&mut staff, "/admin/verifications/add", &fields).await.expect(403).text;
        assert!(refusal.contains("you lack the permissions documents.view_document"), "{refusal}");
    }

    async fn owner_is_told_of_a_password_reset_link_by_staff(setup) {
        let app = setup.start().await;
        let mut staff = staff_with(&app, &[&[Permission::ViewUser, Permission::AddVerification], DATA].concat()).await;
        let ada = app.account("ada@example.org", Flags::default()).await.id.to_string();
        let fields = [("user", ada.as_str()), ("purpose", "reset_password")];
        let token = token_of(&submit(&mut staff, "/admin/verifications/add", &fields).await.expect(200).text);
        let notice = app.mails().await.pop().unwrap();
        assert_eq!(notice.to.as_str(), "ada@example.org");
        assert!(notice.text.starts_with("staff@example.org created a link") && !notice.text.contains(&token), "{}", notice.text);
    }
}
