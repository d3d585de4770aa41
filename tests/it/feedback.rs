//! Feedback on answers: `/conversations/{id}/messages/{message}/feedback`.

use docent_domain::fault::FaultKind;
use docent_testkit::fakes::chat_model::Turn;
use docent_tests::member::{Member, question_body};
use docent_tests::rules;
use docent_tests::setup::{Setup, Started};
use docent_tests::stack::Stack;
use serde_json::{Value, json};
use std::time::Duration;

const ID: &str = "01900000-0000-7000-8000-000000000001";
const OTHER: &str = "01900000-0000-7000-8000-000000000002";
const PATH: &str = "/conversations/01900000-0000-7000-8000-000000000001";

/// Asks a question in the conversation and returns the path of the feedback on the answer.
async fn ask(by: &Member) -> String {
    let mut body = question_body("How long is the warranty?");
    body["conversation_id"] = json!(ID);
    let reply = by.post("/agents/chat", body).await.expect(200);
    format!("{PATH}/messages/{}/feedback", reply.header("x-message-id"))
}

async fn messages(by: &Member) -> Vec<Value> {
    by.get(PATH).await.expect(200).json()["messages"].as_array().unwrap().clone()
}

rules! {
    async fn feedback_is_given_replaced_shown_and_withdrawn(setup) {
        let app = setup.script([Turn::saying("Five years.")]).start().await;
        let ada = app.ada().await;
        let path = ask(&ada).await;
        let answer = messages(&ada).await.remove(1);
        assert_eq!((&answer["feedback"], &answer["declined"]), (&json!(null), &json!(false)));
        assert_eq!(path, format!("{PATH}/messages/{}/feedback", answer["id"].as_str().unwrap()));
        let up = ada.put(&path, json!({ "rating": "up" })).await.expect(200).json();
        let expected = json!({ "rating": "up", "reason": null, "comment": null, "created_at": "2026-01-01T00:00:00.000000Z" });
        assert_eq!(up, expected);
        app.advance(Duration::from_secs(1));
        let body = json!({ "rating": "down", "reason": "wrong_sources", "comment": " Page 4\nis right. " });
        let expected = json!({
            "rating": "down", "reason": "wrong_sources", "comment": "Page 4\nis right.", "created_at": "2026-01-01T00:00:01.000000Z",
        });
        for _ in 0..2 {
            assert_eq!(ada.put(&path, body.clone()).await.expect(200).json(), expected);
        }
        let recorded = messages(&ada).await;
        assert_eq!(recorded[1]["feedback"], expected);
        assert!(recorded[0].get("feedback").is_none());
        for _ in 0..2 {
            assert_eq!(ada.delete(&path).await.expect(204).text, "");
        }
        assert_eq!(messages(&ada).await[1]["feedback"], json!(null));
    }

    async fn invalid_feedback_is_rejected_and_changes_nothing(setup) {
        let app = setup.script([Turn::saying("Five years.")]).start().await;
        let ada = app.ada().await;
        let path = ask(&ada).await;
        for (body, field) in [
            (json!({}), "rating"),
            (json!({ "rating": "sideways" }), "rating"),
            (json!({ "rating": "up", "reason": "outdated" }), "reason"),
            (json!({ "rating": "down", "reason": "boring" }), "reason"),
            (json!({ "rating": "down", "comment": " " }), "comment"),
            (json!({ "rating": "down", "comment": "x".repeat(2001) }), "comment"),
        ] {
            let errors = ada.put(&path, body).await.expect(422).json();
            assert_eq!(errors["errors"][0]["loc"], json!(["body", field]), "{errors}");
        }
        assert_eq!(messages(&ada).await[1]["feedback"], json!(null));
        let longest = json!({ "rating": "down", "comment": "é".repeat(2000) });
        let _ = ada.put(&path, longest).await.expect(200);
    }

    async fn only_the_owner_rates_answers_of_the_conversation(setup) {
        let app = setup.script([Turn::saying("Five years.")]).start().await;
        let ada = app.ada().await;
        let path = ask(&ada).await;
        let body = json!({ "rating": "up" });
        for other in [app.member("bob@example.org").await, app.superuser().await] {
            other.put(&path, body.clone()).await.refused(404, "Conversation not found");
            other.delete(&path).await.refused(404, "Conversation not found");
        }
        let question = messages(&ada).await[0]["id"].as_str().unwrap().to_owned();
        for answer in [question.as_str(), OTHER] {
            let path = format!("{PATH}/messages/{answer}/feedback");
            ada.put(&path, body.clone()).await.refused(404, "Answer not found");
            ada.delete(&path).await.refused(404, "Answer not found");
        }
        let _ = ada.put(&format!("{PATH}/messages/x/feedback"), body.clone()).await.expect(422);
        assert_eq!(messages(&ada).await[1]["feedback"], json!(null));
        let _ = ada.delete(PATH).await.expect(204);
        ada.put(&path, body).await.refused(404, "Conversation not found");
    }

    async fn feedback_is_refused_while_the_database_is_unavailable(setup) {
        let app = setup.script([Turn::saying("Five years.")]).start().await;
        let ada = app.ada().await;
        let path = ask(&ada).await;
        app.faults.database.commit.fail_all(FaultKind::Unavailable);
        let _ = ada.put(&path, json!({ "rating": "up" })).await.expect(503);
    }

    async fn only_answers_in_a_conversation_have_an_id(setup) {
        let app = setup.script([Turn::saying("Five years.")]).start().await;
        let ada = app.ada().await;
        let reply = ada.ask("How long is the warranty?").await.expect(200);
        assert_eq!(reply.header("x-message-id"), "");
    }
}

/// Not on servers: chat models over HTTP cannot decline.
#[tokio::test]
async fn declined_answer_is_marked() {
    let started = Started::default();
    let setup = Setup::new(Stack::Embedded, &started);
    let app = setup.script([Turn::declining("The documents do not say.")]).start().await;
    let ada = app.ada().await;
    ask(&ada).await;
    let answer = messages(&ada).await.remove(1);
    assert_eq!((&answer["declined"], &answer["complete"]), (&json!(true), &json!(true)));
    drop(app);
    started.finish().await;
}
