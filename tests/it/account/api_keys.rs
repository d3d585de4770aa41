//! The account's API keys: `/account/api-keys`.

use super::{ADA, ada, notices};
use crate::admin::{at_panel, between, submit};
use docent_app::accounts::create::Flags;
use docent_domain::permission::Permission;
use docent_tests::app::TestApp;
use docent_tests::browser::Browser;
use docent_tests::member::Member;
use docent_tests::rules;
use reqwest::Method;
use serde_json::json;
use std::time::Duration;

/// Creates a key on the account page and returns it.
async fn create(browser: &mut Browser, name: &str, scope: &str) -> String {
    let fields = [("name", name), ("scopes", scope)];
    let reply = submit(browser, "/account/api-keys/add", &fields).await.expect(200);
    let key = between(&reply.text, "<code id=\"secret\">", "</code>").to_owned();
    assert!(key.starts_with("dk_"), "{}", reply.text);
    key
}

/// Returns the path that revokes the first key of the list.
async fn revoke_path(browser: &mut Browser) -> String {
    let list = browser.get("/account/api-keys").await.expect(200).text;
    format!(
        "/account/api-keys/{}/revoke",
        between(&list, "\"Action\"><a href=\"/account/api-keys/", "/revoke\"")
    )
}

async fn documents(app: &TestApp, key: &str) -> u16 {
    app.send(app.request(Method::GET, "/documents").bearer_auth(key)).await.status
}

rules! {
    async fn own_key_is_created_listed_and_revoked(setup) {
        let app = setup.api_keys().start().await;
        let (mut browser, _) = ada(&app).await;
        assert!(browser.get("/account/api-keys").await.expect(200).text.contains("No API keys yet."));
        let wrong = submit(&mut browser, "/account/api-keys/add", &[("name", "x")]).await.expect(422).text;
        assert!(wrong.contains("Scopes must be one or more of") && wrong.contains("value=\"x\""), "{wrong}");
        let key = create(&mut browser, "<b>Import", "read").await;
        assert_eq!(documents(&app, &key).await, 200);
        assert_eq!(notices(&app).await, [("An API key was created for your account".to_owned(), ADA.to_owned())]);
        let list = browser.get("/account/api-keys").await.expect(200).text;
        assert!(list.contains("&lt;b&gt;Import") && list.contains(">you<") && list.contains("just now"), "{list}");
        assert!(!list.contains(key.rsplit('_').next().unwrap()));
        assert!(!browser.get("/account").await.expect(200).text.contains("If you did not expect this"));
        let revoke = revoke_path(&mut browser).await;
        assert!(browser.get(&revoke).await.expect(200).text.contains("Revoke this key?"));
        let _ = browser.post(&revoke, &[("form_token", "x")]).await.expect(403);
        assert_eq!(documents(&app, &key).await, 200);
        let _ = submit(&mut browser, &revoke, &[]).await.expect(303);
        assert_eq!(documents(&app, &key).await, 401);
    }

    async fn key_can_be_limited_to_collections_that_the_account_reads(setup) {
        let app = setup.api_keys().start().await;
        let (mut browser, user) = ada(&app).await;
        let (ada, bob) = (Member::login(&app, user).await, app.member("bob@example.org").await);
        let create = async |by: &Member, name: &str| {
            by.post("/collections", json!({ "name": name })).await.expect(201).json()["id"].as_str().unwrap().to_owned()
        };
        let (team, hidden) = (create(&ada, "Team").await, create(&bob, "Hidden").await);
        let form = browser.get("/account/api-keys/add").await.expect(200).text;
        assert!(form.contains("Team") && form.contains("Personal") && !form.contains("Hidden"), "{form}");
        let send = async |browser: &mut Browser, collection: &str| {
            let fields = [("name", "x"), ("scopes", "read"), ("collections", collection)];
            submit(browser, "/account/api-keys/add", &fields).await
        };
        let wrong = send(&mut browser, "x").await.expect(422).text;
        assert!(wrong.contains("Collections must be collections of the list"), "{wrong}");
        let _ = send(&mut browser, &hidden).await.expect(404);
        let created = send(&mut browser, &team).await.expect(200).text;
        let key = ada.with_access(between(&created, "<code id=\"secret\">", "</code>").to_owned());
        let _ = key.get(&format!("/documents?collection_id={team}")).await.expect(200);
        let _ = key.get("/documents?collection_id=00000000-0000-0000-0000-000000000001").await.expect(404);
        let list = browser.get("/account/api-keys").await.expect(200).text;
        assert!(list.contains("in 1 collection only"), "{list}");
    }

    async fn owner_is_told_of_a_key_that_staff_created_and_can_revoke_it(setup) {
        let app = setup.api_keys().start().await;
        let (mut browser, _) = ada(&app).await;
        let staff = app.account("staff@example.org", Flags { is_staff: true, is_superuser: false }).await;
        app.permit(staff.id, &[Permission::AddApiKey]).await;
        let mut panel = at_panel(&app, "staff@example.org").await;
        let fields = [("account", ADA), ("name", "Reader"), ("scopes", "chat")];
        let refused = submit(&mut panel, "/admin/api-keys/add", &fields).await.expect(422).text;
        assert!(refused.contains("need the permissions chat.view_conversation, chat.delete_conversation"), "{refused}");
        let rights = [Permission::AddApiKey, Permission::ViewConversation, Permission::DeleteConversation];
        app.permit(staff.id, &rights).await;
        assert!(notices(&app).await.is_empty());
        let made = submit(&mut panel, "/admin/api-keys/add", &fields).await.expect(200).text;
        let key = between(&made, "<code id=\"secret\">", "</code>").to_owned();
        let mails = app.mails().await;
        assert_eq!((mails.len(), mails[0].to.as_str()), (1, ADA));
        assert!(mails[0].text.contains("staff@example.org created the API key \"Reader\""), "{}", mails[0].text);
        let page = browser.get("/account").await.expect(200).text;
        assert!(page.contains("staff@example.org created the API key") && page.contains("revoke it"), "{page}");
        assert!(browser.get("/account/api-keys").await.expect(200).text.contains("<b>staff@example.org</b>"));
        let revoke = revoke_path(&mut browser).await;
        let _ = submit(&mut browser, &revoke, &[]).await.expect(303);
        let reply = app.send(app.request(Method::GET, "/conversations").bearer_auth(&key)).await;
        assert_eq!(reply.status, 401);
        assert!(!browser.get("/account").await.expect(200).text.contains("revoke it"), "no news of a revoked key");
    }

    async fn keys_of_others_are_news_for_thirty_days(setup) {
        let app = setup.start().await;
        let (_, _) = ada(&app).await;
        app.account("root@example.org", Flags { is_staff: true, is_superuser: true }).await;
        let mut root = at_panel(&app, "root@example.org").await;
        let fields = [("account", ADA), ("name", "Reader"), ("scopes", "read")];
        let _ = submit(&mut root, "/admin/api-keys/add", &fields).await.expect(200);
        for (days, is_news) in [(29, true), (1, false)] {
            app.advance(Duration::from_secs(days * 24 * 60 * 60));
            let mut browser = super::at_account(&app, ADA).await;
            assert_eq!(browser.get("/account").await.expect(200).text.contains("revoke it"), is_news);
        }
    }

    async fn key_of_another_account_is_not_found_even_for_superusers(setup) {
        let app = setup.start().await;
        let (mut browser, _) = ada(&app).await;
        let _ = create(&mut browser, "Of Ada", "read").await;
        let revoke = revoke_path(&mut browser).await;
        app.account("root@example.org", Flags { is_staff: true, is_superuser: true }).await;
        let mut root = super::at_account(&app, "root@example.org").await;
        assert!(!root.get("/account/api-keys").await.expect(200).text.contains("Of Ada"));
        assert!(!root.get(&revoke).await.expect(404).text.contains("Of Ada"));
        let _ = submit(&mut root, &revoke, &[]).await.expect(404);
    }
}
