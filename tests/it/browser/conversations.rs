//! Conversations in the web chat.

use super::chat::{animals, ask, enter};
use super::journey_with;
use docent_domain::fault::FaultKind;
use docent_testkit::fakes::chat_model::Turn;
use docent_tests::member::Member;
use docent_tests::wait;
use serde_json::json;

#[tokio::test]
async fn follow_up_sends_the_history_and_a_new_conversation_does_not() {
    let script = ["One.", "Two.", "Three."].map(Turn::saying);
    journey_with(
        |setup| setup.script(script),
        async |app, window| {
            enter(app, window).await;
            for (question, answer) in [("First?", "One."), ("Second?", "Two.")] {
                ask(window, question).await;
                window.see(answer).await;
                window.see("Ask again").await;
            }
            window.press("New conversation").await;
            ask(window, "Third?").await;
            window.see("Three.").await;
            window.see("Ask again").await;
            let asked: Vec<usize> =
                app.model.requests().iter().map(|request| request.messages.len()).collect();
            assert_eq!((asked[1] - asked[0], asked[2]), (2, asked[0]));
            app.settle().await;
            let text = window.text().await;
            assert!(!text.contains("One.") && !text.contains("Second?"));
        },
    )
    .await;
}

#[tokio::test]
async fn conversations_are_listed_reopened_continued_renamed_and_deleted() {
    let script = [
        Turn::searching("zebra"),
        Turn::saying("In Africa."),
        Turn::new().text("It began").fault(FaultKind::Unavailable),
        Turn::saying("Two."),
        Turn::saying("Three."),
    ];
    journey_with(
        |setup| setup.script(script),
        async |app, window| {
            let member = Member::login(app, enter(app, window).await).await;
            window.see("Your questions appear here.").await;
            member.add("Animals.pdf", animals()).await;
            app.run_jobs().await;
            ask(window, "Where is the zebra?").await;
            window.see("In Africa.").await;
            window.find(".chip").await;
            window.find("#conversations-list .open[aria-current=true]").await;
            window.press("New conversation").await;
            assert!(!window.has("#conversations-list .open[aria-current=true]").await);
            app.advance(std::time::Duration::from_secs(1));
            ask(window, "Second?").await;
            window.see("The answer is incomplete").await;
            window.find("#conversations-list li + li").await;
            assert_eq!(window.texts("#conversations-list .open").await, ["Second?", "Where is the zebra?"]);

            // The address names the conversation, so it can be reopened; an incomplete answer is marked as such.
            let address = window.url().await;
            window.goto("/chat").await;
            window.find("#conversations-list li").await;
            assert!(window.texts(".turn").await.is_empty());
            window.run("location.href = arguments[0]", vec![json!(address)]).await;
            window.see("This answer is incomplete or was stopped.").await;
            assert_eq!(window.texts(".question").await, ["Second?"]);

            // A reopened conversation has its sources, and its history is sent with the next question.
            window.press("Where is the zebra?").await;
            window.see("In Africa.").await;
            assert_eq!(window.texts(".question").await, ["Where is the zebra?"]);
            window.click(".chip").await;
            window.find("#source[open]").await;
            window.click("#source-close").await;
            app.advance(std::time::Duration::from_secs(1));
            ask(window, "And now?").await;
            window.see("Two.").await;
            let last = app.model.requests().pop().unwrap();
            assert!(format!("{:?}", last.messages).contains("In Africa."), "{last:?}");
            wait::until("the conversation is first in the list", async || {
                window.texts("#conversations-list .open").await == ["Where is the zebra?", "Second?"]
            })
            .await;

            app.advance(std::time::Duration::from_secs(1));
            window.click("#conversations-list li + li summary").await;
            window.click("#conversations-list li + li details button").await;
            window.run("document.querySelector('.rename input').value = ''", vec![]).await;
            window.press("Save").await;
            window.see("Not renamed. ").await;
            // The browser logs the 422 too.
            let _ = window.console_errors().await;
            window.run("document.querySelector('.rename input').value = 'Of <b>zebras</b>'", vec![]).await;
            window.press("Save").await;
            window.see("Of <b>zebras</b>").await;
            for (remaining, title) in [(1, "Of <b>zebras</b>"), (0, "Where is the zebra?")] {
                window.find("#conversations-list li:first-child summary").await;
                window.click("#conversations-list li:first-child summary").await;
                window.click("#conversations-list li:first-child details button:last-child").await;
                assert_eq!(window.texts("#confirm-name").await, [title]);
                window.press("Cancel").await;
                window.click("#conversations-list li:first-child details button:last-child").await;
                window.press("Delete").await;
                wait::until("the conversation is removed", async || {
                    window.texts("#conversations-list .open").await.len() == remaining
                })
                .await;
                // The open conversation stays open until it is deleted.
                wait::until("the open conversation is shown until it is deleted", async || {
                    window.texts(".turn").await.is_empty() == (remaining == 0)
                })
                .await;
            }
            assert_eq!(window.console_errors().await, Vec::<String>::new());
        },
    )
    .await;
}
