//! Groups: `/admin/groups`.

use super::{at_panel, staff_account, staff_with, submit, superuser};
use docent_domain::permission::Permission;
use docent_tests::reply::Reply;
use docent_tests::rules;

const NAME: &str = "<script>alert(1)</script>\"'&";

rules! {
    async fn page_requires_its_permission(setup) {
        let app = setup.start().await;
        let mut root = superuser(&app).await;
        let reply = submit(&mut root, "/admin/groups/add", &[("name", "Secret group")]).await.expect(303);
        let page = reply.header("location").to_owned();
        let mut none = staff_with(&app, &[]).await;
        for (path, needed) in [
            ("/admin/groups".to_owned(), &[Permission::ViewGroup][..]),
            ("/admin/groups/add".to_owned(), &[Permission::AddGroup]),
            (page.clone(), &[Permission::ViewGroup]),
            (format!("{page}/delete"), &[Permission::ViewGroup, Permission::DeleteGroup]),
        ] {
            assert!(!none.get(&path).await.expect(403).text.contains("Secret group"), "{path}");
            let email = format!("only{}@example.org", path.len());
            staff_account(&app, &email, needed).await;
            let _ = at_panel(&app, &email).await.get(&path).await.expect(200);
        }
        for path in ["/admin/groups/add", &page, &format!("{page}/delete")] {
            let _ = submit(&mut none, path, &[("name", "Other")]).await.expect(403);
        }
        staff_account(&app, "viewer@example.org", &[Permission::ViewGroup]).await;
        let text = at_panel(&app, "viewer@example.org").await.get(&page).await.expect(200).text;
        assert!(!text.contains("Save") && !text.contains("Delete…") && text.contains("fieldset class=\"plain\" disabled"));
    }

    async fn group_is_created_changed_and_deleted(setup) {
        let app = setup.start().await;
        let mut root = superuser(&app).await;
        let empty = root.get("/admin/groups").await.expect(200).text;
        assert!(empty.contains("No groups yet.") && empty.contains("href=\"/admin/groups/add\""));
        let fields = [("name", "Editors"), ("permissions", "documents.add_document"), ("permissions", "jobs.view_job")];
        let reply = submit(&mut root, "/admin/groups/add", &fields).await.expect(303);
        let page = reply.header("location").to_owned();
        let id = page.rsplit('/').next().unwrap().to_owned();
        let text = root.get(&page).await.expect(200).text;
        for ticked in ["value=\"documents.add_document\" checked", "value=\"jobs.view_job\" checked"] {
            assert!(text.contains(ticked), "{text}");
        }
        assert_eq!(text.matches(" checked").count(), 2);

        let member = [("email", "ada@example.org"), ("password", "a long secret"), ("is_active", "on"), ("is_staff", "on"), ("groups", &id)];
        let _ = submit(&mut root, "/admin/users/add", &member).await.expect(303);
        let list = root.get("/admin/groups?q=edit").await.expect(200).text;
        assert!(list.contains("Editors") && list.contains("data-label=\"Members\">1</td><td class=\"number\" data-label=\"Permissions\">2</td>"), "{list}");
        assert!(root.get("/admin/groups?q=other").await.expect(200).text.contains("No matching groups."));

        let reply = submit(&mut root, "/admin/groups/add", &[("name", "EDITORS"), ("permissions", "jobs.view_job")]).await;
        let again = reply.expect(422).text;
        assert!(again.contains("Name is already in use.") && again.contains("value=\"jobs.view_job\" checked"));
        let _ = submit(&mut root, &page, &[("name", "Writers"), ("permissions", "documents.add_document")]).await.expect(303);
        let mut ada = docent_tests::browser::Browser::new(&app);
        let _ = ada.login("ada@example.org", "a long secret").await.expect(303);
        let _ = ada.get("/admin/groups").await.expect(403);
        assert!(ada.get("/account").await.expect(200).text.contains("<li>Add <small>Upload documents in the panel.</small></li>"));

        assert!(root.get(&format!("{page}/delete")).await.expect(200).text.contains("Writers"));
        let reply = submit(&mut root, &format!("{page}/delete"), &[]).await.expect(303);
        assert_eq!(reply.header("location"), "/admin/groups");
        let _ = root.get(&page).await.expect(404);
        assert!(!ada.get("/account").await.expect(200).text.contains("<dt>Documents</dt>"), "at once");
    }

    async fn granting_a_group_permissions_the_actor_lacks_is_refused(setup) {
        let app = setup.start().await;
        let mut root = superuser(&app).await;
        let fields = [("name", "Powerful"), ("permissions", "documents.delete_document")];
        let page = submit(&mut root, "/admin/groups/add", &fields).await.expect(303).header("location").to_owned();
        let rights = [Permission::ViewGroup, Permission::AddGroup, Permission::ChangeGroup];
        let mut staff = staff_with(&app, &rights).await;
        let form = staff.get("/admin/groups/add").await.expect(200).text;
        assert!(form.contains("value=\"documents.delete_document\" disabled"));
        assert!(form.contains("value=\"accounts.view_group\"><span"));
        for path in ["/admin/groups/add", page.as_str()] {
            let fields = [("name", "Mine"), ("permissions", "jobs.view_job")];
            let reply = submit(&mut staff, path, &fields).await.expect(422);
            assert!(reply.text.contains("Permissions can be granted or revoked only if you have them yourself."), "{}", reply.text);
        }
        // Permissions that the group already has may stay.
        let fields = [("name", "Powerful"), ("permissions", "documents.delete_document"), ("permissions", "accounts.view_group")];
        let _ = submit(&mut staff, &page, &fields).await.expect(303);
    }

    async fn group_names_are_escaped(setup) {
        let app = setup.start().await;
        let mut root = superuser(&app).await;
        let reply = submit(&mut root, "/admin/groups/add", &[("name", NAME)]).await.expect(303);
        let page = reply.header("location").to_owned();
        for path in ["/admin/groups", &page, &format!("{page}/delete"), "/admin/users", "/admin/users/add", "/admin/audit"] {
            let text = root.get(path).await.expect(200).text;
            assert!(text.contains("&lt;script&gt;alert"), "{path}: {text}");
            assert!(!text.contains("<script>"), "{path}");
        }
        let long = "x".repeat(151);
        let reply = submit(&mut root, &page, &[("name", &long)]).await.expect(422);
        assert!(reply.text.contains("Name must have at most 150 characters.") && reply.text.contains(&long));
    }

    async fn stale_form_does_not_overwrite_newer_changes(setup) {
        let app = setup.start().await;
        let mut one = superuser(&app).await;
        let account = staff_account(&app, "target@example.org", &[Permission::ViewJob]).await;
        let reply = submit(&mut one, "/admin/groups/add", &[("name", "Before")]).await.expect(303);
        let group = reply.header("location").to_owned();
        for (page, first, second) in [
            (group, [("name", "Mine")], [("name", "Stale")]),
            (format!("/admin/users/{}", account.id), [("email", "mine@example.org")], [("email", "stale@example.org")]),
        ] {
            let seen = |page: &Reply| {
                let (_, rest) = page.text.split_once("name=\"seen\" value=\"").expect("a revision field");
                rest.split('"').next().unwrap().to_owned()
            };
            let before = seen(&one.get(&page).await.expect(200));
            for fields in [first, second] {
                let fields = [fields[0], ("is_active", "on"), ("seen", &before)];
                let _ = submit(&mut one, &page, &fields).await.expect(303);
            }
            let now = one.get(&page).await.expect(200);
            assert!(now.text.contains(first[0].1) && !now.text.contains(second[0].1), "{}", now.text);
            assert!(now.text.contains("This record was changed by someone else"));
            let _ = submit(&mut one, &page, &[second[0], ("is_active", "on"), ("seen", &seen(&now))]).await.expect(303);
            assert!(one.get(&page).await.expect(200).text.contains(second[0].1));
        }
    }

    async fn members_are_added_and_removed_on_the_page_of_the_group(setup) {
        let app = setup.start().await;
        let mut root = superuser(&app).await;
        let reply = submit(&mut root, "/admin/groups/add", &[("name", "Clerks")]).await.expect(303);
        let page = reply.header("location").to_owned();
        let bob = app.account("bob@example.org", Default::default()).await.id.to_string();
        assert!(root.get(&page).await.expect(200).text.contains("No members yet."));
        let members = format!("{page}/members");
        let reply = submit(&mut root, &members, &[("emails", "bob@example.org")]).await.expect(303);
        assert_eq!(reply.header("location"), page);
        let shown = root.get(&page).await.expect(200).text;
        assert!(shown.contains("One member was added.") && shown.contains("bob@example.org"), "{shown}");
        // People without an account are invited, and the others are named.
        let both = [("emails", "bob@example.org, new@example.org"), ("delivery", "link")];
        let shown = submit(&mut root, &members, &both).await.expect(200).text;
        assert!(shown.contains("is a member already") && shown.contains("/account/invitation?token="), "{shown}");
        let shown = submit(&mut root, &members, &[("emails", "Bob\nx@")]).await.expect(422).text;
        assert!(shown.contains("line 2 has none") && shown.contains(">Bob\nx@</textarea>"), "{shown}");
        let manager = format!("{members}/manager");
        let _ = submit(&mut root, &manager, &[("user", &bob), ("is_manager", "on")]).await.expect(303);
        assert!(root.get(&page).await.expect(200).text.contains("End management"));
        let remove = format!("{members}/remove");
        for notice in ["The member was removed.", "This member was removed before."] {
            let _ = submit(&mut root, &remove, &[("user", &bob)]).await.expect(303);
            assert!(root.get(&page).await.expect(200).text.contains(notice), "{notice}");
        }
        let _ = submit(&mut root, &remove, &[("user", "x")]).await.expect(422);
        let mut viewer = staff_with(&app, &[Permission::ViewGroup]).await;
        let shown = viewer.get(&page).await.expect(200).text;
        assert!(!shown.contains("id=\"members\""), "{shown}");
        let _ = submit(&mut viewer, &members, &[("emails", "bob@example.org")]).await.expect(403);
    }
}
