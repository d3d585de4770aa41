//! Getting in, staying and getting out.

use super::{ROOT, journey, superuser};
use docent_app::accounts::create::Flags;
use docent_tests::{app::PASSWORD, chromium::Chromium};
use serde_json::json;

const STAFF: &str = "staff@example.org";

/// Opens the dashboard and lands before the door.
async fn is_out(window: &Chromium) {
    window.goto("/admin").await;
    assert_eq!(window.path().await, "/admin/login");
}

#[tokio::test]
async fn a_login_leads_to_the_page_that_was_asked_for_and_a_logout_out() {
    journey(
        |setup| setup,
        async |app, window| {
            app.account(ROOT, Flags { is_staff: true, is_superuser: true }).await;
            window.goto("/admin/documents?status=failed").await;
            window.submit_login(ROOT, PASSWORD).await;
            window.arrive("/admin/documents?status=failed").await;
            window.press("Sign out").await;
            window.arrive("/admin/login").await;
            is_out(window).await;
        },
    )
    .await;
}

#[tokio::test]
async fn wrong_passwords_are_throttled() {
    journey(
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
            is_out(window).await;
        },
    )
    .await;
}

#[tokio::test]
async fn a_form_without_its_token_or_with_a_foreign_one_is_refused() {
    journey(
        |setup| setup,
        async |app, window| {
            superuser(app, window).await;
            let forge = "document.querySelector('main [name=form_token]').value = arguments[0]";
            let drop = "document.querySelector('main [name=form_token]').remove()";
            // As long as a good one, so that its value alone is what is wrong.
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
        },
    )
    .await;
}

#[tokio::test]
async fn a_cookie_that_was_tampered_with_opens_nothing() {
    journey(
        |setup| setup,
        async |app, window| {
            superuser(app, window).await;
            let good = window.cookie().await.unwrap();
            // A sign of the signature, which comes first, and one of what is signed.
            for at in [10, good.len() - 10] {
                let other = if good.as_bytes()[at] == b'a' { "b" } else { "a" };
                let mut forged = good.clone();
                forged.replace_range(at..=at, other);
                window.set_cookie(&forged).await;
                is_out(window).await;
            }
            window.set_cookie(&good).await;
            window.goto("/admin").await;
            window.see("Dashboard").await;
        },
    )
    .await;
}

#[tokio::test]
async fn an_expired_cookie_opens_nothing() {
    journey(
        |setup| setup,
        async |app, window| {
            superuser(app, window).await;
            let cookie = window.cookie().await.unwrap();
            app.advance(std::time::Duration::from_secs(31 * 60));
            window.set_cookie(&cookie).await;
            is_out(window).await;
        },
    )
    .await;
}

#[tokio::test]
async fn a_cookie_stolen_before_the_logout_opens_nothing_after_it() {
    journey(
        |setup| setup,
        async |app, window| {
            superuser(app, window).await;
            let stolen = window.cookie().await.unwrap();
            window.press("Sign out").await;
            window.arrive("/admin/login").await;
            window.set_cookie(&stolen).await;
            is_out(window).await;
        },
    )
    .await;
}

#[tokio::test]
async fn scripts_cannot_read_the_cookie() {
    journey(
        |setup| setup,
        async |app, window| {
            superuser(app, window).await;
            assert!(window.cookie().await.is_some());
            assert_eq!(window.run("return document.cookie", vec![]).await, json!(""));
        },
    )
    .await;
}
