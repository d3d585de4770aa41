//! Conversations are recorded.

use docent_domain::conversation::{Conversation, ConversationMessage, MessageRole};
use docent_domain::fault::FaultKind;
use docent_domain::id::ConversationId;
use docent_domain::listing::PageRequest;
use docent_testkit::fakes::chat_model::Turn;
use docent_tests::app::TestApp;
use docent_tests::member::question_body;
use docent_tests::pdf::pdf;
use docent_tests::{rules, wait};
use reqwest::Method;
use serde_json::{Value, json};

const ID: &str = "01900000-0000-7000-8000-000000000001";

fn body(question: &str) -> Value {
    let mut body = question_body(question);
    body["conversation_id"] = json!(ID);
    body
}

/// Returns the recorded conversation and its messages.
async fn recorded(app: &TestApp) -> Option<(Conversation, Vec<ConversationMessage>)> {
    let id: ConversationId = ID.parse().unwrap();
    let mut view = app.ports.store.read().await.unwrap();
    let conversation = view.conversations().get(id).await.unwrap()?;
    let messages = view.conversations().messages(id, PageRequest { offset: 0, limit: 100 }).await.unwrap();
    Some((conversation, messages.records))
}

/// Waits for this many messages and returns them.
async fn messages(app: &TestApp, count: usize) -> Vec<ConversationMessage> {
    wait::until("it is recorded", async || {
        recorded(app).await.is_some_and(|(_, messages)| messages.len() >= count)
    })
    .await;
    recorded(app).await.unwrap().1
}

/// Returns the number of sources of an answer, and whether it is complete.
fn answer(message: &ConversationMessage) -> (usize, bool) {
    match &message.role {
        MessageRole::Agent { sources, is_complete, .. } => (sources.len(), *is_complete),
        MessageRole::User => panic!("not an answer: {message:?}"),
    }
}

rules! {
    async fn question_and_answer_are_recorded_without_changing_the_stream(setup) {
        let turns = [Turn::searching("zebra"), Turn::saying("In Africa."), Turn::saying("Yes.")];
        let app = setup.script(turns).start().await;
        let ada = app.ada().await;
        ada.add("a.pdf", pdf(&["The zebra lives in Africa."])).await;
        app.run_jobs().await;
        let reply = ada.post("/agents/chat", body("Where does the zebra live?")).await.expect(200);
        assert_eq!(reply.text, "data: \"In \"\n\ndata: \"Africa.\"\n\n");
        // The answer is recorded before its stream ends, so a follow-up question has it in the history.
        let (conversation, recorded_messages) = recorded(&app).await.unwrap();
        assert_eq!((conversation.owner, conversation.title.as_str()), (ada.user.id, "Where does the zebra live?"));
        assert_eq!((&recorded_messages[0].role, recorded_messages[0].content.as_str()), (&MessageRole::User, "Where does the zebra live?"));
        assert_eq!((answer(&recorded_messages[1]), recorded_messages[1].content.as_str()), ((1, true), "In Africa."));
        let MessageRole::Agent { tokens, .. } = &recorded_messages[1].role else { panic!() };
        wait::until("usage is recorded", async || app.usage(ada.user.id).await == *tokens).await;

        let _ = ada.post("/agents/chat", body("Sure?")).await.expect(200);
        let recorded_messages = messages(&app, 4).await;
        assert_eq!(recorded_messages.iter().map(|message| message.ordinal).collect::<Vec<_>>(), [0, 1, 2, 3]);
        assert_eq!(recorded(&app).await.unwrap().0.title, conversation.title);
    }

    async fn conversation_of_another_account_returns_404(setup) {
        let app = setup.script([Turn::saying("ok")]).start().await;
        let (ada, bob) = (app.ada().await, app.member("bob@example.org").await);
        let _ = ada.post("/agents/chat", body("q")).await.expect(200);
        messages(&app, 2).await;
        let root = app.superuser().await;
        for other in [bob, root] {
            let _ = other.post("/agents/chat", body("q")).await.expect(404);
        }
        assert_eq!(app.model.requests().len(), 1, "the model is not called");
        assert_eq!(messages(&app, 2).await.len(), 2);
    }

    async fn answer_after_a_disconnect_is_recorded_as_incomplete(setup) {
        let app = setup.script([Turn::new().text("hello world").stall()]).start().await;
        let ada = app.ada().await;
        let mut response = ada.request(Method::POST, "/agents/chat").json(&body("q")).send().await.unwrap();
        let _ = response.chunk().await.unwrap().unwrap();
        drop(response);
        let recorded_messages = messages(&app, 2).await;
        assert_eq!((answer(&recorded_messages[1]), recorded_messages[1].content.as_str()), ((0, false), "hello world"));
    }

    async fn interrupted_answer_is_recorded_as_incomplete(setup) {
        let turns = [Turn::new().text("Hel").fault(FaultKind::Unavailable), Turn::refused(FaultKind::Unavailable)];
        let app = setup.script(turns).start().await;
        let ada = app.ada().await;
        let _ = ada.post("/agents/chat", body("one")).await.expect(200);
        let recorded_messages = messages(&app, 2).await;
        assert_eq!((answer(&recorded_messages[1]), recorded_messages[1].content.as_str()), ((0, false), "Hel"));
        let _ = ada.post("/agents/chat", body("two")).await.expect(502);
        let recorded_messages = messages(&app, 4).await;
        assert_eq!((answer(&recorded_messages[3]), recorded_messages[3].content.as_str()), ((0, false), ""));
    }

    async fn question_may_contain_any_character(setup) {
        let app = setup.script([Turn::saying("ok")]).start().await;
        let ada = app.ada().await;
        let _ = ada.post("/agents/chat", body("a\0b\u{2028}")).await.expect(200);
        assert_eq!(messages(&app, 2).await[0].content, "ab\u{2028}");
    }

    async fn question_without_conversation_is_not_recorded(setup) {
        let app = setup.script([Turn::saying("ok")]).start().await;
        let ada = app.ada().await;
        let _ = ada.ask("q").await.expect(200);
        wait::until("usage is recorded", async || app.usage(ada.user.id).await.completion > 0).await;
        assert!(recorded(&app).await.is_none());
    }
}
