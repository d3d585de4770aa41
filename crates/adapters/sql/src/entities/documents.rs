use crate::fault::corrupt;
use crate::record::{Record, all_columns};
use crate::values::{counted, instant, json, micros, number, of_json, stored};
use docent_domain::document::{
    BlobKey, Deletion, Document, DocumentState, DocumentStatus, Failed, Failure, FailureCode, Ingested,
    Pending, Replacement, StoredFile, StoredVersion, VectorDocId,
};
use docent_domain::extraction::Coverage;
use docent_domain::fault::Result;
use docent_domain::file_type::FileType;
use docent_domain::id::{DocumentId, UserId, VersionId};
use docent_domain::text::FileName;
use docent_ports::records::Stored;
use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};

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
    pub version: i64,
    pub version_id: Option<Uuid>,
    pub replacement: Option<Json>,
    pub replacement_id: Option<Uuid>,
    pub replacement_bytes: Option<i64>,
    pub replacement_sha256: Option<Vec<u8>>,
    pub language: Option<String>,
    pub recognition: Option<Json>,
    pub file_type: String,
    pub page_labels: Option<Json>,
    pub page_gaps: Option<Json>,
}

no_relations!();

impl Record for Document {
    type Entity = Entity;

    fn to_row(&self) -> Result<ActiveModel> {
        let file = self.file.as_ref();
        let coverage = self.coverage.as_ref();
        let replacement = self.replacement.as_ref();
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
            empty_pages: coverage.map(|coverage| json(&coverage.empty_pages)).transpose()?,
            unreliable_pages: coverage.map(|coverage| json(&coverage.unreliable_pages)).transpose()?,
            truncated_pages: coverage.map(|coverage| json(&coverage.truncated_pages)).transpose()?,
            characters: coverage
                .map(|coverage| number(coverage.characters, "a text length of"))
                .transpose()?,
            chunks: coverage.map(|coverage| i64::from(coverage.chunks)),
            tokens: coverage.map(|coverage| number(coverage.tokens, "a token count of")).transpose()?,
            created_at: micros(self.created_at),
            updated_at: micros(self.updated_at),
            deleted_at: None,
            effort: self.stats.as_ref().map(json).transpose()?,
            collections: json(&self.collections)?,
            attributes: json(&self.attributes)?,
            labels_revision: i64::from(self.labels_revision),
            indexed_labels: 0,
            version: i64::from(self.version),
            version_id: (self.version_id != VersionId::first(self.id)).then(|| self.version_id.as_uuid()),
            replacement: replacement.map(ReplacementColumn::of).transpose()?,
            replacement_id: replacement.map(|replacement| replacement.version_id.as_uuid()),
            replacement_bytes: replacement
                .map(|replacement| number(replacement.file.bytes, "a file size of"))
                .transpose()?,
            replacement_sha256: replacement.map(|replacement| replacement.file.sha256.to_vec()),
            language: coverage.and_then(|coverage| coverage.language.clone()),
            recognition: coverage.and_then(|coverage| coverage.recognition.as_ref()).map(json).transpose()?,
            file_type: file.map_or(FileType::Pdf, |file| file.file_type).as_str().to_owned(),
            page_gaps: coverage.map(PageGaps::of).and_then(|gaps| serde_json::to_value(gaps).ok()),
            page_labels: coverage
                .map(|coverage| &coverage.page_labels)
                .filter(|labels| !labels.as_slice().is_empty())
                .map(json)
                .transpose()?,
        }))
    }

    fn from_row(row: Model) -> Result<Self> {
        Ok(Document {
            id: DocumentId::from_uuid(row.id),
            owner: row.owner_id.map(UserId::from_uuid),
            collections: of_json(row.collections.clone(), "document's collections")?,
            title: stored(row.title.clone(), "document's title")?,
            attributes: of_json(row.attributes.clone(), "document's attributes")?,
            labels_revision: counted(row.labels_revision, "revision of labels")?,
            version_id: version_id(&row),
            version: counted(row.version, "number of a version")?,
            file: file(&row)?,
            replacement: replacement(&row)?,
            state: state(&row)?,
            created_at: instant(row.created_at, "document's time")?,
            updated_at: instant(row.updated_at, "document's time")?,
            stats: row.effort.clone().map(|effort| of_json(effort, "effort")).transpose()?,
            coverage: coverage(row)?,
        })
    }
}

/// The deletion that a deleted document's row describes.
pub fn to_deletion(row: &Model) -> Result<Option<Deletion>> {
    let Some(at) = row.deleted_at else { return Ok(None) };
    let current = StoredVersion { id: version_id(row), file: file(row)? };
    let replacement = replacement(row)?.map(|replacement| replacement.stored());
    Ok(Some(Deletion {
        document: DocumentId::from_uuid(row.id),
        versions: [current].into_iter().chain(replacement).collect(),
        at: instant(at, "document's time")?,
    }))
}

/// The versions that a row has, with the status of each.
pub fn statuses(row: &Model) -> Result<Vec<(VersionId, DocumentStatus)>> {
    let of = |status| if row.deleted_at.is_some() { DocumentStatus::Deleted } else { status };
    let current = match row.status.as_str() {
        "pending" => DocumentStatus::Pending,
        "ingested" => DocumentStatus::Ingested,
        "failed" => DocumentStatus::Failed,
        _ => return Err(corrupt("document's status")),
    };
    let mut statuses = vec![(version_id(row), of(current))];
    if let Some(replacement) = replacement(row)? {
        let is_failed = replacement.failure.is_some();
        let status = if is_failed { DocumentStatus::Failed } else { DocumentStatus::Pending };
        statuses.push((replacement.version_id, of(status)));
    }
    Ok(statuses)
}

fn version_id(row: &Model) -> VersionId {
    VersionId::from_uuid(row.version_id.unwrap_or(row.id))
}

/// The value of the column `replacement`: what has no column of its own.
#[derive(Serialize, Deserialize)]
struct ReplacementColumn {
    version: u32,
    name: String,
    /// Missing in records of versions that accepted only PDFs.
    #[serde(rename = "type")]
    file_type: Option<String>,
    failure: Option<<Failure as Stored>::Form>,
    at: i64,
}

impl ReplacementColumn {
    fn of(replacement: &Replacement) -> Result<Json> {
        let column = Self {
            version: replacement.version,
            name: replacement.file.name.to_form(),
            file_type: Some(replacement.file.file_type.to_form()),
            failure: replacement.failure.to_form(),
            at: micros(replacement.at),
        };
        serde_json::to_value(column).map_err(|_| corrupt("document's replacement"))
    }
}

fn replacement(row: &Model) -> Result<Option<Replacement>> {
    let wrong = || corrupt("document's replacement");
    match (&row.replacement, row.replacement_id, row.replacement_bytes, &row.replacement_sha256) {
        (None, None, None, None) => Ok(None),
        (Some(value), Some(id), Some(bytes), Some(sha256)) => {
            let version_id = VersionId::from_uuid(id);
            let column = ReplacementColumn::deserialize(value).map_err(|_| wrong())?;
            let file_type = Option::<FileType>::from_form(column.file_type).map_err(|_| wrong())?;
            let file = StoredFile {
                blob: BlobKey::of_version(version_id),
                name: FileName::sanitize(&column.name),
                bytes: counted(bytes, "file size")?,
                sha256: sha256.as_slice().try_into().map_err(|_| wrong())?,
                file_type: file_type.unwrap_or(FileType::Pdf),
            };
            let failure = Stored::from_form(column.failure).map_err(|_| wrong())?;
            let at = instant(column.at, "document's time")?;
            Ok(Some(Replacement { version_id, version: column.version, file, failure, at }))
        }
        _ => Err(wrong()),
    }
}

fn file(row: &Model) -> Result<Option<StoredFile>> {
    match (&row.file_path, &row.file_name, row.file_bytes, &row.file_sha256) {
        (None, None, None, None) => Ok(None),
        (Some(path), Some(name), Some(bytes), Some(sha256)) => Ok(Some(StoredFile {
            blob: BlobKey::parse(path).map_err(|_| corrupt("file path"))?,
            name: FileName::sanitize(name),
            bytes: counted(bytes, "file size")?,
            sha256: sha256.as_slice().try_into().map_err(|_| corrupt("file digest"))?,
            file_type: stored(row.file_type.clone(), "file type")?,
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

/// The value of the column `page_gaps`: numbers of pages.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct PageGaps {
    unread_pictures: Vec<u32>,
    described_pictures: Vec<u32>,
    undescribed_pictures: Vec<u32>,
    lacking_results: Vec<u32>,
}

impl PageGaps {
    fn of(coverage: &Coverage) -> Self {
        Self {
            unread_pictures: coverage.unread_picture_pages.clone(),
            described_pictures: coverage.described_pages.clone(),
            undescribed_pictures: coverage.undescribed_pages.clone(),
            lacking_results: coverage.lacking_result_pages.clone(),
        }
    }
}

fn coverage(row: Model) -> Result<Option<Coverage>> {
    let Some(pages) = row.pages else { return Ok(None) };
    let wrong = || corrupt("coverage");
    let list = |pages: Option<Json>| of_json::<Vec<u32>>(pages.ok_or_else(wrong)?, "coverage");
    // Older documents have none.
    let gaps = row.page_gaps.map(PageGaps::deserialize).transpose().map_err(|_| wrong())?.unwrap_or_default();
    Ok(Some(Coverage {
        pages: counted(pages, "coverage")?,
        empty_pages: list(row.empty_pages)?,
        unreliable_pages: list(row.unreliable_pages)?,
        truncated_pages: list(row.truncated_pages)?,
        characters: counted(row.characters.ok_or_else(wrong)?, "coverage")?,
        chunks: counted(row.chunks.ok_or_else(wrong)?, "coverage")?,
        tokens: counted(row.tokens.ok_or_else(wrong)?, "coverage")?,
        language: row.language,
        recognition: row
            .recognition
            .map(|found| of_json(found, "coverage of the recognition"))
            .transpose()?,
        page_labels: row
            .page_labels
            .map_or_else(|| Ok(Default::default()), |labels| of_json(labels, "labels of pages"))?,
        unread_picture_pages: gaps.unread_pictures,
        described_pages: gaps.described_pictures,
        undescribed_pages: gaps.undescribed_pictures,
        lacking_result_pages: gaps.lacking_results,
    }))
}
