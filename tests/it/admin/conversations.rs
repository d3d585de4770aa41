//! Conversations in the panel: `/admin/conversations`.

use super::staff;
use docent_domain::permission::Permission;
use docent_testkit::fakes::chat_model::Turn;
use docent_tests::browser::{Browser, form_token};
use docent_tests::member::{Member, question_body};
use docent_tests::pdf::pdf;
use docent_tests::{rules, wait};
use serde_json::json;

const ID: &str = "01900000-0000-7000-8000-000000000001";

/// Asks a question in the conversation and waits until it is recorded.
async fn ask(member: &Member, browser: &mut Browser, question: &str) {
    let mut body = question_body(question);
    body["conversation_id"] = json!(ID);
    let _ = member.post("/agents/chat", body).await.expect(200);
    wait::until("it is recorded", async || {
        let page = browser.clone().get(&format!("/admin/conversations/{ID}")).await;
        page.status == 200 && page.text.contains("passage answer")
    })
    .await;
}

rules! {
    async fn conversation_page_shows_messages_and_sources(setup) {
        let script = [Turn::searching("zebra"), Turn::saying("In <b>Africa</b>.")];
        let app = setup.script(script).start().await;
        let permissions = [Permission::ViewConversation, Permission::ViewDocument];
        let (mut browser, _) = staff(&app, &permissions).await;
        assert!(browser.get("/admin/conversations").await.expect(200).text.contains("No conversations yet."));
        let ada = app.ada().await;
        let document = ada.add("<script>.pdf", pdf(&["The zebra lives in Africa."])).await;
        app.run_jobs().await;
        ask(&ada, &mut browser, "Where does <script>the zebra live?").await;
        let list = browser.get("/admin/conversations?q=zebra&owner=ada%40example.org").await.expect(200).text;
        assert!(list.contains("ada@example.org") && list.contains("<td class=\"number minor\" data-label=\"Messages\">2</td>"), "{list}");
        let page = browser.get(&format!("/admin/conversations/{ID}")).await.expect(200).text;
        for text in ["In &lt;b&gt;Africa", "Sources: 1", "page 1", &format!("/admin/documents/{document}"), "input tokens"] {
            assert!(page.contains(text), "{text}: {page}");
        }
        for page in [list, page] {
            assert!(page.contains("&lt;script&gt;the zebra live") && !page.contains("<script>"), "{page}");
        }
        for none in ["?q=lion", "?owner=unknown"] {
            let page = browser.get(&format!("/admin/conversations{none}")).await.expect(200).text;
            assert!(page.contains("No matching conversations."), "{none}");
        }
        let _ = browser.get("/admin/conversations/x").await.expect(404);
    }

    async fn large_message_is_shown_on_its_own_page(setup) {
        let app = setup.script([Turn::saying("ok")]).start().await;
        let (mut browser, _) = staff(&app, &[Permission::ViewConversation]).await;
        let ada = app.ada().await;
        let long = "word ".repeat(20_000);
        ask(&ada, &mut browser, &long).await;
        let path = format!("/admin/conversations/{ID}");
        let page = browser.get(&path).await.expect(200).text;
        assert!(page.contains("too large to show here (100.0 kB)") && page.len() < 50_000, "{page}");
        assert!(page.contains(&format!("href=\"{path}?message=0\"")), "{page}");
        let single = browser.get(&format!("{path}?message=0")).await.expect(200).text;
        assert!(single.contains(long.trim()) && single.contains("Show all messages"));
    }

    async fn deleting_a_conversation_requires_its_own_permission(setup) {
        let app = setup.script([Turn::saying("ok")]).start().await;
        let (mut browser, member) = staff(&app, &[Permission::ViewConversation]).await;
        let ada = app.ada().await;
        ask(&ada, &mut browser, "q").await;
        let path = format!("/admin/conversations/{ID}");
        let page = browser.get(&path).await.expect(200);
        assert!(!page.text.contains("Delete permanently"));
        let token = form_token(&page);
        let delete = format!("{path}/delete");
        let _ = browser.post(&delete, &[("form_token", &token)]).await.expect(403);
        app.permit(member.user.id, &[Permission::ViewConversation, Permission::DeleteConversation]).await;
        assert!(browser.get(&path).await.expect(200).text.contains("Delete permanently"));
        let _ = browser.post(&delete, &[("form_token", "x")]).await.expect(403);
        let reply = browser.post(&delete, &[("form_token", &token)]).await.expect(303);
        assert_eq!(reply.header("location"), "/admin/conversations");
        assert!(browser.get(&path).await.expect(404).text.contains("Conversation not found"));
        let _ = browser.post(&delete, &[("form_token", &token)]).await.expect(404);
    }
}
