//! Connected applications: `/account/applications`, the panel, and what ends them.

use super::{Case, is_error, use_mcp};
use crate::account::at_account;
use crate::admin::{at_panel, between, submit};
use docent_app::accounts::create::Flags;
use docent_domain::permission::Permission;
use docent_tests::app::PASSWORD;
use docent_tests::rules;

/// The path that disconnects the first application of the list.
fn disconnect_path(list: &str) -> String {
    let id = between(list, "<a href=\"/account/applications/", "/disconnect\"");
    format!("/account/applications/{id}/disconnect")
}

rules! {
    async fn account_lists_and_disconnects_its_applications(setup) {
        let mut case = Case::new(setup.start().await).await;
        assert!(case.browser.get("/account/applications").await.expect(200).text.contains("No connected applications yet."));
        let (access, refresh) = case.connect().await;
        let list = case.browser.get("/account/applications").await.expect(200).text;
        assert!(list.contains("&lt;b&gt;Reader") && list.contains("never") && list.contains("read"), "{list}");
        let _ = use_mcp(&case.app, &access).await.expect(200);
        let list = case.browser.get("/account/applications").await.expect(200).text;
        assert!(!list.contains("never"), "{list}");
        assert!(case.browser.get("/account/api-keys").await.expect(200).text.contains("No API keys yet."));
        let path = disconnect_path(&list);
        assert!(case.browser.get(&path).await.expect(200).text.contains("Disconnect this application?"));
        let _ = case.browser.post(&path, &[("form_token", "x")]).await.expect(403);
        let _ = use_mcp(&case.app, &access).await.expect(200);
        let mut other = case.browser.clone();
        case.app.account("bob@example.org", Flags::default()).await;
        other.cookie = at_account(&case.app, "bob@example.org").await.cookie;
        let _ = submit(&mut other, &path, &[]).await.expect(404);
        let _ = submit(&mut case.browser, &path, &[]).await.expect(303);
        let _ = use_mcp(&case.app, &access).await.expect(401);
        is_error(&case.refresh(&refresh, &[]).await, "invalid_grant");
        let list = case.browser.get("/account/applications").await.expect(200).text;
        assert!(list.contains("revoked") && !list.contains("/disconnect\""), "{list}");
    }

    async fn staff_who_manage_keys_see_and_disconnect_applications(setup) {
        let mut case = Case::new(setup.start().await).await;
        let (access, _) = case.connect().await;
        let staff = case.app.account("staff@example.org", Flags { is_staff: true, is_superuser: false }).await;
        case.app.permit(staff.id, &[Permission::ViewApiKey, Permission::DeleteApiKey]).await;
        let mut panel = at_panel(&case.app, "staff@example.org").await;
        let list = panel.get("/admin/api-keys?kind=application").await.expect(200).text;
        assert!(list.contains("&lt;b&gt;Reader") && list.contains(&case.client), "{list}");
        assert!(!panel.get("/admin/api-keys?kind=key").await.expect(200).text.contains("&lt;b&gt;Reader"));
        let id = between(&list, "class=\"row\" href=\"/admin/api-keys/", "\" dir=").to_owned();
        let page = panel.get(&format!("/admin/api-keys/{id}")).await.expect(200).text;
        assert!(page.contains(&case.client) && page.contains("(MCP)"), "{page}");
        let _ = submit(&mut panel, &format!("/admin/api-keys/{id}/revoke"), &[]).await.expect(303);
        let _ = use_mcp(&case.app, &access).await.expect(401);
    }

    async fn new_password_and_end_of_all_sessions_disconnect_applications(setup) {
        let mut case = Case::new(setup.start().await).await;
        let (access, refresh) = case.connect().await;
        let code = case.code().await;
        case.app.advance(std::time::Duration::from_secs(1));
        let fields = [("present", PASSWORD), ("password", "another correct horse"), ("again", "another correct horse")];
        let _ = submit(&mut case.browser, "/account/password", &fields).await.expect(303);
        let _ = use_mcp(&case.app, &access).await.expect(401);
        is_error(&case.refresh(&refresh, &[]).await, "invalid_grant");
        is_error(&case.exchange(&code, &[]).await, "invalid_grant");
        let (access, _) = case.connect().await;
        let token = docent_tests::browser::form_token(&case.browser.get("/account/sessions").await.expect(200));
        let _ = case.browser.post("/account/sessions/end-others", &[("form_token", &token)]).await.expect(303);
        let _ = use_mcp(&case.app, &access).await.expect(401);
    }

    async fn deactivation_and_deletion_end_the_access(setup) {
        let mut case = Case::new(setup.start().await).await;
        let (access, refresh) = case.connect().await;
        let code = case.code().await;
        case.app.deactivate(case.user.id).await;
        let _ = use_mcp(&case.app, &access).await.expect(401);
        is_error(&case.refresh(&refresh, &[]).await, "invalid_grant");
        is_error(&case.exchange(&code, &[]).await, "invalid_grant");

        let app = case.app.clone();
        let user = app.account("eve@example.org", Flags::default()).await;
        let browser = at_account(&app, "eve@example.org").await;
        let mut eve = Case { app, browser, user, client: case.client.clone() };
        let (access, refresh) = eve.connect().await;
        let _ = submit(&mut eve.browser, "/account/delete", &[("present", PASSWORD)]).await.expect(303);
        let _ = use_mcp(&eve.app, &access).await.expect(401);
        is_error(&eve.refresh(&refresh, &[]).await, "invalid_grant");
    }
}
