//! Rows of the API and of the account pages.

use super::*;

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
];
