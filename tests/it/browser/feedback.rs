//! Feedback on answers in the web chat.

use super::chat::{ask, enter};
use super::journey_with;
use docent_domain::fault::FaultKind;
use docent_testkit::fakes::chat_model::Turn;
use docent_tests::chromium::Chromium;
use docent_tests::member::Member;
use docent_tests::wait;
use serde_json::{Value, json};

const UP: &str = "button[aria-label='Good answer']";
const DOWN: &str = "button[aria-label='Bad answer']";
const CHOOSE: &str = "document.querySelector('.feedback select').value = 'incomplete';
    document.querySelector('.feedback textarea').value = ' The battery is missing. '";

/// Returns the feedback that is stored on the answer of the open conversation.
async fn stored(window: &Chromium, member: &Member) -> Value {
    let url = window.url().await;
    let (_, id) = url.split_once('#').unwrap();
    let conversation = member.get(&format!("/conversations/{id}")).await.expect(200).json();
    conversation["messages"][1]["feedback"].clone()
}

async fn find_pressed(window: &Chromium, button: &str) {
    window.find(&format!("{button}[aria-pressed=true]")).await;
}

/// Label of the focused element, or its name if it has none.
async fn focused(window: &Chromium) -> Value {
    let focused = "return document.activeElement.ariaLabel ?? document.activeElement.tagName";
    window.run(focused, vec![]).await
}

#[tokio::test]
async fn answer_is_rated_and_the_rating_is_kept() {
    journey_with(
        |setup| setup.script([Turn::saying("Five years.")]),
        async |app, window| {
            let member = Member::login(app, enter(app, window).await).await;
            ask(window, "How long is the warranty?").await;
            window.click(UP).await;
            find_pressed(window, UP).await;
            assert_eq!(stored(window, &member).await["rating"], "up");

            // The reason is asked for after thumbs down, which is stored at once.
            window.click(DOWN).await;
            window.see("What was wrong?").await;
            assert_eq!(stored(window, &member).await["rating"], "down");
            assert_eq!(focused(window).await, json!("SELECT"));
            window.run(CHOOSE, vec![]).await;
            window.press("Save").await;
            wait::until("the form is closed", async || !window.has(".feedback").await).await;
            assert_eq!(focused(window).await, json!("Bad answer"));
            let saved = stored(window, &member).await;
            assert_eq!((&saved["reason"], &saved["comment"]), (&json!("incomplete"), &json!("The battery is missing.")));

            // A reopened conversation shows the rating, and the form has what was saved.
            let address = window.url().await;
            window.goto("/account").await;
            window.run("location.href = arguments[0]", vec![json!(address)]).await;
            find_pressed(window, DOWN).await;
            window.click(DOWN).await;
            let filled = "return [...document.querySelectorAll('.feedback select, .feedback textarea')].map(({ value }) => value)";
            window.find(".feedback").await;
            assert_eq!(window.run(filled, vec![]).await, json!(["incomplete", "The battery is missing."]));
            window.press("Cancel").await;
            assert!(!window.has(".feedback").await);

            app.faults.database.commit.fail_all(FaultKind::Unavailable);
            window.click(UP).await;
            window.see("Your feedback was not saved.").await;
            find_pressed(window, DOWN).await;
            app.faults.database.commit.clear();
            // The browser logs the 503 too.
            let _ = window.console_errors().await;

            window.click(DOWN).await;
            window.press("Withdraw").await;
            window.find(&format!("{DOWN}[aria-pressed=false]")).await;
            assert_eq!(stored(window, &member).await, json!(null));
            assert_eq!(window.console_errors().await, Vec::<String>::new());
        },
    )
    .await;
}
