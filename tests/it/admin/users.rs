//! Accounts: `/admin/users`.

use super::{at_panel, staff, staff_account, staff_with, submit, superuser};
use docent_app::accounts::create::Flags;
use docent_domain::audit::AuditAction;
use docent_domain::collection::{CollectionRole, Member as CollectionMember};
use docent_domain::group::{Group, GroupName};
use docent_domain::id::GroupId;
use docent_domain::listing::AuditFilter;
use docent_domain::permission::{Permission, PermissionSet};
use docent_tests::app::{DATA, PASSWORD, TestApp};
use docent_tests::browser::Browser;
use docent_tests::pdf::pdf;
use docent_tests::rules;
use serde_json::json;

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
    group_with(app, name, [permission].into_iter().collect()).await
}

async fn empty_group(app: &TestApp, name: &str) -> GroupId {
    group_with(app, name, PermissionSet::EMPTY).await
}

async fn group_with(app: &TestApp, name: &str, permissions: PermissionSet) -> GroupId {
    let group = Group {
        id: app.app.new_id(GroupId::generate),
        name: GroupName::parse(name).unwrap(),
        permissions,
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
            ("/admin/users".to_owned(), vec![Permission::ViewUser]),
            ("/admin/users/add".to_owned(), vec![Permission::AddUser]),
            (page.clone(), vec![Permission::ViewUser]),
            (format!("{page}/password"), [&[Permission::ViewUser, Permission::ChangeUser], DATA].concat()),
            (format!("{page}/delete"), vec![Permission::ViewUser, Permission::DeleteUser]),
        ] {
            let refusal = none.get(&path).await.expect(403);
            assert!(!refusal.text.contains("ada@example.org"), "{path}");
            let email = format!("only{}@example.org", path.len());
            staff_account(&app, &email, &needed).await;
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
        let mut manager = staff_with(&app, &[MANAGER, DATA].concat()).await;
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
            ("groups", powerful.as_str(), "only if you have all of their permissions and roles; you lack the permissions documents.delete_document."),
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
        assert!(reply.text.contains("Email cannot be changed: this takes all access of the account; you lack the permissions documents.view_document, "));
        let _ = at_panel(&app, "stronger@example.org").await;
    }

    /// A group without permissions can still open a closed collection.
    async fn group_with_a_role_on_a_collection_is_neither_joined_nor_given(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let secret = ada.post("/collections", json!({ "name": "Secret" })).await.expect(201).json();
        let secret = secret["id"].as_str().unwrap().to_owned();
        let path = format!("/documents/upload?collection_id={secret}");
        let document = ada.upload_to(&path, "a.pdf", pdf(&["zebras"])).await.expect(202).json();
        let document = format!("/documents/{}", document["id"].as_str().unwrap());
        let legal = empty_group(&app, "Legal").await;
        let mut work = app.ports.store.begin().await.unwrap();
        let member = CollectionMember::Group(legal);
        work.collections().set_member(secret.parse().unwrap(), member, Some(CollectionRole::Manager)).await.unwrap();
        work.commit().await.unwrap();

        let rights = [MANAGER, &[Permission::ViewGroup]].concat();
        let (mut browser, staff) = staff(&app, &rights).await;
        let own = format!("/admin/users/{}", staff.user.id);
        let text = browser.get(&own).await.expect(200).text;
        assert!(text.contains(&format!("value=\"{legal}\" disabled")), "{text}");
        assert!(text.contains("You lack a role on a collection (or collections.view_collection and"), "{text}");
        let legal = legal.to_string();
        let mut fields = vec![("email", "staff@example.org"), ("is_active", "on"), ("is_staff", "on"), ("groups", &legal)];
        let names: Vec<_> = rights.iter().map(|of| of.to_string()).collect();
        fields.extend(names.iter().map(|name| ("permissions", name.as_str())));
        let new = [("email", "new@example.org"), ("is_active", "on"), ("password", PASSWORD), ("groups", &legal)];
        for (path, fields) in [(own.as_str(), &fields[..]), ("/admin/users/add", &new)] {
            let reply = submit(&mut browser, path, fields).await.expect(422);
            assert!(reply.text.contains("if you have all of their permissions and roles; you lack a role on a collection"), "{}", reply.text);
            assert!(!reply.text.contains("Secret"), "{}", reply.text);
        }
        staff.get(&document).await.refused(404, "Document not found");

        app.permit(staff.user.id, &[&rights[..], &[Permission::ViewCollection, Permission::ChangeCollection]].concat()).await;
        let _ = submit(&mut browser, &own, &fields).await.expect(303);
        let _ = staff.get(&document).await.expect(200);
        let notice = app.mails().await.pop().unwrap();
        assert!(notice.text.starts_with("staff@example.org added your account to: Legal."), "{}", notice.text);
        app.leave_jobs();
    }

    /// A password opens the conversations and documents of an account, so it takes the permissions to see
    /// them.
    async fn account_is_not_opened_without_the_permissions_for_its_data(setup) {
        let app = setup.start().await;
        let ada = app.account("ada@example.org", Flags::default()).await;
        let page = format!("/admin/users/{}", ada.id);
        let mut manager = staff_with(&app, MANAGER).await;
        let text = manager.get(&page).await.expect(200).text;
        assert!(!text.contains("Set password") && text.contains("Limits"), "{text}");
        assert!(text.contains("You cannot change the address, because the owner of the mailbox can open the account"), "{text}");
        let refusal = manager.get(&format!("{page}/password")).await.expect(403).text;
        assert!(refusal.contains("You do not have permission to do this: you lack the permissions documents.view_document, "), "{refusal}");
        let fields = [("password", "another secret"), ("again", "another secret")];
        let _ = submit(&mut manager, &format!("{page}/password"), &fields).await.expect(403);
        let fields = [("email", "mine@example.org"), ("is_active", "on")];
        let reply = submit(&mut manager, &page, &fields).await.expect(422);
        assert!(reply.text.contains("Email cannot be changed: this takes all access of the account"), "{}", reply.text);
        let _ = app.login("ada@example.org", PASSWORD).await.expect(200);
        // The own account needs none.
        let own = page_of(&mut manager, "staff@example.org").await;
        let fields = [("password", "another secret"), ("again", "another secret")];
        let _ = submit(&mut manager, &format!("{own}/password"), &fields).await.expect(303);
        let _ = app.login("staff@example.org", "another secret").await.expect(200);
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
