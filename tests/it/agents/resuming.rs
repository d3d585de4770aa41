//! Resumable streams: `/agents/{name}/streams/{id}`.

use docent_app::settings::Settings;
use docent_domain::conversation::MessageRole;
use docent_domain::fault::FaultKind;
use docent_domain::listing::PageRequest;
use docent_testkit::fakes::chat_model::Turn;
use docent_tests::app::TestApp;
use docent_tests::member::{Member, question_body};
use docent_tests::reply::Reply;
use docent_tests::{rules, wait};
use reqwest::{Method, Response};
use serde_json::{Value, json};
use std::time::Duration;

const END: &str = "event: end\ndata: {\"reason\":\"complete\"}\n\n";
const UNKNOWN: &str = "01900000-0000-7000-8000-000000000001";

fn body(question: &str) -> Value {
    let mut body = question_body(question);
    body["resumable"] = json!(true);
    body
}

/// Opens a resumable stream; returns its path and the open response.
async fn open(by: &Member, body: Value) -> (String, Response) {
    let response = by.request(Method::POST, "/agents/chat").json(&body).send().await.unwrap();
    assert_eq!(response.status().as_u16(), 200);
    let id = response.headers()["x-stream-id"].to_str().unwrap().to_owned();
    (format!("/agents/chat/streams/{id}"), response)
}

/// Reads until the text received ends with `text`.
async fn read_until(response: &mut Response, text: &str) {
    let mut seen = String::new();
    while !seen.ends_with(text) {
        seen.push_str(str::from_utf8(&response.chunk().await.unwrap().unwrap()).unwrap());
    }
}

/// Resumes a stream after the event `last`.
async fn resume(by: &Member, path: &str, last: &str) -> Reply {
    by.app().send(by.request(Method::GET, path).header("Last-Event-ID", last)).await
}

/// Makes access tokens outlive [`advance_until`], however much time passes there.
fn long_access_tokens(settings: &mut Settings) {
    settings.access_token_ttl = Duration::from_secs(365 * 24 * 60 * 60);
}

/// Advances the clock until `done` is true.
async fn advance_until(app: &TestApp, what: &str, done: impl AsyncFn() -> bool) {
    wait::until(what, async || {
        app.advance(Duration::from_secs(20));
        done().await
    })
    .await;
}

rules! {
    // Invariant: A stream that is not resumable is byte for byte what the contract says.
    async fn stream_without_resumable_is_unchanged(setup) {
        let app = setup.always(Turn::saying("Hello world")).start().await;
        let ada = app.ada().await;
        let mut off = question_body("q");
        off["resumable"] = json!(false);
        for body in [question_body("q"), off] {
            let reply = ada.post("/agents/chat", body).await.expect(200);
            assert_eq!(reply.text, "data: \"Hello \"\n\ndata: \"world\"\n\n");
            assert_eq!(reply.header("x-stream-id"), "");
        }
        let mut wrong = question_body("q");
        wrong["resumable"] = json!("yes");
        ada.post("/agents/chat", wrong).await.invalid(&["body.resumable"]);
    }

    async fn resumable_events_are_numbered_and_end_with_an_end_event(setup) {
        let app = setup.script([Turn::saying("Hello world")]).start().await;
        let ada = app.ada().await;
        let mut body = body("q");
        body["include_sources"] = json!(true);
        let reply = ada.post("/agents/chat", body).await.expect(200);
        let sources = "event: sources\ndata: {\"results\":[]}\n\n";
        let events = format!("id: 1\ndata: \"Hello \"\n\nid: 2\ndata: \"world\"\n\nid: 3\n{sources}id: 4\n{END}");
        assert_eq!(reply.text, events);
        assert_eq!(reply.header("content-type"), "text/event-stream");

        let path = format!("/agents/chat/streams/{}", reply.header("x-stream-id"));
        assert_eq!(ada.get(&path).await.expect(200).text, events, "all of it without Last-Event-ID");
        assert_eq!(resume(&ada, &path, "3").await.expect(200).text, format!("id: 4\n{END}"));
        assert_eq!(resume(&ada, &path, "4").await.expect(204).text, "", "there is nothing left to send");
        for wrong in ["5", "x", "-1"] {
            resume(&ada, &path, wrong).await.invalid(&["header.Last-Event-ID"]);
        }
    }

    // Invariant: A resumed stream misses no event, and an abandoned one stops the model.
    async fn resumed_stream_sends_every_missed_event(setup) {
        let app = setup.script([Turn::new().text("one").text("two").stall()]).start().await;
        let ada = app.ada().await;
        let (path, mut first) = open(&ada, body("q")).await;
        read_until(&mut first, "\"one\"\n\n").await;
        drop(first);
        let mut second = ada.request(Method::GET, &path).header("Last-Event-ID", "1").send().await.unwrap();
        assert_eq!(second.chunk().await.unwrap().unwrap(), "id: 2\ndata: \"two\"\n\n");
        assert_eq!(app.model.cut_short(), 0, "the model keeps running");
        // Several readers can follow one stream, and each receives the end.
        let third = tokio::spawn({
            let (ada, path) = (ada.clone(), path.clone());
            async move { resume(&ada, &path, "1").await }
        });
        let _ = app.send(ada.request(Method::POST, &format!("{path}/stop"))).await.expect(204);
        let stopped = "id: 3\nevent: end\ndata: {\"reason\":\"stopped\"}\n\n";
        read_until(&mut second, stopped).await;
        assert!(third.await.unwrap().text.ends_with(stopped));
        wait::until("the model is stopped", async || app.model.cut_short() == 1).await;
        let _ = app.send(ada.request(Method::POST, &format!("{path}/stop"))).await.expect(204);
    }

    async fn answer_without_a_reader_is_completed_and_recorded(setup) {
        let app = setup.script([Turn::saying(&"word ".repeat(200))]).start().await;
        let ada = app.ada().await;
        let mut body = body("q");
        body["conversation_id"] = json!(UNKNOWN);
        let (_, response) = open(&ada, body).await;
        drop(response);
        let id = UNKNOWN.parse().unwrap();
        let mut messages = Vec::new();
        wait::until("it is recorded", async || {
            let mut view = app.ports.store.read().await.unwrap();
            messages = view.conversations().messages(id, PageRequest { offset: 0, limit: 9 }).await.unwrap().records;
            messages.len() == 2
        }).await;
        assert_eq!(messages[1].content.len(), 1000);
        assert!(matches!(messages[1].role, MessageRole::Agent { is_complete: true, .. }));
    }

    // Invariant: A resumed stream misses no event, and an abandoned one stops the model.
    async fn disconnect_without_resuming_stops_the_model(setup) {
        let app = setup.settings(long_access_tokens).script([Turn::new().text("one").stall()]).start().await;
        let ada = app.ada().await;
        let (path, mut response) = open(&ada, body("q")).await;
        read_until(&mut response, "\"one\"\n\n").await;
        drop(response);
        advance_until(&app, "the model is stopped", async || app.model.cut_short() == 1).await;
        wait::until("the stream is removed", async || ada.get(&path).await.status == 404).await;
    }

    async fn finished_stream_is_kept_for_a_minute(setup) {
        let app = setup.settings(long_access_tokens).script([Turn::saying("ok")]).start().await;
        let ada = app.ada().await;
        let (path, response) = open(&ada, body("q")).await;
        let _ = response.text().await.unwrap();
        app.advance(Duration::from_secs(59));
        let _ = ada.get(&path).await.expect(200);
        advance_until(&app, "the stream is removed", async || ada.get(&path).await.status == 404).await;
        ada.get(&path).await.refused(404, "Stream not found");
    }

    async fn fault_is_the_last_event(setup) {
        let turns = [Turn::new().text("Hel").fault(FaultKind::Unavailable), Turn::refused(FaultKind::Unavailable)];
        let app = setup.script(turns).start().await;
        let ada = app.ada().await;
        let reply = ada.post("/agents/chat", body("q")).await.expect(200);
        assert!(reply.text.starts_with("id: 1\ndata: \"Hel\"\n\nid: 2\nevent: error\ndata: {\"detail\":"), "{}", reply.text);
        assert_eq!(reply.text.matches("id: ").count(), 2);
        let refused = ada.post("/agents/chat", body("q")).await.expect(502);
        assert_eq!(refused.header("x-stream-id"), "");
    }

    async fn stream_of_another_account_returns_404(setup) {
        let app = setup.script([Turn::new().text("one").stall()]).start().await;
        let (ada, bob) = (app.ada().await, app.member("bob@example.org").await);
        let (path, _open) = open(&ada, body("q")).await;
        bob.get(&path).await.refused(404, "Stream not found");
        let stop = format!("{path}/stop");
        app.send(bob.request(Method::POST, &stop)).await.refused(404, "Stream not found");
        app.get(&path).await.refused(401, "Could not validate credentials");
        ada.get(&path.replace("/chat/", "/other/")).await.refused(404, "Stream not found");
        ada.get(&format!("/agents/chat/streams/{UNKNOWN}")).await.refused(404, "Stream not found");
        ada.get("/agents/chat/streams/x").await.invalid(&["path.id"]);
        assert_eq!(app.model.cut_short(), 0);
    }

    async fn open_streams_per_account_are_limited(setup) {
        let app = setup.always(Turn::new().text("one").stall()).start().await;
        let (ada, bob) = (app.ada().await, app.member("bob@example.org").await);
        let mut streams = Vec::new();
        for _ in 0..8 {
            streams.push(open(&ada, body("q")).await);
        }
        let refused = ada.post("/agents/chat", body("q")).await.expect(429);
        assert_eq!((app.model.requests().len(), refused.header("retry-after")), (8, "60"));
        let _bobs = open(&bob, body("q")).await;
        // A finished stream frees its place.
        let (path, mut first) = streams.remove(0);
        let _ = app.send(ada.request(Method::POST, &format!("{path}/stop"))).await.expect(204);
        read_until(&mut first, "\"stopped\"}\n\n").await;
        streams.push(open(&ada, body("q")).await);
        ada.get(&path).await.refused(404, "Stream not found");
    }

    async fn shutdown_does_not_wait_for_readers(setup) {
        let app = setup.script([Turn::new().text("one").stall()]).start().await;
        let ada = app.ada().await;
        let (_, response) = open(&ada, body("q")).await;
        drop(response);
        app.stop().await;
        wait::until("the model is stopped", async || app.model.cut_short() == 1).await;
    }
}
