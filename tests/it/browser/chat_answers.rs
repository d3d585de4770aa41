//! How the web chat shows answers: where the view is while they grow, and their tables.

use super::chat::{ADA, ask, enter, renderer};
use super::german::{prefer_german, sign_in};
use super::inspection::Inspection;
use super::journey_with;
use docent_app::accounts::create::Flags;
use docent_testkit::fakes::chat_model::Turn;
use docent_tests::app::{PASSWORD, TestApp};
use docent_tests::chromium::Chromium;
use docent_tests::member::Member;
use docent_tests::pdf::pdf;
use docent_tests::wait;
use serde_json::{Value, json};

const PHONE: [u32; 2] = [390, 844];

async fn run(window: &Chromium, script: &str) -> Value {
    window.run(script, vec![]).await
}

/// Waits until the last question is directly below the header.
async fn see_question_at_the_top(window: &Chromium) {
    let top = "const top = (css) => document.querySelector(css).getBoundingClientRect();
        return top('.turn:last-child .question').top - top('.top').bottom";
    wait::until("the question is at the top", async || {
        let distance = run(window, top).await.as_f64().unwrap();
        (0.0..60.0).contains(&distance)
    })
    .await;
}

/// Asks, and waits for the whole answer.
async fn answer(window: &Chromium, question: &str) {
    ask(window, question).await;
    window.find(".turn:last-child .retry").await;
}

async fn question_stays_in_view(width: u32, height: u32) {
    let long = "A line of the answer.\n\n".repeat(80);
    let script = [Turn::saying("Short."), Turn::new().text(&long).stall(), Turn::saying(&long)];
    journey_with(
        |setup| setup.script(script),
        async |app, window| {
            window.resize(width, height).await;
            enter(app, window).await;
            answer(window, "A short answer?").await;
            ask(window, "A long answer?").await;
            see_question_at_the_top(window).await;

            // Where the reader has scrolled to stays in view when the answer ends.
            let place = run(window, "scrollBy(0, 300); return scrollY").await;
            window.press("Stop").await;
            window.find(".turn:last-child .retry").await;
            assert_eq!(run(window, "return scrollY").await, place);
            answer(window, "And the whole of it?").await;
            see_question_at_the_top(window).await;
            assert_eq!(window.console_errors().await, Vec::<String>::new());
        },
    )
    .await;
}

#[tokio::test]
async fn question_stays_at_the_top_while_its_answer_grows() {
    question_stays_in_view(1440, 900).await;
}

#[tokio::test]
async fn question_stays_at_the_top_of_a_phone() {
    question_stays_in_view(PHONE[0], PHONE[1]).await;
}

const NET_SALES: &str = "Net sales of all stores and clubs in all countries and regions";
const COSTS: &str = "Cost of all stores and clubs in all countries and regions";

/// A PDF with a table of wide rows.
fn figures() -> Vec<u8> {
    let table = format!(
        "Statement of income\n| In millions | 2018 | 2017 | 2016 |\n| {COSTS} | 16,682 | 16,055 | 15,111 |\n\
         | {NET_SALES} | 32,765 | 31,657 | 30,222 |\nThe numbers are not audited.\n"
    );
    let filler = |n: usize| {
        (1..=45).map(|line| format!("Note {n} has line {line} about stores and clubs.\n")).collect()
    };
    let pages: Vec<String> = vec![filler(1), table, filler(3)];
    pdf(&pages.iter().map(String::as_str).collect::<Vec<_>>())
}

/// An answer with the row of a table, in which the figure is bold.
fn script() -> [Turn; 2] {
    let answer = format!(
        "| In millions | 2018 | 2017 | Change | Remark |\n|---|---|---|---|---|\n\
         | {COSTS} | 16,682 | 16,055 | (1.2 %) | 3 notes |\n| {NET_SALES} | 32,765 | **31,657** (Figures.pdf, page 2) | \u{2014} | not audited |\n\n\
         (Figures.pdf, page 2)"
    );
    [Turn::searching("net sales"), Turn::saying(&answer)]
}

/// Asks for a figure of a table. Returns the member and the ID of the document.
async fn ask_for_figures(app: &TestApp, window: &Chromium) -> (Member, String) {
    let member = Member::login(app, enter(app, window).await).await;
    let id = member.add("Figures.pdf", figures()).await;
    app.run_jobs().await;
    window.goto("/chat").await;
    answer(window, "How much were net sales in 2017?").await;
    (member, id)
}

#[tokio::test]
async fn numbers_of_tables_are_aligned_right_and_wide_tables_show_that_they_scroll() {
    journey_with(
        |setup| setup.script(script()),
        async |app, window| {
            ask_for_figures(app, window).await;
            assert_eq!(window.texts(".answer th.right").await, ["2018", "2017", "Change"]);
            let right = ["16,682", "16,055", "(1.2 %)", "32,765", "31,6571", "\u{2014}"];
            assert_eq!(window.texts(".answer td.right").await, right);
            let left = "return getComputedStyle(document.querySelector('.answer td')).textAlign";
            assert_eq!(run(window, left).await, json!("left"));

            window.resize(PHONE[0], PHONE[1]).await;
            // The shadows stay at the edges, and what covers them moves with the table.
            let hint = "const table = document.querySelector('.answer .table');
                const style = getComputedStyle(table);
                return [table.scrollWidth > table.clientWidth, style.backgroundAttachment.startsWith('local, local, scroll, scroll'),
                    document.documentElement.scrollWidth]";
            assert_eq!(run(window, hint).await, json!([true, true, PHONE[0]]));
            // The labels of the rows stay in view, beside the border.
            let labels = "const table = document.querySelector('.answer .table');
                table.scrollLeft = 40;
                const left = (element) => Math.round(element.getBoundingClientRect().left);
                const distances = ['th', 'td'].map((cell) => left(table.querySelector(cell)) - left(table));
                const result = [table.scrollLeft > 0, ...distances];
                table.scrollLeft = 0;
                return result";
            assert_eq!(run(window, labels).await, json!([true, 1, 1]));
            for scheme in ["light", "dark"] {
                let mut inspection = Inspection::begin(window, scheme).await;
                inspection.inspect("chat-table").await;
                inspection.assert_no_findings();
            }
        },
    )
    .await;
}

/// Distances of the cited number from the edges of the pages, and the height of its line.
const FIGURE: &str = "const box = document.getElementById('pages').getBoundingClientRect();
    const figure = document.querySelector('.marks .figure')?.getBoundingClientRect();
    const line = document.querySelector('.marks .strong')?.getBoundingClientRect();
    return figure && line ? [figure.left - box.left, box.right - figure.right, figure.top - box.top, box.bottom - figure.bottom, line.height] : null";

/// The place of the marked number on its page, as a part of the width of the page.
const PLACE: &str = "return Number.parseFloat(document.querySelector('.marks .figure').style.left)";

#[tokio::test]
async fn cited_number_is_in_view_on_a_phone() {
    journey_with(
        |setup| setup.script(script()).renderer(renderer()),
        async |app, window| {
            let (member, id) = ask_for_figures(app, window).await;
            let words = member.get(&format!("/documents/{id}/pages/2/words")).await.expect(200).json();
            let words = words["lines"].as_array().unwrap().iter().flat_map(|line| line.as_array().unwrap());
            let figure = words.into_iter().find(|word| word["text"] == "31,657").expect("the figure");
            let expected = figure["bounds"][0].as_f64().unwrap() * 100.0;
            window.resize(PHONE[0], PHONE[1]).await;
            for citation in [".answer td .cite", ".answer p .cite", ".chip"] {
                window.click(citation).await;
                let is_readable = async || {
                    let figure = run(window, FIGURE).await;
                    let figure: Vec<_> =
                        figure.as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
                    figure.len() == 5
                        && figure[..4].iter().all(|distance| *distance >= 0.0)
                        && figure[4] >= 11.0
                };
                if !wait::comes_true(is_readable).await {
                    panic!("{citation}: {}", run(window, FIGURE).await);
                }
                let place = run(window, PLACE).await.as_f64().unwrap();
                assert!((place - expected).abs() < 0.1, "{place}, expected {expected}");
                window.click("#source-close").await;
            }
            assert_eq!(window.console_errors().await, Vec::<String>::new());
        },
    )
    .await;
}

#[tokio::test]
async fn sidebar_makes_room_for_a_document_on_a_screen_of_medium_width() {
    journey_with(
        |setup| setup.script(script()).renderer(renderer()),
        async |app, window| {
            window.resize(1200, 900).await;
            ask_for_figures(app, window).await;
            window.click(".chip").await;
            window.find("#pages img").await;
            assert!(window.has("#side.folded").await);
            let width = "return document.querySelector('.conversation').clientWidth";
            assert!(run(window, width).await.as_u64().unwrap() > 400);
            window.click("#source-close").await;
            wait::until("the sidebar is back", async || !window.has("#side.folded").await).await;

            // Opened from its list, it stays.
            window.click("#documents-list .title button").await;
            window.find("#pages img").await;
            assert!(!window.has("#side.folded").await);
        },
    )
    .await;
}

#[tokio::test]
async fn sources_that_the_answer_does_not_cite_are_folded() {
    let script = [Turn::searching("zebra"), Turn::saying("It likes grass (Zebra.pdf, page 1).")];
    journey_with(
        |setup| setup.script(script),
        async |app, window| {
            let member = Member::login(app, enter(app, window).await).await;
            for (name, text) in [
                ("Lion.pdf", "The zebra fears the lion."),
                ("Zebra.pdf", "The zebra likes grass."),
                ("Harbour.pdf", "A zebra came by ship."),
            ] {
                member.add(name, pdf(&[text])).await;
            }
            app.run_jobs().await;
            window.goto("/chat").await;
            answer(window, "What does it like?").await;
            assert_eq!(window.texts(".note + .chips .chip").await, ["1\nZebra.pdf\npage 1"]);
            window.see("2 more passages were found").await;
            let mut inspection = Inspection::begin(window, "light").await;
            window.click(".further-sources summary").await;
            inspection.inspect("chat-further-sources").await;
            let further = window.texts(".further-sources .chip").await;
            let starts: Vec<&str> = further.iter().map(|chip| &chip[..1]).collect();
            assert_eq!(starts, ["2", "3"], "{further:?}");
            window.click(".further-sources .chip").await;
            window.find("#source[open]").await;
            inspection.assert_no_findings();
        },
    )
    .await;
}

#[tokio::test]
async fn question_back_is_answered_with_a_button_or_the_keyboard() {
    for (scheme, is_german) in [("light", false), ("dark", true)] {
        journey_with(
            |setup| setup.builtin_answerer(),
            async |app, window| {
                let user = app.account(ADA, Flags::default()).await;
                let ada = Member::login(app, user).await;
                for (title, text) in [
                    ("Pump.pdf", "A pump moves water from one place to another."),
                    ("Valve.pdf", "A valve opens and closes a pipe."),
                ] {
                    ada.add(title, pdf(&[text])).await;
                }
                app.run_jobs().await;
                let (question, name) = match is_german {
                    true => ("Worum geht es?", "Auswahl"),
                    false => ("What is this document about?", "Choices"),
                };
                if is_german {
                    prefer_german(window).await;
                    sign_in(window, "/chat", ADA).await;
                } else {
                    window.goto("/chat").await;
                    window.submit_login(ADA, PASSWORD).await;
                }
                window.find("#question").await;
                answer(window, question).await;
                let label =
                    run(window, "return document.querySelector('.choices').getAttribute('aria-label')");
                assert_eq!(label.await, json!(name));
                let mut titles = window.texts(".choices button").await;
                titles.sort();
                assert_eq!(titles, ["Pump.pdf", "Valve.pdf"]);
                let mut inspection = Inspection::begin(window, scheme).await;
                inspection.inspect("chat-choices").await;
                inspection.assert_no_findings();

                let focus = "[...document.querySelectorAll('.choices button')]
                    .find((button) => button.textContent === 'Valve.pdf').focus()";
                run(window, focus).await;
                window.keys("\u{e007}").await;
                wait::until("the choice is answered", async || {
                    window.texts(".turn .question").await.len() == 2
                })
                .await;
                window.find(".turn:last-child .retry").await;
                assert_eq!(window.texts(".turn:last-child .question").await, ["Valve.pdf"]);
                let text = window.texts(".turn:last-child .answer").await.concat();
                assert!(text.contains("Valve.pdf") && !text.contains("Pump.pdf"), "{text}");
                assert!(!window.has(".choices").await, "a question back that was answered has no buttons");
                assert_eq!(run(window, "return document.activeElement.id").await, json!("question"));
                assert_eq!(window.console_errors().await, Vec::<String>::new());
            },
        )
        .await;
    }
}
