//! Staff who read conversations of others are recorded in the audit log.

use super::{at_panel, staff_account};
use docent_domain::audit::{AuditAction, AuditActor};
use docent_domain::fault::FaultKind;
use docent_domain::listing::AuditFilter;
use docent_domain::permission::Permission;
use docent_testkit::fakes::chat_model::Turn;
use docent_tests::app::TestApp;
use docent_tests::member::{Member, question_body};
use docent_tests::pdf::pdf;
use docent_tests::rules;
use serde_json::json;
use std::time::Duration;

const ID: &str = "01900000-0000-7000-8000-000000000001";
const PATH: &str = "/admin/conversations/01900000-0000-7000-8000-000000000001";

async fn ask(member: &Member) {
    let mut body = question_body("A private question?");
    body["conversation_id"] = json!(ID);
    let _ = member.post("/agents/chat", body).await.expect(200);
}

/// Returns readers and labels of the recorded views, newest first.
async fn views(app: &TestApp) -> Vec<(String, String)> {
    let filter = AuditFilter { action: Some(AuditAction::View), ..AuditFilter::default() };
    let reader = |actor| match actor {
        AuditActor::User { email, .. } => email,
        other => panic!("{other:?}"),
    };
    app.audit(filter).await.into_iter().map(|entry| (reader(entry.actor), entry.label)).collect()
}

rules! {
    async fn reading_a_private_conversation_is_audited_once_a_day_and_reader(setup) {
        let app = setup.script([Turn::saying("ok")]).start().await;
        let rights = [Permission::ViewConversation];
        for email in ["one@example.org", "two@example.org"] {
            staff_account(&app, email, &rights).await;
        }
        ask(&app.ada().await).await;
        let mut one = at_panel(&app, "one@example.org").await;
        assert!(views(&app).await.is_empty());
        for _ in 0..2 {
            let _ = one.get(PATH).await.expect(200);
        }
        app.advance(Duration::from_secs(1));
        let mut two = at_panel(&app, "two@example.org").await;
        let _ = two.get(PATH).await.expect(200);
        let entry = |reader: &str| (reader.to_owned(), "ada@example.org".to_owned());
        assert_eq!(views(&app).await, [entry("two@example.org"), entry("one@example.org")]);
        app.advance(Duration::from_secs(24 * 60 * 60));
        let mut one = at_panel(&app, "one@example.org").await;
        let _ = one.get(PATH).await.expect(200);
        assert_eq!(views(&app).await.len(), 3);
    }

    /// Staff who can read conversations, but not the documents of all accounts, do not read documents in them.
    async fn quotes_of_unreadable_documents_are_not_shown_to_staff(setup) {
        let app = setup.script([Turn::searching("zebras"), Turn::saying("In Africa.")]).start().await;
        let ada = app.ada().await;
        let upload = format!("/documents/upload?collection_id={}", ada.user.id);
        let _ = ada.upload_to(&upload, "a.pdf", pdf(&["Where the zebras live"])).await.expect(202);
        app.run_jobs().await;
        ask(&ada).await;
        staff_account(&app, "one@example.org", &[Permission::ViewConversation]).await;
        staff_account(&app, "all@example.org", &[Permission::ViewConversation, Permission::ViewDocument]).await;
        let hidden = at_panel(&app, "one@example.org").await.get(PATH).await.expect(200).text;
        assert!(hidden.contains("In Africa.") && !hidden.contains("Where the zebras live"), "{hidden}");
        assert!(hidden.contains("you do not have permission to read it"));
        let shown = at_panel(&app, "all@example.org").await.get(PATH).await.expect(200).text;
        assert!(shown.contains("Where the zebras live"), "{shown}");
    }

    async fn own_conversation_is_not_audited(setup) {
        let app = setup.script([Turn::saying("ok")]).start().await;
        let user = staff_account(&app, "staff@example.org", &[Permission::ViewConversation]).await;
        ask(&Member::login(&app, user).await).await;
        let _ = at_panel(&app, "staff@example.org").await.get(PATH).await.expect(200);
        assert!(views(&app).await.is_empty());
    }

    // Invariant: Staff do not read a private conversation without an audit log entry.
    async fn conversation_is_not_shown_when_the_view_cannot_be_recorded(setup) {
        let app = setup.script([Turn::saying("ok")]).start().await;
        staff_account(&app, "staff@example.org", &[Permission::ViewConversation]).await;
        ask(&app.ada().await).await;
        let mut staff = at_panel(&app, "staff@example.org").await;
        app.faults.database.commit.fail_all(FaultKind::Unavailable);
        assert!(!staff.get(PATH).await.expect(503).text.contains("A private question?"));
    }
}
