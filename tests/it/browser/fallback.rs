//! How the web chat shows answers that are not an answer of the model from the documents: quotes while the model fails, the model's own
//! knowledge, and its reasoning.

use super::chat::{ADA, ask, enter};
use super::german::{prefer_german, sign_in};
use super::inspection::Inspection;
use super::journey_with;
use docent_app::accounts::create::Flags;
use docent_domain::fault::{FaultCause, FaultKind};
use docent_testkit::fakes::chat_model::Turn;
use docent_tests::app::TestApp;
use docent_tests::chromium::Chromium;
use docent_tests::member::Member;
use docent_tests::pdf::pdf;
use docent_tests::wait;
use serde_json::json;

const QUESTION: &str = "How long is the warranty?";
const UNREACHABLE: &str = "The language model cannot be reached. These are quotes from your documents.";

/// Signs in, with a document that has the answer on its second page.
async fn begin(app: &TestApp, window: &Chromium) {
    let member = Member::login(app, enter(app, window).await).await;
    add_terms(app, &member).await;
    window.goto("/chat").await;
    window.find("#question").await;
}

async fn add_terms(app: &TestApp, member: &Member) {
    member
        .add("Terms.pdf", pdf(&["These are the terms of the shop.", "The warranty lasts five years."]))
        .await;
    app.run_jobs().await;
}

/// Waits for the end of the last answer.
async fn see_the_end(window: &Chromium) {
    window.find(".turn:last-child .retry").await;
}

#[tokio::test]
async fn quotes_are_labelled_while_the_model_fails_and_the_model_can_be_asked_again() {
    let script = [Turn::unreachable()];
    journey_with(
        |setup| setup.script(script),
        async |app, window| {
            begin(app, window).await;
            ask(window, QUESTION).await;
            see_the_end(window).await;
            window.see(UNREACHABLE).await;
            assert_eq!(window.texts(".fallback").await, [UNREACHABLE]);
            assert!(window.text().await.contains("lasts five years"));
            assert_eq!(window.texts(".chip").await, ["1\nTerms.pdf\npage 2"]);
            assert_eq!(window.texts(".turn .retry").await, ["Ask the model again"]);
            for scheme in ["light", "dark"] {
                let mut inspection = Inspection::begin(window, scheme).await;
                inspection.inspect("chat-fallback").await;
                inspection.assert_no_findings();
            }

            // The label is stored with the answer.
            let path = window.url().await;
            window.goto("/chat").await;
            window.goto(&path[path.find("/chat").unwrap()..]).await;
            see_the_end(window).await;
            window.see(UNREACHABLE).await;
            assert_eq!(window.texts(".fallback").await, [UNREACHABLE]);

            app.model.push(Turn::searching("warranty"));
            app.model.push(Turn::saying("Five years (Terms.pdf, page 2)."));
            window.press("Ask the model again").await;
            window.see("Five years").await;
            see_the_end(window).await;
            assert_eq!(window.texts(".turn .retry").await, ["Ask again"]);
            assert!(!window.has(".turn .fallback").await, "only the earlier version has a label");
            window.click("#turns > details summary").await;
            window.see(UNREACHABLE).await;
            assert_eq!(window.texts("#turns > details .fallback").await, [UNREACHABLE]);
            assert_eq!(window.console_errors().await, Vec::<String>::new());
        },
    )
    .await;
}

#[tokio::test]
async fn label_names_the_cause_in_english_and_german() {
    let refused = Turn::refused_because;
    let script = [
        Turn::refused(FaultKind::Timeout),
        refused(FaultKind::Unavailable, FaultCause::Loading),
        refused(FaultKind::Rejected, FaultCause::QuotaExceeded),
        Turn::refused(FaultKind::InvalidResponse),
    ];
    journey_with(
        |setup| setup.script(script),
        async |app, window| {
            begin(app, window).await;
            let causes = ["did not answer in time", "is still starting", "has no quota left", "failed"];
            for (n, cause) in causes.iter().enumerate() {
                ask(window, QUESTION).await;
                wait::until("it is answered", async || window.texts(".turn .fallback").await.len() == n + 1)
                    .await;
                see_the_end(window).await;
                let expected = format!("The language model {cause}. These are quotes from your documents.");
                window.see(&expected).await;
                assert_eq!(window.texts(".turn:last-child .fallback").await, [expected]);
            }
        },
    )
    .await;
    journey_with(
        |setup| setup.script([Turn::unreachable()]),
        async |app, window| {
            let user = app.account(ADA, Flags::default()).await;
            let member = Member::login(app, user).await;
            add_terms(app, &member).await;
            prefer_german(window).await;
            sign_in(window, "/chat", ADA).await;
            window.find("#question").await;
            ask(window, QUESTION).await;
            see_the_end(window).await;
            let expected = "Das Sprachmodell ist nicht erreichbar. Dies sind Zitate aus Ihren Dokumenten.";
            window.see(expected).await;
            assert_eq!(window.texts(".fallback").await, [expected]);
            assert_eq!(window.texts(".retry").await, ["Das Sprachmodell erneut fragen"]);
        },
    )
    .await;
}

#[tokio::test]
async fn reasoning_is_folded_above_the_answer_and_not_stored() {
    let script = [
        Turn::new().reasoning("The user asks about ").reasoning("<b>a warranty</b>.").stall(),
        Turn::new().reasoning("Let me see.").text("Five years.").stop(),
        Turn::new().reasoning("Let me see again.").fault(FaultKind::Timeout),
    ];
    journey_with(
        |setup| setup.script(script),
        async |app, window| {
            begin(app, window).await;
            ask(window, QUESTION).await;
            // Before there is an answer.
            window.find(".reasoning").await;
            assert!(!window.has(".reasoning[open]").await);
            window.press("Reasoning").await;
            window.see("The user asks about <b>a warranty</b>.").await;
            window.press("Stop").await;
            see_the_end(window).await;

            window.press("Ask again").await;
            window.see("Five years.").await;
            see_the_end(window).await;
            assert_eq!(window.texts(".turn:last-child .reasoning div").await, [""], "it is folded");
            window.press("Reasoning").await;
            assert_eq!(window.texts(".turn:last-child .reasoning div").await, ["Let me see."]);
            let mut inspection = Inspection::begin(window, "light").await;
            inspection.inspect("chat-reasoning").await;
            inspection.assert_no_findings();

            // That of a model that fails is not about the quotes that follow.
            ask(window, QUESTION).await;
            window.see("did not answer in time").await;
            see_the_end(window).await;
            assert!(!window.has(".turn:last-child .reasoning").await);

            let path = window.url().await;
            window.goto("/account").await;
            window.goto(&path[path.find("/chat").unwrap()..]).await;
            window.see("Five years.").await;
            assert!(!window.has(".reasoning").await);
        },
    )
    .await;
}

#[tokio::test]
async fn answer_without_a_search_says_so_and_can_be_asked_with_one() {
    for (is_german, note, button) in [
        (false, "Answered without your documents", "Search the documents and answer again"),
        (true, "Ohne Ihre Dokumente beantwortet", "Die Dokumente durchsuchen und neu antworten"),
    ] {
        let script = [Turn::saying("Two years, I think."), Turn::saying("Five years (Terms.pdf, page 2).")];
        journey_with(
            |setup| setup.script(script),
            async |app, window| {
                let user = app.account(ADA, Flags::default()).await;
                let member = Member::login(app, user).await;
                add_terms(app, &member).await;
                if is_german {
                    prefer_german(window).await;
                    sign_in(window, "/chat", ADA).await;
                } else {
                    window.goto("/chat").await;
                    window.submit_login(ADA, docent_tests::app::PASSWORD).await;
                }
                window.find("#question").await;
                ask(window, QUESTION).await;
                see_the_end(window).await;
                assert_eq!(window.texts(".turn:last-child > .note").await, [note]);
                assert_eq!(window.texts(".search-first").await, [button]);
                if !is_german {
                    let mut inspection = Inspection::begin(window, "light").await;
                    inspection.inspect("chat-not-searched").await;
                    inspection.assert_no_findings();
                }

                window.press(button).await;
                window.see("Five years").await;
                see_the_end(window).await;
                assert_eq!(app.model.requests().len(), 2);
                let sent = app.model.requests().pop().unwrap().messages;
                assert!(
                    sent.iter().any(|message| message.content().contains("lasts five years")),
                    "{sent:?}"
                );
                assert_eq!(window.texts(".turn:last-child .chip").await.len(), 1);
                assert!(!window.has(".search-first").await);
                assert!(!window.text().await.contains(note));
                assert_eq!(window.texts("#turns > details").await.len(), 1, "the first answer is kept");
                assert_eq!(json!(window.console_errors().await), json!([]));
            },
        )
        .await;
    }
}
