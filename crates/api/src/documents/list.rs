//! `GET /documents`
//!
//! Returns all documents or, with the extension parameters, a page of matching documents.

use super::response::{AccessView, DocumentResponse, DocumentStatus};
use crate::answers;
use crate::paging;
use crate::selection::filters_of_text;
use crate::timestamp::rfc3339;
use actix_web::HttpResponse;
use actix_web::http::header::ContentType;
use bytes::Bytes;
use docent_app::accounts::authenticate;
use docent_app::documents::access::describe;
use docent_app::documents::list as use_case;
use docent_app::error::Error;
use docent_domain::access::{Actor, Grant, ReadDocuments};
use docent_domain::document::{Document, FailureCode};
use docent_domain::fault::report;
use docent_domain::id::CollectionId;
use docent_domain::listing::{DocumentFilter, ListPosition};
use docent_domain::permission::RecordKind;
use docent_domain::scope::Scope;
use docent_http::{Query, Reply, Scoped, State};
use futures::{StreamExt, TryStreamExt, future, stream};
use serde::Serialize;
use utoipa::ToSchema;

/// Number of documents that one read of a list without `limit` returns.
const BATCH: u64 = 500;
/// Maximum number of characters of the parameter `q`.
pub(crate) const TITLE_PART_MAX: usize = 200;
const STATUSES: [&str; 3] = ["pending", "ingested", "failed"];

/// A document of a list.
#[derive(Serialize, ToSchema)]
pub(crate) struct DocumentEntry<'a> {
    /// ID of the document.
    #[schema(format = "uuid")]
    id: String,
    /// Title, or the name of the file.
    #[schema(min_length = 1, max_length = 500)]
    title: &'a str,
    /// `pending` until the file is ingested, then `ingested` or `failed`.
    status: DocumentStatus,
    /// ID in the vector store once the document is `ingested`: equal to `id`.
    #[schema(required, max_length = 200)]
    vector_doc_id: Option<&'a str>,
    /// Extension: only with `include=access` or `include=details`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    access: Option<AccessView>,
    /// Extension: creation time, only with `include=details`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = "date-time", nullable = false)]
    created_at: Option<String>,
    /// Extension: number of pages, only with `include=details` and after the file was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pages: Option<u32>,
    /// Extension: number of pages whose text is not searchable, only with `include=details` and after the file was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pages_without_text: Option<u32>,
}

/// What the parameter `include` adds to each document.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Include {
    Access,
    /// The access, the creation time and the numbers of pages.
    Details,
}

impl Include {
    const ALL: [Self; 2] = [Self::Access, Self::Details];

    const fn as_str(self) -> &'static str {
        match self {
            Self::Access => "access",
            Self::Details => "details",
        }
    }
}

/// What the entries of a list have besides the documents.
#[derive(Clone)]
struct Details {
    context: State,
    scope: Scope,
    include: Option<Include>,
    /// The actor with its permissions, if access was requested.
    actor: Option<Actor>,
}

impl Details {
    async fn of<'a>(&self, documents: &'a [Document]) -> Result<Vec<DocumentEntry<'a>>, Error> {
        let mut access = match &self.actor {
            Some(actor) => describe(&self.context.app, actor, &self.scope, documents).await?.into_iter(),
            None => Vec::new().into_iter(),
        };
        let entry = |document: &'a Document| {
            let DocumentResponse { id, title, status, vector_doc_id } = document.into();
            let detailed = (self.include == Some(Include::Details)).then_some(document);
            let coverage = detailed.and_then(|document| document.coverage.as_ref());
            DocumentEntry {
                id,
                title,
                status,
                vector_doc_id,
                access: access.next().map(AccessView::from),
                created_at: detailed.map(|document| rfc3339(document.created_at)),
                pages: coverage.map(|coverage| coverage.pages),
                pages_without_text: coverage.map(|coverage| coverage.pages - coverage.pages_with_text()),
            }
        };
        Ok(documents.iter().map(entry).collect())
    }
}

/// List documents
///
/// Returns all documents that the account may read, newest first, without those that are only in collections that it has hidden. The parameters are an extension and filter the list. With `limit`, the headers `Link` and
/// `X-Next-Cursor` name the next page, if there is one. Empty parameters are ignored, except `collection_id` and `filters`.
#[utoipa::path(
    get, path = "/documents", operation_id = "list_documents", tag = "Documents",
    params(
        ("limit" = Option<u64>, Query, description = "Maximum number of documents.", minimum = 1, maximum = 1000, nullable = false),
        (
            "cursor" = Option<String>, Query, description = "`X-Next-Cursor` of the previous page.", nullable = false,
            pattern = r"^([0-9]{1,16}\.[0-9a-f]{32})?$", example = "1767225600123456.01920f3e5b7a7c3d9e214f6a8b0c2d4e",
        ),
        (
            "status" = Option<super::response::DocumentStatus>, Query, description = "Only documents with this status.", nullable = false, example = "ingested",
        ),
        (
            "failure" = Option<String>, Query, description = "Only documents that failed with this code, such as `no_extractable_text`.",
            nullable = false, pattern = "^[a-z_]*$", example = "",
        ),
        ("q" = Option<String>, Query, description = "Only documents whose title contains this text.", max_length = 200, nullable = false),
        ("collection_id" = Option<String>, Query, description = "Only documents of this collection.", format = "uuid", nullable = false),
        (
            "filters" = Option<String>, Query, nullable = false, example = r#"{"type":"eq","key":"year","value":2025}"#,
            description = "Only documents that meet this condition: a `Filter` as JSON.",
        ),
        (
            "include" = Option<String>, Query, nullable = false, pattern = "^(access|details)?$", example = "details",
            description = "`access`: each document also has the field `access`. `details`: it also has `access`, `created_at` and, if known, `pages` and `pages_without_text`.",
        ),
    ),
    responses(
        (status = 200, description = "The documents.", body = [DocumentEntry<'_>]),
        answers::UnknownCollection,
    ),
)]
pub(crate) async fn list(by: Scoped<ReadDocuments>, context: State, mut query: Query) -> Reply {
    let mut filter = filter(&mut query, &by.scope);
    filter.failure = query.parse("failure", "must be a failure code", FailureCode::parse);
    let id = query.parse_given("collection_id", "must be a UUID", |text| text.parse::<CollectionId>().ok());
    let filters = query.text("filters").map(str::to_owned);
    let include = query.parse("include", "must be access or details", |text| {
        Include::ALL.into_iter().find(|include| include.as_str() == text)
    });
    let limit = paging::limit(&mut query);
    let title_part = query.text("q").map(str::to_owned);
    query.done()?;
    if let Some(id) = id {
        filter.scope = by.scope.within(&[id]).ok_or(Error::NotFound(RecordKind::Collection))?;
    }
    let collection = id.map(|id| id.to_string());
    let actor = match include {
        Some(_) => Some(authenticate::with_permissions(&context.app, by.actor).await?),
        None => None,
    };
    let details = Details { context: context.clone(), scope: by.scope, include, actor };
    // One more than requested shows whether there is another page.
    filter.limit = Some(limit.unwrap_or(BATCH) + 1);
    let mut documents = use_case::list(&context.app, by.grant, &filter).await?;
    if limit.is_none() && documents.len() as u64 > BATCH {
        return stream_all(context, by.grant, filter, documents, details).await;
    }
    let next = limit.and_then(|limit| paging::truncate(&mut documents, limit, cursor));
    let parameters = [
        ("status", filter.status),
        ("failure", filter.failure.map(FailureCode::as_str)),
        ("q", title_part.as_deref()),
        ("collection_id", collection.as_deref()),
        ("filters", filters.as_deref()),
        ("include", include.map(Include::as_str)),
    ];
    let body = details.of(&documents).await?;
    Ok(paging::response(body, "/documents", &parameters, limit.unwrap_or_default(), next))
}

/// Sends a long list in batches, so that neither its size nor a slow client needs memory. If the database fails meanwhile,
/// the response ends without the closing bracket.
async fn stream_all(
    context: State,
    grant: Grant<ReadDocuments>,
    filter: DocumentFilter,
    first: Vec<Document>,
    details: Details,
) -> Reply {
    let start = stream::once(future::ready(Ok(encode(&details.of(&first).await?, "["))));
    let batches = stream::try_unfold(first.last().map(after), move |position| {
        let (context, mut filter, details) = (context.clone(), filter.clone(), details.clone());
        async move {
            let Some(position) = position else { return Ok(None) };
            filter.after = Some(position);
            let documents = use_case::list(&context.app, grant, &filter).await?;
            let batch = match documents.is_empty() {
                true => Bytes::from_static(b"]"),
                false => encode(&details.of(&documents).await?, ","),
            };
            Ok::<_, Error>(Some((batch, documents.last().map(after))))
        }
    });
    let body = start.chain(batches).inspect_err(|error| {
        tracing::warn!(error = %report(error), "a list of documents was interrupted");
    });
    Ok(HttpResponse::Ok().content_type(ContentType::json()).streaming(body))
}

/// Encodes documents as items of a JSON array after `lead`.
fn encode(entries: &[DocumentEntry<'_>], lead: &str) -> Bytes {
    let items =
        entries.iter().map(|entry| serde_json::to_string(entry).unwrap_or_else(|_| "null".to_owned()));
    Bytes::from(format!("{lead}{}", items.collect::<Vec<_>>().join(",")))
}

fn after(document: &Document) -> ListPosition {
    ListPosition { created_at: document.created_at, id: document.id }
}

/// Reads `status`, `q`, `filters` and `cursor`.
pub(crate) fn filter(query: &mut Query, scope: &Scope) -> DocumentFilter {
    DocumentFilter {
        condition: {
            query.require_value("filters", "must be a JSON object");
            query.check("filters", filters_of_text).map(|condition| condition.within(scope))
        },
        status: query.parse("status", "must be pending, ingested or failed", |text| {
            STATUSES.into_iter().find(|status| *status == text)
        }),
        title_contains: query.parse("q", "must have at most 200 characters", |text| {
            (text.chars().count() <= TITLE_PART_MAX).then(|| text.to_owned())
        }),
        after: paging::after(query, position),
        ..DocumentFilter::of(scope.shown())
    }
}

/// Encodes the position of a document in the list.
pub(crate) fn cursor(document: &Document) -> String {
    paging::cursor(document.created_at, document.id)
}

/// Decodes a position encoded by [`cursor`].
pub(crate) fn position(cursor: &str) -> Option<ListPosition> {
    paging::position(cursor).map(|(created_at, id)| ListPosition { created_at, id })
}
