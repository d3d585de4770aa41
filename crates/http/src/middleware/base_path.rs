//! Serves below the path of the public URL.

use super::{Answer, with_headers};
use crate::base_path::{BasePath, is_page};
use crate::context;
use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::ServiceRequest;
use actix_web::http::Uri;
use actix_web::http::uri::PathAndQuery;
use actix_web::middleware::Next;

/// Removes the base path from a request and adds it to the response. Requests without the path are served too: a proxy
/// may have removed it, and health checks need none.
pub async fn translate(mut request: ServiceRequest, next: Next<impl MessageBody + 'static>) -> Answer {
    let context = context::from_service(&request)?;
    if context.base_path.is_root() {
        return next.call(request).await.map(|response| response.map_into_boxed_body());
    }
    remove(&context.base_path, &mut request);
    let answer = next.call(request).await.map(|response| {
        let has_links = is_page(response.response());
        let response = response.map_into_boxed_body();
        if has_links { response.map_body(|_, body| add(&context.base_path, body)) } else { response }
    });
    with_headers(answer, move |headers| context.base_path.add_to_headers(headers))
}

fn remove(base: &BasePath, request: &mut ServiceRequest) {
    let requested = request.uri().path_and_query().map_or("", PathAndQuery::as_str);
    let Some(Ok(target)) = base.target_within(requested).map(PathAndQuery::try_from) else { return };
    let mut parts = request.uri().clone().into_parts();
    parts.path_and_query = Some(target);
    if let Ok(uri) = Uri::from_parts(parts) {
        request.match_info_mut().get_mut().update(&uri);
        request.head_mut().uri = uri;
    }
}

fn add(base: &BasePath, page: BoxBody) -> BoxBody {
    match page.try_into_bytes() {
        Ok(html) => BoxBody::new(base.add_to_html(&String::from_utf8_lossy(&html))),
        Err(stream) => stream,
    }
}
