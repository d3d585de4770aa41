//! Groups and their managers: `/account/groups`.

use super::{ada, at_account};
use crate::admin::submit;
use docent_app::accounts::create::Flags;
use docent_domain::group::{AssignedPermissions, Group, GroupName};
use docent_domain::id::{GroupId, UserId};
use docent_domain::permission::PermissionSet;
use docent_testkit::builders;
use docent_tests::app::{PASSWORD, TestApp};
use docent_tests::browser::Browser;
use docent_tests::rules;

async fn group(app: &TestApp, name: &str, manager: UserId) -> String {
    let (id, name) = (app.app.new_id(GroupId::generate), GroupName::parse(name).unwrap());
    let group = Group { id, name, permissions: PermissionSet::EMPTY, created_at: app.app.now() };
    let mut work = app.ports.store.begin().await.unwrap();
    assert!(work.groups().insert(&group).await.unwrap());
    let assigned =
        AssignedPermissions { groups: [id].into(), managed: [id].into(), ..AssignedPermissions::default() };
    work.groups().set_assigned_permissions(manager, &assigned).await.unwrap();
    work.commit().await.unwrap();
    format!("/account/groups/{id}")
}

rules! {
    async fn manager_adds_invites_and_removes_members(setup) {
        let app = setup.start().await;
        let (mut browser, user) = ada(&app).await;
        assert!(browser.get("/account/groups").await.expect(200).text.contains("You are in no group."));
        let page = group(&app, "Clerks", user.id).await;
        assert!(browser.get("/account/groups").await.expect(200).text.contains(&format!("href=\"{page}\"")));
        let bob = app.account("bob@example.org", Flags::default()).await.id.to_string();
        let members = format!("{page}/members");
        let _ = submit(&mut browser, &members, &[("emails", "bob@example.org")]).await.expect(303);
        let shown = browser.get(&page).await.expect(200).text;
        assert!(shown.contains("bob@example.org") && !shown.contains("Make manager"), "{shown}");
        let fields = [("emails", "new@example.org"), ("delivery", "link")];
        let shown = submit(&mut browser, &members, &fields).await.expect(200).text;
        assert!(shown.contains("cannot invite people in this way"), "{shown}");
        let fields = [("emails", "new@example.org"), ("delivery", "email")];
        let shown = submit(&mut browser, &members, &fields).await.expect(200).text;
        assert!(!shown.contains("token="), "{shown}");
        let mail = app.mails().await.pop().unwrap().text;
        let (_, rest) = mail.split_once("/account/invitation?token=").unwrap();
        let token = rest.split_whitespace().next().unwrap();
        let fields = [("token", token), ("password", PASSWORD)];
        let _ = Browser::new(&app).post("/account/invitation", &fields).await.expect(200);
        assert!(browser.get(&page).await.expect(200).text.contains("new@example.org"));
        // Ordinary members see that they are in the group.
        let mut member = at_account(&app, "bob@example.org").await;
        assert!(member.get("/account/groups").await.expect(200).text.contains("Clerks"));
        let _ = member.get(&page).await.expect(404);
        let _ = submit(&mut member, &members, &[("emails", "new@example.org")]).await.expect(404);
        let _ = submit(&mut browser, &format!("{members}/remove"), &[("user", &bob)]).await.expect(303);
        assert!(!browser.get(&page).await.expect(200).text.contains("bob@example.org"));
        assert!(member.get("/account/groups").await.expect(200).text.contains("You are in no group."));
        // The manager leaves.
        let own = user.id.to_string();
        let reply = submit(&mut browser, &format!("{members}/remove"), &[("user", &own)]).await.expect(303);
        assert_eq!(reply.header("location"), "/account/groups");
        let _ = browser.get(&page).await.expect(404);
    }

    async fn members_are_shown_in_pages(setup) {
        let app = setup.start().await;
        let (mut browser, user) = ada(&app).await;
        let page = group(&app, "Clerks", user.id).await;
        let mut work = app.ports.store.begin().await.unwrap();
        let groups = [page.rsplit('/').next().unwrap().parse().unwrap()].into();
        let assigned = AssignedPermissions { groups, ..AssignedPermissions::default() };
        for n in 10..70 {
            assert!(work.users().insert(&builders::user(n)).await.unwrap());
            work.groups().set_assigned_permissions(builders::user(n).id, &assigned).await.unwrap();
        }
        work.commit().await.unwrap();
        // Ada is the first of 61 by address.
        let shown = browser.get(&page).await.expect(200).text;
        assert!(shown.contains("user58@example.org") && !shown.contains("user59@example.org"), "{shown}");
        let second = format!("{page}?page=2");
        assert!(shown.contains(&second.replace('/', "&#x2F;")) || shown.contains(&second), "{shown}");
        let shown = browser.get(&second).await.expect(200).text;
        assert!(!shown.contains("user58@example.org") && shown.contains("user69@example.org"), "{shown}");
    }
}
