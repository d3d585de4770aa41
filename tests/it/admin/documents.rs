//! Documents.

use super::staff;
use docent_domain::permission::Permission;
use docent_ports::error::FaultKind;
use docent_tests::{
    app::TestApp,
    browser::{Browser, form_token},
    member::Member,
    pdf::pdf,
    rules,
};
use serde_json::json;
use std::time::Duration;

const VIEW: &[Permission] = &[Permission::ViewDocument];

async fn titled(member: &Member, title: &str) -> String {
    member.app().advance(Duration::from_secs(1));
    let document = member.post("/documents", json!({ "title": title })).await.expect(201).json();
    document["id"].as_str().unwrap().to_owned()
}

/// The titles of the list's page, in their order.
async fn titles(browser: &mut Browser, query: &str) -> Vec<String> {
    let page = browser.get(&format!("/admin/documents{query}")).await.expect(200).text;
    let links = page.split("<a class=\"row\"").skip(1);
    links.map(|link| link.split_once('>').unwrap().1.split('<').next().unwrap().to_owned()).collect()
}

/// A document with two chunks at least, of ada's.
async fn ingested(app: &TestApp, ada: &Member) -> String {
    let words: Vec<String> = (0..900).map(|n| format!("word{n}")).collect();
    let id = ada.add("Long.pdf", pdf(&["the first page", &words.join(" ")])).await;
    app.run_jobs().await;
    id
}

rules! {
    async fn every_page_takes_its_permission(setup) {
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

    async fn the_list_is_filtered_by_owner_and_ordered(setup) {
        let app = setup.start().await;
        let (mut browser, member) = staff(&app, VIEW).await;
        let ada = app.ada().await;
        for title in ["b", "a"] {
            titled(&ada, title).await;
        }
        titled(&member, "c").await;
        assert_eq!(titles(&mut browser, "").await, ["c", "a", "b"]);
        assert_eq!(titles(&mut browser, "?order=oldest").await, ["b", "a", "c"]);
        assert_eq!(titles(&mut browser, "?order=title").await, ["a", "b", "c"]);
        assert_eq!(titles(&mut browser, "?owner=ada%40example.org").await, ["a", "b"]);
        assert!(titles(&mut browser, "?owner=nobody").await.is_empty());
        let page = browser.get("/admin/documents").await.expect(200).text;
        assert!(page.contains(">ada@example.org</td>") && page.contains("1–3 of 3"), "{page}");
        let _ = browser.get("/admin/documents?order=x").await.expect(422);
    }

    async fn counts_are_exact_and_filters_stay_from_page_to_page(setup) {
        let app = setup.start().await;
        let (mut browser, member) = staff(&app, VIEW).await;
        for n in 0..52 {
            titled(&member, &format!("Paper {n:02}")).await;
        }
        titled(&member, "Other").await;
        let page = browser.get("/admin/documents?q=paper&order=oldest").await.expect(200).text;
        assert!(page.contains("1–50 of 52") && page.contains("q=paper&amp;order=oldest&amp;page=2"), "{page}");
        assert_eq!(titles(&mut browser, "?q=paper&order=oldest&page=2").await, ["Paper 50", "Paper 51"]);
        let beyond = browser.get("/admin/documents?page=9").await.expect(200).text;
        assert!(beyond.contains("No matching documents."));
    }

    async fn the_reason_of_a_failure_is_in_the_list(setup) {
        let app = setup.start().await;
        let (mut browser, member) = staff(&app, VIEW).await;
        member.add("bad.pdf", b"no pdf".to_vec()).await;
        app.run_jobs().await;
        let page = browser.get("/admin/documents?status=failed").await.expect(200).text;
        assert!(page.contains("the file is not a PDF"), "{page}");
    }

    async fn buttons_are_for_who_may_press_them(setup) {
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

    async fn chunks_are_shown_in_their_order(setup) {
        let app = setup.start().await;
        let (mut browser, _) = staff(&app, VIEW).await;
        let ada = app.ada().await;
        let id = ingested(&app, &ada).await;
        let page = browser.get(&format!("/admin/documents/{id}/chunks")).await.expect(200).text;
        let first = page.find("Chunk 0 <small>pages 1–2").unwrap();
        assert!(page.find("Chunk 1 <small>page 2").unwrap() > first, "{page}");
        assert!(page.contains("the first page") && page.contains("word899"));
        let waiting = titled(&ada, "Waiting").await;
        let page = browser.get(&format!("/admin/documents/{waiting}/chunks")).await.expect(200).text;
        assert!(page.contains("The document is pending."));
        for wrong in ["00000000-0000-0000-0000-000000000000", "x"] {
            let _ = browser.get(&format!("/admin/documents/{wrong}/chunks")).await.expect(404);
        }
    }

    async fn a_file_is_downloaded_as_it_was_uploaded(setup) {
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
        let record = titled(&ada, "No file").await;
        let _ = browser.get(&format!("/admin/documents/{record}/file")).await.expect(404);
        app.faults.blobs.fail_all(FaultKind::Unavailable);
        let _ = browser.get(&format!("/admin/documents/{id}/file")).await.expect(503);
    }

    async fn without_seeing_documents_nobody_changes_them_here(setup) {
        let app = setup.start().await;
        let (mut browser, member) = staff(&app, &[Permission::DeleteDocument]).await;
        let token = form_token(&browser.get("/admin").await.expect(200));
        let id = titled(&member, "Mine").await;
        let _ = browser.post(&format!("/admin/documents/{id}/delete"), &[("form_token", &token)]).await.expect(403);
        assert_eq!(member.document(&id).await["status"], "pending");
    }
}
