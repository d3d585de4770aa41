//! `/webhooks`, and what is told to them.

use base64::{Engine, engine::general_purpose::STANDARD};
use docent_adapters::webhook_sender::{AllowedHosts, HttpWebhookSender};
use docent_domain::{audit::AuditAction, permission::Permission};
use docent_ports::{audit::AuditFilter, error::FaultKind};
use docent_testkit::{
    fakes::webhook_sender::answered,
    wire::{FakeLlm, Reply as Answer},
};
use docent_tests::{member::Member, pdf::pdf, reply::Reply, rules};
use reqwest::Method;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::time::Duration;

const UNKNOWN: &str = "01900000-0000-7000-8000-000000000001";
/// Longer than any of these rules takes.
const MONTH: Duration = Duration::from_secs(30 * 24 * 60 * 60);
const URL: &str = "https://example.org/hook";

/// Makes a webhook; gives its path and what was answered.
async fn make(by: &Member, body: Value) -> (String, Value) {
    let made = by.post("/webhooks", body).await.expect(201).json();
    (format!("/webhooks/{}", made["id"].as_str().unwrap()), made)
}

async fn change(by: &Member, method: Method, path: &str, body: Value) -> Reply {
    by.app().send(by.request(method, path).json(&body)).await
}

async fn log(by: &Member, path: &str) -> Vec<Value> {
    by.get(&format!("{path}/deliveries")).await.expect(200).json().as_array().unwrap().clone()
}

/// HMAC-SHA256 as RFC 2104 has it, by hand.
fn hmac(key: &[u8], message: &[u8]) -> Vec<u8> {
    let mut block = [0; 64];
    block[..key.len()].copy_from_slice(key);
    let inner = Sha256::new().chain_update(block.map(|byte| byte ^ 0x36)).chain_update(message).finalize();
    Sha256::new().chain_update(block.map(|byte| byte ^ 0x5c)).chain_update(inner).finalize().to_vec()
}

rules! {
    async fn a_webhook_is_made_read_changed_and_deleted(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let (path, made) = make(&ada, json!({ "url": URL, "description": " the intranet " })).await;
        let secret = made["secret"].as_str().unwrap();
        assert_eq!(STANDARD.decode(secret.strip_prefix("whsec_").unwrap()).unwrap().len(), 32);
        let mut webhook = made.clone();
        webhook.as_object_mut().unwrap().remove("secret");
        assert_eq!(webhook, json!({
            "id": made["id"], "url": URL, "description": "the intranet", "all_documents": false, "active": true,
            "events": ["document.ingested", "document.failed"], "previous_secret_until": null,
            "created_at": "2026-01-01T00:00:00.000000Z", "updated_at": "2026-01-01T00:00:00.000000Z",
        }));
        assert_eq!(ada.get(&path).await.expect(200).json(), webhook, "the secret is shown once");
        assert_eq!(ada.get("/webhooks").await.expect(200).json(), json!([webhook]));

        app.advance(Duration::from_secs(1));
        let wanted = json!({ "url": "https://example.org/other", "events": ["document.failed"], "active": false });
        let changed = change(&ada, Method::PATCH, &path, wanted).await.expect(200).json();
        assert_eq!((&changed["url"], &changed["events"]), (&json!("https://example.org/other"), &json!(["document.failed"])));
        assert_eq!((&changed["active"], &changed["description"]), (&json!(false), &json!("the intranet")));
        assert_eq!(changed["updated_at"], "2026-01-01T00:00:01.000000Z");
        let same = change(&ada, Method::PATCH, &path, json!({ "url": null, "description": "" })).await.expect(200).json();
        assert_eq!((&same["url"], &same["description"]), (&changed["url"], &json!("")));

        assert_eq!(change(&ada, Method::DELETE, &path, json!({})).await.expect(204).text, "");
        ada.get(&path).await.refused(404, "Webhook not found");
        change(&ada, Method::DELETE, &path, json!({})).await.refused(404, "Webhook not found");
        let mut deeds: Vec<_> = app.audit(AuditFilter { record: made["id"].as_str().map(str::to_owned), ..AuditFilter::default() })
            .await.into_iter().map(|entry| entry.action).collect();
        deeds.sort();
        assert_eq!(deeds, [AuditAction::Add, AuditAction::Change, AuditAction::Change, AuditAction::Delete]);
    }

    async fn what_is_told_is_the_document_as_its_owner_reads_it(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let (path, _) = make(&ada, json!({ "url": URL })).await;
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

        // The log stays when the document goes.
        let _ = change(&ada, Method::DELETE, &format!("/documents/{good}"), json!({})).await.expect(204);
        app.run_jobs().await;
        assert_eq!(self::log(&ada, &path).await.len(), 2);
    }

    async fn a_receiver_verifies_what_it_is_sent(setup) {
        let receiver = FakeLlm::start().await;
        let setup = setup.settings(|settings| settings.access_token_ttl = MONTH);
        let app = setup.webhooks(HttpWebhookSender::new(AllowedHosts::PublicAndPrivate).unwrap()).start().await;
        let ada = app.ada().await;
        let (path, made) = make(&ada, json!({ "url": format!("http://{}/hook", receiver.address()) })).await;
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
        let secret = made["secret"].as_str().unwrap().strip_prefix("whsec_").unwrap();
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

    async fn a_new_secret_is_shown_once_and_the_old_one_signs_for_a_day(setup) {
        let app = setup.settings(|settings| settings.access_token_ttl = MONTH).start().await;
        let ada = app.ada().await;
        let (path, made) = make(&ada, json!({ "url": URL })).await;
        let rotated = ada.post(&format!("{path}/secret"), json!({})).await.expect(200).json();
        assert_ne!(rotated["secret"], made["secret"]);
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

    async fn a_ping_and_a_replay_are_sent_and_logged(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let (path, _) = make(&ada, json!({ "url": URL, "events": ["document.failed"] })).await;
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

    async fn what_is_being_sent_is_not_sent_again(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let (path, made) = make(&ada, json!({ "url": URL })).await;
        let ping = ada.post(&format!("{path}/test"), json!({})).await.expect(202).json();
        let mut work = app.app.store.begin().await.unwrap();
        let (now, lease) = (app.app.clock.now(), UNKNOWN.parse().unwrap());
        let leased = work.webhooks().lease(lease, now, now + Duration::from_secs(30)).await.unwrap().unwrap();
        work.commit().await.unwrap();
        assert_eq!(leased.webhook.id.to_string(), made["id"].as_str().unwrap());
        let replay = format!("{path}/deliveries/{}/replay", ping["id"].as_str().unwrap());
        let busy = "A message is being sent to this webhook; try again in a moment";
        ada.post(&replay, json!({})).await.refused(409, busy);
        app.advance(Duration::from_secs(30));
        let _ = ada.post(&replay, json!({})).await.expect(202);
    }

    async fn the_log_comes_in_pages(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let (path, _) = make(&ada, json!({ "url": URL })).await;
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

    async fn webhooks_are_their_owners_alone(setup) {
        let app = setup.start().await;
        let (ada, bob, root) = (app.ada().await, app.member("bob@example.org").await, app.superuser().await);
        let (path, _) = make(&ada, json!({ "url": URL })).await;
        let ping = ada.post(&format!("{path}/test"), json!({})).await.expect(202).json();
        let replay = format!("{path}/deliveries/{}/replay", ping["id"].as_str().unwrap());
        let (own, _) = make(&bob, json!({ "url": URL })).await;
        for other in [&bob, &root] {
            for path in [path.clone(), format!("{path}/deliveries")] {
                other.get(&path).await.refused(404, "Webhook not found");
            }
            for path in [format!("{path}/secret"), format!("{path}/test"), replay.clone()] {
                other.post(&path, json!({})).await.refused(404, "Webhook not found");
            }
            for method in [Method::PATCH, Method::DELETE] {
                change(other, method, &path, json!({ "active": false })).await.refused(404, "Webhook not found");
            }
        }
        // Nor by way of one's own webhook.
        let by_own = replay.replace(&path, &own);
        bob.post(&by_own, json!({})).await.refused(404, "Delivery not found");
        assert_eq!(bob.get("/webhooks").await.expect(200).json().as_array().unwrap().len(), 1);
        app.get("/webhooks").await.refused(401, "Could not validate credentials");
    }

    async fn documents_of_all_accounts_are_for_those_who_may_see_them(setup) {
        let app = setup.start().await;
        let (ada, bob) = (app.ada().await, app.member("bob@example.org").await);
        let all = json!({ "url": URL, "all_documents": true });
        let denied = "You do not have permission to do this";
        bob.post("/webhooks", all.clone()).await.refused(403, denied);
        app.permit(bob.user.id, &[Permission::ViewDocument]).await;
        let (path, made) = make(&bob, all).await;
        assert_eq!(made["all_documents"], true);
        let _ = ada.add("a.pdf", pdf(&["words"])).await;
        app.run_jobs().await;
        assert_eq!(app.deliver().await, 1);

        app.permit(bob.user.id, &[]).await;
        change(&bob, Method::PATCH, &path, json!({ "active": true })).await.refused(403, denied);
        app.advance(Duration::from_secs(1));
        let _ = ada.add("b.pdf", pdf(&["words"])).await;
        app.run_jobs().await;
        app.deliver().await;
        let log = log(&bob, &path).await;
        assert_eq!((&log[0]["state"], &log[1]["state"]), (&json!("failed"), &json!("delivered")));
        assert_eq!(app.receivers.messages().len(), 1);
        let _ = change(&bob, Method::PATCH, &path, json!({ "all_documents": false })).await.expect(200);
    }

    async fn an_account_has_at_most_twenty(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        for _ in 0..20 {
            make(&ada, json!({ "url": URL })).await;
        }
        let full = "An account may have at most 20 webhooks";
        ada.post("/webhooks", json!({ "url": URL })).await.refused(409, full);
        make(&app.member("bob@example.org").await, json!({ "url": URL })).await;
        assert_eq!(ada.get("/webhooks").await.expect(200).json().as_array().unwrap().len(), 20);
    }

    async fn broken_requests_are_422(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let (path, _) = make(&ada, json!({ "url": URL })).await;
        let long = format!("https://example.org/{}", "x".repeat(2000));
        for url in [json!(""), json!("example.org"), json!("ftp://example.org"), json!("https://a b"), json!(long), json!(7)] {
            ada.post("/webhooks", json!({ "url": url })).await.invalid(&["body.url"]);
            change(&ada, Method::PATCH, &path, json!({ "url": url })).await.invalid(&["body.url"]);
        }
        let internal = json!({ "url": "https://internal.example.org" });
        let refused = ada.post("/webhooks", internal.clone()).await;
        refused.invalid(&["body.url"]);
        assert!(refused.text.contains("not on the public internet"), "{}", refused.text);
        change(&ada, Method::PATCH, &path, internal).await.invalid(&["body.url"]);
        for (field, value) in [
            ("events", json!([])), ("events", json!(["ping"])), ("events", json!(["document.ingested", 1])), ("events", json!("all")),
            ("description", json!("x".repeat(201))), ("description", json!("a\nb")), ("all_documents", json!("yes")),
        ] {
            let place = format!("body.{field}");
            ada.post("/webhooks", json!({ "url": URL, field: value })).await.invalid(&[&place]);
            change(&ada, Method::PATCH, &path, json!({ field: value })).await.invalid(&[&place]);
        }
        ada.post("/webhooks", json!({})).await.invalid(&["body.url"]);
        change(&ada, Method::PATCH, &path, json!({ "active": 1 })).await.invalid(&["body.active"]);
        ada.get("/webhooks/x").await.invalid(&["path.id"]);
        ada.post(&format!("{path}/deliveries/x/replay"), json!({})).await.invalid(&["path.delivery"]);
        ada.get(&format!("/webhooks/{UNKNOWN}")).await.refused(404, "Webhook not found");
    }

    async fn what_could_not_be_read_or_written_is_told_later(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let (path, _) = make(&ada, json!({ "url": URL })).await;
        let _ = ada.post(&format!("{path}/test"), json!({})).await.expect(202);
        // The record of the first try gets lost: the message is sent again, with the same id.
        app.faults.database.commit.fail_after(1, 1, FaultKind::Unavailable);
        assert_eq!(app.deliver().await, 1);
        app.advance(Duration::from_secs(30));
        assert_eq!(app.deliver().await, 1);
        let [first, second] = app.receivers.messages().try_into().unwrap();
        assert_eq!(first.id, second.id);
        assert_eq!(log(&ada, &path).await[0]["state"], "delivered");
    }
}
