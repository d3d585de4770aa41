//! Jobs in the panel: `/admin/jobs`.

use super::staff;
use docent_domain::fault::FaultKind;
use docent_domain::permission::Permission;
use docent_tests::pdf::pdf;
use docent_tests::rules;

rules! {
    async fn job_list_filters_and_links_to_documents(setup) {
        let app = setup.start().await;
        let (mut browser, member) = staff(&app, &[Permission::ViewJob, Permission::ViewDocument]).await;
        assert!(browser.get("/admin/jobs").await.expect(200).text.contains("No jobs."));
        let done = member.add("<b>a.pdf", pdf(&["words"])).await;
        app.run_jobs().await;
        let waiting = member.add("b.pdf", pdf(&["more"])).await;
        let link = |id: &str| format!("/admin/documents/{id}");
        let page = browser.get("/admin/jobs").await.expect(200).text;
        assert!(page.contains(&link(&done)) && page.contains(&link(&waiting)) && page.contains("1–2 of 2"), "{page}");
        let page = browser.get("/admin/jobs?state=queued&kind=ingest").await.expect(200).text;
        assert!(!page.contains(&link(&done)) && page.contains(&link(&waiting)));
        assert!(page.contains(&format!("title=\"{waiting}\" dir=\"auto\">b.pdf</a>")), "{page}");
        assert!(browser.get("/admin/jobs?kind=delete").await.expect(200).text.contains("No matching jobs."));
        let _ = browser.get("/admin/jobs?state=x").await.expect(422);
        app.permit(member.user.id, &[Permission::ViewJob]).await;
        let page = browser.get("/admin/jobs").await.expect(200).text;
        assert!(!page.contains(&link(&done)) && !page.contains("a.pdf") && page.contains(&done), "{page}");
        app.permit(member.user.id, &[Permission::ViewJob, Permission::ViewDocument]).await;
        let _ = member.delete(&format!("/documents/{done}")).await.expect(204);
        let page = browser.get("/admin/jobs?kind=delete").await.expect(200).text;
        assert!(!page.contains(&link(&done)) && page.contains(&done), "a deleted document has no page: {page}");
        app.run_jobs().await;
    }

    async fn failed_job_shows_reason_and_next_attempt(setup) {
        let app = setup.start().await;
        let (mut browser, member) = staff(&app, &[Permission::ViewJob]).await;
        member.add("a.pdf", pdf(&["words"])).await;
        app.faults.index.fail_next(1, FaultKind::Unavailable);
        app.run_jobs().await;
        let page = browser.get("/admin/jobs?state=queued").await.expect(200).text;
        assert!(page.contains("vector store") && page.contains("due <time"), "{page}");
        app.leave_jobs();
    }

    async fn job_of_a_failed_document_is_marked_and_can_be_listed(setup) {
        let app = setup.start().await;
        let (mut browser, member) = staff(&app, &[Permission::ViewJob, Permission::ViewDocument]).await;
        let done = member.add("good.pdf", pdf(&["words"])).await;
        let failed = member.add("broken.pdf", b"no pdf".to_vec()).await;
        app.run_jobs().await;
        let page = browser.get("/admin/jobs?state=failed").await.expect(200).text;
        assert!(page.contains(&failed) && !page.contains(&done), "{page}");
        assert!(page.contains("<span class=\"pill bad\">failed</span>") && page.contains("not a PDF"), "{page}");
        let page = browser.get("/admin/jobs?state=done").await.expect(200).text;
        assert!(page.contains(&done) && !page.contains(&failed), "{page}");
    }
}
