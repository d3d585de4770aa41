//! The request body.

use docent_domain::chat::Message;
use docent_testkit::fakes::chat_model::Turn;
use docent_tests::member::question_body;
use docent_tests::rules;
use reqwest::Method;
use serde_json::json;

/// This many messages, alternately of the user and the model. The last one is the user's if the number is odd.
fn conversation(count: usize) -> Vec<serde_json::Value> {
    let roles = ["user", "assistant"].into_iter().cycle();
    roles.take(count).map(|role| json!({ "role": role, "content": "a" })).collect()
}

rules! {
    async fn malformed_body_returns_422(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let ask = async |body| ada.post("/agents/chat", body).await;
        ask(json!({})).await.invalid(&["body.messages"]);
        ask(json!({ "messages": [] })).await.invalid(&["body.messages"]);
        ask(json!({ "messages": "hi" })).await.invalid(&["body.messages"]);
        ask(json!({ "messages": ["hi"] })).await.invalid(&["body.messages.0"]);
        ask(json!({ "messages": [{}] })).await.invalid(&["body.messages.0.role", "body.messages.0.content"]);
        let wrong = json!([{ "role": "user", "content": "a" }, { "role": "robot", "content": "b" }]);
        ask(json!({ "messages": wrong })).await.invalid(&["body.messages.1.role"]);
        let wrong = json!([{ "role": "user", "content": null }]);
        ask(json!({ "messages": wrong })).await.invalid(&["body.messages.0.content"]);
        app.send(ada.request(Method::POST, "/agents/chat").body("{")).await.invalid(&["body"]);
        assert!(app.model.requests().is_empty());
    }

    async fn last_message_must_be_a_user_question(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        for last in [json!({ "role": "assistant", "content": "a" }), json!({ "role": "system", "content": "a" }), json!({ "role": "user", "content": " " })] {
            let body = json!({ "messages": [{ "role": "user", "content": "a" }, last] });
            ada.post("/agents/chat", body).await.invalid(&["body.messages"]);
        }
    }

    async fn question_over_the_limit_returns_422(setup) {
        let app = setup.always(Turn::saying("ok")).start().await;
        let ada = app.ada().await;
        let _ = ada.post("/agents/chat", question_body(&"a ".repeat(500_000))).await.expect(200);
        ada.post("/agents/chat", question_body(&"a ".repeat(500_001))).await.invalid(&["body.messages"]);
        let mut body = question_body(&"a ".repeat(400_000));
        body["messages"].as_array_mut().unwrap().insert(0, json!({ "role": "system", "content": "a ".repeat(100_001) }));
        ada.post("/agents/chat", body).await.invalid(&["body.messages"]);
    }

    async fn conversation_over_the_body_limit_returns_413(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let messages = vec![json!({ "role": "user", "content": "a".repeat(1 << 20) }); 4];
        let _ = ada.post("/agents/chat", json!({ "messages": messages })).await.expect(413);
    }

    async fn long_conversation_is_accepted(setup) {
        let app = setup.always(Turn::saying("ok")).start().await;
        let body = json!({ "messages": conversation(401), "include_metadata": true });
        let reply = app.ada().await.post("/agents/chat", body).await.expect(200);
        assert!(!reply.text.contains("history_shortened"), "nothing is left out: {}", reply.text);
        assert_eq!(app.model.requests()[0].messages.len(), 401);
    }

    async fn oldest_turns_over_the_token_budget_are_left_out(setup) {
        // Each message counts as five tokens.
        let app = setup.settings(|settings| settings.client_history_tokens = 105).always(Turn::saying("ok")).start().await;
        let ada = app.ada().await;
        let mut messages = conversation(401);
        messages[0] = json!({ "role": "system", "content": "Be brief." });
        let mut body = json!({ "messages": messages, "include_metadata": true });
        let reply = ada.post("/agents/chat", body.clone()).await.expect(200);
        assert_eq!(reply.event("metadata").unwrap(), json!({ "type": "history_shortened", "left_out": 379 }));
        assert!(reply.text.starts_with("event: metadata\n") && reply.text.contains("\n\ndata: \"ok\"\n\n"), "{}", reply.text);
        let sent = app.model.requests().remove(0).messages;
        assert_eq!(sent.len(), 22);
        assert!(matches!(&sent[..2], [Message::System(_), Message::User(_)]), "{sent:?}");
        assert_eq!(sent[21], Message::User("a".to_owned()));
        // Without the request for metadata, the stream is the text of the answer.
        body["include_metadata"] = json!(null);
        assert_eq!(ada.post("/agents/chat", body).await.expect(200).text, "data: \"ok\"\n\n");
    }

    async fn messages_reach_the_model_unchanged(setup) {
        let app = setup.script([Turn::saying("ok")]).start().await;
        let ada = app.ada().await;
        let messages = json!([
            { "role": "system", "content": "Be brief." },
            { "role": "user", "content": "Hi" },
            { "role": "assistant", "content": "" },
            { "role": "user", "content": " What is it?\n", "name": "ada" },
        ]);
        let _ = ada.post("/agents/chat", json!({ "messages": messages, "temperature": 1 })).await.expect(200);
        let requests = app.model.requests();
        assert_eq!(requests[0].messages, [
            Message::System("Be brief.".into()),
            Message::User("Hi".into()),
            Message::Assistant { content: String::new(), tool_calls: vec![] },
            Message::User(" What is it?\n".into()),
        ]);
    }

    async fn conversation_id_must_be_a_uuid(setup) {
        let app = setup.always(Turn::saying("ok")).start().await;
        let ada = app.ada().await;
        let with = |id| { let mut body = question_body("q"); body["conversation_id"] = id; body };
        let _ = ada.post("/agents/chat", with(json!("5b0c0d5e-8f4c-4f8e-9d3a-000000000001"))).await.expect(200);
        let _ = ada.post("/agents/chat", with(json!(null))).await.expect(200);
        ada.post("/agents/chat", with(json!("x"))).await.invalid(&["body.conversation_id"]);
        ada.post("/agents/chat", with(json!(5))).await.invalid(&["body.conversation_id"]);
    }

    async fn unknown_agent_returns_404(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        for name in ["unknown", "Chat", "chat2"] {
            ada.post(&format!("/agents/{name}"), question_body("q")).await.refused(404, "Agent not found");
        }
    }
}
