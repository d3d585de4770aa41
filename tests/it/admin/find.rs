//! Search for pages and records in the panel: `/admin/find`.

use super::{at_panel, staff_with, submit, superuser};
use docent_domain::permission::Permission;
use docent_tests::pdf::pdf;
use docent_tests::rules;
use serde_json::json;

rules! {
    async fn records_of_each_kind_are_found_by_name(setup) {
        let app = setup.start().await;
        let mut root = superuser(&app).await;
        let ada = app.ada().await;
        let document = ada.add("Zebras.pdf", pdf(&["words"])).await;
        app.run_jobs().await;
        let _ = submit(&mut root, "/admin/groups/add", &[("name", "Zebra keepers")]).await.expect(303);
        let _ = submit(&mut root, "/admin/collections/add", &[("name", "About zebras")]).await.expect(303);
        let fields = [("name", "zebra import"), ("scopes", "read")];
        let _ = submit(&mut root, "/admin/api-keys/add", &fields).await.expect(200);
        let page = root.get("/admin/find?q=ZEBRA").await.expect(200).text;
        for found in ["Zebra keepers", "About zebras", "zebra import", &format!("/admin/documents/{document}")] {
            assert!(page.contains(found), "{found}: {page}");
        }
        let page = root.get("/admin/find?q=ada@example").await.expect(200).text;
        assert!(page.contains(&format!("/admin/users/{}", ada.user.id)), "{page}");
        let page = root.get("/admin/find?q=usage").await.expect(200).text;
        assert!(page.contains("<a href=\"/admin/usage\" dir=\"auto\">Usage</a>"), "{page}");
        let page = root.get("/admin/find?q=%3Cb%3Enothing").await.expect(200).text;
        assert!(page.contains("No page or record has “&lt;b&gt;nothing” in its name."), "{page}");
    }

    // Invariant: The search of the panel finds only what the account may view.
    async fn only_pages_and_records_that_may_be_viewed_are_found(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        ada.add("Zebras.pdf", pdf(&["words"])).await;
        app.run_jobs().await;
        let secret = ada.post("/collections", json!({ "name": "Zebra secrets" })).await.expect(201);
        let mut browser = staff_with(&app, &[Permission::ViewUser]).await;
        let hits = async |browser: &mut docent_tests::browser::Browser, q: &str| {
            let page = browser.get(&format!("/admin/find?q={q}")).await.expect(200).text;
            super::between(&page, "data-hits", "</main>").to_owned()
        };
        let found = hits(&mut browser, "zebra").await;
        assert!(!found.contains("href="), "{found}");
        assert!(hits(&mut browser, "ada").await.contains("ada@example.org"));
        let pages = hits(&mut browser, "").await;
        assert!(pages.contains("/admin/users") && !pages.contains("/admin/documents"), "{pages}");
        super::staff_account(&app, "reader@example.org", &[Permission::ViewDocument]).await;
        let id = secret.json()["id"].as_str().unwrap().to_owned();
        let member = json!({ "email": "reader@example.org", "role": "viewer" });
        let _ = ada.put(&format!("/collections/{id}/members"), member).await.expect(200);
        let mut reader = at_panel(&app, "reader@example.org").await;
        let found = hits(&mut reader, "zebra").await;
        assert!(found.contains("Zebras.pdf") && found.contains("Zebra secrets"), "{found}");
        assert!(!hits(&mut reader, "ada").await.contains("/admin/users"));
    }

    async fn more_than_five_records_are_behind_a_link(setup) {
        let app = setup.start().await;
        let mut root = superuser(&app).await;
        for n in 1..=7 {
            let _ = submit(&mut root, "/admin/groups/add", &[("name", &*format!("Herd {n}"))]).await.expect(303);
        }
        let page = root.get("/admin/find?q=herd").await.expect(200).text;
        assert_eq!(page.matches(">Herd ").count(), 5, "{page}");
        assert!(page.contains("<a href=\"/admin/groups?q=herd\">All 7 in Groups</a>"), "{page}");
    }
}
