//! Tells clients that lack a valid credential where they get one (RFC 9728).

use super::{Answer, with_headers};
use crate::context;
use crate::extract::base_url::BaseUrl;
use crate::extract::granted::{bearer, resource_of};
use actix_web::body::MessageBody;
use actix_web::dev::ServiceRequest;
use actix_web::http::header::{HeaderMap, HeaderValue, WWW_AUTHENTICATE};
use actix_web::middleware::Next;
use docent_domain::connection::Resource;
use docent_domain::oauth::scopes_of;

/// Path of the metadata of the API; that of another resource has its path at the end.
pub const RESOURCE_METADATA: &str = "/.well-known/oauth-protected-resource";
/// Roots of paths whose bearer credentials are no access tokens of applications, or that have none.
const OTHERS: [&str; 6] = ["/auth/", "/oauth/", "/chat/", "/metrics", "/.well-known/", "/librechat/"];

/// Adds the location of the metadata to `WWW-Authenticate`.
pub async fn challenge(request: ServiceRequest, next: Next<impl MessageBody + 'static>) -> Answer {
    let context = context::from_service(&request)?;
    let is_other = OTHERS.iter().any(|root| request.path().starts_with(root));
    if !context.app.settings().accepts_oauth || is_other {
        return next.call(request).await.map(|response| response.map_into_boxed_body());
    }
    let resource = resource_of(request.path());
    let has_token = bearer(request.headers()).is_some();
    let base = BaseUrl::of(request.request(), &context);
    let answer = next.call(request).await.map(|response| response.map_into_boxed_body());
    with_headers(answer, move |headers| complete(headers, &base, resource, has_token))
}

fn complete(headers: &mut HeaderMap, base: &BaseUrl, resource: Resource, has_token: bool) {
    let Some(scheme) = headers.get(WWW_AUTHENTICATE).and_then(|value| value.to_str().ok()) else { return };
    let Some(known) = scheme.strip_prefix("Bearer") else { return };
    let url = format!("{}{RESOURCE_METADATA}{}", base.as_str(), resource.path());
    let mut value = format!("Bearer resource_metadata=\"{url}\"");
    match known.trim() {
        "" => {
            if resource == Resource::Mcp {
                value.push_str(&format!(", scope=\"{}\"", scopes_of(resource)));
            }
            if has_token {
                value.push_str(", error=\"invalid_token\"");
            }
        }
        known => value.push_str(&format!(", {known}")),
    }
    if let Ok(value) = HeaderValue::try_from(value) {
        headers.insert(WWW_AUTHENTICATE, value);
    }
}
