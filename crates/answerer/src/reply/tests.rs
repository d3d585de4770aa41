use super::*;
use docent_domain::chat::{Message, ToolSpec};
use docent_domain::retrieval::ScoredChunk;
use docent_testkit::retrieval::found;

const HANDBOOK: &str = "Travel\n\nTrips are approved by the team lead. A trip by car is paid with 0.30 euros per kilometre.\n\nWhat is not covered?\n\nThese \
    costs are not covered:\n• parking fines\n• snacks\n• lost luggage\n\nAllowances\n\n| Country | Allowance |\n|---|---|\n| Sweden | 40 euros |\n| \
    France | 50 euros |\n\nThe warranty of the pump is 24 months from the day of purchase. Call 0800 555 0142 for help.";

/// A conversation in which each question was answered with the same passages.
struct Talk {
    messages: Vec<Message>,
    passages: Vec<ScoredChunk>,
    list: &'static str,
}

impl Talk {
    fn over(texts: &[&str]) -> Self {
        let passages = (1..).zip(texts).map(|(n, text)| found(n, 0, text)).collect();
        Self {
            messages: Vec::new(),
            passages,
            list: "- Pumps.pdf (3 pages)\n! scan.pdf\n% Plan: costs.pdf: 4, 7",
        }
    }

    /// Asks, with the outputs of all tools that are called. Returns the answer and whether it declines.
    fn ask(&mut self, question: &str) -> (String, bool) {
        self.messages.push(Message::User(question.to_owned()));
        let mut messages = self.messages.clone();
        for _ in 0..4 {
            let spec = |name| ToolSpec { name, description: "", parameters: "{}" };
            let tools = vec![spec(SEARCH_TOOL), spec(LIST_TOOL)];
            let request = ChatRequest { messages: messages.clone(), tools, ..ChatRequest::default() };
            let (text, is_declined) = match Reply::to(&request, &Lexicon::builtin()) {
                Reply::Text(text) | Reply::Which(text, _) => (text, false),
                Reply::Declined(text) => (text, true),
                Reply::Call(call) => {
                    let output = match call.name.as_str() {
                        SEARCH_TOOL => {
                            ToolOutput { passages: self.passages.clone(), ..ToolOutput::default() }
                        }
                        _ => ToolOutput { content: self.list.to_owned(), ..ToolOutput::default() },
                    };
                    let output = ToolOutput { call_id: call.id.clone(), ..output };
                    messages.push(Message::Assistant { content: String::new(), tool_calls: vec![call] });
                    messages.push(Message::Tool(output));
                    continue;
                }
            };
            self.messages.push(Message::Assistant { content: text.clone(), tool_calls: Vec::new() });
            return (text, is_declined);
        }
        panic!("the answerer calls tools for ever");
    }

    fn answer(&mut self, question: &str) -> String {
        self.ask(question).0
    }
}

#[test]
fn list_is_quoted_whole_with_its_heading_and_introduction() {
    let answer = Talk::over(&[HANDBOOK]).answer("What is not covered?");
    assert!(
        answer.starts_with(
            "**What is not covered?**\n\n“These costs are not covered:”\n\n- parking fines\n- snacks\n- lost luggage\n\n("
        ),
        "{answer}"
    );
}

#[test]
fn row_has_the_head_of_its_table() {
    let answer = Talk::over(&[HANDBOOK]).answer("What is the allowance in Sweden?");
    assert!(answer.contains("| Country | Allowance |\n|---|---|\n| Sweden | 40 euros |"), "{answer}");
    assert!(!answer.contains("France"), "{answer}");
}

#[test]
fn value_below_the_year_that_is_asked_for_is_bold() {
    let table = "Sales\n\n| Euros | 2018 | 2019 |\n|---|---|---|\n| Pumps sold | 40 | 50 |\n";
    let answer = Talk::over(&[table]).answer("How much are the pumps sold in 2019?");
    assert!(answer.contains("| Pumps sold | 40 | **50** |"), "{answer}");
}

#[test]
fn value_that_is_asked_for_is_bold() {
    let mut talk = Talk::over(&[HANDBOOK]);
    let answer = talk.answer("How much do I get per kilometre by car?");
    assert!(answer.contains("**0.30 euros**"), "{answer}");
    let answer = talk.answer("How long is the warranty of the pump?");
    assert!(answer.contains("**24 months**"), "{answer}");
}

#[test]
fn value_comes_before_a_place_that_only_says_more() {
    let text = "Cost of the plans\n\nThe company takes the cost of the health plan from each paycheck, and the plan is paid over the year.\n\n\
        | | Cost per paycheck |\n|---|---|\n| Employee only | $45.00 |\n| Employee +1 | $65.00 |\n";
    let (answer, is_declined) = Talk::over(&[text]).ask("how much does the health plan cost per paycheck");
    assert!(!is_declined && answer.contains("| Employee +1 | $65.00 |"), "{answer}");
}

#[test]
fn name_in_the_heading_is_not_who_is_asked_for() {
    let text = "Leaks at Acme Pumps\n\nEverybody at Acme Pumps reports leaks to Jane Doe at once.";
    let answer = Talk::over(&[text]).answer("Who do I tell about leaks?");
    assert!(answer.contains("at Acme Pumps reports leaks to **Jane Doe**"), "{answer}");
}

#[test]
fn doubt_stays_when_an_answer_is_asked_about() {
    let mut talk = Talk::over(&[HANDBOOK]);
    assert!(talk.answer("How many days may lost luggage take?").contains("I am not sure"));
    for turn in ["are you sure?", "where does it say that?"] {
        let (answer, is_declined) = talk.ask(turn);
        assert!(is_declined && answer.contains("I am not sure"), "{turn}: {answer}");
    }
}

#[test]
fn names_and_contents_alone_answer_nothing() {
    let text = "Acme coffee machine.\n\n| Contents | |\n|---|---|\n| 2.1 Parts of the coffee machine | 14 |\n| 2.2 Care of the coffee machine | 16 |\n\n\
        The coffee machine weighs 32 kg.";
    let answer = Talk::over(&[text]).answer("how heavy is the acme coffee machine");
    assert!(
        answer.contains("weighs") && !answer.contains("2.1") && !answer.contains("“Acme coffee machine.”"),
        "{answer}"
    );
}

#[test]
fn sentences_and_rows_with_the_words_of_the_question_answer_it() {
    let text = "Snacks are not covered by the trip.";
    let answer = Talk::over(&[text]).answer("Are snacks covered by the trip?");
    assert!(answer.contains("“Snacks are not covered by the trip.”"), "{answer}");
    let table =
        "Price of the room\n\n| Guests | Price |\n|---|---|\n| 2 Persons | 30 |\n| 3 Persons | 45 |\n";
    let answer = Talk::over(&[table]).answer("What is the price of the room for 3 persons?");
    assert!(answer.contains("| 3 Persons | 45 |"), "{answer}");
}

#[test]
fn turns_about_an_answer_need_one() {
    for turn in ["Are you sure?", "where does it say that?", "show more"] {
        let answer = Talk::over(&[HANDBOOK]).answer(turn);
        assert_eq!(answer, "What would you like to know?", "{turn}");
    }
    assert_eq!(Talk::over(&[HANDBOOK]).answer("Bist du sicher?"), "Was möchten Sie wissen?");
}

#[test]
fn nothing_is_claimed_without_the_value_that_is_asked_for() {
    let (answer, is_declined) = Talk::over(&[HANDBOOK]).ask("How many days may lost luggage take?");
    assert!(is_declined && answer.starts_with("Not found: “take”.\n\nI am not sure"), "{answer}");
    assert!(answer.contains("- lost luggage"), "{answer}");
    let (answer, is_declined) = Talk::over(&["Who pays for the lost luggage of a trip? Ask the team."])
        .ask("who pays for the lost luggage of a trip");
    assert!(is_declined && !answer.contains("Who pays for the lost luggage of a trip?”"), "{answer}");
}

#[test]
fn question_about_something_else_is_declined_with_what_was_not_searched() {
    let (answer, is_declined) = Talk::over(&[HANDBOOK]).ask("What is the capital of Paraguay?");
    assert!(is_declined, "{answer}");
    assert!(
        answer.contains("Not found: “Paraguay” and “capital”.") && answer.contains("“scan.pdf”"),
        "{answer}"
    );
    assert!(answer.ends_with("Pictures on these pages were not read: “Plan: costs.pdf” (4, 7)."), "{answer}");
}

#[test]
fn evidence_is_shown_again_for_questions_about_the_answer() {
    let mut talk = Talk::over(&[HANDBOOK]);
    let first = talk.answer("How long is the warranty of the pump?");
    for question in ["Are you sure?", "where does it say that?"] {
        let again = talk.answer(question);
        assert!(again.ends_with(&first), "{again}");
        assert!(again.len() > first.len());
    }
}

#[test]
fn follow_up_takes_over_its_subject() {
    let mut talk = Talk::over(&[HANDBOOK]);
    talk.answer("What is the allowance in Sweden?");
    let answer = talk.answer("and in France?");
    assert!(answer.starts_with("Understood as: What is the allowance in France?"), "{answer}");
    assert!(answer.contains("| France | 50 euros |"), "{answer}");
}

/// What a follow-up says itself decides, though the place before has more words of the question.
#[test]
fn own_words_of_a_follow_up_tell_places_apart() {
    let leave = "Holidays\n\nEvery employee gets 28 days of paid holidays a year. New employees get holidays from the first \
        month.\n\nTrainees\n\nTrainees under eighteen have 32 days.";
    let pool = "Prices\n\nA day ticket for the pool costs 6 euros.\n\nThe sauna costs 11 euros a day.\n\nChildren pay half.";
    let hire = "Hire\n\nA bicycle can be hired for at most 14 days. The hire of a bicycle is paid in advance.\n\nBoats are \
        returned on the same evening.";
    let fee = "Gebühren\n\nDie Gebühr für einen Ausweis beträgt 20 Euro. Der Ausweis gilt ein Jahr.\n\nSchüler zahlen 5 Euro.";
    for (text, first, follow_up, expected) in [
        (
            leave,
            "How many days of holidays does an employee get?",
            "And trainees?",
            "Trainees under eighteen",
        ),
        (pool, "What does a day ticket for the pool cost?", "and for children?", "Children pay half"),
        (pool, "What does a day ticket for the pool cost?", "what about the sauna?", "11 euros"),
        (hire, "How long can a bicycle be hired?", "and boats?", "Boats are returned"),
        (fee, "Wie hoch ist die Gebühr für einen Ausweis?", "und für Schüler?", "Schüler zahlen"),
    ] {
        let mut talk = Talk::over(&[text]);
        talk.answer(first);
        let answer = talk.answer(follow_up);
        let first_quote = answer.split("\n\n“").nth(1).unwrap_or_else(|| panic!("{answer}"));
        assert!(first_quote.contains(expected), "{follow_up}: {answer}");
    }
}

#[test]
fn follow_up_without_a_passage_about_its_own_words_is_no_answer() {
    let leave = "Holidays\n\nEvery employee gets 28 days of paid holidays a year. The days of holidays of a year end in March.";
    let mut talk = Talk::over(&[leave]);
    assert!(!talk.ask("How many days of holidays does an employee get?").1);
    let (answer, is_declined) = talk.ask("and for pilots?");
    assert!(is_declined, "{answer}");
}

#[test]
fn long_list_is_cut_with_a_note_and_shown_whole_on_request() {
    let items: Vec<String> = (1..=15).map(|n| format!("• spare part {n}")).collect();
    let text = format!("Spare parts of the pump:\n{}\n\nThe end of the list is here.", items.join("\n"));
    let mut talk = Talk::over(&[&text]);
    let answer = talk.answer("Which spare parts does the pump have?");
    assert!(answer.contains("12 of 15 items.") && !answer.contains("part 15"), "{answer}");
    let whole = talk.answer("show all");
    assert!(whole.contains("- spare part 15") && !whole.contains("of 15 items"), "{whole}");
}

#[test]
fn related_places_say_something_of_the_subject() {
    let token = "Tokens\n\nAn access token lasts 15 minutes, and a refresh token lasts 30 days.";
    let health = "Health\n\nThe process answers as long as it lives.";
    let answer = Talk::over(&[token, health]).answer("How long does an access token last?");
    assert!(answer.contains("**15 minutes**") && !answer.contains("lives"), "{answer}");
}

#[test]
fn rows_with_other_values_are_said_to_differ() {
    let table =
        |fee: u32| format!("Fees of the club\n\n| Fee | Euros |\n|---|---|\n| Yearly fee | {fee} |\n");
    let answer = Talk::over(&[&table(90), &table(108)]).answer("How much is the yearly fee of the club?");
    assert!(answer.starts_with("The sources differ:"), "{answer}");
    assert!(answer.contains("90") && answer.contains("108"), "{answer}");
}

#[test]
fn courtesies_and_questions_about_documents_need_no_search() {
    let mut talk = Talk::over(&[HANDBOOK]);
    assert!(talk.answer("Hello!").starts_with("Hello! I answer"));
    assert!(talk.answer("Vielen Dank").starts_with("Gern geschehen."));
    let list = talk.answer("Which documents are there?");
    assert!(list.contains("- Pumps.pdf (3 pages)") && list.contains("scan.pdf"), "{list}");
    assert_eq!(talk.answer("How many pages does it have?"), "- Pumps.pdf (3 pages)");
}

#[test]
fn question_back_offers_titles_and_the_next_message_chooses_one_in_its_language() {
    let mut talk = Talk::over(&[]);
    talk.list = "- Pumpe (alt).pdf (3 pages)\n- Ventil.pdf (1 page)\n- …";
    let asked = ChatRequest {
        messages: vec![Message::User("Worum geht es?".to_owned())],
        tools: vec![ToolSpec { name: LIST_TOOL, description: "", parameters: "{}" }],
        ..ChatRequest::default()
    };
    let Reply::Call(call) = Reply::to(&asked, &Lexicon::builtin()) else { panic!("no list") };
    let output =
        ToolOutput { call_id: call.id.clone(), content: talk.list.to_owned(), ..ToolOutput::default() };
    let mut messages = asked.messages.clone();
    messages.push(Message::Assistant { content: String::new(), tool_calls: vec![call] });
    messages.push(Message::Tool(output));
    let events = Reply::to(&ChatRequest { messages, ..asked }, &Lexicon::builtin()).events();
    assert_eq!(events[0], ChatEvent::Choices(vec!["Pumpe (alt).pdf".to_owned(), "Ventil.pdf".to_owned()]));

    assert!(talk.answer("Worum geht es?").starts_with("Welches Dokument"));
    talk.list = "- Ventil.pdf (1 page)\n> 1 A valve closes a pipe.";
    assert_eq!(
        talk.answer("Ventil.pdf"),
        "**Ventil.pdf (1 Seite)**\n\n“A valve closes a pipe.” (Ventil.pdf, Seite 1)"
    );
}

#[test]
fn page_alone_is_quoted_from_its_beginning() {
    let answer = Talk::over(&[HANDBOOK]).answer("What is on page 1?");
    assert!(answer.starts_with("“Travel") || answer.starts_with("“Trips"), "{answer}");
    assert!(answer.contains("page 1)"), "{answer}");
}

#[test]
fn failure_of_the_search_is_said() {
    let output = ToolOutput {
        content: format!("{SEARCH_ERROR}: down"),
        call_id: "a".to_owned(),
        ..ToolOutput::default()
    };
    let call = ToolCall { id: "a".to_owned(), name: SEARCH_TOOL.to_owned(), arguments: "{}".to_owned() };
    let messages = vec![
        Message::User("How long is the warranty?".to_owned()),
        Message::Assistant { content: String::new(), tool_calls: vec![call] },
        Message::Tool(output),
    ];
    let Reply::Text(text) =
        Reply::to(&ChatRequest { messages, ..ChatRequest::default() }, &Lexicon::builtin())
    else {
        panic!("a text")
    };
    assert!(text.starts_with("I could not search"), "{text}");
}

#[test]
fn nothing_is_claimed_about_a_name_or_year_that_no_passage_has() {
    let warranty = "How long is the warranty of the pump";
    let (known, is_declined) = Talk::over(&[HANDBOOK]).ask(&format!("{warranty}?"));
    assert!(!is_declined && known.contains("**24 months**"), "{known}");
    for (question, missing) in [("of Oriel?", "Oriel"), ("in 2019?", "2019")] {
        let (answer, is_declined) = Talk::over(&[HANDBOOK]).ask(&format!("{warranty} {question}"));
        assert!(is_declined && answer.starts_with(&format!("Not found: “{missing}”.")), "{answer}");
        assert!(answer.contains("24 months"), "what may help is shown: {answer}");
    }
}
