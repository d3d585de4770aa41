//! Chooses the language of a request: the setting of its account, or else one that its browser accepts.

use super::{CURRENT, Language, default, find};
use crate::session_cookie;
use actix_session::SessionExt;
use actix_web::body::MessageBody;
use actix_web::dev::{Payload, ServiceRequest, ServiceResponse};
use actix_web::http::header::{self, HeaderMap};
use actix_web::middleware::Next;
use actix_web::{Error, FromRequest, HttpMessage, HttpRequest};
use docent_app::accounts::sessions;
use docent_domain::text::LanguageTag;
use docent_http::{Client, context};
use futures::future::LocalBoxFuture;
use std::cell::Cell;
use std::convert::Infallible;

/// Answers a request in a language that the browser accepts, until the account is known.
pub async fn choose_language(
    request: ServiceRequest,
    next: Next<impl MessageBody>,
) -> Result<ServiceResponse<impl MessageBody>, Error> {
    let language = accepted(request.headers());
    CURRENT.scope(Cell::new(language), async move { next.call(request).await }).await
}

/// Answers the request in the language that its account has chosen, if there is one.
pub(crate) fn prefer(setting: Option<&LanguageTag>) {
    if let Some(language) = setting.and_then(|tag| find(tag.as_str())) {
        // Fails outside of a request only.
        let _ = CURRENT.try_with(|current| current.set(language));
    }
}

/// The language that a browser likes best of those that the pages have.
fn accepted(headers: &HeaderMap) -> &'static Language {
    let values = headers.get_all(header::ACCEPT_LANGUAGE).filter_map(|value| value.to_str().ok());
    let mut wanted: Vec<_> = values.flat_map(|value| value.split(',')).filter_map(weighed).collect();
    wanted.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    let find = |tag| if tag == "*" { Some(default()) } else { find(tag) };
    wanted.into_iter().find_map(|(_, tag)| find(tag)).unwrap_or_else(default)
}

/// A language of the header with its weight, unless it is not accepted or cannot be read.
fn weighed(item: &str) -> Option<(f32, &str)> {
    let (tag, weight) = item.split_once(';').unwrap_or((item, "q=1"));
    let weight: f32 = weight.trim().to_ascii_lowercase().strip_prefix("q=")?.trim().parse().ok()?;
    (weight > 0.0 && weight <= 1.0).then_some((weight, tag.trim()))
}

/// Extractor of pages that need no session: the account of the session, if there is one, chooses the language.
pub(crate) struct AccountLanguage;

impl FromRequest for AccountLanguage {
    type Error = Infallible;
    type Future = LocalBoxFuture<'static, Result<Self, Infallible>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let (session, context) =
            (session_cookie::id_of(&request.get_session()), context::from_request(request));
        let client = request.extensions().get::<Client>().copied();
        Box::pin(async move {
            if let (Some(session), Ok(context), Some(client)) = (session, context, client) {
                // Without the account, the language of the browser remains.
                let known = sessions::authenticate_browser(&context.app, session, client.address).await;
                prefer(known.ok().and_then(|known| known.user.language).as_ref());
            }
            Ok(Self)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::http::header::HeaderValue;

    fn code(header: &[u8]) -> &'static str {
        let mut headers = HeaderMap::new();
        headers.append(header::ACCEPT_LANGUAGE, HeaderValue::from_bytes(header).unwrap());
        accepted(&headers).code()
    }

    #[test]
    fn best_accepted_language_is_chosen() {
        assert_eq!(code(b"de"), "de");
        assert_eq!(code(b"de-AT,de;q=0.9,en;q=0.5"), "de");
        assert_eq!(code(b"DE-at-1996"), "de");
        assert_eq!(code(b"fr, en;q=0.4, de;q=0.8"), "de");
        assert_eq!(code(b"de;q=0.4,en;q=0.8"), "en");
        assert_eq!(code(b"fr;q=1, *;q=0.5, de;q=0.1"), "en");
        assert_eq!(code(b"de;q=0, en-GB"), "en");
        assert_eq!(code(b"den"), "en");
    }

    #[test]
    fn what_cannot_be_read_is_ignored() {
        let long = "x-".repeat(10_000);
        let garbage: &[&[u8]] = &[
            b"",
            b",;,;;q=",
            b"\xff\xfe",
            b"de;q=x",
            b"de;q=2",
            b"de;q=NaN",
            b"de;q=-1",
            b"-",
            b"*",
            long.as_bytes(),
        ];
        for header in garbage {
            assert_eq!(code(header), "en", "{header:?}");
        }
        assert_eq!(code(b"??;q=1, ;;, de; Q=0.1"), "de");
    }
}
