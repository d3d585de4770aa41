//! The rows of the access matrix: one per method and route, and more where the record's owner matters.

use docent_domain::api_key::ApiKeyScope;
use docent_domain::permission::Permission::{self, *};

/// What a successful request requires.
#[derive(Clone, Copy, Debug)]
pub(super) enum Requires {
    /// Nothing: the route is public.
    Nothing,
    /// The token for `/metrics`.
    ScrapeToken,
    /// A token of LibreChat.
    LibreChat,
    /// An active account, by its access token or by an API key with this scope.
    Account(ApiKeyScope),
    /// The same, and that the account owns the record. For other accounts, superusers included, the record does not
    /// exist.
    Owner(ApiKeyScope),
    /// An active account, by its access token only.
    AccessToken,
    /// A request of the web chat.
    WebChat,
    /// An account with all of these permissions; an API key also needs the scope `admin`.
    Granted(&'static [Permission]),
    /// A panel session.
    Staff,
    /// A panel session of an account with all of these permissions.
    Panel(&'static [Permission]),
    /// A panel session of a superuser.
    Superuser,
    /// A browser session of an active account.
    SignedIn,
    /// The same, and that the account owns the record.
    SignedInOwner,
}

/// The owner of the record that the path names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecordOwner {
    /// Another account, which has no permissions.
    Other,
    /// The requesting account. Anonymous roles request another account's record.
    Own,
    /// Another account, which is a superuser.
    OtherSuperuser,
}

/// The body to send; forms of pages with a session also carry the form token.
#[derive(Clone, Copy, Debug)]
pub(super) enum Payload {
    Fields(&'static [(&'static str, &'static str)]),
    Json(&'static str),
    /// A multipart form with this many files.
    Files(usize),
}

/// What a successful request uses up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Consumes {
    Nothing,
    Record,
    /// The browser session of the request.
    Session,
    /// All sessions of the account.
    AllSessions,
}

/// One row of the matrix.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) method: &'static str,
    pub(super) path: &'static str,
    pub(super) requires: Requires,
    /// The status when the requirements are met.
    pub(super) success: u16,
    /// The statuses for authenticated roles that lack the first permission, or another one.
    pub(super) refusals: [u16; 2],
    pub(super) owner: RecordOwner,
    pub(super) payload: Payload,
    pub(super) consumes: Consumes,
}

impl Row {
    const fn owned_by(self, owner: RecordOwner) -> Self {
        Self { owner, ..self }
    }

    const fn with_payload(self, payload: Payload) -> Self {
        Self { payload, ..self }
    }

    const fn with_fields(self, fields: &'static [(&'static str, &'static str)]) -> Self {
        self.with_payload(Payload::Fields(fields))
    }

    const fn consuming(self, consumes: Consumes) -> Self {
        Self { consumes, ..self }
    }

    /// Whether the path belongs to the pages with a session.
    pub(super) fn has_form_token(&self) -> bool {
        let roots = ["/admin", "/account", "/oauth/authorize", "/auth/oidc/{provider}/confirm"];
        roots.iter().any(|root| self.path.starts_with(root))
    }

    /// Makes the status 404 when the first permission is missing, to hide that the record exists.
    const fn hidden(self) -> Self {
        Self { refusals: [404, self.refusals[1]], ..self }
    }
}

const fn row(method: &'static str, path: &'static str, requires: Requires, success: u16) -> Row {
    Row {
        method,
        path,
        requires,
        success,
        refusals: [403, 403],
        owner: RecordOwner::Other,
        payload: Payload::Fields(&[]),
        consumes: Consumes::Nothing,
    }
}

const fn get(path: &'static str, requires: Requires) -> Row {
    row("GET", path, requires, 200)
}

const fn post(path: &'static str, requires: Requires, success: u16) -> Row {
    row("POST", path, requires, success)
}

use ApiKeyScope::{Admin, Chat, Ingest, Read};
use Consumes::{AllSessions, Record, Session};
use Payload::{Files, Json};
use RecordOwner::{OtherSuperuser, Own};
use Requires::{
    AccessToken, Account, Granted, LibreChat, Nothing, Owner, Panel, ScrapeToken, SignedIn, SignedInOwner,
    Staff, Superuser, WebChat,
};

const NO_BODY: Payload = Json("{}");
/// What managing the other account requires, which owns a closed collection: its role too.
const MANAGE: &[Permission] = &[ViewUser, ChangeUser, ViewCollection, ChangeCollection];
/// What taking it over requires: its data too.
const TAKE_OVER: &[Permission] = &[
    ViewUser,
    ChangeUser,
    ViewCollection,
    ChangeCollection,
    ViewDocument,
    AddDocument,
    ChangeDocument,
    DeleteDocument,
    ViewConversation,
    DeleteConversation,
    ViewWebhook,
    ChangeWebhook,
    DeleteWebhook,
];
/// What deleting it requires.
const DELETE: &[Permission] = &[ViewUser, DeleteUser, ViewCollection, ChangeCollection];

/// A success status of 400 or more means that the role is admitted and the request fails for another reason, such as an
/// incomplete body or the record's state. Such a request changes nothing, so the row can be requested again.
pub(super) const ROWS: &[Row] = &[
    get("/", Nothing),
    get("/status", Nothing),
    get("/health/live", Nothing),
    get("/health/ready", Nothing),
    get("/metrics", ScrapeToken),
    get("/openapi.json", Nothing),
    get("/docs", Nothing),
    get("/docs/{file}", Nothing),
    post("/auth/token", Nothing, 422).with_payload(NO_BODY),
    post("/auth/refresh", Nothing, 422).with_payload(NO_BODY),
    post("/auth/logout", AccessToken, 401).with_payload(Json(r#"{"refresh_token":"none of ours"}"#)),
    post("/auth/password-reset", Nothing, 422).with_payload(NO_BODY),
    post("/auth/password-reset/confirm", Nothing, 422).with_payload(NO_BODY),
    post("/auth/email-verification", Nothing, 422).with_payload(NO_BODY),
    post("/auth/email-verification/confirm", Nothing, 422).with_payload(NO_BODY),
    get("/account/forgot-password", Nothing),
    post("/account/forgot-password", Nothing, 422).with_fields(&[("email", "none")]),
    row("GET", "/account/invitation", Nothing, 400),
    post("/account/invitation", Nothing, 400).with_fields(&[("token", "x"), ("password", "short")]),
    get("/account/reset-password", Nothing),
    post("/account/reset-password", Nothing, 422).with_fields(&[("token", "x"), ("password", "short")]),
    get("/account/verify-email", Nothing),
    post("/account/verify-email", Nothing, 400).with_fields(&[("token", "none of ours")]),
    get("/account/confirm-email", Nothing),
    post("/account/confirm-email", Nothing, 400).with_fields(&[("token", "none of ours")]),
    // Sign-in at identity providers. None is configured.
    row("GET", "/auth/oidc/{provider}/login", Nothing, 404),
    row("GET", "/auth/oidc/{provider}/callback", Nothing, 400),
    row("GET", "/auth/oidc/{provider}/confirm", SignedIn, 303),
    row("POST", "/auth/oidc/{provider}/backchannel-logout", Nothing, 400)
        .with_fields(&[("logout_token", "none of ours")]),
    get("/account/identities", SignedIn),
    post("/account/identities/{provider}/connect", SignedIn, 404),
    post("/account/identities/{provider}/disconnect", SignedIn, 303),
    // The account pages.
    get("/account", SignedIn),
    get("/account/login", Nothing),
    post("/account/login", Nothing, 415).with_payload(NO_BODY),
    post("/account/logout", SignedIn, 303).consuming(Session),
    get("/account/email", SignedIn),
    post("/account/email", SignedIn, 422),
    post("/account/language", SignedIn, 303),
    post("/account/name", SignedIn, 303),
    get("/account/password", SignedIn),
    post("/account/password", SignedIn, 422),
    row("GET", "/account/login/code", Nothing, 303),
    post("/account/login/code", Nothing, 415).with_payload(NO_BODY),
    get("/account/second-factor", SignedIn),
    post("/account/second-factor/begin", SignedIn, 303),
    post("/account/second-factor/confirm", SignedIn, 422),
    post("/account/second-factor/recovery-codes", SignedIn, 409),
    post("/account/second-factor/remove", SignedIn, 409),
    get("/account/confirm", SignedIn),
    post("/account/confirm", SignedIn, 422),
    // Members of groups are for their managers, which no account is here.
    get("/account/groups", SignedIn),
    row("GET", "/account/groups/{id}", SignedIn, 404),
    post("/account/groups/{id}/members", SignedIn, 404),
    post("/account/groups/{id}/members/remove", SignedIn, 404),
    get("/account/sessions", SignedIn),
    post("/account/sessions/end-others", SignedIn, 303).consuming(AllSessions),
    post("/account/sessions/{id}/revoke", SignedInOwner, 303).hidden(),
    post("/account/sessions/{id}/revoke", SignedInOwner, 303).owned_by(Own).consuming(Record),
    get("/account/api-keys", SignedIn),
    get("/account/api-keys/add", SignedIn),
    post("/account/api-keys/add", SignedIn, 422),
    get("/account/api-keys/{id}/revoke", SignedInOwner).hidden(),
    get("/account/api-keys/{id}/revoke", SignedInOwner).owned_by(Own),
    post("/account/api-keys/{id}/revoke", SignedInOwner, 303).hidden(),
    post("/account/api-keys/{id}/revoke", SignedInOwner, 303).owned_by(Own).consuming(Record),
    get("/account/applications", SignedIn),
    get("/account/applications/{id}/disconnect", SignedInOwner).hidden(),
    get("/account/applications/{id}/disconnect", SignedInOwner).owned_by(Own),
    post("/account/applications/{id}/disconnect", SignedInOwner, 303).hidden(),
    post("/account/applications/{id}/disconnect", SignedInOwner, 303).owned_by(Own).consuming(Record),
    row("GET", "/oauth/authorize", SignedIn, 400),
    post("/oauth/authorize", SignedIn, 400),
    get("/.well-known/oauth-authorization-server", Nothing),
    get("/.well-known/oauth-protected-resource", Nothing),
    get("/.well-known/oauth-protected-resource/mcp", Nothing),
    post("/oauth/register", Nothing, 400).with_payload(NO_BODY),
    post("/oauth/token", Nothing, 400).with_payload(NO_BODY),
    post("/oauth/revoke", Nothing, 400).with_payload(NO_BODY),
    get("/account/delete", SignedIn),
    post("/account/delete", SignedIn, 422),
    get("/chat", Nothing),
    get("/chat/chat.css", Nothing),
    get("/chat/chat.js", Nothing),
    get("/chat/actions.js", Nothing),
    get("/chat/actions.css", Nothing),
    get("/chat/proof.js", Nothing),
    get("/chat/viewer.css", Nothing),
    get("/chat/viewer.js", Nothing),
    get("/chat/session", Nothing),
    row("DELETE", "/chat/session", WebChat, 204).consuming(Session),
    post("/chat/session/confirm", WebChat, 415).with_payload(NO_BODY),
    get("/documents", Account(Read)),
    post("/documents", Account(Ingest), 201).with_payload(Json(r#"{"title":"New"}"#)),
    post("/documents/upload", Account(Ingest), 202).with_payload(Files(1)),
    get("/documents/{doc_id}", Account(Read)),
    row("PATCH", "/documents/{doc_id}", Granted(&[ChangeDocument]), 200).with_payload(NO_BODY),
    row("PATCH", "/documents/{doc_id}", Account(Ingest), 200).with_payload(NO_BODY).owned_by(Own),
    row("DELETE", "/documents/{doc_id}", Granted(&[DeleteDocument]), 204).consuming(Record),
    row("DELETE", "/documents/{doc_id}", Account(Ingest), 204).owned_by(Own).consuming(Record),
    get("/documents/{doc_id}/file", Account(Read)),
    row("PUT", "/documents/{doc_id}/file", Granted(&[ChangeDocument]), 202).with_payload(Files(1)),
    row("PUT", "/documents/{doc_id}/file", Account(Ingest), 202).with_payload(Files(1)).owned_by(Own),
    get("/documents/{doc_id}/pages/{page}", Account(Read)),
    get("/documents/{doc_id}/pages/{page}/words", Account(Read)),
    // Without the text to find.
    row("GET", "/documents/{doc_id}/find", Account(Read), 422),
    // The document is not ingested yet.
    row("GET", "/documents/{doc_id}/pages/{page}/text", Account(Read), 404),
    row("GET", "/documents/{doc_id}/summary", Account(Read), 404),
    get("/documents/{doc_id}/report", Account(Read)),
    post("/documents/{doc_id}/retry", Granted(&[ChangeDocument]), 409),
    post("/documents/{doc_id}/retry", Account(Ingest), 409).owned_by(Own),
    // Collections of other accounts do not exist for accounts without a role on them.
    get("/collections", Account(Read)),
    post("/collections", Account(Admin), 201).with_payload(Json(r#"{"name":"New"}"#)),
    post("/collections", Account(Admin), 201).with_payload(Json(r#"{"name":"Open","role_of_all":"viewer"}"#)),
    get("/collections/{id}", Owner(Read)).hidden(),
    get("/collections/{id}", Owner(Read)).owned_by(Own),
    row("PATCH", "/collections/{id}", Granted(&[ViewCollection, ChangeCollection]), 200)
        .with_payload(NO_BODY)
        .hidden(),
    row("PATCH", "/collections/{id}", Account(Admin), 200).with_payload(NO_BODY).owned_by(Own),
    row("PATCH", "/collections/{id}", Granted(&[ViewCollection, ChangeCollection]), 200)
        .with_payload(Json(r#"{"role_of_all":"viewer"}"#))
        .hidden()
        .consuming(Record),
    row("PATCH", "/collections/{id}", Account(Admin), 200)
        .with_payload(Json(r#"{"role_of_all":"viewer"}"#))
        .owned_by(Own)
        .consuming(Record),
    get("/collections/{id}/members", Granted(&[ViewCollection])).hidden(),
    get("/collections/{id}/members", Account(Admin)).owned_by(Own),
    row("PUT", "/collections/{id}/hidden", Owner(Admin), 204).hidden(),
    row("PUT", "/collections/{id}/hidden", Owner(Admin), 204).owned_by(Own),
    row("DELETE", "/collections/{id}/hidden", Owner(Admin), 204).hidden(),
    row("DELETE", "/collections/{id}/hidden", Owner(Admin), 204).owned_by(Own),
    row("PUT", "/collections/{id}/members", Granted(&[ViewCollection, ChangeCollection]), 200)
        .with_payload(Json(r#"{"email":"{email}","role":"manager"}"#))
        .hidden(),
    row("PUT", "/collections/{id}/members", Account(Admin), 200)
        .with_payload(Json(r#"{"email":"{email}","role":"manager"}"#))
        .owned_by(Own),
    row("DELETE", "/collections/{id}/members/{member}", Granted(&[ViewCollection, ChangeCollection]), 404)
        .hidden(),
    row("DELETE", "/collections/{id}/members/{member}", Account(Admin), 404).owned_by(Own),
    row("DELETE", "/collections/{id}", Granted(&[ViewCollection, DeleteCollection]), 204)
        .hidden()
        .consuming(Record),
    row("DELETE", "/collections/{id}", Account(Admin), 204).owned_by(Own).consuming(Record),
    post("/search", Account(Read), 200).with_payload(Json(r#"{"query":"q"}"#)),
    post("/agents/{name}", Account(Chat), 200)
        .with_payload(Json(r#"{"messages":[{"role":"user","content":"q"}]}"#)),
    post("/agents/{name}", Owner(Chat), 200)
        .with_payload(Json(
            r#"{"messages":[{"role":"user","content":"q"}],"conversation_id":"{conversation}"}"#,
        ))
        .hidden(),
    row("GET", "/agents/{name}/streams/{id}", Account(Chat), 404),
    post("/agents/{name}/streams/{id}/stop", Account(Chat), 404),
    // Messages are JSON.
    post("/mcp", Account(Read), 415).with_payload(NO_BODY),
    get("/librechat/health", Nothing),
    post("/librechat/embed", LibreChat, 422).with_payload(NO_BODY),
    post("/librechat/query", LibreChat, 422).with_payload(NO_BODY),
    post("/librechat/query_multiple", LibreChat, 422).with_payload(NO_BODY),
    row("GET", "/librechat/documents", LibreChat, 422),
    row("DELETE", "/librechat/documents", LibreChat, 200).with_payload(Json("[]")),
    row("GET", "/librechat/documents/{id}/context", LibreChat, 404),
    post("/librechat/text", LibreChat, 422).with_payload(NO_BODY),
    get("/v1/models", Account(Chat)),
    get("/v1/models/{id}", Account(Chat)),
    post("/v1/chat/completions", Account(Chat), 200)
        .with_payload(Json(r#"{"model":"chat","messages":[{"role":"user","content":"q"}]}"#)),
    post("/v1/responses", Account(Chat), 200).with_payload(Json(r#"{"model":"chat","input":"q"}"#)),
    row("GET", "/v1/responses/{response_id}", Account(Chat), 404),
    row("DELETE", "/v1/responses/{response_id}", Account(Chat), 404),
    row("POST", "/v1/responses/{response_id}/cancel", Account(Chat), 404),
    row("GET", "/v1/responses/{response_id}/input_items", Account(Chat), 404),
    post("/v1/embeddings", Account(Chat), 400).with_payload(NO_BODY),
    get("/v1/files", Account(Read)),
    // Without a purpose.
    post("/v1/files", Account(Ingest), 400).with_payload(Files(1)),
    get("/v1/files/{file_id}", Account(Read)),
    get("/v1/files/{file_id}/content", Account(Read)),
    row("DELETE", "/v1/files/{file_id}", Granted(&[DeleteDocument]), 200).consuming(Record),
    row("DELETE", "/v1/files/{file_id}", Account(Ingest), 200).owned_by(Own).consuming(Record),
    get("/v1/vector_stores", Account(Read)),
    post("/v1/vector_stores", Account(Admin), 200).with_payload(Json(r#"{"name":"New"}"#)),
    get("/v1/vector_stores/{vector_store_id}", Owner(Read)).hidden(),
    get("/v1/vector_stores/{vector_store_id}", Owner(Read)).owned_by(Own),
    post("/v1/vector_stores/{vector_store_id}", Granted(&[ViewCollection, ChangeCollection]), 200)
        .with_payload(NO_BODY)
        .hidden(),
    post("/v1/vector_stores/{vector_store_id}", Account(Admin), 200).with_payload(NO_BODY).owned_by(Own),
    row("DELETE", "/v1/vector_stores/{vector_store_id}", Granted(&[ViewCollection, DeleteCollection]), 200)
        .hidden()
        .consuming(Record),
    row("DELETE", "/v1/vector_stores/{vector_store_id}", Account(Admin), 200).owned_by(Own).consuming(Record),
    post("/v1/vector_stores/{vector_store_id}/search", Owner(Read), 200)
        .with_payload(Json(r#"{"query":"q"}"#))
        .hidden(),
    post("/v1/vector_stores/{vector_store_id}/search", Owner(Read), 200)
        .with_payload(Json(r#"{"query":"q"}"#))
        .owned_by(Own),
    get("/v1/vector_stores/{vector_store_id}/files", Owner(Read)).hidden(),
    get("/v1/vector_stores/{vector_store_id}/files", Owner(Read)).owned_by(Own),
    post("/v1/vector_stores/{vector_store_id}/files", Owner(Ingest), 400).with_payload(NO_BODY).hidden(),
    post("/v1/vector_stores/{vector_store_id}/files", Owner(Ingest), 400).with_payload(NO_BODY).owned_by(Own),
    row("GET", "/v1/vector_stores/{vector_store_id}/files/{file_id}", Owner(Read), 404).hidden(),
    row("GET", "/v1/vector_stores/{vector_store_id}/files/{file_id}", Owner(Read), 404).owned_by(Own),
    row("POST", "/v1/vector_stores/{vector_store_id}/files/{file_id}", Owner(Ingest), 404)
        .with_payload(Json(r#"{"attributes":null}"#))
        .hidden(),
    row("POST", "/v1/vector_stores/{vector_store_id}/files/{file_id}", Owner(Ingest), 404)
        .with_payload(Json(r#"{"attributes":null}"#))
        .owned_by(Own),
    row("DELETE", "/v1/vector_stores/{vector_store_id}/files/{file_id}", Owner(Ingest), 404).hidden(),
    row("DELETE", "/v1/vector_stores/{vector_store_id}/files/{file_id}", Owner(Ingest), 404).owned_by(Own),
    row("GET", "/v1/vector_stores/{vector_store_id}/files/{file_id}/content", Owner(Read), 404).hidden(),
    row("GET", "/v1/vector_stores/{vector_store_id}/files/{file_id}/content", Owner(Read), 404).owned_by(Own),
    row("POST", "/v1/vector_stores/{vector_store_id}/file_batches", Owner(Ingest), 400)
        .with_payload(NO_BODY)
        .hidden(),
    row("POST", "/v1/vector_stores/{vector_store_id}/file_batches", Owner(Ingest), 400)
        .with_payload(NO_BODY)
        .owned_by(Own),
    row("GET", "/v1/vector_stores/{vector_store_id}/file_batches/{batch_id}", Owner(Read), 404).hidden(),
    row("GET", "/v1/vector_stores/{vector_store_id}/file_batches/{batch_id}", Owner(Read), 404).owned_by(Own),
    row("POST", "/v1/vector_stores/{vector_store_id}/file_batches/{batch_id}/cancel", Owner(Ingest), 404)
        .hidden(),
    row("POST", "/v1/vector_stores/{vector_store_id}/file_batches/{batch_id}/cancel", Owner(Ingest), 404)
        .owned_by(Own),
    row("GET", "/v1/vector_stores/{vector_store_id}/file_batches/{batch_id}/files", Owner(Read), 404)
        .hidden(),
    row("GET", "/v1/vector_stores/{vector_store_id}/file_batches/{batch_id}/files", Owner(Read), 404)
        .owned_by(Own),
    get("/conversations", Account(Chat)),
    post("/conversations", Account(Chat), 201),
    get("/conversations/{id}", Owner(Chat)).hidden(),
    get("/conversations/{id}", Owner(Chat)).owned_by(Own),
    row("PATCH", "/conversations/{id}", Owner(Chat), 200).with_payload(Json(r#"{"title":"Other"}"#)).hidden(),
    row("PATCH", "/conversations/{id}", Owner(Chat), 200)
        .with_payload(Json(r#"{"title":"Other"}"#))
        .owned_by(Own),
    row("DELETE", "/conversations/{id}", Owner(Chat), 204).hidden(),
    row("DELETE", "/conversations/{id}", Owner(Chat), 204).owned_by(Own).consuming(Record),
    row("PUT", "/conversations/{id}/collections", Owner(Chat), 200)
        .with_payload(Json(r#"{"collection_ids":[]}"#))
        .hidden(),
    row("PUT", "/conversations/{id}/collections", Owner(Chat), 200)
        .with_payload(Json(r#"{"collection_ids":[]}"#))
        .owned_by(Own),
    row("PUT", "/conversations/{id}/messages/{message}/feedback", Owner(Chat), 404)
        .with_payload(Json(r#"{"rating":"up"}"#))
        .hidden(),
    row("PUT", "/conversations/{id}/messages/{message}/feedback", Owner(Chat), 404)
        .with_payload(Json(r#"{"rating":"up"}"#))
        .owned_by(Own),
    row("DELETE", "/conversations/{id}/messages/{message}/feedback", Owner(Chat), 404).hidden(),
    row("DELETE", "/conversations/{id}/messages/{message}/feedback", Owner(Chat), 404).owned_by(Own),
    get("/webhooks", Account(Ingest)),
    post("/webhooks", Account(Ingest), 201).with_payload(Json(r#"{"url":"https://example.org/new"}"#)),
    get("/webhooks/{id}", Owner(Ingest)).hidden(),
    get("/webhooks/{id}", Owner(Ingest)).owned_by(Own),
    row("PATCH", "/webhooks/{id}", Owner(Ingest), 200).with_payload(NO_BODY).hidden(),
    row("PATCH", "/webhooks/{id}", Owner(Ingest), 200).with_payload(NO_BODY).owned_by(Own),
    row("PATCH", "/webhooks/{id}", Owner(Ingest), 200)
        .with_payload(Json(r#"{"url":"https://example.org/other"}"#))
        .owned_by(Own),
    row("PATCH", "/webhooks/{id}", Owner(Ingest), 200)
        .with_payload(Json(r#"{"events":["document.failed"]}"#))
        .owned_by(Own),
    post("/webhooks/{id}/secret", Owner(Ingest), 200).hidden(),
    post("/webhooks/{id}/secret", Owner(Ingest), 200).owned_by(Own),
    post("/webhooks/{id}/test", Owner(Ingest), 202).hidden(),
    post("/webhooks/{id}/test", Owner(Ingest), 202).owned_by(Own),
    get("/webhooks/{id}/deliveries", Owner(Ingest)).hidden(),
    get("/webhooks/{id}/deliveries", Owner(Ingest)).owned_by(Own),
    post("/webhooks/{id}/deliveries/{delivery}/replay", Owner(Ingest), 202).hidden(),
    post("/webhooks/{id}/deliveries/{delivery}/replay", Owner(Ingest), 202).owned_by(Own),
    row("DELETE", "/webhooks/{id}", Owner(Ingest), 204).hidden(),
    row("DELETE", "/webhooks/{id}", Owner(Ingest), 204).owned_by(Own).consuming(Record),
    // The panel's login.
    get("/admin", Staff),
    get("/admin/admin.css", Nothing),
    get("/admin/admin.js", Nothing),
    get("/admin/picker.js", Nothing),
    get("/admin/messages.js", Nothing),
    get("/admin/login", Nothing),
    row("GET", "/admin/login/code", Nothing, 303),
    post("/admin/login/code", Nothing, 415).with_payload(NO_BODY),
    post("/admin/login", Nothing, 415).with_payload(NO_BODY),
    post("/admin/logout", SignedIn, 303).consuming(Session),
    // Documents and conversations.
    get("/admin/documents", Panel(&[ViewDocument])),
    get("/admin/documents/upload", Panel(&[AddDocument])),
    post("/admin/documents/upload", Panel(&[AddDocument]), 303).with_payload(Files(0)),
    post("/admin/documents/upload", Panel(&[AddDocument]), 303).with_payload(Files(1)),
    post("/admin/documents/bulk", Panel(&[ViewDocument]), 200)
        .with_fields(&[("act", "delete"), ("id", "{document}")]),
    Row {
        // The page shows the result for each document.
        refusals: [403, 200],
        ..post("/admin/documents/bulk", Panel(&[ViewDocument, DeleteDocument]), 303)
            .with_fields(&[("act", "delete"), ("id", "{document}"), ("confirmed", "on"), ("word", "delete")])
            .consuming(Record)
    },
    get("/admin/documents/{id}", Panel(&[ViewDocument])),
    get("/admin/documents/{id}/chunks", Panel(&[ViewDocument])),
    get("/admin/documents/{id}/readers", Panel(&[ViewDocument, ViewCollection, ViewUser])),
    get("/admin/documents/{id}/file", Panel(&[ViewDocument])),
    Row {
        // The page shows the result for each document.
        refusals: [403, 200],
        ..post("/admin/documents/bulk", Panel(&[ViewDocument, ChangeDocument]), 303)
            .with_fields(&[
                ("act", "add"),
                ("id", "{document}"),
                ("collection", "{own collection}"),
                ("confirmed", "on"),
            ])
            .consuming(Record)
    },
    post("/admin/documents/{id}/attributes", Panel(&[ViewDocument, ChangeDocument]), 303),
    post("/admin/documents/{id}/attributes", Panel(&[ViewDocument]), 303).owned_by(Own),
    post("/admin/documents/{id}/retry", Panel(&[ViewDocument, ChangeDocument]), 409),
    post("/admin/documents/{id}/retry", Panel(&[ViewDocument]), 409).owned_by(Own),
    post("/admin/documents/{id}/delete", Panel(&[ViewDocument, DeleteDocument]), 303).consuming(Record),
    post("/admin/documents/{id}/delete", Panel(&[ViewDocument]), 303).owned_by(Own).consuming(Record),
    // Collections: managers need no permission, and for other staff those of other accounts do not exist.
    get("/admin/collections", Staff),
    get("/admin/collections/add", Staff),
    post("/admin/collections/add", Staff, 422),
    post("/admin/collections/add", Staff, 303).with_fields(&[("name", "Open"), ("role_of_all", "viewer")]),
    get("/admin/collections/{id}", Panel(&[ViewCollection])).hidden(),
    get("/admin/collections/{id}", Staff).owned_by(Own),
    post("/admin/collections/{id}", Panel(&[ViewCollection, ChangeCollection]), 422).hidden(),
    post("/admin/collections/{id}", Staff, 422).owned_by(Own),
    post("/admin/collections/{id}", Panel(&[ViewCollection, ChangeCollection]), 303)
        .with_fields(&[("name", "Open"), ("role_of_all", "viewer")])
        .hidden()
        .consuming(Record),
    post("/admin/collections/{id}", Staff, 303)
        .with_fields(&[("name", "Open"), ("role_of_all", "viewer")])
        .owned_by(Own)
        .consuming(Record),
    get("/admin/collections/{id}/delete", Panel(&[ViewCollection, DeleteCollection])).hidden(),
    get("/admin/collections/{id}/delete", Staff).owned_by(Own),
    post("/admin/collections/{id}/delete", Panel(&[ViewCollection, DeleteCollection]), 303)
        .hidden()
        .consuming(Record),
    post("/admin/collections/{id}/delete", Staff, 303).owned_by(Own).consuming(Record),
    post("/admin/collections/{id}/members", Panel(&[ViewCollection, ChangeCollection]), 303)
        .with_fields(&[("email", "{email}"), ("role", "manager")])
        .hidden(),
    post("/admin/collections/{id}/members", Staff, 303)
        .with_fields(&[("email", "{email}"), ("role", "manager")])
        .owned_by(Own),
    post("/admin/collections/{id}/members/remove", Panel(&[ViewCollection, ChangeCollection]), 303)
        .with_fields(&[("group", "{group}")])
        .hidden(),
    post("/admin/collections/{id}/members/remove", Staff, 303)
        .with_fields(&[("group", "{group}")])
        .owned_by(Own),
    get("/admin/conversations", Panel(&[ViewConversation])),
    get("/admin/search", Panel(&[ViewDocument])),
    get("/admin/answers", Panel(&[ViewConversation])),
    get("/admin/answers.jsonl", Panel(&[ViewConversation])),
    get("/admin/conversations/{id}", Panel(&[ViewConversation])),
    post("/admin/conversations/{id}/delete", Panel(&[ViewConversation, DeleteConversation]), 303)
        .consuming(Record),
    // Operations.
    get("/admin/webhooks", Panel(&[ViewWebhook])),
    get("/admin/webhooks/{id}", Panel(&[ViewWebhook])),
    post("/admin/webhooks/{id}/switch", Panel(&[ViewWebhook, ChangeWebhook]), 303)
        .with_fields(&[("active", "on")]),
    post("/admin/webhooks/{id}/replay", Panel(&[ViewWebhook, ChangeWebhook]), 303)
        .with_fields(&[("delivery", "{delivery}")]),
    post("/admin/webhooks/{id}/delete", Panel(&[ViewWebhook, DeleteWebhook]), 303).consuming(Record),
    get("/admin/find", Staff),
    get("/admin/service", Panel(&[ViewJob])),
    post("/admin/service", Panel(&[ViewJob]), 200),
    get("/admin/jobs", Panel(&[ViewJob])),
    get("/admin/model", Panel(&[ViewJob])),
    post("/admin/model", Panel(&[ViewJob]), 200),
    get("/admin/usage", Panel(&[ViewUsage])),
    get("/admin/usage.csv", Panel(&[ViewUsage])),
    get("/admin/audit", Panel(&[ViewAuditEntry])),
    get("/admin/audit/{id}", Panel(&[ViewAuditEntry])),
    // Accounts: only superusers can change superusers, and who takes over an account needs what opens its
    // data.
    get("/admin/users", Panel(&[ViewUser])),
    get("/admin/users/add", Panel(&[AddUser])),
    post("/admin/users/add", Panel(&[AddUser]), 422),
    get("/admin/users/{id}", Panel(&[ViewUser])),
    post("/admin/users/{id}", Panel(&[ViewUser, ChangeUser]), 422),
    post("/admin/users/{id}", Superuser, 303).owned_by(OtherSuperuser).with_fields(&[
        ("email", "{superuser's email}"),
        ("is_active", "on"),
        ("is_staff", "on"),
        ("is_superuser", "on"),
    ]),
    get("/admin/users/{id}/collections", Panel(&[ViewUser, ViewCollection])),
    get("/admin/users/{id}/password", Panel(TAKE_OVER)),
    get("/admin/users/{id}/password", Superuser).owned_by(OtherSuperuser),
    post("/admin/users/{id}/password", Panel(TAKE_OVER), 422),
    post("/admin/users/{id}/password", Superuser, 422).owned_by(OtherSuperuser),
    get("/admin/users/{id}/limits", Panel(MANAGE)),
    get("/admin/users/{id}/limits", Superuser).owned_by(OtherSuperuser),
    post("/admin/users/{id}/limits", Panel(MANAGE), 303),
    post("/admin/users/{id}/limits", Superuser, 303).owned_by(OtherSuperuser),
    get("/admin/users/{id}/delete", Panel(DELETE)),
    get("/admin/users/{id}/delete", Superuser).owned_by(OtherSuperuser),
    post("/admin/users/{id}/delete", Panel(DELETE), 303).consuming(Record),
    post("/admin/users/{id}/delete", Superuser, 303).owned_by(OtherSuperuser).consuming(Record),
    post("/admin/users/{id}/end-sessions", Panel(&[DeleteSession]), 303).consuming(Record),
    post("/admin/users/{id}/reset-second-factor", Panel(TAKE_OVER), 409),
    post("/admin/users/{id}/reset-second-factor", Superuser, 409).owned_by(OtherSuperuser),
    post("/admin/users/{id}/end-sessions", Staff, 303).owned_by(Own).consuming(Session),
    // Groups.
    get("/admin/groups", Panel(&[ViewGroup])),
    get("/admin/groups/add", Panel(&[AddGroup])),
    post("/admin/groups/add", Panel(&[AddGroup]), 422),
    get("/admin/groups/{id}", Panel(&[ViewGroup])),
    post("/admin/groups/{id}", Panel(&[ViewGroup, ChangeGroup]), 422),
    get("/admin/groups/{id}/delete", Panel(&[ViewGroup, DeleteGroup])),
    post("/admin/groups/{id}/members", Panel(&[ViewGroup, ViewUser, ChangeUser]), 422),
    post("/admin/groups/{id}/members/remove", Panel(&[ViewGroup, ChangeUser]), 303)
        .with_fields(&[("user", "{user}")]),
    post("/admin/groups/{id}/members/manager", Panel(&[ViewGroup, ChangeUser]), 303)
        .with_fields(&[("user", "{user}")]),
    post("/admin/groups/{id}/delete", Panel(&[ViewGroup, DeleteGroup]), 303).consuming(Record),
    // API keys: all staff can create and revoke their own.
    get("/admin/api-keys", Panel(&[ViewApiKey])),
    get("/admin/api-keys/add", Staff),
    post("/admin/api-keys/add", Staff, 422),
    post("/admin/api-keys/add", Panel(&[AddApiKey]), 422).with_fields(&[("account", "{email}")]),
    get("/admin/api-keys/{id}", Panel(&[ViewApiKey])).hidden(),
    get("/admin/api-keys/{id}", Staff).owned_by(Own),
    get("/admin/api-keys/{id}/revoke", Panel(&[ViewApiKey, DeleteApiKey])).hidden(),
    get("/admin/api-keys/{id}/revoke", Staff).owned_by(Own),
    post("/admin/api-keys/{id}/revoke", Panel(&[ViewApiKey, DeleteApiKey]), 303).hidden().consuming(Record),
    post("/admin/api-keys/{id}/revoke", Staff, 303).owned_by(Own).consuming(Record),
    // Sessions, invitations and links.
    get("/admin/sessions", Panel(&[ViewSession])),
    post("/admin/sessions/{id}/revoke", Panel(&[DeleteSession]), 303).consuming(Record),
    post("/admin/sessions/{id}/revoke", Staff, 303).owned_by(Own).consuming(Record),
    get("/admin/invitations", Panel(&[ViewInvitation])),
    get("/admin/invitations/add", Panel(&[AddInvitation])),
    post("/admin/invitations/add", Panel(&[AddInvitation]), 422),
    post("/admin/invitations/{id}/resend", Panel(&[AddInvitation]), 200),
    post("/admin/invitations/{id}/revoke", Panel(&[DeleteInvitation]), 303).consuming(Record),
    get("/admin/verifications", Panel(&[ViewVerification])),
    post("/admin/verifications/add", Panel(&[AddVerification]), 200)
        .with_fields(&[("user", "{user}"), ("purpose", "verify_email")]),
    post("/admin/verifications/add", Superuser, 200)
        .with_fields(&[("user", "{superuser}"), ("purpose", "reset_password")]),
    post("/admin/verifications/{id}/revoke", Panel(&[DeleteVerification]), 303).consuming(Record),
];
