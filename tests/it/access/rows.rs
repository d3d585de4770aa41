//! Who may do what: a row for each method of each route, and further ones where it matters whose the record is.

use docent_domain::{
    api_key::ApiKeyScope,
    permission::Permission::{self, *},
};

/// What an answer takes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Takes {
    /// Nothing: everybody is answered alike.
    Nothing,
    /// The token of those who watch the service.
    ScrapeToken,
    /// An active account, by its access token, or by an API key with this scope.
    Account(ApiKeyScope),
    /// The same, and that the record is its own: even superusers are told that there is no such record when it is
    /// another's.
    Owner(ApiKeyScope),
    /// An active account, by its access token alone.
    Login,
    /// An account with this permission; of an API key the scope `admin` besides.
    Holder(Permission),
    /// A session at the panel.
    Staff,
    /// A session at the panel of an account with all of these permissions.
    Panel(&'static [Permission]),
    /// A session at the panel of a superuser.
    Superuser,
}

/// Whose the record is that the path names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whose {
    /// Another account's, which is allowed nothing.
    Others,
    /// That of the account that asks. Who has none asks for another account's.
    Own,
    /// A superuser's, who is not the one that asks.
    Superusers,
}

/// What is sent; forms of the panel carry the token of their session besides.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sent {
    Fields(&'static [(&'static str, &'static str)]),
    Json(&'static str),
    /// A form that may hold files.
    Files(usize),
}

/// What is gone after an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spends {
    Nothing,
    Record,
    /// The session at the panel that it was asked with.
    Session,
}

/// One line of the matrix.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) method: &'static str,
    pub(super) path: &'static str,
    pub(super) takes: Takes,
    /// The status for those who have what it takes.
    pub(super) good: u16,
    /// The statuses for those who are known and lack the first permission, or another one.
    pub(super) refusals: [u16; 2],
    pub(super) whose: Whose,
    pub(super) sent: Sent,
    pub(super) spends: Spends,
}

impl Row {
    const fn of(self, whose: Whose) -> Self {
        Self { whose, ..self }
    }

    const fn sends(self, sent: Sent) -> Self {
        Self { sent, ..self }
    }

    const fn fields(self, fields: &'static [(&'static str, &'static str)]) -> Self {
        self.sends(Sent::Fields(fields))
    }

    const fn spends(self, spends: Spends) -> Self {
        Self { spends, ..self }
    }

    /// Who lacks the first permission is not told that the record exists.
    const fn hidden(self) -> Self {
        Self { refusals: [404, self.refusals[1]], ..self }
    }
}

const fn row(method: &'static str, path: &'static str, takes: Takes, good: u16) -> Row {
    Row {
        method,
        path,
        takes,
        good,
        refusals: [403, 403],
        whose: Whose::Others,
        sent: Sent::Fields(&[]),
        spends: Spends::Nothing,
    }
}

const fn get(path: &'static str, takes: Takes) -> Row {
    row("GET", path, takes, 200)
}

const fn post(path: &'static str, takes: Takes, good: u16) -> Row {
    row("POST", path, takes, good)
}

use ApiKeyScope::{Chat, Ingest, Read};
use Sent::{Files, Json};
use Spends::{Record, Session};
use Takes::{Account, Holder, Login, Nothing, Owner, Panel, ScrapeToken, Staff, Superuser};
use Whose::{Own, Superusers};

const NO_BODY: Sent = Json("{}");

/// A status of 400 or more tells those who may that something else is wrong: a body lacks what it needs, or the record
/// is in another state. Nothing changes then, and the row can be asked again.
pub(super) const ROWS: &[Row] = &[
    get("/", Nothing),
    get("/status", Nothing),
    get("/health/live", Nothing),
    get("/health/ready", Nothing),
    get("/metrics", ScrapeToken),
    get("/openapi.json", Nothing),
    get("/docs", Nothing),
    get("/docs/{file}", Nothing),
    post("/auth/token", Nothing, 422).sends(NO_BODY),
    post("/auth/refresh", Nothing, 422).sends(NO_BODY),
    post("/auth/logout", Login, 401).sends(Json(r#"{"refresh_token":"none of ours"}"#)),
    post("/auth/password-reset", Nothing, 422).sends(NO_BODY),
    post("/auth/password-reset/confirm", Nothing, 422).sends(NO_BODY),
    post("/auth/email-verification", Nothing, 422).sends(NO_BODY),
    post("/auth/email-verification/confirm", Nothing, 422).sends(NO_BODY),
    get("/account/reset-password", Nothing),
    post("/account/reset-password", Nothing, 422).fields(&[("token", "x"), ("password", "short")]),
    get("/account/verify-email", Nothing),
    post("/account/verify-email", Nothing, 400).fields(&[("token", "none of ours")]),
    get("/chat", Nothing),
    get("/chat/chat.css", Nothing),
    get("/chat/chat.js", Nothing),
    get("/documents", Account(Read)),
    post("/documents", Account(Ingest), 201).sends(Json(r#"{"title":"New"}"#)),
    post("/documents/upload", Account(Ingest), 202).sends(Files(1)),
    get("/documents/{doc_id}", Account(Read)),
    row("DELETE", "/documents/{doc_id}", Holder(DeleteDocument), 204).spends(Record),
    row("DELETE", "/documents/{doc_id}", Account(Ingest), 204).of(Own).spends(Record),
    get("/documents/{doc_id}/file", Account(Read)),
    get("/documents/{doc_id}/pages/{page}", Account(Read)),
    get("/documents/{doc_id}/report", Account(Read)),
    post("/documents/{doc_id}/retry", Holder(ChangeDocument), 409),
    post("/documents/{doc_id}/retry", Account(Ingest), 409).of(Own),
    post("/search", Account(Read), 200).sends(Json(r#"{"query":"q"}"#)),
    post("/agents/{name}", Account(Chat), 200).sends(Json(r#"{"messages":[{"role":"user","content":"q"}]}"#)),
    post("/agents/{name}", Owner(Chat), 200)
        .sends(Json(r#"{"messages":[{"role":"user","content":"q"}],"conversation_id":"{conversation}"}"#))
        .hidden(),
    row("GET", "/agents/{name}/streams/{id}", Account(Chat), 404),
    post("/agents/{name}/streams/{id}/stop", Account(Chat), 404),
    // The protocol's own refusal: it is not told what is accepted.
    post("/mcp", Account(Read), 406).sends(NO_BODY),
    get("/v1/models", Account(Chat)),
    get("/v1/models/{id}", Account(Chat)),
    post("/v1/chat/completions", Account(Chat), 200)
        .sends(Json(r#"{"model":"chat","messages":[{"role":"user","content":"q"}]}"#)),
    post("/v1/embeddings", Account(Chat), 400).sends(NO_BODY),
    get("/conversations", Account(Chat)),
    post("/conversations", Account(Chat), 201),
    get("/conversations/{id}", Owner(Chat)).hidden(),
    get("/conversations/{id}", Owner(Chat)).of(Own),
    row("PATCH", "/conversations/{id}", Owner(Chat), 200).sends(Json(r#"{"title":"Other"}"#)).hidden(),
    row("PATCH", "/conversations/{id}", Owner(Chat), 200).sends(Json(r#"{"title":"Other"}"#)).of(Own),
    row("DELETE", "/conversations/{id}", Owner(Chat), 204).hidden(),
    row("DELETE", "/conversations/{id}", Owner(Chat), 204).of(Own).spends(Record),
    get("/webhooks", Account(Ingest)),
    post("/webhooks", Account(Ingest), 201).sends(Json(r#"{"url":"https://example.org/new"}"#)),
    get("/webhooks/{id}", Owner(Ingest)).hidden(),
    get("/webhooks/{id}", Owner(Ingest)).of(Own),
    row("PATCH", "/webhooks/{id}", Owner(Ingest), 200).sends(NO_BODY).hidden(),
    row("PATCH", "/webhooks/{id}", Owner(Ingest), 200).sends(NO_BODY).of(Own),
    post("/webhooks/{id}/secret", Owner(Ingest), 200).hidden(),
    post("/webhooks/{id}/secret", Owner(Ingest), 200).of(Own),
    post("/webhooks/{id}/test", Owner(Ingest), 202).hidden(),
    post("/webhooks/{id}/test", Owner(Ingest), 202).of(Own),
    get("/webhooks/{id}/deliveries", Owner(Ingest)).hidden(),
    get("/webhooks/{id}/deliveries", Owner(Ingest)).of(Own),
    post("/webhooks/{id}/deliveries/{delivery}/replay", Owner(Ingest), 202).hidden(),
    post("/webhooks/{id}/deliveries/{delivery}/replay", Owner(Ingest), 202).of(Own),
    row("DELETE", "/webhooks/{id}", Owner(Ingest), 204).hidden(),
    row("DELETE", "/webhooks/{id}", Owner(Ingest), 204).of(Own).spends(Record),
    // The door of the panel, and what is one's own there.
    get("/admin", Staff),
    get("/admin/admin.css", Nothing),
    get("/admin/admin.js", Nothing),
    get("/admin/picker.js", Nothing),
    get("/admin/login", Nothing),
    post("/admin/login", Nothing, 415).sends(NO_BODY),
    post("/admin/logout", Staff, 303).spends(Session),
    get("/admin/account", Staff),
    post("/admin/account/password", Staff, 422),
    // Documents and conversations.
    get("/admin/documents", Panel(&[ViewDocument])),
    get("/admin/documents/upload", Panel(&[AddDocument])),
    post("/admin/documents/upload", Panel(&[AddDocument]), 303).sends(Files(0)),
    post("/admin/documents/upload", Panel(&[AddDocument]), 303).sends(Files(1)),
    post("/admin/documents/bulk", Panel(&[ViewDocument]), 200)
        .fields(&[("act", "delete"), ("id", "{document}")]),
    Row {
        // Its page tells of each document what became of it.
        refusals: [403, 200],
        ..post("/admin/documents/bulk", Panel(&[ViewDocument, DeleteDocument]), 303)
            .fields(&[("act", "delete"), ("id", "{document}"), ("confirmed", "on"), ("word", "delete")])
            .spends(Record)
    },
    get("/admin/documents/{id}", Panel(&[ViewDocument])),
    get("/admin/documents/{id}/chunks", Panel(&[ViewDocument])),
    get("/admin/documents/{id}/file", Panel(&[ViewDocument])),
    post("/admin/documents/{id}/retry", Panel(&[ViewDocument, ChangeDocument]), 409),
    post("/admin/documents/{id}/retry", Panel(&[ViewDocument]), 409).of(Own),
    post("/admin/documents/{id}/delete", Panel(&[ViewDocument, DeleteDocument]), 303).spends(Record),
    post("/admin/documents/{id}/delete", Panel(&[ViewDocument]), 303).of(Own).spends(Record),
    get("/admin/conversations", Panel(&[ViewConversation])),
    get("/admin/conversations/{id}", Panel(&[ViewConversation])),
    post("/admin/conversations/{id}/delete", Panel(&[ViewConversation, DeleteConversation]), 303)
        .spends(Record),
    // Operations.
    get("/admin/webhooks", Panel(&[ViewWebhook])),
    get("/admin/webhooks/{id}", Panel(&[ViewWebhook])),
    post("/admin/webhooks/{id}/switch", Panel(&[ViewWebhook, ChangeWebhook]), 303)
        .fields(&[("active", "on")]),
    post("/admin/webhooks/{id}/replay", Panel(&[ViewWebhook, ChangeWebhook]), 303)
        .fields(&[("delivery", "{delivery}")]),
    post("/admin/webhooks/{id}/delete", Panel(&[ViewWebhook, DeleteWebhook]), 303).spends(Record),
    get("/admin/jobs", Panel(&[ViewJob])),
    get("/admin/usage", Panel(&[ViewUsage])),
    get("/admin/usage.csv", Panel(&[ViewUsage])),
    get("/admin/audit", Panel(&[ViewAuditEntry])),
    get("/admin/audit/{id}", Panel(&[ViewAuditEntry])),
    // Accounts: nobody but a superuser has power over a superuser's.
    get("/admin/users", Panel(&[ViewUser])),
    get("/admin/users/add", Panel(&[AddUser])),
    post("/admin/users/add", Panel(&[AddUser]), 422),
    get("/admin/users/{id}", Panel(&[ViewUser])),
    post("/admin/users/{id}", Panel(&[ViewUser, ChangeUser]), 422),
    post("/admin/users/{id}", Superuser, 303).of(Superusers).fields(&[
        ("email", "{superuser's email}"),
        ("is_active", "on"),
        ("is_staff", "on"),
        ("is_superuser", "on"),
    ]),
    get("/admin/users/{id}/password", Panel(&[ViewUser, ChangeUser])),
    get("/admin/users/{id}/password", Superuser).of(Superusers),
    post("/admin/users/{id}/password", Panel(&[ViewUser, ChangeUser]), 422),
    post("/admin/users/{id}/password", Superuser, 422).of(Superusers),
    get("/admin/users/{id}/delete", Panel(&[ViewUser, DeleteUser])),
    get("/admin/users/{id}/delete", Superuser).of(Superusers),
    post("/admin/users/{id}/delete", Panel(&[ViewUser, DeleteUser]), 303).spends(Record),
    post("/admin/users/{id}/delete", Superuser, 303).of(Superusers).spends(Record),
    post("/admin/users/{id}/end-sessions", Panel(&[DeleteSession]), 303).spends(Record),
    post("/admin/users/{id}/end-sessions", Staff, 303).of(Own).spends(Session),
    // Groups.
    get("/admin/groups", Panel(&[ViewGroup])),
    get("/admin/groups/add", Panel(&[AddGroup])),
    post("/admin/groups/add", Panel(&[AddGroup]), 422),
    get("/admin/groups/{id}", Panel(&[ViewGroup])),
    post("/admin/groups/{id}", Panel(&[ViewGroup, ChangeGroup]), 422),
    get("/admin/groups/{id}/delete", Panel(&[ViewGroup, DeleteGroup])),
    post("/admin/groups/{id}/delete", Panel(&[ViewGroup, DeleteGroup]), 303).spends(Record),
    // API keys: everybody at the panel makes and revokes their own.
    get("/admin/api-keys", Panel(&[ViewApiKey])),
    get("/admin/api-keys/add", Staff),
    post("/admin/api-keys/add", Staff, 422),
    post("/admin/api-keys/add", Panel(&[AddApiKey]), 422).fields(&[("account", "{email}")]),
    get("/admin/api-keys/{id}", Panel(&[ViewApiKey])).hidden(),
    get("/admin/api-keys/{id}", Staff).of(Own),
    get("/admin/api-keys/{id}/revoke", Panel(&[ViewApiKey, DeleteApiKey])).hidden(),
    get("/admin/api-keys/{id}/revoke", Staff).of(Own),
    post("/admin/api-keys/{id}/revoke", Panel(&[ViewApiKey, DeleteApiKey]), 303).hidden().spends(Record),
    post("/admin/api-keys/{id}/revoke", Staff, 303).of(Own).spends(Record),
    // Sessions and links.
    get("/admin/sessions", Panel(&[ViewSession])),
    post("/admin/sessions/{id}/revoke", Panel(&[DeleteSession]), 303).spends(Record),
    post("/admin/sessions/{id}/revoke", Staff, 303).of(Own).spends(Record),
    get("/admin/verifications", Panel(&[ViewVerification])),
    post("/admin/verifications/add", Panel(&[AddVerification]), 200)
        .fields(&[("user", "{user}"), ("purpose", "verify_email")]),
    post("/admin/verifications/add", Superuser, 200)
        .fields(&[("user", "{superuser}"), ("purpose", "reset_password")]),
    post("/admin/verifications/{id}/revoke", Panel(&[DeleteVerification]), 303).spends(Record),
];
