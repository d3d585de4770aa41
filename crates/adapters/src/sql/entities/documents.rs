use crate::sql::fault::corrupt;
use crate::sql::labels;
use crate::sql::record::{Record, all_columns};
use crate::sql::values::{counted, instant, micros, number};
use docent_domain::document::{
    BlobKey, Deletion, Document, DocumentState, Failed, Failure, FailureCode, Ingested, Pending, StoredFile,
    VectorDocId,
};
use docent_domain::extraction::{Coverage, IngestionStats};
use docent_domain::fault::Result;
use docent_domain::id::{DocumentId, UserId};
use docent_domain::text::{FileName, Title};
use sea_orm::entity::prelude::*;
use serde_json::{Value, json};
use std::time::Duration;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "documents")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub owner_id: Option<Uuid>,
    pub title: String,
    pub file_path: Option<String>,
    pub file_name: Option<String>,
    pub file_bytes: Option<i64>,
    pub file_sha256: Option<Vec<u8>>,
    pub status: String,
    pub vector_doc_id: Option<String>,
    pub failure_code: Option<String>,
    pub failure_reason: Option<String>,
    pub ended_at: Option<i64>,
    pub pages: Option<i64>,
    pub empty_pages: Option<Json>,
    pub unreliable_pages: Option<Json>,
    pub truncated_pages: Option<Json>,
    pub characters: Option<i64>,
    pub chunks: Option<i64>,
    pub tokens: Option<i64>,
    pub created_at: i64,
    pub updated_at: i64,
    pub deleted_at: Option<i64>,
    pub effort: Option<Json>,
    pub collections: Json,
    pub attributes: Json,
    pub labels_revision: i64,
    pub indexed_labels: i64,
}

no_relations!();

impl Record for Document {
    type Entity = Entity;

    fn to_row(&self) -> Result<ActiveModel> {
        let file = self.file.as_ref();
        let coverage = self.coverage.as_ref();
        let (failure, ended_at) = match &self.state {
            DocumentState::Pending(_) => (None, None),
            DocumentState::Ingested(ingested) => (None, Some(ingested.at)),
            DocumentState::Failed(failed) => (Some(&failed.failure), Some(failed.at)),
        };
        Ok(all_columns(Model {
            id: self.id.as_uuid(),
            owner_id: self.owner.map(UserId::as_uuid),
            title: self.title.as_str().to_owned(),
            file_path: file.map(|file| file.blob.as_str().to_owned()),
            file_name: file.map(|file| file.name.as_str().to_owned()),
            file_bytes: file.map(|file| number(file.bytes, "a file size of")).transpose()?,
            file_sha256: file.map(|file| file.sha256.to_vec()),
            status: self.state.name().to_owned(),
            vector_doc_id: self.state.vector_doc_id().map(|id| id.as_str().to_owned()),
            failure_code: failure.map(|failure| failure.code.as_str().to_owned()),
            failure_reason: failure.map(|failure| failure.reason.clone()),
            ended_at: ended_at.map(micros),
            pages: coverage.map(|coverage| i64::from(coverage.pages)),
            empty_pages: coverage.map(|coverage| Value::from(coverage.empty_pages.as_slice())),
            unreliable_pages: coverage.map(|coverage| Value::from(coverage.unreliable_pages.as_slice())),
            truncated_pages: coverage.map(|coverage| Value::from(coverage.truncated_pages.as_slice())),
            characters: coverage
                .map(|coverage| number(coverage.characters, "a text length of"))
                .transpose()?,
            chunks: coverage.map(|coverage| i64::from(coverage.chunks)),
            tokens: coverage.map(|coverage| number(coverage.tokens, "a token count of")).transpose()?,
            created_at: micros(self.created_at),
            updated_at: micros(self.updated_at),
            deleted_at: None,
            effort: self.stats.as_ref().map(effort_value),
            collections: labels::ids_value(&self.collections),
            attributes: labels::attributes_value(&self.attributes),
            labels_revision: i64::from(self.labels_revision),
            indexed_labels: 0,
        }))
    }

    fn from_row(row: Model) -> Result<Self> {
        Ok(Document {
            id: DocumentId::from_uuid(row.id),
            owner: row.owner_id.map(UserId::from_uuid),
            collections: labels::ids(&row.collections).ok_or_else(|| corrupt("document's collections"))?,
            title: Title::parse(&row.title).map_err(|_| corrupt("document's title"))?,
            attributes: labels::attributes(&row.attributes)
                .ok_or_else(|| corrupt("document's attributes"))?,
            labels_revision: counted(row.labels_revision, "revision of labels")?,
            file: file(&row)?,
            state: state(&row)?,
            created_at: instant(row.created_at, "document's time")?,
            updated_at: instant(row.updated_at, "document's time")?,
            stats: row.effort.as_ref().map(effort).transpose()?,
            coverage: coverage(row)?,
        })
    }
}

/// The deletion that a deleted document's row describes.
pub fn to_deletion(row: &Model) -> Result<Option<Deletion>> {
    let Some(at) = row.deleted_at else { return Ok(None) };
    let blob = row.file_path.as_deref().map(BlobKey::parse).transpose();
    let sha256 = row.file_sha256.as_deref().map(TryInto::try_into).transpose();
    Ok(Some(Deletion {
        document: DocumentId::from_uuid(row.id),
        blob: blob.map_err(|_| corrupt("file path"))?,
        sha256: sha256.map_err(|_| corrupt("file digest"))?,
        at: instant(at, "document's time")?,
    }))
}

fn file(row: &Model) -> Result<Option<StoredFile>> {
    match (&row.file_path, &row.file_name, row.file_bytes, &row.file_sha256) {
        (None, None, None, None) => Ok(None),
        (Some(path), Some(name), Some(bytes), Some(sha256)) => Ok(Some(StoredFile {
            blob: BlobKey::parse(path).map_err(|_| corrupt("file path"))?,
            name: FileName::sanitize(name),
            bytes: counted(bytes, "file size")?,
            sha256: sha256.as_slice().try_into().map_err(|_| corrupt("file digest"))?,
        })),
        _ => Err(corrupt("document's file")),
    }
}

fn state(row: &Model) -> Result<DocumentState> {
    let wrong = || corrupt("document's state");
    let at = || instant(row.ended_at.ok_or_else(wrong)?, "document's time");
    match (row.status.as_str(), &row.vector_doc_id, &row.failure_code, &row.failure_reason) {
        ("pending", None, None, None) => Ok(DocumentState::Pending(Pending)),
        ("ingested", Some(id), None, None) => {
            let vector_doc_id = VectorDocId::parse(id).map_err(|_| wrong())?;
            Ok(DocumentState::Ingested(Ingested { vector_doc_id, at: at()? }))
        }
        ("failed", None, Some(code), Some(reason)) => {
            let code = FailureCode::parse(code).ok_or_else(wrong)?;
            let failure = Failure { code, reason: reason.clone() };
            Ok(DocumentState::Failed(Failed { failure, at: at()? }))
        }
        _ => Err(wrong()),
    }
}

fn coverage(row: Model) -> Result<Option<Coverage>> {
    let Some(pages) = row.pages else { return Ok(None) };
    let wrong = || corrupt("coverage");
    let list = |pages: Option<Value>| {
        let pages = pages.ok_or_else(wrong)?;
        serde_json::from_value::<Vec<u32>>(pages).map_err(|_| wrong())
    };
    Ok(Some(Coverage {
        pages: counted(pages, "coverage")?,
        empty_pages: list(row.empty_pages)?,
        unreliable_pages: list(row.unreliable_pages)?,
        truncated_pages: list(row.truncated_pages)?,
        characters: counted(row.characters.ok_or_else(wrong)?, "coverage")?,
        chunks: counted(row.chunks.ok_or_else(wrong)?, "coverage")?,
        tokens: counted(row.tokens.ok_or_else(wrong)?, "coverage")?,
    }))
}

/// Durations in microseconds.
fn effort_value(effort: &IngestionStats) -> Value {
    let micros = |duration: Duration| u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
    json!({
        "extractor": effort.extractor,
        "attempts": effort.attempts,
        "extract": micros(effort.extract),
        "chunk": micros(effort.chunk),
        "embed": micros(effort.embed),
        "index": micros(effort.index),
    })
}

fn effort(value: &Value) -> Result<IngestionStats> {
    let wrong = || corrupt("effort");
    let number = |name: &str| value[name].as_u64().ok_or_else(wrong);
    let time = |name| number(name).map(Duration::from_micros);
    Ok(IngestionStats {
        extractor: value["extractor"].as_str().ok_or_else(wrong)?.to_owned(),
        attempts: u32::try_from(number("attempts")?).map_err(|_| wrong())?,
        extract: time("extract")?,
        chunk: time("chunk")?,
        embed: time("embed")?,
        index: time("index")?,
    })
}
