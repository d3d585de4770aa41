//! API keys in the panel: `/admin/api-keys`.

use super::{at_panel, between, staff_account, staff_with, submit, superuser};
use docent_app::accounts::create::Flags;
use docent_domain::permission::Permission;
use docent_tests::app::TestApp;
use docent_tests::browser::Browser;
use docent_tests::reply::Reply;
use docent_tests::rules;
use reqwest::Method;

/// Creates an API key for the signed-in account and returns it.
async fn create_own_key(browser: &mut Browser, name: &str, scope: &str) -> String {
    let reply =
        submit(browser, "/admin/api-keys/add", &[("name", name), ("scopes", scope)]).await.expect(200);
    let key = between(&reply.text, "<code id=\"secret\">", "</code>").to_owned();
    assert!(key.starts_with("dk_"), "{}", reply.text);
    key
}

/// Returns the path of the page of the signed-in account's only key.
async fn own_key_page(browser: &mut Browser) -> String {
    let account = browser.get("/account/api-keys").await.expect(200).text;
    let id = between(&account, "href=\"/account/api-keys/", "/revoke\"").rsplit('/').next().unwrap();
    assert_eq!(id.len(), 36, "{account}");
    format!("/admin/api-keys/{id}")
}

async fn list_documents(app: &TestApp, key: &str) -> Reply {
    app.send(app.request(Method::GET, "/documents").bearer_auth(key)).await
}

rules! {
    async fn new_key_is_shown_once_and_works_until_revoked(setup) {
        let app = setup.api_keys().start().await;
        let mut staff = staff_with(&app, &[]).await;
        let key = create_own_key(&mut staff, "Nightly", "read").await;
        let _ = list_documents(&app, &key).await.expect(200);
        let secret = key.rsplit('_').next().unwrap();
        let page = own_key_page(&mut staff).await;
        for path in ["/account/api-keys", &page, "/admin"] {
            let text = staff.get(path).await.expect(200).text;
            assert!(!text.contains(secret), "{path}");
            assert!(!text.contains("are disabled"), "{path}");
        }
        let text = staff.get(&page).await.expect(200).text;
        assert!(text.contains("just now") && text.contains(">active<"), "the last use is shown: {text}");

        assert!(staff.get(&format!("{page}/revoke")).await.expect(200).text.contains("Revoke this key?"));
        let _ = staff.post(&format!("{page}/revoke"), &[("form_token", "x")]).await.expect(403);
        let _ = list_documents(&app, &key).await.expect(200);
        let _ = submit(&mut staff, &format!("{page}/revoke"), &[]).await.expect(303);
        let _ = list_documents(&app, &key).await.expect(401);
        let text = staff.get(&page).await.expect(200).text;
        assert!(text.contains("revoked") && !text.contains("Revoke…"));
    }

    async fn page_of_a_new_key_shows_a_request_that_works(setup) {
        let app = setup.api_keys().start().await;
        let mut staff = staff_with(&app, &[]).await;
        for add in ["/admin/api-keys/add", "/account/api-keys/add"] {
            let page = submit(&mut staff, add, &[("name", "Nightly"), ("scopes", "read")]).await.expect(200).text;
            let key = between(&page, "<code id=\"secret\">", "</code>");
            let example = between(&page, "<code id=\"example\">", "</code>").replace("&#x27;", "'").replace("&#39;", "'");
            let address = example.strip_prefix(&format!("curl -sS -H 'Authorization: Bearer {key}' ")).expect(&example);
            let path = address.strip_prefix("http://127.0.0.1:8000").expect(&example);
            let _ = app.send(app.request(Method::GET, path).bearer_auth(key)).await.expect(200);
        }
    }

    async fn key_pages_warn_when_keys_are_not_accepted(setup) {
        let app = setup.start().await;
        let mut root = superuser(&app).await;
        let list = root.get("/admin/api-keys").await.expect(200).text;
        assert!(list.contains("API keys are disabled") && list.contains("No API keys yet."));
        assert!(root.get("/admin/api-keys/add").await.expect(200).text.contains("are disabled"));
        let key = create_own_key(&mut root, "Early", "read").await;
        let own = submit(&mut root, "/admin/api-keys/add", &[("name", "x"), ("scopes", "read")]).await.expect(200).text;
        assert!(own.contains("DOCENT_AUTH_BACKENDS") && !own.contains("curl"), "{own}");
        let _ = list_documents(&app, &key).await.expect(401);
        for (prefix, is_found) in [(&key[..15], true), ("dk_aaaaaaaaaaaa", false)] {
            let found = root.get(&format!("/admin/api-keys?q={prefix}")).await.expect(200).text;
            assert_eq!(found.contains("Early"), is_found, "{prefix}");
        }
    }

    async fn keys_of_other_accounts_require_permission(setup) {
        let app = setup.api_keys().start().await;
        let mut ada = { staff_account(&app, "ada@example.org", &[]).await; at_panel(&app, "ada@example.org").await };
        create_own_key(&mut ada, "Of Ada", "read").await;
        let page = own_key_page(&mut ada).await;
        let mut staff = staff_with(&app, &[]).await;
        let _ = staff.get("/admin/api-keys").await.expect(403);
        for path in [page.clone(), format!("{page}/revoke")] {
            assert!(!staff.get(&path).await.expect(404).text.contains("Of Ada"));
        }
        let _ = submit(&mut staff, &format!("{page}/revoke"), &[]).await.expect(404);
        let other = [("account", "ada@example.org"), ("name", "x"), ("scopes", "read")];
        let _ = submit(&mut staff, "/admin/api-keys/add", &other).await.expect(403);
        assert!(!staff.get("/admin/api-keys/add").await.expect(200).text.contains("name=\"account\""));

        let rights = [Permission::ViewApiKey, Permission::DeleteApiKey];
        staff_account(&app, "keeper@example.org", &rights).await;
        let mut keeper = at_panel(&app, "keeper@example.org").await;
        let list = keeper.get("/admin/api-keys").await.expect(200).text;
        assert!(list.contains("Of Ada") && list.contains("ada@example.org"));
        for (query, is_in) in [("q=ada", true), ("q=none", false), ("user=ada@example.org", true),
            ("user=keeper@example.org", false), ("user=x", false), ("state=good", true)]
        {
            let list = keeper.get(&format!("/admin/api-keys?{query}")).await.expect(200).text;
            assert_eq!(list.contains("Of Ada"), is_in, "{query}");
        }
        let _ = submit(&mut keeper, &format!("{page}/revoke"), &[]).await.expect(303);
        assert!(!keeper.get("/admin/api-keys?state=good").await.expect(200).text.contains(">Of Ada</a>"));
    }

    async fn key_for_an_account_with_more_permissions_is_refused(setup) {
        let app = setup.api_keys().start().await;
        let rights = [Permission::AddApiKey, Permission::ViewUser, Permission::ViewDocument];
        let mut staff = staff_with(&app, &rights).await;
        app.account("root@example.org", Flags { is_staff: true, is_superuser: true }).await;
        staff_account(&app, "stronger@example.org", &[Permission::DeleteDocument]).await;
        staff_account(&app, "weaker@example.org", &[Permission::ViewUser]).await;
        for (account, error) in [
            ("root@example.org", "Account has access that you do not have; you lack the status of a superuser."),
            ("stronger@example.org", "Account has access that you do not have; you lack the permissions documents.delete_document."),
            ("unknown@example.org", "Account does not exist."),
        ] {
            let fields = [("account", account), ("name", "Theirs"), ("scopes", "admin")];
            let reply = submit(&mut staff, "/admin/api-keys/add", &fields).await.expect(422);
            assert!(reply.text.contains(error), "{account}: {}", reply.text);
            assert!(reply.text.contains("value=\"Theirs\"") && reply.text.contains("value=\"admin\" checked"));
        }
        let fields = [("account", "weaker@example.org"), ("name", "Theirs"), ("scopes", "read")];
        let reply = submit(&mut staff, "/admin/api-keys/add", &fields).await.expect(200);
        assert!(reply.text.contains("account weaker@example.org"));
        let fields = [("account", "weaker@example.org"), ("name", "Theirs"), ("scopes", "chat")];
        let reply = submit(&mut staff, "/admin/api-keys/add", &fields).await.expect(422);
        assert!(reply.text.contains("need the permissions chat.view_conversation, chat.delete_conversation."), "{}", reply.text);
    }

    async fn key_form_reports_errors_and_names_are_escaped(setup) {
        let app = setup.api_keys().start().await;
        let mut staff = staff_with(&app, &[]).await;
        let reply = submit(&mut staff, "/admin/api-keys/add", &[("name", " "), ("expires_at", "soon")]).await.expect(422);
        for error in ["Name must not be empty.", "Scopes must be one or more of", "Expires must be a date"] {
            assert!(reply.text.contains(error), "{error}: {}", reply.text);
        }
        let past = [("name", "Old"), ("scopes", "read"), ("expires_at", "2001-01-01")];
        let reply = submit(&mut staff, "/admin/api-keys/add", &past).await.expect(422);
        assert!(reply.text.contains("Expires must be in the future.") && reply.text.contains("value=\"2001-01-01\""));
        create_own_key(&mut staff, "<script>alert(1)</script>", "chat").await;
        let page = own_key_page(&mut staff).await;
        for path in ["/account/api-keys", &page, &format!("{page}/revoke")] {
            let text = staff.get(path).await.expect(200).text;
            assert!(text.contains("&lt;script&gt;") && !text.contains("<script>"), "{path}");
        }
    }
}
