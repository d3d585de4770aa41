//! The accounts that send requests, and the records that requests are about.

use super::rows::{RecordOwner, Row};
use chrono::TimeDelta;
use docent_app::accounts::api_keys::ApiKeyInput;
use docent_app::accounts::create::Flags;
use docent_app::audit::Initiator;
use docent_domain::api_key::{ApiKeyName, ApiKeyScopes};
use docent_domain::conversation::{Conversation, ConversationSelection, ConversationTitle};
use docent_domain::group::{Group, GroupName};
use docent_domain::id::{ConversationId, GroupId, InvitationId, UserId, VerificationId};
use docent_domain::invitation::Invitation;
use docent_domain::listing::{
    AuditFilter, DocumentFilter, JobFilter, PageRequest, SessionFilter, UserFilter,
};
use docent_domain::permission::{Permission, PermissionSet};
use docent_domain::session::{Session, SessionKind};
use docent_domain::text::Email;
use docent_domain::user::User;
use docent_domain::verification::{VerificationPurpose, VerificationToken};
use docent_testkit::builders::{self, connected};
use docent_tests::app::{PASSWORD, TestApp};
use docent_tests::browser::{Browser, form_token};
use docent_tests::member::Member;
use docent_tests::pdf::pdf;
use serde_json::json;

/// The marker in every name of the records of other accounts. Refusals must not contain it.
pub(super) const MARKER: &str = "zanzibar";

/// An account that sends requests.
pub(super) struct TestAccount {
    pub(super) member: Member,
    /// The session cookie and its form token.
    pub(super) cookie: String,
    pub(super) form_token: String,
    own: Own,
}

/// The records of an account that sends requests.
struct Own {
    document: String,
    key: String,
    application: String,
    session: String,
    conversation: String,
    collection: String,
    /// IDs of a webhook and of one of its deliveries.
    webhook: (String, String),
}

impl TestAccount {
    pub(super) async fn new(app: &TestApp, email: &str, flags: Flags) -> Self {
        let user = app.account(email, flags).await;
        let member = Member::login(app, user).await;
        let own = Own {
            document: member.add(&format!("{email}.pdf"), pdf(&["words"])).await,
            key: key(app, member.user.id, email, &["read"], None).await.1,
            application: application(app, member.user.id).await,
            session: session(app, member.user.id).await,
            conversation: conversation(&member).await,
            collection: collection(&member, "own").await,
            webhook: webhook(&member, "own").await,
        };
        let mut account = Self { member, cookie: String::new(), form_token: String::new(), own };
        account.sign_in(app).await;
        account
    }

    /// Signs a browser in.
    pub(super) async fn sign_in(&mut self, app: &TestApp) {
        let mut browser = Browser::new(app);
        let email = self.member.user.email.as_str();
        let _ = browser.login_at("/account/login", email, PASSWORD).await.expect(303);
        self.form_token = form_token(&browser.get("/account").await.expect(200));
        self.cookie = browser.cookie;
    }

    /// Replaces the sessions of the browser and of the API client.
    pub(super) async fn replace_sessions(&mut self, app: &TestApp) {
        self.member = Member::login(app, self.member.user.clone()).await;
        self.own.session = session(app, self.member.user.id).await;
        self.sign_in(app).await;
    }

    /// Replaces the own record that a row used up.
    pub(super) async fn replace_own(&mut self, app: &TestApp, row: &Row) {
        let user = self.member.user.id;
        match section(row) {
            "documents" => self.own.document = self.member.add("own.pdf", pdf(&["words"])).await,
            "conversations" => self.own.conversation = conversation(&self.member).await,
            "collections" => self.own.collection = collection(&self.member, "own").await,
            "webhooks" => self.own.webhook = webhook(&self.member, "own").await,
            "api-keys" => self.own.key = key(app, user, "own", &["read"], None).await.1,
            "applications" => self.own.application = application(app, user).await,
            "sessions" => {
                // Its access token ended with the session.
                self.member = Member::login(app, self.member.user.clone()).await;
                self.own.session = session(app, user).await;
            }
            other => panic!("{other} have no owner"),
        }
    }
}

/// Creates an API key; returns the key and its ID.
pub(super) async fn key(
    app: &TestApp,
    user: UserId,
    name: &str,
    scopes: &[&str],
    lifetime: Option<TimeDelta>,
) -> (String, String) {
    let (name, scopes) =
        (ApiKeyName::parse(name).unwrap(), ApiKeyScopes::parse(scopes.iter().copied()).unwrap());
    let expires_at = lifetime.map(|lifetime| app.app.now() + lifetime);
    let request = ApiKeyInput { user, name, scopes, collections: None, expires_at };
    let new = app.app.account_service().create_api_key(&Initiator::command_line(), request).await.unwrap();
    (new.key, new.record.id.to_string())
}

/// Connects an application and returns its ID.
async fn application(app: &TestApp, user: UserId) -> String {
    let (_, id) = key(app, user, "an application", &["read"], None).await;
    let connection = connected(1, user).connection.unwrap();
    let mut work = app.ports.store.begin().await.unwrap();
    let end = app.app.now() + TimeDelta::days(365);
    assert!(work.api_keys().renew(id.parse().unwrap(), &connection, end).await.unwrap());
    work.commit().await.unwrap();
    id
}

/// Returns the ID of an active API session of the account.
async fn session(app: &TestApp, user: UserId) -> String {
    let is_active = |session: &Session| session.kind == SessionKind::Api && session.revoked_at.is_none();
    let active = app.sessions(user).await.into_iter().find(is_active);
    active.unwrap().id.to_string()
}

/// Creates a conversation and returns its ID.
async fn conversation(member: &Member) -> String {
    let conversation = member.post("/conversations", json!({})).await.expect(201).json();
    conversation["id"].as_str().unwrap().to_owned()
}

/// Creates a collection and returns its ID.
async fn collection(member: &Member, name: &str) -> String {
    let collection = member.post("/collections", json!({ "name": name })).await.expect(201).json();
    collection["id"].as_str().unwrap().to_owned()
}

/// Creates a webhook with a delivery and returns the IDs of both.
async fn webhook(member: &Member, name: &str) -> (String, String) {
    let body = json!({ "url": format!("https://example.org/{name}"), "description": name });
    let webhook = member.post("/webhooks", body).await.expect(201).json();
    let id = webhook["id"].as_str().unwrap().to_owned();
    let ping = member.post(&format!("/webhooks/{id}/test"), json!({})).await.expect(202).json();
    (id, ping["id"].as_str().unwrap().to_owned())
}

/// One record of each kind, of accounts that send no requests.
pub(super) struct Records {
    user: User,
    superuser: User,
    document: String,
    group: String,
    key: String,
    application: String,
    session: String,
    conversation: String,
    collection: String,
    invitation: String,
    verification: String,
    webhook: (String, String),
    entry: String,
}

impl Records {
    /// Creates the records; `number` makes their names unique.
    pub(super) async fn new(app: &TestApp, number: usize) -> Self {
        let name = format!("{MARKER} {number}");
        let root = Flags { is_staff: true, is_superuser: true };
        let superuser = app.account(&format!("{MARKER}-root{number}@example.org"), root).await;
        let user = app.account(&format!("{MARKER}{number}@example.org"), Flags::default()).await;
        let member = Member::login(app, user.clone()).await;
        let document = member.add(&format!("{name}.pdf"), pdf(&[MARKER])).await;
        let key = key(app, user.id, &name, &["read"], None).await.1;
        let application = application(app, user.id).await;
        let session = session(app, user.id).await;
        let (group, conversation, verification, invitation) = insert(app, &user, &name).await;
        let webhook = webhook(&member, &name.replace(' ', "-")).await;
        let collection = collection(&member, &name).await;
        let of_user = AuditFilter { record: Some(user.id.to_string()), ..AuditFilter::default() };
        let entry = app.audit(of_user).await[0].id.to_string();
        Self {
            user,
            superuser,
            document,
            group,
            key,
            application,
            session,
            conversation,
            collection,
            invitation,
            verification,
            webhook,
            entry,
        }
    }

    /// Returns the path of a row with its placeholders replaced.
    pub(super) fn path(&self, row: &Row, caller: Option<&TestAccount>) -> String {
        let own = caller.filter(|_| row.owner == RecordOwner::Own);
        let id = match section(row) {
            "documents" => own.map_or(&self.document, |account| &account.own.document).clone(),
            "api-keys" => own.map_or(&self.key, |account| &account.own.key).clone(),
            "applications" => own.map_or(&self.application, |account| &account.own.application).clone(),
            "sessions" => own.map_or(&self.session, |account| &account.own.session).clone(),
            "users" if row.owner == RecordOwner::OtherSuperuser => self.superuser.id.to_string(),
            "users" => own.map_or(self.user.id, |account| account.member.user.id).to_string(),
            "groups" => self.group.clone(),
            "conversations" => own.map_or(&self.conversation, |account| &account.own.conversation).clone(),
            "collections" => own.map_or(&self.collection, |account| &account.own.collection).clone(),
            "webhooks" => own.map_or(&self.webhook, |account| &account.own.webhook).0.clone(),
            "invitations" => self.invitation.clone(),
            "verifications" => self.verification.clone(),
            "audit" => self.entry.clone(),
            "v1" => "chat".to_owned(),
            "librechat" => "unknown".to_owned(),
            "agents" => self.conversation.clone(),
            "docs" => "docs.js".to_owned(),
            _ => String::new(),
        };
        let delivery = &own.map_or(&self.webhook, |account| &account.own.webhook).1;
        let fixed = row.path.replace("{name}", "chat").replace("{page}", "1").replace("{delivery}", delivery);
        let fixed = fixed.replace("{provider}", "sso");
        // Conversations have no messages here.
        let fixed = fixed.replace("{member}", &self.group).replace("{message}", &self.group);
        let store = own.map_or(&self.collection, |account| &account.own.collection);
        let file = own.map_or(&self.document, |account| &account.own.document);
        // The documents are in no other collection than that of everyone, and there are no batches and responses.
        let fixed = fixed.replace("{vector_store_id}", store).replace("{file_id}", file);
        let fixed = fixed.replace("{batch_id}", &self.group).replace("{response_id}", &self.group);
        let path = ["{id}", "{doc_id}", "{file}"].iter().fold(fixed, |p, hole| p.replace(hole, &id));
        assert!(!path.contains('{'), "no record for {path}");
        path
    }

    /// Returns a JSON body with its placeholders replaced.
    pub(super) fn body(&self, body: &str) -> String {
        body.replace("{conversation}", &self.conversation).replace("{email}", self.user.email.as_str())
    }

    /// Returns the value of a form field with its placeholder replaced.
    pub(super) fn value(&self, value: &str, caller: Option<&TestAccount>) -> String {
        match value {
            "{own collection}" => caller.map_or(&self.collection, |account| &account.own.collection).clone(),
            "{document}" => self.document.clone(),
            "{delivery}" => self.webhook.1.clone(),
            "{user}" => self.user.id.to_string(),
            "{group}" => self.group.clone(),
            "{email}" => self.user.email.as_str().to_owned(),
            "{superuser}" => self.superuser.id.to_string(),
            "{superuser's email}" => self.superuser.email.as_str().to_owned(),
            plain => plain.to_owned(),
        }
    }
}

/// Returns the kind of record that a path is about, such as `documents`, in the API, in the panel and on the account pages.
fn section(row: &Row) -> &'static str {
    let mut parts = row.path.trim_start_matches("/admin").trim_start_matches("/account").split('/').skip(1);
    match (parts.next(), parts.next()) {
        (Some("v1"), Some("files")) => "documents",
        (Some("v1"), Some("vector_stores")) => "collections",
        (section, _) => section.unwrap_or_default(),
    }
}

async fn insert(app: &TestApp, user: &User, name: &str) -> (String, String, String, String) {
    let now = app.app.now();
    let group = Group {
        id: app.app.new_id(GroupId::generate),
        name: GroupName::parse(name).unwrap(),
        permissions: PermissionSet::EMPTY,
        created_at: now,
    };
    let conversation = Conversation {
        id: app.app.new_id(ConversationId::generate),
        owner: user.id,
        title: ConversationTitle::parse(name).unwrap(),
        selection: ConversationSelection::default(),
        is_pinned: false,
        limited_key: None,
        created_at: now,
        updated_at: now,
    };
    let mut sha256 = [0; 32];
    app.ports.entropy.fill(&mut sha256);
    let verification = VerificationToken {
        id: app.app.new_id(VerificationId::generate),
        user: user.id,
        purpose: VerificationPurpose::ResetPassword,
        new_email: None,
        sha256,
        created_at: now,
        expires_at: now + TimeDelta::days(1),
    };
    let invitation = Invitation {
        id: app.app.new_id(InvitationId::generate),
        email: Email::parse(&format!("{}@example.org", name.replace(' ', "-guest"))).unwrap(),
        sha256,
        created_at: now,
        expires_at: now + TimeDelta::days(1),
        ..builders::invitation(1, None)
    };
    let mut work = app.ports.store.begin().await.unwrap();
    assert!(work.invitations().insert(&invitation).await.unwrap());
    assert!(work.groups().insert(&group).await.unwrap());
    assert!(work.conversations().insert(&conversation).await.unwrap());
    work.verifications().insert(&verification).await.unwrap();
    work.commit().await.unwrap();
    let ids = (group.id.to_string(), conversation.id.to_string());
    (ids.0, ids.1, verification.id.to_string(), invitation.id.to_string())
}

/// Formats all records that a request could change. Permissions of accounts are not included.
pub(super) async fn snapshot(app: &TestApp) -> String {
    let all = PageRequest { offset: 0, limit: 100_000 };
    let mut view = app.ports.store.read().await.unwrap();
    let documents = view
        .documents()
        .list(&DocumentFilter::of(docent_domain::scope::Scope::SERVICE.clone()))
        .await
        .unwrap();
    let users = view.users().list(&UserFilter::default(), all).await.unwrap();
    let groups = view.groups().list(None, all).await.unwrap();
    let keys = view.api_keys().list(&docent_domain::listing::ApiKeyFilter::default(), all).await.unwrap();
    let sessions = view.sessions().list(&SessionFilter::default(), all).await.unwrap();
    let invitations = view.invitations().list(None, all).await.unwrap();
    let links = view.verifications().list(None, all).await.unwrap();
    let conversations = view.conversations().list(&Default::default(), all).await.unwrap();
    let collections = view.collections().page(&Default::default(), all).await.unwrap();
    let mut members = Vec::new();
    for (collection, _) in &collections.records {
        members.push(view.collections().members(collection.id).await.unwrap());
    }
    let webhooks = view.webhooks().list(Default::default(), all).await.unwrap();
    let mut deliveries = Vec::new();
    for webhook in &webhooks.records {
        deliveries.push(view.webhooks().deliveries(webhook.id, None, all).await.unwrap());
    }
    let jobs = view.jobs().list(JobFilter::default(), all).await.unwrap();
    let entries =
        view.audit().list(&AuditFilter::default(), PageRequest { limit: 1, ..all }).await.unwrap().total;
    format!(
        "{documents:?}\n{users:?}\n{groups:?}\n{keys:?}\n{sessions:?}\n{invitations:?}\n{links:?}\n{conversations:?}\n{collections:?}\n{members:?}\n{webhooks:?}\n{deliveries:?}\n{jobs:?}\n{entries}"
    )
}

/// Sets the permissions of an account.
pub(super) async fn permit(app: &TestApp, account: &TestAccount, permissions: PermissionSet) {
    let permissions: Vec<Permission> = permissions.iter().collect();
    app.permit(account.member.user.id, &permissions).await;
}
