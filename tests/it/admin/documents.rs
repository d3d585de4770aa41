//! Documents in the panel: `/admin/documents`.

use super::{between, staff, submit};
use docent_domain::fault::FaultKind;
use docent_domain::permission::Permission;
use docent_tests::app::TestApp;
use docent_tests::browser::{Browser, form_token};
use docent_tests::member::Member;
use docent_tests::pdf::pdf;
use docent_tests::rules;
use serde_json::json;
use std::time::Duration;

const VIEW: &[Permission] = &[Permission::ViewDocument];

/// Creates a document record one second later and returns its ID.
async fn create_record(member: &Member, title: &str) -> String {
    member.app().advance(Duration::from_secs(1));
    let document = member.post("/documents", json!({ "title": title })).await.expect(201).json();
    document["id"].as_str().unwrap().to_owned()
}

/// Creates a shared collection and returns its ID.
async fn create_collection(by: &Member, name: &str) -> String {
    let collection = by.post("/collections", json!({ "name": name })).await.expect(201).json();
    collection["id"].as_str().unwrap().to_owned()
}

/// Returns the titles on the list page, in order.
async fn titles(browser: &mut Browser, query: &str) -> Vec<String> {
    let page = browser.get(&format!("/admin/documents{query}")).await.expect(200).text;
    let links = page.split("<a class=\"row\"").skip(1);
    links.map(|link| link.split_once('>').unwrap().1.split('<').next().unwrap().to_owned()).collect()
}

/// Uploads and ingests a document of at least two chunks and returns its ID.
async fn add_long_document(app: &TestApp, ada: &Member) -> String {
    let words: Vec<String> = (0..900).map(|n| format!("word{n}")).collect();
    let id = ada.add("Long.pdf", pdf(&["the first page", &words.join(" ")])).await;
    app.run_jobs().await;
    id
}

rules! {
    async fn page_requires_its_permission(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let id = ada.add("a.pdf", pdf(&["words"])).await;
        app.run_jobs().await;
        let (mut browser, member) = staff(&app, &[]).await;
        let own = format!("/admin/documents/{id}");
        let pages = [
            ("/admin/documents".to_owned(), Permission::ViewDocument),
            (own.clone(), Permission::ViewDocument),
            (format!("{own}/chunks"), Permission::ViewDocument),
            (format!("{own}/file"), Permission::ViewDocument),
            ("/admin/documents/upload".to_owned(), Permission::AddDocument),
            ("/admin/jobs".to_owned(), Permission::ViewJob),
            ("/admin/usage".to_owned(), Permission::ViewUsage),
            ("/admin/usage.csv".to_owned(), Permission::ViewUsage),
            ("/admin/conversations".to_owned(), Permission::ViewConversation),
        ];
        let all: Vec<_> = Permission::ALL.to_vec();
        for (path, permission) in &pages {
            app.permit(member.user.id, &all.iter().copied().filter(|other| other != permission).collect::<Vec<_>>()).await;
            let _ = browser.get(path).await.expect(403);
            app.permit(member.user.id, &[*permission]).await;
            let _ = browser.get(path).await.expect(200);
        }
    }

    async fn document_list_filters_by_owner_and_sorts(setup) {
        let app = setup.start().await;
        let (mut browser, member) = staff(&app, VIEW).await;
        let ada = app.ada().await;
        for title in ["b", "a"] {
            create_record(&ada, title).await;
        }
        create_record(&member, "c").await;
        assert_eq!(titles(&mut browser, "").await, ["c", "a", "b"]);
        assert_eq!(titles(&mut browser, "?order=oldest").await, ["b", "a", "c"]);
        assert_eq!(titles(&mut browser, "?order=title").await, ["a", "b", "c"]);
        assert_eq!(titles(&mut browser, "?owner=ada%40example.org").await, ["a", "b"]);
        assert!(titles(&mut browser, "?owner=unknown").await.is_empty());
        let page = browser.get("/admin/documents").await.expect(200).text;
        assert!(page.contains(">ada@example.org</td>") && page.contains("1–3 of 3"), "{page}");
        let _ = browser.get("/admin/documents?order=x").await.expect(422);
    }

    async fn document_list_filters_by_collection(setup) {
        let app = setup.start().await;
        let (mut browser, member) = staff(&app, VIEW).await;
        let ada = app.ada().await;
        let (own, hers) = (create_collection(&member, "Own").await, create_collection(&ada, "Hers").await);
        for (by, collection, title) in [(&member, &own, "a"), (&ada, &hers, "b")] {
            let document = create_record(by, title).await;
            let _ = by.patch(&format!("/documents/{document}"), json!({ "collection_ids": [collection] })).await.expect(200);
        }
        create_record(&ada, "c").await;
        assert_eq!(titles(&mut browser, &format!("?collection={own}")).await, ["a"]);
        let page = browser.get("/admin/documents").await.expect(200).text;
        assert!(page.contains(">Own</option>") && !page.contains(">Hers</option>"), "{page}");
        // The filter of a link, also for staff without a role on the collection.
        assert_eq!(titles(&mut browser, &format!("?collection={hers}")).await, ["b"]);
        let page = browser.get(&format!("/admin/documents?collection={hers}")).await.expect(200).text;
        assert!(page.contains("selected>Hers</option>"), "{page}");
        let _ = browser.get("/admin/documents?collection=x").await.expect(422);
    }

    async fn document_page_shows_collections_and_changes_attributes(setup) {
        let app = setup.start().await;
        let (mut browser, member) = staff(&app, VIEW).await;
        let ada = app.ada().await;
        let (mine, hers) = (create_record(&member, "mine").await, create_record(&ada, "hers").await);
        let secret = create_collection(&ada, "Secret").await;
        let _ = ada.patch(&format!("/documents/{hers}"), json!({ "collection_ids": [secret], "attributes": { "year": 2024 } })).await.expect(200);
        let page = browser.get(&format!("/admin/documents/{hers}")).await.expect(200).text;
        assert!(page.contains("<li dir=\"auto\">Secret</li>") && page.contains("<dt dir=\"auto\">year</dt><dd dir=\"auto\">2024</dd>"), "{page}");
        assert!(!page.contains("Save attributes") && !page.contains("value=\"move\""));

        let address = format!("/admin/documents/{mine}");
        let page = browser.get(&address).await.expect(200).text;
        assert!(page.contains("href=\"/admin/collections/00000000-0000-0000-0000-000000000001\">Everyone</a>"), "{page}");
        assert!(page.contains("Save attributes") && page.contains("value=\"move\""));
        assert_eq!(page.matches("name=\"key\"").count(), 3);
        let save = format!("{address}/attributes");
        let seen = between(&page, "name=\"seen\" value=\"", "\"").to_owned();
        let rows = [
            ("key", "kind"), ("type", "text"), ("value", "<offer>"),
            ("key", "year"), ("type", "number"), ("value", "2025"),
            ("key", "final"), ("type", "boolean"), ("value", "yes"),
            ("key", ""), ("type", "text"), ("value", ""),
        ];
        let _ = submit(&mut browser, &save, &rows).await.expect(303);
        let attributes = member.get(&format!("/documents/{mine}/report")).await.expect(200).json()["attributes"].clone();
        assert_eq!(attributes, json!({ "kind": "<offer>", "year": 2025, "final": true }));
        let page = browser.get(&address).await.expect(200).text;
        assert!(page.contains("The attributes were saved.") && page.contains("value=\"&lt;offer&gt;\""), "{page}");
        assert_eq!(page.matches("name=\"key\"").count(), 6);
        let wrong = [("key", "year"), ("type", "number"), ("value", "soon"), ("key", "title"), ("type", "text"), ("value", "x")];
        let page = submit(&mut browser, &save, &wrong).await.expect(422).text;
        assert!(page.contains("year: the value must be a number.") && page.contains("value=\"soon\""), "{page}");
        let page = submit(&mut browser, &save, &wrong[3..]).await.expect(422).text;
        assert!(page.contains("is a built-in attribute"), "{page}");
        let stale = [("seen", seen.as_str()), rows[0], rows[1], rows[2]];
        let _ = submit(&mut browser, &save, &stale).await.expect(303);
        assert!(browser.get(&address).await.expect(200).text.contains("changed by someone else"));
        let _ = submit(&mut browser, &save, &[]).await.expect(303);
        let _ = submit(&mut browser, &format!("/admin/documents/{hers}/attributes"), &rows).await.expect(404);
        let attributes = member.get(&format!("/documents/{mine}/report")).await.expect(200).json()["attributes"].clone();
        assert_eq!(attributes, json!({}));
    }

    async fn document_list_pages_keep_filters_and_exact_counts(setup) {
        let app = setup.start().await;
        let (mut browser, member) = staff(&app, VIEW).await;
        for n in 0..52 {
            create_record(&member, &format!("Paper {n:02}")).await;
        }
        create_record(&member, "Other").await;
        let page = browser.get("/admin/documents?q=paper&order=oldest").await.expect(200).text;
        assert!(page.contains("1–50 of 52") && page.contains("q=paper&amp;order=oldest&amp;page=2"), "{page}");
        assert_eq!(titles(&mut browser, "?q=paper&order=oldest&page=2").await, ["Paper 50", "Paper 51"]);
        let beyond = browser.get("/admin/documents?page=9").await.expect(200).text;
        assert!(beyond.contains("No matching documents."));
    }

    async fn document_list_shows_the_failure_reason(setup) {
        let app = setup.start().await;
        let (mut browser, member) = staff(&app, VIEW).await;
        member.add("bad.pdf", b"no pdf".to_vec()).await;
        app.run_jobs().await;
        let page = browser.get("/admin/documents?status=failed").await.expect(200).text;
        assert!(page.contains("the file is not a PDF"), "{page}");
    }

    async fn buttons_require_their_permission(setup) {
        let app = setup.start().await;
        let (mut browser, member) = staff(&app, VIEW).await;
        let ada = app.ada().await;
        let id = ada.add("a.pdf", b"no pdf".to_vec()).await;
        app.run_jobs().await;
        let path = format!("/admin/documents/{id}");
        let list = "/admin/documents";
        for (permission, path, text) in [
            (Permission::AddDocument, list, "Upload documents"),
            (Permission::ChangeDocument, list, "value=\"retry\""),
            (Permission::DeleteDocument, list, "value=\"delete\""),
            (Permission::ChangeDocument, &path, "Retry the ingestion"),
            (Permission::DeleteDocument, &path, "Delete permanently"),
            (Permission::ViewAuditEntry, &path, "History"),
            (Permission::ViewJob, &path, "<h2>Jobs</h2>"),
        ] {
            app.permit(member.user.id, VIEW).await;
            assert!(!browser.get(path).await.expect(200).text.contains(text), "{text} without the permission");
            app.permit(member.user.id, &[Permission::ViewDocument, permission]).await;
            assert!(browser.get(path).await.expect(200).text.contains(text), "{text} with the permission");
        }
    }

    async fn chunks_are_listed_in_document_order(setup) {
        let app = setup.start().await;
        let (mut browser, _) = staff(&app, VIEW).await;
        let ada = app.ada().await;
        let id = add_long_document(&app, &ada).await;
        let page = browser.get(&format!("/admin/documents/{id}/chunks")).await.expect(200).text;
        let first = page.find("Chunk 0 <small>pages 1–2").unwrap();
        assert!(page.find("Chunk 1 <small>page 2").unwrap() > first, "{page}");
        assert!(page.contains("the first page") && page.contains("word899"));
        let waiting = create_record(&ada, "Waiting").await;
        let page = browser.get(&format!("/admin/documents/{waiting}/chunks")).await.expect(200).text;
        assert!(page.contains("The status of the document is “Processing”."));
        for wrong in ["00000000-0000-0000-0000-000000000000", "x"] {
            let _ = browser.get(&format!("/admin/documents/{wrong}/chunks")).await.expect(404);
        }
    }

    async fn downloaded_file_equals_the_upload(setup) {
        let app = setup.start().await;
        let (mut browser, _) = staff(&app, VIEW).await;
        let ada = app.ada().await;
        let text = "%PDF no more than text".to_owned();
        let id = ada.add("Café \"x\".pdf", text.clone().into_bytes()).await;
        app.run_jobs().await;
        let file = browser.get(&format!("/admin/documents/{id}/file")).await.expect(200);
        assert_eq!(file.text, text);
        assert_eq!(file.header("content-length"), text.len().to_string());
        assert_eq!(file.header("content-type"), "application/pdf");
        assert_eq!(file.header("x-content-type-options"), "nosniff");
        let disposition = file.header("content-disposition");
        assert!(disposition.starts_with("attachment; filename=\"Caf_ _x_.pdf\"; filename*=UTF-8''Caf%C3%A9"), "{disposition}");
        let record = create_record(&ada, "No file").await;
        let _ = browser.get(&format!("/admin/documents/{record}/file")).await.expect(404);
        app.faults.blobs.fail_all(FaultKind::Unavailable);
        let _ = browser.get(&format!("/admin/documents/{id}/file")).await.expect(503);
    }

    async fn document_action_without_view_permission_is_refused(setup) {
        let app = setup.start().await;
        let (mut browser, member) = staff(&app, &[Permission::DeleteDocument]).await;
        let token = form_token(&browser.get("/admin").await.expect(200));
        let id = create_record(&member, "Mine").await;
        let _ = browser.post(&format!("/admin/documents/{id}/delete"), &[("form_token", &token)]).await.expect(403);
        assert_eq!(member.document(&id).await["status"], "pending");
    }

    async fn document_without_text_on_most_pages_is_ready_with_a_warning(setup) {
        let app = setup.start().await;
        let (mut browser, member) = staff(&app, VIEW).await;
        let partly = member.add("partly.pdf", pdf(&["words", "", ""])).await;
        let half = member.add("half.pdf", pdf(&["words", ""])).await;
        app.run_jobs().await;
        let warning = "<span class=\"pill pending\">Ready, 2 of 3 pages without text</span>";
        let list = browser.get("/admin/documents").await.expect(200).text;
        assert_eq!(list.matches("pages without text").count(), 1, "{list}");
        assert!(list.contains(warning), "{list}");
        let page = browser.get(&format!("/admin/documents/{partly}")).await.expect(200).text;
        assert!(page.contains("Ready, 2 of 3 pages without text</span>"), "{page}");
        let page = browser.get(&format!("/admin/documents/{half}")).await.expect(200).text;
        assert!(page.contains("data-status>Ready</span>"), "{page}");
    }

    async fn retry_says_that_it_is_queued(setup) {
        let app = setup.start().await;
        let (mut browser, member) = staff(&app, &[Permission::ViewDocument, Permission::ChangeDocument]).await;
        let id = member.add("broken.pdf", b"no pdf".to_vec()).await;
        app.run_jobs().await;
        let path = format!("/admin/documents/{id}");
        let _ = submit(&mut browser, &format!("{path}/retry"), &[]).await.expect(303);
        let page = browser.get(&path).await.expect(200).text;
        assert!(page.contains("The retry is queued."), "{page}");
        assert!(page.contains("data-progress") && page.contains("data-status>Processing</span>"), "{page}");
        app.run_jobs().await;
    }
}
