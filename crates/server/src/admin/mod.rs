//! The staff panel.
use crate::settings::SessionKey;
use actix_web::web::ServiceConfig;
use tera::Tera;

pub(crate) fn templates() -> Result<Tera, tera::Error> {
    Ok(Tera::new())
}

pub(crate) fn configure(_config: &mut ServiceConfig, _key: &SessionKey) {}
