//! `GET /documents`

use docent_domain::document::Document;
use docent_tests::member::Member;
use docent_tests::pdf::pdf;
use docent_tests::rules;
use serde_json::{Value, json};
use std::time::Duration;

async fn add(by: &Member, title: &str) {
    let _ = by.post("/documents", json!({ "title": title })).await.expect(201);
}

async fn titles(by: &Member, query: &str) -> Vec<String> {
    let body = by.get(&format!("/documents{query}")).await.expect(200).json();
    let title = |document: &Value| document["title"].as_str().unwrap().to_owned();
    body.as_array().unwrap().iter().map(title).collect()
}

rules! {
    async fn list_returns_all_documents_newest_first(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        assert_eq!(ada.get("/documents").await.expect(200).text, "[]");
        for n in 0..30 {
            app.advance(Duration::from_secs(1));
            add(&ada, &n.to_string()).await;
        }
        let expected: Vec<_> = (0..30).rev().map(|n| n.to_string()).collect();
        assert_eq!(titles(&ada, "").await, expected);
        let first = &ada.get("/documents").await.json()[0];
        let mut keys: Vec<_> = first.as_object().unwrap().keys().cloned().collect();
        keys.sort();
        assert_eq!(keys, ["id", "status", "title", "vector_doc_id"]);
    }

    async fn long_list_without_limit_is_complete(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let mut work = app.ports.store.begin().await.unwrap();
        for n in 1..=1201 {
            let document = docent_testkit::builders::document(n);
            let owner = ada.user.id;
            work.documents().insert(&Document { owner: Some(owner), ..document }).await.unwrap();
        }
        work.commit().await.unwrap();
        let body = ada.get("/documents").await.expect(200).json();
        let ids: Vec<_> = body.as_array().unwrap().iter().map(|document| document["id"].clone()).collect();
        let expected: Vec<_> =
            (1..=1201).rev().map(|n| json!(docent_testkit::builders::document(n).id.to_string())).collect();
        assert_eq!(ids, expected);
        assert_eq!(titles(&ada, "?status=failed").await, [""; 0]);
    }

    async fn pages_cover_the_list_without_gaps(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        for n in 0..5 {
            // Documents with equal times are ordered by ID.
            app.advance(Duration::from_secs(n % 2));
            add(&ada, &format!("t{n}")).await;
        }
        let all = titles(&ada, "").await;
        let (mut path, mut seen) = ("/documents?limit=2&q=t".to_owned(), Vec::new());
        loop {
            let reply = ada.get(&path).await.expect(200);
            let page = reply.json();
            let page: Vec<_> = page.as_array().unwrap().iter().map(|d| d["title"].as_str().unwrap().to_owned()).collect();
            assert!((1..=2).contains(&page.len()));
            seen.extend(page);
            let link = reply.header("link");
            if link.is_empty() {
                assert_eq!(reply.header("x-next-cursor"), "");
                break;
            }
            path = link.strip_prefix('<').unwrap().strip_suffix(">; rel=\"next\"").unwrap().to_owned();
            assert!(path.contains(&format!("cursor={}", reply.header("x-next-cursor"))));
            assert!(path.contains("q=t"), "{path}");
        }
        assert_eq!(seen, all);
    }

    async fn list_filters_by_status_and_title(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        add(&ada, "Report 50%").await;
        let _ = ada.add("Other report.pdf", pdf(&["words"])).await;
        let _ = ada.add("broken.pdf", b"no pdf".to_vec()).await;
        app.run_jobs().await;
        assert_eq!(titles(&ada, "?status=pending").await, ["Report 50%"]);
        assert_eq!(titles(&ada, "?status=ingested").await, ["Other report.pdf"]);
        assert_eq!(titles(&ada, "?status=failed").await, ["broken.pdf"]);
        assert_eq!(titles(&ada, "?q=REPORT").await.len(), 2);
        assert_eq!(titles(&ada, "?q=50%25").await, ["Report 50%"]);
        assert_eq!(titles(&ada, "?q=_").await.len(), 0, "database wildcards are literal");
        assert_eq!(titles(&ada, "?q=report&status=ingested").await, ["Other report.pdf"]);
        assert_eq!(titles(&ada, "?q=&status=&unknown=1").await.len(), 3);
    }

    async fn invalid_parameters_return_422(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        for limit in ["0", "1001", "-1", "x", "1.5"] {
            ada.get(&format!("/documents?limit={limit}")).await.invalid(&["query.limit"]);
        }
        ada.get("/documents?status=gone&cursor=x").await.invalid(&["query.status", "query.cursor"]);
        ada.get(&format!("/documents?q={}", "x".repeat(201))).await.invalid(&["query.q"]);
    }

    async fn documents_can_be_listed_by_failure(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        for (name, file) in [("scan.pdf", pdf(&[""])), ("broken.pdf", b"no pdf".to_vec()), ("good.pdf", pdf(&["words"]))] {
            ada.add(name, file).await;
        }
        app.run_jobs().await;
        assert_eq!(titles(&ada, "?failure=no_extractable_text").await, ["scan.pdf"]);
        assert_eq!(titles(&ada, "?failure=not_a_pdf&status=failed").await, ["broken.pdf"]);
        assert_eq!(titles(&ada, "?failure=not_a_pdf&status=ingested").await, [""; 0]);
        let refused = ada.get("/documents?failure=nonsense").await.expect(422).json();
        assert_eq!(refused["errors"][0]["msg"], "must be a failure code");
    }
}
