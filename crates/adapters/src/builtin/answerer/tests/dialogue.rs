//! What an answer says besides quotes: thanks, follow-ups, corrections and lists of documents.

use super::*;
use crate::builtin::answerer::phrases::Phrases;
use crate::builtin::answerer::text::in_language;

#[tokio::test]
async fn previous_answer_is_not_given_again() {
    let passage = found(1, 0, "The pump is serviced every six months by a fitter.");
    let question = user("How often is the pump serviced?");
    let first = text(vec![question.clone(), output("", vec![passage.clone()])]).await;
    let again = text(vec![question, said(&first), user("Why?"), output("", vec![passage])]).await;
    assert_eq!(again, "I found nothing beyond my previous answer. Closest pages: Document 1, page 1.");
}

#[tokio::test]
async fn follow_up_that_the_previous_answer_covers_is_answered_from_it() {
    let rows = found(
        1,
        0,
        "| Daily | Euros |\n|---|---|\n| Allowance in Sweden | 55 |\n| Allowance in France | 53 |\n",
    );
    let question = user("What is the allowance in Sweden?");
    let first =
        format!("{}\n\nOther words.", text(vec![question.clone(), output("", vec![rows.clone()])]).await);
    let before = text(vec![
        question.clone(),
        said(&first),
        user("And what in France?"),
        output("", vec![rows.clone()]),
    ])
    .await;
    assert!(before.starts_with("Understood as: What is the allowance in France?\n\n"), "{before}");
    assert!(before.contains("| Allowance in France | 53 |") && !before.contains("Closest pages"), "{before}");
}

#[tokio::test]
async fn reason_is_not_in_a_previous_answer_without_it() {
    let passages = vec![
        found(1, 0, "| Sales | 2020 | 2019 |\n|---|---|---|\n| Sales of pumps | 55 | 53 |\n"),
        found(1, 1, "Sales of pumps increased because of the dry summer."),
    ];
    let question = user("How high were the sales of pumps in 2020?");
    let first = text(vec![question.clone(), output("", passages.clone())]).await;
    let why = text(vec![question, said(&first), user("Why did they increase?"), output("", passages)]).await;
    assert!(why.contains("because of the dry summer") && !why.contains("My previous answer"), "{why}");
}

#[tokio::test]
async fn remarks_are_answered_by_asking() {
    assert_eq!(text(vec![user("ok")]).await, "What would you like to know?");
}

#[tokio::test]
async fn name_that_no_quote_has_is_named() {
    let passages = vec![
        found(1, 0, "The address of the Reed department is 4 Mill Lane."),
        found(1, 1, "The fitters work at night. They know the pumps."),
        found(1, 2, "A crane lifts the pumps at the Tarn mill."),
    ];
    let answer = answer_from("What is the address of the department at Tarn?", passages.clone()).await;
    assert!(answer.starts_with("Not in these quotes: “Tarn”.\n\n“The address of the Reed"), "{answer}");
    let answer = answer_from("What is the address of the department of Reed?", passages).await;
    assert!(answer.starts_with("“The address of the Reed"), "{answer}");
}

#[tokio::test]
async fn documents_without_the_name_are_not_meant_if_one_has_it() {
    let passages = vec![
        found(1, 0, "The warranty of the pumps lasts two years."),
        found(2, 0, "Tarn lists its cranes and ropes."),
        found(2, 1, "Tarn gives a warranty of three years on ropes."),
    ];
    let answer = answer_from("How long is the warranty of pumps at Tarn?", passages).await;
    assert!(answer.contains("three years") && !answer.contains("two years"), "{answer}");
    let passages =
        vec![found(1, 0, "Inventories of pumps are counted yearly."), found(2, 0, "Tarn makes ropes.")];
    let answer = answer_from("How high are the inventories of pumps at Tarn?", passages).await;
    assert_eq!(answer, "I found no passage that answers this. Closest pages: Document 2, page 1.");
}

#[tokio::test]
async fn pages_are_named_in_the_language_of_the_question() {
    let passages = vec![found(1, 0, "Die Garantie der Pumpe gilt zwei Jahre.")];
    let answer = answer_from("Wie lange gilt die Garantie der Pumpe?", passages).await;
    assert_eq!(answer, "“Die Garantie der Pumpe gilt zwei Jahre.” (Document 1, Seite 1)");
    assert!(quotes_page(&answer, "Document 1", 1) && !quotes_page(&answer, "Document 1", 2));
    assert_eq!(
        in_language("- A (14 pages)\n- B (1 page)", Phrases::of("Hallo")),
        "- A (14 Seiten)\n- B (1 Seite)"
    );
}

#[tokio::test]
async fn thanks_and_greetings_in_german_are_answered_in_german() {
    assert_eq!(text(vec![user("Danke!")]).await, "Gern geschehen. Was möchten Sie wissen?");
    assert!(text(vec![user("Hallo")]).await.starts_with("Hallo! Ich beantworte"));
    assert!(text(vec![user("Thanks!")]).await.starts_with("You are welcome."));
}

#[tokio::test]
async fn thanks_are_returned_and_german_is_answered_in_german() {
    assert!(text(vec![user("Thank you!")]).await.starts_with("You are welcome."));
    let answer =
        answer_from("Wie hoch ist der Turm von der alten Kirche?", vec![found(1, 0, "Die Pumpe ist blau.")]);
    assert!(answer.await.starts_with("Ich habe keine Stelle gefunden"));
}

#[tokio::test]
async fn questions_in_another_language_than_the_documents_are_told_so() {
    let question = "Wie hoch ist der Turm von der alten Kirche?";
    let hint = "Fragen Sie in der Sprache der Dokumente.";
    let english = found(1, 0, "The pump is blue, and it was made in the old factory by the river.");
    assert!(answer_from(question, vec![english.clone()]).await.contains(hint));
    let german = found(2, 0, "Die Pumpe ist blau und wurde in der alten Fabrik am Fluss hergestellt.");
    assert!(!answer_from(question, vec![english, german]).await.contains(hint));
}

#[tokio::test]
async fn misspelled_words_are_named_and_answered_as_meant() {
    let search = |corrections: Vec<Correction>| {
        Message::Tool(ToolOutput {
            call_id: "c".to_owned(),
            passages: vec![found(1, 0, "The warranty of the pump lasts two years.")],
            corrections,
            ..ToolOutput::default()
        })
    };
    let read = |written: &str, meant: &str, is_common| Correction {
        written: written.to_owned(),
        meant: meant.to_owned(),
        is_common,
    };
    let corrections =
        vec![read("warrnty", "warranty", false), read("lnog", "long", true), read("pmup", "pump", false)];
    let answer = text(vec![user("How lnog is the warrnty of the pmup?"), search(corrections)]).await;
    assert_eq!(
        answer,
        "No document contains “warrnty” or “pmup”. I searched for “warranty” and “pump”.\n\n“The warranty of the pump lasts two years.” (Document 1, page 1)"
    );
}

#[tokio::test]
async fn answer_says_what_a_follow_up_was_understood_as() {
    let asked = |question: &str| vec![user("How long is the warranty?"), said("Two years."), user(question)];
    let passages = || output("", vec![found(1, 0, "The warranty of the valve lasts one year.")]);
    let answer = text([asked("And of the valve?"), vec![passages()]].concat()).await;
    assert!(
        answer.starts_with("Understood as: How long is the warranty? And of the valve?\n\n“"),
        "{answer}"
    );
    let answer = text([asked("How long is the warranty of the valve?"), vec![passages()]].concat()).await;
    assert!(answer.starts_with('“'), "{answer}");
}

#[tokio::test]
async fn question_for_the_documents_lists_them() {
    let asked = user("Which documents are there?");
    let events = events(vec![asked.clone()], vec![SEARCH, LIST]).await;
    assert!(matches!(&events[0], ChatEvent::ToolCall(call) if call.name == "list_documents"), "{events:?}");
    let answer = text(vec![asked.clone(), listed("- a.pdf (2 pages)")]).await;
    assert_eq!(answer, "These documents can be searched, newest first:\n\n- a.pdf (2 pages)");
    assert_eq!(text(vec![asked, listed("")]).await, "There are no documents yet. Upload one first.");
}

#[tokio::test]
async fn search_without_results_looks_whether_there_are_documents() {
    let messages = vec![user("Who makes pumps?"), output("No relevant documents found.", Vec::new())];
    let events = events(messages.clone(), vec![SEARCH, LIST]).await;
    assert!(matches!(&events[0], ChatEvent::ToolCall(call) if call.name == "list_documents"), "{events:?}");
    let with = |list| text(messages.clone().into_iter().chain([listed(list)]).collect());
    assert!(with("").await.starts_with("There are no documents yet."));
    assert_eq!(with("- a.pdf (2 pages)").await, "I found no passage that answers this.");
}

#[tokio::test]
async fn documents_that_were_not_searched_are_named() {
    let messages = vec![user("Who makes pumps?"), output("", vec![found(1, 0, "Valves are blue.")])];
    let calls = events(messages.clone(), vec![SEARCH, LIST]).await;
    assert!(matches!(&calls[0], ChatEvent::ToolCall(call) if call.name == "list_documents"), "{calls:?}");
    let with = |list| text(messages.clone().into_iter().chain([listed(list)]).collect());
    let answer = with("- a.pdf (2 pages)\n! Scan.pdf\n! b.pdf\n~ c.pdf").await;
    let expected = "Not searched, because they could not be read: “Scan.pdf” and “b.pdf”. \
                    Not searched, because they are still being processed: “c.pdf”.";
    assert!(answer.ends_with(expected), "{answer}");
    let answer = with("! Scan.pdf\n! b.pdf\n! …").await;
    assert!(answer.ends_with("could not be read: “Scan.pdf”, “b.pdf” and others."), "{answer}");
    let answer =
        text(vec![user("Which documents are there?"), listed("- a.pdf (2 pages)\n! Scan.pdf")]).await;
    assert!(answer.starts_with("These documents can be searched") && !answer.contains("! "), "{answer}");
    assert!(answer.ends_with("could not be read: “Scan.pdf”."), "{answer}");
    let german = text(vec![user("Welche Dokumente gibt es?"), listed("~ Scan.pdf")]).await;
    assert_eq!(german, "Nicht durchsucht, weil sie noch verarbeitet werden: „Scan.pdf“.");
}

#[tokio::test]
async fn name_that_the_document_is_about_is_not_reported_as_absent() {
    let passages = |third: &str| {
        let texts = ["The warranty of ropes lasts two years.", "The cranes of Tarn are old.", third];
        texts.iter().enumerate().map(|(at, text)| found(1, at as u32, text)).collect::<Vec<_>>()
    };
    let question = "How long is the warranty of ropes at Tarn?";
    let answer = answer_from(question, passages("Tarn was founded by fitters.")).await;
    assert!(answer.starts_with("“The warranty of ropes"), "{answer}");
    let answer = answer_from(question, passages("It was founded by fitters.")).await;
    assert!(answer.starts_with("Not in these quotes: “Tarn”."), "{answer}");
}

#[tokio::test]
async fn name_on_the_cover_and_year_of_a_date_are_not_reported_as_absent() {
    let sales = "| Sales | 31.3.2022 | 31.3.2021 |\n|---|---|---|\n| Sales of ropes | 55 | 53 |\n";
    let passages =
        |cover: &str| vec![found(1, 0, cover), found(1, 1, sales), found(1, 2, "Ropes are strong.")];
    let question = "How high were the sales of ropes at Tarn in 2022?";
    let answer = answer_from(question, passages("Annual report of Tarn")).await;
    assert!(answer.contains("**55**") && !answer.contains("Not in these quotes"), "{answer}");
    let answer = answer_from(question, passages("Annual report of fitters")).await;
    assert!(answer.starts_with("I found no passage"), "{answer}");
}

#[tokio::test]
async fn further_quotes_of_other_documents_need_more_in_common() {
    let passages = vec![
        found(1, 0, "The head of the pump is eight metres."),
        found(1, 1, "Our head ____ repairs the seal, the motor and the ____ of any machine."),
        found(2, 0, "Our workshop repairs the head, the seal, the motor and the door of any machine."),
    ];
    let answer = answer_from("What is the head of the pump?", passages).await;
    assert_eq!(answer, "“The head of the pump is eight metres.” (Document 1, page 1)");
}

#[tokio::test]
async fn word_that_texts_write_small_is_no_name() {
    let passages =
        vec![found(1, 0, "Ropes are sold in the home trade."), found(1, 1, "The market is open on Monday.")];
    let answer = answer_from("Which ropes are sold in the home trade of the Market?", passages).await;
    assert!(answer.starts_with("“Ropes are sold"), "{answer}");
}

#[tokio::test]
async fn part_of_a_document_is_searched_for_by_its_number() {
    let messages = vec![
        user("What is the topic of Unit 14?"),
        output(
            "",
            vec![
                found(1, 0, "The topic of this unit is pumps."),
                found(1, 1, "In 14 days, a topic is chosen."),
            ],
        ),
    ];
    let events = events(messages, vec![SEARCH]).await;
    let ChatEvent::ToolCall(call) = &events[0] else { panic!("{events:?}") };
    assert_eq!(call.arguments, r#"{"query":"Unit 14"}"#);

    let passage = ScoredChunk { title: "Pumps.pdf".to_owned(), ..found(1, 0, "Table 1 shows the pumps.") };
    let messages = vec![user("What does Table 2 show in Pumps.pdf?"), output("", vec![passage])];
    let events = super::events(messages, vec![SEARCH]).await;
    let ChatEvent::ToolCall(call) = &events[0] else { panic!("{events:?}") };
    assert_eq!(call.arguments, r#"{"query":"Pumps.pdf Table 2"}"#);
}

#[tokio::test]
async fn long_question_is_cut_at_a_word() {
    let question = "pumps ".repeat(2000);
    let events = events(vec![user(&question)], vec![SEARCH]).await;
    let ChatEvent::ToolCall(call) = &events[0] else { panic!("{events:?}") };
    assert!(call.arguments.ends_with(" pumps\"}") && call.arguments.len() < 2020, "{}", call.arguments.len());
}
