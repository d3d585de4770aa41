//! Questions for one figure.

use super::*;
use docent_domain::chunk::{Position, Span};

fn passage(n: u32, text: &str) -> ScoredChunk {
    ScoredChunk { title: "Oriel 2018.pdf".to_owned(), ..found(1, n, text) }
}

const SEGMENT: &str =
    "Home segment\n\n| ($ in millions) | 2018 | 2017 |\n|---|---|---|\n| Revenue | $7 | $6 |\n";
const STATEMENT: &str = "Statements of Earnings\n\n| ($ in millions) | 2018 | 2017 |\n|---|---|---|\n| Revenue | $90 | $80 |\n| Gain on sales, net | 5 | 4 |\n";

#[tokio::test]
async fn total_comes_from_a_statement_rather_than_from_a_segment() {
    let question = "What was Oriel's revenue in the fiscal year 2018?";
    let segment = vec![passage(1, SEGMENT)];
    let next = events(vec![user(question), output("", segment.clone())], vec![SEARCH]).await;
    assert!(
        matches!(&next[0], ChatEvent::ToolCall(call) if call.arguments.contains("statements") && call.arguments.contains("revenue")),
        "{next:?}"
    );
    let messages = vec![
        user(question),
        output("", segment),
        output("", Vec::new()),
        output("", vec![passage(2, STATEMENT)]),
    ];
    let answer = text(messages).await;
    assert!(answer.starts_with("Statements of Earnings") && answer.contains("**$90**"), "{answer}");
    assert!(!answer.contains("calculate") && !answer.contains("Gain"), "{answer}");
}

#[tokio::test]
async fn figure_that_a_row_has_is_not_calculated() {
    let parts = "Statements of cash flows\n\n| | 2018 |\n|---|---|\n| Net cash provided by operating activities | 12 |\n| Capital expenditures | 4 |\n";
    let row = "Highlights\n\n| | 2018 |\n|---|---|\n| Free cash flow | 8 |\n";
    let question = "How much free cash flow did Oriel make in 2018?";
    let answer = answer_from(question, vec![passage(1, parts), passage(2, row)]).await;
    assert!(answer.starts_with("Highlights") && answer.contains("| Free cash flow | **8** |"), "{answer}");
    let answer = answer_from(question, vec![passage(1, parts)]).await;
    assert!(answer.starts_with("I do not calculate."), "{answer}");
}

#[tokio::test]
async fn figure_of_a_year_comes_from_the_table_of_the_year() {
    let table = |period: &str, sales: &str| {
        format!(
            "Statements of Income\n\n| | {period} January 28, 2023 | {period} January 29, 2022 |\n|---|---|---|\n| Net sales | {sales} | 5 |\n\n"
        )
    };
    let both = passage(1, &(table("13 Weeks Ended", "$30") + &table("52 Weeks Ended", "$100")));
    for (question, expected) in [
        ("How much were the net sales in fiscal 2022?", "52 Weeks Ended"),
        ("How much were the net sales in the quarter that ended in January 2023?", "13 Weeks Ended"),
    ] {
        let answer = answer_from(question, vec![both.clone()]).await;
        let first = answer.lines().next().unwrap_or_default();
        assert!(first.starts_with("Statements of Income") && first.contains(expected), "{answer}");
    }
}

#[tokio::test]
async fn table_of_a_part_and_a_whole_year_has_the_figure_of_the_year() {
    let part =
        "Statements of Income\n\n| | 13 Weeks Ended January 28, 2023 |\n|---|---|\n| Net sales | $30 |\n\n";
    let both = "Statements of Income\n\n| | 13 Weeks Ended January 28, 2023 | 52 Weeks Ended January 28, 2023 |\n|---|---|---|\n| Net sales | $30 | $100 |\n";
    let question = "How much were the net sales in fiscal 2023?";
    let answer = answer_from(question, vec![passage(1, &(part.to_owned() + both))]).await;
    let first = answer.lines().find(|line| line.starts_with("| Net sales")).unwrap_or_default();
    assert!(first.contains("$100"), "{answer}");
}

#[tokio::test]
async fn end_of_a_sentence_is_no_caption() {
    let table = ", 2022.\n\n| | 2018 |\n|---|---|\n| Net sales | 7 |\n";
    let answer = answer_from("What were the net sales in 2018?", vec![passage(1, table)]).await;
    assert!(answer.starts_with("| | 2018 |"), "{answer}");
}

#[tokio::test]
async fn percentages_do_not_answer_how_much() {
    let table = |caption: &str, row: &str| format!("{caption}\n\n| | 2018 |\n|---|---|\n| {row} |\n");
    let rate = passage(1, &table("Rates", "Rent as a % of revenue | 3%"));
    let amount = passage(2, &table("Amounts", "Rent of shops | $40"));
    let answer = answer_from("How much was the rent in 2018?", vec![rate, amount]).await;
    assert!(answer.starts_with("Amounts"), "{answer}");
}

#[tokio::test]
async fn beginning_that_all_columns_share_is_written_once() {
    let table = "Sales\n\n| | Years ended December 31, 2018 | Years ended December 31, 2017 |\n|---|---|---|\n| Pumps | 7 | 6 |\n";
    let answer = answer_from("What were the sales of pumps?", vec![passage(1, table)]).await;
    assert!(answer.contains("Sales: Years ended December 31,\n\n| | 2018 | 2017 |"), "{answer}");
    let dates =
        "Sales\n\n| | As of July 29, 2018 | As of July 30, 2017 |\n|---|---|---|\n| Pumps | 7 | 6 |\n";
    let answer = answer_from("What were the sales of pumps?", vec![passage(1, dates)]).await;
    assert!(answer.contains("Sales: As of\n\n| | July 29, 2018 |"), "{answer}");
}

#[tokio::test]
async fn time_and_duration_are_in_the_quote() {
    let texts = ["The descaling of the machine matters.", "A descaling of the machine lasts 80 minutes."];
    let found = texts.iter().zip(1..).map(|(text, n)| passage(n, text)).collect();
    let answer = answer_from("How long is the descaling of the machine?", found).await;
    assert!(answer.starts_with("“A descaling of the machine lasts 80 minutes"), "{answer}");
    let texts = ["The pump is delivered to towns by rail.", "The pump will be delivered on 3 March 2018."];
    let found = texts.iter().zip(1..).map(|(text, n)| passage(n, text)).collect();
    let answer = answer_from("When will the pump be delivered?", found).await;
    assert!(answer.starts_with("“The pump will be delivered on 3 March"), "{answer}");
}

#[tokio::test]
async fn answer_about_another_name_is_no_repetition() {
    let sales = vec![passage(1, "The sales of Oriel were $7 million.")];
    let answer = "“The sales of Oriel were $7 million.” (Oriel 2018.pdf, page 1)";
    let mut messages = vec![
        user("What were the sales of Oriel?"),
        Message::Assistant { content: answer.to_owned(), tool_calls: Vec::new() },
        user("And Best Tarn?"),
        output("", sales),
    ];
    messages.extend(std::iter::repeat_with(|| output("", Vec::new())).take(3));
    let answer = text(messages).await;
    assert!(!answer.contains("has this already"), "{answer}");
}

#[tokio::test]
async fn figure_by_name_is_that_of_the_whole_company() {
    let table = |n, caption: &str, label: &str, amount: &str| {
        let header = format!("| {caption} (in millions) | 2018 |\n|---|---|");
        found(1, n, &format!("{caption}\n\n{header}\n| {label} | {amount} |\n"))
    };
    let statement = "Consolidated Statements of Operations";
    for (caption, label, other) in [
        ("Results of Operations of the Credit Segment", "Revenues", statement),
        ("Components of Discontinued operations––net of tax:", "Revenues", "Significant Product Revenues"),
        ("Consolidated Statements of Changes in Equity", "Revenue", statement),
        ("Statements of Equity", "Revenue", "Selected figures"),
    ] {
        let wholly = table(2, other, "Total revenues", "900");
        let answer = answer_from("What was the revenue?", vec![table(1, caption, label, "7"), wholly]).await;
        assert!(
            answer.find("900").is_some_and(|at| answer.find("| 7 ").is_none_or(|other| at < other)),
            "{answer}"
        );
    }
}

#[tokio::test]
async fn caption_of_a_table_counts_in_its_second_half_too() {
    let at = |start: u32, end: u32, text: &str| {
        let position = |offset| Position { page: 4, offset };
        let chunk = passage(start, text);
        ScoredChunk { span: Span { start: position(start), end: position(end) }, ..chunk }
    };
    let head = "| ($ in millions) | 2018 | 2017 |\n|---|---|---|\n";
    let first = at(0, 500, &format!("Consolidated Balance Sheets\n\n{head}| Inventories | 4 | 3 |\n"));
    let second = at(500, 900, &format!("{head}| Property, plant and equipment, net | 50 | 40 |\n"));
    let note = at(2000, 2500, &format!("Leased\n\n{head}| Property, plant and equipment | 9 | 8 |\n"));
    let messages = [vec![note, first, second], Vec::new(), Vec::new(), Vec::new()];
    let messages = messages.map(|passages| output("", passages));
    let question = user("How much property, plant and equipment did Oriel have in 2018?");
    let answer = text([vec![question], messages.to_vec()].concat()).await;
    assert!(answer.contains("**50**"), "{answer}");
}
