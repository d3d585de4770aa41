//! Conversations: `/conversations`, and the history that the model receives.

use docent_domain::chat::Message;
use docent_domain::conversation::ConversationMessage;
use docent_domain::id::ConversationId;
use docent_testkit::builders::question;
use docent_testkit::fakes::chat_model::Turn;
use docent_tests::app::TestApp;
use docent_tests::member::{Member, question_body};
use docent_tests::pdf::pdf;
use docent_tests::reply::Reply;
use docent_tests::{rules, wait};
use reqwest::Method;
use serde_json::{Value, json};
use std::time::Duration;

const UNKNOWN: &str = "01900000-0000-7000-8000-000000000001";

/// Creates a conversation; returns its path and the response body.
async fn create(by: &Member, body: Value) -> (String, Value) {
    let conversation = by.post("/conversations", body).await.expect(201).json();
    (format!("/conversations/{}", conversation["id"].as_str().unwrap()), conversation)
}

/// Asks a question in a conversation and returns its messages.
async fn ask(by: &Member, path: &str, question: &str) -> Vec<Value> {
    let mut body = question_body(question);
    body["conversation_id"] = json!(path.rsplit('/').next().unwrap());
    let _ = by.post("/agents/chat", body).await.expect(200);
    messages(by, path).await
}

async fn messages(by: &Member, path: &str) -> Vec<Value> {
    by.get(path).await.expect(200).json()["messages"].as_array().unwrap().clone()
}

fn titles(list: &Reply) -> Vec<String> {
    let list = list.json();
    list.as_array().unwrap().iter().map(|entry| entry["title"].as_str().unwrap().to_owned()).collect()
}

fn user(text: &str) -> Message {
    Message::User(text.to_owned())
}

fn assistant(text: &str) -> Message {
    Message::Assistant { content: text.to_owned(), tool_calls: vec![] }
}

/// Returns the messages of the model's `n`th call.
fn model_messages(app: &TestApp, n: usize) -> Vec<Message> {
    app.model.requests().swap_remove(n).messages
}

rules! {
    async fn conversation_is_created_read_renamed_and_deleted(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let (path, created) = create(&ada, json!({ "title": " Animals " })).await;
        assert_eq!((&created["title"], &created["created_at"]), (&json!("Animals"), &json!("2026-01-01T00:00:00.000000Z")));
        app.advance(Duration::from_secs(1));
        let renamed = ada.patch(&path, json!({ "title": "Birds" })).await.expect(200).json();
        assert_eq!((&renamed["title"], &renamed["updated_at"]), (&json!("Birds"), &json!("2026-01-01T00:00:01.000000Z")));
        let mut whole = renamed.clone();
        whole["messages"] = json!([]);
        assert_eq!(ada.get(&path).await.expect(200).json(), whole);
        let mut entry = renamed;
        for field in ["collection_ids", "document_ids"] {
            assert_eq!(entry.as_object_mut().unwrap().remove(field), Some(json!(null)));
        }
        entry["messages"] = json!(0);
        assert_eq!(ada.get("/conversations").await.expect(200).json(), json!([entry]));
        assert_eq!(ada.delete(&path).await.expect(204).text, "");
        ada.get(&path).await.refused(404, "Conversation not found");
        ada.delete(&path).await.refused(404, "Conversation not found");
        assert_eq!(ada.get("/conversations").await.expect(200).json(), json!([]));
    }

    // Invariant: No read holds more than a bounded part of a conversation or a document in memory.
    async fn page_of_large_messages_ends_early_and_continues(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let (path, created) = create(&ada, json!({})).await;
        let id: ConversationId = created["id"].as_str().unwrap().parse().unwrap();
        let sizes = [10, 300_000, 900_000, 10, 1_500_000, 10];
        let mut work = app.ports.store.begin().await.unwrap();
        for (n, size) in (1..).zip(sizes) {
            let message = ConversationMessage { content: "x".repeat(size), ..question(n, id) };
            work.conversations().append(&[message]).await.unwrap();
        }
        work.commit().await.unwrap();
        let (mut next, mut pages) = (path.clone(), Vec::new());
        loop {
            let reply = ada.get(&next).await.expect(200);
            let page = reply.json()["messages"].as_array().unwrap().clone();
            pages.push(page.iter().map(|message| message["content"].as_str().unwrap().len()).collect::<Vec<_>>());
            match reply.header("x-next-cursor") {
                "" => break,
                cursor => next = format!("{path}?cursor={cursor}"),
            }
        }
        assert_eq!(pages, [vec![10, 300_000], vec![900_000, 10], vec![1_500_000], vec![10]]);
    }

    async fn messages_include_sources_and_usage(setup) {
        let app = setup.script([Turn::searching("zebra"), Turn::saying("In Africa.")]).start().await;
        let ada = app.ada().await;
        let id = ada.add("animals.pdf", pdf(&["The zebra lives in Africa."])).await;
        app.run_jobs().await;
        let (path, _) = create(&ada, json!({})).await;
        let recorded = ask(&ada, &path, "Where does the zebra live?").await;
        let [asked, answered] = <[Value; 2]>::try_from(recorded).unwrap();
        assert_eq!((&asked["role"], &asked["content"]), (&json!("user"), &json!("Where does the zebra live?")));
        assert_eq!(asked.as_object().unwrap().len(), 6, "{asked}");
        assert_eq!((&answered["role"], &answered["content"]), (&json!("assistant"), &json!("In Africa.")));
        assert_eq!((&answered["agent"], &answered["complete"]), (&json!("chat"), &json!(true)));
        let source = &answered["sources"][0];
        assert_eq!((&source["document_id"], &source["page_start"]), (&json!(id), &json!(1)));
        wait::until("usage is recorded", async || {
            let usage = app.usage(ada.user.id).await;
            answered["usage"] == json!({ "prompt_tokens": usage.prompt, "completion_tokens": usage.completion })
        })
        .await;
    }

    async fn conversation_has_the_selection_of_its_last_question(setup) {
        let app = setup.always(Turn::saying("Yes.")).start().await;
        let ada = app.ada().await;
        let everyone = "00000000-0000-0000-0000-000000000001";
        let path = format!("/conversations/{UNKNOWN}");
        for (selection, stored) in [
            (json!({ "collection_ids": [everyone] }), [json!([everyone]), json!(null)]),
            (json!({ "document_ids": [UNKNOWN], "collection_ids": [] }), [json!([]), json!([UNKNOWN])]),
            (json!({ "document_ids": vec![UNKNOWN; 101] }), [json!(null), json!(vec![UNKNOWN; 100])]),
            (json!({}), [json!(null), json!(null)]),
        ] {
            let mut body = question_body("Really?");
            body["conversation_id"] = json!(UNKNOWN);
            body.as_object_mut().unwrap().extend(selection.as_object().unwrap().clone());
            let _ = ada.post("/agents/chat", body).await.expect(200);
            let conversation = ada.get(&path).await.expect(200).json();
            assert_eq!([&conversation["collection_ids"], &conversation["document_ids"]], [&stored[0], &stored[1]]);
        }
        let body = json!({ "collection_ids": [UNKNOWN], "conversation_id": UNKNOWN, "messages": question_body("q")["messages"] });
        ada.post("/agents/chat", body).await.refused(404, "Collection not found");
        assert_eq!(messages(&ada, &path).await.len(), 8, "a rejected question is not recorded");
    }

    async fn conversation_without_title_is_named_after_its_first_question(setup) {
        let app = setup.always(Turn::saying("ok")).start().await;
        let ada = app.ada().await;
        let created = app.send(ada.request(Method::POST, "/conversations")).await.expect(201).json();
        assert_eq!(created["title"], "New conversation");
        assert_eq!(ada.post("/conversations", json!(null)).await.expect(201).json()["title"], "New conversation");
        let path = format!("/conversations/{}", created["id"].as_str().unwrap());
        let (named, _) = create(&ada, json!({ "title": "Named" })).await;
        for (path, title) in [(&path, "What is it?"), (&named, "Named")] {
            ask(&ada, path, "What is it?").await;
            ask(&ada, path, "Sure?").await;
            assert_eq!(ada.get(path).await.json()["title"], title);
        }
    }

    async fn conversations_and_messages_are_paged(setup) {
        let app = setup.always(Turn::saying("ok")).start().await;
        let ada = app.ada().await;
        let mut paths = Vec::new();
        for title in ["a", "b", "c"] {
            paths.push(create(&ada, json!({ "title": title })).await.0);
            app.advance(Duration::from_secs(1));
        }
        ask(&ada, &paths[0], "q").await;
        let first = ada.get("/conversations?limit=2").await.expect(200);
        assert_eq!(titles(&first), ["a", "c"], "the most recently used conversation comes first");
        let cursor = first.header("x-next-cursor").to_owned();
        assert_eq!(first.header("link"), format!("</conversations?limit=2&cursor={cursor}>; rel=\"next\""));
        let rest = ada.get(&format!("/conversations?limit=2&cursor={cursor}")).await.expect(200);
        assert_eq!((titles(&rest), rest.header("x-next-cursor")), (vec!["b".to_owned()], ""));

        ask(&ada, &paths[0], "again").await;
        let first = ada.get(&format!("{}?limit=3", paths[0])).await.expect(200);
        assert_eq!(first.json()["messages"].as_array().unwrap().len(), 3);
        let cursor = first.header("x-next-cursor");
        let rest = ada.get(&format!("{}?limit=3&cursor={cursor}", paths[0])).await.expect(200);
        assert_eq!((&rest.json()["messages"][0]["content"], rest.header("link")), (&json!("ok"), ""));
    }

    async fn conversations_are_pinned_and_searched_by_title_and_messages(setup) {
        let app = setup.always(Turn::saying("Five years, for pumps.")).start().await;
        let (ada, bob) = (app.ada().await, app.member("bob@example.org").await);
        let mut paths = Vec::new();
        for (by, title) in [(&ada, "Warranty"), (&ada, "Second"), (&ada, "Third"), (&bob, "Pumps")] {
            app.advance(Duration::from_secs(1));
            paths.push(create(by, json!({ "title": title })).await.0);
        }
        app.advance(Duration::from_secs(1));
        ask(&ada, &paths[1], "How long?").await;
        let before = ada.get(&paths[0]).await.expect(200).json();
        let pinned = ada.patch(&paths[0], json!({ "pinned": true })).await.expect(200).json();
        assert_eq!((&pinned["pinned"], &pinned["updated_at"], &pinned["title"]), (&json!(true), &before["updated_at"], &json!("Warranty")));
        assert_eq!(ada.patch(&paths[0], json!({})).await.expect(200).json(), pinned);

        let list = async |by: &Member, query: &str| titles(&by.get(&format!("/conversations?{query}")).await.expect(200));
        assert_eq!(list(&ada, "").await, ["Second", "Third", "Warranty"]);
        assert_eq!(list(&ada, "pinned=true").await, ["Warranty"]);
        assert_eq!(list(&ada, "pinned=false").await, ["Second", "Third"]);
        assert_eq!(list(&ada, "q=PUMPS").await, ["Second"], "in an answer, and not those of others");
        assert_eq!(list(&ada, "q=how%20long").await, ["Second"]);
        assert_eq!(list(&ada, "q=warr&pinned=false").await, [""; 0]);
        assert_eq!(list(&bob, "q=pumps").await, ["Pumps"]);
        let page = ada.get("/conversations?q=r&limit=1").await.expect(200);
        assert_eq!(titles(&page), ["Second"]);
        let next = page.header("link").split(['<', '>']).nth(1).unwrap().to_owned();
        assert!(next.contains("&q=r"), "{next}");
        assert_eq!(titles(&ada.get(&next).await.expect(200)), ["Third"]);
        let _ = ada.patch(&paths[0], json!({ "pinned": false })).await.expect(200);
        assert_eq!(list(&ada, "pinned=true").await, [""; 0]);
        bob.patch(&paths[0], json!({ "pinned": true })).await.refused(404, "Conversation not found");
    }

    // Invariant: A question asked again replaces its turn and keeps the earlier version.
    async fn question_asked_again_replaces_its_turn_and_keeps_the_version(setup) {
        let script = ["One.", "Two.", "Two again.", "One again."].map(Turn::saying);
        let app = setup.script(script).start().await;
        let (ada, bob) = (app.ada().await, app.member("bob@example.org").await);
        let (path, conversation) = create(&ada, json!({})).await;
        let again = async |question: &str, replaces: &Value| {
            let mut body = question_body(question);
            (body["conversation_id"], body["replaces"]) = (conversation["id"].clone(), replaces.clone());
            ada.post("/agents/chat", body).await
        };
        ask(&ada, &path, "First?").await;
        let messages = ask(&ada, &path, "Second?").await;
        let _ = again("Second, please?", &messages[3]["id"]).await.expect(200);
        // The model receives the turns before the one that is asked again.
        assert_eq!(model_messages(&app, 2), [user("First?"), assistant("One."), user("Second, please?")]);
        let states = async || {
            let messages = self::messages(&ada, &path).await;
            let state = |message: &Value| (message["content"].as_str().unwrap().to_owned(), message["replaced"] == true);
            messages.iter().map(state).collect::<Vec<_>>()
        };
        let state = |content: &str, replaced| (content.to_owned(), replaced);
        let [one, answer] = [state("First?", false), state("One.", false)];
        let second = [state("Second?", true), state("Two.", true), state("Second, please?", false), state("Two again.", false)];
        assert_eq!(states().await, [&[one, answer][..], &second].concat());

        // An earlier question is edited: what came after it is replaced too.
        let _ = again("First, please?", &messages[1]["id"]).await.expect(200);
        assert_eq!(model_messages(&app, 3), [user("First, please?")]);
        let states = states().await;
        assert!(states[..6].iter().all(|(_, replaced)| *replaced), "{states:?}");
        assert_eq!(states[6..], [state("First, please?", false), state("One again.", false)]);

        for unknown in [&messages[1]["id"], &messages[0]["id"], &json!(UNKNOWN)] {
            again("Again?", unknown).await.refused(404, "Answer not found");
        }
        let mut body = question_body("Mine?");
        body["replaces"] = messages[1]["id"].clone();
        bob.post("/agents/chat", body.clone()).await.invalid(&["body.replaces"]);
        body["conversation_id"] = conversation["id"].clone();
        bob.post("/agents/chat", body).await.refused(404, "Conversation not found");
    }

    // Invariant: Only the owner can access a conversation, and the model receives whole exchanges only.
    async fn conversation_of_another_account_returns_404(setup) {
        let app = setup.always(Turn::saying("ok")).start().await;
        let (ada, bob, root) = (app.ada().await, app.member("bob@example.org").await, app.superuser().await);
        let (path, _) = create(&ada, json!({ "title": "Secret" })).await;
        for other in [&bob, &root] {
            assert_eq!(other.get("/conversations").await.expect(200).json(), json!([]));
            other.get(&path).await.refused(404, "Conversation not found");
            other.patch(&path, json!({ "title": "Mine" })).await.refused(404, "Conversation not found");
            other.delete(&path).await.refused(404, "Conversation not found");
        }
        assert_eq!(ada.get(&path).await.expect(200).json()["title"], "Secret");
        app.get(&path).await.refused(401, "Could not validate credentials");
    }

    async fn conversation_of_the_account_returns_404_for_a_limited_key(setup) {
        let app = setup.api_keys().always(Turn::saying("ok")).start().await;
        let ada = app.ada().await;
        let limited = async || {
            let key = app.limited_key(ada.user.id, &["chat"], Some(&["00000000-0000-0000-0000-000000000001"]));
            ada.with_access(key.await.key)
        };
        let (one, two) = (limited().await, limited().await);
        let (of_account, _) = create(&ada, json!({ "title": "Salaries" })).await;
        ask(&ada, &of_account, "What does Bob earn?").await;
        let (of_one, _) = create(&one, json!({ "title": "Pumps" })).await;
        ask(&one, &of_one, "How long is the warranty?").await;

        assert_eq!(titles(&one.get("/conversations").await.expect(200)), ["Pumps"]);
        assert_eq!(titles(&one.get("/conversations?q=earn").await.expect(200)), [""; 0]);
        for (key, path) in [(&one, &of_account), (&two, &of_account), (&two, &of_one)] {
            key.get(path).await.refused(404, "Conversation not found");
            key.patch(path, json!({ "title": "Mine" })).await.refused(404, "Conversation not found");
            key.delete(path).await.refused(404, "Conversation not found");
            let mut body = question_body("And Carl?");
            body["conversation_id"] = json!(path.rsplit('/').next().unwrap());
            key.post("/agents/chat", body).await.refused(404, "Conversation not found");
        }
        let mut all = titles(&ada.get("/conversations").await.expect(200));
        all.sort();
        assert_eq!(all, ["Pumps", "Salaries"]);
        assert_eq!(ask(&one, &of_one, "On all of them?").await.len(), 4);

        // Answers to the account itself can quote documents of all collections.
        ask(&ada, &of_one, "And what does Bob earn?").await;
        one.get(&of_one).await.refused(404, "Conversation not found");
        assert_eq!(titles(&one.get("/conversations").await.expect(200)), [""; 0]);
    }

    async fn invalid_requests_return_422(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let (path, _) = create(&ada, json!({ "title": null })).await;
        for title in [json!(""), json!(" "), json!("x".repeat(201)), json!("a\nb"), json!(1)] {
            ada.post("/conversations", json!({ "title": title })).await.invalid(&["body.title"]);
            ada.patch(&path, json!({ "title": title })).await.invalid(&["body.title"]);
        }
        ada.patch(&path, json!({ "pinned": "yes" })).await.invalid(&["body.pinned"]);
        ada.get("/conversations?pinned=1").await.invalid(&["query.pinned"]);
        ada.get(&format!("/conversations?q={}", "x".repeat(201))).await.invalid(&["query.q"]);
        ada.post("/conversations", json!([])).await.invalid(&["body"]);
        ada.get("/conversations/x").await.invalid(&["path.id"]);
        ada.get(&format!("/conversations/{UNKNOWN}")).await.refused(404, "Conversation not found");
        for limit in ["0", "1001", "x", "-1"] {
            ada.get(&format!("/conversations?limit={limit}")).await.invalid(&["query.limit"]);
            ada.get(&format!("{path}?limit={limit}")).await.invalid(&["query.limit"]);
        }
        ada.get("/conversations?cursor=x").await.invalid(&["query.cursor"]);
        ada.get(&format!("{path}?cursor=x")).await.invalid(&["query.cursor"]);
        let _ = ada.get(&format!("{path}?cursor=17")).await.expect(200);
    }

    async fn model_receives_earlier_messages(setup) {
        let app = setup.script(["One.", "Two.", "Three."].map(Turn::saying)).start().await;
        let ada = app.ada().await;
        let (path, _) = create(&ada, json!({})).await;
        ask(&ada, &path, "first").await;
        ask(&ada, &path, "second").await;
        let mut body = json!({ "messages": [
            { "role": "system", "content": "Be brief." },
            { "role": "user", "content": "third" },
        ] });
        body["conversation_id"] = json!(path.rsplit('/').next().unwrap());
        assert_eq!(ada.post("/agents/chat", body).await.expect(200).text, "data: \"Three.\"\n\n");
        assert_eq!(model_messages(&app, 0), [user("first")]);
        assert_eq!(model_messages(&app, 1), [user("first"), assistant("One."), user("second")]);
        assert_eq!(model_messages(&app, 2), [
            Message::System("Be brief.".into()), user("first"), assistant("One."), user("second"), assistant("Two."), user("third"),
        ]);
        // Only the question is recorded.
        wait::until("it is recorded", async || messages(&ada, &path).await.len() == 6).await;
        assert_eq!(messages(&ada, &path).await[4]["content"], "third");
    }

    async fn history_sent_by_the_client_is_not_duplicated(setup) {
        let app = setup.always(Turn::saying("ok")).start().await;
        let ada = app.ada().await;
        let (path, _) = create(&ada, json!({})).await;
        ask(&ada, &path, "first").await;
        let mut body = json!({ "messages": [
            { "role": "user", "content": "first" },
            { "role": "assistant", "content": "ok" },
            { "role": "user", "content": "second" },
        ] });
        body["conversation_id"] = json!(path.rsplit('/').next().unwrap());
        let _ = ada.post("/agents/chat", body).await.expect(200);
        assert_eq!(model_messages(&app, 1), [user("first"), assistant("ok"), user("second")]);
    }

    // Invariant: Only the owner can access a conversation, and the model receives whole exchanges only.
    async fn history_over_budget_drops_the_oldest_whole_exchanges(setup) {
        let app = setup.settings(|settings| settings.conversation_history_tokens = 6).always(Turn::saying("ok")).start().await;
        let ada = app.ada().await;
        let (path, _) = create(&ada, json!({})).await;
        // Each exchange has two tokens, except the long one.
        for question in ["a", "b", "c", "d", "long long long long long long"] {
            ask(&ada, &path, question).await;
        }
        assert_eq!(model_messages(&app, 4)[..6], [user("b"), assistant("ok"), user("c"), assistant("ok"), user("d"), assistant("ok")]);
        ask(&ada, &path, "e").await;
        assert_eq!(model_messages(&app, 5), [user("e")], "an exchange older than a dropped one is dropped too");
    }

    async fn history_within_budget_is_complete(setup) {
        let app = setup.always(Turn::saying("ok")).start().await;
        let ada = app.ada().await;
        let (path, _) = create(&ada, json!({})).await;
        for n in 0..20 {
            ask(&ada, &path, &n.to_string()).await;
        }
        assert_eq!(model_messages(&app, 19).len(), 39);
        assert_eq!(model_messages(&app, 19)[..3], [user("0"), assistant("ok"), user("1")]);
    }

    async fn history_with_zero_budget_is_empty(setup) {
        let app = setup.settings(|settings| settings.conversation_history_tokens = 0).always(Turn::saying("ok")).start().await;
        let ada = app.ada().await;
        let (path, _) = create(&ada, json!({})).await;
        ask(&ada, &path, "first").await;
        ask(&ada, &path, "second").await;
        assert_eq!(model_messages(&app, 1), [user("second")]);
    }

    async fn unanswered_question_is_left_out_of_the_history(setup) {
        use docent_domain::fault::FaultKind;
        let turns = [Turn::refused(FaultKind::Unavailable), Turn::new().text("Hel").fault(FaultKind::Unavailable), Turn::saying("ok")];
        let app = setup.script(turns).start().await;
        let ada = app.ada().await;
        let (path, _) = create(&ada, json!({})).await;
        let mut body = question_body("first");
        body["conversation_id"] = json!(path.rsplit('/').next().unwrap());
        let _ = ada.post("/agents/chat", body).await.expect(502);
        wait::until("it is recorded", async || messages(&ada, &path).await.len() == 2).await;
        ask(&ada, &path, "second").await;
        ask(&ada, &path, "third").await;
        assert_eq!(model_messages(&app, 2), [user("second"), assistant("Hel"), user("third")]);
    }
}
