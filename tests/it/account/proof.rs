//! Actions that need a recent proof of identity: `/account/confirm`.

use super::{ADA, ada};
use docent_app::accounts::create::Flags;
use docent_tests::app::PASSWORD;
use docent_tests::browser::{Browser, form_token};
use docent_tests::rules;
use std::time::Duration;

const TEN_MINUTES: Duration = Duration::from_secs(10 * 60);
const ROOT: Flags = Flags { is_staff: true, is_superuser: true };

rules! {
    async fn keys_need_the_password_after_ten_minutes(setup) {
        let app = setup.api_keys().start().await;
        let (mut ada, _) = ada(&app).await;
        app.advance(TEN_MINUTES - Duration::from_secs(1));
        let token = form_token(&ada.get("/account/api-keys/add").await.expect(200));
        app.advance(Duration::from_secs(1));
        let key = [("form_token", token.as_str()), ("name", "CI"), ("scopes", "read")];
        let reply = ada.post("/account/api-keys/add", &key).await.expect(303);
        let confirm = reply.header("location").to_owned();
        assert_eq!(confirm, "/account/confirm?next=%2Faccount%2Fapi-keys%2Fadd");
        assert!(ada.get("/account/api-keys").await.expect(200).text.contains("No API keys"));
        let token = form_token(&ada.get(&confirm).await.expect(200));
        let submit = async |browser: &mut Browser, proof: &str| {
            let fields =
                [("form_token", token.as_str()), ("next", "/account/api-keys/add"), ("proof", proof)];
            browser.post("/account/confirm", &fields).await
        };
        assert!(submit(&mut ada, "").await.expect(422).text.contains("must not be empty"));
        assert!(submit(&mut ada, "wrong").await.expect(422).text.contains("is incorrect"));
        let reply = submit(&mut ada, PASSWORD).await.expect(303);
        assert_eq!(reply.header("location"), "/account/api-keys/add");
        let _ = ada.get("/account/api-keys/add").await.expect(200);
    }

    async fn rights_links_and_exports_need_the_password_after_ten_minutes(setup) {
        let app = setup.start().await;
        let user = app.account(ADA, Flags::default()).await;
        app.account("root@example.org", ROOT).await;
        let mut root = Browser::new(&app);
        let _ = root.login("root@example.org", PASSWORD).await.expect(303);
        let token = form_token(&root.get("/admin/users/add").await.expect(200));
        app.advance(TEN_MINUTES);
        let account = format!("/admin/users/{}", user.id);
        let [delete, limits, password] = ["delete", "limits", "password"].map(|form| format!("{account}/{form}"));
        for page in
            ["/admin/users/add", "/admin/groups/add", "/admin/usage.csv", "/admin/usage%2Ecsv", &delete, &limits, &password]
        {
            for reply in [root.get(page).await.expect(303), root.head(page).await.expect(303)] {
                let proof = reply.header("location").starts_with("/account/confirm?next=%2Fadmin%2F");
                assert!(proof, "{page}: {}", reply.header("location"));
            }
        }
        let id = user.id.to_string();
        for (action, fields) in [
            (account.as_str(), [("email", "eve@example.org"), ("is_staff", "on")]),
            (&delete, [("", ""), ("", "")]),
            ("/admin/groups/00000000-0000-4000-8000-000000000000/delete", [("", ""), ("", "")]),
            (&limits, [("answers", "0"), ("tokens_per_day", "0")]),
            ("/admin/verifications/add", [("user", id.as_str()), ("purpose", "reset_password")]),
        ] {
            let fields = [&[("form_token", token.as_str())][..], &fields].concat();
            let reply = root.post(action, &fields).await.expect(303);
            assert!(reply.header("location").starts_with("/account/confirm?next=%2Fadmin%2F"), "{action}");
        }
        let page = root.get(&account).await.expect(200).text;
        assert!(page.contains(ADA) && !page.contains("eve@example.org"), "viewing needs no proof, and nothing changed");
    }

    async fn export_starts_on_its_page_after_the_password(setup) {
        let app = setup.start().await;
        app.account("root@example.org", ROOT).await;
        let mut root = Browser::new(&app);
        let _ = root.login("root@example.org", PASSWORD).await.expect(303);
        app.advance(TEN_MINUTES);
        let file = "/admin/usage.csv?by=user";
        let confirm = root.get(file).await.expect(303).header("location").to_owned();
        let token = form_token(&root.get(&confirm).await.expect(200));
        let fields = [("form_token", token.as_str()), ("next", file), ("proof", PASSWORD)];
        let reply = root.post("/account/confirm", &fields).await.expect(303);
        assert_eq!(reply.header("location"), "/admin/usage?by=user");
        let download = format!("http-equiv=\"refresh\" content=\"0; url={file}\"");
        let page = root.get("/admin/usage?by=user").await.expect(200).text;
        assert!(page.contains(&download) && page.contains(&format!("<a href=\"{file}\">")), "{page}");
        let _ = root.get(file).await.expect(200);
        // Once only: a reload of the page does not download the file again.
        assert!(!root.get("/admin/usage?by=user").await.expect(200).text.contains(&download));
    }

    async fn export_starts_on_its_page_after_signing_in(setup) {
        let app = setup.start().await;
        app.account("root@example.org", ROOT).await;
        let mut root = Browser::new(&app);
        let sign_in = root.get("/admin/answers.jsonl?kind=up").await.expect(303).header("location").to_owned();
        let token = form_token(&root.get(&sign_in).await.expect(200));
        let fields = [
            ("form_token", token.as_str()),
            ("email", "root@example.org"),
            ("password", PASSWORD),
            ("next", "/admin/answers.jsonl?kind=up"),
        ];
        let reply = root.post("/admin/login", &fields).await.expect(303);
        assert_eq!(reply.header("location"), "/admin/answers?kind=up");
        let page = root.get("/admin/answers?kind=up").await.expect(200).text;
        assert!(page.contains("url=/admin/answers.jsonl?kind=up"), "{page}");
    }

    async fn ending_other_sessions_is_no_proof(setup) {
        let app = setup.api_keys().start().await;
        let (mut ada, _) = ada(&app).await;
        app.advance(TEN_MINUTES);
        let token = form_token(&ada.get("/account/sessions").await.expect(200));
        let _ = ada.post("/account/sessions/end-others", &[("form_token", &token)]).await.expect(303);
        let _ = ada.get("/account/api-keys/add").await.expect(303);
    }

    async fn wrong_proofs_are_rate_limited(setup) {
        let app = setup.start().await;
        let (mut ada, _) = ada(&app).await;
        let token = form_token(&ada.get("/account/confirm").await.expect(200));
        for _ in 0..10 {
            let _ = ada.post("/account/confirm", &[("form_token", &token), ("proof", "000000")]).await.expect(422);
        }
        let _ = ada.post("/account/confirm", &[("form_token", &token), ("proof", PASSWORD)]).await.expect(429);
    }
}
