//! Invitations: `/admin/invitations` and `/account/invitation`.

use super::{between, staff_account, staff_with, submit, superuser};
use docent_app::accounts::create::Flags;
use docent_domain::group::{Group, GroupName};
use docent_domain::id::GroupId;
use docent_domain::permission::{Permission, PermissionSet};
use docent_tests::app::{PASSWORD, TestApp};
use docent_tests::browser::Browser;
use docent_tests::rules;
use serde_json::json;

const PATH: &str = "/admin/invitations";

async fn group(app: &TestApp, name: &str) -> String {
    let (id, name) = (app.app.new_id(GroupId::generate), GroupName::parse(name).unwrap());
    let group = Group { id, name, permissions: PermissionSet::EMPTY, created_at: app.app.now() };
    let mut work = app.ports.store.begin().await.unwrap();
    assert!(work.groups().insert(&group).await.unwrap());
    work.commit().await.unwrap();
    id.to_string()
}

/// Returns the paths of the links on a page that shows them.
fn links(page: &str) -> Vec<String> {
    let links = page.split("<code id=\"link-").skip(1);
    links
        .map(|rest| format!("/account/invitation?{}", between(rest, "/account/invitation?", "</code>")))
        .collect()
}

/// Accepts the invitation of a link with [`PASSWORD`].
async fn accept(app: &TestApp, link: &str) -> docent_tests::reply::Reply {
    let mut browser = Browser::new(app);
    let (_, token) = link.split_once("token=").unwrap();
    browser.post("/account/invitation", &[("token", token), ("name", "Ada"), ("password", PASSWORD)]).await
}

rules! {
    async fn people_are_invited_with_links_and_create_their_accounts(setup) {
        let app = setup.start().await;
        let mut root = superuser(&app).await;
        let clerks = group(&app, "Clerks").await;
        assert!(root.get(PATH).await.expect(200).text.contains("No open invitations."));
        assert!(root.get("/admin/users").await.expect(200).text.contains("href=\"/admin/invitations/add\""));
        let page = root.get("/admin/invitations/add").await.expect(200).text;
        assert!(page.contains("Clerks") && page.contains("Everyone") && page.contains("name=\"delivery\""), "{page}");
        let fields = [
            ("emails", "Name;Email\nAda;ada@example.org\nBob;bob@example.org\nRoot;root@example.org"),
            ("delivery", "link"), ("groups", clerks.as_str()),
            ("collections", "00000000-0000-0000-0000-000000000001"), ("role", "manager"),
        ];
        let page = submit(&mut root, "/admin/invitations/add", &fields).await.expect(200).text;
        let [ada, _] = links(&page).try_into().unwrap();
        assert!(page.contains("has an account already"), "{page}");
        assert!(app.mails().await.is_empty());
        let list = root.get(PATH).await.expect(200).text;
        assert!(list.contains("ada@example.org") && list.contains("Clerks") && list.contains("Everyone"), "{list}");
        assert!(!list.contains("?token="), "{list}");
        let page = Browser::new(&app).get(&ada).await.expect(200).text;
        assert!(page.contains("root@example.org invites you") && page.contains("ada@example.org"), "{page}");
        assert!(accept(&app, &ada).await.expect(200).text.contains("Your account is ready"));
        let _ = app.login("ada@example.org", PASSWORD).await.expect(200);
        let list = root.get("/admin/users?q=ada").await.expect(200).text;
        assert!(list.contains("ada@example.org"), "{list}");
        let _ = accept(&app, &ada).await.expect(400);
        let _ = Browser::new(&app).get(&ada).await.expect(400);
        let list = root.get("/admin/invitations?q=ada").await.expect(200).text;
        assert!(list.contains("No matching invitations."), "{list}");
    }

    async fn long_list_does_not_delay_requested_emails(setup) {
        let app = setup.start().await;
        let mut root = superuser(&app).await;
        app.mailer.hang();
        let emails: Vec<_> = (0..100).map(|n| format!("guest{n}@example.org")).collect();
        let fields = [("emails", emails.join("\n")), ("delivery", "email".to_owned())];
        let fields = fields.each_ref().map(|(name, value)| (*name, value.as_str()));
        let _ = submit(&mut root, "/admin/invitations/add", &fields).await.expect(200);
        let body = json!({ "email": "root@example.org" });
        let _ = app.post("/auth/password-reset", body).await.expect(202);
    }

    async fn other_cells_of_a_pasted_table_can_be_long(setup) {
        let app = setup.start().await;
        let mut root = superuser(&app).await;
        let rows: Vec<_> = (0..200).map(|n| format!("{};guest{n}@example.org", "note ".repeat(100))).collect();
        let rows = rows.join("\n");
        let fields = [("emails", rows.as_str()), ("delivery", "link")];
        let page = submit(&mut root, "/admin/invitations/add", &fields).await.expect(200).text;
        assert_eq!(links(&page).len(), 200);
        let rows = rows.repeat(3);
        let _ = submit(&mut root, "/admin/invitations/add", &[("emails", rows.as_str()), ("delivery", "link")]).await.expect(413);
    }

    async fn invitation_is_sent_sent_again_and_revoked(setup) {
        let app = setup.start().await;
        let mut root = superuser(&app).await;
        let fields = [("emails", "ada@example.org"), ("delivery", "email")];
        let page = submit(&mut root, "/admin/invitations/add", &fields).await.expect(200).text;
        assert!(page.contains("the email is being sent") && links(&page).is_empty(), "{page}");
        let mail = app.mails().await.pop().unwrap();
        let link = |text: &str| format!("/account/invitation?{}", between(text, "/account/invitation?", "\n"));
        let first = link(&mail.text);
        let _ = Browser::new(&app).get(&first).await.expect(200);
        let page = submit(&mut root, "/admin/invitations/add", &fields).await.expect(200).text;
        assert!(page.contains("has an invitation already"), "{page}");
        let list = root.get(PATH).await.expect(200).text;
        let id = between(&list, "action=\"/admin/invitations/", "/resend\"");
        let resend = format!("/admin/invitations/{id}/resend");
        let _ = submit(&mut root, &resend, &[("delivery", "email")]).await.expect(303);
        assert!(root.get(PATH).await.expect(200).text.contains("is being sent again"));
        let second = link(&app.mails().await.pop().unwrap().text);
        let _ = Browser::new(&app).get(&first).await.expect(400);
        let _ = Browser::new(&app).get(&second).await.expect(200);
        let page = submit(&mut root, &resend, &[("delivery", "link")]).await.expect(200).text;
        let [third] = links(&page).try_into().unwrap();
        let _ = accept(&app, &second).await.expect(400);
        let _ = Browser::new(&app).get(&third).await.expect(200);
        let revoke = format!("/admin/invitations/{id}/revoke");
        let _ = submit(&mut root, &revoke, &[]).await.expect(303);
        assert!(root.get(PATH).await.expect(200).text.contains("The invitation was revoked."));
        let page = accept(&app, &third).await.expect(400).text;
        assert!(page.contains("Ask the person who invited you"), "{page}");
        for again in [&revoke, &resend] {
            let _ = submit(&mut root, again, &[]).await.expect(303);
            assert!(root.get(PATH).await.expect(200).text.contains("already accepted or revoked"));
        }
    }

    async fn rejected_form_keeps_what_was_entered(setup) {
        let app = setup.start().await;
        let mut root = superuser(&app).await;
        let clerks = group(&app, "Clerks").await;
        for (emails, error) in [
            ("", "must not be empty"),
            ("ada@example.org\nBob <script>", "line 2 has none, or an invalid one"),
        ] {
            let fields = [("emails", emails), ("groups", clerks.as_str())];
            let page = submit(&mut root, "/admin/invitations/add", &fields).await.expect(422).text;
            assert!(page.contains(error) && page.contains(&format!("value=\"{clerks}\" checked")), "{page}");
            assert!(!page.contains("<script>"), "{page}");
        }
        let wrong = [("emails", "ada@example.org"), ("collections", "x"), ("role", "viewer")];
        let _ = submit(&mut root, "/admin/invitations/add", &wrong).await.expect(422);
        assert!(root.get(PATH).await.expect(200).text.contains("No open invitations."));
    }

    async fn invitations_require_their_permissions(setup) {
        let app = setup.start().await;
        let mut staff = staff_with(&app, &[Permission::ViewInvitation]).await;
        assert!(!staff.get(PATH).await.expect(200).text.contains("/admin/invitations/add"));
        let _ = staff.get("/admin/invitations/add").await.expect(403);
        let _ = submit(&mut staff, "/admin/invitations/add", &[("emails", "ada@example.org")]).await.expect(403);
        staff_account(&app, "inviter@example.org", &[Permission::AddInvitation]).await;
        let mut inviter = super::at_panel(&app, "inviter@example.org").await;
        let _ = inviter.get(PATH).await.expect(403);
        // The account of the address is not named to staff who may not view accounts.
        app.account("ada@example.org", Flags::default()).await;
        let fields = [("emails", "ada@example.org, bob@example.org"), ("delivery", "link")];
        let page = submit(&mut inviter, "/admin/invitations/add", &fields).await.expect(200).text;
        assert_eq!(links(&page).len(), 2, "{page}");
        let [ada, bob] = links(&page).try_into().unwrap();
        let _ = accept(&app, &ada).await.expect(400);
        let _ = accept(&app, &bob).await.expect(200);
    }

    async fn weak_password_is_refused_and_the_invitation_stays(setup) {
        let app = setup.start().await;
        let mut root = superuser(&app).await;
        let page = submit(&mut root, "/admin/invitations/add", &[("emails", "ada.lovelace@example.org")]).await.expect(200).text;
        let [link] = links(&page).try_into().unwrap();
        let (_, token) = link.split_once("token=").unwrap();
        for password in ["short", "password123", "ada.lovelace@example.org"] {
            let reply = Browser::new(&app).post("/account/invitation", &[("token", token), ("password", password)]).await;
            let page = reply.expect(422).text;
            assert!(page.contains("role=\"alert\"") && page.contains("ada.lovelace@example.org"), "{page}");
        }
        let _ = accept(&app, &link).await.expect(200);
    }
}
