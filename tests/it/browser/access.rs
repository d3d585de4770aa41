//! Groups, permissions and API keys.

use super::{journey, journey_with, superuser, superuser_journey};
use docent_tests::app::PASSWORD;
use docent_tests::chromium::Chromium;
use reqwest::Method;
use serde_json::json;

/// Returns the labels of the menu.
async fn menu(window: &Chromium) -> Vec<String> {
    window.texts("nav[aria-label=Panel] a").await
}

/// Ticks the box of this value in a picker.
async fn tick(window: &Chromium, picker: &str, value: &str) {
    window.click(&format!("#{picker} input[value='{value}']")).await;
}

#[tokio::test]
async fn group_permissions_determine_menu_and_actions() {
    superuser_journey(async |app, window| {
        assert_eq!(menu(window).await.len(), 20);
        window.goto("/admin/groups/add").await;
        window.fill("name", "Librarians").await;
        for permission in ["documents.view_document", "documents.delete_document"] {
            tick(window, "permissions", permission).await;
        }
        window.press("Create group").await;
        window.see("Librarians").await;
        window.arrive("/admin/groups").await;

        window.goto("/admin/users/add").await;
        window.fill("email", "lib@example.org").await;
        window.fill("password", PASSWORD).await;
        window.click("#is_staff").await;
        window.press("Librarians").await;
        window.press("Create account").await;
        window.see("lib@example.org").await;
        window.press("Sign out").await;
        window.arrive("/admin/login").await;

        window.login("lib@example.org").await;
        let sections = ["Dashboard", "Documents", "Collections", "Try a search", "Chat", "Your account"];
        assert_eq!(menu(window).await, sections);
        assert!(!window.text().await.contains("Jobs waiting"));
        window.goto("/admin/users").await;
        window.see("403").await;
        window.goto("/admin/documents").await;
        assert!(!window.text().await.contains("Upload documents"));
        app.ada().await.add("a.pdf", b"no pdf".to_vec()).await;
        app.run_jobs().await;
        window.goto("/admin/documents").await;
        window.click("tbody input[type=checkbox]").await;
        window.see("Delete…").await;
        assert!(!window.text().await.contains("Retry ingestion…"));
    })
    .await;
}

#[tokio::test]
async fn api_key_is_shown_once_and_works_until_revoked() {
    journey_with(
        |setup| setup.api_keys(),
        async |app, window| {
            superuser(app, window).await;
            window.goto("/admin/api-keys/add").await;
            window.see("Every account may, without any permission, use the chat").await;
            window.fill("name", "Nightly import").await;
            tick(window, "scopes", "read").await;
            window.press("Create key").await;
            window.see("It will not be shown again").await;
            let secret = window.find("#secret").await.text().await.unwrap();
            let ask = |path: &str| app.request(Method::GET, path).bearer_auth(&secret);
            let _ = app.send(ask("/documents")).await.expect(200);
            let refused = app.request(Method::POST, "/documents").bearer_auth(&secret);
            let _ = app.send(refused.json(&json!({ "title": "t" }))).await.expect(403);

            window.goto("/admin/api-keys").await;
            assert!(!window.text().await.contains(&secret));
            window.press("Nightly import").await;
            window.see("just now").await;
            window.see("read List, read and search documents").await;
            window.press("Revoke…").await;
            window.click("main button.danger").await;
            window.see("revoked").await;
            let _ = app.send(ask("/documents")).await.expect(401);
        },
    )
    .await;
}

#[tokio::test]
async fn invalid_form_shows_field_errors_and_keeps_input() {
    superuser_journey(async |_, window| {
        window.goto("/admin/users/add").await;
        window.fill("email", "no address").await;
        window.fill("password", "short").await;
        window.click("#is_staff").await;
        tick(window, "permissions", "documents.view_document").await;
        window.press("Create account").await;
        window.see("Please fix these errors:").await;
        for field in ["email", "password"] {
            window.find(&format!("#{field}[aria-invalid=true]")).await;
            window.find(&format!("#{field}-notes .error")).await;
            assert!(window.has(&format!(".alert a[href='#{field}']")).await);
        }
        assert_eq!(window.run("return document.activeElement.id", vec![]).await, json!("email"));
        let submit = "const event = () => new Event('submit', { bubbles: true, cancelable: true });
            return [1, 2].map(() => document.getElementById('email').form.dispatchEvent(event()))";
        assert_eq!(window.run(submit, vec![]).await, json!([true, false]), "a second press does nothing");
        let email = window.find("#email").await;
        assert_eq!(email.prop("value").await.unwrap().as_deref(), Some("no address"));
        for kept in ["#is_staff", "#permissions input[value='documents.view_document']"] {
            assert!(window.find(kept).await.is_selected().await.unwrap(), "{kept}");
        }
    })
    .await;
}

#[tokio::test]
async fn permissions_can_be_chosen_without_scripts() {
    journey(async |app, window| {
        window.devtools("Emulation.setScriptExecutionDisabled", json!({ "value": true })).await;
        superuser(app, window).await;
        window.goto("/admin/groups/add").await;
        assert!(!window.has(".pane").await, "scripts run");
        window.see("Every account may, without any permission, use the chat").await;
        window.see("Upload documents in the panel.").await;
        window.fill("name", "Librarians").await;
        tick(window, "permissions", "documents.view_document").await;
        window.press("Create group").await;
        window.arrive("/admin/groups").await;
        window.goto("/admin/groups").await;
        assert_eq!(window.texts("tbody td").await[..3], ["Librarians", "0", "1"]);
    })
    .await;
}
