//! The name that a person chose, and where others see it.

use super::single_sign_on::{person, provider_rules, sign_in_with};
use super::{ADA, ada, at_account};
use crate::admin::submit;
use docent_domain::identity::IdentityClaims;
use docent_domain::listing::AuditFilter;
use docent_domain::text::PersonName;
use docent_testkit::fakes::chat_model::Turn;
use docent_tests::app::PASSWORD;
use docent_tests::browser::Browser;
use docent_tests::pdf::pdf;
use docent_tests::rules;
use serde_json::json;

const NAME: &str = "Ada <Lovelace>";

rules! {
    async fn name_is_shown_where_people_meet(setup) {
        let app = setup.always(Turn::saying("Yes.")).start().await;
        let (bob, carl) = (app.member("bob@example.org").await, app.member("carl@example.org").await);
        let team = bob.post("/collections", json!({ "name": "Team" })).await.expect(201).json()["id"].clone();
        let team = team.as_str().unwrap();
        let path = format!("/collections/{team}/members");
        let member = bob.put(&path, json!({ "email": "carl@example.org", "role": "contributor" })).await.expect(200).json();
        assert_eq!((&member["name"], &member["display_name"]), (&json!("carl@example.org"), &json!(null)));

        let mut pages = at_account(&app, "carl@example.org").await;
        let _ = submit(&mut pages, "/account/name", &[("name", NAME)]).await.expect(303);
        let page = pages.get("/account").await.expect(200).text;
        let escaped = "Ada &lt;Lovelace&gt;";
        assert!(page.contains("Your name was saved.") && page.contains(&format!(">{escaped}</a>")), "{page}");
        let mut chat = Browser::in_chat(&app, "carl@example.org", PASSWORD).await;
        assert_eq!(chat.get("/chat/session").await.expect(200).json()["account"]["name"], NAME);

        let members = bob.get(&path).await.expect(200).json();
        let of_carl = members.as_array().unwrap().iter().find(|member| member["name"] == "carl@example.org").unwrap();
        assert_eq!(of_carl["display_name"], NAME);
        let upload = format!("/documents/upload?collection_id={team}");
        let _ = carl.upload_to(&upload, "a.pdf", pdf(&["zebras"])).await.expect(202);
        let listed = bob.get("/documents?include=access").await.expect(200).json();
        assert_eq!((&listed[0]["access"]["owner_email"], &listed[0]["access"]["owner_name"]), (&json!("carl@example.org"), &json!(NAME)));
        let conversation = carl.post("/conversations", json!({ "title": "Zebras" })).await.expect(201).json()["id"].clone();
        let conversation = format!("/conversations/{}", conversation.as_str().unwrap());
        let _ = carl.put(&format!("{conversation}/collections"), json!({ "collection_ids": [team] })).await.expect(200);
        for read in [bob.get(&conversation).await.expect(200).json(), bob.get("/conversations?shared=true").await.expect(200).json()[0].clone()] {
            assert_eq!((&read["shared_by"], &read["shared_by_name"]), (&json!("carl@example.org"), &json!(NAME)));
        }
        let record = Some(carl.user.id.to_string());
        let entries = app.audit(AuditFilter { record, ..AuditFilter::default() }).await;
        assert!(entries.iter().any(|entry| entry.changes.get("name").is_some_and(|name| name.after.as_deref() == Some(NAME))));
        app.leave_jobs();
    }

    /// A name is not an address, so that it is not taken for another account.
    async fn invalid_name_is_refused_and_an_empty_one_removed(setup) {
        let app = setup.start().await;
        let (mut pages, _) = ada(&app).await;
        let _ = submit(&mut pages, "/account/name", &[("name", "  Ada  ")]).await.expect(303);
        for (wrong, reason) in [
            ("bob@example.org", "must not contain &quot;@&quot;"),
            ("bob＠example.org", "must not contain &quot;@&quot;"),
            ("bob﹫example.org", "must not contain &quot;@&quot;"),
            ("a\u{200b}b", "must not contain control characters"),
            ("\u{200d} \u{2800}", "must not be empty"),
            ("a\u{202e}b", "must not contain characters that change the text direction"),
            (&"x".repeat(101), "must have at most 100 characters"),
        ] {
            let _ = submit(&mut pages, "/account/name", &[("name", wrong)]).await.expect(303);
            let page = pages.get("/account").await.expect(200).text;
            assert!(page.contains(reason) && page.contains("value=\"Ada\""), "{wrong}: {page}");
        }
        let _ = submit(&mut pages, "/account/name", &[("name", " ")]).await.expect(303);
        assert!(pages.get("/account").await.expect(200).text.contains(&format!(">{ADA}</a>")));
    }

    /// A new account has the name that its provider knows; the person can change it.
    async fn name_of_a_new_account_is_that_of_its_provider(setup) {
        let app = setup.identity_provider(provider_rules()).start().await;
        let mut browser = Browser::new(&app);
        let claims = |name: &str| IdentityClaims { name: PersonName::parse(name).ok(), ..person(&app, "1", ADA) };
        let _ = sign_in_with(&app, &mut browser, claims("Ada L.")).await.expect(303);
        assert!(browser.get("/account").await.expect(200).text.contains(">Ada L.</a>"));
        let _ = submit(&mut browser, "/account/name", &[("name", "Ada")]).await.expect(303);
        let mut again = Browser::new(&app);
        let _ = sign_in_with(&app, &mut again, claims("Ada L.")).await.expect(303);
        assert!(again.get("/account").await.expect(200).text.contains(">Ada</a>"));
    }
}
