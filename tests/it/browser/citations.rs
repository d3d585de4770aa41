//! Citations in answers of the web chat, and their previews.

use super::chat::{ask, enter};
use super::inspection::Inspection;
use super::journey_with;
use super::viewer::become_phone;
use docent_domain::chunk::ChunkSize;
use docent_testkit::fakes::chat_model::Turn;
use docent_tests::app::TestApp;
use docent_tests::chromium::Chromium;
use docent_tests::member::Member;
use docent_tests::pdf::pdf;
use docent_tests::wait;
use serde_json::json;

/// Moves the mouse to an element.
async fn hover(window: &Chromium, css: &str) {
    let place = "const box = document.querySelector(arguments[0]).getBoundingClientRect();
        return [box.left + box.width / 2, box.top + box.height / 2]";
    let place = window.run(place, vec![json!(css)]).await;
    let moved = json!({ "type": "mouseMoved", "x": place[0], "y": place[1] });
    window.devtools("Input.dispatchMouseEvent", moved).await;
}

/// Taps an element with a finger.
async fn tap(window: &Chromium, css: &str) {
    let place = "const box = document.querySelector(arguments[0]).getBoundingClientRect();
        return [box.left + box.width / 2, box.top + box.height / 2]";
    let place = window.run(place, vec![json!(css)]).await;
    let points = json!([{ "x": place[0], "y": place[1] }]);
    window.devtools("Input.dispatchTouchEvent", json!({ "type": "touchStart", "touchPoints": points })).await;
    window.devtools("Input.dispatchTouchEvent", json!({ "type": "touchEnd", "touchPoints": [] })).await;
}

const GRAZES: &str = "The zebra grazes near the old harbour.";

/// Asks a question whose answer cites two documents, one of them several times.
async fn ask_for_two(app: &TestApp, window: &Chromium) {
    let member = Member::login(app, enter(app, window).await).await;
    member.add("Zebra.pdf", pdf(&[&format!("It sleeps at noon.\n{GRAZES}\nIt has stripes.")])).await;
    member.add("Lion.pdf", pdf(&["The lion of the harbour follows the zebra at night."])).await;
    app.run_jobs().await;
    window.goto("/chat").await;
    ask(window, "Where does it graze?").await;
    window.find(".cite").await;
}

fn script_for_two() -> [Turn; 2] {
    let answer = "Near the harbour the zebra grazes (Zebra.pdf, page 1). At night the lion follows the zebra \
                  (Lion.pdf, page 1; Zebra.pdf, page 1). See Lion.pdf, page 1, and (Other.pdf, page 1).";
    [Turn::searching("zebra harbour"), Turn::saying(answer)]
}

#[tokio::test]
async fn citations_have_the_numbers_of_the_sources_and_preview_their_quotes() {
    journey_with(
        |setup| setup.script(script_for_two()),
        async |app, window| {
            ask_for_two(app, window).await;
            let check = async || {
                assert_eq!(window.texts(".cite").await, ["1", "2", "1", "2"]);
                assert_eq!(window.texts(".chip").await, ["1\nZebra.pdf\npage 1", "2\nLion.pdf\npage 1"]);
                let answer = window.texts(".answer").await.concat();
                assert!(
                    answer.contains("grazes1.") && answer.contains("zebra21. See Lion.pdf, page 1 2,"),
                    "{answer}"
                );
                assert!(answer.contains("(Other.pdf, page 1)"), "it is not a source: {answer}");
            };
            check().await;
            hover(window, ".cite").await;
            window.find("#preview").await;
            assert_eq!(window.texts("#preview").await, [format!("Zebra.pdf, page 1\n{GRAZES}")]);
            assert!(window.has(".cite[aria-describedby=preview]").await);
            hover(window, "#theme").await;
            wait::until("the preview is hidden", async || window.has("#preview[hidden]").await).await;
            hover(window, ".chips li + li .chip").await;
            window.see("Lion.pdf, page 1\nThe lion of the harbour follows the zebra at night.").await;
            let mut inspection = Inspection::begin(window, "dark").await;
            inspection.inspect("chat-preview").await;
            inspection.assert_no_findings();

            // A stored conversation has the same numbers.
            app.settle().await;
            let address = window.url().await;
            window.goto("/").await;
            window.run("location.href = arguments[0]", vec![json!(address)]).await;
            window.find(".cite").await;
            check().await;

            // A finger cannot hover: the first tap previews, the second opens.
            become_phone(window).await;
            tap(window, ".cite").await;
            window.see("Tap again to open the page.").await;
            assert!(!window.has("#source[open]").await);
            tap(window, ".cite").await;
            window.find("#source[open]").await;
            assert!(window.has("#preview[hidden]").await);
        },
    )
    .await;
}

#[tokio::test]
async fn passages_of_one_page_are_one_source() {
    let small = |setup: docent_tests::setup::Setup| {
        let answer = "The zebra likes harbour 2 (Long.pdf, page 1).";
        let size = ChunkSize { tokens: 32, overlap: 0 };
        setup
            .script([Turn::searching("zebra harbour"), Turn::saying(answer)])
            .settings(move |settings| settings.chunk_size = size)
    };
    journey_with(small, async |app, window| {
        let member = Member::login(app, enter(app, window).await).await;
        let line = |n| {
            format!(
                "The zebra likes harbour {n} for its water, its grass and the many ships that come and go.\n"
            )
        };
        member.add("Long.pdf", pdf(&[&(1..=6).map(line).collect::<String>()])).await;
        app.run_jobs().await;
        let found = member.post("/search", json!({ "query": "zebra harbour" })).await.expect(200).json();
        assert!(found["results"].as_array().unwrap().len() > 1, "several passages are found: {found}");
        window.goto("/chat").await;
        ask(window, "Which harbour?").await;
        window.find(".cite").await;
        assert_eq!(window.texts(".chip").await, ["1\nLong.pdf\npage 1"]);
        hover(window, ".cite").await;
        window.see("The zebra likes harbour 2 for its").await;
    })
    .await;
}
