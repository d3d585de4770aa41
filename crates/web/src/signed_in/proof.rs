//! Asks for a proof of identity when an operation needs a recent one, and continues afterwards.
//!
//! Which operations need one is a property of the operation ([`Operation::NEEDS_PROOF`]), so a page names the
//! operation and knows nothing of proofs. A page with a form authorizes the operation of the form before it
//! is shown, so that the user fills in nothing before the proof.
//!
//! [`Operation::NEEDS_PROOF`]: docent_domain::access::Operation::NEEDS_PROOF

use super::area::Area;
use super::page::{PROOF_PAGE, PageError, requested_page, see_other};
use actix_web::body::{EitherBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::{Method, header};
use actix_web::middleware::Next;
use actix_web::{Error, HttpMessage, HttpRequest, HttpResponse};
use docent_http::extract::query::encode_query;

/// Redirects requests that lack a recent proof of identity to the form that asks for it.
pub(crate) async fn ask<B: MessageBody>(
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<EitherBody<B>>, Error> {
    let response = next.call(request).await?;
    let error = response.response().error().and_then(|error| error.as_error::<PageError>());
    if !matches!(error, Some(PageError::Unproven)) {
        return Ok(response.map_into_left_body());
    }
    let redirect = redirect(response.request());
    Ok(response.into_response(redirect).map_into_right_body())
}

/// Opens the form; after the proof, it opens the requested page. A submitted form is sent to the form of the
/// proof, which keeps its fields and sends them on.
fn redirect(request: &HttpRequest) -> HttpResponse {
    let page = requested_page(request);
    let continue_at =
        |page: &str| see_other(&format!("{PROOF_PAGE}?{}", encode_query(&[("next", Some(page))])));
    if matches!(*request.method(), Method::GET | Method::HEAD) {
        return continue_at(&page);
    }
    // The form of the proof cannot keep files.
    if request.content_type().eq_ignore_ascii_case("multipart/form-data") {
        return continue_at(Area::of(request.path()).root());
    }
    send_to(&submit_link(&page))
}

/// URL to which the form of the proof is sent, if it sends the fields of another form on to `action`.
pub(crate) fn submit_link(action: &str) -> String {
    format!("{PROOF_PAGE}?{}", encode_query(&[("action", Some(action))]))
}

/// Makes the browser send the same form to another path (307).
pub(crate) fn send_to(path: &str) -> HttpResponse {
    HttpResponse::TemporaryRedirect().insert_header((header::LOCATION, path)).finish()
}

/// Files that pages offer as downloads, with the pages. A browser stays on its page while it downloads a file.
const DOWNLOADS: [(&str, &str); 2] =
    [("/admin/answers.jsonl", "/admin/answers"), ("/admin/usage.csv", "/admin/usage")];
/// Maximum length of the path of a download that is remembered for the next page, in a cookie.
const DOWNLOAD_MAX: usize = 1000;

/// The page of a download, with its filters, or `None` for paths of other pages.
pub(super) fn page_of_download(path: &str) -> Option<String> {
    let (file, query) = path.split_at(path.find('?').unwrap_or(path.len()));
    let (_, page) = DOWNLOADS.into_iter().find(|(download, _)| *download == file)?;
    (path.len() <= DOWNLOAD_MAX).then(|| format!("{page}{query}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::test::TestRequest;

    #[test]
    fn downloads_and_their_pages_are_routes() {
        let rows = crate::TABLES.iter().copied().flatten();
        let routes: Vec<_> =
            rows.filter(|(_, methods)| methods.contains(&"GET")).map(|(path, _)| *path).collect();
        for (file, page) in DOWNLOADS {
            assert!(routes.contains(&file) && routes.contains(&page), "{file}");
        }
    }

    #[test]
    fn downloads_belong_to_a_page_with_the_same_filters() {
        assert_eq!(page_of_download("/admin/usage.csv?by=user").as_deref(), Some("/admin/usage?by=user"));
        assert_eq!(page_of_download("/admin/answers.jsonl").as_deref(), Some("/admin/answers"));
        assert_eq!(page_of_download("/admin/users/add"), None);
        assert_eq!(page_of_download(&format!("/admin/usage.csv?user={}", "x".repeat(1000))), None);
    }

    #[test]
    fn pages_are_opened_and_forms_are_sent_again() {
        let redirect = |method: Method| {
            let reply =
                redirect(&TestRequest::with_uri("/admin/users/1?a=b").method(method).to_http_request());
            let location = reply.headers().get(header::LOCATION).unwrap().to_str().unwrap().to_owned();
            (reply.status().as_u16(), location)
        };
        let page = "/account/confirm?next=%2Fadmin%2Fusers%2F1%3Fa%3Db".to_owned();
        assert_eq!(redirect(Method::GET), (303, page.clone()));
        assert_eq!(redirect(Method::HEAD), (303, page.clone()));
        assert_eq!(redirect(Method::POST), (307, page.replace("next", "action")));
    }
}
