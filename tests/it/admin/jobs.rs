//! Jobs.

use super::staff;
use docent_domain::permission::Permission;
use docent_ports::error::FaultKind;
use docent_tests::{pdf::pdf, rules};

rules! {
    async fn jobs_are_filtered_and_lead_to_their_documents(setup) {
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
        let _ = app.send(member.request(reqwest::Method::DELETE, &format!("/documents/{done}"))).await.expect(204);
        let page = browser.get("/admin/jobs?kind=delete").await.expect(200).text;
        assert!(!page.contains(&link(&done)) && page.contains(&done), "what is deleted has no page: {page}");
        app.run_jobs().await;
    }

    async fn a_job_that_failed_says_why_and_when_it_is_tried_again(setup) {
        let app = setup.start().await;
        let (mut browser, member) = staff(&app, &[Permission::ViewJob]).await;
        member.add("a.pdf", pdf(&["words"])).await;
        app.faults.index.fail_next(1, FaultKind::Unavailable);
        app.run_jobs().await;
        let page = browser.get("/admin/jobs?state=queued").await.expect(200).text;
        assert!(page.contains("vector store") && page.contains("due <time"), "{page}");
        app.leave_jobs();
    }
}
