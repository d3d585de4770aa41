//! Signing in and out of the web chat, in several tabs, and the pages that share its session.

use super::chat::{ADA, ask, enter};
use super::inspection::Inspection;
use super::{journey, journey_with};
use docent_app::accounts::create::Flags;
use docent_domain::fault::FaultKind;
use docent_testkit::fakes::chat_model::Turn;
use docent_tests::app::PASSWORD;
use serde_json::json;

#[tokio::test]
async fn sign_in_holds_for_all_tabs_and_ends_in_all_at_sign_out() {
    journey_with(
        |setup| setup.always(Turn::saying("Yes.")),
        async |app, window| {
            app.account(ADA, Flags::default()).await;
            window.goto("/chat").await;
            window.submit_login(ADA, "wrong").await;
            window.see("Invalid email or password.").await;
            // The browser logs the refusal.
            window.console_errors().await;
            assert_eq!(window.find("#email").await.prop("value").await.unwrap().as_deref(), Some(ADA));
            let [first, second] = window.open_tab().await;
            window.goto("/chat").await;
            window.find("#email").await;
            window.switch_to(&first).await;
            window.fill("password", &format!("{PASSWORD}\n")).await;
            window.find("#question").await;
            let readable =
                "return [document.cookie, sessionStorage.length, Object.keys(localStorage).length]";
            assert_eq!(window.run(readable, vec![]).await, json!(["", 0, 0]));

            window.switch_to(&second).await;
            window.goto("/chat").await;
            window.see(ADA).await;
            app.advance(std::time::Duration::from_secs(20 * 60));
            ask(window, "Still there?").await;
            window.see("Yes.").await;
            window.see("Ask again").await;
            window.goto("/chat").await;
            window.find("#question").await;
            assert!(
                window.has("#panel[hidden]").await,
                "no link to the panel, which this account cannot open"
            );
            assert_eq!(window.console_errors().await, Vec::<String>::new());

            // Signed out in the first tab, the second one shows nothing of the account any more, and keeps the text until the next sign-in.
            window.fill("question", "A text of many words").await;
            window.switch_to(&first).await;
            window.press("Sign out").await;
            window.find("#email").await;
            window.switch_to(&second).await;
            window.run("dispatchEvent(new Event('focus'))", vec![]).await;
            window.see("Your session has ended. Sign in again.").await;
            assert!(!window.text().await.contains("Still there?"));
            window.press("Sign in").await;
            window.submit_login(ADA, PASSWORD).await;
            let text = window.find("#question").await.prop("value").await.unwrap();
            assert_eq!(text.as_deref(), Some("A text of many words"));
            let kept = window.run("return sessionStorage.length", vec![]).await;
            assert_eq!(kept, json!(0), "nothing of the account stays in the browser");

            // A tab that is signed out notices the sign-in of another one.
            window.switch_to(&first).await;
            window.goto("/chat").await;
            window.find("#question").await;
            window.set_cookie("ended").await;
            window.run("dispatchEvent(new Event('focus'))", vec![]).await;
            window.see("Your session has ended. Sign in again.").await;
            window.switch_to(&second).await;
            window.goto("/account/login").await;
            window.submit_login(ADA, PASSWORD).await;
            window.arrive("/account").await;
            window.switch_to(&first).await;
            window.run("document.dispatchEvent(new Event('visibilitychange'))", vec![]).await;
            window.see(ADA).await;
        },
    )
    .await;
}

#[tokio::test]
async fn staff_move_between_chat_account_and_panel_with_one_session() {
    journey(async |app, window| {
        app.account(ADA, Flags { is_staff: true, is_superuser: false }).await;
        window.goto("/").await;
        window.arrive("/account/login").await;
        window.submit_login(ADA, PASSWORD).await;
        window.arrive("/chat").await;
        window.find("#panel").await;
        let mut inspection = Inspection::begin(window, "light").await;
        inspection.inspect("chat-staff").await;
        inspection.assert_no_findings();
        window.click("#panel").await;
        window.see("Dashboard").await;
        window.press("Chat").await;
        window.see(ADA).await;
        window.click("#account").await;
        window.arrive("/account").await;
        let [first, second] = window.open_tab().await;
        window.goto("/admin").await;
        window.see("Dashboard").await;
        window.switch_to(&first).await;
        window.press("Sign out").await;
        window.arrive("/account/login").await;
        window.switch_to(&second).await;
        window.run("document.dispatchEvent(new Event('visibilitychange'))", vec![]).await;
        window.arrive("/admin/login").await;
        window.switch_to(&first).await;
        window.goto("/chat").await;
        window.find("#email").await;
        assert_eq!(window.console_errors().await, Vec::<String>::new());
    })
    .await;
}

#[tokio::test]
async fn failed_sign_out_says_that_the_session_continues() {
    journey(async |app, window| {
        enter(app, window).await;
        app.faults.database.all.fail_all(FaultKind::Unavailable);
        window.press("Sign out").await;
        window.see("You are still signed in. ").await;
        app.faults.database.all.clear();
        window.press("Sign out").await;
        window.find("#email").await;
    })
    .await;
}
