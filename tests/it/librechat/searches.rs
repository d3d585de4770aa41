//! `POST /librechat/query`, `POST /librechat/query_multiple`

use super::{ADA, BOB, FILE, results};
use docent_tests::librechat::SECRET;
use docent_tests::pdf::pdf;
use docent_tests::rules;
use reqwest::Method;
use serde_json::json;

rules! {
    async fn file_of_another_user_is_not_found(setup) {
        let app = setup.librechat(SECRET).start().await;
        let (ada, bob) = (app.librechat(ADA), app.librechat(BOB));
        let _ = ada.embed(FILE, "a.pdf", pdf(&["zebras"])).await.expect(200);
        for entity in [None, Some("agent_1"), Some(ADA), Some("")] {
            assert_eq!(results(&bob.query(FILE, "zebras", entity).await.expect(200)), [], "{entity:?}");
        }
        assert_eq!(results(&ada.query("unknown", "zebras", None).await.expect(200)), []);
        bob.context(FILE).await.refused(404, "The specified file_id was not found");
        bob.delete(&[FILE]).await.refused(404, "One or more IDs not found");
        // The same ID is another file of another user.
        let _ = bob.embed(FILE, "b.pdf", pdf(&["zebras too"])).await.expect(200);
        assert_eq!(results(&bob.query(FILE, "zebras", None).await.expect(200))[0].1, "b.pdf");
        assert_eq!(results(&ada.query(FILE, "zebras", None).await.expect(200))[0].1, "a.pdf");
    }

    async fn file_of_an_agent_is_found_by_those_who_name_it(setup) {
        let app = setup.librechat(SECRET).start().await;
        let (ada, bob) = (app.librechat(ADA), app.librechat(BOB));
        let request = ada.embed_request(FILE, "a.pdf", pdf(&["zebras"]), Some("agent_1"));
        let _ = app.while_jobs_run(app.send(request)).await.expect(200);
        assert_eq!(results(&bob.query(FILE, "zebras", Some("agent_1")).await.expect(200)).len(), 1);
        for entity in [None, Some("agent_2")] {
            assert_eq!(results(&bob.query(FILE, "zebras", entity).await.expect(200)), [], "{entity:?}");
        }
        assert_eq!(results(&ada.query(FILE, "zebras", None).await.expect(200)).len(), 1);
        // LibreChat keeps a file that it cannot delete.
        let detail = "Only the account that has added this file for an agent can delete it";
        bob.delete(&[FILE]).await.refused(403, detail);
        assert_eq!(results(&bob.query(FILE, "zebras", Some("agent_1")).await.expect(200)).len(), 1);
        let _ = ada.delete(&[FILE]).await.expect(200);
        assert_eq!(results(&bob.query(FILE, "zebras", Some("agent_1")).await.expect(200)), []);
        app.run_jobs().await;
    }

    /// LibreChat sends the whole message of its user, and fails if one of its searches does.
    async fn any_query_is_answered(setup) {
        let app = setup.librechat(SECRET).start().await;
        let ada = app.librechat(ADA);
        let _ = ada.embed(FILE, "a.pdf", pdf(&["zebras"])).await.expect(200);
        assert_eq!(results(&ada.query(FILE, " \n", None).await.expect(200)), []);
        let long = format!("zebras {}", "and more ".repeat(5000));
        assert_eq!(results(&ada.query(FILE, &long, None).await.expect(200)).len(), 1);
    }

    async fn query_has_a_limit_and_valid_fields(setup) {
        let app = setup.librechat(SECRET).start().await;
        let ada = app.librechat(ADA);
        for body in [
            json!({ "query": "a" }),
            json!({ "file_id": FILE }),
            json!({ "file_id": FILE, "query": "a", "k": 0 }),
            json!({ "file_id": FILE, "query": "a", "k": 51 }),
            json!({ "file_id": "", "query": "a" }),
            json!([]),
        ] {
            let reply = app.send(ada.request(Method::POST, "/query").json(&body)).await;
            assert_eq!(reply.status, 422, "{body}");
        }
    }

    async fn several_files_are_searched_together(setup) {
        let app = setup.librechat(SECRET).start().await;
        let (ada, bob) = (app.librechat(ADA), app.librechat(BOB));
        let _ = ada.embed("1", "1.pdf", pdf(&["zebras in herds"])).await.expect(200);
        let _ = ada.embed("2", "2.pdf", pdf(&["zebras and lions"])).await.expect(200);
        let _ = bob.embed("3", "3.pdf", pdf(&["zebras of Bob"])).await.expect(200);
        let query = async |ids: &[&str], query: &str| {
            let body = json!({ "file_ids": ids, "query": query, "k": 4 });
            app.send(ada.request(Method::POST, "/query_multiple").json(&body)).await
        };
        let found = query(&["1", "2", "3", "unknown"], "zebras").await.expect(200);
        let mut names: Vec<String> = results(&found).into_iter().map(|(_, name, ..)| name).collect();
        names.sort_unstable();
        assert_eq!(names, ["1.pdf", "2.pdf"]);
        assert_eq!(results(&query(&["1"], "zebras").await.expect(200)).len(), 1);
        for ids in [&["1"][..], &["3"], &[]] {
            let word = if ids == ["1"] { "lions" } else { "zebras" };
            query(ids, word).await.refused(404, "No documents found for the given query");
        }
    }
}
