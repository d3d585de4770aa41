//! Webhooks in the panel: `/admin/webhooks`.

use super::{staff, submit};
use docent_domain::audit::AuditAction;
use docent_domain::listing::AuditFilter;
use docent_domain::permission::Permission;
use docent_testkit::fakes::webhook_sender::answered;
use docent_tests::member::Member;
use docent_tests::pdf::pdf;
use docent_tests::rules;
use serde_json::json;
use std::collections::BTreeSet;

/// Creates a webhook and returns the path of its page.
async fn create(by: &Member, url: &str) -> String {
    let webhook =
        by.post("/webhooks", json!({ "url": url, "description": "<b>mine</b>" })).await.expect(201).json();
    format!("/admin/webhooks/{}", webhook["id"].as_str().unwrap())
}

rules! {
    async fn webhook_page_shows_deliveries_without_secrets(setup) {
        let app = setup.start().await;
        let (mut browser, _) = staff(&app, &[Permission::ViewWebhook, Permission::ViewDocument]).await;
        assert!(browser.get("/admin/webhooks").await.expect(200).text.contains("No webhooks yet."));
        let ada = app.ada().await;
        let page = create(&ada, "https://example.org/<script>").await;
        let document = ada.add("a.pdf", pdf(&["words"])).await;
        app.run_jobs().await;
        app.receivers.script(answered(503));
        app.deliver().await;
        let list = browser.get("/admin/webhooks?owner=ada%40example.org&state=on").await.expect(200).text;
        assert!(list.contains("ada@example.org") && list.contains(&page), "{list}");
        let shown = browser.get(&page).await.expect(200).text;
        for text in ["document.ingested", "the receiver answered 503", "pending", &format!("/admin/documents/{document}")] {
            assert!(shown.contains(text), "{text}: {shown}");
        }
        for page in [&list, &shown] {
            assert!(page.contains("&lt;script&gt;") && !page.contains("<script>") && !page.contains("<b>mine"), "{page}");
            assert!(!page.contains("whsec_"), "only owners see secrets");
        }
        assert!(!shown.contains("Turn off") && !shown.contains("Delete permanently"), "these actions require further permissions");
        for none in ["?state=off", "?owner=unknown"] {
            assert!(browser.get(&format!("/admin/webhooks{none}")).await.expect(200).text.contains("No matching webhooks."), "{none}");
        }
        let _ = browser.get("/admin/webhooks/x").await.expect(404);
    }

    async fn webhook_can_be_switched_replayed_and_deleted(setup) {
        let app = setup.start().await;
        let rights = [Permission::ViewWebhook, Permission::ChangeWebhook, Permission::DeleteWebhook];
        let (mut browser, _) = staff(&app, &rights).await;
        let ada = app.ada().await;
        let page = create(&ada, "https://example.org/hook").await;
        let path = page.strip_prefix("/admin").unwrap();
        let ping = ada.post(&format!("{path}/test"), json!({})).await.expect(202).json();
        app.deliver().await;
        let delivery = ping["id"].as_str().unwrap();
        let _ = browser.get(&page).await.expect(200);
        let again = submit(&mut browser, &format!("{page}/replay"), &[("delivery", delivery)]).await.expect(303);
        assert_eq!(again.header("location"), page);
        app.deliver().await;
        assert_eq!(app.receivers.messages().len(), 2);
        let _ = submit(&mut browser, &format!("{page}/replay"), &[("delivery", "x")]).await.expect(404);
        for (state, is_on) in [("off", false), ("off", false), ("on", true)] {
            let _ = submit(&mut browser, &format!("{page}/switch"), &[("active", state)]).await.expect(303);
            assert_eq!(ada.get(path).await.expect(200).json()["active"], is_on);
        }
        let _ = submit(&mut browser, &format!("{page}/delete"), &[]).await.expect(303);
        ada.get(path).await.refused(404, "Webhook not found");
        let id = path.rsplit('/').next().unwrap().to_owned();
        let entries = app.audit(AuditFilter { record: Some(id), ..AuditFilter::default() }).await;
        let mut actions: Vec<_> = entries.iter().map(|entry| entry.action).collect();
        actions.sort();
        assert_eq!(actions, [AuditAction::Add, AuditAction::Change, AuditAction::Change, AuditAction::Delete, AuditAction::Retry], "switching off twice is recorded once");
        let switches = entries.iter().filter_map(|entry| entry.changes.get("is_active")?.after.clone());
        assert_eq!(switches.collect::<BTreeSet<_>>(), ["false", "true"].map(str::to_owned).into());
    }

    async fn secrets_of_a_url_are_shown_only_to_the_owner(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let permissions = [Permission::ViewWebhook, Permission::ViewAuditEntry];
        let (mut browser, _) = staff(&app, &permissions).await;
        let url = "https://example.org/in/k7Tq2mZ0pXw9RbVe5LsA?key=hunter2";
        let page = create(&ada, url).await;
        let path = page.strip_prefix("/admin").unwrap();
        assert_eq!(ada.get(path).await.expect(200).json()["url"], url);
        let moved = json!({ "url": url.replace("hunter2", "hunter3") });
        let _ = ada.patch(path, moved).await.expect(200);
        let masked = "https://example.org/in/…?…";
        let id = path.rsplit('/').next().unwrap().to_owned();
        let entries = app.audit(AuditFilter { record: Some(id), ..AuditFilter::default() }).await;
        for text in [format!("{entries:?}"), browser.get(&page).await.expect(200).text, browser.get("/admin/webhooks").await.expect(200).text] {
            assert!(text.contains(masked), "{text}");
            assert!(!text.contains("hunter") && !text.contains("k7Tq2m"), "{text}");
        }
        let changed = entries.iter().find(|entry| entry.action == AuditAction::Change).unwrap();
        assert_eq!(changed.changes["url"].after.as_deref(), Some(&*format!("{masked} (another secret)")));
    }
}
