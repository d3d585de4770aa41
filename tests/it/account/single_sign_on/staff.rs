//! Identities of accounts and groups of providers in the panel.

use super::groups::{add_groups, mapping};
use super::{ISSUER, person, provider_rules, sign_in_with};
use crate::account::{ADA, at_account};
use docent_app::accounts::create::Flags;
use docent_domain::audit::AuditAction;
use docent_domain::identity::ProviderRules;
use docent_domain::listing::AuditFilter;
use docent_domain::permission::Permission;
use docent_domain::text::Email;
use docent_domain::user::User;
use docent_tests::app::TestApp;
use docent_tests::browser::{Browser, form_token};
use docent_tests::rules;

const ROOT: Flags = Flags { is_staff: true, is_superuser: true };

async fn superuser(app: &TestApp) -> Browser {
    app.account("root@example.org", ROOT).await;
    at_account(app, "root@example.org").await
}

async fn account(app: &TestApp, email: &str) -> User {
    let mut view = app.ports.store.read().await.unwrap();
    view.users().by_email(&Email::parse(email).unwrap()).await.unwrap().unwrap()
}

rules! {
    async fn staff_see_identities_and_disconnect_one(setup) {
        let app = setup.identity_provider(provider_rules()).start().await;
        let mut ada = Browser::new(&app);
        let _ = sign_in_with(&app, &mut ada, person(&app, "1<a>&b", ADA)).await.expect(303);
        let user = account(&app, ADA).await;
        let page = format!("/admin/users/{}", user.id);
        let mut root = superuser(&app).await;
        let text = root.get(&page).await.expect(200).text;
        assert!(text.contains("Sign-in providers") && text.contains("Example ID") && text.contains("1&lt;a&gt;&amp;b"), "{text}");
        let link = text.split("href=\"").find(|link| link.contains("identities/disconnect")).unwrap();
        let link = link.split('"').next().unwrap().replace("&amp;", "&");
        let confirm = root.get(&link).await.expect(200);
        assert!(confirm.text.contains("Disconnect Example ID?") && confirm.text.contains("the only way to sign in"), "{}", confirm.text);
        let token = form_token(&confirm);
        let _ = root.post(&link, &[("form_token", "of another site")]).await.expect(403);
        let _ = root.post(&link, &[("form_token", &token)]).await.expect(303);
        assert!(!root.get(&page).await.expect(200).text.contains("identities/disconnect"));
        let _ = ada.get("/account").await.expect(200);
        let filter = AuditFilter { action: Some(AuditAction::Change), ..AuditFilter::default() };
        let is_removal = |change: &docent_domain::audit::Change| change.before.is_some();
        let mut entries = app.audit(filter).await.into_iter();
        let entry = entries.find(|entry| entry.changes.get("identity").is_some_and(is_removal)).unwrap();
        assert_eq!(entry.changes["identity"].before.as_deref(), Some(&*format!("{ISSUER} 1<a>&b")));
        assert_eq!((entry.changes["identity"].after.as_deref(), &*entry.record), (None, &*user.id.to_string()));
        let notice = app.mails().await.pop().unwrap();
        assert_eq!((notice.to.as_str(), &*notice.subject), (ADA, "Your account was disconnected from a sign-in provider"));
        // Twice is no error, and changes nothing.
        let _ = root.post(&link, &[("form_token", &token)]).await.expect(303);
        assert_eq!(root.get(&link).await.expect(303).header("location"), page);
    }

    async fn identity_of_a_superuser_or_of_another_account_is_not_disconnected(setup) {
        let app = setup.identity_provider(provider_rules()).start().await;
        for (subject, email) in [("1", ADA), ("2", "eve@example.org")] {
            let _ = sign_in_with(&app, &mut Browser::new(&app), person(&app, subject, email)).await.expect(303);
        }
        let (mut ada, eve) = (account(&app, ADA).await, account(&app, "eve@example.org").await);
        let mut work = app.ports.store.begin().await.unwrap();
        ada.is_superuser = true;
        work.users().update(&ada).await.unwrap();
        work.commit().await.unwrap();
        let staff = app.account("staff@example.org", Flags { is_staff: true, is_superuser: false }).await;
        app.permit(staff.id, &[Permission::ViewUser, Permission::ChangeUser]).await;
        let mut staff = at_account(&app, "staff@example.org").await;
        let link = |id, subject: &str| format!("/admin/users/{id}/identities/disconnect?issuer={}&subject={subject}", ISSUER.replace(':', "%3A").replace('/', "%2F"));
        let page = staff.get(&format!("/admin/users/{}", ada.id)).await.expect(200);
        assert!(page.text.contains("Example ID") && !page.text.contains("identities/disconnect"), "{}", page.text);
        let token = form_token(&page);
        let _ = staff.get(&link(ada.id, "1")).await.expect(403);
        let _ = staff.post(&link(ada.id, "1"), &[("form_token", &token)]).await.expect(403);
        // The path decides whose identity is removed.
        let mut root = superuser(&app).await;
        let token = form_token(&root.get("/account").await.expect(200));
        let _ = root.post(&link(eve.id, "1"), &[("form_token", &token)]).await.expect(303);
        let mut view = app.ports.store.read().await.unwrap();
        assert_eq!(view.identities().of_user(ada.id).await.unwrap().len(), 1);
        assert_eq!(view.identities().of_user(eve.id).await.unwrap().len(), 1);
    }

    async fn forms_of_a_group_that_the_provider_manages_say_what_a_change_does(setup) {
        let rules = ProviderRules { groups: vec![mapping("/eng", "engineers")], ..provider_rules() };
        let app = setup.identity_provider(rules).start().await;
        add_groups(&app, &["Engineers", "By hand"]).await;
        let mut root = superuser(&app).await;
        let list = root.get("/admin/groups").await.expect(200).text;
        let links = || list.split("href=\"").map(|link| link.split('"').next().unwrap());
        for (name, is_managed) in [("Engineers", true), ("By hand", false)] {
            let mut pages = links().filter(|link| link.starts_with("/admin/groups/") && *link != "/admin/groups/add");
            let mut found = false;
            for page in pages.by_ref() {
                let text = root.get(page).await.expect(200).text;
                if !text.contains(&format!("value=\"{name}\"")) {
                    continue;
                }
                found = true;
                let says = "Sign-ins at Example ID decide who is a member of the group with this name (DOCENT_OIDC_GROUPS)";
                assert_eq!(text.contains(says), is_managed, "{text}");
                let confirm = root.get(&format!("{page}/delete")).await.expect(200).text;
                assert_eq!(confirm.contains("The next sign-ins do not create it again"), is_managed, "{confirm}");
            }
            assert!(found, "{name}: {list}");
        }
        assert!(!root.get("/admin/groups/add").await.expect(200).text.contains("Sign-ins at"));
    }
}
