//! Domain values with defaults, for tests that set only one or two fields.
//!
//! Values are derived from a number: `document(1)` and `document(2)` differ in ID, title and creation time, and
//! `document(1)` is the same everywhere.

use chrono::{DateTime, TimeDelta, Utc};
use docent_domain::api_key::{ApiKey, ApiKeyName, ApiKeyPrefix, ApiKeyScopes};
use docent_domain::audit::{AuditAction, AuditActor, AuditEntry};
use docent_domain::chat::AgentName;
use docent_domain::client_uri::RedirectUri;
use docent_domain::collection::{Collection, CollectionKind, CollectionName};
use docent_domain::connection::{Connection, Resource};
use docent_domain::conversation::{
    Conversation, ConversationMessage, ConversationSelection, ConversationTitle, MessageRole,
};
use docent_domain::document::{BlobKey, Document, StoredFile};
use docent_domain::extraction::{Coverage, PageLabels};
use docent_domain::file_type::FileType;
use docent_domain::group::{Group, GroupName};
use docent_domain::id::{
    ApiKeyId, AuditId, AuthorizationCodeId, CollectionId, ConversationId, DocumentId, FamilyId, FileBatchId,
    GenerationId, GroupId, InvitationId, JobId, LeaseId, MessageId, OAuthClientId, ResponseId, SessionId,
    TokenId, UsageId, UserId, VerificationId, VersionId, WebhookDeliveryId, WebhookId,
};
use docent_domain::invitation::{Invitation, InvitedAccess};
use docent_domain::job::{Job, JobKind};
use docent_domain::limits::AccountLimits;
use docent_domain::oauth::{AuthorizationCode, CodeChallenge, RegisteredClient};
use docent_domain::permission::{PermissionSet, RecordKind};
use docent_domain::session::{Session, SessionKind};
use docent_domain::stored_response::StoredResponse;
use docent_domain::text::{Email, FileName, Title};
use docent_domain::usage::{TokenUsage, UsageRecord};
use docent_domain::user::{PasswordHash, User};
use docent_domain::verification::{VerificationPurpose, VerificationToken};
use docent_domain::webhook::{
    DeliveryState, Webhook, WebhookDelivery, WebhookDescription, WebhookEvent, WebhookEvents, WebhookSecret,
    WebhookUrl,
};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// The `n`th second after 2026-01-01T00:00:00Z, which is where [`crate::clock::TestClock`] starts.
pub fn at(n: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(1_767_225_600, 0).expect("a valid instant") + TimeDelta::seconds(n)
}

/// The `n`th id of any kind: `let id: DocumentId = id(1)`. Ids sort like their numbers.
pub fn id<T: FromNumber>(n: u32) -> T {
    T::from_number(n)
}

/// Ids that [`id`] makes.
pub trait FromNumber {
    /// The id of a number.
    fn from_number(n: u32) -> Self;
}

macro_rules! ids_from_numbers {
    ($($id:ty),*) => {$(
        impl FromNumber for $id {
            fn from_number(n: u32) -> Self {
                let mut random = [0; 10];
                random[6..].copy_from_slice(&n.to_be_bytes());
                Self::generate(at(0), random)
            }
        }
    )*};
}

ids_from_numbers!(
    ApiKeyId,
    AuditId,
    AuthorizationCodeId,
    CollectionId,
    ConversationId,
    DocumentId,
    FamilyId,
    FileBatchId,
    GenerationId,
    GroupId,
    InvitationId,
    JobId,
    LeaseId,
    MessageId,
    ResponseId,
    OAuthClientId,
    SessionId,
    TokenId,
    UsageId,
    UserId,
    VerificationId,
    VersionId,
    WebhookDeliveryId,
    WebhookId
);

/// An active account without permissions: `user1@example.org`.
pub fn user(n: u32) -> User {
    User {
        id: id(n),
        email: Email::parse(&format!("user{n}@example.org")).expect("an address"),
        password: PasswordHash::from_phc(format!("$argon2id$v=19$m=8,t=1,p=1$c2FsdA${n}")),
        is_active: true,
        is_staff: false,
        is_superuser: false,
        created_at: at(i64::from(n)),
        last_login_at: None,
        email_verified_at: None,
        sessions_from: at(0),
        limits: AccountLimits::default(),
        second_factor: None,
        language: None,
        name: None,
    }
}

/// A file of a version: `document-1.pdf`.
pub fn file(n: u32, version: VersionId) -> StoredFile {
    StoredFile {
        blob: BlobKey::of_version(version),
        name: FileName::sanitize(&format!("document-{n}.pdf")),
        bytes: 1000 + u64::from(n),
        sha256: [u8::try_from(n % 256).expect("below 256"); 32],
        file_type: FileType::Pdf,
    }
}

/// A pending document with a file, created in the `n`th second, of no account: `Document 1`.
pub fn document(n: u32) -> Document {
    let document_id: DocumentId = id(n);
    let created_at = at(i64::from(n));
    let file = file(n, VersionId::first(document_id));
    let title = Title::parse(&format!("Document {n}")).expect("a title");
    Document {
        owner: None,
        ..Document::new(document_id, id(0), CollectionId::EVERYONE, title, Some(file), created_at)
    }
}

/// The coverage of a document of three pages, the second of them empty.
pub fn coverage() -> Coverage {
    Coverage {
        pages: 3,
        empty_pages: vec![2],
        unreliable_pages: vec![],
        truncated_pages: vec![3],
        characters: 4000,
        chunks: 2,
        tokens: 1024,
        language: Some("de".to_owned()),
        recognition: None,
        page_labels: PageLabels::default(),
        unread_picture_pages: vec![1],
        described_pages: vec![],
        undescribed_pages: vec![],
        lacking_result_pages: vec![],
    }
}

/// A queued job that ingests a document and is due in the `n`th second.
pub fn job(n: u32, document: DocumentId) -> Job {
    Job::new(id(n), JobKind::Ingest, document, None, at(i64::from(n)))
}

/// One answer of the agent `chat` to an account: 10 input tokens, 5 output tokens.
pub fn usage(n: u32, user: UserId) -> UsageRecord {
    UsageRecord {
        id: id(n),
        user,
        api_key: None,
        conversation: None,
        agent: AgentName::parse("chat").expect("a name"),
        model: "test-model".to_owned(),
        tokens: TokenUsage { prompt: 10, completion: 5 },
        at: at(i64::from(n)),
    }
}

/// A group without permissions: `Group 1`.
pub fn group(n: u32) -> Group {
    Group {
        id: id(n),
        name: GroupName::parse(&format!("Group {n}")).expect("a name"),
        permissions: PermissionSet::EMPTY,
        created_at: at(i64::from(n)),
    }
}

/// The ID of the `n`th [`collection`]: not that of the `n`th account, which its personal collection has.
pub fn collection_id(n: u32) -> CollectionId {
    id(1_000_000 + n)
}

/// A shared collection without owner and members: `collection 1`.
pub fn collection(n: u32) -> Collection {
    Collection {
        id: collection_id(n),
        kind: CollectionKind::Shared,
        name: CollectionName::parse(&format!("collection {n}")).expect("a name"),
        role_of_all: None,
        ..Collection::everyone(at(i64::from(n)))
    }
}

/// An API key with the scope `read` that does not expire: `key 1`.
pub fn api_key(n: u32, user: UserId) -> ApiKey {
    ApiKey {
        id: id(n),
        user,
        name: ApiKeyName::parse(&format!("key {n}")).expect("a name"),
        prefix: ApiKeyPrefix::parse(&format!("{n:012}")).expect("a prefix"),
        sha256: [u8::try_from(n % 256).expect("below 256"); 32],
        scopes: ApiKeyScopes::parse(["read"]).expect("a scope"),
        collections: None,
        created_by: None,
        created_at: at(i64::from(n)),
        expires_at: None,
        last_used_at: None,
        revoked_at: None,
        connection: None,
    }
}

/// An application that the account has connected: an [`api_key`] for `/mcp` of the [`oauth_client`] 1.
pub fn connected(n: u32, user: UserId) -> ApiKey {
    let connection = Connection {
        client: oauth_client(1).id.to_string(),
        resource: Resource::Mcp,
        refresh_token: id(n),
        replaced_token: None,
        refreshed_at: at(i64::from(n)),
    };
    ApiKey { connection: Some(connection), ..api_key(n, user) }
}

/// A registered client that returns to `http://127.0.0.1/callback`: `Client 1`.
pub fn oauth_client(n: u32) -> RegisteredClient {
    RegisteredClient {
        id: id(n),
        name: ApiKeyName::parse(&format!("Client {n}")).expect("a name"),
        redirect_uris: vec![RedirectUri::parse("http://127.0.0.1/callback").expect("a URI")],
        created_at: at(i64::from(n)),
        last_used_at: None,
    }
}

/// An authorization code of the [`oauth_client`] 1 for `/mcp` that lasts 60 seconds.
pub fn authorization_code(n: u32, user: UserId) -> AuthorizationCode {
    AuthorizationCode {
        id: id(n),
        sha256: [u8::try_from(n % 256).expect("below 256"); 32],
        user,
        client: oauth_client(1).id.to_string(),
        name: oauth_client(1).name,
        redirect_uri: RedirectUri::parse("http://127.0.0.1:5000/callback").expect("a URI"),
        challenge: CodeChallenge::parse(&"a".repeat(43)).expect("a challenge"),
        resource: Resource::Mcp,
        scopes: ApiKeyScopes::parse(["read"]).expect("a scope"),
        collections: None,
        api_key: id(n),
        created_at: at(i64::from(n)),
        expires_at: at(i64::from(n) + 60),
        used_at: None,
    }
}

/// An admin panel session of an account that lasts 100 seconds.
pub fn session(n: u32, user: UserId) -> Session {
    Session {
        id: id(n),
        user,
        kind: SessionKind::Panel,
        client_ip: Some(IpAddr::from([192, 0, 2, 1])),
        user_agent: Some("a browser".to_owned()),
        started_at: at(i64::from(n)),
        last_used_at: at(i64::from(n)),
        verified_at: at(3),
        expires_at: at(i64::from(n) + 100),
        revoked_at: None,
    }
}

/// An invitation of `guest{n}@example.com` by an account, without groups and collections, that lasts 100 seconds.
pub fn invitation(n: u32, invited_by: Option<UserId>) -> Invitation {
    Invitation {
        id: id(n),
        email: Email::parse(&format!("guest{n}@example.com")).expect("valid"),
        access: InvitedAccess::default(),
        invited_by,
        is_emailed: true,
        sha256: [u8::try_from(n % 256).expect("below 256"); 32],
        created_at: at(i64::from(n)),
        expires_at: at(i64::from(n) + 100),
    }
}

/// A token of an account for a purpose that lasts 100 seconds.
pub fn verification(n: u32, user: UserId, purpose: VerificationPurpose) -> VerificationToken {
    VerificationToken {
        id: id(n),
        user,
        purpose,
        new_email: None,
        sha256: [u8::try_from(n % 256).expect("below 256"); 32],
        created_at: at(i64::from(n)),
        expires_at: at(i64::from(n) + 100),
    }
}

/// An entry for the command line adding `group 1`.
pub fn audit_entry(n: u32) -> AuditEntry {
    AuditEntry {
        id: id(n),
        at: at(i64::from(n)),
        actor: AuditActor::CommandLine,
        client_ip: None,
        action: AuditAction::Add,
        kind: RecordKind::Group,
        record: id::<GroupId>(n).to_string(),
        label: format!("group {n}"),
        changes: BTreeMap::new(),
    }
}

/// A conversation of an account: `Conversation 1`.
pub fn conversation(n: u32, owner: UserId) -> Conversation {
    Conversation {
        id: id(n),
        owner,
        title: ConversationTitle::parse(&format!("Conversation {n}")).expect("a title"),
        selection: ConversationSelection::default(),
        is_pinned: false,
        limited_key: None,
        created_at: at(i64::from(n)),
        updated_at: at(i64::from(n)),
    }
}

/// A stored response.
pub fn stored_response(n: u32, owner: UserId) -> StoredResponse {
    StoredResponse {
        id: id(n),
        owner,
        limited_key: None,
        previous: None,
        content: format!("{{\"n\":{n}}}"),
        created_at: at(i64::from(n)),
    }
}

/// A question in a conversation.
pub fn question(n: u32, conversation: ConversationId) -> ConversationMessage {
    ConversationMessage {
        id: id(n),
        conversation,
        ordinal: 0,
        role: MessageRole::User,
        content: format!("Question {n}"),
        at: at(i64::from(n)),
        replaced_at: None,
    }
}

/// An enabled webhook of an account for all events of its documents: `https://example.org/1`.
pub fn webhook(n: u32, owner: UserId) -> Webhook {
    Webhook {
        id: id(n),
        owner,
        url: WebhookUrl::parse(&format!("https://example.org/{n}")).expect("an address"),
        description: WebhookDescription::parse(&format!("webhook {n}")).expect("a description"),
        events: WebhookEvents::all(),
        all_documents: false,
        is_active: true,
        secret: WebhookSecret::from_bytes([u8::try_from(n % 256).expect("below 256"); 32]),
        previous_secret: None,
        created_at: at(i64::from(n)),
        updated_at: at(i64::from(n)),
    }
}

/// A delivery to a webhook that is due in the `n`th second.
pub fn delivery(n: u32, webhook: WebhookId) -> WebhookDelivery {
    WebhookDelivery {
        id: id(n),
        webhook,
        event: WebhookEvent::DocumentIngested,
        document: Some(id(n)),
        body: format!("{{\"n\": {n}}}"),
        state: DeliveryState::Pending(at(i64::from(n))),
        attempts: 0,
        last_status: None,
        last_error: None,
        created_at: at(i64::from(n)),
        updated_at: at(i64::from(n)),
    }
}
