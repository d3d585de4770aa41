//! Summaries of documents in SQL.

use super::entities::document_summaries::{Column, Entity, Model};
use super::fault::corrupt;
use super::record::all_columns;
use super::transaction::Transaction;
use super::values::{instant, micros};
use docent_domain::fault::Result;
use docent_domain::id::{DocumentId, VersionId};
use docent_domain::summary::{
    Description, DocumentSummary, Fallback, Heading, KeyPoint, Place, SuggestedQuestion,
};
use sea_orm::sea_query::OnConflict;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The value of the column `content`. Places are page and chunk.
#[derive(Serialize, Deserialize)]
struct Content {
    description: Option<(String, Option<(u32, u32)>)>,
    points: Vec<(String, (u32, u32))>,
    headings: Vec<(String, Option<u32>)>,
    years: Vec<u16>,
    questions: Vec<(String, u32)>,
    model: Option<String>,
    fallback: Option<String>,
}

impl Transaction {
    pub(super) async fn find_summary(&mut self, id: DocumentId) -> Result<Option<DocumentSummary>> {
        let query = Entity::find_by_id(id.as_uuid());
        let row = self.run("read a summary", |db| Box::pin(query.one(db))).await?;
        row.map(of_row).transpose()
    }

    pub(super) async fn put_summary(
        &mut self,
        id: DocumentId,
        summary: Option<&DocumentSummary>,
    ) -> Result<()> {
        let Some(summary) = summary else {
            let delete = Entity::delete_many().filter(Column::DocumentId.eq(id.as_uuid()));
            return self.delete_rows("remove a summary", delete).await.map(drop);
        };
        let replace = OnConflict::column(Column::DocumentId)
            .update_columns([Column::VersionId, Column::IngestedAt, Column::CreatedAt, Column::Content])
            .to_owned();
        let insert = Entity::insert_many([all_columns(row(id, summary))]).on_conflict(replace);
        self.insert_many_rows("store a summary", insert).await
    }
}

fn row(id: DocumentId, summary: &DocumentSummary) -> Model {
    let place = |place: &Place| (place.page, place.chunk);
    let description = summary.description.as_ref().map(|it| (&it.text, it.place.as_ref().map(place)));
    let points = summary.points.iter().map(|point| (&point.text, place(&point.place)));
    let headings = summary.headings.iter().map(|heading| (&heading.title, heading.page));
    let questions = summary.questions.iter().map(|question| (&question.text, question.page));
    let content = json!({
        "description": description,
        "points": points.collect::<Vec<_>>(),
        "headings": headings.collect::<Vec<_>>(),
        "years": summary.years,
        "questions": questions.collect::<Vec<_>>(),
        "model": summary.model,
        "fallback": summary.fallback.map(Fallback::as_str),
    });
    Model {
        document_id: id.as_uuid(),
        version_id: summary.version.as_uuid(),
        ingested_at: micros(summary.ingested_at),
        created_at: micros(summary.created_at),
        content,
    }
}

fn of_row(row: Model) -> Result<DocumentSummary> {
    let wrong = || corrupt("summary");
    let content: Content = serde_json::from_value(row.content).map_err(|_| wrong())?;
    let place = |(page, chunk)| Place { page, chunk };
    let fallback = match content.fallback {
        Some(code) => Some(Fallback::parse(&code).ok_or_else(wrong)?),
        None => None,
    };
    Ok(DocumentSummary {
        version: VersionId::from_uuid(row.version_id),
        ingested_at: instant(row.ingested_at, "summary's time")?,
        created_at: instant(row.created_at, "summary's time")?,
        description: content.description.map(|(text, at)| Description { text, place: at.map(place) }),
        points: content.points.into_iter().map(|(text, at)| KeyPoint { text, place: place(at) }).collect(),
        headings: content.headings.into_iter().map(|(title, page)| Heading { title, page }).collect(),
        years: content.years,
        questions: content
            .questions
            .into_iter()
            .map(|(text, page)| SuggestedQuestion { text, page })
            .collect(),
        model: content.model,
        fallback,
    })
}
