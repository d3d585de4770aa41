//! The roles on a collection against the routes of documents and collections.

use docent_app::settings::OpenCollectionsRule;
use docent_testkit::fakes::chat_model::Turn;
use docent_tests::app::{PASSWORD, TestApp};
use docent_tests::browser::Browser;
use docent_tests::member::{Member, form, question_body};
use docent_tests::pdf::pdf;
use docent_tests::reply::Reply;
use docent_tests::rules;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use std::time::Duration;

/// Routes with the statuses for no role, a viewer, a contributor, the contributor who owns the document, and a manager.
/// `DOCUMENT` and `COLLECTION` stand for their IDs.
const ROUTES: &[(&str, &str, Body, [u16; 5])] = &[
    ("GET", "/documents/DOCUMENT", Body::None, [404, 200, 200, 200, 200]),
    ("GET", "/documents/DOCUMENT/report", Body::None, [404, 200, 200, 200, 200]),
    ("GET", "/documents/DOCUMENT/file", Body::None, [404, 200, 200, 200, 200]),
    ("GET", "/documents/DOCUMENT/pages/1", Body::None, [404, 200, 200, 200, 200]),
    ("PATCH", "/documents/DOCUMENT", Body::Json(r#"{"attributes":{"a":1}}"#), [404, 403, 403, 200, 200]),
    (
        "PATCH",
        "/documents/DOCUMENT",
        Body::Json(r#"{"collection_ids":["COLLECTION"]}"#),
        [404, 403, 403, 200, 200],
    ),
    ("PUT", "/documents/DOCUMENT/file", Body::File, [404, 403, 403, 202, 202]),
    // The document has not failed, and callers that may not retry it do not learn that.
    ("POST", "/documents/DOCUMENT/retry", Body::Json("{}"), [404, 403, 403, 409, 409]),
    ("DELETE", "/documents/DOCUMENT", Body::None, [404, 403, 403, 204, 204]),
    ("GET", "/documents?collection_id=COLLECTION", Body::None, [404, 200, 200, 200, 200]),
    ("POST", "/documents/upload?collection_id=COLLECTION", Body::File, [404, 403, 202, 202, 202]),
    (
        "POST",
        "/documents",
        Body::Json(r#"{"title":"t","collection_id":"COLLECTION"}"#),
        [404, 403, 201, 201, 201],
    ),
    (
        "POST",
        "/search",
        Body::Json(r#"{"query":"zebras","collection_ids":["COLLECTION"]}"#),
        [404, 200, 200, 200, 200],
    ),
    ("POST", "/agents/chat", Body::Question, [404, 200, 200, 200, 200]),
    ("GET", "/collections/COLLECTION", Body::None, [404, 200, 200, 200, 200]),
    ("PATCH", "/collections/COLLECTION", Body::Json(r#"{"description":"d"}"#), [404, 403, 403, 403, 200]),
    (
        "PATCH",
        "/collections/COLLECTION",
        Body::Json(r#"{"role_of_all":"viewer"}"#),
        [404, 403, 403, 403, 200],
    ),
    ("GET", "/collections/COLLECTION/members", Body::None, [404, 403, 403, 403, 200]),
    (
        "PUT",
        "/collections/COLLECTION/members",
        Body::Json(r#"{"email":"eve@example.org","role":"viewer"}"#),
        [404, 403, 403, 403, 200],
    ),
    ("DELETE", "/collections/COLLECTION/members/MEMBER", Body::None, [404, 403, 403, 403, 204]),
    ("DELETE", "/collections/COLLECTION", Body::None, [404, 403, 403, 403, 409]),
];

/// Routes that need a recent proof of identity of the session of a browser, with a part of the body if other
/// bodies do not.
const NEEDS_PROOF: [(&str, &str, &str); 3] = [
    ("PATCH", "/collections/COLLECTION", "role_of_all"),
    ("PUT", "/collections/COLLECTION/members", ""),
    ("DELETE", "/collections/COLLECTION", ""),
];

fn is_sensitive(method: &str, path: &str, body: Body) -> bool {
    let has = |part| matches!(body, Body::Json(json) if json.contains(part));
    NEEDS_PROOF.iter().any(|(m, p, part)| (*m, *p) == (method, path) && (part.is_empty() || has(part)))
}

#[derive(Clone, Copy, Debug)]
enum Body {
    None,
    Json(&'static str),
    File,
    /// A question to the agent about the collection.
    Question,
}

/// One caller for each column of [`ROUTES`].
struct Callers {
    owner: Member,
    callers: Vec<Member>,
    /// A member that managers may remove.
    member: Member,
}

impl Callers {
    async fn new(app: &TestApp) -> Self {
        let mut callers = Vec::new();
        for name in ["none", "viewer", "contributor", "own", "manager"] {
            callers.push(app.member(&format!("{name}@example.org")).await);
        }
        app.member("eve@example.org").await;
        Self { owner: app.ada().await, callers, member: app.member("member@example.org").await }
    }

    /// A new collection on which each caller has its role, with a document of the fourth caller for that caller, and of the
    /// collection's owner for the others.
    async fn collection(&self, app: &TestApp, column: usize) -> (String, String) {
        let id = |reply: Reply| reply.json()["id"].as_str().unwrap().to_owned();
        let collection = id(self.owner.post("/collections", json!({ "name": "Team" })).await.expect(201));
        let roles =
            [None, Some("viewer"), Some("contributor"), Some("contributor"), Some("manager"), Some("viewer")];
        for (member, role) in self.callers.iter().chain([&self.member]).zip(roles) {
            let Some(role) = role else { continue };
            let body = json!({ "email": member.user.email.as_str(), "role": role });
            let _ = self.owner.put(&format!("/collections/{collection}/members"), body).await.expect(200);
        }
        let uploader = if column == 3 { &self.callers[3] } else { &self.owner };
        let path = format!("/documents/upload?collection_id={collection}");
        let document = id(uploader.upload_to(&path, "a.pdf", pdf(&["zebras"])).await.expect(202));
        app.run_jobs().await;
        (collection, document)
    }
}

async fn request(
    app: &TestApp,
    begin: impl Fn(Method, &str) -> RequestBuilder,
    (method, path, body): (&str, &str, Body),
    fill: impl Fn(&str) -> String,
) -> Reply {
    let request = begin(method.parse().unwrap(), &fill(path));
    app.send(match body {
        Body::File => request.multipart(form("b.pdf", "application/pdf", pdf(&["lions"]))),
        Body::Question => {
            let mut question = question_body("zebras");
            question["collection_ids"] = json!([fill("COLLECTION")]);
            request.json(&question)
        }
        Body::Json(json) => request.json(&serde_json::from_str::<Value>(&fill(json)).unwrap()),
        Body::None => request,
    })
    .await
}

rules! {
    /// Who has no role gets 404 for what exists, with the same text as for what does not.
    async fn every_route_of_a_collection_follows_the_role(setup) {
        let setup = setup.settings(|settings| settings.open_collections = OpenCollectionsRule::Managers);
        let app = setup.always(Turn::saying("ok")).start().await;
        let callers = Callers::new(&app).await;
        let mut violations = Vec::new();
        for (method, path, body, statuses) in ROUTES {
            for (column, (caller, status)) in callers.callers.iter().zip(statuses).enumerate() {
                let (collection, document) = callers.collection(&app, column).await;
                let member = callers.member.user.id.to_string();
                let fill = |text: &str| {
                    text.replace("DOCUMENT", &document).replace("COLLECTION", &collection).replace("MEMBER", &member)
                };
                let route = (*method, *path, *body);
                let begin = |method, path: &str| caller.request(method, path);
                let reply = request(&app, begin, route, fill).await;
                if reply.status != *status {
                    violations.push(format!("{method} {path} by {}: {}", caller.user.email.as_str(), reply.status));
                }
                if *status == 404 {
                    let unknown = "01900000-0000-7000-8000-000000000009";
                    let fill = |text: &str| {
                        text.replace("DOCUMENT", unknown).replace("COLLECTION", unknown).replace("MEMBER", &member)
                    };
                    let other = request(&app, begin, route, fill).await;
                    if (other.status, &other.text) != (reply.status, &reply.text) {
                        violations.push(format!("{method} {path}: {} {} and {} {}", reply.status, reply.text, other.status, other.text));
                    }
                }
            }
        }
        app.leave_jobs();
        assert!(violations.is_empty(), "{}", violations.join("\n"));
    }

    /// Who may do it is asked for a proof of identity where the route needs one; who may not gets the same
    /// answer as before.
    async fn every_route_of_a_collection_follows_the_role_of_a_session_older_than_ten_minutes(setup) {
        let setup = setup.settings(|settings| settings.open_collections = OpenCollectionsRule::Managers);
        let app = setup.always(Turn::saying("ok")).start().await;
        let callers = Callers::new(&app).await;
        let mut browsers = Vec::new();
        for caller in &callers.callers {
            browsers.push(Browser::in_chat(&app, caller.user.email.as_str(), PASSWORD).await);
        }
        app.advance(Duration::from_secs(10 * 60));
        let mut violations = Vec::new();
        for (method, path, body, statuses) in ROUTES {
            for (column, (browser, status)) in browsers.iter().zip(statuses).enumerate() {
                let (collection, document) = callers.collection(&app, column).await;
                let member = callers.member.user.id.to_string();
                let fill = |text: &str| {
                    text.replace("DOCUMENT", &document).replace("COLLECTION", &collection).replace("MEMBER", &member)
                };
                let begin = |method, path: &str| {
                    let request = app.request(method, path).header("Cookie", &browser.cookie);
                    request.header("X-Docent-Account", browser.account.as_deref().unwrap())
                };
                let reply = request(&app, begin, (*method, *path, *body), fill).await;
                let is_manager = column == 4;
                let is_asked = is_sensitive(method, path, *body) && is_manager;
                let asks = reply.status == 403 && reply.json()["code"] == "proof_needed";
                if asks != is_asked || (!is_asked && reply.status != *status) {
                    violations.push(format!("{method} {path} in column {column}: {} {}", reply.status, reply.text));
                }
            }
        }
        app.leave_jobs();
        assert!(violations.is_empty(), "{}", violations.join("\n"));
    }
}
