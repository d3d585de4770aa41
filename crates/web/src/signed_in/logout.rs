//! `POST /admin/logout` and `POST /account/logout`

use super::area::Area;
use super::form::OwnForm;
use super::page::{self, PageResult};
use super::session::SignedIn;
use crate::signed_in::single_sign_on::continue_page::continue_to;
use actix_session::Session;
use docent_app::accounts::sessions;
use docent_app::accounts::single_sign_on::logout::provider_logout_url;
use docent_http::State;

/// Ends the session on the server, so that a copied cookie no longer works, and then that of the identity provider.
pub(crate) async fn logout(
    area: Area,
    signed_in: SignedIn,
    context: State,
    session: Session,
    _: OwnForm,
) -> PageResult {
    let app = &context.app;
    let provider = provider_logout_url(app, signed_in.session, &area.login()).await?;
    sessions::leave_browser(app, &signed_in.actor, signed_in.session).await?;
    session.purge();
    match provider {
        Some(url) => continue_to(&context, &url),
        None => Ok(page::see_other(&area.login())),
    }
}
