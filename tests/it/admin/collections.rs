//! Collections in the panel: `/admin/collections`.

use super::{at_panel, between, staff, staff_account, submit, superuser};
use docent_app::settings::OpenCollectionsRule;
use docent_domain::permission::Permission;
use docent_tests::browser::Browser;
use docent_tests::member::Member;
use docent_tests::pdf::pdf;
use docent_tests::rules;
use serde_json::json;

const LIST: &str = "/admin/collections";

/// Creates a shared collection; returns its ID.
async fn collection(by: &Member, name: &str) -> String {
    let collection = by.post("/collections", json!({ "name": name })).await.expect(201).json();
    collection["id"].as_str().unwrap().to_owned()
}

/// The main part of a page.
async fn main(browser: &mut Browser, path: &str) -> String {
    let text = browser.get(path).await.expect(200).text;
    between(&text, "<main", "</main>").to_owned()
}

rules! {
    async fn collection_is_created_shared_changed_and_deleted(setup) {
        let app = setup.settings(|settings| settings.open_collections = OpenCollectionsRule::Managers).start().await;
        let (mut browser, member) = staff(&app, &[]).await;
        let bob = app.member("bob@example.org").await;
        assert!(!main(&mut browser, "/admin/collections/add").await.contains("name=\"owner\""));
        let wrong = submit(&mut browser, "/admin/collections/add", &[("name", " "), ("role_of_all", "boss")]).await.expect(422);
        assert!(wrong.text.contains("Name must not be empty.") || wrong.text.contains("href=\"#name\""), "{}", wrong.text);
        assert!(wrong.text.contains("Role of every account must be viewer, contributor or manager."), "{}", wrong.text);
        let fields = [("name", "<Contracts>"), ("description", "Signed ones")];
        let page = submit(&mut browser, "/admin/collections/add", &fields).await.expect(303).header("location").to_owned();
        let text = main(&mut browser, &page).await;
        assert!(text.contains("&lt;Contracts&gt;") && text.contains("value=\"Signed ones\"") && !text.contains("<Contracts>"), "{text}");
        assert!(text.contains("are read by only its owner,") && text.contains("No members yet."), "{text}");

        let members = format!("{page}/members");
        let _ = submit(&mut browser, &members, &[("email", "bob@example.org"), ("role", "viewer")]).await.expect(303);
        let text = main(&mut browser, &page).await;
        assert!(text.contains("bob@example.org has the role viewer.") && text.contains("<option value=\"viewer\" selected>viewer</option>"), "{text}");
        let id = page.rsplit('/').next().unwrap().to_owned();
        let role = async || bob.get(&format!("/collections/{id}")).await.expect(200).json()["role"].clone();
        assert_eq!(role().await, json!("viewer"));
        let _ = submit(&mut browser, &members, &[("email", "bob@example.org"), ("role", "manager")]).await.expect(303);
        assert_eq!(role().await, json!("manager"));
        for (fields, error) in [
            (vec![("role", "viewer")], "Email address or the name of a group is required."),
            (vec![("email", "no@example.org"), ("role", "viewer")], "Email address belongs to no account."),
            (vec![("group", "Missing"), ("role", "viewer")], "Group does not exist."),
            (vec![("email", "bob@example.org"), ("group", "x"), ("role", "viewer")], "Group must be empty if an email address is given."),
            (vec![("email", "bob@example.org"), ("role", "boss")], "Role must be viewer, contributor or manager."),
        ] {
            let reply = submit(&mut browser, &members, &fields).await.expect(422);
            assert!(reply.text.contains(error), "{error}: {}", reply.text);
        }
        let user = bob.user.id.to_string();
        let remove = format!("{members}/remove");
        let _ = submit(&mut browser, &remove, &[("user", &user)]).await.expect(303);
        let _ = bob.get(&format!("/collections/{id}")).await.expect(404);
        let _ = submit(&mut browser, &remove, &[("user", &user)]).await.expect(303);
        assert!(main(&mut browser, &page).await.contains("This member was removed before."));
        let _ = submit(&mut browser, &remove, &[("user", "x")]).await.expect(422);

        let fields = [("name", "Contracts"), ("description", ""), ("role_of_all", "viewer")];
        let _ = submit(&mut browser, &page, &fields).await.expect(303);
        assert!(main(&mut browser, &page).await.contains("are read by every account,"));
        assert_eq!(role().await, json!("viewer"));

        let path = format!("/documents/upload?collection_id={id}");
        let _ = member.upload_to(&path, "a.pdf", pdf(&["zebras"])).await.expect(202);
        assert!(main(&mut browser, &format!("{page}/delete")).await.contains("Delete the collection"));
        let _ = submit(&mut browser, &format!("{page}/delete"), &[]).await.expect(303);
        let text = main(&mut browser, &page).await;
        assert!(text.contains("Not deleted: 1 document is in no other collection."), "{text}");
        let other = collection(&member, "Empty").await;
        let _ = submit(&mut browser, &format!("{LIST}/{other}/delete"), &[]).await.expect(303);
        assert!(main(&mut browser, LIST).await.contains("The collection Empty was deleted."));
        app.leave_jobs();
    }

    /// A page shows only what the account may do, and its list only what it may view.
    async fn pages_show_what_the_role_allows(setup) {
        let app = setup.start().await;
        let (mut browser, member) = staff(&app, &[]).await;
        let ada = app.ada().await;
        let (team, secret) = (collection(&ada, "Team").await, collection(&ada, "Secret").await);
        let give = async |role: &str| {
            let body = json!({ "email": "staff@example.org", "role": role });
            let _ = ada.put(&format!("/collections/{team}/members"), body).await.expect(200);
        };
        let _ = browser.get(&format!("{LIST}/{team}")).await.expect(404);
        give("viewer").await;
        let list = main(&mut browser, LIST).await;
        assert!(list.contains("Team") && list.contains("Everyone") && !list.contains("Secret"), "{list}");
        assert!(list.contains("These are the collections that you have a role on."));
        let page = format!("{LIST}/{team}");
        let text = main(&mut browser, &page).await;
        for absent in ["Save", "Add member", "Delete…", "name=\"role\"", "Members", "History", ">Documents</a>"] {
            assert!(!text.contains(absent), "{absent}: {text}");
        }
        let _ = submit(&mut browser, &page, &[("name", "Mine")]).await.expect(403);
        let _ = submit(&mut browser, &format!("{page}/members"), &[("email", "ada@example.org"), ("role", "viewer")]).await.expect(403);
        let _ = submit(&mut browser, &format!("{page}/delete"), &[]).await.expect(403);
        let _ = browser.get(&format!("{page}/delete")).await.expect(403);
        give("manager").await;
        let text = main(&mut browser, &page).await;
        for present in ["Save", "Add member", "Delete…", "Leave this collection", "staff@example.org"] {
            assert!(text.contains(present), "{present}: {text}");
        }
        let own = member.user.id.to_string();
        let reply = submit(&mut browser, &format!("{page}/members/remove"), &[("user", &own)]).await.expect(303);
        assert_eq!(reply.header("location"), LIST);
        let _ = browser.get(&page).await.expect(404);

        staff_account(&app, "viewer@example.org", &[Permission::ViewCollection]).await;
        let mut viewer = at_panel(&app, "viewer@example.org").await;
        let list = main(&mut viewer, "/admin/collections?kind=shared").await;
        assert!(list.contains("Team") && list.contains("Secret") && !list.contains("Everyone"), "{list}");
        let text = main(&mut viewer, &format!("{LIST}/{secret}")).await;
        assert!(text.contains("Members") && !text.contains("Save") && !text.contains("Leave this"), "{text}");
        assert!(main(&mut viewer, "/admin/collections?q=secr").await.contains("Secret"));
        assert!(main(&mut viewer, "/admin/collections?q=nothing").await.contains("No matching collections."));
        let _ = viewer.get("/admin/collections?kind=odd").await.expect(422);
    }

    /// Without the permission, the role of every account is offered only to lower it.
    async fn role_of_all_is_offered_to_those_who_may_open(setup) {
        let app = setup.start().await;
        let (mut browser, member) = staff(&app, &[]).await;
        let root = app.superuser().await;
        let add = "/admin/collections/add";
        assert!(!main(&mut browser, add).await.contains("role_of_all"));
        let fields = [("name", "Mine"), ("role_of_all", "viewer")];
        let reply = submit(&mut browser, add, &fields).await.expect(403);
        assert!(reply.text.contains("open collections to all accounts"), "{}", reply.text);
        let mine = collection(&member, "Mine").await;
        let page = format!("{LIST}/{mine}");
        assert!(!main(&mut browser, &page).await.contains("role_of_all"));
        let opened = json!({ "email": root.user.email.as_str(), "role": "manager" });
        let _ = member.put(&format!("/collections/{mine}/members"), opened).await.expect(200);
        let _ = root.patch(&format!("/collections/{mine}"), json!({ "role_of_all": "contributor" })).await.expect(200);
        let text = main(&mut browser, &page).await;
        let settings = between(&text, "name=\"role_of_all\"", "</select>");
        assert!(settings.contains("<option value=\"contributor\" selected>"), "{text}");
        assert!(settings.contains("value=\"viewer\"") && !settings.contains("value=\"manager\""), "{settings}");
        let _ = submit(&mut browser, &page, &[("name", "Mine"), ("role_of_all", "manager")]).await.expect(403);
        let _ = submit(&mut browser, &page, &[("name", "Mine"), ("role_of_all", "viewer")]).await.expect(303);
        let _ = submit(&mut browser, &page, &[("name", "Mine"), ("role_of_all", "")]).await.expect(303);
        app.permit(member.user.id, &[Permission::OpenCollection]).await;
        assert!(main(&mut browser, add).await.contains("role_of_all"));
        let _ = submit(&mut browser, &page, &[("name", "Mine"), ("role_of_all", "manager")]).await.expect(303);
    }

    /// Personal collections have neither members nor a role of every account, and cannot be deleted.
    async fn personal_collection_cannot_be_shared_or_deleted(setup) {
        let app = setup.start().await;
        let (mut browser, member) = staff(&app, &[]).await;
        let page = format!("{LIST}/{}", member.user.id);
        let text = main(&mut browser, &page).await;
        assert!(text.contains("Save") && text.contains("personal"));
        assert!(!text.contains("role_of_all") && !text.contains("Add member") && !text.contains("Delete…"), "{text}");
        let fields = [("email", "staff@example.org"), ("role", "viewer")];
        let _ = submit(&mut browser, &format!("{page}/members"), &fields).await.expect(409);
        let _ = submit(&mut browser, &page, &[("name", "Mine"), ("role_of_all", "viewer")]).await.expect(409);
        let _ = submit(&mut browser, &page, &[("name", "Mine")]).await.expect(303);
        assert!(main(&mut browser, &page).await.contains("value=\"Mine\""));
        let _ = browser.get(&format!("{page}/delete")).await.expect(403);
    }

    async fn collection_is_added_for_another_account(setup) {
        let app = setup.start().await;
        let mut root = superuser(&app).await;
        let ada = app.ada().await;
        let add = "/admin/collections/add";
        assert!(main(&mut root, add).await.contains("value=\"root@example.org\""));
        let reply = submit(&mut root, add, &[("name", "Hers"), ("owner", "no@example.org")]).await.expect(422);
        assert!(reply.text.contains("Owner is not the email address of an account."), "{}", reply.text);
        let page = submit(&mut root, add, &[("name", "Hers"), ("owner", "ada@example.org")]).await.expect(303);
        let page = page.header("location").to_owned();
        let id = page.rsplit('/').next().unwrap();
        assert_eq!(ada.get(&format!("/collections/{id}")).await.expect(200).json()["role"], json!("manager"));
        assert!(main(&mut root, &page).await.contains(&format!("href=\"/admin/users/{}\"", ada.user.id)));
        let reply = submit(&mut root, add, &[("name", "Unowned"), ("owner", "")]).await.expect(303);
        assert!(main(&mut root, reply.header("location")).await.contains("are read by no account,"));
    }

    /// Members are listed by name on pages, and entries of the audit log lead to the collection.
    async fn members_are_paged_and_audited(setup) {
        let app = setup.start().await;
        let mut root = superuser(&app).await;
        let page = submit(&mut root, "/admin/collections/add", &[("name", "Team")]).await.expect(303).header("location").to_owned();
        let _ = submit(&mut root, "/admin/groups/add", &[("name", "Legal")]).await.expect(303);
        let _ = submit(&mut root, &format!("{page}/members"), &[("group", "legal"), ("role", "contributor")]).await.expect(303);
        for n in 0..51 {
            let email = format!("a{n:02}@example.org");
            app.account(&email, docent_app::accounts::create::Flags::default()).await;
            let _ = submit(&mut root, &format!("{page}/members"), &[("email", &email), ("role", "viewer")]).await.expect(303);
        }
        let first = main(&mut root, &page).await;
        assert!(first.contains("1–50 of 52") && first.contains("a00@example.org") && !first.contains("Role of Legal"), "{first}");
        let second = main(&mut root, &format!("{page}?page=2")).await;
        assert!(second.contains("Role of Legal") && second.contains("Role of a50@example.org") && !second.contains("Role of a49@"), "{second}");
        let id = page.rsplit('/').next().unwrap();
        let log = main(&mut root, &format!("/admin/audit?kind=collection&record={id}")).await;
        let entry = between(&log, "class=\"row\" href=\"", "\"").to_owned();
        assert!(main(&mut root, &entry).await.contains(&format!("href=\"{page}\"")), "{log}");
    }

    async fn stale_settings_do_not_overwrite_newer_ones(setup) {
        let app = setup.start().await;
        let (mut browser, member) = staff(&app, &[]).await;
        let page = format!("{LIST}/{}", collection(&member, "Before").await);
        let seen = between(&main(&mut browser, &page).await, "name=\"seen\" value=\"", "\"").to_owned();
        let _ = submit(&mut browser, &page, &[("name", "Newer"), ("seen", &seen)]).await.expect(303);
        let _ = submit(&mut browser, &page, &[("name", "Stale"), ("seen", &seen)]).await.expect(303);
        let text = main(&mut browser, &page).await;
        assert!(text.contains("value=\"Newer\"") && text.contains("This record was changed by someone else"), "{text}");
    }

    /// The page of a document explains who reads it, for accounts with the permissions to view documents, collections and accounts.
    async fn readers_of_a_document_are_listed_with_reasons(setup) {
        let app = setup.start().await;
        let mut root = superuser(&app).await;
        let (ada, bob) = (app.ada().await, app.member("bob@example.org").await);
        let team = collection(&ada, "Team").await;
        let _ = submit(&mut root, "/admin/groups/add", &[("name", "Legal")]).await.expect(303);
        let member = json!({ "email": "bob@example.org", "role": "viewer" });
        let _ = ada.put(&format!("/collections/{team}/members"), member).await.expect(200);
        let fields = [("group", "Legal"), ("role", "contributor")];
        let _ = submit(&mut root, &format!("/admin/collections/{team}/members"), &fields).await.expect(303);
        app.deactivate(bob.user.id).await;
        let path = format!("/documents/upload?collection_id={team}");
        let document = ada.upload_to(&path, "a.pdf", pdf(&["zebras"])).await.expect(202).json();
        let page = format!("/admin/documents/{}", document["id"].as_str().unwrap());
        let most = [Permission::ViewDocument, Permission::ViewUser];
        let viewer = staff_account(&app, "viewer@example.org", &most).await;
        let mut viewer_window = at_panel(&app, "viewer@example.org").await;
        for path in [page.clone(), format!("{page}/readers")] {
            let text = main(&mut root, &path).await;
            for (name, reason) in [
                ("ada@example.org", "owner of <a"),
                ("bob@example.org", "viewer on <a"),
                (">Legal</a> (group)", "contributor on <a"),
                ("viewer@example.org", "permission to view all documents in the panel"),
                ("root@example.org", "superuser, who views all documents in the panel"),
            ] {
                let row = text.split("<tr>").find(|row| row.contains(name) && row.contains(reason));
                assert!(row.is_some(), "{name}: {text}");
            }
            assert!(text.contains("deactivated") && !text.contains("every account<"), "{text}");
        }
        assert!(main(&mut root, &page).await.contains("All readers with their reasons (5)"));
        assert!(!main(&mut viewer_window, &page).await.contains("Who can read this"));
        let _ = viewer_window.get(&format!("{page}/readers")).await.expect(403);
        app.permit(viewer.id, &[most[0], most[1], Permission::ViewCollection]).await;
        assert!(main(&mut viewer_window, &page).await.contains("Who can read this"));
        app.leave_jobs();
    }

    /// The page of an account explains what it reads.
    async fn collections_of_an_account_are_listed_with_reasons(setup) {
        let app = setup.start().await;
        let mut root = superuser(&app).await;
        let (ada, bob) = (app.ada().await, app.member("bob@example.org").await);
        let team = collection(&ada, "Team").await;
        let _ = collection(&ada, "Secret").await;
        let _ = ada.put(&format!("/collections/{team}/members"), json!({ "email": "bob@example.org", "role": "viewer" })).await.expect(200);
        let path = format!("/documents/upload?collection_id={team}");
        let _ = ada.upload_to(&path, "a.pdf", pdf(&["zebras"])).await.expect(202);
        let page = format!("/admin/users/{}", bob.user.id);
        for path in [page.clone(), format!("{page}/collections")] {
            let text = main(&mut root, &path).await;
            let text = between(&text, "What this account can read", "</table>");
            for (name, role, source) in [("Everyone", "contributor", "role of every account"), ("Personal", "manager", "owner"), ("Team", "viewer", "member")] {
                let row = text.split("<tr>").find(|row| row.contains(&format!(">{name}</a>"))).unwrap_or_default();
                assert!(row.contains(&format!(">{role}</td>")) && row.contains(&format!(">{source}</td>")), "{name}: {text}");
            }
            assert!(text.contains(&format!("href=\"/admin/documents?collection={team}\">1<")) && !text.contains("Secret"), "{text}");
            assert!(!text.contains("views all"), "{text}");
        }
        assert!(main(&mut root, &page).await.contains("All collections of this account (3)"));
        app.permit(bob.user.id, &[Permission::ViewDocument]).await;
        assert!(!main(&mut root, &page).await.contains("views all of them in the panel"), "no staff");
        let staff = staff_account(&app, "staff@example.org", &[Permission::ViewDocument, Permission::ViewUser]).await;
        let text = main(&mut root, &format!("/admin/users/{}", staff.id)).await;
        assert!(text.contains("With the permission to view documents, this account views all of them in the panel."), "{text}");
        let mut window = at_panel(&app, "staff@example.org").await;
        assert!(!main(&mut window, &page).await.contains("What this account can read"));
        let _ = window.get(&format!("{page}/collections")).await.expect(403);
        app.leave_jobs();
    }
}
