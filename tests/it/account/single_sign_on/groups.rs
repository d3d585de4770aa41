//! Groups and flags that follow the provider.

use super::{person, provider_rules, sign_in_with};
use crate::account::ADA;
use docent_app::accounts::create::Flags;
use docent_domain::audit::AuditAction;
use docent_domain::group::{Group, GroupName};
use docent_domain::identity::{GroupMapping, IdentityClaims, ProviderRules};
use docent_domain::listing::AuditFilter;
use docent_domain::permission::PermissionSet;
use docent_ports::clock::Clock;
use docent_testkit::builders::id;
use docent_tests::app::TestApp;
use docent_tests::browser::Browser;
use docent_tests::rules;

fn name(text: &str) -> GroupName {
    GroupName::parse(text).unwrap()
}

pub(super) async fn add_groups(app: &TestApp, names: &[&str]) {
    let mut work = app.ports.store.begin().await.unwrap();
    for (n, text) in (1..).zip(names) {
        let permissions = PermissionSet::EMPTY;
        let group = Group { id: id(n), name: name(text), permissions, created_at: app.clock.now() };
        assert!(work.groups().insert(&group).await.unwrap());
    }
    work.commit().await.unwrap();
}

/// Names of the groups of ada's account.
async fn groups(app: &TestApp) -> Vec<String> {
    let mut view = app.ports.store.read().await.unwrap();
    let user =
        view.users().by_email(&docent_domain::text::Email::parse(ADA).unwrap()).await.unwrap().unwrap();
    let ids: Vec<_> = view.groups().assigned_permissions(user.id).await.unwrap().groups.into_iter().collect();
    let mut names: Vec<String> = view.groups().names(&ids).await.unwrap().into_values().collect();
    names.sort();
    names
}

async fn sign_in(app: &TestApp, groups: &[&str]) -> Browser {
    let mut browser = Browser::new(app);
    let groups = groups.iter().map(|group| (*group).to_owned()).collect();
    let claims = IdentityClaims { groups, ..person(app, "1", ADA) };
    let _ = sign_in_with(app, &mut browser, claims).await.expect(303);
    browser
}

pub(super) fn mapping(claim: &str, group: &str) -> GroupMapping {
    GroupMapping { claim: claim.to_owned(), group: name(group) }
}

rules! {
    async fn mapped_groups_follow_the_provider_and_others_stay(setup) {
        let mapped = vec![mapping("/eng", "Engineers"), mapping("/ops", "Engineers"), mapping("/law", "Lawyers"), mapping("/x", "Missing")];
        let app = setup.identity_provider(ProviderRules { groups: mapped, ..provider_rules() }).start().await;
        add_groups(&app, &["Engineers", "Lawyers", "By hand"]).await;
        let user = app.account(ADA, Flags::default()).await;
        let mut work = app.ports.store.begin().await.unwrap();
        let mut assigned = work.groups().assigned_permissions(user.id).await.unwrap();
        assigned.groups = [id(2), id(3)].into();
        work.groups().set_assigned_permissions(user.id, &assigned).await.unwrap();
        work.commit().await.unwrap();

        sign_in(&app, &["/ops", "By hand", "Lawyers", "/x"]).await;
        assert_eq!(groups(&app).await, ["By hand", "Engineers"]);
        let filter = AuditFilter { action: Some(AuditAction::Change), ..AuditFilter::default() };
        let entry = app.audit(filter.clone()).await.into_iter().find(|entry| entry.changes.contains_key("groups")).unwrap();
        let change = &entry.changes["groups"];
        assert_eq!((change.before.as_deref(), change.after.as_deref()), (Some("By hand, Lawyers"), Some("By hand, Engineers")));
        let count = app.audit(filter.clone()).await.len();
        sign_in(&app, &["/ops"]).await;
        assert_eq!(app.audit(filter).await.len(), count, "nothing has changed");
        sign_in(&app, &[]).await;
        assert_eq!(groups(&app).await, ["By hand"]);
    }

    async fn flags_follow_named_groups_alone(setup) {
        let named = ProviderRules {
            staff_group: Some("staff".to_owned()),
            superuser_group: Some("root".to_owned()),
            ..provider_rules()
        };
        let app = setup.identity_provider(named).start().await;
        app.account("other@example.org", Flags { is_staff: true, is_superuser: true }).await;
        let mut browser = sign_in(&app, &["staff"]).await;
        let _ = browser.get("/admin").await.expect(200);
        let _ = sign_in(&app, &["staff", "root"]).await.get("/admin/users/add").await.expect(200);
        let _ = sign_in(&app, &["superuser", "Staff"]).await.get("/admin").await.expect(303);
        let _ = browser.get("/admin").await.expect(303);
    }

    async fn flags_stay_without_named_groups(setup) {
        let mapped = vec![mapping("staff", "Staff")];
        let app = setup.identity_provider(ProviderRules { groups: mapped, ..provider_rules() }).start().await;
        let _ = sign_in(&app, &["staff", "superuser"]).await.get("/admin").await.expect(303);
    }
}
