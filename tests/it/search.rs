//! `POST /search`

use docent_app::search::{self, SearchRequest};
use docent_domain::access::Actor;
use docent_domain::fault::FaultKind;
use docent_domain::scope::Scope;
use docent_domain::selection::Selection;
use docent_testkit::fakes::chat_model::Turn;
use docent_tests::member::Member;
use docent_tests::pdf::pdf;
use docent_tests::rules;
use docent_tests::setup::{Setup, Started};
use docent_tests::stack::Stack;
use serde_json::{Value, json};

/// Searches and returns the results.
async fn results_of(by: &Member, body: Value) -> Vec<Value> {
    let response = by.post("/search", body).await.expect(200).json();
    assert_eq!(response.as_object().unwrap().len(), 1, "{response}");
    response["results"].as_array().unwrap().clone()
}

fn texts(results: &[Value]) -> Vec<&str> {
    results.iter().map(|result| result["text"].as_str().unwrap().trim_end()).collect()
}

fn documents(results: &[Value]) -> Vec<&str> {
    results.iter().map(|result| result["document_id"].as_str().unwrap()).collect()
}

/// Uploads four documents for the query `zebra lives`. Returns the one that the index ranks first, which repeats one
/// word, and the one that the reranker ranks first, which contains both words.
async fn reranked_documents(by: &Member) -> (String, String) {
    let often = by.add("a.pdf", pdf(&["zebra zebra zebra zebra zebra"])).await;
    let both = by.add("b.pdf", pdf(&[&format!("the zebra lives {}", "granite ".repeat(200))])).await;
    by.add("c.pdf", pdf(&["a heron lives here"])).await;
    by.add("d.pdf", pdf(&["an owl lives there"])).await;
    (often, both)
}

/// Only with the built-in embedder: the fake one knows no languages, and vectors find passages without common words.
#[tokio::test]
async fn word_of_another_language_is_found_as_it_is_there() {
    let started = Started::default();
    let app = Setup::new(Stack::Embedded, &started).start().await;
    let ada = app.ada().await;
    let text = "The company pays up to 1000 dollars for fitness and for the rest of the year.";
    ada.add("perks.pdf", pdf(&[text])).await;
    app.run_jobs().await;
    let query = json!({ "query": "Wie viel bekomme ich für Fitness?" });
    let found = ada.post("/search", query).await.expect(200).json();
    assert_eq!(found["results"].as_array().unwrap().len(), 1, "the German stem is another one: {found}");
    assert_eq!(found.get("corrections"), None, "{found}");
}

rules! {
    async fn results_have_document_pages_score_and_text(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let id = ada.add("animals.pdf", pdf(&["The zebra lives.", "The zebra eats."])).await;
        ada.add("birds.pdf", pdf(&["The owl sleeps; no zebra does."])).await;
        ada.add("stones.pdf", pdf(&["Granite is hard."])).await;
        app.run_jobs().await;
        let results = results_of(&ada, json!({ "query": "Where does the zebra live?" })).await;
        assert_eq!(results.len(), 2, "a document that shares no word with the query is left out");
        let best = results[0].as_object().unwrap();
        let names: Vec<&str> = best.keys().map(String::as_str).collect();
        assert_eq!(names, ["chunk_id", "document_id", "page_end", "page_start", "score", "text", "title"]);
        assert_eq!((&best["document_id"], &best["title"]), (&json!(id), &json!("animals.pdf")));
        assert_eq!((&best["page_start"], &best["page_end"]), (&json!(1), &json!(2)));
        assert!(best["text"].as_str().unwrap().starts_with("The zebra lives."));
        assert!(results[0]["score"].as_f64() > results[1]["score"].as_f64());
    }

    async fn named_page_comes_first(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let page = |words: &str| format!("{words} {}", "granite ".repeat(300));
        let pages = [page("zebra zebra"), page("an owl"), page("the zebra eats")];
        let id = ada.add("animals.pdf", pdf(&pages.each_ref().map(String::as_str))).await;
        app.run_jobs().await;
        for (query, expected) in [
            ("Which zebra is on page 2?", 2),
            ("zebra on the last page", 3),
            ("Which zebra is on the first page?", 1),
            ("zebra", 1),
        ] {
            for body in [json!({ "query": query }), json!({ "query": query, "document_ids": [id] })] {
                let results = results_of(&ada, body.clone()).await;
                let pages = |name: &str| results[0][name].as_u64().unwrap();
                assert!((pages("page_start")..=pages("page_end")).contains(&expected), "{body}: {results:?}");
                let scores: Vec<f64> = results.iter().map(|result| result["score"].as_f64().unwrap()).collect();
                assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
            }
        }
        assert!(!results_of(&ada, json!({ "query": "zebra on page 90" })).await.is_empty());
    }

    async fn misspelled_word_is_read_as_one_that_readable_documents_have(setup) {
        let app = setup.start().await;
        let (ada, bob) = (app.ada().await, app.member("bob@example.org").await);
        ada.add("pump.pdf", pdf(&["The warranty of the pump lasts two years."])).await;
        ada.add("valve.pdf", pdf(&["There is no warranty for the valve."])).await;
        let secret = ada.post("/collections", json!({ "name": "Secret" })).await.expect(201).json();
        let hidden = format!("/documents/upload?collection_id={}", secret["id"].as_str().unwrap());
        let _ = ada.upload_to(&hidden, "hidden.pdf", pdf(&["The zeppelins have a guarantee."])).await.expect(202);
        let _ = ada.upload_to(&hidden, "more.pdf", pdf(&["Balloons and zeppelins fly."])).await.expect(202);
        app.run_jobs().await;
        let search = async |by: &Member, query: &str| by.post("/search", json!({ "query": query })).await.expect(200).json();
        let found = search(&bob, "What is the warrnty").await;
        assert_eq!(found["corrections"], json!([{ "written": "warrnty", "meant": "warranty" }]));
        assert_eq!(found["results"].as_array().unwrap().len(), 2, "{found}");
        // What one may not read does not show through.
        for query in ["zepelins", "warranty zebra", "wrrnty"] {
            assert_eq!(search(&bob, query).await.get("corrections"), None, "{query}");
        }
        let found = search(&ada, "zepelins").await;
        assert_eq!(found["corrections"], json!([{ "written": "zepelins", "meant": "zeppelins" }]));
    }

    async fn explanation_rates_the_units_that_the_caller_may_read(setup) {
        let app = setup.builtin_answerer().start().await;
        let (ada, bob) = (app.ada().await, app.member("bob@example.org").await);
        ada.add("pump.pdf", pdf(&["The warranty of the pump lasts two years. A pump moves water."])).await;
        let secret = ada.post("/collections", json!({ "name": "Secret" })).await.expect(201).json();
        let hidden = format!("/documents/upload?collection_id={}", secret["id"].as_str().unwrap());
        let _ = ada.upload_to(&hidden, "hidden.pdf", pdf(&["The warranty of the pump is secret."])).await.expect(202);
        app.run_jobs().await;
        let explained = async |by: &Member, explain: Value| {
            let body = json!({ "query": "How long is the waranty of the pump?", "explain": explain });
            by.post("/search", body).await.expect(200).json()
        };
        let found = explained(&bob, json!(true)).await;
        let (explanation, result) = (&found["explanation"], &found["results"][0]);
        let units = explanation["units"].as_array().unwrap();
        assert_eq!(units.len(), 2, "{found}");
        assert_eq!(units[0]["text"], "The warranty of the pump lasts two years.");
        for field in ["chunk_id", "document_id", "title"] {
            assert!(units.iter().all(|unit| unit[field] == result[field]), "{field}: {found}");
        }
        let features = explanation["features"].as_array().unwrap();
        for unit in units {
            let value = |name: &Value| unit["features"][name.as_str().unwrap()].as_f64().unwrap();
            let sum = features.iter().map(|it| it["weight"].as_f64().unwrap() * value(&it["name"])).sum::<f64>();
            let expected = 1.0 / (1.0 + (-explanation["constant"].as_f64().unwrap() - sum).exp());
            assert!((unit["probability"].as_f64().unwrap() - expected).abs() < 0.001, "{unit}");
        }
        assert!(units[0]["probability"].as_f64() > units[1]["probability"].as_f64());
        assert!(explanation["answer_from"].as_f64() > explanation["shown_from"].as_f64());
        assert!(!found.to_string().contains("secret"), "{found}");
        assert!(explained(&ada, json!(true)).await.to_string().contains("is secret"));
        for explain in [json!(false), json!(null)] {
            assert_eq!(explained(&bob, explain).await.get("explanation"), None);
        }
        let _ = bob.post("/search", json!({ "query": "pump", "explain": "yes" })).await.expect(422);
    }

    async fn answers_of_a_model_are_not_explained(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        ada.add("pump.pdf", pdf(&["A pump moves water."])).await;
        app.run_jobs().await;
        assert_eq!(results_of(&ada, json!({ "query": "pump", "explain": true })).await.len(), 1);
    }

    async fn agent_tool_returns_the_same_results(setup) {
        let app = setup.script([Turn::searching("zebra"), Turn::saying("done")]).start().await;
        let ada = app.ada().await;
        for n in 0..7 {
            ada.add(&format!("{n}.pdf"), pdf(&[&format!("The zebra number {n} lives here.")])).await;
        }
        app.run_jobs().await;
        let body = json!({ "messages": [{ "role": "user", "content": "q" }], "include_sources": true });
        let stream = ada.post("/agents/chat", body).await.expect(200).text;
        let sources = stream.split("\n\n").find_map(|event| event.strip_prefix("event: sources\ndata: "));
        let sources: Value = serde_json::from_str(sources.unwrap()).unwrap();
        assert_eq!(results_of(&ada, json!({ "query": "zebra" })).await, *sources["results"].as_array().unwrap());
    }

    async fn search_returns_five_results_or_the_requested_limit(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        for n in 0..7 {
            ada.add(&format!("{n}.pdf"), pdf(&[&format!("The zebra number {n} lives here.")])).await;
        }
        app.run_jobs().await;
        for (limit, count) in [(Value::Null, 5), (json!(1), 1), (json!(6), 6), (json!(50), 7)] {
            let results = results_of(&ada, json!({ "query": "zebra", "limit": limit })).await;
            assert_eq!(results.len(), count, "{limit}");
        }
    }

    async fn document_ids_restrict_the_search(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let (first, second) = (ada.add("a.pdf", pdf(&["zebras"])).await, ada.add("b.pdf", pdf(&["zebras too"])).await);
        let unknown = "00000000-0000-0000-0000-000000000000";
        app.run_jobs().await;
        for (ids, count) in [
            (json!(null), 2),
            (json!([first]), 1),
            (json!([first, second, first]), 2),
            (json!([second, unknown]), 1),
            (json!([unknown]), 0),
            (json!([]), 0),
        ] {
            let results = results_of(&ada, json!({ "query": "zebras", "document_ids": ids })).await;
            assert_eq!(results.len(), count, "{ids}");
        }
    }

    async fn pending_and_deleted_documents_are_not_found(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let gone = ada.add("a.pdf", pdf(&["zebras"])).await;
        app.run_jobs().await;
        let pending = ada.add("b.pdf", pdf(&["zebras too"])).await;
        let _ = ada.delete(&format!("/documents/{gone}")).await.expect(204);
        for ids in [json!(null), json!([gone, pending])] {
            assert_eq!(results_of(&ada, json!({ "query": "zebras", "document_ids": ids })).await, [] as [Value; 0]);
        }
        app.run_jobs().await;
        let results = results_of(&ada, json!({ "query": "zebras" })).await;
        assert_eq!(results[0]["document_id"], json!(pending));
    }

    /// Duplicates do not take the places of other passages, and a deleted duplicate does not hide an existing one.
    // Invariant: Duplicate passages do not displace other results, and a hidden duplicate does not hide a
    // visible one.
    async fn duplicate_passages_are_returned_once(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let mut copies = Vec::new();
        for n in 0..6 {
            copies.push(ada.add(&format!("copy {n}.pdf"), pdf(&["Zebras, zebras and zebras."])).await);
        }
        ada.add("spaced.pdf", pdf(&["ZEBRAS,  zebras\nand zebras."])).await;
        ada.add("other.pdf", pdf(&["Zebras have manes, among many other things that are written about them here."])).await;
        app.run_jobs().await;
        let results = results_of(&ada, json!({ "query": "zebras", "limit": 2 })).await;
        assert_eq!(results.len(), 2, "{results:?}");
        assert!(texts(&results)[1].starts_with("Zebras have manes"), "{results:?}");
        assert_eq!(results_of(&ada, json!({ "query": "zebras", "limit": 50.0 })).await.len(), 2);
        let best = results[0]["document_id"].as_str().unwrap().to_owned();
        let _ = ada.delete(&format!("/documents/{best}")).await.expect(204);
        let results = results_of(&ada, json!({ "query": "zebras", "limit": 1 })).await;
        assert_ne!(results[0]["document_id"], json!(best));
        app.run_jobs().await;
    }

    async fn search_with_many_duplicates_makes_few_index_calls(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        for n in 0..30 {
            ada.add(&format!("{n}.pdf"), pdf(&["zebras"])).await;
        }
        app.run_jobs().await;
        let before = app.faults.index.calls();
        assert_eq!(results_of(&ada, json!({ "query": "zebras", "limit": 2 })).await.len(), 1);
        assert!(app.faults.index.calls() - before <= 6, "too many calls");
        let grant = Actor::of(&ada.user).unwrap().authorize().unwrap();
        let (scope, selection) = (Scope::SERVICE, &Selection::default());
        let request = SearchRequest { query: "zebras", scope, selection, limit: 0 };
        assert!(search::search(&app.app, grant, request).await.unwrap().passages.is_empty());
    }

    async fn reranker_sets_order_and_scores(setup) {
        let app = setup.reranking().start().await;
        let ada = app.ada().await;
        let (often, both) = reranked_documents(&ada).await;
        app.run_jobs().await;
        let calls = app.faults.reranker.calls();
        let results = results_of(&ada, json!({ "query": "zebra lives", "limit": 2 })).await;
        assert_eq!(documents(&results), [both.as_str(), often.as_str()]);
        assert_eq!((&results[0]["score"], &results[1]["score"]), (&json!(1.0), &json!(0.5)));
        assert_eq!(app.faults.reranker.calls() - calls, 1);
        let elsewhere = json!({ "query": "zebra", "document_ids": ["00000000-0000-0000-0000-000000000007"] });
        assert!(results_of(&ada, elsewhere).await.is_empty());
        assert_eq!(app.faults.reranker.calls() - calls, 1, "an empty result is not reranked");
    }

    /// The texts lack the name of the company and the heading, which is on an earlier page.
    async fn reranker_reads_title_headings_and_page(setup) {
        let app = setup.reranking().start().await;
        let ada = app.ada().await;
        let first = format!("Flexible Packaging\nwe make films. {}", "granite ".repeat(600));
        let amcor = ada.add("Amcor.pdf", pdf(&[&first, "net sales rose"])).await;
        let berry = ada.add("Berry.pdf", pdf(&["net sales fell, and sales of sales"])).await;
        app.run_jobs().await;
        for (query, expected) in [
            ("amcor flexible packaging pages sales", &amcor),
            ("berry page sales", &berry),
        ] {
            let results = results_of(&ada, json!({ "query": query })).await;
            assert_eq!((documents(&results)[0], &results[0]["score"]), (expected.as_str(), &json!(1.0)), "{query}");
            assert!(texts(&results)[0].contains("net sales"), "{results:?}");
            assert!(!texts(&results)[0].contains("Amcor |"), "the header is not part of the text: {results:?}");
        }
    }

    async fn search_without_reranker_keeps_the_index_order(setup) {
        let app = setup.reranking().metrics(None).start().await;
        let ada = app.ada().await;
        let (often, both) = reranked_documents(&ada).await;
        app.run_jobs().await;
        for kind in [
            FaultKind::Unavailable, FaultKind::Timeout, FaultKind::RateLimited, FaultKind::Rejected, FaultKind::InvalidResponse,
        ] {
            app.faults.reranker.fail_next(1, kind);
            let results = results_of(&ada, json!({ "query": "zebra lives", "limit": 4 })).await;
            let order = documents(&results);
            assert!(order.len() == 4 && order[0] == often, "{kind:?}: {order:?}");
            let metrics = app.get("/metrics").await.expect(200).text;
            let counted = format!(r#"docent_faults_total{{part="reranking_back_end",kind="{}"}} 1"#, kind.code());
            assert!(metrics.lines().any(|line| line == counted), "{counted}");
        }
        let results = results_of(&ada, json!({ "query": "zebra lives" })).await;
        assert_eq!(documents(&results)[0], both);
    }

    async fn invalid_request_returns_422_with_every_error(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let id = "00000000-0000-0000-0000-000000000000";
        for (body, places) in [
            (json!({}), &["body.query"] as &[&str]),
            (json!({ "query": null }), &["body.query"]),
            (json!({ "query": 1 }), &["body.query"]),
            (json!({ "query": "" }), &["body.query"]),
            (json!({ "query": " \n" }), &["body.query"]),
            (json!({ "query": "x".repeat(10_001) }), &["body.query"]),
            (json!({ "query": "q", "limit": 0 }), &["body.limit"]),
            (json!({ "query": "q", "limit": 51 }), &["body.limit"]),
            (json!({ "query": "q", "limit": -1 }), &["body.limit"]),
            (json!({ "query": "q", "limit": 1.5 }), &["body.limit"]),
            (json!({ "query": "q", "limit": "5" }), &["body.limit"]),
            (json!({ "query": "q", "document_ids": id }), &["body.document_ids"]),
            (json!({ "query": "q", "document_ids": [id, "x", 1] }), &["body.document_ids.1", "body.document_ids.2"]),
            (json!({ "query": "q", "document_ids": vec![id; 1001] }), &["body.document_ids"]),
            (json!({ "query": "", "limit": 0 }), &["body.limit", "body.query"]),
            (json!([]), &["body"]),
        ] {
            ada.post("/search", body).await.invalid(places);
        }
    }

    async fn search_requires_an_active_account(setup) {
        let app = setup.start().await;
        app.post("/search", json!({ "query": "q" })).await.refused(401, "Could not validate credentials");
        let ada = app.ada().await;
        assert!(results_of(&ada, json!({ "query": "q" })).await.is_empty());
        app.deactivate(ada.user.id).await;
        ada.post("/search", json!({ "query": "q" })).await.refused(401, "Could not validate credentials");
    }

    async fn unavailable_component_returns_an_error(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        app.faults.index.fail_next(1, FaultKind::Unavailable);
        assert_eq!(ada.post("/search", json!({ "query": "q" })).await.status, 503);
        app.faults.embedder.fail_next(1, FaultKind::Timeout);
        assert_eq!(ada.post("/search", json!({ "query": "q" })).await.status, 504);
        app.faults.database.all.fail_all(FaultKind::Unavailable);
        assert_eq!(ada.post("/search", json!({ "query": "q" })).await.status, 503);
    }
}
