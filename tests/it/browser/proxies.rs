//! The pages behind real proxies with the samples of `deploy/`, on a host of their own and below a path.

use super::chat::{ask, enter, renderer};
use crate::records::ROOT;
use docent_app::accounts::create::Flags;
use docent_testkit::servers::Proxy;
use docent_tests::app::TestApp;
use docent_tests::chromium::Chromium;
use docent_tests::librechat::SECRET;
use docent_tests::pdf::pdf;
use docent_tests::setup::{Setup, Started};
use docent_tests::stack::Stack;
use futures::FutureExt;
use serde_json::json;
use std::io::Write;
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, resume_unwind};

type StartProxy = fn(&str, SocketAddr, u16) -> Proxy;

/// Uses the chat, the panel and the account pages through a proxy at a path of its host.
async fn journey(start: StartProxy, sample: &str, path: &str) {
    let started = Started::default();
    let port = Proxy::free_port();
    let public_url = format!("https://localhost:{port}{path}");
    let setup =
        Setup::new(Stack::Embedded, &started).builtin_answerer().renderer(renderer()).librechat(SECRET);
    let setup = setup.settings(|settings| settings.public_url.clone_from(&public_url)).http(|http| {
        http.public_url = Some(public_url.clone());
        http.trusted_proxies = vec!["127.0.0.1/32".parse().unwrap()];
    });
    let app = setup.start().await;
    let proxy = start(sample, app.address, port);
    let window = Chromium::open_at(public_url).await;
    let outcome = AssertUnwindSafe(steps(&app, &window, path)).catch_unwind().await;
    window.close().await;
    if let Err(panic) = outcome {
        std::io::stderr().write_all(proxy.log().as_bytes()).unwrap();
        resume_unwind(panic);
    }
    drop(proxy);
    started.finish().await;
}

async fn steps(app: &TestApp, window: &Chromium, path: &str) {
    // The root leads to the chat and to its sign-in page, and uploads, streams, modules and page images work.
    window.goto("/").await;
    window.arrive(&format!("{path}/account/login?next=%2Fchat")).await;
    enter(app, window).await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("Zebras.pdf");
    std::fs::write(&file, pdf(&["The zebra lives in Africa and eats grass.", "Second page."])).unwrap();
    window.choose("#files", &[&file]).await;
    window.find(".pill.pending").await;
    app.run_jobs().await;
    window.find("#documents-list .pill.ingested").await;
    ask(window, "Where does the zebra live?").await;
    window.find(".answer .cite").await;
    window.click(".answer .cite").await;
    window.find("#pages img[alt^='Page 1 of Zebras.pdf']").await;
    window.click("#source-close").await;
    let cookies = window.devtools("Network.getCookies", json!({ "urls": [window.url().await] })).await;
    let cookies = cookies["cookies"].as_array().unwrap();
    let is_root = path.is_empty();
    let name = if is_root { "__Host-docent_session" } else { "__Secure-docent_session" };
    let cookie = cookies.iter().find(|cookie| cookie["name"] == name).unwrap();
    assert_eq!(
        (&cookie["path"], &cookie["secure"]),
        (&json!(if is_root { "/" } else { path }), &json!(true))
    );
    window.press("Sign out").await;
    window.find("#email").await;
    // Whatever the browser could not load, or the policy did not allow.
    assert_eq!(window.console_errors().await, Vec::<String>::new());

    // LibreChat calls the service without the proxy.
    let _ = app.get("/librechat/health").await.expect(200);
    let status = "return fetch(arguments[0]).then((reply) => reply.status)";
    for closed in ["/librechat/health", "/librechat", "/metrics"] {
        assert_eq!(window.run(status, vec![json!(format!("{path}{closed}"))]).await, json!(404), "{closed}");
    }
    assert_eq!(window.console_errors().await.len(), 3, "the three requests");

    app.account(ROOT, Flags { is_staff: true, is_superuser: true }).await;
    window.goto("/admin/documents?q=zebra").await;
    window.arrive(&format!("{path}/admin/login")).await;
    window.submit_login(ROOT, docent_tests::app::PASSWORD).await;
    window.arrive(&format!("{path}/admin/documents?q=zebra")).await;
    window.press("Zebras.pdf").await;
    window.arrive(&format!("{path}/admin/documents/")).await;
    window.press("Dashboard").await;
    window.see("Component").await;
    // A script asks for another page.
    window.press("Documents").await;
    window.fill("q", "nothing").await;
    window.see("No matching documents.").await;
    window.click("header .user").await;
    window.arrive(&format!("{path}/account")).await;
    window.goto("/docs").await;
    window.find(".swagger-ui .info .title").await;
    assert_eq!(window.console_errors().await, Vec::<String>::new());
}

#[tokio::test]
async fn pages_work_behind_nginx_on_a_host_of_their_own() {
    journey(Proxy::nginx, include_str!("../../../deploy/nginx.conf"), "").await;
}

#[tokio::test]
async fn pages_work_behind_nginx_that_keeps_the_path() {
    journey(Proxy::nginx, include_str!("../../../deploy/nginx-path.conf"), "/docent").await;
}

#[tokio::test]
async fn pages_work_behind_caddy_that_removes_the_path() {
    journey(Proxy::caddy, include_str!("../../../deploy/Caddyfile.path"), "/docent").await;
}
