//! `POST /documents`

use super::DocumentResponse;
use crate::{
    api::Reply,
    context::State,
    extract::{granted::Granted, json::Body},
};
use actix_web::HttpResponse;
use docent_app::documents::create as use_case;
use docent_domain::{access::AddDocuments, text::Title};

pub(crate) async fn create(by: Granted<AddDocuments>, context: State, body: Body) -> Reply {
    let mut body = body.fields().await?;
    let title = body.text("title");
    let title = body.parse("title", title, Title::parse);
    let title = body.done(title)?;
    let document = use_case::create(&context.app, by.grant, title).await?;
    Ok(HttpResponse::Created().json(DocumentResponse::from(&document)))
}
