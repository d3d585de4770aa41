//! Outcomes of scripted models that ignore the prompt: no tool calls, invented sources, loops, JSON as text.

use docent_app::agent::prompt::GROUNDED;
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
}

impl Case {
    /// A behaviour that makes one model call for each turn.
    fn new(behaviour: &'static str, script: Vec<Turn>, answer: &'static str) -> Self {
        Self { behaviour, calls: script.len(), script, answer, searched: Vec::new(), sources: 0, removed: 0 }
    }

    /// Expects searches with these queries, which find the document.
    fn searched(self, queries: &[&'static str]) -> Self {
        Self { searched: queries.to_vec(), sources: 1, ..self }
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
    const WRITTEN_CALL: &str = r#"{"name": "search_docs", "arguments": {"query": "warranty"}}"#;
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
        Case { calls: 10, ..Case::new("repeats the same search", vec![search(); 10], "") }
            .searched(&["warranty"; 10]),
        Case::new(
            "searches for everything at once",
            vec![searches(20), Turn::saying("Five years [1].")],
            CITED,
        )
        .searched(&["warranty"; 16]),
        Case::new("writes the tool call as text", vec![Turn::saying(WRITTEN_CALL)], WRITTEN_CALL),
        Case::new(
            "answers in JSON",
            vec![search(), Turn::saying(r#"{"answer": "five years", "sources": [1]}"#)],
            r#"{"answer": "five years", "sources": [1]}"#,
        )
        .searched(&["warranty"]),
        Case::new(
            "calls a tool that does not exist",
            vec![
                Turn::new().tool_call("a", "web_search", r#"{"query":"warranty"}"#).stop(),
                Turn::saying("I cannot."),
            ],
            "I cannot.",
        ),
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
        Case::new("returns nothing", vec![Turn::new().stop()], ""),
        Case::new("returns nothing after a search", vec![search(), Turn::new().stop()], "")
            .searched(&["warranty"]),
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
            assert!(reply.event("error").is_none(), "{name}");
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

    async fn text_without_a_system_prompt_is_unchanged(setup) {
        let app = setup.script([Turn::saying("Five years [1] (Law.pdf, page 3).")]).start().await;
        assert_eq!(app.ada().await.ask("q").await.expect(200).answer(), "Five years [1] (Law.pdf, page 3).");
    }
}
