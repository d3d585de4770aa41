//! Cross-site scripting: stored text is never run.

use super::{journey_with, superuser};
use docent_app::accounts::create::Flags;
use docent_testkit::fakes::chat_model::Turn;
use docent_tests::app::{PASSWORD, TestApp};
use docent_tests::chromium::Chromium;
use docent_tests::member::{Member, question_body};
use docent_tests::pdf::pdf;
use serde_json::json;

/// Runs if it is rendered as an element, in an attribute or in a script. No longer than the title of a conversation.
const HOSTILE: &str = "'\"><img src=x onerror=\"hit=1\"><script>hit=1</script>{{7*7}}";
const CONVERSATION: &str = "01900000-0000-7000-8000-000000000001";

/// Checks that a page shows the text unchanged, and that none of it became markup or ran.
async fn assert_shown_as_text(window: &Chromium, path: &str, text: &str) {
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
    assert_eq!(window.console_errors().await, Vec::<String>::new(), "{path}");
}

/// Asks the hostile text in a conversation and waits until it is recorded.
async fn ask(app: &TestApp, member: &Member) {
    let mut body = question_body(HOSTILE);
    body["conversation_id"] = json!(CONVERSATION);
    let reply = member.post("/agents/chat", body).await.expect(200);
    app.settle().await;
    let path = format!("/conversations/{CONVERSATION}/messages/{}/feedback", reply.header("x-message-id"));
    let _ =
        member.put(&path, json!({ "rating": "down", "comment": format!("No: {HOSTILE}") })).await.expect(200);
}

#[tokio::test]
async fn scripts_in_stored_text_are_escaped() {
    let script = [Turn::searching("zebra"), Turn::saying(HOSTILE)];
    journey_with(
        |setup| setup.script(script),
        async |app, window| {
            superuser(app, window).await;
            // An address cannot contain spaces, quotation marks, angle brackets or capital letters.
            let email = "'onfocus='window.hit=1'autofocus='&lt@example.org";
            let user = app.account(email, Flags::default()).await;
            let member = Member::login_with(app, user.clone(), PASSWORD).await;
            let record = member.post("/documents", json!({ "title": HOSTILE })).await.expect(201).json();
            // A file name is the last component of a path and ends at a quotation mark.
            let name = "<img src=x onerror=window.hit=1>.pdf";
            let file = member.add(name, pdf(&["The zebra <script>window.hit=1</script> lives."])).await;
            app.run_jobs().await;
            ask(app, &member).await;

            assert_shown_as_text(window, "/admin/documents", HOSTILE).await;
            assert_shown_as_text(window, "/admin/documents", name).await;
            assert_shown_as_text(window, "/admin/documents", email).await;
            assert_shown_as_text(
                window,
                &format!("/admin/documents/{}", record["id"].as_str().unwrap()),
                HOSTILE,
            )
            .await;
            assert_shown_as_text(window, &format!("/admin/documents/{file}"), name).await;
            assert_shown_as_text(
                window,
                &format!("/admin/documents/{file}/chunks"),
                "<script>window.hit=1</script>",
            )
            .await;
            assert_shown_as_text(window, "/admin/users", email).await;
            assert_shown_as_text(window, &format!("/admin/users/{}", user.id), email).await;
            assert_shown_as_text(window, "/admin/sessions", email).await;
            assert_shown_as_text(window, "/admin/usage?by=user", email).await;
            assert_shown_as_text(window, "/admin/audit", email).await;
            assert_shown_as_text(window, "/admin/conversations", HOSTILE).await;
            let conversation = format!("/admin/conversations/{CONVERSATION}");
            assert_shown_as_text(window, &conversation, HOSTILE).await;
            assert_shown_as_text(window, "/admin/answers", &format!("No: {HOSTILE}")).await;
            assert_shown_as_text(window, "/admin/search?q=zebra", "<script>window.hit=1</script>").await;
            assert_shown_as_text(window, &conversation, name).await;
            for path in ["/admin/documents?q=", "/admin/users?q=", "/admin/audit?who="] {
                assert_shown_as_text(window, &format!("{path}%22%3E%3Cimg%20src%3Dx%3E"), "\"><img src=x>")
                    .await;
            }
        },
    )
    .await;
}
