//! A service below a path of its host.

use crate::admin::at_panel;
use crate::records::{self, ROOT, Records};
use docent_app::accounts::create::Flags;
use docent_testkit::fakes::chat_model::Turn;
use docent_tests::app::TestApp;
use docent_tests::browser::Browser;
use docent_tests::pdf::pdf;
use docent_tests::reply::Reply;
use docent_tests::rules;
use docent_tests::setup::Setup;
use reqwest::Method;
use serde_json::json;
use std::collections::BTreeSet;
use std::time::Duration;

const PUBLIC_URL: &str = "https://docs.example.org/tools/docent";
const BASE: &str = "/tools/docent";
/// Pages outside of the panel.
const PAGES: [&str; 16] = [
    "/chat",
    "/docs",
    "/account",
    "/account/login",
    "/account/login?next=/account/sessions",
    "/account/password",
    "/account/email",
    "/account/second-factor",
    "/account/sessions",
    "/account/api-keys",
    "/account/api-keys/add",
    "/account/applications",
    "/account/delete",
    "/account/forgot-password",
    "/account/reset-password?token=x",
    "/account/nothing",
];
/// Longer than the time that creating the records takes.
const MONTH: Duration = Duration::from_secs(30 * 24 * 60 * 60);

fn below(setup: Setup) -> Setup {
    setup
        .settings(|settings| {
            settings.public_url = PUBLIC_URL.to_owned();
            settings.access_token_ttl = MONTH;
        })
        .http(|http| http.public_url = Some(PUBLIC_URL.to_owned()))
}

/// The URLs in a page's attributes.
fn urls(page: &str) -> Vec<String> {
    let of = |attribute: &str| {
        let after = page.split(&format!(" {attribute}=\"")).skip(1).map(str::to_owned).collect::<Vec<_>>();
        after.into_iter().map(|rest| rest.split('"').next().unwrap().replace("&amp;", "&"))
    };
    ["href", "src", "action", "formaction"].into_iter().flat_map(of).collect()
}

/// Checks that a URL of the service is below its path.
fn assert_below(url: &str, page: &str) {
    let is_relative_to_page = url.is_empty() || url.starts_with(['?', '#']);
    let is_elsewhere = ["data:", "https:", "http:"].iter().any(|scheme| url.starts_with(scheme));
    let is_below = url.strip_prefix(BASE).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    assert!(is_relative_to_page || is_elsewhere || is_below, "{url} on {page}");
    assert!(!url.contains(&format!("{BASE}{BASE}")), "{url} on {page}");
}

fn assert_all_below(reply: &Reply, page: &str) {
    assert_below(reply.header("location"), page);
    for url in urls(&reply.text) {
        assert_below(&url, page);
    }
    let policy = reply.header("content-security-policy");
    assert!(reply.text.is_empty() || policy.contains("style-src 'self'"), "{page}: {policy}");
}

/// Signs a superuser in and creates records of every kind.
async fn records_of(app: &TestApp) -> (Browser, Records) {
    app.account(ROOT, Flags { is_staff: true, is_superuser: true }).await;
    let records = Records::create(app).await;
    (at_panel(app, ROOT).await, records)
}

rules! {
    async fn links_of_all_pages_are_below_the_path(setup) {
        let app = below(setup.api_keys().script(records::script())).start().await;
        let (mut browser, records) = records_of(&app).await;
        let pages = records::addresses().into_iter().chain(PAGES.map(str::to_owned));
        let mut links = BTreeSet::new();
        for page in pages.map(|page| records.fill(&page)) {
            let reply = browser.get(&format!("{BASE}{page}")).await;
            assert!(reply.status < 500, "{page}: {}", reply.status);
            assert_all_below(&reply, &page);
            links.extend(urls(&reply.text).into_iter().filter(|url| url.starts_with('/')));
        }
        assert!(links.len() > 100, "{links:?}");
        // The target of each link exists. Forms answer with 405 here.
        for link in links {
            let reply = browser.get(&link).await;
            assert!(reply.status < 500 && reply.status != 404, "{link}: {}", reply.status);
        }
        app.leave_jobs();
    }

    async fn requests_are_served_with_and_without_the_path(setup) {
        let app = below(setup).start().await;
        let root = app.superuser().await;
        for base in ["", BASE] {
            let _ = app.get(&format!("{base}/health/live")).await.expect(200);
            let _ = app.get(&format!("{base}/health/ready")).await.expect(200);
            let _ = app.get(&format!("{base}/")).await.expect(200);
            let _ = root.get(&format!("{base}/documents?limit=1")).await.expect(200);
            let open = app.request(Method::GET, &format!("{base}/")).header("Accept", "text/html");
            assert_eq!(app.send(open).await.expect(303).header("location"), format!("{BASE}/chat"));
            let page = app.get(&format!("{base}/admin/users?q=a")).await.expect(303);
            assert_eq!(page.header("location"), format!("{BASE}/admin/login?next=%2Fadmin%2Fusers%3Fq%3Da"));
        }
        let open = app.request(Method::GET, BASE).header("Accept", "text/html");
        assert_eq!(app.send(open).await.expect(303).header("location"), format!("{BASE}/chat"));
        for path in ["/tools/docentx/health/live", "/tools/health/live", "/tools/docent/tools/docent/status"] {
            let _ = app.get(path).await.expect(404);
        }
    }

    async fn session_cookie_has_the_path_and_sign_in_leads_to_pages_below_it(setup) {
        let app = below(setup).start().await;
        app.account(ROOT, Flags { is_staff: true, is_superuser: true }).await;
        let cookie = app.get("/tools/docent/account/login").await;
        let cookie = cookie.header("set-cookie");
        assert!(cookie.starts_with("__Secure-docent_session="), "{cookie}");
        for attribute in ["; Path=/tools/docent", "; Secure", "; HttpOnly", "; SameSite=Lax"] {
            assert!(format!("{cookie};").contains(&format!("{attribute};")), "{cookie}");
        }
        let mut browser = Browser::new(&app);
        let login = browser.login_at("/tools/docent/admin/login", ROOT, docent_tests::app::PASSWORD).await;
        assert_eq!(login.expect(303).header("location"), "/tools/docent/admin");
        let _ = browser.get("/tools/docent/admin/documents").await.expect(200);
        let refused = browser.get("/tools/docent/admin/users/x").await.expect(404);
        assert_all_below(&refused, "an error page");
    }

    async fn links_in_mails_answers_and_the_document_of_the_api_have_the_path(setup) {
        let turns = [Turn::searching("zebra"), Turn::saying("In Africa.")];
        let app = below(setup.script(turns)).start().await;
        let ada = app.ada().await;
        let id = ada.add("Zebras.pdf", pdf(&["The zebra lives in Africa."])).await;
        app.run_jobs().await;
        let body = json!({ "model": "chat", "messages": [{ "role": "user", "content": "zebra?" }] });
        let answer = ada.post("/tools/docent/v1/chat/completions", body).await.expect(200);
        assert!(answer.text.contains(&format!("{PUBLIC_URL}/chat#document={id}")), "{}", answer.text);

        let email = json!({ "email": ada.user.email.as_str() });
        let _ = app.post("/tools/docent/auth/password-reset", email).await.expect(202);
        let [mail] = app.mails().await.try_into().unwrap();
        assert!(mail.text.contains(&format!("{PUBLIC_URL}/account/reset-password?token=")), "{}", mail.text);

        let document = app.get("/tools/docent/openapi.json").await.expect(200).json();
        assert_eq!(document["servers"][0]["url"], BASE);
        let own: serde_json::Value =
            serde_json::from_str(&docent_server::openapi::json().unwrap()).unwrap();
        assert_eq!((&own["servers"][0]["url"], &own["paths"]), (&json!("/"), &document["paths"]));
    }

    async fn next_page_of_a_list_is_below_the_path(setup) {
        let app = below(setup).start().await;
        let ada = app.ada().await;
        for title in ["a", "b"] {
            let _ = ada.post("/documents", json!({ "title": title })).await.expect(201);
        }
        let first = ada.get("/documents?limit=1").await.expect(200);
        let link = first.header("link").to_owned();
        let next = link.strip_prefix('<').unwrap().split('>').next().unwrap();
        assert!(next.starts_with("/tools/docent/documents?"), "{link}");
        assert_eq!(ada.get(next).await.expect(200).json().as_array().unwrap().len(), 1);
    }
}
