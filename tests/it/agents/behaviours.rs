//! Outcomes of scripted models that ignore the prompt: no tool calls, invented sources, loops, JSON as text.

use docent_app::agent::prompt::GROUNDED;
use docent_app::settings::SearchMode;
use docent_domain::chat::{FinishReason, Message};
use docent_domain::fault::{FaultCause, FaultKind};
use docent_testkit::fakes::chat_model::Turn;
use docent_tests::pdf::pdf;
use docent_tests::reply::Reply;
use docent_tests::rules;
use serde_json::{Value, json};

/// A script and what the client receives.
struct Case {
    behaviour: &'static str,
    script: Vec<Turn>,
    /// The text of the answer.
    answer: &'static str,
    /// Number of model calls.
    calls: usize,
    /// Queries of the searches.
    searched: Vec<&'static str>,
    /// Number of sources.
    sources: usize,
    /// Number of removed citations.
    removed: u64,
    /// Why the answer is incomplete or missing.
    incomplete: Option<&'static str>,
    /// Whether the model calls a tool beside the searches.
    uses_tools: bool,
}

impl Case {
    /// A behaviour that makes one model call for each turn.
    fn new(behaviour: &'static str, script: Vec<Turn>, answer: &'static str) -> Self {
        Self {
            behaviour,
            calls: script.len(),
            script,
            answer,
            searched: Vec::new(),
            sources: 0,
            removed: 0,
            incomplete: None,
            uses_tools: false,
        }
    }

    /// Expects searches with these queries, which find the document.
    fn searched(self, queries: &[&'static str]) -> Self {
        Self { searched: queries.to_vec(), sources: 1, ..self }
    }

    fn incomplete(self, reason: &'static str) -> Self {
        Self { incomplete: Some(reason), ..self }
    }

    fn removed(self, removed: u64) -> Self {
        Self { removed, ..self }
    }
}

fn search() -> Turn {
    Turn::searching("warranty")
}

/// A turn with this many searches at once.
fn searches(count: usize) -> Turn {
    let call = |turn: Turn, n| turn.tool_call(&format!("call-{n}"), "search_docs", r#"{"query":"warranty"}"#);
    (0..count).fold(Turn::new(), call).stop()
}

fn cases() -> Vec<Case> {
    const CITED: &str = "Five years (Terms.pdf, page 1).";
    vec![
        Case::new("cites by number", vec![search(), Turn::saying("Five years [1].")], CITED)
            .searched(&["warranty"]),
        Case::new("cites by title and page", vec![search(), Turn::saying(CITED)], CITED)
            .searched(&["warranty"]),
        Case::new("ignores the tools", vec![Turn::saying("Five years, I think.")], "Five years, I think."),
        Case::new("cites without a search", vec![Turn::saying("Five years [1].")], "Five years.").removed(1),
        Case::new(
            "invents sources",
            vec![search(), Turn::saying("Five years [1], or six (Law.pdf, page 3) [7] (Terms.pdf, page 9).")],
            "Five years (Terms.pdf, page 1), or six.",
        )
        .searched(&["warranty"])
        .removed(3),
        Case::new(
            "searches in several steps",
            vec![search(), Turn::searching("Terms"), Turn::saying("Five years [1].")],
            CITED,
        )
        .searched(&["warranty", "Terms"]),
        Case::new(
            "writes between the searches",
            vec![
                Turn::new().text("I look. ").tool_call("a", "search_docs", r#"{"query":"warranty"}"#).stop(),
                Turn::saying("Five years [1]."),
            ],
            "I look. Five years (Terms.pdf, page 1).",
        )
        .searched(&["warranty"]),
        Case::new("repeats the same search", vec![search(); 10], "")
            .searched(&["warranty"; 9])
            .incomplete("iterations"),
        Case::new(
            "searches until its last call and answers then",
            [vec![search(); 9], vec![Turn::saying("Five years [1].")]].concat(),
            CITED,
        )
        .searched(&["warranty"; 9]),
        Case::new(
            "searches for everything at once",
            vec![searches(20), Turn::saying("Five years [1].")],
            CITED,
        )
        .searched(&["warranty"; 16]),
        Case::new(
            "answers in JSON",
            vec![search(), Turn::saying(r#"{"answer": "five years", "sources": [1]}"#)],
            r#"{"answer": "five years", "sources": [1]}"#,
        )
        .searched(&["warranty"]),
        Case {
            uses_tools: true,
            ..Case::new(
                "calls a tool that does not exist",
                vec![
                    Turn::new().tool_call("a", "web_search", r#"{"query":"warranty"}"#).stop(),
                    Turn::saying("I cannot."),
                ],
                "I cannot.",
            )
        },
        Case::new(
            "calls the tool with invalid arguments",
            vec![
                Turn::new().tool_call("a", "search_docs", "warranty").stop(),
                search(),
                Turn::saying("Five years [1]."),
            ],
            CITED,
        )
        .searched(&["warranty"]),
        Case::new("returns nothing", vec![Turn::new().stop()], "").incomplete("empty"),
        Case::new("returns nothing after a search", vec![search(), Turn::new().text("\n").stop()], "\n")
            .searched(&["warranty"])
            .incomplete("empty"),
        Case::new("only reasons", vec![search(), Turn::new().reasoning("Hm.").stop()], "")
            .searched(&["warranty"])
            .incomplete("reasoning_only"),
        Case::new(
            "reasons first",
            vec![search(), Turn::new().reasoning("Hm.").text("Five.").stop()],
            "Five.",
        )
        .searched(&["warranty"]),
        Case::new(
            "is cut by its token limit",
            vec![search(), Turn::new().text("Five").ending(FinishReason::Length)],
            "Five",
        )
        .searched(&["warranty"])
        .incomplete("length"),
        Case::new(
            "is cut by a content filter",
            vec![search(), Turn::new().text("Five").ending(FinishReason::ContentFilter)],
            "Five",
        )
        .searched(&["warranty"])
        .incomplete("content_filter"),
        Case::new("ends in a citation", vec![search(), Turn::saying("Five years [1")], "Five years [1")
            .searched(&["warranty"]),
    ]
}

/// The metadata events of this type.
fn metadata(reply: &Reply, kind: &str) -> Vec<Value> {
    let events = reply.text.split("event: metadata\ndata: ").skip(1);
    let objects = events.map(|event| serde_json::from_str(event.lines().next().unwrap()).unwrap());
    objects.filter(|object: &Value| object["type"] == kind).collect()
}

rules! {
    // Invariant: No citation of a passage that was not found reaches the client.
    async fn misbehaving_models_have_decided_outcomes(setup) {
        let app = setup.system_prompt(GROUNDED).start().await;
        let ada = app.ada().await;
        ada.add("Terms.pdf", pdf(&["The warranty lasts five years. These are the terms."])).await;
        app.run_jobs().await;
        for case in cases() {
            let name = case.behaviour;
            let before = app.model.requests().len();
            case.script.into_iter().for_each(|turn| app.model.push(turn));
            let messages = json!([{ "role": "user", "content": "How long is the warranty?" }]);
            let body = json!({ "messages": messages, "include_sources": true, "include_metadata": true });
            let reply = ada.post("/agents/chat", body).await.expect(200);
            assert!(app.model.is_done(), "{name}");
            assert_eq!(app.model.requests().len() - before, case.calls, "{name}");
            assert_eq!(reply.answer(), case.answer, "{name}");
            let searched: Vec<Value> = metadata(&reply, "searched").iter().map(|event| event["query"].clone()).collect();
            assert_eq!(searched, case.searched, "{name}");
            let removed: Vec<Value> = metadata(&reply, "citations_removed").iter().map(|event| event["count"].clone()).collect();
            assert_eq!(removed, Vec::from_iter((case.removed > 0).then_some(case.removed)), "{name}");
            assert_eq!(reply.event("sources").unwrap()["results"].as_array().unwrap().len(), case.sources, "{name}");
            let reasons: Vec<Value> = metadata(&reply, "incomplete").iter().map(|event| event["reason"].clone()).collect();
            assert_eq!(reasons, Vec::from_iter(case.incomplete), "{name}");
            let is_from_model = case.searched.is_empty() && !case.answer.is_empty() && !case.uses_tools;
            assert_eq!(metadata(&reply, "not_searched").len(), usize::from(is_from_model), "{name}");
            // Without text, the stream ends with a reason.
            assert_eq!(reply.event("error").is_some(), case.answer.trim().is_empty(), "{name}");
        }
    }

    async fn removed_citations_are_counted_and_not_recorded(setup) {
        let app = setup.metrics(None).system_prompt(GROUNDED).script([Turn::saying("Five years [1] [2].")]).start().await;
        let ada = app.ada().await;
        let mut body = docent_tests::member::question_body("How long?");
        body["conversation_id"] = json!("01900000-0000-7000-8000-000000000001");
        let reply = ada.post("/agents/chat", body).await.expect(200);
        assert_eq!(reply.tokens(), ["Five", " years", "."], "the plain stream has only text");
        let conversation = ada.get("/conversations/01900000-0000-7000-8000-000000000001").await.expect(200).json();
        assert_eq!(conversation["messages"][1]["content"], "Five years.");
        let metrics = app.get("/metrics").await.expect(200).text;
        assert!(metrics.contains("docent_citations_removed_total{agent=\"chat\"} 2\n"), "{metrics}");
    }

    async fn last_model_call_has_no_tools(setup) {
        let app = setup.always(search()).start().await;
        let _ = app.ada().await.ask("q").await.expect(200);
        let offered: Vec<usize> = app.model.requests().iter().map(|request| request.tools.len()).collect();
        assert_eq!(offered, [vec![1; 9], vec![0]].concat());
    }

    async fn fault_after_text_has_a_reason_in_the_metadata(setup) {
        let app = setup.script([Turn::new().text("Five").fault(FaultKind::Unavailable)]).start().await;
        let messages = json!([{ "role": "user", "content": "q" }]);
        let reply = app.ada().await.post("/agents/chat", json!({ "messages": messages, "include_metadata": true })).await.expect(200);
        assert_eq!(metadata(&reply, "incomplete"), [json!({ "type": "incomplete", "reason": "error" })]);
        assert!(reply.event("error").is_some());
    }

    async fn search_before_the_answer_is_a_call_and_its_output(setup) {
        let app = setup.settings(|settings| settings.agent_search = SearchMode::First).system_prompt(GROUNDED).start().await;
        let ada = app.ada().await;
        ada.add("Terms.pdf", pdf(&["The warranty lasts five years. These are the terms."])).await;
        app.run_jobs().await;
        app.model.push(Turn::saying("Five years [1]."));
        let messages = json!([{ "role": "user", "content": "How long is the warranty?" }]);
        let body = json!({ "messages": messages, "include_sources": true, "include_metadata": true });
        let reply = ada.post("/agents/chat", body).await.expect(200);
        assert_eq!(reply.answer(), "Five years (Terms.pdf, page 1).");
        assert_eq!(metadata(&reply, "searched").len(), 1);
        assert!(metadata(&reply, "not_searched").is_empty());
        assert_eq!(reply.event("sources").unwrap()["results"].as_array().unwrap().len(), 1);
        let requests = app.model.requests();
        let request = requests.last().unwrap();
        assert_eq!(request.tools.len(), 1, "the model can search further");
        let [Message::System(_), Message::User(_), Message::Assistant { tool_calls, .. }, Message::Tool(output), Message::System(_)] =
            &request.messages[..]
        else {
            panic!("{request:?}");
        };
        assert_eq!((tool_calls[0].id.as_str(), tool_calls[0].name.as_str()), (output.call_id.as_str(), "search_docs"));
        assert!(output.content.contains("five years"));
    }

    async fn client_can_ask_for_a_search_before_the_answer(setup) {
        let app = setup.always(Turn::saying("ok")).start().await;
        let ada = app.ada().await;
        for (search, messages) in [(json!("first"), 3), (json!("model"), 1), (Value::Null, 1)] {
            let body = json!({ "messages": [{ "role": "user", "content": "q" }], "search": search });
            let _ = ada.post("/agents/chat", body).await.expect(200);
            assert_eq!(app.model.requests().last().unwrap().messages.len(), messages, "{search}");
        }
        let body = json!({ "messages": [{ "role": "user", "content": "q" }], "search": "never" });
        let _ = ada.post("/agents/chat", body).await.expect(422);
    }

    async fn model_server_that_refuses_tools_gets_the_passages_with_the_question(setup) {
        let app = setup.system_prompt(GROUNDED).start().await;
        let ada = app.ada().await;
        ada.add("Terms.pdf", pdf(&["The warranty lasts five years. These are the terms."])).await;
        app.run_jobs().await;
        app.model.push(Turn::refused_because(FaultKind::Rejected, FaultCause::ToolsUnsupported));
        for _ in 0..2 {
            app.model.push(Turn::saying("Five years [1]."));
            let reply = ada.ask("How long is the warranty?").await.expect(200);
            assert_eq!(reply.answer(), "Five years (Terms.pdf, page 1).");
        }
        let requests = app.model.requests();
        let offered: Vec<usize> = requests.iter().map(|request| request.tools.len()).collect();
        assert_eq!(offered, [1, 0, 0], "decided once");
        for request in &requests[1..] {
            let [Message::System(_), Message::User(question)] = &request.messages[..] else { panic!("{request:?}") };
            assert!(question.starts_with("How long is the warranty?\n") && question.contains("lasts five years"), "{question}");
        }
    }

    async fn text_without_a_system_prompt_is_unchanged(setup) {
        let app = setup.script([Turn::saying("Five years [1] (Law.pdf, page 3).")]).start().await;
        assert_eq!(app.ada().await.ask("q").await.expect(200).answer(), "Five years [1] (Law.pdf, page 3).");
    }
}
