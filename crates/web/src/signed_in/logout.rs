//! `POST /admin/logout` and `POST /account/logout`

use super::area::Area;
use super::form::OwnForm;
use super::page::{self, PageResult};
use super::session::SignedIn;
use actix_session::Session;
use docent_app::accounts::sessions;
use docent_http::State;

/// Ends the session on the server, so that a copied cookie no longer works.
pub(crate) async fn logout(
    area: Area,
    signed_in: SignedIn,
    context: State,
    session: Session,
    _: OwnForm,
) -> PageResult {
    sessions::leave_browser(&context.app, &signed_in.actor, signed_in.session).await?;
    session.purge();
    Ok(page::see_other(&area.login()))
}
