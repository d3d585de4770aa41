//! The account's sessions: `/account/sessions`.

use super::{ADA, ada, at_account};
use crate::admin::{between, submit};
use docent_app::accounts::create::Flags;
use docent_domain::session::SessionKind;
use docent_tests::member::Member;
use docent_tests::rules;
use serde_json::json;
use std::time::Duration;

rules! {
    async fn sessions_are_listed_and_ended_one_by_one(setup) {
        let app = setup.start().await;
        let (mut here, user) = ada(&app).await;
        app.advance(Duration::from_secs(2));
        let client = Member::login(&app, user.clone()).await;
        let page = here.get("/account/sessions").await.expect(200).text;
        for text in ["this device", ">API<", ">browser<", "127.0.0.1"] {
            assert!(page.contains(text), "{text}: {page}");
        }
        let (this, other) = page.split_once(">API<").unwrap();
        assert!(this.contains("Sign out</button></form></td>") && other.contains("End</button>"), "this one first: {page}");
        let sessions = app.sessions(user.id).await;
        let id = |kind| sessions.iter().find(|session| session.kind == kind).unwrap().id;
        let end = format!("/account/sessions/{}/revoke", id(SessionKind::Api));
        let _ = here.post(&end, &[("form_token", "x")]).await.expect(403);
        let _ = submit(&mut here, &end, &[]).await.expect(303);
        let _ = app.post("/auth/refresh", json!({ "refresh_token": client.refresh })).await.expect(401);
        assert!(!here.get("/account/sessions").await.expect(200).text.contains(">API<"));
        let end = format!("/account/sessions/{}/revoke", id(SessionKind::Panel));
        let reply = submit(&mut here, &end, &[]).await.expect(303);
        assert_eq!(reply.header("location"), "/account/login");
        let _ = here.get("/account").await.expect(303);
    }

    async fn ending_all_others_keeps_this_browser_signed_in(setup) {
        let app = setup.start().await;
        let (mut here, user) = ada(&app).await;
        let mut elsewhere = at_account(&app, ADA).await;
        let client = Member::login(&app, user.clone()).await;
        app.advance(Duration::from_secs(2));
        let reply = submit(&mut here, "/account/sessions/end-others", &[]).await.expect(303);
        assert_eq!(reply.header("location"), "/account/sessions");
        let page = here.get("/account/sessions").await.expect(200).text;
        assert!(page.contains("All other sessions were ended.") && !page.contains("End all other"), "{page}");
        let _ = elsewhere.get("/account").await.expect(303);
        let _ = client.get("/documents").await.expect(401);
        let _ = app.post("/auth/refresh", json!({ "refresh_token": client.refresh })).await.expect(401);
    }

    async fn session_of_another_account_is_not_found_even_for_superusers(setup) {
        let app = setup.start().await;
        let (mut ada, user) = ada(&app).await;
        app.account("root@example.org", Flags { is_staff: true, is_superuser: true }).await;
        let mut root = at_account(&app, "root@example.org").await;
        let page = root.get("/account/sessions").await.expect(200).text;
        assert!(!between(&page, "<tbody>", "</tbody>").contains(ADA));
        let id = app.sessions(user.id).await[0].id;
        let _ = submit(&mut root, &format!("/account/sessions/{id}/revoke"), &[]).await.expect(404);
        let _ = ada.get("/account").await.expect(200);
    }
}
