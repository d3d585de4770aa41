//! The audit log: `/admin/audit`.

use super::{at_panel, between, staff_account, staff_with, submit, superuser};
use docent_domain::permission::Permission;
use docent_tests::browser::form_token;
use docent_tests::rules;
use std::time::Duration;

rules! {
    async fn audit_entry_shows_actor_and_changed_values(setup) {
        let app = setup.start().await;
        let mut root = superuser(&app).await;
        let reply = submit(&mut root, "/admin/groups/add", &[("name", "Readers")]).await.expect(303);
        let id = reply.header("location").rsplit('/').next().unwrap().to_owned();
        app.advance(Duration::from_secs(1));
        let fields = [("name", "Writers"), ("permissions", "documents.add_document")];
        let _ = submit(&mut root, &format!("/admin/groups/{id}"), &fields).await.expect(303);
        let history = root.get(&format!("/admin/audit?kind=group&record={id}")).await.expect(200).text;
        assert!(history.contains("1–2 of 2"), "{history}");
        let entry = between(&history, "class=\"row\" href=\"", "\"").to_owned();
        let page = root.get(&entry).await.expect(200).text;
        for text in ["change: Writers", "root@example.org", "127.0.0.1", ">Readers</td>", ">Writers</td>",
            "documents.add_document", &format!("href=\"/admin/groups/{id}\"")]
        {
            assert!(page.contains(text), "{text}: {page}");
        }
        let group = root.get(&format!("/admin/groups/{id}")).await.expect(200).text;
        assert!(group.contains(&format!("href=\"/admin/audit?kind=group&amp;record={id}\"")), "{group}");
    }

    async fn audit_log_filters_narrow_the_list(setup) {
        let app = setup.start().await;
        let mut root = superuser(&app).await;
        staff_account(&app, "ada@example.org", &[]).await;
        let _ = at_panel(&app, "ada@example.org").await;
        let today = app.app.now().format("%Y-%m-%d").to_string();
        for (query, count) in [
            ("who=ada@example.org".to_owned(), 1),
            ("who=unknown@example.org".to_owned(), 0),
            ("deed=login".to_owned(), 2),
            ("kind=user&deed=add".to_owned(), 2),
            ("kind=document".to_owned(), 0),
            (format!("deed=login&from={today}&to={today}"), 2),
            ("to=2001-01-01".to_owned(), 0),
            ("record=x".to_owned(), 0),
        ] {
            let list = root.get(&format!("/admin/audit?{query}")).await.expect(200).text;
            assert_eq!(list.matches("class=\"row\" href=\"/admin/audit/").count(), count, "{query}: {list}");
            assert_eq!(list.contains("No matching entries."), count == 0, "{query}");
        }
        for wrong in ["deed=x", "kind=x", "from=x", "to=x"] {
            let _ = root.get(&format!("/admin/audit?{wrong}")).await.expect(422);
        }
    }

    async fn audit_log_requires_permission_and_is_read_only(setup) {
        let app = setup.start().await;
        let mut root = superuser(&app).await;
        let log = root.get("/admin/audit").await.expect(200);
        let entry = between(&log.text, "class=\"row\" href=\"", "\"").to_owned();
        let token = form_token(&log);
        for path in ["/admin/audit", &entry] {
            let _ = root.post(path, &[("form_token", &token)]).await.expect(405);
        }
        let mut staff = staff_with(&app, &[]).await;
        for path in ["/admin/audit", &entry] {
            assert!(!staff.get(path).await.expect(403).text.contains("root@example.org"));
        }
        staff_account(&app, "auditor@example.org", &[Permission::ViewAuditEntry]).await;
        let mut auditor = at_panel(&app, "auditor@example.org").await;
        let page = auditor.get(&entry).await.expect(200).text;
        assert!(page.contains("root@example.org") && !page.contains("href=\"/admin/users/"), "links that the account cannot open are omitted");
        let page = root.get(&entry).await.expect(200).text;
        assert!(page.contains("href=\"/admin/users/"));
        for missing in ["/admin/audit/x", "/admin/audit/00000000-0000-0000-0000-000000000000"] {
            let _ = auditor.get(missing).await.expect(404);
        }
    }
}
