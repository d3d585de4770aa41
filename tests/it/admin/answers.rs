//! Rated and declined answers in the panel: `/admin/answers` and `/admin/answers.jsonl`.

use super::{at_panel, between, staff_account, staff_with};
use docent_domain::audit::AuditAction;
use docent_domain::chat::AgentName;
use docent_domain::conversation::{ConversationMessage, MessageRole};
use docent_domain::fault::FaultKind;
use docent_domain::id::MessageId;
use docent_domain::listing::AuditFilter;
use docent_domain::permission::Permission;
use docent_domain::usage::TokenUsage;
use docent_testkit::fakes::chat_model::Turn;
use docent_tests::app::TestApp;
use docent_tests::member::{Member, question_body};
use docent_tests::pdf::pdf;
use docent_tests::rules;
use serde_json::{Value, json};
use std::time::Duration;

const ID: &str = "01900000-0000-7000-8000-000000000001";

/// Asks a question in the conversation and returns the ID of the answer.
async fn ask(by: &Member, question: &str) -> String {
    let mut body = question_body(question);
    body["conversation_id"] = json!(ID);
    by.post("/agents/chat", body).await.expect(200).header("x-message-id").to_owned()
}

/// Records a question that was declined, and returns the ID of the answer. Chat models over HTTP cannot decline.
async fn decline(app: &TestApp, question: &str) -> String {
    let message = |role, content: &str| ConversationMessage {
        id: app.app.new_id(MessageId::generate),
        conversation: ID.parse().unwrap(),
        ordinal: 0,
        role,
        content: content.to_owned(),
        at: app.app.now(),
        replaced_at: None,
    };
    let declined = MessageRole::Agent {
        name: AgentName::parse("chat").unwrap(),
        sources: Vec::new(),
        tokens: TokenUsage::default(),
        is_complete: true,
        is_declined: true,
        best_score: None,
        fallback: None,
        feedback: None,
    };
    let messages = [message(MessageRole::User, question), message(declined, "The documents do not say.")];
    let mut work = app.ports.store.begin().await.unwrap();
    work.conversations().append(&messages).await.unwrap();
    work.commit().await.unwrap();
    messages[1].id.to_string()
}

async fn rate(by: &Member, answer: &str, body: Value) {
    let path = format!("/conversations/{ID}/messages/{answer}/feedback");
    let _ = by.put(&path, body).await.expect(200);
}

/// Returns the number of entries in the audit log about this action on the list.
async fn entries(app: &TestApp, action: AuditAction) -> usize {
    let filter = AuditFilter { action: Some(action), ..AuditFilter::default() };
    let entries = app.audit(filter).await;
    entries.iter().filter(|entry| entry.label == "Rated and declined answers").count()
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

rules! {
    async fn rated_and_declined_answers_are_listed_by_kind_and_date(setup) {
        let turns = [Turn::saying("Fine."), Turn::saying("Wrong."), Turn::saying("Unrated.")];
        let app = setup.script(turns).start().await;
        let ada = app.ada().await;
        let good = ask(&ada, "Which <b>one</b> is good?").await;
        let bad = ask(&ada, "Which one is bad?").await;
        app.advance(Duration::from_secs(86_400));
        let ada = Member::login(&app, ada.user.clone()).await;
        decline(&app, "Which one is declined?").await;
        ask(&ada, "Which one is unrated?").await;
        rate(&ada, &good, json!({ "rating": "up" })).await;
        rate(&ada, &bad, json!({ "rating": "down", "reason": "outdated", "comment": "Since <i>May</i>." })).await;
        let mut staff = staff_with(&app, &[Permission::ViewConversation]).await;
        let (good, bad, declined) = ("Which &lt;b&gt;one&lt;", "Which one is bad?", "Which one is declined?");
        for (query, shown) in [
            ("", &[bad, declined][..]),
            ("?kind=down", &[bad]),
            ("?kind=declined", &[declined]),
            ("?kind=up", &[good]),
            ("?to=2026-01-01", &[bad]),
            ("?from=2026-01-02", &[declined]),
            ("?kind=up&from=2026-01-02", &[]),
            ("?kind=low&below=0.5", &[]),
        ] {
            let page = staff.get(&format!("/admin/answers{query}")).await.expect(200).text;
            for question in [good, bad, declined, "Which one is unrated?"] {
                assert_eq!(page.contains(question), shown.contains(&question), "{query} {question}: {page}");
            }
            assert_eq!(page.contains("No matching answers."), shown.is_empty(), "{query}");
        }
        let page = staff.get("/admin/answers").await.expect(200).text;
        for text in ["thumbs down", "Outdated", "Since &lt;i&gt;May&lt;", "ada@example.org"] {
            assert!(page.contains(text), "{text}: {page}");
        }
        let link = between(&page, "class=\"row\" href=\"", "\"").replace("&#x2F;", "/");
        assert_eq!(link, format!("/admin/conversations/{ID}?page=1#message-5"));
        let conversation = staff.get(&format!("/admin/conversations/{ID}")).await.expect(200).text;
        assert!(conversation.contains("id=\"message-5\"") && conversation.contains("Outdated"), "{conversation}");
        for wrong in ["?kind=x", "?kind=low", "?below=x", "?from=x"] {
            let _ = staff.get(&format!("/admin/answers{wrong}")).await.expect(422);
        }
    }

    async fn answers_with_a_low_score_of_the_reranker_are_listed(setup) {
        let turns = [Turn::searching("zebra"), Turn::saying("In Africa.")];
        let app = setup.reranking().script(turns).start().await;
        let ada = app.ada().await;
        ada.add("animals.pdf", pdf(&["The zebra lives in Africa."])).await;
        app.run_jobs().await;
        ask(&ada, "Where does the zebra live?").await;
        let mut staff = staff_with(&app, &[Permission::ViewConversation]).await;
        for (below, is_listed) in [("1000000", true), ("-1000000", false)] {
            let page = staff.get(&format!("/admin/answers?kind=low&below={below}")).await.expect(200).text;
            assert_eq!(page.contains("Where does the zebra live?"), is_listed, "{below}: {page}");
        }
        let review = staff.get("/admin/answers?below=1000000").await.expect(200).text;
        assert!(review.contains("Where does the zebra live?"), "{review}");
    }

    async fn scores_without_a_reranker_are_not_compared(setup) {
        let turns = [Turn::searching("zebra"), Turn::saying("In Africa.")];
        let app = setup.script(turns).start().await;
        let ada = app.ada().await;
        ada.add("animals.pdf", pdf(&["The zebra lives in Africa."])).await;
        app.run_jobs().await;
        ask(&ada, "Where does the zebra live?").await;
        let mut staff = staff_with(&app, &[Permission::ViewConversation]).await;
        let page = staff.get("/admin/answers?kind=low&below=1000000").await.expect(200).text;
        assert!(page.contains("No matching answers."), "{page}");
    }

    async fn reading_the_list_is_audited_once_a_day(setup) {
        let app = setup.script([Turn::saying("ok")]).start().await;
        let mut staff = staff_with(&app, &[Permission::ViewConversation]).await;
        let _ = staff.get("/admin/answers").await.expect(200);
        assert_eq!(entries(&app, AuditAction::View).await, 0, "nothing was read");
        let ada = app.ada().await;
        let answer = ask(&ada, "A private question?").await;
        rate(&ada, &answer, json!({ "rating": "down" })).await;
        for _ in 0..2 {
            assert!(staff.get("/admin/answers").await.expect(200).text.contains("A private question?"));
        }
        assert_eq!(entries(&app, AuditAction::View).await, 1);
    }

    // Invariant: Staff do not read a private conversation without an audit log entry.
    async fn list_is_not_shown_when_reading_it_cannot_be_recorded(setup) {
        let app = setup.script([Turn::saying("ok")]).start().await;
        let mut staff = staff_with(&app, &[Permission::ViewConversation]).await;
        let ada = app.ada().await;
        let answer = ask(&ada, "A private question?").await;
        rate(&ada, &answer, json!({ "rating": "down" })).await;
        app.faults.database.commit.fail_all(FaultKind::Unavailable);
        assert!(!staff.get("/admin/answers").await.expect(503).text.contains("A private question?"));
        assert!(!staff.get("/admin/answers.jsonl").await.expect(503).text.contains("A private question?"));
    }

    async fn questions_of_good_answers_are_exported_with_their_pages(setup) {
        let turns = [Turn::searching("zebra"), Turn::saying("In Africa."), Turn::saying("Hello.")];
        let app = setup.script(turns).start().await;
        let ada = app.ada().await;
        ada.add("animals.pdf", pdf(&["Contents", "The zebra lives in Africa."])).await;
        app.run_jobs().await;
        let answer = ask(&ada, "Where does the zebra live?").await;
        let greeting = ask(&ada, "Hello?").await;
        let declined = decline(&app, "Where does the lion live?").await;
        for answer in [&answer, &greeting, &declined] {
            rate(&ada, answer, json!({ "rating": "up" })).await;
        }
        let mut staff = staff_with(&app, &[Permission::ViewConversation]).await;
        let file = staff.get("/admin/answers.jsonl?kind=up").await.expect(200);
        assert_eq!(file.header("content-type"), "application/jsonl; charset=utf-8");
        assert_eq!(file.header("content-disposition"), "attachment; filename=\"questions-up-2026-01-01.jsonl\"");
        let [line] = <[Value; 1]>::try_from(lines(&file.text)).unwrap();
        assert_eq!((&line["id"], &line["question"]), (&json!(answer), &json!("Where does the zebra live?")));
        assert_eq!(line["file"], "animals.pdf");
        assert!(line["gold_pages"].as_array().unwrap().contains(&json!(2)), "{line}");
        let questions = docent_app::evaluation::questions::questions(&file.text).unwrap();
        assert_eq!(questions.answerable.len(), 1);
        assert_eq!(entries(&app, AuditAction::Export).await, 1);
    }

    async fn questions_without_pages_are_exported_with_the_reason(setup) {
        let app = setup.script([Turn::saying("Wrong.")]).start().await;
        let ada = app.ada().await;
        let bad = ask(&ada, "Which one is bad?").await;
        let declined = decline(&app, "Which one is declined?").await;
        rate(&ada, &bad, json!({ "rating": "down", "reason": "incorrect", "comment": "No." })).await;
        let mut staff = staff_with(&app, &[Permission::ViewConversation]).await;
        let file = staff.get("/admin/answers.jsonl").await.expect(200).text;
        let mut found = lines(&file);
        found.sort_by_key(|line| line["declined"].as_bool());
        let expected = [
            json!({
                "id": bad, "question": "Which one is bad?", "declined": false, "best_score": null, "rating": "down",
                "reason": "incorrect", "comment": "No.",
            }),
            json!({
                "id": declined, "question": "Which one is declined?", "declined": true, "best_score": null, "rating": null,
                "reason": null, "comment": null,
            }),
        ];
        assert_eq!(found, expected);
        let read = docent_app::evaluation::questions::unanswerable_questions(&file).unwrap();
        assert_eq!(read.len(), 2);
    }

    /// Staff who can read conversations, but not the documents of all accounts, do not learn the names of files.
    async fn export_leaves_out_documents_outside_the_scope_of_the_staff(setup) {
        let app = setup.script([Turn::searching("zebras"), Turn::saying("In Africa.")]).start().await;
        let ada = app.ada().await;
        let upload = format!("/documents/upload?collection_id={}", ada.user.id);
        let _ = ada.upload_to(&upload, "secret.pdf", pdf(&["Where the zebras live"])).await.expect(202);
        app.run_jobs().await;
        let answer = ask(&ada, "Where?").await;
        rate(&ada, &answer, json!({ "rating": "up" })).await;
        staff_account(&app, "one@example.org", &[Permission::ViewConversation]).await;
        staff_account(&app, "all@example.org", &[Permission::ViewConversation, Permission::ViewDocument]).await;
        for (email, count) in [("one@example.org", 0), ("all@example.org", 1)] {
            let file = at_panel(&app, email).await.get("/admin/answers.jsonl?kind=up").await.expect(200).text;
            assert_eq!(lines(&file).len(), count, "{file}");
        }
    }
}
