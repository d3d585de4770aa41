//! How the web chat shows answers: where the view is while they grow, and their tables.

use super::chat::{ask, enter};
use super::inspection::Inspection;
use super::journey_with;
use docent_testkit::fakes::chat_model::Turn;
use docent_tests::app::TestApp;
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

async fn ask_for_figures(app: &TestApp, window: &Chromium) {
    let member = Member::login(app, enter(app, window).await).await;
    member.add("Figures.pdf", figures()).await;
    app.run_jobs().await;
    window.goto("/chat").await;
    answer(window, "How much were net sales in 2017?").await;
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
            for scheme in ["light", "dark"] {
                let mut inspection = Inspection::begin(window, scheme).await;
                inspection.inspect("chat-table").await;
                inspection.assert_no_findings();
            }
        },
    )
    .await;
}
