//! Deleting the own account: `/account/delete`.

use super::{ADA, ada, at_account, notices};
use crate::admin::submit;
use docent_app::accounts::create::Flags;
use docent_domain::audit::{AuditAction, AuditActor};
use docent_domain::listing::AuditFilter;
use docent_tests::app::PASSWORD;
use docent_tests::browser::Browser;
use docent_tests::member::Member;
use docent_tests::pdf::pdf;
use docent_tests::rules;
use serde_json::json;

const PATH: &str = "/account/delete";

rules! {
    async fn deleted_account_leaves_its_documents_and_nothing_else(setup) {
        let app = setup.api_keys().start().await;
        let (mut browser, user) = ada(&app).await;
        let member = Member::login(&app, user.clone()).await;
        let key = app.api_key(user.id, &["read"]).await.key;
        let document = member.add("notes.pdf", pdf(&["words"])).await;
        app.run_jobs().await;
        let conversation = member.post("/conversations", json!({})).await.expect(201).json();
        for wrong in ["", "wrong"] {
            let _ = submit(&mut browser, PATH, &[("present", wrong)]).await.expect(422);
        }
        let _ = browser.post(PATH, &[("form_token", "x"), ("present", PASSWORD)]).await.expect(403);
        let reply = submit(&mut browser, PATH, &[("present", PASSWORD)]).await.expect(303);
        assert_eq!((reply.header("location"), browser.cookie.as_str()), ("/account/login", ""));
        let _ = member.get("/documents").await.expect(401);
        let _ = app.post("/auth/refresh", json!({ "refresh_token": member.refresh })).await.expect(401);
        let _ = app.send(app.request(reqwest::Method::GET, "/documents").bearer_auth(key)).await.expect(401);
        let _ = Browser::new(&app).login_at("/account/login", ADA, PASSWORD).await.expect(401);
        assert_eq!(notices(&app).await, [("Your account was deleted".to_owned(), ADA.to_owned())]);
        let other = app.member("other@example.org").await;
        assert_eq!(other.document(&document).await["status"], "ingested");
        let id = conversation["id"].as_str().unwrap().parse().unwrap();
        assert!(app.ports.store.read().await.unwrap().conversations().get(id).await.unwrap().is_none());
        let filter = AuditFilter { action: Some(AuditAction::Delete), record: Some(user.id.to_string()), ..AuditFilter::default() };
        let entries = app.audit(filter).await;
        assert!(matches!(&entries[..], [entry] if matches!(&entry.actor, AuditActor::User { email, .. } if email == ADA)), "{entries:?}");
    }

    async fn last_superuser_cannot_delete_its_account(setup) {
        let app = setup.start().await;
        let flags = Flags { is_staff: true, is_superuser: true };
        for email in ["root@example.org", "other@example.org"] {
            app.account(email, flags).await;
        }
        let mut root = at_account(&app, "root@example.org").await;
        let mut other = at_account(&app, "other@example.org").await;
        let _ = submit(&mut other, PATH, &[("present", PASSWORD)]).await.expect(303);
        assert_eq!(other.cookie, "");
        let reply = submit(&mut root, PATH, &[("present", PASSWORD)]).await.expect(303);
        assert_eq!(reply.header("location"), PATH);
        assert!(root.get(PATH).await.expect(200).text.contains("This is the last active superuser."));
        let _ = root.get("/admin").await.expect(200);
    }
}
