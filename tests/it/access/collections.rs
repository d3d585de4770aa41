//! The roles on a collection against the routes of documents and collections.

use docent_testkit::fakes::chat_model::Turn;
use docent_tests::app::TestApp;
use docent_tests::member::{Member, form, question_body};
use docent_tests::pdf::pdf;
use docent_tests::reply::Reply;
use docent_tests::rules;
use reqwest::Method;
use serde_json::{Value, json};

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

async fn request(by: &Member, method: &str, path: &str, body: Body, fill: impl Fn(&str) -> String) -> Reply {
    let path = fill(path);
    match (method, body) {
        ("PUT", Body::File) => by.put_form(&path, form("b.pdf", "application/pdf", pdf(&["lions"]))).await,
        (_, Body::File) => by.upload_to(&path, "b.pdf", pdf(&["lions"])).await,
        (_, Body::Question) => {
            let mut question = question_body("zebras");
            question["collection_ids"] = json!([fill("COLLECTION")]);
            by.post(&path, question).await
        }
        (_, Body::Json(json)) => {
            let json: Value = serde_json::from_str(&fill(json)).unwrap();
            by.app().send(by.request(method.parse().unwrap(), &path).json(&json)).await
        }
        (_, Body::None) => by.app().send(by.request(method.parse::<Method>().unwrap(), &path)).await,
    }
}

rules! {
    /// Who has no role gets 404 for what exists, with the same text as for what does not.
    async fn every_route_of_a_collection_follows_the_role(setup) {
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
                let reply = request(caller, method, path, *body, fill).await;
                if reply.status != *status {
                    violations.push(format!("{method} {path} by {}: {}", caller.user.email.as_str(), reply.status));
                }
                if *status == 404 {
                    let unknown = "01900000-0000-7000-8000-000000000009";
                    let fill = |text: &str| {
                        text.replace("DOCUMENT", unknown).replace("COLLECTION", unknown).replace("MEMBER", &member)
                    };
                    let other = request(caller, method, path, *body, fill).await;
                    if (other.status, &other.text) != (reply.status, &reply.text) {
                        violations.push(format!("{method} {path}: {} {} and {} {}", reply.status, reply.text, other.status, other.text));
                    }
                }
            }
        }
        app.leave_jobs();
        assert!(violations.is_empty(), "{}", violations.join("\n"));
    }
}
