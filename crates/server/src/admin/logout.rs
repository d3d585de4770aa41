//! `POST /admin/logout`

use super::{
    ROOT,
    form::OwnForm,
    page::{self, Broken},
    session::Staff,
};
use crate::context::State;
use actix_session::Session;
use actix_web::HttpResponse;
use docent_app::accounts::sessions;

/// Ends the session, not only the cookie: a copy of that is of no use afterwards.
pub(super) async fn logout(
    staff: Staff,
    context: State,
    session: Session,
    OwnForm(_): OwnForm,
) -> Result<HttpResponse, Broken> {
    sessions::leave_panel(&context.app, &staff.actor, staff.session).await?;
    session.purge();
    Ok(page::see_other(&format!("{ROOT}/login")))
}
