//! `POST /admin/logout`

use super::{
    ROOT,
    form::Form,
    page::{self, Broken},
    session::{self, Staff},
};
use crate::{context::State, error::Refusal};
use actix_session::Session;
use actix_web::{HttpResponse, http::StatusCode};
use docent_app::accounts::sessions;

/// Ends the session, not only the cookie: a copy of that is of no use afterwards.
pub(super) async fn logout(
    staff: Staff,
    context: State,
    session: Session,
    form: Form,
) -> Result<HttpResponse, Broken> {
    if !session::is_own_form(&session, form.text("form_token")) {
        return Err(Refusal::new(StatusCode::FORBIDDEN, "The form had expired").into());
    }
    sessions::leave_panel(&context.app, &staff.actor, staff.session).await?;
    session.purge();
    Ok(page::see_other(&format!("{ROOT}/login")))
}
