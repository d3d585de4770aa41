//! `POST /admin/logout`

use super::form::OwnForm;
use super::nav::ROOT;
use super::page::{self, PageResult};
use super::session::Staff;
use actix_session::Session;
use docent_app::accounts::sessions;
use docent_http::State;

/// Ends the session on the server, so that a copied cookie no longer works.
pub(super) async fn logout(staff: Staff, context: State, session: Session, _: OwnForm) -> PageResult {
    sessions::leave_panel(&context.app, &staff.actor, staff.session).await?;
    session.purge();
    Ok(page::see_other(&format!("{ROOT}/login")))
}
