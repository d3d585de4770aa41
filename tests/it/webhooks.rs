//! Webhook subscriptions and deliveries: `/webhooks`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use docent_domain::audit::AuditAction;
use docent_domain::fault::FaultKind;
use docent_domain::listing::AuditFilter;
use docent_domain::permission::Permission;
use docent_services::webhook_sender::{AllowedHosts, HttpWebhookSender};
use docent_testkit::fakes::webhook_sender::answered;
use docent_testkit::wire::{FakeLlm, Reply as Answer};
use docent_tests::member::{Member, form};
use docent_tests::pdf::pdf;
use docent_tests::reply::Reply;
use docent_tests::rules;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::time::Duration;

const UNKNOWN: &str = "01900000-0000-7000-8000-000000000001";
/// Longer than any of these tests takes.
const MONTH: Duration = Duration::from_secs(30 * 24 * 60 * 60);
const URL: &str = "https://example.org/hook";

/// Creates a webhook; returns its path and the response body.
async fn create(by: &Member, body: Value) -> (String, Value) {
    let created = by.post("/webhooks", body).await.expect(201).json();
    (format!("/webhooks/{}", created["id"].as_str().unwrap()), created)
}

/// Returns the delivery log, newest first.
async fn log(by: &Member, path: &str) -> Vec<Value> {
    by.get(&format!("{path}/deliveries")).await.expect(200).json().as_array().unwrap().clone()
}

/// HMAC-SHA256 (RFC 2104), computed without the adapter's library.
fn hmac(key: &[u8], message: &[u8]) -> Vec<u8> {
    let mut block = [0; 64];
    block[..key.len()].copy_from_slice(key);
    let inner = Sha256::new().chain_update(block.map(|byte| byte ^ 0x36)).chain_update(message).finalize();
    Sha256::new().chain_update(block.map(|byte| byte ^ 0x5c)).chain_update(inner).finalize().to_vec()
}

rules! {
    async fn webhook_is_created_read_changed_and_deleted(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let (path, created) = create(&ada, json!({ "url": URL, "description": " the intranet " })).await;
        let secret = created["secret"].as_str().unwrap();
        assert_eq!(STANDARD.decode(secret.strip_prefix("whsec_").unwrap()).unwrap().len(), 32);
        let mut webhook = created.clone();
        webhook.as_object_mut().unwrap().remove("secret");
        assert_eq!(webhook, json!({
            "id": created["id"], "url": URL, "description": "the intranet", "all_documents": false, "active": true,
            "events": ["document.ingested", "document.failed", "document.replacement_failed"], "previous_secret_until": null,
            "created_at": "2026-01-01T00:00:00.000000Z", "updated_at": "2026-01-01T00:00:00.000000Z",
        }));
        assert_eq!(ada.get(&path).await.expect(200).json(), webhook, "the secret is shown once");
        assert_eq!(ada.get("/webhooks").await.expect(200).json(), json!([webhook]));

        app.advance(Duration::from_secs(1));
        let update = json!({ "url": "https://example.org/other", "events": ["document.failed"], "active": false });
        let changed = ada.patch(&path, update).await.expect(200).json();
        assert_eq!((&changed["url"], &changed["events"]), (&json!("https://example.org/other"), &json!(["document.failed"])));
        assert_eq!((&changed["active"], &changed["description"]), (&json!(false), &json!("the intranet")));
        assert_eq!(changed["updated_at"], "2026-01-01T00:00:01.000000Z");
        let same = ada.patch(&path, json!({ "url": null, "description": "" })).await.expect(200).json();
        assert_eq!((&same["url"], &same["description"]), (&changed["url"], &json!("")));

        assert_eq!(ada.delete(&path).await.expect(204).text, "");
        ada.get(&path).await.refused(404, "Webhook not found");
        ada.delete(&path).await.refused(404, "Webhook not found");
        let mut actions: Vec<_> = app.audit(AuditFilter { record: created["id"].as_str().map(str::to_owned), ..AuditFilter::default() })
            .await.into_iter().map(|entry| entry.action).collect();
        actions.sort();
        assert_eq!(actions, [AuditAction::Add, AuditAction::Change, AuditAction::Change, AuditAction::Delete]);
    }

    async fn delivery_contains_the_document_as_the_api_returns_it(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let (path, _) = create(&ada, json!({ "url": URL })).await;
        let good = ada.add("good.pdf", pdf(&["The zebra lives in Africa."])).await;
        app.run_jobs().await;
        app.advance(Duration::from_secs(2));
        let bad = ada.add("bad.pdf", pdf(&[""])).await;
        app.run_jobs().await;
        assert_eq!(app.deliver().await, 2);
        let sent: Vec<Value> =
            app.receivers.messages().iter().map(|sent| serde_json::from_str(&sent.body).unwrap()).collect();
        assert_eq!(sent[0], json!({
            "type": "document.ingested", "timestamp": "2026-01-01T00:00:00.000000Z", "data": { "document": ada.document(&good).await },
        }));
        let report = ada.get(&format!("/documents/{bad}/report")).await.expect(200).json();
        assert_eq!(sent[1], json!({
            "type": "document.failed", "timestamp": "2026-01-01T00:00:02.000000Z",
            "data": { "document": ada.document(&bad).await, "failure": report["failure"] },
        }));
        let log = log(&ada, &path).await;
        assert_eq!((&log[1]["document_id"], &log[1]["state"], &log[1]["last_status"]), (&json!(good), &json!("delivered"), &json!(204)));

        // The log stays when the document is deleted.
        let _ = ada.delete(&format!("/documents/{good}")).await.expect(204);
        app.run_jobs().await;
        assert_eq!(self::log(&ada, &path).await.len(), 2);
    }

    /// A replaced file is reported as ingested or failed; the document itself stays as it was then.
    async fn end_of_a_replacement_is_delivered(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let (path, _) = create(&ada, json!({ "url": URL })).await;
        let id = ada.add("a.pdf", pdf(&["zebras"])).await;
        app.run_jobs().await;
        for bytes in [b"no PDF".to_vec(), pdf(&["lions"])] {
            app.advance(Duration::from_secs(1));
            let reply = ada.put_form(&format!("/documents/{id}/file"), form("b.pdf", "application/pdf", bytes)).await;
            let _ = reply.expect(202);
            app.run_jobs().await;
            assert!(app.deliver().await > 0);
        }
        let events: Vec<Value> = log(&ada, &path).await.into_iter().map(|sent| sent["event"].clone()).collect();
        assert_eq!(events, ["document.ingested", "document.replacement_failed", "document.ingested"]);
        let sent: Value = serde_json::from_str(&app.receivers.messages()[1].body).unwrap();
        assert_eq!(sent["data"]["document"]["status"], "ingested");
        assert_eq!(sent["data"]["failure"]["code"], "not_a_pdf");
    }

    /// The scope of a webhook is that of its owner when a message is sent.
    async fn documents_that_the_owner_can_no_longer_read_are_not_reported(setup) {
        let app = setup.start().await;
        let (ada, bob) = (app.ada().await, app.member("bob@example.org").await);
        let team = ada.post("/collections", json!({ "name": "Team" })).await.expect(201).json()["id"].clone();
        let members = format!("/collections/{}/members", team.as_str().unwrap());
        let role = json!({ "email": bob.user.email.as_str(), "role": "contributor" });
        let _ = ada.put(&members, role.clone()).await.expect(200);
        let (path, _) = create(&bob, json!({ "url": URL })).await;
        let upload = format!("/documents/upload?collection_id={}", team.as_str().unwrap());
        let _ = bob.upload_to(&upload, "a.pdf", pdf(&["zebras"])).await.expect(202);
        app.run_jobs().await;
        let _ = ada.delete(&format!("{members}/{}", bob.user.id)).await.expect(204);
        app.deliver().await;
        assert!(app.receivers.messages().is_empty());
        let refused = log(&bob, &path).await;
        assert_eq!(refused[0]["state"], "failed");
        assert_eq!(refused[0]["last_error"], "the account can no longer read the document");

        let _ = ada.put(&members, role).await.expect(200);
        let replay = format!("{path}/deliveries/{}/replay", refused[0]["id"].as_str().unwrap());
        let _ = bob.post(&replay, json!({})).await.expect(202);
        app.deliver().await;
        assert_eq!(app.receivers.messages().len(), 1);
    }

    async fn every_attempt_is_signed_with_the_webhooks_secret(setup) {
        let receiver = FakeLlm::start().await;
        let setup = setup.settings(|settings| settings.access_token_ttl = MONTH);
        let app = setup.webhooks(HttpWebhookSender::new(AllowedHosts::PublicAndPrivate).unwrap()).start().await;
        let ada = app.ada().await;
        let (path, created) = create(&ada, json!({ "url": format!("http://{}/hook", receiver.address()) })).await;
        let _ = ada.add("a.pdf", pdf(&["Grüße"])).await;
        app.run_jobs().await;
        receiver.script(Answer::json(307, "").header("Location", "/elsewhere"));
        receiver.script(Answer::json(500, "").cut());
        receiver.script(Answer::raw("").reset());
        receiver.script(Answer::json(200, "{}"));
        for _ in 0..4 {
            assert_eq!(app.deliver().await, 1);
            app.advance(Duration::from_secs(3600));
        }
        let secret = created["secret"].as_str().unwrap().strip_prefix("whsec_").unwrap();
        let key = STANDARD.decode(secret).unwrap();
        let requests = receiver.requests();
        assert_eq!(requests.len(), 4, "redirections are not followed");
        for request in &requests {
            let header = |name| request.header(name).unwrap();
            let signed = [header("webhook-id").as_bytes(), b".", header("webhook-timestamp").as_bytes(), b".", &request.body];
            let expected = format!("v1,{}", STANDARD.encode(hmac(&key, &signed.concat())));
            assert_eq!(header("webhook-signature"), expected);
            assert_eq!((header("webhook-id"), &request.body), (requests[0].header("webhook-id").unwrap(), &requests[0].body));
        }
        let [delivery] = log(&ada, &path).await.try_into().unwrap();
        assert_eq!((&delivery["state"], &delivery["attempts"]), (&json!("delivered"), &json!(4)));
    }

    async fn rotated_secret_is_shown_once_and_the_previous_one_signs_for_a_day(setup) {
        let app = setup.settings(|settings| settings.access_token_ttl = MONTH).start().await;
        let ada = app.ada().await;
        let (path, created) = create(&ada, json!({ "url": URL })).await;
        let rotated = ada.post(&format!("{path}/secret"), json!({})).await.expect(200).json();
        assert_ne!(rotated["secret"], created["secret"]);
        assert_eq!(rotated["previous_secret_until"], "2026-01-02T00:00:00.000000Z");
        for signatures in [2, 1] {
            let _ = ada.post(&format!("{path}/test"), json!({})).await.expect(202);
            assert_eq!(app.deliver().await, 1);
            let sent = app.receivers.messages().pop().unwrap();
            assert_eq!(sent.signature.split(' ').count(), signatures);
            app.advance(Duration::from_secs(24 * 3600));
            assert_eq!(ada.get(&path).await.expect(200).json()["previous_secret_until"], json!(null));
        }
    }

    async fn test_and_replay_are_sent_and_logged(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let (path, _) = create(&ada, json!({ "url": URL, "events": ["document.failed"] })).await;
        let ping = ada.post(&format!("{path}/test"), json!({})).await.expect(202).json();
        assert_eq!((&ping["event"], &ping["state"], &ping["document_id"]), (&json!("ping"), &json!("pending"), &json!(null)));
        app.receivers.script(answered(503));
        app.deliver().await;
        let [failed] = log(&ada, &path).await.try_into().unwrap();
        assert_eq!((&failed["last_status"], &failed["attempts"]), (&json!(503), &json!(1)));
        assert_eq!(failed["last_error"], "the receiver answered 503");
        assert!(failed["next_attempt_at"].as_str().unwrap() >= "2026-01-01T00:00:05.000000Z");
        let replay = format!("{path}/deliveries/{}/replay", ping["id"].as_str().unwrap());
        let again = ada.post(&replay, json!({})).await.expect(202).json();
        assert_eq!((&again["attempts"], &again["last_status"]), (&json!(0), &json!(null)));
        assert_eq!(app.deliver().await, 1);
        let [first, second] = app.receivers.messages().try_into().unwrap();
        assert_eq!((first.id, first.body), (second.id, second.body));
        ada.post(&format!("{path}/deliveries/{UNKNOWN}/replay"), json!({})).await.refused(404, "Delivery not found");

        app.receivers.script(answered(410));
        let _ = ada.post(&replay, json!({})).await.expect(202);
        app.deliver().await;
        assert_eq!(ada.get(&path).await.expect(200).json()["active"], false);
        let off = "This webhook is off; turn it on first";
        ada.post(&replay, json!({})).await.refused(409, off);
        ada.post(&format!("{path}/test"), json!({})).await.refused(409, off);
    }

    async fn replay_during_a_delivery_returns_409(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let (path, created) = create(&ada, json!({ "url": URL })).await;
        let ping = ada.post(&format!("{path}/test"), json!({})).await.expect(202).json();
        let mut work = app.ports.store.begin().await.unwrap();
        let (now, lease) = (app.app.now(), UNKNOWN.parse().unwrap());
        let leased = work.webhooks().lease(lease, now, now + Duration::from_secs(30)).await.unwrap().unwrap();
        work.commit().await.unwrap();
        assert_eq!(leased.webhook.id.to_string(), created["id"].as_str().unwrap());
        let replay = format!("{path}/deliveries/{}/replay", ping["id"].as_str().unwrap());
        let busy = "A message is being sent to this webhook; try again in a moment";
        ada.post(&replay, json!({})).await.refused(409, busy);
        app.advance(Duration::from_secs(30));
        let _ = ada.post(&replay, json!({})).await.expect(202);
    }

    async fn delivery_log_is_paged(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let (path, _) = create(&ada, json!({ "url": URL })).await;
        let mut ids = Vec::new();
        for _ in 0..3 {
            let ping = ada.post(&format!("{path}/test"), json!({})).await.expect(202).json();
            ids.insert(0, ping["id"].clone());
            app.advance(Duration::from_secs(1));
        }
        let first = ada.get(&format!("{path}/deliveries?limit=2")).await.expect(200);
        let of = |reply: &Reply| reply.json().as_array().unwrap().iter().map(|one| one["id"].clone()).collect::<Vec<_>>();
        assert_eq!(of(&first), ids[..2]);
        let cursor = first.header("x-next-cursor").to_owned();
        assert_eq!(first.header("link"), format!("<{path}/deliveries?limit=2&cursor={cursor}>; rel=\"next\""));
        let rest = ada.get(&format!("{path}/deliveries?limit=2&cursor={cursor}")).await.expect(200);
        assert_eq!((of(&rest), rest.header("link")), (ids[2..].to_vec(), ""));
        for wrong in ["limit=0", "limit=1001", "limit=x", "cursor=x"] {
            let place = format!("query.{}", wrong.split('=').next().unwrap());
            ada.get(&format!("{path}/deliveries?{wrong}")).await.invalid(&[&place]);
        }
    }

    async fn webhook_of_another_account_returns_404(setup) {
        let app = setup.start().await;
        let (ada, bob, root) = (app.ada().await, app.member("bob@example.org").await, app.superuser().await);
        let (path, _) = create(&ada, json!({ "url": URL })).await;
        let ping = ada.post(&format!("{path}/test"), json!({})).await.expect(202).json();
        let replay = format!("{path}/deliveries/{}/replay", ping["id"].as_str().unwrap());
        let (own, _) = create(&bob, json!({ "url": URL })).await;
        for other in [&bob, &root] {
            for path in [path.clone(), format!("{path}/deliveries")] {
                other.get(&path).await.refused(404, "Webhook not found");
            }
            for path in [format!("{path}/secret"), format!("{path}/test"), replay.clone()] {
                other.post(&path, json!({})).await.refused(404, "Webhook not found");
            }
            other.patch(&path, json!({ "active": false })).await.refused(404, "Webhook not found");
            other.delete(&path).await.refused(404, "Webhook not found");
        }
        // Not by the path of an own webhook either.
        let by_own = replay.replace(&path, &own);
        bob.post(&by_own, json!({})).await.refused(404, "Delivery not found");
        assert_eq!(bob.get("/webhooks").await.expect(200).json().as_array().unwrap().len(), 1);
        app.get("/webhooks").await.refused(401, "Could not validate credentials");
    }

    async fn all_documents_requires_permission(setup) {
        let app = setup.start().await;
        let (ada, bob) = (app.ada().await, app.member("bob@example.org").await);
        let all = json!({ "url": URL, "all_documents": true });
        let denied = "You do not have permission to do this";
        bob.post("/webhooks", all.clone()).await.refused(403, denied);
        app.permit(bob.user.id, &[Permission::ViewDocument]).await;
        let (path, created) = create(&bob, all).await;
        assert_eq!(created["all_documents"], true);
        let _ = ada.add("a.pdf", pdf(&["words"])).await;
        app.run_jobs().await;
        assert_eq!(app.deliver().await, 1);

        app.permit(bob.user.id, &[]).await;
        bob.patch(&path, json!({ "active": true })).await.refused(403, denied);
        app.advance(Duration::from_secs(1));
        let _ = ada.add("b.pdf", pdf(&["words"])).await;
        app.run_jobs().await;
        app.deliver().await;
        let log = log(&bob, &path).await;
        assert_eq!((&log[0]["state"], &log[1]["state"]), (&json!("failed"), &json!("delivered")));
        assert_eq!(app.receivers.messages().len(), 1);
        let _ = bob.patch(&path, json!({ "all_documents": false })).await.expect(200);
    }

    async fn webhooks_per_account_are_limited_to_20(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        for _ in 0..20 {
            create(&ada, json!({ "url": URL })).await;
        }
        let full = "An account may have at most 20 webhooks";
        ada.post("/webhooks", json!({ "url": URL })).await.refused(409, full);
        create(&app.member("bob@example.org").await, json!({ "url": URL })).await;
        assert_eq!(ada.get("/webhooks").await.expect(200).json().as_array().unwrap().len(), 20);
    }

    async fn invalid_requests_return_422(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let (path, _) = create(&ada, json!({ "url": URL })).await;
        let long = format!("https://example.org/{}", "x".repeat(2000));
        for url in [json!(""), json!("example.org"), json!("ftp://example.org"), json!("https://a b"), json!(long), json!(7)] {
            ada.post("/webhooks", json!({ "url": url })).await.invalid(&["body.url"]);
            ada.patch(&path, json!({ "url": url })).await.invalid(&["body.url"]);
        }
        let private_host = json!({ "url": "https://internal.example.org" });
        let refused = ada.post("/webhooks", private_host.clone()).await;
        refused.invalid(&["body.url"]);
        assert!(refused.text.contains("not on the public internet"), "{}", refused.text);
        ada.patch(&path, private_host).await.invalid(&["body.url"]);
        for (field, value) in [
            ("events", json!([])), ("events", json!(["ping"])), ("events", json!(["document.ingested", 1])), ("events", json!("all")),
            ("description", json!("x".repeat(201))), ("description", json!("a\nb")), ("all_documents", json!("yes")),
        ] {
            let place = format!("body.{field}");
            ada.post("/webhooks", json!({ "url": URL, field: value })).await.invalid(&[&place]);
            ada.patch(&path, json!({ field: value })).await.invalid(&[&place]);
        }
        ada.post("/webhooks", json!({})).await.invalid(&["body.url"]);
        ada.patch(&path, json!({ "active": 1 })).await.invalid(&["body.active"]);
        ada.get("/webhooks/x").await.invalid(&["path.id"]);
        ada.post(&format!("{path}/deliveries/x/replay"), json!({})).await.invalid(&["path.delivery"]);
        ada.get(&format!("/webhooks/{UNKNOWN}")).await.refused(404, "Webhook not found");
    }

    async fn delivery_whose_record_is_lost_is_sent_again_with_the_same_id(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let (path, _) = create(&ada, json!({ "url": URL })).await;
        let _ = ada.post(&format!("{path}/test"), json!({})).await.expect(202);
        // The record of the first attempt is lost, so the message is sent again with the same ID.
        app.faults.database.commit.fail_after(1, 1, FaultKind::Unavailable);
        assert_eq!(app.deliver().await, 1);
        app.advance(Duration::from_secs(30));
        assert_eq!(app.deliver().await, 1);
        let [first, second] = app.receivers.messages().try_into().unwrap();
        assert_eq!(first.id, second.id);
        assert_eq!(log(&ada, &path).await[0]["state"], "delivered");
    }
}
