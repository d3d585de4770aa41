//! Choosing what a question of the web chat is answered from, and where uploads go.

use super::chat::{animals, ask, enter, renderer};
use super::journey_with;
use crate::documents::recognition::Zebras;
use docent_testkit::fakes::chat_model::Turn;
use docent_tests::app::TestApp;
use docent_tests::chromium::Chromium;
use docent_tests::member::{Member, form};
use docent_tests::pdf::pdf;
use docent_tests::wait;
use serde_json::{Value, json};
use std::time::Duration;

/// Creates a collection, and gives another account a role on it.
async fn shared(by: &Member, name: &str, with: &Member, role: &str) -> String {
    let collection = by.post("/collections", json!({ "name": name })).await.expect(201).json();
    let id = collection["id"].as_str().unwrap().to_owned();
    let body = json!({ "email": with.user.email.as_str(), "role": role });
    let _ = by.put(&format!("/collections/{id}/members"), body).await.expect(200);
    id
}

async fn add_to(by: &Member, collection: &str, name: &str, bytes: Vec<u8>) -> String {
    let path = format!("/documents/upload?collection_id={collection}");
    let document = by.upload_to(&path, name, bytes).await.expect(202).json();
    document["id"].as_str().unwrap().to_owned()
}

/// The selection that the service has of the latest conversation.
async fn stored(member: &Member) -> [Value; 2] {
    let list = member.get("/conversations").await.expect(200).json();
    let path = format!("/conversations/{}", list[0]["id"].as_str().unwrap());
    let conversation = member.get(&path).await.expect(200).json();
    [conversation["collection_ids"].clone(), conversation["document_ids"].clone()]
}

/// Asks, and waits for the whole answer.
async fn answer(app: &TestApp, window: &Chromium, question: &str) {
    let before = window.texts(".turn").await.len();
    ask(window, question).await;
    wait::until("the question is answered", async || {
        window.texts(".turn").await.len() == before + 1 && !window.has(".turn[aria-busy]").await
    })
    .await;
    app.settle().await;
}

/// The texts of the chips above the question.
async fn chips(window: &Chromium) -> Vec<String> {
    window.texts("#chosen li").await
}

async fn see_chips(window: &Chromium, expected: &[&str]) {
    wait::until(&format!("the chips are {expected:?}"), async || chips(window).await == expected).await;
}

#[tokio::test]
async fn question_is_answered_from_chosen_sources_and_conversation_remembers_them() {
    let answers = ["one", "two", "three", "four"].map(|text| [Turn::searching("zebra"), Turn::saying(text)]);
    journey_with(
        |setup| setup.script(answers.into_iter().flatten()),
        async |app, window| {
            let member = Member::login(app, enter(app, window).await).await;
            let grace = app.member("grace@example.org").await;
            let legal = shared(&grace, "Legal", &member, "viewer").await;
            add_to(&grace, &legal, "Contract.pdf", pdf(&["The zebra of the contract."])).await;
            // The newest document is first in the list.
            app.advance(Duration::from_secs(1));
            let letter = member.add("Letter.pdf", pdf(&["The zebra of the letter."])).await;
            app.run_jobs().await;
            window.goto("/chat").await;
            see_chips(window, &["All documents"]).await;

            // With the keyboard alone: search, tab to the option, and choose it.
            window.press("Choose sources").await;
            window.fill("picker-search", "lega").await;
            window.see("No matching documents.").await;
            assert_eq!(window.texts("#picker-collections label").await, ["Legal"]);
            window.find("#picker-search").await.send_keys("\u{e004}").await.unwrap();
            for kind in ["keyDown", "keyUp"] {
                let space = json!({ "type": kind, "key": " ", "code": "Space", "text": " ", "windowsVirtualKeyCode": 32 });
                window.devtools("Input.dispatchKeyEvent", space).await;
            }
            window.find("#picker-collections input:checked").await;
            window.press("Done").await;
            see_chips(window, &["Legal"]).await;
            answer(app, window, "Where?").await;
            assert_eq!(window.texts(".chip bdi").await, ["Contract.pdf"]);
            assert_eq!(stored(&member).await, [json!([legal]), json!(null)]);

            // Another tab or device shows them too.
            let address = window.url().await;
            window.goto("/").await;
            window.run("location.href = arguments[0]", vec![json!(address)]).await;
            window.see("Where?").await;
            see_chips(window, &["Legal"]).await;

            // Documents replace collections: both together would be only what is in both.
            window.press("Change sources").await;
            window.see("Letter.pdf").await;
            window.click("#picker-documents li:first-child label").await;
            assert!(!window.has("#picker-collections input:checked").await);
            window.press("Done").await;
            see_chips(window, &["Letter.pdf"]).await;
            answer(app, window, "And now?").await;
            assert_eq!(window.texts(".turn:last-child .chip bdi").await, ["Letter.pdf"]);
            assert_eq!(stored(&member).await, [json!(null), json!([letter])]);
            window.click("#chosen button").await;
            see_chips(window, &["All documents"]).await;
            answer(app, window, "And everywhere?").await;
            let mut found = window.texts(".turn:last-child .chip bdi").await;
            found.sort();
            assert_eq!(found, ["Contract.pdf", "Letter.pdf"]);
            assert_eq!(stored(&member).await, [json!(null), json!(null)]);
            window.press("New conversation").await;
            see_chips(window, &["All documents"]).await;
            assert_eq!(window.console_errors().await, Vec::<String>::new());
        },
    )
    .await;
}

// Invariant: A question of the web chat is never answered from more than what was chosen.
#[tokio::test]
async fn lost_sources_are_marked_and_never_widen_a_question() {
    let answers = ["one", "two", "three"].map(|text| [Turn::searching("zebra"), Turn::saying(text)]);
    journey_with(
        |setup| setup.script(answers.into_iter().flatten()),
        async |app, window| {
            let member = Member::login(app, enter(app, window).await).await;
            let grace = app.member("grace@example.org").await;
            let (legal, sales) = (
                shared(&grace, "Legal", &member, "viewer").await,
                shared(&grace, "Sales", &member, "viewer").await,
            );
            add_to(&grace, &legal, "Contract.pdf", pdf(&["The zebra of the contract."])).await;
            add_to(&grace, &sales, "Offer.pdf", pdf(&["The zebra of the offer."])).await;
            member.add("Letter.pdf", pdf(&["The zebra of the letter."])).await;
            app.run_jobs().await;
            window.goto("/chat").await;
            window.press("Choose sources").await;
            window.see("Legal").await;
            for name in ["Legal", "Sales"] {
                window.press(name).await;
            }
            window.press("Done").await;
            see_chips(window, &["Legal", "Sales"]).await;
            answer(app, window, "Where?").await;
            assert_eq!(window.texts(".chip").await.len(), 2);

            // Lost while the page is open: the question is rejected, kept, and can be asked with the rest.
            let leave = async |collection: &str| {
                let path = format!("/collections/{collection}/members/{}", member.user.id);
                let _ = grace.delete(&path).await.expect(204);
            };
            leave(&legal).await;
            answer(app, window, "Still?").await;
            window.see("One of the chosen sources is no longer available.").await;
            see_chips(window, &["Legal\nno longer available", "Sales"]).await;
            window.press("Ask again").await;
            wait::until("the answer has its source", async || {
                window.texts(".turn:last-child .chip bdi").await == ["Offer.pdf"]
            })
            .await;
            // The rejected request is in the log of the browser.
            window.console_errors().await;

            // The quote of an earlier answer is gone too.
            let address = window.url().await;
            leave(&sales).await;
            window.goto("/").await;
            window.run("location.href = arguments[0]", vec![json!(address)]).await;
            window.see("Where?").await;
            see_chips(window, &["A source\nno longer available"]).await;
            assert!(window.has(".chip.lost").await && !window.has("button.chip").await);
            let asked = app.model.requests().len();
            ask(window, "Anything?").await;
            window.see("None of the chosen sources is available any more.").await;
            assert_eq!(app.model.requests().len(), asked);
            assert_eq!(
                window.find("#question").await.prop("value").await.unwrap().as_deref(),
                Some("Anything?")
            );
            window.click("#chosen button").await;
            see_chips(window, &["All documents"]).await;
            window.find("#question").await.send_keys("\n").await.unwrap();
            wait::until("the answer has its source", async || {
                window.texts(".turn:last-child .chip bdi").await == ["Letter.pdf"]
            })
            .await;
            assert_eq!(window.console_errors().await, Vec::<String>::new());
        },
    )
    .await;
}

#[tokio::test]
async fn one_document_is_asked_from_the_list_and_from_its_pages() {
    let answers = ["one", "two"].map(|text| [Turn::searching("zebra"), Turn::saying(text)]);
    journey_with(
        |setup| setup.script(answers.into_iter().flatten()),
        async |app, window| {
            let member = Member::login(app, enter(app, window).await).await;
            let animals = member.add("Animals.pdf", animals()).await;
            app.advance(Duration::from_secs(1));
            member.add("Letter.pdf", pdf(&["The zebra of the letter."])).await;
            app.run_jobs().await;
            window.goto("/chat").await;
            window.find("#documents-list li + li").await;
            window.click("#documents-list li:last-child summary").await;
            window.press("Ask this document").await;
            see_chips(window, &["Animals.pdf"]).await;
            assert_eq!(window.run("return document.activeElement.id", vec![]).await, json!("question"));
            answer(app, window, "Where?").await;
            assert_eq!(stored(&member).await, [json!(null), json!([animals])]);
            window.click("#chosen button").await;
            window.click(".chip").await;
            window.click("#source-ask").await;
            see_chips(window, &["Animals.pdf"]).await;
            assert!(window.texts(".turn").await.is_empty(), "it starts a conversation");
        },
    )
    .await;
}

#[tokio::test]
async fn source_of_an_earlier_version_says_so() {
    journey_with(
        |setup| setup.script([Turn::searching("zebra"), Turn::saying("one")]),
        async |app, window| {
            let member = Member::login(app, enter(app, window).await).await;
            let id = member.add("Animals.pdf", animals()).await;
            app.run_jobs().await;
            window.goto("/chat").await;
            answer(app, window, "Where?").await;
            window.click(".chip").await;
            window.see("Open the file at page").await;
            assert!(window.has("#source-version[hidden]").await);
            window.click("#source-close").await;
            let file = form("Animals.pdf", "application/pdf", pdf(&["The giraffe."; 3]));
            let _ = member.put_form(&format!("/documents/{id}/file"), file).await.expect(202);
            app.run_jobs().await;
            window.click(".chip").await;
            window.see("The answer quotes version 1 of this document.").await;
            let passage = window.texts("#passage-text").await.concat();
            assert!(passage.contains("zebra"), "{passage}");
        },
    )
    .await;
}

#[tokio::test]
async fn upload_goes_to_the_chosen_collection_and_says_who_can_read_it() {
    journey_with(
        |setup| setup,
        async |app, window| {
            let member = Member::login(app, enter(app, window).await).await;
            let grace = app.member("grace@example.org").await;
            shared(&grace, "Readers", &member, "viewer").await;
            let legal = shared(&grace, "Legal", &member, "contributor").await;
            add_to(&grace, &legal, "Contract.pdf", pdf(&["The zebra of the contract."])).await;
            app.run_jobs().await;
            app.advance(Duration::from_secs(1));
            window.goto("/chat").await;
            window.see("Everyone with an account here can read it.").await;
            assert_eq!(window.texts("#destination option").await, ["Everyone", "Personal", "Legal"]);
            window.see("by another account in Legal").await;
            for (name, readers) in [
                ("Personal", "Only you and administrators can read it."),
                ("Legal", "Members of Legal (1 account or group) and administrators can read it."),
            ] {
                let option = format!("//select[@id='destination']/option[.='{name}']");
                let choose = "const option = document.evaluate(arguments[0], document).iterateNext();
                    option.selected = true; option.parentNode.dispatchEvent(new Event('change'))";
                window.run(choose, vec![json!(option)]).await;
                window.see(readers).await;
            }
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("Annex.pdf");
            std::fs::write(&path, pdf(&[""])).unwrap();
            window.choose("#files", &[&path]).await;
            window.find(".pill.pending").await;
            let listed = member.get(&format!("/documents?collection_id={legal}")).await.expect(200).json();
            assert_eq!(listed[0]["title"], "Annex.pdf");
            app.run_jobs().await;
            window.see("Failed: ").await;

            // Its owner may try again and delete it; a reader of the other document may do neither.
            assert_eq!(
                window.texts("#documents-list li:first-child .actions button").await,
                ["Try again", "Delete…"]
            );
            window.press("Try again").await;
            window.find(".pill.pending").await;
            app.run_jobs().await;
            window.find(".pill.failed").await;
            window.click("#documents-list li:last-child summary").await;
            assert_eq!(
                window.texts("#documents-list li:last-child .actions button").await,
                ["Ask this document", "Summary"]
            );
            let path = format!("/collections/{legal}/members/{}", member.user.id);
            let _ = grace.delete(&path).await.expect(204);
            let path = folder.path().join("Late.pdf");
            std::fs::write(&path, pdf(&[""])).unwrap();
            window.choose("#files", &[&path]).await;
            window.see("You can no longer add documents to this collection.").await;
            window.see("Everyone with an account here can read it.").await;
        },
    )
    .await;
}

#[tokio::test]
async fn source_of_a_scan_says_that_its_text_was_recognised() {
    journey_with(
        |setup| setup.recognizer(Zebras).builtin_answerer().renderer(renderer()),
        async |app, window| {
            let member = Member::login(app, enter(app, window).await).await;
            member.add("scan.pdf", pdf(&[""])).await;
            app.run_jobs().await;
            window.goto("/chat").await;
            window.see("Quote mode: no language model is connected.").await;
            assert!(!window.text().await.contains("How to connect one"), "only staff can");
            answer(app, window, "Where do zebras graze?").await;
            window.find(".chip").await;
            let chip = window.texts(".chip").await.remove(0);
            assert!(chip.ends_with("page 1, recognised text"), "{chip}");
            window.click(".chip").await;
            window.find("#pages img[alt^='Page 1 of scan.pdf']").await;
            window.see("Recognised text: the page is an image, and its text may contain errors.").await;
            assert_eq!(window.console_errors().await, Vec::<String>::new());
        },
    )
    .await;
}

#[tokio::test]
async fn summary_opens_pages_and_its_questions_are_asked_of_the_document() {
    journey_with(
        |setup| setup.builtin_answerer().renderer(renderer()),
        async |app, window| {
            let member = Member::login(app, enter(app, window).await).await;
            let pages = [
                "This manual describes the pump P9, which moves clean water in houses.",
                "Motor Service\nThe motor of the pump needs service once a year, and its service is done by the maker.",
            ];
            member.add("Pump.pdf", pdf(&pages)).await;
            app.advance(Duration::from_secs(1));
            member.add("Other.pdf", pdf(&["The motor of the other machine needs service every day."])).await;
            app.run_jobs().await;
            window.goto("/chat").await;
            window.click("#documents-list li:last-child summary").await;
            window.click("#documents-list li:last-child .actions button[aria-controls=source]").await;
            window.find("#pages img[alt^='Page 1 of Pump.pdf, with this passage marked: This manual']").await;
            window.see("Key points").await;
            window.press("The motor of the pump needs service once a year, and its service is done by the maker.").await;
            window.find("#pages img[alt^='Page 2 of Pump.pdf, with this passage marked: The motor']").await;
            window.press("What does the document say about Motor Service?").await;
            window.find(".turn .chip").await;
            app.settle().await;
            see_chips(window, &["Pump.pdf"]).await;
            assert_eq!(window.texts(".question").await, ["What does the document say about Motor Service?"]);
            assert_eq!(window.texts(".chip bdi").await, ["Pump.pdf"]);

            // From a source of an answer, the summary is loaded when it is unfolded.
            window.click(".chip").await;
            window.click("#summary summary").await;
            window.see("Suggested questions").await;
            assert_eq!(window.console_errors().await, Vec::<String>::new());
        },
    )
    .await;
}
