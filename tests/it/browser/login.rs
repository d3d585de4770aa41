//! Signing in to the panel, sessions and signing out.

use super::{ROOT, journey, journey_with, superuser_journey};
use docent_app::accounts::create::Flags;
use docent_tests::app::PASSWORD;
use docent_tests::chromium::Chromium;
use serde_json::json;

const STAFF: &str = "staff@example.org";

/// Checks that the dashboard redirects to the login page.
async fn assert_signed_out(window: &Chromium) {
    window.goto("/admin").await;
    assert_eq!(window.path().await, "/admin/login");
}

#[tokio::test]
async fn sign_in_opens_the_requested_page_and_sign_out_ends_the_session() {
    journey(async |app, window| {
        app.account(ROOT, Flags { is_staff: true, is_superuser: true }).await;
        window.goto("/admin/documents?status=failed").await;
        window.submit_login(ROOT, PASSWORD).await;
        window.arrive("/admin/documents?status=failed").await;
        window.press("Sign out").await;
        window.arrive("/admin/login").await;
        assert_signed_out(window).await;
    })
    .await;
}

#[tokio::test]
async fn wrong_passwords_are_rate_limited() {
    journey_with(
        |setup| setup.settings(|settings| settings.login_max_failures = 3),
        async |app, window| {
            app.account(STAFF, Flags { is_staff: true, is_superuser: false }).await;
            window.goto("/admin/login").await;
            for _ in 0..3 {
                window.submit_login(STAFF, "wrong").await;
                window.see("Invalid email or password.").await;
                assert_eq!(window.find("#email").await.prop("value").await.unwrap().as_deref(), Some(STAFF));
            }
            window.submit_login(STAFF, PASSWORD).await;
            window.see("Please wait before trying again.").await;
            assert_signed_out(window).await;
        },
    )
    .await;
}

#[tokio::test]
async fn form_without_valid_token_is_refused() {
    superuser_journey(async |_, window| {
        let forge = "document.querySelector('main [name=form_token]').value = arguments[0]";
        let drop = "document.querySelector('main [name=form_token]').remove()";
        // As long as a valid token, so that only its value is wrong.
        let foreign = "0123456789abcdef".repeat(4);
        for (script, arguments) in [(drop, vec![]), (forge, vec![json!(foreign)])] {
            window.goto("/admin/groups/add").await;
            window.fill("name", "Of another site").await;
            window.run(script, arguments).await;
            window.press("Create group").await;
            window.see("403").await;
        }
        window.goto("/admin/groups").await;
        window.see("No groups yet.").await;
    })
    .await;
}

#[tokio::test]
async fn altered_cookie_is_refused() {
    superuser_journey(async |_, window| {
        let valid = window.cookie().await.unwrap();
        // One character of the signature, which comes first, and one of the signed content.
        for at in [10, valid.len() - 10] {
            let other = if valid.as_bytes()[at] == b'a' { "b" } else { "a" };
            let mut forged = valid.clone();
            forged.replace_range(at..=at, other);
            window.set_cookie(&forged).await;
            assert_signed_out(window).await;
        }
        window.set_cookie(&valid).await;
        window.goto("/admin").await;
        window.see("Dashboard").await;
    })
    .await;
}

#[tokio::test]
async fn expired_cookie_is_refused() {
    superuser_journey(async |app, window| {
        let cookie = window.cookie().await.unwrap();
        app.advance(std::time::Duration::from_secs(31 * 60));
        window.set_cookie(&cookie).await;
        assert_signed_out(window).await;
    })
    .await;
}

#[tokio::test]
async fn copied_cookie_after_logout_is_refused() {
    superuser_journey(async |_, window| {
        let stolen = window.cookie().await.unwrap();
        window.press("Sign out").await;
        window.arrive("/admin/login").await;
        window.set_cookie(&stolen).await;
        assert_signed_out(window).await;
    })
    .await;
}

#[tokio::test]
async fn cookie_is_not_readable_by_scripts() {
    superuser_journey(async |_, window| {
        assert!(window.cookie().await.is_some());
        assert_eq!(window.run("return document.cookie", vec![]).await, json!(""));
    })
    .await;
}

#[tokio::test]
async fn account_without_panel_access_reads_so_and_opens_the_chat() {
    journey(async |app, window| {
        app.account("plain@example.org", Flags::default()).await;
        window.goto("/admin").await;
        window.submit_login("plain@example.org", PASSWORD).await;
        window.see("This account has no access to the panel.").await;
        window.press("chat").await;
        window.arrive("/account/login?next=%2Fchat").await;
        window.submit_login("plain@example.org", PASSWORD).await;
        window.arrive("/chat").await;
    })
    .await;
}
