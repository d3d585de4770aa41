//! Writes an archive.
//!
//! A snapshot of the database determines its contents. Files are immutable, and chunks are included only if their
//! number is the recorded one: a document whose chunks are missing or being replaced is ingested again after a restore.
//! Documents that are deleted while the archive is written are omitted.

use super::entries::EntryWriter;
use super::manifest::Manifest;
use super::{BackupError, FILE, FORMAT, MANIFEST, REPLACEMENT};
use crate::App;
use crate::audit::{AuditTarget, Changes, Initiator};
use crate::error::Result;
use crate::maintenance::progress::Progress;
use docent_domain::audit::AuditAction;
use docent_domain::collection::{Member, Membership};
use docent_domain::conversation::Conversation;
use docent_domain::document::{Document, DocumentState, StoredFile};
use docent_domain::fault::{Component, Fault, FaultKind};
use docent_domain::id::{CollectionId, ConversationId};
use docent_domain::listing::PageRequest;
use docent_domain::permission::RecordKind;
use docent_domain::retrieval::StoredChunk;
use docent_ports::archive::ArchiveWriter;
use docent_ports::records::{
    ArchivedChunk, ArchivedCollection, ArchivedConversation, ArchivedDocument, ArchivedUser, Stored,
};
use docent_ports::store::ReadView;
use docent_ports::vector_index::VectorIndex;
use futures::TryStreamExt;
use std::collections::BTreeMap;
use std::sync::Arc;

const PAGE: u64 = 256;
/// Messages per page: fewer, because they can be long.
const MESSAGES: u64 = 64;
/// Stored responses per page: each has its whole request.
const RESPONSES: u64 = 16;

/// The contents and origin of an archive.
#[derive(Clone, Debug)]
pub struct BackupOptions {
    /// The version of this program.
    pub program: String,
    /// The last migration of the schema.
    pub schema: String,
    /// Whether to include chunks. Without them every document is ingested again after a restore.
    pub chunks: bool,
}

/// The number of records in an archive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BackupSummary {
    /// Accounts.
    pub users: u64,
    /// Documents.
    pub documents: u64,
    /// Files.
    pub files: u64,
    /// Chunks.
    pub chunks: u64,
}

/// Writes a complete archive.
///
/// # Errors
/// When a component fails; the archive is then not created.
pub async fn save(
    app: &App,
    options: BackupOptions,
    writer: Box<dyn ArchiveWriter>,
    progress: &dyn Progress,
) -> Result<BackupSummary, BackupError> {
    let mut view = app.store.read().await?;
    let sizes = view.inventory().counts().await?;
    let generation = app.active_generation().await?;
    // Without a configured embedder the generation's own name is recorded, and a restore embeds the chunks again.
    let embedder = app.embedders.of_model(&generation.model);
    let embedding_model =
        embedder.map_or_else(|_| generation.model.clone(), |embedder| embedder.model().to_owned());
    let index = match options.chunks {
        true => Some(app.open(generation).await?.index),
        false => None,
    };
    let mut writer = BackupWriter {
        app,
        entries: EntryWriter::new(writer),
        summary: BackupSummary::default(),
        options,
        index,
    };
    let manifest = Manifest {
        format: FORMAT,
        program: writer.options.program.clone(),
        schema: writer.options.schema.clone(),
        embedding_model,
        begun_at: app.now().to_rfc3339(),
        users: sizes.users,
        documents: sizes.documents,
        usage: sizes.usage,
        groups: sizes.groups,
        api_keys: sizes.api_keys,
        invitations: sizes.invitations,
        conversations: sizes.conversations,
        responses: sizes.responses,
        webhooks: sizes.webhooks,
        audit: sizes.audit,
    };
    writer.entries.put_json(MANIFEST, &manifest).await?;
    writer.groups(&mut *view).await?;
    writer.users(&mut *view).await?;
    writer.collections(&mut *view).await?;
    writer.api_keys(&mut *view).await?;
    writer.invitations(&mut *view).await?;
    writer.conversations(&mut *view).await?;
    writer.responses(&mut *view).await?;
    writer.webhooks(&mut *view).await?;
    writer.audit(&mut *view).await?;
    writer.usage(&mut *view).await?;
    progress.begin("saving documents", Some(sizes.documents));
    let mut after = None;
    loop {
        let page = view.inventory().documents(after, PAGE).await?;
        let Some(last) = page.last() else { break };
        after = Some(last.id);
        for document in &page {
            writer.document(document).await?;
            progress.advance(1);
        }
    }
    progress.end();
    let BackupWriter { entries, summary, .. } = writer;
    entries.finish(summary.documents).await?;
    // The archive is complete even if this fails.
    if let Err(error) = record(app, &summary).await {
        tracing::warn!(%error, "the audit log does not have this backup");
    }
    Ok(summary)
}

/// Records a finished backup in the audit log, which is where staff see the time of the last one.
async fn record(app: &App, summary: &BackupSummary) -> Result<()> {
    let target = AuditTarget::new(RecordKind::Document, "", "backup of the installation");
    let changes = Changes::default().added("documents", summary.documents).added("files", summary.files);
    let mut work = app.store.begin().await?;
    app.audit(&mut *work, &Initiator::command_line(), AuditAction::Backup, target, changes).await?;
    Ok(work.commit().await?)
}

struct BackupWriter<'a> {
    app: &'a App,
    entries: EntryWriter,
    summary: BackupSummary,
    options: BackupOptions,
    /// Present if chunks are included.
    index: Option<Arc<dyn VectorIndex>>,
}

/// Defines methods that write all records of a kind in pages.
macro_rules! pages {
    ($($kind:ident by $size:ident;)*) => {
        impl BackupWriter<'_> {$(
            async fn $kind(&mut self, view: &mut dyn ReadView) -> Result<(), Fault> {
                let mut after = None;
                for number in 1.. {
                    let page = view.inventory().$kind(after, $size).await?;
                    let Some(last) = page.last() else { break };
                    after = Some(last.id);
                    let name = format!("{}/{number:06}.jsonl", stringify!($kind));
                    self.entries.put_records(&name, &page).await?;
                }
                Ok(())
            }
        )*}
    };
}

pages! {
    groups by PAGE;
    api_keys by PAGE;
    invitations by PAGE;
    responses by RESPONSES;
    webhooks by PAGE;
    audit by PAGE;
    usage by PAGE;
}

impl BackupWriter<'_> {
    async fn users(&mut self, view: &mut dyn ReadView) -> Result<(), Fault> {
        let mut after = None;
        for number in 1.. {
            let page = view.inventory().users(after, PAGE).await?;
            let Some(last) = page.last() else { break };
            after = Some(last.id);
            self.summary.users += page.len() as u64;
            let mut users = Vec::with_capacity(page.len());
            for user in page {
                let rights = view.groups().assigned_permissions(user.id).await?;
                users.push(ArchivedUser { user, rights });
            }
            self.entries.put_records(&format!("users/{number:06}.jsonl"), &users).await?;
        }
        Ok(())
    }

    async fn collections(&mut self, view: &mut dyn ReadView) -> Result<(), Fault> {
        let mut after = None;
        for number in 1.. {
            let page = view.inventory().collections(after, PAGE).await?;
            let Some(last) = page.last() else { break };
            after = Some(last.id);
            let ids: Vec<CollectionId> = page.iter().map(|collection| collection.id).collect();
            let mut metadata = view.collections().metadata(&ids).await?;
            let mut collections = Vec::with_capacity(page.len());
            for collection in page {
                let (mut users, mut groups) = (BTreeMap::new(), BTreeMap::new());
                for Membership { member, role } in view.collections().members(collection.id).await? {
                    match member {
                        Member::User(user) => drop(users.insert(user, role)),
                        Member::Group(group) => drop(groups.insert(group, role)),
                    }
                }
                let hidden_by = view.collections().hidden_by(collection.id).await?;
                let metadata = metadata.remove(&collection.id);
                collections.push(ArchivedCollection { collection, users, groups, hidden_by, metadata });
            }
            self.entries.put_records(&format!("collections/{number:06}.jsonl"), &collections).await?;
        }
        Ok(())
    }

    async fn conversations(&mut self, view: &mut dyn ReadView) -> Result<(), Fault> {
        let mut after = None;
        for number in 1.. {
            let page = view.inventory().conversations(after, PAGE).await?;
            let Some(last) = page.last() else { break };
            after = Some(last.id);
            let ids: Vec<_> = page.iter().map(|conversation| conversation.id).collect();
            let mut shared = view.conversations().shared_with(&ids).await?;
            let archived = |conversation: Conversation| ArchivedConversation {
                shared_with: shared.remove(&conversation.id).unwrap_or_default(),
                conversation,
            };
            let conversations: Vec<_> = page.into_iter().map(archived).collect();
            self.entries.put_records(&format!("conversations/{number:06}.jsonl"), &conversations).await?;
            for id in ids {
                self.messages(view, id).await?;
            }
        }
        Ok(())
    }

    async fn messages(&mut self, view: &mut dyn ReadView, id: ConversationId) -> Result<(), Fault> {
        let mut offset = 0;
        for number in 1.. {
            let page =
                view.conversations().messages(id, PageRequest { offset, limit: MESSAGES }).await?.records;
            if page.is_empty() {
                break;
            }
            offset += page.len() as u64;
            let name = format!("messages/{id}/{number:06}.jsonl");
            self.entries.put_records(&name, &page).await?;
        }
        Ok(())
    }

    async fn document(&mut self, snapshot: &Document) -> Result<(), Fault> {
        let folder = format!("documents/{}", snapshot.id);
        let (mut digests, mut document) = (BTreeMap::new(), snapshot.clone());
        while let Some(file) = &document.file {
            if self.file(&format!("{folder}/{FILE}"), file).await? {
                digests.insert(FILE.to_owned(), self.entries.sha256());
                break;
            }
            match self.app.store.read_latest().await?.documents().get(document.id).await? {
                None => return Ok(()),
                // Replaced since the snapshot, which has the accounts and collections.
                Some(latest) if latest.version_id != document.version_id => {
                    let Document { owner, collections, attributes, .. } = document;
                    document = Document { owner, collections, attributes, ..latest };
                }
                Some(_) => break,
            }
        }
        if let Some(replacement) = &document.replacement {
            if self.file(&format!("{folder}/{REPLACEMENT}"), &replacement.file).await? {
                digests.insert(REPLACEMENT.to_owned(), self.entries.sha256());
            } else {
                document.replacement = None;
            }
        }
        if let Some(index) = self.index.clone()
            && matches!(document.state, DocumentState::Ingested(_))
        {
            self.chunks(&*index, &folder, &document, &mut digests).await?;
        }
        let mut latest = self.app.store.read_latest().await?;
        let summary = latest.documents().summary(document.id).await?;
        let summary = summary.filter(|summary| summary.is_of(&document));
        let purpose = latest.documents().purposes(&[document.id]).await?.remove(&document.id);
        let external = latest.documents().external_file(document.id).await?;
        drop(latest);
        let record = ArchivedDocument { document, summary, purpose, external, entries: digests };
        self.entries.put_json(&format!("{folder}/record.json"), &record.to_form()).await?;
        self.summary.documents += 1;
        Ok(())
    }

    /// Copies a file. Returns false if it does not exist.
    async fn file(&mut self, name: &str, file: &StoredFile) -> Result<bool, Fault> {
        let Some(bytes) = self.app.blobs.size(&file.blob).await? else { return Ok(false) };
        let Some(mut stream) = self.app.blobs.open(&file.blob).await? else { return Ok(false) };
        self.entries.begin(name, bytes).await?;
        let mut remaining = bytes;
        while let Some(piece) = stream.try_next().await? {
            remaining = remaining.checked_sub(piece.len() as u64).ok_or_else(|| size_mismatch(&file.blob))?;
            self.entries.write(piece).await?;
        }
        if remaining > 0 {
            return Err(size_mismatch(&file.blob));
        }
        self.summary.files += 1;
        Ok(true)
    }

    async fn chunks(
        &mut self,
        index: &dyn VectorIndex,
        folder: &str,
        document: &Document,
        digests: &mut BTreeMap<String, String>,
    ) -> Result<(), Fault> {
        let chunks = index.chunks(document.version_id).await?;
        let recorded = document.coverage.as_ref().map_or(0, |coverage| coverage.chunks as usize);
        if chunks.is_empty() || chunks.len() != recorded {
            return Ok(());
        }
        let vectors: Vec<u8> = chunks
            .iter()
            .filter_map(|chunk| chunk.dense.as_ref())
            .flat_map(|dense| dense.iter().flat_map(|number| number.to_le_bytes()))
            .collect();
        let chunks: Vec<ArchivedChunk> = chunks.into_iter().map(without_vector).collect();
        self.entries.put_records(&format!("{folder}/chunks.jsonl"), &chunks).await?;
        digests.insert("chunks.jsonl".to_owned(), self.entries.sha256());
        if !vectors.is_empty() {
            self.entries.put(&format!("{folder}/vectors.f32"), vectors).await?;
            digests.insert("vectors.f32".to_owned(), self.entries.sha256());
        }
        self.summary.chunks += chunks.len() as u64;
        Ok(())
    }
}

/// Returns what the archive has of a chunk beside its vector.
fn without_vector(chunk: StoredChunk) -> ArchivedChunk {
    let StoredChunk { ordinal, text, span, pages, dense } = chunk;
    ArchivedChunk { ordinal, text, span, pages, dimensions: dense.map_or(0, |dense| dense.len() as u64) }
}

fn size_mismatch(key: &docent_domain::document::BlobKey) -> Fault {
    let message = format!("the file {} does not have the size that the blob store reported", key.as_str());
    Fault::new(Component::BlobStore, FaultKind::InvalidResponse, message)
}
