//! Conversations that are shared read-only with the readers of collections. (extension)

use super::admin::{staff, submit};
use docent_domain::audit::AuditAction;
use docent_domain::listing::AuditFilter;
use docent_domain::permission::{Permission, RecordKind};
use docent_testkit::fakes::chat_model::Turn;
use docent_tests::app::{PASSWORD, TestApp};
use docent_tests::browser::Browser;
use docent_tests::member::{Member, question_body};
use docent_tests::pdf::pdf;
use docent_tests::rules;
use serde_json::{Value, json};
use std::time::Duration;

const EVERYONE: &str = "00000000-0000-0000-0000-000000000001";
const UNKNOWN: &str = "01920f3e-5b7a-7c3d-9e21-4f6a8b0c2d4e";

fn id(value: &Value) -> String {
    value["id"].as_str().unwrap().to_owned()
}

async fn collection(by: &Member, name: &str) -> String {
    id(&by.post("/collections", json!({ "name": name })).await.expect(201).json())
}

async fn add_viewer(by: &Member, collection: &str, viewer: &Member) {
    let body = json!({ "email": viewer.user.email.as_str(), "role": "viewer" });
    let _ = by.put(&format!("/collections/{collection}/members"), body).await.expect(200);
}

async fn upload(by: &Member, collection: &str, name: &str, text: &str) -> String {
    let path = format!("/documents/upload?collection_id={collection}");
    id(&by.upload_to(&path, name, pdf(&[text])).await.expect(202).json())
}

/// Asks in a conversation, which is created if it is missing.
async fn ask(by: &Member, conversation: &str, question: &str) {
    let mut body = question_body(question);
    body["conversation_id"] = json!(conversation.rsplit('/').next().unwrap());
    let _ = by.post("/agents/chat", body).await.expect(200);
}

/// Creates a conversation with a title and returns its path.
async fn create(by: &Member, title: &str) -> String {
    format!(
        "/conversations/{}",
        id(&by.post("/conversations", json!({ "title": title })).await.expect(201).json())
    )
}

async fn share(by: &Member, path: &str, collections: &[&str]) -> Value {
    let body = json!({ "collection_ids": collections });
    by.put(&format!("{path}/collections"), body).await.expect(200).json()
}

async fn titles(by: &Member, path: &str) -> Vec<String> {
    let list = by.get(path).await.expect(200).json();
    list.as_array().unwrap().iter().map(|entry| entry["title"].as_str().unwrap().to_owned()).collect()
}

/// The text of each message; none of those that are withheld, which have neither text nor sources.
async fn texts(by: &Member, path: &str) -> Vec<Option<String>> {
    let conversation = by.get(path).await.expect(200).json();
    let text = |message: &Value| {
        let text = message["content"].as_str().unwrap().to_owned();
        if message["withheld"] == json!(true) {
            assert_eq!((text.as_str(), message.get("sources").unwrap_or(&json!([]))), ("", &json!([])));
            return None;
        }
        Some(text)
    };
    conversation["messages"].as_array().unwrap().iter().map(text).collect()
}

fn said(texts: &[&str]) -> Vec<Option<String>> {
    texts.iter().map(|text| (!text.is_empty()).then(|| (*text).to_owned())).collect()
}

/// A script that searches and answers with each of these texts.
fn searching(answers: &[&str]) -> Vec<Turn> {
    answers.iter().flat_map(|answer| [Turn::searching("zebras"), Turn::saying(answer)]).collect()
}

/// Ada with a collection that Bob can read, and Carl, who cannot.
async fn team(app: &TestApp) -> (Member, Member, Member, String) {
    let (ada, bob, carl) =
        (app.ada().await, app.member("bob@example.org").await, app.member("carl@example.org").await);
    let team = collection(&ada, "Team").await;
    add_viewer(&ada, &team, &bob).await;
    (ada, bob, carl, team)
}

rules! {
    // Invariant: A shared conversation is read by readers of its collections only, changed by its owner only,
    // and shows no answer that cites documents that the reader cannot read.
    async fn conversation_is_shared_until_it_is_taken_back(setup) {
        let app = setup.always(Turn::saying("Yes.")).start().await;
        let (ada, bob, carl, team) = team(&app).await;
        let path = create(&ada, "Zebras").await;
        ask(&ada, &path, "Really?").await;
        for other in [&bob, &carl] {
            other.get(&path).await.refused(404, "Conversation not found");
            assert!(titles(other, "/conversations?shared=true").await.is_empty());
        }
        let own = ada.get(&path).await.expect(200).json();
        assert_eq!((&own["shared_with"], &own["shared_by"]), (&json!([]), &json!(null)));

        let shared = share(&ada, &path, &[&team]).await;
        assert_eq!((&shared["shared_with"], &shared["shared_by"]), (&json!([team]), &json!(null)));
        assert_eq!(ada.get("/conversations").await.expect(200).json()[0]["shared_with"], json!([team]));
        assert_eq!(ada.patch(&path, json!({ "pinned": true })).await.expect(200).json()["shared_with"], json!([team]));
        let read = bob.get(&path).await.expect(200).json();
        assert_eq!((&read["shared_with"], &read["shared_by"]), (&json!([team]), &json!("ada@example.org")));
        assert_eq!((&read["title"], &read["pinned"]), (&json!("Zebras"), &json!(false)));
        assert_eq!(texts(&bob, &path).await, said(&["Really?", "Yes."]));
        carl.get(&path).await.refused(404, "Conversation not found");
        assert!(titles(&carl, "/conversations?shared=true").await.is_empty());
        let entry = bob.get("/conversations?shared=true").await.expect(200).json()[0].clone();
        assert_eq!((&entry["shared_by"], &entry["messages"]), (&json!("ada@example.org"), &json!(2)));
        assert_eq!((&entry["shared_with"], &entry["pinned"]), (&json!([team]), &json!(false)));
        assert!(titles(&bob, "/conversations").await.is_empty(), "it is not his own");
        assert!(titles(&ada, "/conversations?shared=true").await.is_empty(), "it is her own");
        // What she asks later is shared too.
        ask(&ada, &path, "Sure?").await;
        assert_eq!(texts(&bob, &path).await.len(), 4);

        let _ = share(&ada, &path, &[EVERYONE]).await;
        assert_eq!(texts(&carl, &path).await.len(), 4);
        assert_eq!(share(&ada, &path, &[]).await["shared_with"], json!([]));
        for other in [&bob, &carl] {
            other.get(&path).await.refused(404, "Conversation not found");
            assert!(titles(other, "/conversations?shared=true").await.is_empty());
        }
    }

    // Invariant: A shared conversation is read by readers of its collections only, changed by its owner only,
    // and shows no answer that cites documents that the reader cannot read.
    async fn reader_changes_nothing(setup) {
        let app = setup.always(Turn::saying("Yes.")).start().await;
        let (ada, bob, _, team) = team(&app).await;
        let path = create(&ada, "Zebras").await;
        ask(&ada, &path, "Really?").await;
        let _ = share(&ada, &path, &[&team]).await;
        let answer = ada.get(&path).await.expect(200).json()["messages"][1]["id"].as_str().unwrap().to_owned();
        let feedback = format!("{path}/messages/{answer}/feedback");
        let _ = ada.put(&feedback, json!({ "rating": "down", "comment": "Wrong." })).await.expect(200);
        let before = ada.get(&path).await.expect(200).json();

        let refused = "Conversation not found";
        bob.patch(&path, json!({ "title": "Mine" })).await.refused(404, refused);
        bob.patch(&path, json!({ "pinned": true })).await.refused(404, refused);
        bob.put(&format!("{path}/collections"), json!({ "collection_ids": [] })).await.refused(404, refused);
        bob.put(&feedback, json!({ "rating": "up" })).await.refused(404, refused);
        bob.delete(&feedback).await.refused(404, refused);
        bob.delete(&path).await.refused(404, refused);
        let mut body = question_body("And I?");
        body["conversation_id"] = json!(path.rsplit('/').next().unwrap());
        bob.post("/agents/chat", body.clone()).await.refused(404, refused);
        body["replaces"] = json!(answer);
        bob.post("/agents/chat", body).await.refused(404, refused);
        assert_eq!(ada.get(&path).await.expect(200).json(), before);
        assert_eq!(before["messages"][1]["feedback"]["comment"], json!("Wrong."));
        assert_eq!(bob.get(&path).await.expect(200).json()["messages"][1]["feedback"], json!(null));
    }

    /// A reader gets the current versions of questions and answers, and not what a question was limited to.
    async fn reader_gets_no_earlier_versions_and_no_selection(setup) {
        let app = setup.script(["One.", "Two.", "Three."].map(Turn::saying)).start().await;
        let (ada, bob, _, team) = team(&app).await;
        let path = create(&ada, "Zebras").await;
        ask(&ada, &path, "Embarrassing?").await;
        let _ = share(&ada, &path, &[&team]).await;
        let mut body = question_body("Better?");
        body["conversation_id"] = json!(path.rsplit('/').next().unwrap());
        body["replaces"] = ada.get(&path).await.expect(200).json()["messages"][1]["id"].clone();
        body["document_ids"] = json!([UNKNOWN]);
        let _ = ada.post("/agents/chat", body).await.expect(200);
        ask(&ada, &path, "Good?").await;
        assert_eq!(texts(&ada, &path).await.len(), 6);
        assert_eq!(texts(&bob, &path).await, said(&["Better?", "Two.", "Good?", "Three."]));
        assert_eq!(titles(&bob, "/conversations?shared=true&q=Embarrassing").await, [""; 0]);
        assert_eq!(titles(&bob, "/conversations?shared=true&q=better").await, ["Zebras"]);
        // Pages are those of all messages.
        let page = bob.get(&format!("{path}?limit=3")).await.expect(200);
        assert_eq!(page.json()["messages"].as_array().unwrap().len(), 1);
        assert_eq!(page.header("x-next-cursor"), "3");
        let rest = format!("{path}?limit=3&cursor=3");
        assert_eq!(texts(&bob, &rest).await, said(&["Two.", "Good?", "Three."]));
        assert_eq!(bob.get(&path).await.expect(200).json()["document_ids"], json!(null));
    }

    // Invariant: A shared conversation is read by readers of its collections only, changed by its owner only,
    // and shows no answer that cites documents that the reader cannot read.
    async fn answers_that_cite_unreadable_documents_are_withheld_with_the_rest(setup) {
        let script = [searching(&["One.", "Two."]), vec![Turn::saying("Three repeats two.")]].concat();
        let app = setup.script(script).start().await;
        let (ada, bob, _, team) = team(&app).await;
        let public = upload(&ada, &team, "public.pdf", "zebras of the team").await;
        app.run_jobs().await;
        let path = create(&ada, "Zebras").await;
        ask(&ada, &path, "First?").await;
        let secret = upload(&ada, &ada.user.id.to_string(), "secret.pdf", "zebras of ada").await;
        app.run_jobs().await;
        ask(&ada, &path, "Second about ada?").await;
        ask(&ada, &path, "Third?").await;
        let _ = share(&ada, &path, &[&team]).await;

        let all = said(&["First?", "One.", "Second about ada?", "Two.", "Third?", "Three repeats two."]);
        let part = said(&["First?", "One.", "", "", "", ""]);
        assert_eq!(texts(&ada, &path).await, all);
        let read = bob.get(&path).await.expect(200);
        assert_eq!(read.json()["messages"][1]["sources"][0]["text"], json!("zebras of the team"));
        assert!(!read.text.contains("secret") && !read.text.contains(&secret), "{}", read.text);
        assert_eq!(texts(&bob, &path).await, part);
        // Also on a page that does not have the answer.
        assert_eq!(texts(&bob, &format!("{path}?limit=2&cursor=4")).await, said(&["", ""]));
        let _ = bob.get(&format!("/documents/{secret}")).await.expect(404);
        // A search finds what is shown, and cannot be used to guess the rest.
        for (q, is_found) in [("first", true), ("One.", true), ("about+ada", false), ("Two.", false), ("Third", false), ("repeats", false)] {
            let found = titles(&bob, &format!("/conversations?shared=true&q={q}")).await;
            assert_eq!(found.len(), usize::from(is_found), "{q}");
            assert_eq!(titles(&ada, &format!("/conversations?q={q}")).await.len(), 1, "{q}");
        }

        // What a reader can read decides, at each request.
        let both = json!({ "collection_ids": [team, ada.user.id.to_string()] });
        let _ = ada.patch(&format!("/documents/{secret}"), both).await.expect(200);
        assert_eq!(texts(&bob, &path).await, all);
        assert_eq!(titles(&bob, "/conversations?shared=true&q=repeats").await, ["Zebras"]);
        let _ = ada.patch(&format!("/documents/{public}"), json!({ "collection_ids": [ada.user.id.to_string()] })).await.expect(200);
        assert_eq!(texts(&bob, &path).await, said(&[""; 6]));
        let _ = ada.patch(&format!("/documents/{public}"), json!({ "collection_ids": [team] })).await.expect(200);
        let _ = ada.delete(&format!("/documents/{secret}")).await.expect(204);
        assert_eq!(texts(&bob, &path).await, part);
        assert_eq!(texts(&ada, &path).await, all);
        app.leave_jobs();
    }

    async fn conversation_is_shared_with_readable_collections_only(setup) {
        let app = setup.start().await;
        let (ada, bob, carl, team) = team(&app).await;
        let path = format!("{}/collections", create(&bob, "Of Bob").await);
        let other = collection(&carl, "Other").await;
        let body = |ids: &[&str]| json!({ "collection_ids": ids });
        for hidden in [UNKNOWN, &other, &carl.user.id.to_string()] {
            bob.put(&path, body(&[&team, hidden])).await.refused(404, "Collection not found");
        }
        bob.put(&path, body(&[&bob.user.id.to_string()])).await.invalid(&["body.collection_ids"]);
        bob.put(&path, json!({})).await.invalid(&["body.collection_ids"]);
        bob.put(&path, json!({ "collection_ids": null })).await.invalid(&["body.collection_ids"]);
        bob.put(&path, json!({ "collection_ids": ["x"] })).await.invalid(&["body.collection_ids.0"]);
        bob.put(&path, body(&[EVERYONE; 101])).await.invalid(&["body.collection_ids"]);
        bob.get("/conversations?shared=1").await.invalid(&["query.shared"]);
        assert_eq!(bob.get("/conversations").await.expect(200).json()[0]["shared_with"], json!([]));
        // Equal IDs count once.
        assert_eq!(bob.put(&path, body(&[&team, &team])).await.expect(200).json()["shared_with"], json!([team]));

        // Who loses a collection can end sharing with it, or leave it, and cannot begin it again.
        let _ = ada.delete(&format!("/collections/{team}/members/{}", bob.user.id)).await.expect(204);
        assert_eq!(titles(&ada, "/conversations?shared=true").await, ["Of Bob"]);
        let kept = bob.put(&path, body(&[&team, EVERYONE])).await.expect(200).json();
        assert_eq!(kept["shared_with"].as_array().unwrap().len(), 2);
        let _ = bob.put(&path, body(&[EVERYONE])).await.expect(200);
        bob.put(&path, body(&[&team])).await.refused(404, "Collection not found");
    }

    async fn sharing_ends_with_the_role_the_collection_the_conversation_and_the_account(setup) {
        let app = setup.always(Turn::saying("Yes.")).start().await;
        let (ada, bob, carl, team) = team(&app).await;
        let path = create(&ada, "Zebras").await;
        let is_shared = async |with: &Member| {
            let listed = !titles(with, "/conversations?shared=true").await.is_empty();
            assert_eq!(with.get(&path).await.status == 200, listed);
            listed
        };
        let _ = share(&ada, &path, &[&team]).await;
        assert!(is_shared(&bob).await);
        let _ = ada.delete(&format!("/collections/{team}/members/{}", bob.user.id)).await.expect(204);
        assert!(!is_shared(&bob).await);
        add_viewer(&ada, &team, &bob).await;
        assert!(is_shared(&bob).await);
        let _ = ada.delete(&format!("/collections/{team}")).await.expect(204);
        assert!(!is_shared(&bob).await);
        assert_eq!(ada.get(&path).await.expect(200).json()["shared_with"], json!([]));
        let _ = share(&ada, &path, &[EVERYONE]).await;
        assert!(is_shared(&carl).await);
        let _ = ada.delete(&path).await.expect(204);
        assert!(!is_shared(&carl).await);
        let again = create(&ada, "Lions").await;
        let _ = share(&ada, &again, &[EVERYONE]).await;
        assert_eq!(titles(&bob, "/conversations?shared=true").await, ["Lions"]);
        let mut browser = Browser::new(&app);
        let _ = browser.login_at("/account/login", "ada@example.org", PASSWORD).await.expect(303);
        let _ = submit(&mut browser, "/account/delete", &[("present", PASSWORD)]).await.expect(303);
        assert!(titles(&bob, "/conversations?shared=true").await.is_empty());
        bob.get(&again).await.refused(404, "Conversation not found");
    }

    /// A key reads what is shared with its collections, as far as it can read the documents, and nothing of its own account.
    // Invariant: A shared conversation is read by readers of its collections only, changed by its owner only,
    // and shows no answer that cites documents that the reader cannot read.
    async fn limited_key_reads_and_shares_within_its_collections(setup) {
        let app = setup.api_keys().script(searching(&["One.", "Two."])).start().await;
        let (ada, bob, _, team) = team(&app).await;
        let _ = upload(&ada, &team, "team.pdf", "zebras of the team").await;
        app.run_jobs().await;
        let path = create(&ada, "Zebras").await;
        ask(&ada, &path, "First?").await;
        let _ = upload(&ada, EVERYONE, "open.pdf", "zebras of everyone").await;
        app.run_jobs().await;
        ask(&ada, &path, "Second?").await;
        let _ = share(&ada, &path, &[&team]).await;
        let key = async |of: &Member, collection: &str| {
            of.with_access(app.limited_key(of.user.id, &["chat"], Some(&[collection])).await.key)
        };
        let (inside, outside, hers) = (key(&bob, &team).await, key(&bob, EVERYONE).await, key(&ada, &team).await);
        assert_eq!(texts(&bob, &path).await, said(&["First?", "One.", "Second?", "Two."]));
        assert_eq!(texts(&inside, &path).await, said(&["First?", "One.", "", ""]));
        assert_eq!(titles(&inside, "/conversations?shared=true&q=Two").await, [""; 0]);
        for key in [&outside, &hers] {
            key.get(&path).await.refused(404, "Conversation not found");
            assert!(titles(key, "/conversations?shared=true").await.is_empty());
        }
        hers.put(&format!("{path}/collections"), json!({ "collection_ids": [] })).await.refused(404, "Conversation not found");

        let own = create(&hers, "Of the key").await;
        hers.put(&format!("{own}/collections"), json!({ "collection_ids": [EVERYONE] })).await.refused(404, "Collection not found");
        assert_eq!(share(&hers, &own, &[&team]).await["shared_with"], json!([team]));
        let _ = share(&ada, &own, &[&team, EVERYONE]).await;
        assert_eq!(hers.get(&own).await.expect(200).json()["shared_with"], json!([team]), "others do not exist for it");
        assert_eq!(titles(&outside, "/conversations?shared=true").await, ["Of the key"]);
        app.leave_jobs();
    }

    async fn sharing_is_audited_and_named_in_the_panel(setup) {
        let app = setup.always(Turn::saying("Yes.")).start().await;
        let (ada, _, _, team) = team(&app).await;
        let path = create(&ada, "Private title").await;
        let _ = share(&ada, &path, &[&team]).await;
        // No change, no entry.
        let _ = share(&ada, &path, &[&team]).await;
        app.advance(Duration::from_secs(1));
        let of_conversation = AuditFilter {
            action: Some(AuditAction::Change), kind: Some(RecordKind::Conversation), ..AuditFilter::default()
        };
        let page = format!("/admin{path}");
        let (mut staff, _) = staff(&app, &[Permission::ViewConversation]).await;
        assert!(staff.get(&page).await.expect(200).text.contains("Shared with the readers of: <bdi>Team</bdi>"));
        let _ = share(&ada, &path, &[]).await;
        assert!(!staff.get(&page).await.expect(200).text.contains("Shared with"));
        let entries = app.audit(of_conversation).await;
        let changes: Vec<_> = entries.iter().map(|entry| {
            assert_eq!((entry.record.as_str(), entry.label.as_str()), (path.rsplit('/').next().unwrap(), "ada@example.org"));
            let change = &entry.changes["shared_with"];
            (change.before.clone().unwrap(), change.after.clone().unwrap())
        }).collect();
        assert_eq!(changes, [(team.clone(), String::new()), (String::new(), team)]);
    }

    /// Requests of a reader while sharing is taken back are answered or refused as a whole, and refused from then on.
    async fn sharing_taken_back_during_requests_ends_them(setup) {
        let app = setup.always(Turn::saying("Yes.")).start().await;
        let (ada, bob, _, team) = team(&app).await;
        let path = create(&ada, "Zebras").await;
        ask(&ada, &path, "Really?").await;
        for _ in 0..5 {
            let _ = share(&ada, &path, &[&team]).await;
            let reading = async {
                let mut statuses = Vec::new();
                for _ in 0..8 {
                    let reply = bob.get(&path).await;
                    assert_eq!(reply.text.contains("Yes."), reply.status == 200, "{}", reply.text);
                    statuses.push(reply.status);
                }
                statuses
            };
            let (statuses, _) = futures::join!(reading, share(&ada, &path, &[]));
            assert!(statuses.iter().all(|status| [200, 404].contains(status)), "{statuses:?}");
            assert!(statuses.is_sorted(), "it does not return: {statuses:?}");
            bob.get(&path).await.refused(404, "Conversation not found");
        }
    }

    async fn concurrent_changes_of_sharing_leave_one_of_them(setup) {
        let app = setup.start().await;
        let (ada, _, _, team) = team(&app).await;
        let path = create(&ada, "Zebras").await;
        let with_team = [team.as_str()];
        let (one, other) = futures::join!(share(&ada, &path, &with_team), share(&ada, &path, &[EVERYONE]));
        let stored = ada.get(&path).await.expect(200).json()["shared_with"].clone();
        assert!([&one["shared_with"], &other["shared_with"]].contains(&&stored), "{stored}");
        assert_eq!(stored.as_array().unwrap().len(), 1);
    }

    async fn shared_conversations_are_listed_in_pages(setup) {
        let app = setup.start().await;
        let (ada, bob, carl, team) = team(&app).await;
        for (owner, title) in [(&ada, "One"), (&carl, "Two"), (&ada, "Three")] {
            let path = create(owner, title).await;
            let _ = share(owner, &path, &[if title == "Two" { EVERYONE } else { &team }]).await;
            app.advance(Duration::from_secs(1));
        }
        let _ = create(&bob, "Own").await;
        let first = bob.get("/conversations?shared=true&limit=2").await.expect(200);
        assert_eq!(titles(&bob, "/conversations?shared=true&limit=2").await, ["Three", "Two"]);
        assert!(first.header("link").contains("shared=true"), "{}", first.header("link"));
        let next = format!("/conversations?shared=true&limit=2&cursor={}", first.header("x-next-cursor"));
        assert_eq!(titles(&bob, &next).await, ["One"]);
        assert_eq!(titles(&bob, "/conversations?shared=true&pinned=false").await.len(), 3);
        assert!(titles(&bob, "/conversations?shared=true&pinned=true").await.is_empty());
        assert_eq!(titles(&bob, "/conversations?shared=false").await, ["Own"]);
        assert_eq!(titles(&bob, "/conversations?shared=").await, ["Own"]);
        assert_eq!(titles(&carl, "/conversations?shared=true").await, [""; 0]);
    }
}
