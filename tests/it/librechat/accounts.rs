//! Tokens and accounts of LibreChat.

use super::{ADA, BOB, FILE};
use docent_app::accounts::create::Flags;
use docent_domain::listing::{PageRequest, UserFilter};
use docent_domain::user::User;
use docent_tests::app::TestApp;
use docent_tests::librechat::{SECRET, sign};
use docent_tests::pdf::pdf;
use docent_tests::rules;
use reqwest::Method;
use serde_json::json;

async fn users(app: &TestApp) -> Vec<User> {
    let page = PageRequest { offset: 0, limit: 100 };
    app.ports
        .store
        .read_latest()
        .await
        .unwrap()
        .users()
        .list(&UserFilter::default(), page)
        .await
        .unwrap()
        .records
}

rules! {
    async fn each_user_has_one_account_without_a_password(setup) {
        let app = setup.librechat(SECRET).start().await;
        let (ada, bob) = (app.librechat(ADA), app.librechat(BOB));
        // LibreChat searches each file of a message at once.
        let _ = tokio::join!(ada.query("1", "a", None), ada.query("2", "a", None), ada.query("3", "a", None));
        let _ = bob.query(FILE, "a", None).await.expect(200);
        let mut found = users(&app).await;
        found.sort_by(|a, b| a.email.cmp(&b.email));
        let emails: Vec<&str> = found.iter().map(|user| user.email.as_str()).collect();
        assert_eq!(emails, [format!("{ADA}@librechat.invalid"), format!("{BOB}@librechat.invalid")]);
        assert!(found.iter().all(|user| !user.password.is_usable() && !user.is_staff && !user.is_superuser));
        for password in ["", "correct horse"] {
            let login = app.login(emails[0], password).await;
            assert!([401, 422].contains(&login.status), "{}", login.status);
        }
    }

    async fn deactivated_account_is_refused(setup) {
        let app = setup.librechat(SECRET).start().await;
        let ada = app.librechat(ADA);
        let _ = ada.query(FILE, "a", None).await.expect(200);
        app.deactivate(users(&app).await[0].id).await;
        ada.query(FILE, "a", None).await.refused(401, "Could not validate credentials");
        let _ = ada.embed(FILE, "a.pdf", pdf(&["words"])).await.expect(401);
        assert_eq!(users(&app).await.len(), 1);
    }

    // Invariant: No account that another person can sign in to becomes that of a user of LibreChat.
    async fn account_with_a_password_is_not_taken_over(setup) {
        let app = setup.librechat(SECRET).start().await;
        let _ = app.account(&format!("{ADA}@librechat.invalid"), Flags::default()).await;
        app.librechat(ADA).query(FILE, "a", None).await.refused(401, "Could not validate credentials");
        let _ = app.librechat(BOB).query(FILE, "a", None).await.expect(200);
    }

    // Invariant: Requests of LibreChat have no permissions, whatever its accounts are given.
    async fn superuser_status_has_no_effect(setup) {
        let app = setup.librechat(SECRET).start().await;
        let (ada, bob) = (app.librechat(ADA), app.librechat(BOB));
        let _ = ada.embed(FILE, "a.pdf", pdf(&["zebras"])).await.expect(200);
        let _ = bob.query(FILE, "a", None).await.expect(200);
        let mut work = app.ports.store.begin().await.unwrap();
        for user in users(&app).await {
            let user = User { is_staff: true, is_superuser: true, ..user };
            work.users().update(&user).await.unwrap();
        }
        work.commit().await.unwrap();
        assert_eq!(bob.query(FILE, "zebras", None).await.expect(200).json(), json!([]));
        bob.context(FILE).await.refused(404, "The specified file_id was not found");
        bob.delete(&[FILE]).await.refused(404, "One or more IDs not found");
    }

    // Invariant: A token of LibreChat without an expiry is refused.
    async fn invalid_tokens_are_refused(setup) {
        let app = setup.librechat(SECRET).start().await;
        let member = app.member("ada@example.org").await;
        let now = app.app.now().timestamp();
        let (header, claims) = (json!({ "alg": "HS256" }), json!({ "id": ADA, "exp": now + 300 }));
        let none = sign(&json!({ "alg": "none" }), &claims, SECRET.as_bytes());
        let tokens = [
            sign(&header, &claims, b"another secret of more than 32 bytes"),
            sign(&header, &json!({ "id": ADA, "exp": now }), SECRET.as_bytes()),
            sign(&header, &json!({ "id": ADA }), SECRET.as_bytes()),
            sign(&header, &json!({ "exp": now + 300 }), SECRET.as_bytes()),
            sign(&json!({ "alg": "HS512" }), &claims, SECRET.as_bytes()),
            none[..=none.rfind('.').unwrap()].to_owned(),
            none,
            member.access.clone(),
            "x".to_owned(),
        ];
        let body = json!({ "file_id": FILE, "query": "a" });
        for token in tokens {
            let request = app.request(Method::POST, "/librechat/query").bearer_auth(&token).json(&body);
            app.send(request).await.refused(401, "Could not validate credentials");
        }
        let missing = app.post("/librechat/query", body).await.expect(401);
        assert_eq!(missing.header("www-authenticate"), "Bearer");
        assert_eq!(users(&app).await.len(), 1, "no account was created");
        // Its tokens are good for nothing else.
        let foreign = app.request(Method::GET, "/documents").bearer_auth(app.librechat(ADA).token());
        let _ = app.send(foreign).await.expect(401);
    }

    async fn paths_are_unknown_without_a_secret(setup) {
        let app = setup.start().await;
        let ada = app.librechat(ADA);
        for (method, path) in [
            (Method::GET, "/health"),
            (Method::POST, "/embed"),
            (Method::POST, "/query"),
            (Method::POST, "/query_multiple"),
            (Method::GET, "/documents?ids=1"),
            (Method::DELETE, "/documents"),
            (Method::GET, "/documents/1/context"),
            (Method::POST, "/text"),
        ] {
            app.send(ada.request(method, path)).await.refused(404, "Not found");
        }
    }

    async fn health_needs_no_token(setup) {
        let app = setup.librechat(SECRET).start().await;
        assert_eq!(app.get("/librechat/health").await.expect(200).json(), json!({ "status": "UP" }));
    }
}
