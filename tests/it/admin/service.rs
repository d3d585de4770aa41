//! The state of the service in the panel: `/admin/service`.

use super::staff_with;
use docent_app::maintenance::backup::{BackupOptions, save};
use docent_app::maintenance::progress::NoProgress;
use docent_domain::audit::AuditAction;
use docent_domain::fault::FaultKind;
use docent_domain::listing::AuditFilter;
use docent_domain::permission::Permission;
use docent_tests::app::TestApp;
use docent_tests::browser::{Browser, form_token};
use docent_tests::pdf::pdf;
use docent_tests::rules;
use reqwest::Method;
use std::time::Duration;

const PAGE: &str = "/admin/service";

async fn test(browser: &mut Browser, component: &str) -> String {
    let token = form_token(&browser.get(PAGE).await.expect(200));
    browser.post(PAGE, &[("form_token", &token), ("component", component)]).await.expect(200).text
}

/// The row of a component.
fn row<'p>(page: &'p str, name: &str) -> &'p str {
    super::between(page, &format!("data-label=\"Component\">{name}</td>"), "</tr>")
}

async fn backup(app: &TestApp) {
    let options = BackupOptions { program: "test".to_owned(), schema: "test".to_owned(), chunks: false };
    let folder = tempfile::tempdir().unwrap();
    let writer = docent_services::archive::TarWriter::create(&folder.path().join("a.tar.gz")).unwrap();
    save(&app.app, options, Box::new(writer), &NoProgress).await.unwrap();
}

rules! {
    async fn page_says_what_is_not_configured(setup) {
        let app = setup.builtin_answerer().start().await;
        let mut browser = staff_with(&app, &[Permission::ViewJob]).await;
        let page = browser.get(PAGE).await.expect(200).text;
        assert!(page.contains(env!("CARGO_PKG_VERSION")) && page.contains("The database schema is current"), "{page}");
        assert!(row(&page, "Chat model").contains("answers are quotes from documents"), "{page}");
        assert!(row(&page, "Text recognizer").contains("scans fail"), "{page}");
        assert!(!row(&page, "Chat model").contains("<button"), "{page}");
        assert!(row(&page, "Mail server").contains("connected; emails test it"), "{page}");
        assert!(page.contains("docent backup FILE"), "{page}");
    }

    async fn tests_say_which_component_fails(setup) {
        let app = setup.builtin_answerer().start().await;
        let mut browser = staff_with(&app, &[Permission::ViewJob]).await;
        let page = test(&mut browser, "").await;
        assert!(page.contains("All tested components work."), "{page}");
        app.faults.blobs.fail_all(FaultKind::Unavailable);
        app.faults.embedder.fail_all(FaultKind::Timeout);
        let page = test(&mut browser, "").await;
        assert!(page.contains("2 components do not work."), "{page}");
        for name in ["Blob store", "Embedding back end"] {
            assert!(row(&page, name).contains("failed"), "{name}: {page}");
        }
        assert!(row(&page, "Vector store").contains("works"), "{page}");
        let page = test(&mut browser, "vector_store").await;
        assert!(page.contains("All tested components work.") && !row(&page, "Blob store").contains("failed"), "{page}");
        let _ = browser.post(PAGE, &[("form_token", "wrong")]).await.expect(403);
    }

    async fn queue_without_workers_is_shown(setup) {
        let app = setup.start().await;
        let mut browser = staff_with(&app, &[Permission::ViewJob]).await;
        assert!(browser.get(PAGE).await.expect(200).text.contains("none seen yet"));
        app.ada().await.add("a.pdf", pdf(&["words"])).await;
        app.advance(Duration::from_secs(120));
        let page = browser.get(PAGE).await.expect(200).text;
        assert!(page.contains("1 waiting, 0 running") && page.contains("no worker takes it"), "{page}");
        app.run_jobs().await;
        let page = browser.get(PAGE).await.expect(200).text;
        assert!(page.contains("0 waiting, 0 running") && page.contains("last seen"), "{page}");
    }

    async fn untrusted_proxy_is_shown(setup) {
        let app = setup.start().await;
        let mut browser = staff_with(&app, &[Permission::ViewJob]).await;
        assert!(!browser.get(PAGE).await.expect(200).text.contains("not trusted"));
        let forwarded = app.request(Method::GET, "/status").header("X-Forwarded-For", "192.0.2.1");
        let _ = app.send(forwarded).await.expect(200);
        let page = browser.get(PAGE).await.expect(200).text;
        assert!(page.contains("not trusted") && page.contains("Requests from 127.0.0.1 name"), "{page}");
    }

    async fn trusted_proxy_is_not_shown(setup) {
        let app = setup.http(|http| http.trusted_proxies = vec!["127.0.0.0/8".parse().unwrap()]).start().await;
        let mut browser = staff_with(&app, &[Permission::ViewJob]).await;
        let forwarded = app.request(Method::GET, "/status").header("X-Forwarded-For", "192.0.2.1");
        let _ = app.send(forwarded).await.expect(200);
        assert!(!browser.get(PAGE).await.expect(200).text.contains("not trusted"));
    }

    async fn last_backup_is_shown_and_audited(setup) {
        let app = setup.start().await;
        let mut browser = staff_with(&app, &[Permission::ViewJob]).await;
        backup(&app).await;
        app.advance(Duration::from_secs(600));
        let page = browser.get(PAGE).await.expect(200).text;
        assert!(super::between(&page, "Last backup", "</dd>").contains("10 minutes ago"), "{page}");
        let backups = AuditFilter { action: Some(AuditAction::Backup), ..AuditFilter::default() };
        let [entry] = &*app.audit(backups).await else { panic!("no entry") };
        assert_eq!(entry.changes["documents"].after.as_deref(), Some("0"));
    }
}
