//! What people store is shown as text.

use super::{journey, superuser};
use docent_app::accounts::create::Flags;
use docent_testkit::fakes::chat_model::Turn;
use docent_tests::{
    app::{PASSWORD, TestApp},
    chromium::Chromium,
    member::{Member, question_body},
    pdf::pdf,
};
use serde_json::json;

/// Runs if it is taken for anything but text: as an element, in an attribute, in a script.
const HOSTILE: &str = "'\"><img src=x onerror=\"window.hit=1\"><script>window.hit=1</script>{{7*7}}";
const CONVERSATION: &str = "01900000-0000-7000-8000-000000000001";

/// The pages show the text as it is, and nothing of it has become part of them or run.
async fn is_text(window: &Chromium, path: &str, text: &str) {
    window.goto(path).await;
    window
        .run("for (const details of document.querySelectorAll('main details')) details.open = true", vec![])
        .await;
    let fields = "return [...document.querySelectorAll('input')].map((field) => field.value).join('\\n')";
    let typed = window.run(fields, vec![]).await;
    let shown = window.text().await + typed.as_str().unwrap() + &window.title().await;
    assert!(shown.contains(text), "{path} shows no {text}: {shown}");
    assert_eq!(window.run("return window.hit ?? 0", vec![]).await, json!(0), "{path}");
    assert!(!window.has("img").await && !window.has("script:not([src])").await, "{path}");
    assert_eq!(window.complaints().await, Vec::<String>::new(), "{path}");
}

/// Has the member ask the hostile thing in a conversation, and waits until it is written down.
async fn ask(app: &TestApp, member: &Member) {
    let mut body = question_body(HOSTILE);
    body["conversation_id"] = json!(CONVERSATION);
    let _ = member.post("/agents/chat", body).await.expect(200);
    app.settle().await;
}

#[tokio::test]
async fn scripts_in_titles_names_addresses_and_messages_are_text() {
    let script = [Turn::searching("zebra"), Turn::saying(HOSTILE)];
    journey(
        |setup| setup.script(script),
        async |app, window| {
            superuser(app, window).await;
            // An address has no blanks, quotation marks or angle brackets, and its letters are small.
            let email = "'onfocus='window.hit=1'autofocus='&lt@example.org";
            let user = app.account(email, Flags::default()).await;
            let member = Member::login_with(app, user.clone(), PASSWORD).await;
            let record = member.post("/documents", json!({ "title": HOSTILE })).await.expect(201).json();
            // A name is the last component of a path, and a quote ends it.
            let name = "<img src=x onerror=window.hit=1>.pdf";
            let file = member.add(name, pdf(&["The zebra <script>window.hit=1</script> lives."])).await;
            app.run_jobs().await;
            ask(app, &member).await;

            is_text(window, "/admin/documents", HOSTILE).await;
            is_text(window, "/admin/documents", name).await;
            is_text(window, "/admin/documents", email).await;
            is_text(window, &format!("/admin/documents/{}", record["id"].as_str().unwrap()), HOSTILE).await;
            is_text(window, &format!("/admin/documents/{file}"), name).await;
            is_text(window, &format!("/admin/documents/{file}/chunks"), "<script>window.hit=1</script>")
                .await;
            is_text(window, "/admin/users", email).await;
            is_text(window, &format!("/admin/users/{}", user.id), email).await;
            is_text(window, "/admin/sessions", email).await;
            is_text(window, "/admin/usage?by=user", email).await;
            is_text(window, "/admin/audit", email).await;
            is_text(window, "/admin/conversations", HOSTILE).await;
            let conversation = format!("/admin/conversations/{CONVERSATION}");
            is_text(window, &conversation, HOSTILE).await;
            is_text(window, &conversation, name).await;
            for path in ["/admin/documents?q=", "/admin/users?q=", "/admin/audit?who="] {
                is_text(window, &format!("{path}%22%3E%3Cimg%20src%3Dx%3E"), "\"><img src=x>").await;
            }
        },
    )
    .await;
}
