//! Page that opens a page of an identity provider after a form was submitted.
//!
//! Browsers do not follow the redirect of a form to a site that the content security policy does not name as a target of forms, and
//! providers lead on to further sites.

use crate::signed_in::page::{PageResult, show};
use actix_web::http::StatusCode;
use docent_http::State;
use serde::Serialize;

#[derive(Serialize)]
pub(crate) struct ContinuePage<'a> {
    app_name: &'a str,
    url: &'a str,
}

/// Shows the page, which opens `url` at once.
pub(crate) fn continue_to(context: &State, url: &str) -> PageResult {
    show(StatusCode::OK, &ContinuePage { app_name: &context.settings.app_name, url })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl Samples for ContinuePage<'_> {
        fn samples() -> Vec<Self> {
            vec![Self { app_name: "Docent", url: "https://idp.example.org/logout?client_id=docent" }]
        }
    }
}
