//! `POST /account/language`: chooses the language of the pages.

use super::nav::ROOT;
use crate::language::request::prefer;
use crate::language::{self, t};
use crate::signed_in::form::OwnForm;
use crate::signed_in::page::{self, PageResult};
use crate::signed_in::session::SignedIn;
use docent_app::accounts::profile;
use docent_app::error::Error;
use docent_domain::error::ValidationError;
use docent_domain::text::LanguageTag;
use docent_http::State;

pub(super) async fn submit(signed_in: SignedIn, context: State, form: OwnForm) -> PageResult {
    let chosen = match form.text("language") {
        "" => None,
        code => Some(known(code).map_err(Error::from)?),
    };
    profile::set_language(&context.app, &signed_in.actor, chosen.clone()).await?;
    prefer(chosen.as_ref());
    signed_in.notify(t!("language-saved"))?;
    Ok(page::see_other(ROOT))
}

/// The tag of a language that the pages have.
fn known(code: &str) -> Result<LanguageTag, ValidationError> {
    let is_known = language::all().iter().any(|language| language.code() == code);
    let unknown = || ValidationError::new("language", "is not available");
    LanguageTag::parse(code).ok().filter(|_| is_known).ok_or_else(unknown)
}
