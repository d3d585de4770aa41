//! `GET /documents/{doc_id}/summary`

use crate::answers;
use crate::timestamp::rfc3339;
use actix_web::HttpResponse;
use docent_app::documents::summary::{self as use_case, SummarizedDocument};
use docent_domain::access::ReadDocuments;
use docent_domain::id::{ChunkId, DocumentId};
use docent_domain::summary::{Fallback, Place};
use docent_http::{PathId, Query, Reply, Scoped, State};
use serde::Serialize;
use utoipa::ToSchema;

/// The summary of a document.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({
    "document_id": "01920f3e-5b7a-7c3d-9e21-4f6a8b0c2d4e",
    "title": "Pump manual.pdf",
    "version": 1,
    "description": {
        "text": "This manual describes the pump P9, which moves clean water in houses and gardens.",
        "page": 1, "chunk_id": "8f2b4c1e-3d5a-5e7f-9a1b-2c3d4e5f6a7b",
    },
    "points": [{
        "text": "The motor of the pump needs service once a year.",
        "page": 12, "chunk_id": "1c9d7e5b-6f4a-5b3c-8d2e-0f1a2b3c4d5e",
    }],
    "headings": [{ "title": "Safety", "page": 2 }],
    "years": [2024],
    "questions": [{ "text": "What does the document say about Winter storage?", "page": 31 }],
    "model": null,
    "fallback": null,
    "created_at": "2026-01-01T00:00:00.000000Z",
}))]
pub(crate) struct SummaryResponse {
    /// ID of the document.
    #[schema(format = "uuid")]
    document_id: String,
    /// Title of the document.
    title: String,
    /// Number of the version that it is of.
    #[schema(minimum = 1)]
    version: u32,
    /// What the document is; `null` if it does not say so.
    #[schema(required)]
    description: Option<DescriptionView>,
    /// The most important points, in the order of their pages.
    #[schema(max_items = 6)]
    points: Vec<PointView>,
    /// Main headings of the outline; empty if the document has none.
    #[schema(max_items = 12)]
    headings: Vec<HeadingView>,
    /// Years that the text mentions most.
    #[schema(max_items = 3)]
    years: Vec<u16>,
    /// Questions for which a search in the document finds their page.
    #[schema(max_items = 3)]
    questions: Vec<QuestionView>,
    /// The model that wrote it; `null` if it consists of sentences of the document.
    #[schema(required)]
    model: Option<String>,
    /// Why the connected model did not write it; `null` if it did, or if none is connected.
    #[schema(required)]
    fallback: Option<FallbackCode>,
    /// When it was made.
    #[schema(format = "date-time")]
    created_at: String,
}

/// What a document is.
#[derive(Serialize, ToSchema)]
struct DescriptionView {
    /// A sentence of the document, or a text of the model.
    text: String,
    /// The page that it is on; `null` if the model cited none.
    #[schema(required, minimum = 1)]
    page: Option<u32>,
    /// What that page is in a file that is not a PDF. Otherwise missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    label: Option<String>,
    /// ID of the passage that it is in; `null` if the model cited none.
    #[schema(required, format = "uuid")]
    chunk_id: Option<String>,
}

/// A point of a summary.
#[derive(Serialize, ToSchema)]
struct PointView {
    /// A sentence of the document, or of the model.
    text: String,
    /// The page that it is on.
    #[schema(minimum = 1)]
    page: u32,
    /// What the page is in a file that is not a PDF: `Slide 3`, `Budget!A1:F40` or a heading. Otherwise missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    label: Option<String>,
    /// ID of the passage that it is in.
    #[schema(format = "uuid")]
    chunk_id: String,
}

/// A heading of the outline.
#[derive(Serialize, ToSchema)]
struct HeadingView {
    /// The heading.
    title: String,
    /// Its page; `null` if unknown.
    #[schema(required, minimum = 1)]
    page: Option<u32>,
}

/// A suggested question.
#[derive(Serialize, ToSchema)]
struct QuestionView {
    /// The question, in the language of the document if that is English or German.
    text: String,
    /// The page with the passage that a search finds for it.
    #[schema(minimum = 1)]
    page: u32,
}

/// Why the connected model did not write a summary.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum FallbackCode {
    /// It could not be reached, or failed.
    ModelFailed,
    /// It took over two minutes.
    ModelTimeout,
    /// It cited no passage of the document.
    InvalidOutput,
    /// The account has used its tokens, or the API key must not use the model.
    NotAllowed,
}

impl From<Fallback> for FallbackCode {
    fn from(fallback: Fallback) -> Self {
        match fallback {
            Fallback::ModelFailed => Self::ModelFailed,
            Fallback::ModelTimeout => Self::ModelTimeout,
            Fallback::InvalidOutput => Self::InvalidOutput,
            Fallback::NotAllowed => Self::NotAllowed,
        }
    }
}

impl From<SummarizedDocument> for SummaryResponse {
    fn from(SummarizedDocument { document, summary }: SummarizedDocument) -> Self {
        let chunk_id = |place: Place| ChunkId::of(summary.version, place.chunk).to_string();
        let labels = document.coverage.as_ref().map(|coverage| &coverage.page_labels);
        let label = |place: Place| labels.and_then(|labels| labels.get(place.page));
        Self {
            document_id: document.id.to_string(),
            title: document.title.as_str().to_owned(),
            version: document.version,
            description: summary.description.map(|it| DescriptionView {
                text: it.text,
                page: it.place.map(|place| place.page),
                label: it.place.and_then(label),
                chunk_id: it.place.map(chunk_id),
            }),
            points: summary
                .points
                .into_iter()
                .map(|it| PointView {
                    text: it.text,
                    page: it.place.page,
                    label: label(it.place),
                    chunk_id: chunk_id(it.place),
                })
                .collect(),
            headings: summary
                .headings
                .into_iter()
                .map(|it| HeadingView { title: it.title, page: it.page })
                .collect(),
            years: summary.years,
            questions: summary
                .questions
                .into_iter()
                .map(|it| QuestionView { text: it.text, page: it.page })
                .collect(),
            model: summary.model,
            fallback: summary.fallback.map(Into::into),
            created_at: rfc3339(summary.created_at),
        }
    }
}

/// Read the summary of a document (extension)
///
/// It is made by the first request, which takes longer, and kept until the document is ingested again. Without a language model it
/// consists of sentences of the document. A connected model writes it instead if the account may chat, which counts against its
/// tokens; if the model fails, sentences are used, `fallback` says why, and a request after 15 minutes asks it again. With
/// `model=false`, the model is not called: the stored summary is returned, or sentences of the document.
#[utoipa::path(
    get, path = "/documents/{doc_id}/summary", operation_id = "get_summary", tag = "Documents",
    params(
        ("doc_id" = String, Path, description = "ID of the document.", format = "uuid"),
        (
            "model" = Option<bool>, Query, nullable = false, example = false,
            description = "Extension: `false` never calls the connected model. Default: `true`.",
        ),
    ),
    responses((status = 200, description = "The summary.", body = SummaryResponse), answers::UnknownSummary),
)]
pub(crate) async fn summary(
    by: Scoped<ReadDocuments>,
    context: State,
    id: PathId<DocumentId>,
    mut query: Query,
) -> Reply {
    let with_model = query.parse("model", "must be true or false", |text| text.parse::<bool>().ok());
    query.done()?;
    let (app, id) = (&context.app, id.parse()?);
    let found = match with_model {
        Some(false) => use_case::get_without_model(app, by.grant, &by.scope, id).await?,
        Some(true) | None => use_case::get(app, &by.actor, by.grant, &by.scope, id).await?,
    };
    Ok(HttpResponse::Ok().json(SummaryResponse::from(found)))
}
