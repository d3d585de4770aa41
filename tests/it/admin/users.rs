//! Accounts: `/admin/users`.

use super::{at_panel, staff_account, staff_with, submit, superuser};
use docent_app::accounts::create::Flags;
use docent_domain::audit::AuditAction;
use docent_domain::group::{Group, GroupName};
use docent_domain::id::GroupId;
use docent_domain::listing::AuditFilter;
use docent_domain::permission::Permission;
use docent_tests::app::{PASSWORD, TestApp};
use docent_tests::browser::Browser;
use docent_tests::rules;

const MANAGER: &[Permission] =
    &[Permission::ViewUser, Permission::AddUser, Permission::ChangeUser, Permission::DeleteUser];

/// Returns the path of the account's page, found in the list.
async fn page_of(browser: &mut Browser, email: &str) -> String {
    let list = browser.get(&format!("/admin/users?q={email}")).await.expect(200).text;
    let id = super::between(&list, "class=\"row\" href=\"/admin/users/", "\"");
    assert_eq!(id.len(), 36, "{list}");
    format!("/admin/users/{id}")
}

/// Inserts a group with one permission.
async fn group(app: &TestApp, name: &str, permission: Permission) -> GroupId {
    let group = Group {
        id: app.app.new_id(GroupId::generate),
        name: GroupName::parse(name).unwrap(),
        permissions: [permission].into_iter().collect(),
        created_at: app.app.now(),
    };
    let mut work = app.ports.store.begin().await.unwrap();
    assert!(work.groups().insert(&group).await.unwrap());
    work.commit().await.unwrap();
    group.id
}

rules! {
    async fn page_requires_its_permission_and_refusals_leak_nothing(setup) {
        let app = setup.start().await;
        let ada = app.account("ada@example.org", Flags::default()).await;
        let page = format!("/admin/users/{}", ada.id);
        let mut none = staff_with(&app, &[]).await;
        for (path, needed) in [
            ("/admin/users".to_owned(), &[Permission::ViewUser][..]),
            ("/admin/users/add".to_owned(), &[Permission::AddUser]),
            (page.clone(), &[Permission::ViewUser]),
            (format!("{page}/password"), &[Permission::ViewUser, Permission::ChangeUser]),
            (format!("{page}/delete"), &[Permission::ViewUser, Permission::DeleteUser]),
        ] {
            let refusal = none.get(&path).await.expect(403);
            assert!(!refusal.text.contains("ada@example.org"), "{path}");
            let email = format!("only{}@example.org", path.len());
            staff_account(&app, &email, needed).await;
            let _ = at_panel(&app, &email).await.get(&path).await.expect(200);
        }
        for path in ["/admin/users/add", &page, &format!("{page}/password"), &format!("{page}/delete"),
            &format!("{page}/end-sessions")]
        {
            let _ = submit(&mut none, path, &[("email", "new@example.org"), ("password", PASSWORD)]).await.expect(403);
        }
    }

    async fn menu_and_buttons_require_their_permission(setup) {
        let app = setup.start().await;
        let ada = app.account("ada@example.org", Flags::default()).await;
        let page = format!("/admin/users/{}", ada.id);
        staff_account(&app, "viewer@example.org", &[Permission::ViewUser]).await;
        let mut viewer = at_panel(&app, "viewer@example.org").await;
        let mut manager = staff_with(&app, MANAGER).await;
        for (button, path) in [
            ("href=\"/admin/users/add\"", "/admin/users"),
            ("Save", page.as_str()),
            ("Set password", &page),
            ("Delete…", &page),
        ] {
            assert!(!viewer.get(path).await.expect(200).text.contains(button), "{button}");
            assert!(manager.get(path).await.expect(200).text.contains(button), "{button}");
        }
        let menu = viewer.get("/admin/users").await.expect(200).text;
        assert!(menu.contains("href=\"/admin/users\"") && !menu.contains("href=\"/admin/groups\""), "{menu}");
        // The blocks beside the form require the permissions of their own pages.
        assert!(!menu.contains("href=\"/admin/audit") && !viewer.get(&page).await.text.contains("History"));
    }

    async fn account_is_created_found_changed_and_deleted(setup) {
        let app = setup.start().await;
        let mut root = superuser(&app).await;
        let readers = group(&app, "Readers", Permission::ViewDocument).await.to_string();
        let reply = submit(&mut root, "/admin/users/add", &[
            ("email", "New@Example.org"),
            ("password", PASSWORD),
            ("is_active", "on"),
            ("is_staff", "on"),
            ("groups", &readers),
            ("permissions", "accounts.view_user"),
        ]).await.expect(303);
        let page = reply.header("location").to_owned();
        let text = root.get(&page).await.expect(200).text;
        assert!(text.contains("The account new@example.org was created."));
        assert!(!root.get(&page).await.text.contains("was created"), "the message is shown once");
        let id = page.rsplit('/').next().map(str::to_owned);
        let entries = app.audit(AuditFilter { record: id, ..AuditFilter::default() }).await;
        let changes: Vec<_> = entries[0].changes.iter().map(|(field, change)| (field.as_str(), change.after.as_deref())).collect();
        assert_eq!((entries.len(), entries[0].action), (1, AuditAction::Add));
        assert_eq!(changes, [
            ("email", Some("new@example.org")),
            ("groups", Some("Readers")),
            ("is_active", Some("true")),
            ("is_staff", Some("true")),
            ("is_superuser", Some("false")),
            ("permissions", Some("accounts.view_user")),
        ]);
        for allowed in ["<li>View <small>See all documents in the panel.", "<li>View <small>See all accounts and their permissions.</small></li>"] {
            assert!(text.contains(allowed), "{allowed}: {text}");
        }
        let mut new = at_panel(&app, "new@example.org").await;
        assert!(new.get("/admin").await.expect(200).text.contains("href=\"/admin/users\""));

        for (query, is_in) in [("q=new", true), ("q=unknown", false), ("active=no", false), ("staff=no", false)] {
            let list = root.get(&format!("/admin/users?{query}")).await.expect(200).text;
            assert_eq!(list.contains("new@example.org"), is_in, "{query}");
        }
        let members = root.get(&format!("/admin/users?group={readers}")).await.expect(200).text;
        assert!(members.contains("new@example.org") && members.contains("1–1 of 1"), "{members}");
        let _ = root.get("/admin/users?active=perhaps").await.expect(422);

        // Unticked boxes deactivate the account and remove its permissions.
        let _ = submit(&mut root, &page, &[("email", "other@example.org")]).await.expect(303);
        let _ = new.get("/admin").await.expect(303);
        let text = root.get(&page).await.expect(200).text;
        assert!(text.contains("other@example.org") && text.contains("deactivated"));
        assert!(text.contains("No additional permissions."));

        let question = root.get(&format!("{page}/delete")).await.expect(200).text;
        assert!(question.contains("Delete this account?") && question.contains("permanently deleted"));
        let _ = submit(&mut root, &format!("{page}/delete"), &[]).await.expect(303);
        let _ = root.get(&page).await.expect(404);
    }

    async fn form_without_valid_token_changes_nothing(setup) {
        let app = setup.start().await;
        let mut root = superuser(&app).await;
        let page = page_of(&mut root, "root@example.org").await;
        for path in ["/admin/users/add".to_owned(), page.clone(), format!("{page}/password"), format!("{page}/delete")] {
            let _ = root.post(&path, &[("email", "new@example.org"), ("password", PASSWORD)]).await.expect(403);
            let _ = root.post(&path, &[("form_token", "x"), ("email", "new@example.org")]).await.expect(403);
        }
    }

    async fn granting_permissions_the_actor_lacks_is_refused(setup) {
        let app = setup.start().await;
        let mut manager = staff_with(&app, MANAGER).await;
        let ada = app.account("ada@example.org", Flags::default()).await;
        let page = format!("/admin/users/{}", ada.id);
        let powerful = group(&app, "Powerful", Permission::DeleteDocument).await.to_string();
        let base = [("email", "ada@example.org"), ("is_active", "on"), ("password", PASSWORD)];
        for (field, value, error) in [
            ("permissions", "documents.delete_document", "can be granted or revoked only if you have them yourself"),
            ("permissions", "documents.fly_document", "contain an unknown permission"),
            ("groups", powerful.as_str(), "only if you have all of their permissions"),
            ("groups", "x", "no longer exists"),
            ("is_superuser", "on", "can be granted only by a superuser"),
        ] {
            for (path, email) in [(page.as_str(), "ada@example.org"), ("/admin/users/add", "new@example.org")] {
                let fields = [&[("email", email)], &base[1..], &[(field, value)]].concat();
                let reply = submit(&mut manager, path, &fields).await.expect(422);
                assert!(reply.text.contains(error), "{field} at {path}: {}", reply.text);
            }
        }
        let account = app.ports.store.read().await.unwrap().groups().assigned_permissions(ada.id).await.unwrap();
        assert!(account.permissions.is_empty() && account.groups.is_empty());
        assert!(!manager.get("/admin/users?q=new").await.text.contains("new@example.org"), "nothing was created");
        let _ = submit(&mut manager, &page, &[&base[..], &[("permissions", "accounts.view_user")]].concat())
            .await
            .expect(303);
    }

    async fn account_with_more_permissions_cannot_be_changed(setup) {
        let app = setup.start().await;
        let mut manager = staff_with(&app, MANAGER).await;
        let root = app.account("root@example.org", Flags { is_staff: true, is_superuser: true }).await;
        let root = format!("/admin/users/{}", root.id);
        let stronger = staff_account(&app, "stronger@example.org", &[Permission::DeleteDocument]).await;
        let stronger = format!("/admin/users/{}", stronger.id);
        for page in [&root, &stronger] {
            let text = manager.get(page).await.expect(200).text;
            assert!(!text.contains("Set password"), "{text}");
            let _ = manager.get(&format!("{page}/password")).await.expect(403);
            let password = [("password", "another secret"), ("again", "another secret")];
            let _ = submit(&mut manager, &format!("{page}/password"), &password).await.expect(403);
        }
        let _ = submit(&mut manager, &root, &[("email", "root@example.org")]).await.expect(403);
        let _ = manager.get(&format!("{root}/delete")).await.expect(403);
        let _ = submit(&mut manager, &format!("{root}/delete"), &[]).await.expect(403);
        // Changing the email address would allow a password reset by email.
        let mine = [("email", "mine@example.org"), ("is_active", "on"), ("is_staff", "on"),
            ("permissions", "documents.delete_document")];
        let reply = submit(&mut manager, &stronger, &mine).await.expect(422);
        assert!(reply.text.contains("permissions that you do not have"));
        let _ = at_panel(&app, "stronger@example.org").await;
    }

    async fn own_account_cannot_be_deactivated_or_deleted(setup) {
        let app = setup.start().await;
        let mut root = superuser(&app).await;
        let page = page_of(&mut root, "root@example.org").await;
        let reply = submit(&mut root, &page, &[("email", "root@example.org"), ("is_superuser", "on")]).await;
        assert!(reply.expect(422).text.contains("Active cannot be removed from your own account."));
        assert!(!root.get(&page).await.expect(200).text.contains("Delete…"));
        let _ = submit(&mut root, &format!("{page}/delete"), &[]).await.expect(403);
        let _ = root.get("/admin").await.expect(200);
    }

    async fn invalid_form_shows_field_errors_and_keeps_input(setup) {
        let app = setup.start().await;
        let mut root = superuser(&app).await;
        let reply = submit(&mut root, "/admin/users/add", &[
            ("email", "<script>alert(1)</script>"),
            ("password", "short"),
            ("is_staff", "on"),
            ("permissions", "jobs.view_job"),
        ]).await.expect(422);
        let page = &reply.text;
        for text in [
            "<a href=\"#email\">", "<a href=\"#password\">",
            "Email must be an email address.", "Password must have at least 8 characters.",
            "value=\"jobs.view_job\" checked", "name=\"is_staff\" value=\"on\" checked",
            "&lt;script&gt;", "aria-invalid=\"true\"",
        ] {
            assert!(page.contains(text), "{text}: {page}");
        }
        assert!(!page.contains("<script>") && !page.contains("value=\"short\""));
        assert!(!page.contains("name=\"is_active\" value=\"on\" checked"), "it was not ticked");
        let taken = [("email", "ROOT@example.org"), ("password", PASSWORD)];
        let reply = submit(&mut root, "/admin/users/add", &taken).await.expect(422);
        assert!(reply.text.contains("Email is already in use."));
    }

    async fn new_password_ends_the_accounts_sessions(setup) {
        let app = setup.start().await;
        let mut root = superuser(&app).await;
        staff_account(&app, "ada@example.org", &[]).await;
        let mut ada = at_panel(&app, "ada@example.org").await;
        let page = page_of(&mut root, "ada@example.org").await;
        let wrong = [("password", "another secret"), ("again", "yet another")];
        let reply = submit(&mut root, &format!("{page}/password"), &wrong).await.expect(422);
        assert!(reply.text.contains("Repeat new password does not match."));
        let _ = ada.get("/admin").await.expect(200);
        let right = [("password", "another secret"), ("again", "another secret")];
        let _ = submit(&mut root, &format!("{page}/password"), &right).await.expect(303);
        let _ = ada.get("/admin").await.expect(303);
        let _ = ada.login("ada@example.org", "another secret").await.expect(303);
    }

    async fn links_encode_special_characters_in_addresses(setup) {
        let app = setup.start().await;
        let mut root = superuser(&app).await;
        let user = staff_account(&app, "a+b&c=d'@example.org", &[]).await;
        let _ = at_panel(&app, "a+b&c=d'@example.org").await;
        let page = root.get(&format!("/admin/users/{}", user.id)).await.expect(200).text;
        let link = super::between(&page, "href=\"/admin/sessions?", "\"");
        assert_eq!(link, "user=a%2Bb%26c%3Dd%27%40example.org");
        let list = root.get(&format!("/admin/sessions?{link}")).await.expect(200).text;
        assert!(list.contains("1–1 of 1") && list.contains("a+b&amp;c=d"), "{list}");
    }
}
