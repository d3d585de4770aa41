//! Summaries of documents in the archive format. Timestamps are microseconds since the Unix epoch.

use super::lines::{id, instant};
use super::{BackupError, invalid_archive};
use docent_domain::summary::{
    Description, DocumentSummary, Fallback, Heading, KeyPoint, Place, SuggestedQuestion,
};
use serde::{Deserialize, Serialize};

/// The summary of a document. Places are page and chunk.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SummaryLine {
    version_id: String,
    ingested_at: i64,
    created_at: i64,
    description: Option<(String, Option<(u32, u32)>)>,
    points: Vec<(String, (u32, u32))>,
    headings: Vec<(String, Option<u32>)>,
    years: Vec<u16>,
    questions: Vec<(String, u32)>,
    model: Option<String>,
    fallback: Option<String>,
}

impl SummaryLine {
    pub(super) fn of(summary: &DocumentSummary) -> Self {
        let place = |place: &Place| (place.page, place.chunk);
        let description =
            summary.description.as_ref().map(|it| (it.text.clone(), it.place.as_ref().map(place)));
        let questions = summary.questions.iter().map(|question| (question.text.clone(), question.page));
        Self {
            version_id: summary.version.to_string(),
            ingested_at: summary.ingested_at.timestamp_micros(),
            created_at: summary.created_at.timestamp_micros(),
            description,
            points: summary.points.iter().map(|it| (it.text.clone(), place(&it.place))).collect(),
            headings: summary.headings.iter().map(|it| (it.title.clone(), it.page)).collect(),
            years: summary.years.clone(),
            questions: questions.collect(),
            model: summary.model.clone(),
            fallback: summary.fallback.map(|fallback| fallback.as_str().to_owned()),
        }
    }

    pub(super) fn summary(&self) -> Result<DocumentSummary, BackupError> {
        let place = |&(page, chunk): &(u32, u32)| Place { page, chunk };
        let fallback = |code: &String| {
            let unknown = || invalid_archive(format!("`{code}` is not a known fallback of a summary"));
            Fallback::parse(code).ok_or_else(unknown)
        };
        let description = |(text, at): &(String, Option<_>)| Description {
            text: text.clone(),
            place: at.as_ref().map(place),
        };
        let point = |(text, at): &(String, _)| KeyPoint { text: text.clone(), place: place(at) };
        let heading = |(title, page): &(String, _)| Heading { title: title.clone(), page: *page };
        let question = |(text, page): &(String, _)| SuggestedQuestion { text: text.clone(), page: *page };
        Ok(DocumentSummary {
            version: id(&self.version_id)?,
            ingested_at: instant(self.ingested_at)?,
            created_at: instant(self.created_at)?,
            description: self.description.as_ref().map(description),
            points: self.points.iter().map(point).collect(),
            headings: self.headings.iter().map(heading).collect(),
            years: self.years.clone(),
            questions: self.questions.iter().map(question).collect(),
            model: self.model.clone(),
            fallback: self.fallback.as_ref().map(fallback).transpose()?,
        })
    }
}
