//! Shared conversations in the web chat, with two accounts.

use super::chat::{animals, ask, enter};
use super::inspection::Inspection;
use super::journey_with;
use docent_testkit::fakes::chat_model::Turn;
use docent_tests::app::{PASSWORD, TestApp};
use docent_tests::chromium::Chromium;
use docent_tests::member::Member;
use docent_tests::pdf::pdf;
use docent_tests::wait;
use serde_json::json;

pub(super) const BOB: &str = "bob@example.org";

/// Signs Ada in and gives her a collection that Bob can read. Returns Ada and the collection.
pub(super) async fn team(app: &TestApp, window: &Chromium) -> (Member, String) {
    let ada = Member::login(app, enter(app, window).await).await;
    let _ = app.member(BOB).await;
    let team = ada.post("/collections", json!({ "name": "Team" })).await.expect(201).json();
    let team = team["id"].as_str().unwrap().to_owned();
    let body = json!({ "email": BOB, "role": "viewer" });
    let _ = ada.put(&format!("/collections/{team}/members"), body).await.expect(200);
    (ada, team)
}

/// Runs steps in a window in which Bob opens this address, and closes it.
async fn as_bob(app: &TestApp, path: &str, steps: impl AsyncFnOnce(&Chromium)) {
    let window = Chromium::open(app).await;
    window.goto(path).await;
    window.submit_login(BOB, PASSWORD).await;
    window.find("#conversations-list").await;
    steps(&window).await;
    window.close().await;
}

/// Opens the dialog for the only conversation.
pub(super) async fn open_dialog(window: &Chromium) {
    window.find("#conversations-list details:not([open]) summary").await;
    window.click("#conversations-list summary").await;
    window.press("Share…").await;
    window.find("#share[open]").await;
}

#[tokio::test]
async fn conversation_is_shared_read_by_its_link_and_taken_back() {
    let script = [Turn::searching("zebra"), Turn::saying("In Africa (Animals.pdf, page 1).")];
    journey_with(
        |setup| setup.script(script),
        async |app, window| {
            let (ada, team) = team(app, window).await;
            let path = format!("/documents/upload?collection_id={team}");
            let _ = ada.upload_to(&path, "Animals.pdf", animals()).await.expect(202);
            app.run_jobs().await;
            ask(window, "Where is the zebra?").await;
            window.see("Ask again").await;
            let address = window.url().await;

            open_dialog(window).await;
            assert_eq!(window.texts("#share-collections bdi").await, ["Everyone", "Team"]);
            assert!(!window.has("#share-collections input:checked").await, "sharing is off");
            assert!(window.has("#share-copy:disabled").await, "others could not open the link");
            let link = window.run("return document.getElementById('share-link').value", vec![]).await;
            assert_eq!(link, json!(address));
            window.click(&format!("#share-collections [value='{team}']")).await;
            assert!(window.has("#share-copy:enabled").await);
            let mut inspection = Inspection::begin(window, "light").await;
            inspection.inspect("chat-share").await;
            inspection.assert_no_findings();
            // Before the link is copied, the choice is saved.
            window.press("Copy link").await;
            window.see("Shared with Team. Everyone who can read there also sees what you ask here.").await;
            window.press("Save").await;
            window.find(".conversation-row > .hint").await;

            let fragment = address.split_once('#').unwrap().1;
            as_bob(app, &format!("/chat#{fragment}"), async |bob| {
                bob.see("Shared by ada@example.org. You can only read this conversation.").await;
                bob.see("In Africa").await;
                assert_eq!(bob.texts(".question").await, ["Where is the zebra?"]);
                for hidden in ["#ask:not([hidden])", ".edit", ".retry", "[aria-label='Good answer']"] {
                    assert!(!bob.has(hidden).await, "{hidden}");
                }
                bob.find("#conversations-list .open[aria-current=true]").await;
                assert_eq!(bob.texts("#conversations-list h3").await, ["Shared with me"]);
                bob.click("#conversations-list summary").await;
                assert_eq!(bob.texts("#conversations-list details button").await, ["Export"]);
                let mut inspection = Inspection::begin(bob, "dark").await;
                inspection.inspect("chat-shared").await;
                inspection.assert_no_findings();
                bob.click(".chip").await;
                bob.find("#source[open] .page").await;
                bob.click("#source-close").await;
                // A question of his own begins a conversation.
                bob.press("New conversation").await;
                bob.find("#question").await;
                assert!(!bob.text().await.contains("Shared by"));
                assert_eq!(bob.console_errors().await, Vec::<String>::new());

                open_dialog(window).await;
                window.click(&format!("#share-collections [value='{team}']")).await;
                window.press("Save").await;
                wait::until("it is not shared", async || !window.has(".conversation-row > .hint").await)
                    .await;
                assert!(!window.text().await.contains("Shared with"));
                bob.press("Where is the zebra?").await;
                bob.see("This conversation no longer exists, or is not shared with you.").await;
                wait::until("it is not listed", async || !bob.has("#conversations-list li").await).await;
                // So does the link in a page that is opened with it.
                bob.goto("/account").await;
                bob.goto(&format!("/chat#{fragment}")).await;
                bob.find("#ask-alert:not([hidden])").await;
                assert_eq!(
                    bob.texts("#ask-alert").await,
                    ["This conversation no longer exists, or is not shared with you."]
                );
            })
            .await;
            assert_eq!(window.console_errors().await, Vec::<String>::new());
        },
    )
    .await;
}

#[tokio::test]
async fn withheld_answers_are_neither_shown_found_nor_exported() {
    let script = [
        Turn::saying("Nothing special."),
        Turn::searching("salary"),
        Turn::saying("It is 5000."),
        Turn::saying("As I said, 5000."),
    ];
    journey_with(
        |setup| setup.script(script),
        async |app, window| {
            let (ada, team) = team(app, window).await;
            let path = format!("/documents/upload?collection_id={}", ada.user.id);
            let _ = ada.upload_to(&path, "Secret.pdf", pdf(&["The salary of Carl is 5000."])).await.expect(202);
            app.run_jobs().await;
            for (question, answer) in [
                ("What is new?", "Nothing special."),
                ("What is the salary of Carl?", "It is 5000."),
                ("Sure?", "As I said, 5000."),
            ] {
                ask(window, question).await;
                window.see(answer).await;
                window.see("Ask again").await;
            }
            let id = window.url().await.split_once('#').unwrap().1.to_owned();
            let body = json!({ "collection_ids": [team] });
            let _ = ada.put(&format!("/conversations/{id}/collections"), body).await.expect(200);
            as_bob(app, "/chat", async |bob| {
                bob.see("Shared with me").await;
                bob.press("What is new?").await;
                bob.see("This answer cites documents that you may not read. It and what follows are not shown.").await;
                bob.see("Nothing special.").await;
                assert_eq!(bob.texts(".turn").await.len(), 2);
                let text = bob.text().await;
                assert!(!text.contains("5000") && !text.contains("Carl") && !text.contains("Sure?"), "{text}");

                let capture = "const create = URL.createObjectURL;
                    URL.createObjectURL = (blob) => {
                        blob.text().then((text) => { window.exported = text; });
                        return create.call(URL, blob);
                    };";
                bob.run(capture, vec![]).await;
                bob.click("#conversations-list summary").await;
                bob.press("Export").await;
                wait::until("the conversation is exported", async || {
                    bob.run("return Boolean(window.exported)", vec![]).await == json!(true)
                })
                .await;
                let exported = bob.run("return window.exported", vec![]).await;
                let exported = exported.as_str().unwrap();
                assert!(exported.starts_with("# What is new?\n\nShared by ada@example.org\n\n## What is new?"), "{exported}");
                assert!(exported.contains("Nothing special.") && !exported.contains("5000"), "{exported}");
                let end = "*The next answer cites documents that you may not read. It and what follows are left out.*\n";
                assert!(exported.ends_with(end), "{exported}");

                bob.fill("conversations-search", "5000").await;
                bob.see("No matching conversations.").await;
                bob.fill("conversations-search", "special").await;
                bob.see("Shared with me").await;
                assert_eq!(bob.console_errors().await, Vec::<String>::new());
            })
            .await;
        },
    )
    .await;
}
