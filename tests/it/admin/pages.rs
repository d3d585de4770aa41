//! Pages that every staff account uses: dashboard, document list and document.

use docent_domain::fault::FaultKind;
use docent_domain::permission::Permission;
use docent_tests::app::TestApp;
use docent_tests::browser::{Browser, form_token};
use docent_tests::member::Member;
use docent_tests::pdf::pdf;
use docent_tests::rules;
use serde_json::json;
use std::time::Duration;

/// Signs in a staff account that can view documents, jobs and usage, to the panel and the API.
async fn staff(app: &TestApp) -> (Browser, Member) {
    super::staff(app, &[Permission::ViewDocument, Permission::ViewJob, Permission::ViewUsage]).await
}

rules! {
    async fn page_without_a_session_redirects_to_login(setup) {
        let app = setup.start().await;
        for path in ["/admin", "/admin/", "/admin/documents", "/admin/documents/x"] {
            let reply = app.get(path).await.expect(303);
            assert!(reply.header("location").starts_with("/admin/login"));
            assert_eq!(reply.text, "");
        }
        let page = app.get("/admin/nothing").await.expect(404);
        assert!(page.text.contains("Page not found"));
    }

    async fn dashboard_shows_counts_and_recent_failures(setup) {
        let app = setup.start().await;
        let (mut browser, member) = staff(&app).await;
        let page = browser.get("/admin").await.expect(200);
        assert!(page.text.contains("No failed documents."));
        member.add("good.pdf", pdf(&["words"])).await;
        member.add("bad.pdf", b"no pdf".to_vec()).await;
        app.run_jobs().await;
        let _ = member.post("/documents", json!({ "title": "t" })).await.expect(201);
        member.add("waiting.pdf", pdf(&["words"])).await;
        let page = browser.get("/admin").await.expect(200).text;
        for text in ["<b>4</b><span>Documents", "<b>1</b><span>Jobs waiting", "bad.pdf", "the file is not a PDF"] {
            assert!(page.contains(text), "{text}: {page}");
        }
        app.run_jobs().await;
    }

    async fn dashboard_names_the_component_that_is_down(setup) {
        let app = setup.start().await;
        let (mut browser, _) = staff(&app).await;
        app.faults.index.fail_all(FaultKind::Unavailable);
        let page = browser.get("/admin").await.expect(200).text;
        assert!(page.contains("The vector store cannot be reached"));
    }

    async fn page_without_database_returns_503(setup) {
        let app = setup.start().await;
        let (mut browser, _) = staff(&app).await;
        app.faults.database.all.fail_all(FaultKind::Unavailable);
        let page = browser.get("/admin").await.expect(503);
        assert!(page.text.contains("The database cannot be reached"));
        assert!(page.header("content-type").starts_with("text/html"));
    }

    async fn document_list_searches_filters_and_pages(setup) {
        let app = setup.start().await;
        let (mut browser, member) = staff(&app).await;
        assert!(browser.get("/admin/documents").await.expect(200).text.contains("No documents yet."));
        for n in 0..60 {
            app.advance(Duration::from_secs(1));
            let _ = member.post("/documents", json!({ "title": format!("Paper {n:02}") })).await.expect(201);
        }
        let first = browser.get("/admin/documents?q=paper").await.expect(200).text;
        assert!(first.contains("Paper 59") && first.contains("Paper 10") && !first.contains("Paper 09"));
        let next = first.split("<a href=\"").find(|link| link.contains("rel=\"next\"")).unwrap();
        let next = next.split('"').next().unwrap().replace("&amp;", "&").replace("&#x2F;", "/");
        let second = browser.get(&next).await.expect(200).text;
        assert!(second.contains("Paper 09") && second.contains("Paper 00") && !second.contains("Paper 10"));
        assert!(second.contains("value=\"paper\""), "filters stay");
        let none = browser.get("/admin/documents?status=failed").await.expect(200).text;
        assert!(none.contains("No matching documents."));
        let _ = browser.get("/admin/documents?status=x").await.expect(422);
    }

    async fn document_page_shows_pages_and_jobs(setup) {
        let app = setup.start().await;
        let (mut browser, member) = staff(&app).await;
        let id = member.add("pages.pdf", pdf(&["words", "", "", "more words"])).await;
        let waiting = browser.get(&format!("/admin/documents/{id}")).await.expect(200).text;
        assert!(waiting.contains("No extraction result yet.") && waiting.contains("queued"));
        app.run_jobs().await;
        let page = browser.get(&format!("/admin/documents/{id}")).await.expect(200).text;
        for text in ["4, 2 with text", "<dd>2–3</dd>", "pages.pdf", ">done</span>"] {
            assert!(page.contains(text), "{text}: {page}");
        }
        for wrong in ["00000000-0000-0000-0000-000000000000", "x"] {
            let page = browser.get(&format!("/admin/documents/{wrong}")).await.expect(404);
            assert!(page.text.contains("Document not found"));
        }
    }

    async fn document_titles_are_escaped(setup) {
        let app = setup.start().await;
        let (mut browser, member) = staff(&app).await;
        let title = "<script>alert(1)</script><img src=x onerror=y>\"'&";
        let document = member.post("/documents", json!({ "title": title })).await.expect(201).json();
        let id = document["id"].as_str().unwrap();
        for path in ["/admin/documents".to_owned(), format!("/admin/documents/{id}")] {
            let page = browser.get(&path).await.expect(200).text;
            assert!(page.contains("&lt;script&gt;"));
            assert!(!page.contains("<script>") && !page.contains("<img"));
        }
    }

    async fn pages_load_only_own_styles_and_scripts(setup) {
        let app = setup.start().await;
        let (mut browser, _) = staff(&app).await;
        let page = browser.get("/admin").await.expect(200);
        let policy = page.header("content-security-policy");
        assert!(policy.contains("default-src 'none'") && policy.contains("style-src 'self'"));
        assert!(policy.contains("script-src 'self'") && !policy.contains("unsafe"));
        for script in page.text.split("<script").skip(1) {
            assert!(script.starts_with(" type=\"module\" src=\"/admin/") && script.contains("\"></script>"));
        }
        assert_eq!(page.header("cache-control"), "no-store");
        let style = app.get("/admin/admin.css").await.expect(200);
        assert_eq!(style.header("content-type"), "text/css; charset=utf-8");
        assert!(style.text.len() < 25 * 1024);
        for script in ["/admin/admin.js", "/admin/picker.js", "/admin/messages.js"] {
            let script = app.get(script).await.expect(200);
            assert_eq!(script.header("content-type"), "text/javascript; charset=utf-8");
        }
    }

    async fn failed_document_can_be_retried_and_deleted(setup) {
        let app = setup.start().await;
        let (mut browser, member) = staff(&app).await;
        let id = member.add("a.pdf", pdf(&["words", ""])).await;
        app.faults.index.fail_next(1, FaultKind::Rejected);
        app.run_jobs().await;
        let path = format!("/admin/documents/{id}");
        let page = browser.get(&path).await.expect(200);
        assert!(page.text.contains("Retry the ingestion"), "{}", page.text);
        let token = form_token(&page);
        for action in ["retry", "delete"] {
            let _ = browser.post(&format!("{path}/{action}"), &[("form_token", "wrong")]).await.expect(403);
        }
        let reply = browser.post(&format!("{path}/retry"), &[("form_token", &token)]).await.expect(303);
        assert_eq!(reply.header("location"), path);
        let _ = browser.post(&format!("{path}/retry"), &[("form_token", &token)]).await.expect(409);
        app.run_jobs().await;
        let page = browser.get(&path).await.expect(200).text;
        assert!(page.contains("1 of 2 pages: no text") && page.contains("Embedding"), "{page}");
        assert!(!page.contains("Retry the ingestion"));
        let reply = browser.post(&format!("{path}/delete"), &[("form_token", &token)]).await.expect(303);
        assert_eq!(reply.header("location"), "/admin/documents");
        let _ = browser.get(&path).await.expect(404);
        app.run_jobs().await;
    }

    async fn document_action_without_permission_is_refused(setup) {
        let app = setup.start().await;
        let (mut browser, _) = staff(&app).await;
        let ada = app.ada().await;
        let id = ada.add("a.pdf", b"no pdf".to_vec()).await;
        app.run_jobs().await;
        let path = format!("/admin/documents/{id}");
        let page = browser.get(&path).await.expect(200);
        assert!(!page.text.contains("Delete permanently") && !page.text.contains("Retry the ingestion"));
        let token = form_token(&page);
        for action in ["retry", "delete"] {
            let _ = browser.post(&format!("{path}/{action}"), &[("form_token", &token)]).await.expect(403);
        }
        assert_eq!(ada.document(&id).await["status"], "failed");
    }
}
