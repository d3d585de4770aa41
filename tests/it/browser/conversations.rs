//! Conversations in the web chat.

use super::chat::{animals, ask, enter};
use super::inspection::Inspection;
use super::{journey, journey_with};
use docent_domain::conversation::{Conversation, ConversationTitle};
use docent_domain::fault::FaultKind;
use docent_domain::user::User;
use docent_testkit::builders;
use docent_testkit::fakes::chat_model::Turn;
use docent_tests::app::TestApp;
use docent_tests::chromium::Chromium;
use docent_tests::member::Member;
use docent_tests::wait;
use serde_json::json;

/// Asks two questions and waits for their answers, “One.” and “Two.”.
async fn ask_two_questions(window: &Chromium) {
    for (question, answer) in [("First?", "One."), ("Second?", "Two.")] {
        ask(window, question).await;
        window.see(answer).await;
        window.see("Ask again").await;
    }
}

#[tokio::test]
async fn follow_up_sends_the_history_and_a_new_conversation_does_not() {
    let script = ["One.", "Two.", "Three."].map(Turn::saying);
    journey_with(
        |setup| setup.script(script),
        async |app, window| {
            enter(app, window).await;
            ask_two_questions(window).await;
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
            window.see("No conversations yet. Ask a question, and it appears here.").await;
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
            window.find(".rename input").await;
            window.run("document.querySelector('.rename input').value = ''", vec![]).await;
            window.press("Save").await;
            window.see("Enter a title.").await;
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

/// Waits until these questions are shown.
async fn shows(window: &Chromium, questions: &[&str]) {
    wait::until("the conversation is shown", async || window.texts(".question").await == questions).await;
}

#[tokio::test]
async fn back_and_forward_move_between_conversations() {
    journey_with(
        |setup| setup.always(Turn::saying("Yes.")),
        async |app, window| {
            enter(app, window).await;
            for question in ["First?", "Second?"] {
                window.press("New conversation").await;
                ask(window, question).await;
                window.see("Ask again").await;
                app.advance(std::time::Duration::from_secs(1));
            }
            window.press("First?").await;
            shows(window, &["First?"]).await;
            // The first conversation again, the second one, an empty one, and the first one.
            let back = async || window.run("history.back()", vec![]).await;
            back().await;
            shows(window, &["Second?"]).await;
            back().await;
            shows(window, &[]).await;
            back().await;
            shows(window, &["First?"]).await;
            window.run("history.forward()", vec![]).await;
            shows(window, &[]).await;
            window.run("history.forward()", vec![]).await;
            shows(window, &["Second?"]).await;
            window.run("location.reload()", vec![]).await;
            shows(window, &["Second?"]).await;
            window.press("Sign out").await;
            window.find("#email").await;
            assert!(!window.url().await.contains('#'), "no trace of the conversation");
            assert_eq!(window.console_errors().await, Vec::<String>::new());
        },
    )
    .await;
}

/// Adds a conversation that was updated this many hours before 2026-01-01T12:00:00Z.
async fn add(app: &TestApp, owner: &User, n: u32, title: &str, hours: i64) {
    let updated_at = "2026-01-01T12:00:00Z".parse::<chrono::DateTime<chrono::Utc>>().unwrap();
    let conversation = Conversation {
        title: ConversationTitle::parse(title).unwrap(),
        updated_at: updated_at - chrono::TimeDelta::hours(hours),
        ..builders::conversation(n, owner.id)
    };
    let mut work = app.ports.store.begin().await.unwrap();
    assert!(work.conversations().insert(&conversation).await.unwrap());
    work.commit().await.unwrap();
}

#[tokio::test]
async fn conversations_are_grouped_by_date_searched_and_pinned() {
    journey(async |app, window| {
        let noon = "const Real = Date;
            const noon = Real.UTC(2026, 0, 1, 12);
            globalThis.Date = class extends Real {
                constructor(...given) { if (given.length) super(...given); else super(noon); }
                static now() { return noon; }
            };";
        window.devtools("Page.enable", json!({})).await;
        window.devtools("Page.addScriptToEvaluateOnNewDocument", json!({ "source": noon })).await;
        window.devtools("Emulation.setTimezoneOverride", json!({ "timezoneId": "UTC" })).await;
        let user = enter(app, window).await;
        window.see("No conversations yet.").await;
        let times =
            [("Now", 1), ("Late last night", 13), ("Days ago", 80), ("Weeks ago", 500), ("Long ago", 2000)];
        for (n, (title, hours)) in (1..).zip(times) {
            add(app, &user, n, title, hours).await;
        }
        window.goto("/chat").await;
        window.see("Long ago").await;
        let groups = ["Today", "Yesterday", "Previous 7 days", "Previous 30 days", "October 2025"];
        assert_eq!(window.texts("#conversations-list h3").await, groups);

        window.click("#conversations-list [data-id$='3'] summary").await;
        window.press("Pin").await;
        wait::until("the conversation is pinned", async || {
            window.texts("#conversations-list h3").await
                == ["Pinned", "Today", "Yesterday", "Previous 30 days", "October 2025"]
        })
        .await;
        assert_eq!(window.texts("#conversations-list ul:first-of-type .open").await, ["Days ago"]);
        window.fill("conversations-search", "ago").await;
        wait::until("results are shown", async || {
            window.texts("#conversations-list h3").await == ["Results"]
        })
        .await;
        assert_eq!(window.texts("#conversations-list .open").await, ["Days ago", "Weeks ago", "Long ago"]);
        window.fill("conversations-search", "zebra").await;
        window.see("No matching conversations.").await;
        window.fill("conversations-search", "days").await;
        window.see("Days ago").await;
        window.click("#conversations-list summary").await;
        window.press("Unpin").await;
        wait::until("it can be pinned again", async || {
            window.has("#conversations-list details:not([open])").await
        })
        .await;
        assert_eq!(window.console_errors().await, Vec::<String>::new());
    })
    .await;
}

#[tokio::test]
async fn conversation_is_exported_as_markdown_with_sources_and_pages() {
    let script = [Turn::searching("zebra"), Turn::saying("In **Africa**."), Turn::saying("No.")];
    journey_with(
        |setup| setup.script(script),
        async |app, window| {
            let member = Member::login(app, enter(app, window).await).await;
            member.add("Animals_2.pdf", animals()).await;
            app.run_jobs().await;
            ask(window, "Where is the *zebra*?").await;
            window.find(".chip").await;
            ask(window, "Sure?").await;
            window.see("No.").await;
            window.find("#conversations-list summary").await;
            let capture = "const create = URL.createObjectURL;
                URL.createObjectURL = (blob) => {
                    blob.text().then((text) => { window.exported = text; });
                    return create.call(URL, blob);
                };
                document.addEventListener('click', ({ target }) => { window.saved = target.download ?? window.saved; }, true);";
            window.run(capture, vec![]).await;
            window.click("#conversations-list summary").await;
            window.press("Export").await;
            wait::until("the conversation is exported", async || {
                window.run("return Boolean(window.exported)", vec![]).await == json!(true)
            })
            .await;
            let text = window.run("return window.exported", vec![]).await;
            let text = text.as_str().unwrap();
            assert!(text.starts_with("# Where is the \\*zebra\\*?\n\n## Where is the \\*zebra\\*?\n\n"), "{text}");
            let places = "\n\nIn **Africa**.\n\n**Sources**\n\n1. Animals\\_2.pdf, pages 1–3";
            assert!(text.contains(places), "{text}");
            assert!(text.contains("\n\n## Sure?\n\n") && text.ends_with("\n\nNo.\n"), "{text}");
            assert_eq!(window.console_errors().await, Vec::<String>::new());
        },
    )
    .await;
}

#[tokio::test]
async fn drawer_opens_on_a_phone_wherever_one_has_scrolled() {
    let long = "A line of the answer.\n\n".repeat(80);
    journey_with(
        |setup| setup.always(Turn::saying(&long)),
        async |app, window| {
            window.resize(390, 844).await;
            enter(app, window).await;
            ask(window, "A long answer?").await;
            window.see("Ask again").await;
            // The view stays at the question, and the reader scrolls.
            window.run("scrollTo(0, document.documentElement.scrollHeight)", vec![]).await;
            let place = "const box = document.getElementById('side').getBoundingClientRect();
                return [scrollY > 1000, box.top >= 0 && box.bottom <= innerHeight, document.activeElement.id]";
            window.click("#side-toggle").await;
            assert_eq!(window.run(place, vec![]).await, json!([true, true, "side"]));
            window.find("#conversations-list .open").await;
            let mut inspection = Inspection::begin(window, "light").await;
            inspection.inspect_on_phone("chat-drawer").await;
            inspection.assert_no_findings();
            window.resize(390, 844).await;
            window.click("#side-toggle").await;
            window.press("A long answer?").await;
            wait::until("the drawer is closed", async || window.has("#side.folded").await).await;
            assert_eq!(window.console_errors().await, Vec::<String>::new());
        },
    )
    .await;
}

#[tokio::test]
async fn question_asked_again_replaces_the_turn_in_the_record() {
    let script = ["One.", "Two.", "Two again."].map(Turn::saying);
    journey_with(
        |setup| setup.script(script),
        async |app, window| {
            enter(app, window).await;
            ask_two_questions(window).await;
            window.press("Ask again").await;
            window.see("Two again.").await;
            window.see("Ask again").await;
            for _ in 0..2 {
                assert_eq!(window.texts(".question").await, ["First?", "Second?"]);
                assert_eq!(window.texts("#turns > details summary").await, ["Earlier version: Second?"]);
                assert_eq!(window.texts(".turn .answer").await, ["One.", "Two again."]);
                window.run("location.reload()", vec![]).await;
                window.see("Two again.").await;
            }
            window.click("#turns > details summary").await;
            assert_eq!(window.texts("#turns > details .answer").await, ["Two."]);
            assert_eq!(window.console_errors().await, Vec::<String>::new());
        },
    )
    .await;
}

#[tokio::test]
async fn edited_question_replaces_the_turn_in_the_record() {
    let script = ["One.", "Two.", "Better."].map(Turn::saying);
    journey_with(
        |setup| setup.script(script),
        async |app, window| {
            enter(app, window).await;
            ask_two_questions(window).await;
            assert_eq!(window.texts(".edit").await.len(), 1, "only the last question");
            let mut inspection = Inspection::begin(window, "light").await;
            window.click(".edit").await;
            let field = "const field = document.querySelector('.edit-form textarea');
                return [document.activeElement === field, field.value]";
            window.find(".edit-form textarea").await;
            assert_eq!(window.run(field, vec![]).await, json!([true, "Second?"]));
            inspection.inspect("chat-edit").await;
            inspection.assert_no_findings();

            // Esc restores the question, and the focus.
            let textarea = window.find(".edit-form textarea").await;
            textarea.send_keys(" Changed").await.unwrap();
            textarea.send_keys("\u{e00c}").await.unwrap();
            wait::until("the form is closed", async || !window.has(".edit-form").await).await;
            assert_eq!(window.texts(".question").await, ["First?", "Second?"]);
            let focused = "return document.activeElement.className.includes('edit')";
            assert_eq!(window.run(focused, vec![]).await, json!(true));

            window.click(".edit").await;
            let textarea = window.find(".edit-form textarea").await;
            textarea.clear().await.unwrap();
            textarea.send_keys("Third?\n").await.unwrap();
            window.see("Better.").await;
            window.see("Ask again").await;
            for _ in 0..2 {
                assert_eq!(window.texts(".question").await, ["First?", "Third?"]);
                assert_eq!(window.texts("#turns > details summary").await, ["Earlier version: Second?"]);
                assert_eq!(window.texts(".turn .answer").await, ["One.", "Better."]);
                window.run("location.reload()", vec![]).await;
                window.see("Better.").await;
            }
            let question = format!("{:?}", app.model.requests()[2].messages.last());
            assert!(question.contains("Third?"), "{question}");
            assert_eq!(window.console_errors().await, Vec::<String>::new());
        },
    )
    .await;
}
