//! Metadata of the authorization server (RFC 8414) and of the protected resources (RFC 9728).

use super::Issuer;
use crate::answers;
use actix_web::HttpResponse;
use docent_app::oauth::resource_url;
use docent_domain::api_key::{ApiKeyScope, ApiKeyScopes};
use docent_domain::connection::Resource;
use docent_domain::oauth::scopes_of;
use docent_http::{Reply, State};
use serde::Serialize;
use utoipa::ToSchema;

/// Metadata of the authorization server.
#[derive(Serialize, ToSchema)]
pub(crate) struct AuthorizationServer {
    /// URL of the service.
    issuer: String,
    authorization_endpoint: String,
    token_endpoint: String,
    registration_endpoint: String,
    revocation_endpoint: String,
    scopes_supported: Vec<&'static str>,
    response_types_supported: [&'static str; 1],
    response_modes_supported: [&'static str; 1],
    grant_types_supported: [&'static str; 2],
    token_endpoint_auth_methods_supported: [&'static str; 1],
    revocation_endpoint_auth_methods_supported: [&'static str; 1],
    code_challenge_methods_supported: [&'static str; 1],
    /// Answers name the issuer (RFC 9207).
    authorization_response_iss_parameter_supported: bool,
    /// A client can use the URL of its metadata as client ID.
    client_id_metadata_document_supported: bool,
    service_documentation: String,
}

/// Metadata of a protected resource.
#[derive(Serialize, ToSchema)]
pub(crate) struct ProtectedResource {
    /// URL of the resource.
    resource: String,
    /// URL of the authorization server.
    authorization_servers: [String; 1],
    scopes_supported: Vec<&'static str>,
    bearer_methods_supported: [&'static str; 1],
    resource_name: String,
    resource_documentation: String,
}

fn names(scopes: ApiKeyScopes) -> Vec<&'static str> {
    scopes.iter().map(ApiKeyScope::name).collect()
}

/// Read the metadata of the authorization server (extension)
///
/// RFC 8414. 404 if `oauth` is off.
#[utoipa::path(
    get, path = "/.well-known/oauth-authorization-server", operation_id = "get_authorization_server", tag = "Service", security(()),
    responses((status = 200, description = "The metadata.", body = AuthorizationServer), answers::UnknownPath),
)]
pub(crate) async fn authorization_server(issuer: Issuer) -> Reply {
    let base = issuer.0.as_str();
    let at = |path: &str| format!("{base}{path}");
    Ok(HttpResponse::Ok().json(AuthorizationServer {
        issuer: base.to_owned(),
        authorization_endpoint: at("/oauth/authorize"),
        token_endpoint: at("/oauth/token"),
        registration_endpoint: at("/oauth/register"),
        revocation_endpoint: at("/oauth/revoke"),
        scopes_supported: names(ApiKeyScopes::all()),
        response_types_supported: ["code"],
        response_modes_supported: ["query"],
        grant_types_supported: ["authorization_code", "refresh_token"],
        token_endpoint_auth_methods_supported: ["none"],
        revocation_endpoint_auth_methods_supported: ["none"],
        code_challenge_methods_supported: ["S256"],
        authorization_response_iss_parameter_supported: true,
        client_id_metadata_document_supported: true,
        service_documentation: at("/docs"),
    }))
}

fn protected_resource(issuer: &Issuer, context: &State, resource: Resource) -> Reply {
    let base = issuer.0.as_str();
    Ok(HttpResponse::Ok().json(ProtectedResource {
        resource: resource_url(base, resource),
        authorization_servers: [base.to_owned()],
        scopes_supported: names(scopes_of(resource)),
        bearer_methods_supported: ["header"],
        resource_name: context.settings.app_name.clone(),
        resource_documentation: format!("{base}/docs"),
    }))
}

/// Read the metadata of the API as a protected resource (extension)
///
/// RFC 9728. 404 if `oauth` is off.
#[utoipa::path(
    get, path = "/.well-known/oauth-protected-resource", operation_id = "get_protected_resource", tag = "Service", security(()),
    responses((status = 200, description = "The metadata.", body = ProtectedResource), answers::UnknownPath),
)]
pub(crate) async fn api(issuer: Issuer, context: State) -> Reply {
    protected_resource(&issuer, &context, Resource::Api)
}

/// Read the metadata of /mcp as a protected resource (extension)
///
/// RFC 9728. 404 if `oauth` is off.
#[utoipa::path(
    get, path = "/.well-known/oauth-protected-resource/mcp", operation_id = "get_protected_mcp", tag = "Service", security(()),
    responses((status = 200, description = "The metadata.", body = ProtectedResource), answers::UnknownPath),
)]
pub(crate) async fn mcp(issuer: Issuer, context: State) -> Reply {
    protected_resource(&issuer, &context, Resource::Mcp)
}
