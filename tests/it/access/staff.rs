//! Each permission of staff alone, against an account and a group with a role on a closed collection that the
//! staff lacks.
//!
//! The rows of `rows.rs` are about accounts without roles. Here managing the account or the group would be a
//! way to the documents of the collection. The last callers have more permissions, up to those that allow
//! everything.

use crate::admin::at_panel;
use docent_app::accounts::create::Flags;
use docent_domain::collection::{CollectionRole, Member as CollectionMember};
use docent_domain::group::{AssignedPermissions, Group, GroupName};
use docent_domain::id::{GroupId, InvitationId, VerificationId};
use docent_domain::invitation::{Invitation, InvitedAccess};
use docent_domain::permission::Permission::{self, *};
use docent_domain::text::Email;
use docent_domain::verification::{VerificationPurpose, VerificationToken};
use docent_testkit::builders::{self, verification};
use docent_tests::app::{DATA, TestApp};
use docent_tests::browser::{Browser, form_token};
use docent_tests::member::Member;
use docent_tests::pdf::pdf;
use docent_tests::rules;
use serde_json::{Value, json};

/// What a route needs besides the first permissions: a role that the caller lacks, or the permissions to set
/// it.
const ROLE: &[Permission] = &[ViewCollection, ChangeCollection];
/// All permissions to manage accounts, groups, keys and links.
const ACCOUNTS: &[Permission] = &[
    ViewUser,
    AddUser,
    ChangeUser,
    DeleteUser,
    ViewGroup,
    AddGroup,
    ChangeGroup,
    DeleteGroup,
    ViewApiKey,
    AddApiKey,
    DeleteApiKey,
    ViewInvitation,
    AddInvitation,
    DeleteInvitation,
    ViewVerification,
    AddVerification,
    DeleteVerification,
];

/// A route. Words in capitals stand for records: `USER` has the role of a manager by the group `GROUP` and is
/// a contributor itself, on the closed collection `COLLECTION` that has `DOCUMENT`; `SELF` is the caller.
struct Route {
    method: &'static str,
    path: &'static str,
    body: Body,
    /// Status for callers with all that is needed.
    success: u16,
    /// Permissions: the first ones, and others.
    needs: &'static [&'static [Permission]],
    /// Statuses without one of the first permissions, and without one of the others.
    refusals: [u16; 2],
}

#[derive(Clone, Copy)]
enum Body {
    None,
    Json(&'static str),
    /// Of a page of the panel or of the account pages.
    Form(&'static [(&'static str, &'static str)]),
}
use Body::{Form, Json};

const fn api(
    method: &'static str,
    path: &'static str,
    body: Body,
    success: u16,
    needs: &'static [&'static [Permission]],
) -> Route {
    Route { method, path, body, success, needs, refusals: [404, 404] }
}

const fn hidden(method: &'static str, path: &'static str, body: Body) -> Route {
    api(method, path, body, 404, &[])
}

const fn page(path: &'static str, needs: &'static [&'static [Permission]]) -> Route {
    Route { method: "GET", path, body: Body::None, success: 200, needs, refusals: [403, 403] }
}

const fn form(
    path: &'static str,
    fields: &'static [(&'static str, &'static str)],
    success: u16,
    needs: &'static [&'static [Permission]],
) -> Route {
    Route { method: "POST", path, body: Form(fields), success, needs, refusals: [403, 403] }
}

impl Route {
    const fn or(self, refusals: [u16; 2]) -> Self {
        Self { refusals, ..self }
    }
}

const NEW_PASSWORD: &[(&str, &str)] = &[("password", "another secret"), ("again", "another secret")];
const USER: &[(&str, &str)] = &[("email", "USER_EMAIL"), ("is_active", "on")];
const SELF: &[(&str, &str)] =
    &[("email", "SELF_EMAIL"), ("is_active", "on"), ("is_staff", "on"), ("groups", "GROUP")];

/// Routes in the order in which each caller requests them: those that use up a record are after all others
/// that need it.
const ROUTES: &[Route] = &[
    // Permissions alone open nothing of a closed collection over the API, and hide that it exists.
    hidden("GET", "/documents/DOCUMENT", Body::None),
    hidden("GET", "/documents/DOCUMENT/report", Body::None),
    hidden("GET", "/documents/DOCUMENT/file", Body::None),
    hidden("GET", "/documents?collection_id=COLLECTION", Body::None),
    hidden("POST", "/search", Json(r#"{"query":"zebras","collection_ids":["COLLECTION"]}"#)),
    hidden("POST", "/documents", Json(r#"{"title":"t","collection_id":"COLLECTION"}"#)),
    hidden("GET", "/collections/COLLECTION", Body::None),
    hidden("GET", "/conversations/CONVERSATION", Body::None),
    hidden("DELETE", "/conversations/CONVERSATION", Body::None),
    api(
        "PATCH",
        "/documents/DOCUMENT",
        Json(r#"{"attributes":{"a":1}}"#),
        200,
        &[&[ViewDocument], &[ChangeDocument]],
    ),
    api("GET", "/collections/COLLECTION/members", Body::None, 200, &[&[ViewCollection]]),
    // The account pages know only own records.
    hidden("GET", "/account/api-keys/KEY/revoke", Body::None),
    form("/account/api-keys/KEY/revoke", &[], 404, &[]).or([404, 404]),
    form("/account/sessions/SESSION/revoke", &[], 404, &[]).or([404, 404]),
    // The panel.
    page("/admin/documents/DOCUMENT", &[&[ViewDocument]]),
    page("/admin/documents/DOCUMENT/chunks", &[&[ViewDocument]]),
    page("/admin/documents/DOCUMENT/file", &[&[ViewDocument]]),
    page("/admin/documents/DOCUMENT/readers", &[&[ViewDocument], &[ViewCollection, ViewUser]]),
    form("/admin/documents/DOCUMENT/attributes", &[], 303, &[&[ViewDocument], &[ChangeDocument]])
        .or([403, 404]),
    page("/admin/conversations/CONVERSATION", &[&[ViewConversation]]),
    page("/admin/collections/COLLECTION", &[&[ViewCollection]]).or([404, 404]),
    page("/admin/users/USER", &[&[ViewUser]]),
    page("/admin/users/USER/collections", &[&[ViewUser, ViewCollection]]),
    page("/admin/users/USER/limits", &[&[ViewUser, ChangeUser], ROLE]),
    page("/admin/users/USER/password", &[&[ViewUser, ChangeUser], ROLE, DATA]),
    page("/admin/users/USER/delete", &[&[ViewUser, DeleteUser], ROLE]),
    page("/admin/groups/GROUP", &[&[ViewGroup]]),
    page("/admin/groups/GROUP/delete", &[&[ViewGroup, DeleteGroup], ROLE]),
    page("/admin/api-keys/KEY", &[&[ViewApiKey]]).or([404, 404]),
    page("/admin/invitations", &[&[ViewInvitation]]),
    page("/admin/verifications", &[&[ViewVerification]]),
    // Before callers get a role.
    form("/admin/conversations/CONVERSATION/delete", &[], 303, &[&[ViewConversation], &[DeleteConversation]]),
    api("DELETE", "/documents/DOCUMENT", Body::None, 204, &[&[ViewDocument], &[DeleteDocument]]),
    form("/admin/users/SELF", SELF, 303, &[&[ViewUser, ChangeUser], ROLE]).or([403, 422]),
    form(
        "/admin/users/add",
        &[
            ("email", "newNUMBER@example.org"),
            ("password", "another secret"),
            ("is_active", "on"),
            ("groups", "GROUP"),
        ],
        303,
        &[&[AddUser], ROLE],
    )
    .or([403, 422]),
    form(
        "/admin/invitations/add",
        &[("emails", "guestNUMBER@example.org"), ("groups", "GROUP")],
        200,
        &[&[AddInvitation], ROLE],
    )
    .or([403, 422]),
    form(
        "/admin/invitations/add",
        &[("emails", "readerNUMBER@example.org"), ("collections", "COLLECTION"), ("role", "viewer")],
        200,
        &[&[AddInvitation], ROLE],
    )
    .or([403, 422]),
    // A refusal leads back to the list with the reason.
    form("/admin/invitations/INVITATION/resend", &[], 200, &[&[AddInvitation], ROLE]).or([403, 303]),
    form("/admin/users/USER/limits", &[("answers", "3")], 303, &[&[ViewUser, ChangeUser], ROLE]),
    form("/admin/users/USER/password", NEW_PASSWORD, 303, &[&[ViewUser, ChangeUser], ROLE, DATA]),
    // The account has no second factor, and callers that may not reset it do not learn that.
    form("/admin/users/USER/reset-second-factor", &[], 409, &[&[ViewUser, ChangeUser], ROLE, DATA]),
    form("/admin/users/USER/identities/disconnect", &[], 303, &[&[ViewUser, ChangeUser], ROLE, DATA]),
    form(
        "/admin/users/USER",
        &[("email", "mineNUMBER@example.org"), ("is_active", "on"), ("groups", "GROUP")],
        303,
        &[&[ViewUser, ChangeUser], ROLE, DATA],
    )
    .or([403, 422]),
    form(
        "/admin/users/USER",
        &[("email", "mineNUMBER@example.org"), ("groups", "GROUP")],
        303,
        &[&[ViewUser, ChangeUser], ROLE, DATA],
    )
    .or([403, 422]),
    // Its first address again, active, and out of the group.
    form("/admin/users/USER", USER, 303, &[&[ViewUser, ChangeUser], ROLE]).or([403, 422]),
    form(
        "/admin/groups/GROUP/members",
        &[("emails", "USER_EMAIL")],
        303,
        &[&[ViewGroup, ViewUser, ChangeUser], ROLE],
    )
    .or([403, 422]),
    form(
        "/admin/verifications/add",
        &[("user", "USER"), ("purpose", "reset_password")],
        200,
        &[&[AddVerification], ROLE, DATA],
    ),
    form(
        "/admin/verifications/add",
        &[("user", "USER"), ("purpose", "verify_email")],
        200,
        &[&[AddVerification]],
    ),
    form(
        "/admin/api-keys/add",
        &[("account", "USER_EMAIL"), ("name", "k"), ("scopes", "read")],
        200,
        &[&[AddApiKey], ROLE, &[ViewDocument]],
    )
    .or([403, 422]),
    form(
        "/admin/api-keys/add",
        &[("account", "USER_EMAIL"), ("name", "k"), ("scopes", "chat")],
        200,
        &[&[AddApiKey], ROLE, &[ViewConversation, DeleteConversation]],
    )
    .or([403, 422]),
    form(
        "/admin/api-keys/add",
        &[("account", "USER_EMAIL"), ("name", "k"), ("scopes", "admin")],
        200,
        &[&[AddApiKey], ROLE],
    )
    .or([403, 422]),
    form("/admin/groups/GROUP", &[("name", "renamed NUMBER")], 303, &[&[ViewGroup, ChangeGroup], ROLE]),
    form("/admin/users/USER/end-sessions", &[], 303, &[&[DeleteSession]]),
    // Accounts that may change all collections give roles, also to themselves.
    api(
        "PATCH",
        "/collections/COLLECTION",
        Json(r#"{"description":"d"}"#),
        200,
        &[&[ViewCollection], &[ChangeCollection]],
    ),
    api(
        "PUT",
        "/collections/COLLECTION/members",
        Json(r#"{"email":"SELF_EMAIL","role":"manager"}"#),
        200,
        &[&[ViewCollection], &[ChangeCollection]],
    ),
    form(
        "/admin/collections/COLLECTION/members",
        &[("email", "SELF_EMAIL"), ("role", "manager")],
        303,
        &[&[ViewCollection], &[ChangeCollection]],
    )
    .or([404, 403]),
    form(
        "/admin/collections/COLLECTION",
        &[("name", "Other")],
        303,
        &[&[ViewCollection], &[ChangeCollection]],
    )
    .or([404, 403]),
    api(
        "DELETE",
        "/collections/COLLECTION/members/GROUP",
        Body::None,
        204,
        &[&[ViewCollection], &[ChangeCollection]],
    ),
    form("/admin/api-keys/KEY/revoke", &[], 303, &[&[ViewApiKey], &[DeleteApiKey]]).or([404, 403]),
    form("/admin/invitations/INVITATION/revoke", &[], 303, &[&[DeleteInvitation]]),
    form("/admin/verifications/LINK/revoke", &[], 303, &[&[DeleteVerification]]),
    form("/admin/groups/GROUP/delete", &[], 303, &[&[ViewGroup, DeleteGroup], ROLE]),
    form("/admin/users/USER/delete", &[], 303, &[&[ViewUser, DeleteUser], ROLE]),
];

/// The members of staff that request the routes.
fn callers() -> Vec<(String, Vec<Permission>)> {
    let only = |permission: &Permission| (format!("only {permission}"), vec![*permission]);
    let mut callers: Vec<_> = Permission::ALL.iter().map(only).collect();
    callers.push(("accounts".to_owned(), ACCOUNTS.to_vec()));
    callers.push(("accounts and data".to_owned(), [ACCOUNTS, DATA].concat()));
    callers.push(("accounts and roles".to_owned(), [ACCOUNTS, ROLE].concat()));
    callers.push(("accounts, data and roles".to_owned(), [ACCOUNTS, DATA, ROLE, &[DeleteSession]].concat()));
    callers
}

/// A member of staff, and new records for its requests.
struct Caller {
    number: usize,
    permissions: Vec<Permission>,
    member: Member,
    browser: Browser,
    token: String,
    /// Words in paths and bodies, and what they stand for.
    words: Vec<(&'static str, String)>,
}

impl Caller {
    async fn new(app: &TestApp, owner: &Member, number: usize, permissions: Vec<Permission>) -> Self {
        let id = |value: Value| value["id"].as_str().unwrap().to_owned();
        let email = format!("staff{number}@example.org");
        let staff = app.account(&email, Flags { is_staff: true, is_superuser: false }).await;
        app.permit(staff.id, &permissions).await;
        let mut browser = at_panel(app, &email).await;
        let token = form_token(&browser.get("/account").await.expect(200));

        let user = app.member(&format!("user{number}@example.org")).await;
        let collection = id(owner.post("/collections", json!({ "name": "Secret" })).await.expect(201).json());
        let path = format!("/documents/upload?collection_id={collection}");
        let document = id(owner.upload_to(&path, "a.pdf", pdf(&["zebras"])).await.expect(202).json());
        let conversation = id(user.post("/conversations", json!({})).await.expect(201).json());
        let group = Group {
            id: app.app.new_id(GroupId::generate),
            name: GroupName::parse(&format!("Legal {number}")).unwrap(),
            permissions: Default::default(),
            created_at: app.app.now(),
        };
        let mut sha256 = [0; 32];
        app.ports.entropy.fill(&mut sha256);
        let now = app.app.now();
        let link = VerificationToken {
            id: app.app.new_id(VerificationId::generate),
            sha256,
            created_at: now,
            expires_at: now + chrono::TimeDelta::days(1),
            ..verification(1, user.user.id, VerificationPurpose::VerifyEmail)
        };
        let mut work = app.ports.store.begin().await.unwrap();
        assert!(work.groups().insert(&group).await.unwrap());
        let assigned = AssignedPermissions { groups: [group.id].into(), ..AssignedPermissions::default() };
        work.groups().set_assigned_permissions(user.user.id, &assigned).await.unwrap();
        let secret = collection.parse().unwrap();
        for (member, role) in [
            (CollectionMember::Group(group.id), CollectionRole::Manager),
            (CollectionMember::User(user.user.id), CollectionRole::Contributor),
        ] {
            work.collections().set_member(secret, member, Some(role)).await.unwrap();
        }
        let invitation = Invitation {
            id: app.app.new_id(InvitationId::generate),
            email: Email::parse(&format!("invited{number}@example.org")).unwrap(),
            access: InvitedAccess { groups: [group.id].into(), ..InvitedAccess::default() },
            sha256,
            created_at: now,
            expires_at: now + chrono::TimeDelta::days(1),
            ..builders::invitation(1, None)
        };
        assert!(work.invitations().insert(&invitation).await.unwrap());
        work.verifications().insert(&link).await.unwrap();
        work.commit().await.unwrap();
        let session = app.sessions(user.user.id).await[0].id.to_string();
        let key = app.api_key(user.user.id, &["read"]).await.record.id.to_string();
        let words = vec![
            ("SELF_EMAIL", email),
            ("USER_EMAIL", user.user.email.as_str().to_owned()),
            ("SELF", staff.id.to_string()),
            ("USER", user.user.id.to_string()),
            ("NUMBER", number.to_string()),
            ("DOCUMENT", document),
            ("COLLECTION", collection),
            ("CONVERSATION", conversation),
            ("GROUP", group.id.to_string()),
            ("SESSION", session),
            ("KEY", key),
            ("INVITATION", invitation.id.to_string()),
            ("LINK", link.id.to_string()),
        ];
        Self { number, permissions, member: Member::login(app, staff).await, browser, token, words }
    }

    fn fill(&self, text: &str) -> String {
        self.words.iter().fold(text.to_owned(), |text, (word, value)| text.replace(word, value))
    }

    /// The status that the rules give to the caller.
    fn expected(&self, route: &Route) -> u16 {
        let lacks = |needed: &&[Permission]| !needed.iter().all(|needed| self.permissions.contains(needed));
        match route.needs.iter().position(lacks) {
            None => route.success,
            Some(at) => route.refusals[at.min(1)],
        }
    }

    async fn request(&mut self, route: &Route) -> u16 {
        let path = self.fill(route.path);
        let reply = match route.body {
            Form(fields) => {
                let mut filled: Vec<(&str, String)> =
                    fields.iter().map(|(name, value)| (*name, self.fill(value))).collect();
                if route.path.ends_with("/SELF") {
                    // An account that changes itself keeps its permissions.
                    filled.extend(self.permissions.iter().map(|of| ("permissions", of.to_string())));
                }
                filled.push(("form_token", self.token.clone()));
                let fields: Vec<_> = filled.iter().map(|(name, value)| (*name, value.as_str())).collect();
                self.browser.post(&path, &fields).await
            }
            Body::None if path.starts_with("/admin") || path.starts_with("/account") => {
                self.browser.get(&path).await
            }
            Body::None => {
                let request = self.member.request(route.method.parse().unwrap(), &path);
                self.member.app().send(request).await
            }
            Json(body) => {
                let body: Value = serde_json::from_str(&self.fill(body)).unwrap();
                let request = self.member.request(route.method.parse().unwrap(), &path).json(&body);
                self.member.app().send(request).await
            }
        };
        reply.status
    }
}

rules! {
    // Invariant: Staff give, take and take over only access that they have, roles on collections and data of
    // accounts included.
    async fn no_permission_alone_is_a_way_to_a_role_on_a_collection(setup) {
        let app = setup.api_keys().start().await;
        let owner = app.ada().await;
        let mut violations = Vec::new();
        for (number, (name, permissions)) in callers().into_iter().enumerate() {
            let mut caller = Caller::new(&app, &owner, number, permissions).await;
            for route in ROUTES {
                let (status, expected) = (caller.request(route).await, caller.expected(route));
                if status != expected {
                    violations.push(format!("{} {} by {name}: {status}, not {expected}", route.method, route.path));
                }
            }
            let can_set_roles = ROLE.iter().all(|of| caller.permissions.contains(of));
            let reads = caller.member.get(&caller.fill("/collections/COLLECTION")).await.status == 200;
            if reads != can_set_roles {
                violations.push(format!("{name} (staff{}) has a role: {reads}", caller.number));
            }
        }
        app.leave_jobs();
        assert!(violations.is_empty(), "{} violations:\n{}", violations.len(), violations.join("\n"));
    }
}
