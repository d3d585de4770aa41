//! `POST /admin/logout`

use super::{
    ROOT,
    form::Form,
    page::{self, Broken},
    session,
};
use crate::error::Refusal;
use actix_session::Session;
use actix_web::{HttpResponse, http::StatusCode};

pub(super) async fn logout(session: Session, form: Form) -> Result<HttpResponse, Broken> {
    if !session::is_own_form(&session, form.text("form_token")) {
        return Err(Refusal::new(StatusCode::FORBIDDEN, "The form had expired").into());
    }
    session.purge();
    Ok(page::see_other(&format!("{ROOT}/login")))
}
