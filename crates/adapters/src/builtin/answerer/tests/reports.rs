//! What is quoted from reports: parts of a calculation, periods, reasons and tables.

use super::*;
use crate::builtin::answerer::phrases::Phrases;
use docent_domain::chat::ToolCall;

#[tokio::test]
async fn part_of_a_ratio_that_is_nowhere_is_named() {
    let assets = "| (in millions) | 2018 |\n|---|---|\n| Total current assets | 90 |\n";
    let answer = answer_from("What was the current ratio in 2018?", vec![found(1, 0, assets)]).await;
    assert!(
        answer.contains("Not found: total current liabilities.") && answer.contains("**90**"),
        "{answer}"
    );
}

#[tokio::test]
async fn rows_of_one_table_in_two_passages_are_quoted_together() {
    let part = |row: &str| format!("Balance sheet\n\n| (in millions) | 2018 |\n|---|---|\n| {row} |\n");
    let (assets, liabilities) = (part("Total current assets | 90"), part("Total current liabilities | 60"));
    let passages = vec![found(1, 0, &assets), found(1, 1, &liabilities)];
    let answer = answer_from("What was the current ratio in 2018?", passages).await;
    assert!(answer.contains("| **90** |\n| Total current liabilities | **60** |"), "{answer}");
}

fn report(n: u32, title: &str, text: &str) -> ScoredChunk {
    ScoredChunk { title: title.to_owned(), ..found(n, 0, text) }
}

#[tokio::test]
async fn comparison_quotes_each_report_in_order_of_time() {
    let reports = vec![
        report(1, "Oriel 2018 Q2", "The sales of pumps were $7 million in this quarter."),
        report(2, "Oriel 2017 Q4", "Sales of pumps of $5 million were reported for the quarter."),
        report(3, "Reed 2018 Q1", "The sales of pumps of another company were $9 million."),
    ];
    let answer = answer_from("How have the sales of Oriel's pumps changed over time?", reports).await;
    let at = |part: &str| answer.find(part).unwrap_or_else(|| panic!("{part} in {answer}"));
    assert!(at("$5 million") < at("$7 million") && !answer.contains("$9 million"), "{answer}");
}

#[tokio::test]
async fn question_for_the_latest_report_is_not_answered_from_an_older_one() {
    let reports = vec![
        report(1, "Oriel 2017 Q4", "The sales of pumps were $5 million."),
        report(2, "Oriel 2018 Q2", "In this quarter the sales of pumps were $7 million."),
    ];
    let answer = answer_from("What were the sales of pumps in the latest report?", reports).await;
    assert!(answer.contains("$7 million") && !answer.contains("$5 million"), "{answer}");
}

#[tokio::test]
async fn question_about_a_quarter_is_answered_from_its_report() {
    let reports = vec![
        report(1, "2023 Q3 Oriel", "The sales of pumps in the quarter were $5 million."),
        report(2, "2023 Q1 Oriel", "In this quarter the sales of pumps were $7 million."),
    ];
    let question = "In the first quarter of 2023, what were the sales of pumps?";
    let answer = answer_from(question, reports.clone()).await;
    assert!(answer.contains("$7 million") && !answer.contains("$5 million"), "{answer}");
    let answer = answer_from("What were the sales of pumps in Q2 2023?", reports).await;
    assert!(answer.contains("$5 million"), "no report of the quarter: {answer}");
}

#[tokio::test]
async fn year_is_preferred_to_its_last_quarter() {
    let texts = [
        "In the fourth quarter of 2022, the sales of pumps fell by 3 percent.",
        "Over all of 2022, the sales of pumps fell by 2 percent.",
    ];
    let passages = || (1..).zip(texts).map(|(n, text)| found(1, n, text)).collect::<Vec<_>>();
    let answer = answer_from("By how much did the sales of pumps fall in 2022?", passages()).await;
    assert!(answer.starts_with("“Over all of 2022"), "{answer}");
    let answer =
        answer_from("By how much did the sales of pumps fall in the fourth quarter of 2022?", passages())
            .await;
    assert!(answer.starts_with("“In the fourth quarter"), "{answer}");
}

/// The conversation with a question and these results of the calls for it.
fn after_calls(question: &str, results: Vec<(&str, &str, Vec<ScoredChunk>)>) -> Vec<Message> {
    let result = |(call_id, content, passages): (&str, &str, _)| {
        let (call_id, content) = (call_id.to_owned(), content.to_owned());
        Message::Tool(ToolOutput { call_id, content, passages, ..ToolOutput::default() })
    };
    [user(question)].into_iter().chain(results.into_iter().map(result)).collect()
}

#[tokio::test]
async fn statements_are_searched_for_after_the_reports_of_a_series() {
    let told = |n| vec![report(n, "Oriel 2018 Q2", "Gross margin was the same as in the quarter before.")];
    let list = "- Oriel 2018 Q2 (3 pages)\n- Oriel 2018 Q1 (3 pages)";
    let mut results =
        vec![("search_1", "", told(1)), ("reports_1", list, Vec::new()), ("report_1_1", "", told(1))];
    let question = "What was Oriel's gross margin in the latest report?";
    let next = events(after_calls(question, results.clone()), vec![SEARCH, LIST]).await;
    let [call] = calls(&next)[..] else { panic!("{next:?}") };
    assert!(call.arguments.contains("balance sheets"), "{call:?}");
    let income = "Statements of income\n\n| (in millions) | 2018 |\n|---|---|\n| Net sales | 80 |\n| Gross profit | 20 |\n| Cost of sales | 60 |\n";
    results.push(("search_2", "", vec![report(1, "Oriel 2018 Q2", income)]));
    let answer = text(after_calls(question, results)).await;
    assert!(answer.contains("| Net sales | 80 |") && !answer.contains("Not found"), "{answer}");
}

#[tokio::test]
async fn further_search_that_fails_takes_nothing_from_the_first() {
    let sales = vec![report(1, "Oriel 2018 Q2", "The sales of pumps were $7 million.")];
    let failed = "Error searching documents: the index cannot be reached";
    let results = vec![("search_1", "", sales), ("report_1_1", failed, Vec::new())];
    let answer = text(after_calls("What were the sales of pumps in the latest report?", results)).await;
    assert!(answer.contains("$7 million"), "{answer}");
}

const LIST: ToolSpec = ToolSpec { name: LIST_TOOL, description: "", parameters: "{}" };

fn calls(events: &[ChatEvent]) -> Vec<&ToolCall> {
    let calls = events.iter().filter_map(|event| match event {
        ChatEvent::ToolCall(call) => Some(call),
        ChatEvent::Reasoning(_) | ChatEvent::Text(_) | ChatEvent::Finished { .. } => None,
    });
    calls.collect()
}

#[tokio::test]
async fn each_report_of_a_series_is_searched_for_a_comparison() {
    let sales = |n, title: &str, amount| {
        report(n, title, &format!("The sales of pumps changed to ${amount} million."))
    };
    let mut messages = vec![
        user("How have the sales of pumps changed over time?"),
        output("", vec![sales(1, "Oriel 2018 Q2", 7)]),
    ];
    let listing = events(messages.clone(), vec![SEARCH, LIST]).await;
    let [listing] = calls(&listing)[..] else { panic!("{listing:?}") };
    assert_eq!((&*listing.name, &*listing.arguments), (LIST_TOOL, r#"{"name":"oriel"}"#));

    let reply = |call: &ToolCall, content: &str, passages| {
        let output = ToolOutput {
            call_id: call.id.clone(),
            content: content.to_owned(),
            passages,
            ..ToolOutput::default()
        };
        Message::Tool(output)
    };
    let list = "- Oriel 2018 Q2 (3 pages)\n- Oriel 2017 Q4 (3 pages)\n- Oriel 2018 Q1 (3 pages)";
    messages.push(reply(listing, list, Vec::new()));
    let searches = events(messages.clone(), vec![SEARCH, LIST]).await;
    let searches = calls(&searches);
    let titles = ["Oriel 2017 Q4", "Oriel 2018 Q1", "Oriel 2018 Q2"];
    for (at, call) in searches.iter().enumerate() {
        assert!(call.arguments.contains(titles[at]), "{call:?}");
        assert!(searches[..at].iter().all(|other| other.id != call.id), "{searches:?}");
        messages.push(reply(call, "", vec![sales(at as u32 + 2, titles[at], at + 5)]));
    }
    assert_eq!(searches.len(), titles.len());
    let answer = events(messages, vec![SEARCH, LIST]).await;
    assert!(calls(&answer).is_empty(), "{answer:?}");
    let answer: String = answer
        .into_iter()
        .filter_map(|event| if let ChatEvent::Text(text) = event { Some(text) } else { None })
        .collect();
    let at = |part: &str| answer.find(part).unwrap_or_else(|| panic!("{part} in {answer}"));
    assert!(at("$5 million") < at("$6 million") && at("$6 million") < at("$7 million"), "{answer}");
}

#[tokio::test]
async fn caution_is_quoted_only_if_it_is_asked_for() {
    let text = "Sales of pumps are subject to risks and uncertainties. In summer, the sales of pumps of all shops rise.";
    let passages = vec![found(1, 0, text)];
    let answer = answer_from("What are the sales of pumps subject to in summer?", passages.clone()).await;
    assert!(answer.starts_with("“In summer"), "{answer}");
    let answer = answer_from("Which risks and uncertainties are sales of pumps subject to?", passages).await;
    assert!(answer.starts_with("“Sales of pumps are subject"), "{answer}");
}

#[tokio::test]
async fn share_is_answered_with_the_part_and_the_whole() {
    let sales = "Revenue\n\n| (in millions) | 2018 |\n|---|---|\n| Services | 20 |\n| Total revenue | 80 |\n";
    let margins = "Gross margin\n\n| (in millions) | 2018 |\n|---|---|\n| Services | 4 |\n";
    let passages = vec![
        found(1, 0, "Services grew. They are a part of the total revenue."),
        found(1, 1, margins),
        found(1, 2, sales),
    ];
    for question in [
        "What percentage of total revenue did services contribute in 2018?",
        "What share of total revenue was from services in 2018?",
    ] {
        let answer = answer_from(question, passages.clone()).await;
        assert!(answer.starts_with("I do not calculate.") && answer.contains("| **20** |\n"), "{answer}");
        assert!(answer.contains("| Total revenue | **80** |") && !answer.contains("Not found"), "{answer}");
    }
}

#[tokio::test]
async fn growth_is_answered_with_the_row_that_grows() {
    let income = "Statement of income\n\n| (in millions) | 2018 | 2017 |\n|---|---|---|\n| Total revenue | 9 | 7 |\n| Cost of revenue | 5 | 4 |\n";
    let passages = vec![
        found(1, 0, "The growth rate of revenue may be 5 percent or less in some years."),
        found(1, 1, income),
    ];
    let question = "What is the 2017 - 2018 total revenue growth rate? Answer in units of percents.";
    let answer = answer_from(question, passages).await;
    assert!(answer.starts_with("I do not calculate.") && answer.contains("| Total revenue | "), "{answer}");
    assert!(!answer.contains("Cost of revenue"), "{answer}");
}

#[tokio::test]
async fn reason_comes_before_the_row_with_the_figure() {
    let text = "| (in millions) | 2018 | 2017 |\n|---|---|---|\n| Sales of pumps | 9 | 7 |\n\nSales of pumps increased, primarily due to the wet summer.";
    let answer = answer_from("What drove the sales of pumps?", vec![found(1, 0, text)]).await;
    assert!(answer.starts_with("“Sales of pumps increased, primarily due to the wet summer.”"), "{answer}");
}

#[tokio::test]
async fn caption_of_any_length_is_quoted_with_its_table() {
    let caption = "Attendance of the directors at the meetings of the committee on remuneration during the last financial year";
    let text = format!("{caption}\n\n| Name | Meetings |\n|---|---|\n| R. Oriel | 3 |\n| K. Reed | 2 |\n");
    let answer =
        answer_from("What is the attendance at the committee on remuneration?", vec![found(1, 0, &text)])
            .await;
    assert!(answer.contains("| R. Oriel | 3 |\n| K. Reed | 2 |"), "{answer}");
}

#[tokio::test]
async fn amount_without_a_row_is_searched_for_with_its_subject_alone() {
    let question = "What were Oriel's total current liabilities at the end of 2018 (in USD millions)?";
    let other = report(1, "Oriel 2018", "The liabilities of 2018 were reviewed.");
    let asked = vec![user(question), output("", vec![other])];
    let first = events(asked.clone(), vec![SEARCH]).await;
    let [ChatEvent::ToolCall(call), ..] = &first[..] else { panic!("{first:?}") };
    assert_eq!(call.arguments, r#"{"query":"Oriel total current liabilities 2018"}"#);
    let row = "Balance sheet\n\n| (in millions) | 2018 |\n|---|---|\n| Total current liabilities | 60 |\n";
    let found = vec![report(2, "Oriel 2018", row)];
    let answer = text([asked.clone(), vec![output("", found)]].concat()).await;
    assert!(answer.contains("| Total current liabilities | **60** |"), "{answer}");
    let none = text([asked, vec![output("", Vec::new())]].concat()).await;
    assert!(none.contains("The liabilities of 2018 were reviewed."), "{none}");
}

#[tokio::test]
async fn part_of_a_ratio_may_be_told_in_a_sentence() {
    let revenue = "Statement of income\n\n| (in millions) | 2015 |\n|---|---|\n| Revenue | 90 |\n";
    let told = "Advertising expenses were $7.3 million in 2015. Advertising expenses were not capitalised.";
    let passages = vec![found(1, 0, revenue), found(1, 3, told)];
    let answer = answer_from("What was the advertising expense to revenue ratio in 2015?", passages).await;
    assert!(answer.contains("| Revenue | **90** |"), "{answer}");
    assert!(answer.contains("“Advertising expenses were $7.3 million in 2015.”"), "{answer}");
    assert!(!answer.contains("Not found"), "{answer}");
}

#[tokio::test]
async fn second_question_does_not_make_the_first_one_unanswered() {
    let row = "| (in millions) | 2023 |\n|---|---|\n| Research and development | 7 |\n";
    let question =
        "How much did Oriel spend on research and development in 2023, and what was the goal of this outlay?";
    let answer = answer_from(question, vec![report(1, "Oriel 2023", row)]).await;
    assert!(answer.contains("| Research and development | **7** |"), "{answer}");
}

#[tokio::test]
async fn german_question_is_answered_from_an_english_document() {
    let passages = vec![
        report(
            1,
            "Oriel 2018",
            "Pumps are painted blue. In 2018, revenue of Oriel was $7 million in all its markets.",
        ),
        report(2, "Reed guide", "The tower has nine floors and is the pride of the town."),
    ];
    let answer = answer_from("Wie hoch war der Umsatz von Oriel?", passages.clone()).await;
    assert!(answer.contains("$7 million") && answer.contains("Seite"), "{answer}");
    assert!(is_declined(asked("Wie lautet das Kennwort der Anlage?", passages)).await);
}

#[tokio::test]
async fn question_for_a_person_prefers_a_sentence_with_a_name() {
    let passages = vec![
        report(1, "Oriel 2018", "The accounts of the company are audited by an auditor of such accounts."),
        report(1, "Oriel 2018", "Reed Brothers LLP audited the accounts for the board."),
    ];
    let answer = answer_from("Who audited the accounts?", passages).await;
    assert!(answer.starts_with("“Reed Brothers LLP"), "{answer}");
}

#[tokio::test]
async fn comparison_of_names_answers_about_each() {
    let question = "Did Oriel or Tarn have the higher profit?";
    let of = |n, name: &str, amount| {
        report(n, &format!("{name} 2018"), &format!("The profit of the year was ${amount} million."))
    };
    let mut results = vec![("search_1", "", vec![of(1, "Oriel", 3)])];
    let searches = events(after_calls(question, results.clone()), vec![SEARCH, LIST]).await;
    let [oriel, tarn] = calls(&searches)[..] else { panic!("{searches:?}") };
    assert!(oriel.arguments.contains("Oriel") && !oriel.arguments.contains("Tarn"), "{oriel:?}");
    assert!(tarn.arguments.contains("Tarn") && !tarn.arguments.contains("Oriel"), "{tarn:?}");

    results.push((&oriel.id, "", vec![of(1, "Oriel", 3)]));
    let failed = "Error searching documents: the index cannot be reached";
    let without = [results.clone(), vec![(&tarn.id, failed, Vec::new())]].concat();
    assert_eq!(text(after_calls(question, without)).await, Phrases::of(question).search_failed);

    let nothing = [results.clone(), vec![(&tarn.id, "", Vec::new())]].concat();
    let answer = text(after_calls(question, nothing)).await;
    assert!(answer.contains("$3 million") && answer.contains("**Tarn**\n\nI found no passage"), "{answer}");

    results.push((&tarn.id, "", vec![of(2, "Tarn", 5)]));
    let answer = text(after_calls(question, results)).await;
    let [before, after] = answer.split("**Tarn**").collect::<Vec<_>>()[..] else { panic!("{answer}") };
    assert!(before.starts_with("**Oriel**") && before.contains("$3 million"), "{answer}");
    assert!(after.contains("$5 million"), "{answer}");
}

#[tokio::test]
async fn side_of_a_comparison_is_searched_further() {
    let question = "Did Oriel or Tarn have the higher revenue?";
    let of =
        |n, name: &str| report(n, &format!("{name} 2018"), "The revenue of the pump segment was $1 million.");
    let results = vec![
        ("search_1", "", vec![of(1, "Oriel")]),
        ("side_1_2_1", "", vec![of(1, "Oriel")]),
        ("side_1_3_2", "", vec![of(2, "Tarn")]),
    ];
    let searches = events(after_calls(question, results.clone()), vec![SEARCH]).await;
    let [oriel, tarn] = calls(&searches)[..] else { panic!("{searches:?}") };
    assert!(oriel.arguments.contains("Oriel") && oriel.id.ends_with("_1"), "{oriel:?}");
    assert!(tarn.arguments.contains("statements") && tarn.id.ends_with("_2"), "{tarn:?}");
}
