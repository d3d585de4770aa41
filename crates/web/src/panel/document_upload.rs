//! `GET` and `POST /admin/documents/upload`
//!
//! Each file becomes a document as soon as it has been received, so that a refused file does not affect the
//! others. The form token and the collection precede the files: without the token nothing is stored.

use super::collections::readers;
use super::nav::ROOT;
use crate::language::{self, collection_name, t};
use crate::signed_in::page::{self, PageResult};
use crate::signed_in::session::{self, Staff};
use crate::times::size;
use actix_multipart::Field;
use actix_session::SessionExt;
use actix_web::http::{StatusCode, header};
use actix_web::web::Payload;
use actix_web::{HttpMessage, HttpRequest, HttpResponse};
use docent_app::App;
use docent_app::collections::{browse, destination};
use docent_app::documents::upload::NewDocument;
use docent_app::scope;
use docent_domain::access::{AddDocuments, Grant, UploadDocuments, ViewDocuments};
use docent_domain::id::CollectionId;
use docent_domain::trace::TraceParent;
use docent_http::error::sentence;
use docent_http::extract::upload::{FILE, Form, file_name, part_name, parts_of};
use docent_http::{ApiError, State};
use serde::Serialize;

/// Maximum number of files per form.
const FILES_MAX: usize = 100;
/// Maximum size of the form token and of other fields in bytes.
const TOKEN_MAX: usize = 256;
/// Name of the field with the ID of the collection.
const COLLECTION: &str = "collection";

#[derive(Serialize)]
pub(super) struct UploadPage {
    #[serde(flatten)]
    outcome: Outcome,
    /// Maximum size of a file.
    limit: String,
    /// Names of the accepted types, and the value of the attribute `accept`.
    types: String,
    accept: String,
    files_max: usize,
    /// IDs of the collections that documents can be added to, and their names with their readers.
    collections: Vec<(String, String)>,
    /// ID of the selected collection.
    selected: String,
    /// Whether the user may view the uploaded documents.
    may_view: bool,
}

/// Result of an upload form.
#[derive(Default, Serialize)]
struct Outcome {
    uploaded: Vec<Uploaded>,
    refused: Vec<Refused>,
}

#[derive(Serialize)]
struct Uploaded {
    id: String,
    title: String,
}

#[derive(Serialize)]
struct Refused {
    name: String,
    reason: String,
}

pub(super) async fn show(staff: Staff, context: State) -> PageResult {
    staff.authorize::<UploadDocuments>()?;
    render(&staff, &context, StatusCode::OK, Outcome::default(), None).await
}

async fn render(
    staff: &Staff,
    context: &State,
    status: StatusCode,
    outcome: Outcome,
    selected: Option<CollectionId>,
) -> PageResult {
    let (app, grant) = (&context.app, staff.authorize::<AddDocuments>()?);
    let scope = scope::load(app, &staff.actor).await?;
    let destinations = browse::destinations(app, &staff.actor, &scope).await?;
    let options = destinations.iter().map(|listed| {
        let of = &listed.collection;
        let readers = readers(of, listed.size.members);
        let label = t!("upload-readers", name = collection_name(of.name.as_str()), readers = readers);
        (of.id.to_string(), label)
    });
    let selected = selected.or_else(|| destination(app, &grant, &scope, None).ok());
    let page = UploadPage {
        outcome,
        limit: size(app.settings().max_upload_bytes),
        types: language::file_types(app.settings().upload_types),
        accept: app.settings().upload_types.accept(),
        files_max: FILES_MAX,
        collections: options.collect(),
        selected: selected.map(|id| id.to_string()).unwrap_or_default(),
        may_view: staff.can::<ViewDocuments>(),
    };
    staff.show_with(status, context, "documents", page)
}

pub(super) async fn submit(
    staff: Staff,
    context: State,
    request: HttpRequest,
    payload: Payload,
) -> PageResult {
    staff.authorize::<UploadDocuments>()?;
    let grant = staff.authorize::<AddDocuments>()?;
    let scope = scope::load(&context.app, &staff.actor).await?;
    let mut form = Form::new(&context, parts_of(request.headers(), payload));
    check_token(&mut form, &request).await?;
    let trace = request.extensions().get::<TraceParent>().cloned();
    let target = |requested| Ok(destination(&context.app, &grant, &scope, requested)?);
    let mut into = Destination { requested: None, grant, target };
    let outcome = receive(&context.app, &mut form, &mut into, trace.as_ref()).await?;

    let status = if outcome.refused.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    if wants_json(&request) {
        return Ok(HttpResponse::build(status).json(&outcome));
    }
    match outcome.uploaded.as_slice() {
        uploaded @ [_, ..] if outcome.refused.is_empty() => {
            staff.notify(t!("documents-uploaded", count = uploaded.len()))?;
            let list = if staff.can::<ViewDocuments>() { "documents" } else { "documents/upload" };
            Ok(page::see_other(&format!("{ROOT}/{list}")))
        }
        [] if outcome.refused.is_empty() => {
            staff.warn(t!("upload-select-one"))?;
            Ok(page::see_other(&format!("{ROOT}/documents/upload")))
        }
        _ => render(&staff, &context, status, outcome, into.requested).await,
    }
}

/// Reads the token, which is the first field of the form.
async fn check_token(form: &mut Form<'_>, request: &HttpRequest) -> Result<(), ApiError> {
    let expired = || ApiError::new(StatusCode::FORBIDDEN, t!("form-expired"));
    let field = form.next_part().await?.filter(|part| part_name(part).as_deref() == Some("form_token"));
    let token = form.text(field.ok_or_else(expired)?, TOKEN_MAX).await?;
    if session::is_own_form(&request.get_session(), &token) { Ok(()) } else { Err(expired()) }
}

/// Where the files of a form go.
struct Destination<F> {
    /// The collection that the form names.
    requested: Option<CollectionId>,
    grant: Grant<AddDocuments>,
    /// Checks that the user may add documents to the requested collection, or chooses the default one.
    target: F,
}

async fn receive(
    app: &App,
    form: &mut Form<'_>,
    into: &mut Destination<impl Fn(Option<CollectionId>) -> Result<CollectionId, ApiError>>,
    trace: Option<&TraceParent>,
) -> Result<Outcome, ApiError> {
    let mut outcome = Outcome::default();
    let the_rest = |reason| Refused { name: t!("upload-rest"), reason };
    let (mut files, mut collection) = (0, None);
    loop {
        let part = match form.next_part().await {
            Ok(Some(_)) if files == FILES_MAX => {
                outcome.refused.push(the_rest(t!("upload-too-many")));
                break;
            }
            Ok(Some(part)) => part,
            Ok(None) => break,
            // Files that were already stored are kept and listed.
            Err(error) if outcome.uploaded.is_empty() => return Err(error),
            Err(error) => {
                error.log();
                outcome.refused.push(the_rest(reason(app, &error)));
                break;
            }
        };
        // The collection precedes the files, because each is stored as soon as it has been received.
        if files == 0 && into.requested.is_none() && part_name(&part).as_deref() == Some(COLLECTION) {
            let id = form.text(part, TOKEN_MAX).await?;
            let parsed =
                id.parse().map_err(|_| ApiError::invalid_field(&["body", COLLECTION], "must be an ID"))?;
            into.requested = Some(parsed);
            continue;
        }
        files += 1;
        let name = file_name(&part);
        // An empty file field is submitted as a file without a name.
        if part_name(&part).as_deref() != Some(FILE) || name.is_empty() {
            continue;
        }
        let target = match collection {
            Some(collection) => collection,
            None => *collection.insert((into.target)(into.requested)?),
        };
        match take(form, (into.grant, target), part, trace).await {
            Ok(uploaded) => outcome.uploaded.push(uploaded),
            Err(error) => {
                error.log();
                outcome.refused.push(Refused { name, reason: reason(app, &error) });
            }
        }
    }
    Ok(outcome)
}

/// Why a file is refused, without a full stop. Of a type that is not accepted, staff learns the setting.
fn reason(app: &App, error: &ApiError) -> String {
    if error.status() != StatusCode::UNSUPPORTED_MEDIA_TYPE {
        return sentence(&language::error_detail(error));
    }
    let types = app.settings().upload_types;
    let reason = if types.is_pdf_only() {
        t!("only-pdf")
    } else {
        t!("upload-unsupported", types = language::file_types(types))
    };
    format!("{}. {}", reason.trim_end_matches('.'), t!("upload-types-setting"))
}

/// Stores a part as a document.
async fn take(
    form: &Form<'_>,
    (grant, collection): (Grant<AddDocuments>, CollectionId),
    part: Field,
    trace: Option<&TraceParent>,
) -> Result<Uploaded, ApiError> {
    let document = form.store(NewDocument::new(grant, collection), part).await?;
    let document = document.traced(trace.cloned()).finish().await?.document;
    Ok(Uploaded { id: document.id.to_string(), title: document.title.as_str().to_owned() })
}

/// Whether the response is JSON (for the panel's script) instead of a page.
fn wants_json(request: &HttpRequest) -> bool {
    let accept = request.headers().get(header::ACCEPT).and_then(|value| value.to_str().ok());
    accept.is_some_and(|accept| accept.starts_with("application/json"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl Samples for UploadPage {
        fn samples() -> Vec<Self> {
            let page = |outcome, may_view| Self {
                outcome,
                limit: size(1),
                types: "PDF and DOCX".to_owned(),
                accept: ".pdf,.docx".to_owned(),
                files_max: FILES_MAX,
                collections: vec![("1".to_owned(), "Everyone – read by every account".to_owned())],
                selected: "1".to_owned(),
                may_view,
            };
            let outcome = || Outcome {
                uploaded: vec![Uploaded { id: "1".to_owned(), title: "Title".to_owned() }],
                refused: vec![Refused { name: "a.pdf".to_owned(), reason: "Not a PDF".to_owned() }],
            };
            vec![page(outcome(), true), page(outcome(), false), page(Outcome::default(), true)]
        }
    }
}
