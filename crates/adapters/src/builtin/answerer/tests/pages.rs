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
    for expected in ["balance sheets", "statements of income", "\" total current liabilities 2018"] {
        let events = events(messages.clone(), vec![SEARCH]).await;
        let [ChatEvent::ToolCall(call), ChatEvent::Finished { .. }] = &events[..] else {
            panic!("{events:?}")
        };
        assert!(
            call.arguments.contains(expected) && call.arguments.contains("total current liabilities"),
            "{call:?}"
        );
        messages.push(output("", Vec::new()));
    }
    assert!(text(messages).await.contains("Not found: total current liabilities."));
}

#[tokio::test]
async fn ratio_of_two_figures_is_answered_with_both() {
    let rows =
        "Balance sheet\n\n| (in millions) | 2018 |\n|---|---|\n| Pump income | 90 |\n| Total rent | 30 |\n";
    let answer = answer_from("What is the pump income to rent ratio of 2018?", vec![found(1, 0, rows)]).await;
    assert!(answer.contains("| Pump income | **90** |\n| Total rent | **30** |"), "{answer}");
}
