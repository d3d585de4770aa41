//! Questions about a page, about kinds of values, and what is quoted around an answer.

use super::*;

/// A passage with a page of text on each of the pages 3 and 4.
fn two_pages() -> ScoredChunk {
    let text = "The pump of the cellar is green.\n\nThe pump of the attic is red and was made in Kelmsworth.";
    let mut passage = found(1, 0, text);
    passage.pages = vec![PageStart { page: 3, at: 0 }, PageStart { page: 4, at: 34 }];
    passage.span.start.page = 3;
    passage.span.end.page = 4;
    passage
}

#[tokio::test]
async fn question_about_a_page_is_answered_from_that_page_alone() {
    let answer = answer_from("What colour has the pump on page 4?", vec![two_pages()]).await;
    assert!(answer.contains("red") && !answer.contains("green"), "{answer}");
    let answer = answer_from("What colour has the pump on the last page?", vec![two_pages()]).await;
    assert!(answer.contains("red") && !answer.contains("green"), "{answer}");
    let answer = answer_from("Which pump is made in Kelmsworth, on page 3?", vec![two_pages()]).await;
    assert!(!answer.contains("red"), "{answer}");
}

#[tokio::test]
async fn question_about_a_page_that_does_not_exist_is_declined() {
    assert!(is_declined(asked("What colour has the pump on page 40?", vec![two_pages()])).await);
}

#[tokio::test]
async fn text_of_a_page_is_quoted() {
    let answer = answer_from("What does page 4 say?", vec![two_pages()]).await;
    assert!(answer.starts_with("“The pump of the attic is red and was made in Kelmsworth.”"), "{answer}");
    let passage = ScoredChunk { title: "oriel-manual-217.pdf".to_owned(), ..two_pages() };
    for question in
        ["What does page 4 of oriel-manual-217.pdf say?", "Was steht auf Seite 4 von oriel-manual-217.pdf?"]
    {
        let [ChatEvent::ToolCall(call), ..] = &events(vec![user(question)], vec![LIST, SEARCH]).await[..]
        else {
            panic!("{question}")
        };
        assert_eq!(call.name, SEARCH_TOOL, "{question}");
        let answer = answer_from(question, vec![passage.clone()]).await;
        assert!(answer.starts_with("“The pump of the attic is red"), "{answer}");
    }
}

#[tokio::test]
async fn address_is_found_by_its_kind() {
    let text = "Contact\n\nOriel Reed\n\nOriel Reed oriel@example.org\n\nThe pump is loud.";
    let answer = answer_from("What is the email of Oriel Reed?", vec![found(1, 0, text)]).await;
    assert!(answer.contains("oriel@example.org"), "{answer}");
}

#[tokio::test]
async fn long_form_of_an_abbreviation_is_quoted() {
    let text = "The WPA meets in Kelmsworth and the WPA has a hall. The Water Pump Association (WPA) is old. The WPA sings.";
    let answer = answer_from("What does WPA stand for?", vec![found(1, 0, text)]).await;
    assert!(answer.contains("Water Pump Association (WPA) is old"), "{answer}");
}

#[tokio::test]
async fn sentence_is_quoted_with_what_follows_in_its_paragraph() {
    let text = "Pumps.\n\nThe seal of the pump is replaced every year. This takes a fitter two hours.\n\nThe roof is flat.";
    let answer = answer_from("When is the seal of the pump replaced?", vec![found(1, 0, text)]).await;
    assert!(
        answer.starts_with("“The seal of the pump is replaced every year. This takes a fitter two hours.”"),
        "{answer}"
    );
    let answer = answer_from("How many hours does the fitter take?", vec![found(1, 0, text)]).await;
    assert!(answer.contains("replaced every year. This takes"), "{answer}");
}

#[tokio::test]
async fn line_is_quoted_with_those_around_it() {
    let text = "Annual plan\n\nOriel Reed\n\nDirector\n\nKelmsworth";
    let answer = answer_from("Who is the director?", vec![found(1, 0, text)]).await;
    assert!(answer.contains("Oriel Reed Director Kelmsworth"), "{answer}");
}

#[tokio::test]
async fn source_line_on_every_page_does_not_answer() {
    let page = |n: u32, text: &str| {
        let mut passage = found(n, n, &format!("{text}\n\nOriel survey of water pumps."));
        passage.pages = vec![PageStart { page: n, at: 0 }];
        passage
    };
    let passages = vec![
        page(1, "The roof is flat."),
        page(2, "Some 40 % of the towns have water pumps of iron."),
        page(3, "The door is blue."),
    ];
    let answer = answer_from("What share has water pumps of iron in the Oriel survey?", passages).await;
    assert!(answer.starts_with("“Some 40 % of the towns have water pumps of iron.”"), "{answer}");
}

#[tokio::test]
async fn parts_of_a_calculation_are_searched_for_with_statements_and_alone() {
    let question = user("What was the current ratio in 2018?");
    let assets = "Balance sheet\n\n| (in millions) | 2018 |\n|---|---|\n| Total current assets | 90 |\n";
    let mut messages = vec![question, output("", vec![found(1, 0, assets)])];
    for expected in
        ["balance sheets", "statements of income", "pages 1 to 2\"", "\" total current liabilities 2018"]
    {
        let events = events(messages.clone(), vec![SEARCH]).await;
        let [ChatEvent::ToolCall(call), ChatEvent::Finished { .. }] = &events[..] else {
            panic!("{events:?}")
        };
        assert!(call.arguments.contains(expected), "{call:?}");
        messages.push(output("", Vec::new()));
    }
    assert!(text(messages).await.contains("Not found: total current liabilities."));
}

#[tokio::test]
async fn rows_of_a_statement_are_read_on_its_page() {
    let rows = |rows: &str, page: u32| {
        let text = format!("Balance Sheets\n\n| (in millions) | 2018 |\n|---|---|\n{rows}");
        let at = ScoredChunk { title: "Oriel 2018.pdf".to_owned(), ..found(1, page, &text) };
        ScoredChunk { pages: vec![PageStart { page, at: 0 }], ..at }
    };
    let beginning = rows("| Total current assets | 90 |\n", 40);
    let whole = rows("| Total current assets | 90 |\n| Total current liabilities | 30 |\n", 40);
    let mut messages = vec![user("What was Oriel's current ratio in 2018?"), output("", vec![beginning])];
    messages.extend([output("", Vec::new()), output("", Vec::new())]);
    let events = events(messages.clone(), vec![SEARCH]).await;
    let ChatEvent::ToolCall(call) = &events[0] else { panic!("{events:?}") };
    assert_eq!(call.arguments, r#"{"query":"Oriel 2018.pdf pages 39 to 40"}"#);
    messages.push(output("", vec![whole]));
    let answer = text(messages).await;
    assert!(answer.contains("| Total current liabilities | **30** |"), "{answer}");
}

#[tokio::test]
async fn format_of_a_date_is_not_searched_for() {
    let passage = found(1, 0, "The pumps were tested and accepted.\n\nLisbon, February 8, 2021");
    let question = "Format the date mentioned on page 1 as YYYY-MM-DD.";
    let answer = answer_from(question, vec![passage]).await;
    assert!(answer.starts_with("“Lisbon, February 8, 2021”"), "{answer}");
}

#[tokio::test]
async fn part_with_a_number_is_answered_from_that_part() {
    let text = "Unit 13: Pumps and their topic\n\nLearning outcomes:\n• Why do pumps leak?\n\nUnit 14: Valves and Taps\n\n\
                Learning outcomes:\n• Why do valves leak?\n\nUnit 15: Hoses\n\nLearning outcomes:\n• Why do hoses leak?";
    let answer = answer_from("What is the topic of Unit 14?", vec![found(1, 0, text)]).await;
    assert!(answer.starts_with("“Unit 14: Valves and Taps"), "{answer}");
    let answer = answer_from("What are the learning outcomes in Unit 14?", vec![found(1, 0, text)]).await;
    assert!(answer.contains("Why do valves leak?"), "{answer}");
    assert!(answer.find("hoses").is_none_or(|other| answer.find("valves") < Some(other)), "{answer}");
}

#[tokio::test]
async fn number_that_no_passage_has_is_named() {
    let passage = found(1, 0, "Step 3 shows how the pump is mounted. It is in the figure.");
    let answer = answer_from("What does Figure 3 show of the pump?", vec![passage]).await;
    assert!(answer.starts_with("Not in these quotes: “Figure 3”."), "{answer}");
    let passage = found(1, 0, "Figure 2 shows the pump. It has 3 valves and a title.");
    let answer = answer_from("What is the title of Figure 3?", vec![passage]).await;
    assert_eq!(answer, "I found no passage that answers this. Not found: “Figure 3”.");
}

#[tokio::test]
async fn number_that_names_something_is_in_the_quote() {
    let table = "| Error number | Description |\n|---|---|\n| 163 | The pump is dry |\n| 186 | The valve is stuck |\n";
    let answer = answer_from("What is the description of error number 186?", vec![found(1, 0, table)]).await;
    assert!(answer.contains("stuck") && !answer.contains("dry"), "{answer}");
    let answer = answer_from("What is the description of error number 388?", vec![found(1, 0, table)]).await;
    assert!(answer.contains("“388”"), "{answer}");
}

#[tokio::test]
async fn ratio_of_two_figures_is_answered_with_both() {
    let rows =
        "Balance sheet\n\n| (in millions) | 2018 |\n|---|---|\n| Pump income | 90 |\n| Total rent | 30 |\n";
    let answer = answer_from("What is the pump income to rent ratio of 2018?", vec![found(1, 0, rows)]).await;
    assert!(answer.contains("| Pump income | **90** |\n| Total rent | **30** |"), "{answer}");
}

#[tokio::test]
async fn heading_of_a_numbered_part_is_quoted_before_mentions_of_it() {
    let text = "Quiz 1: twenty words on pumps, with the name of Unit 3, after the unit.\nUNIT 3: Pumps and their names\n";
    let answer = answer_from("What is the name of Unit 3?", vec![found(1, 0, text)]).await;
    assert!(answer.starts_with("“UNIT 3: Pumps and their names"), "{answer}");
}

#[tokio::test]
async fn part_with_a_letter_and_a_number_is_not_another_one() {
    let text = "The letter of May is Exhibit P-14, on pumps.\nExhibits P-9 and P-10 are letters on valves.\n";
    let answer = answer_from("Which letters are in Exhibit P-10?", vec![found(1, 0, text)]).await;
    assert!(answer.starts_with("“Exhibits P-9 and P-10"), "{answer}");
}

#[tokio::test]
async fn opposite_of_what_is_asked_for_is_not_quoted_first() {
    let up = "Press and hold the Up button, and then touch the screen.";
    let down = "Down button\n\n| Operation | Function |\n|---|---|\n| Press and hold | Stops the pump |\n";
    let passages = vec![found(1, 0, up), found(1, 1, down)];
    let answer = answer_from("What happens when I press and hold the Down button?", passages).await;
    assert!(answer.starts_with("Down button") && answer.contains("Stops the pump"), "{answer}");
}
