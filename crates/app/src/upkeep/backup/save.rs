//! Writing an archive.
//!
//! One view of the database decides what belongs into it. Files never change once they are written, and chunks
//! are taken along only where they are those that the record counts: a document that is ingested again, or
//! whose chunks cannot be had, is ingested again after a restore. One that is deleted meanwhile is left out.

use super::{
    BackupError, FORMAT, MANIFEST,
    access_lines::{ApiKeyLine, AuditLine, GroupLine},
    conversation_lines::{ConversationLine, MessageLine},
    entries::Entries,
    lines::{ChunkLine, DocumentLine, Manifest, UsageLine, UserLine},
    webhook_lines::WebhookLine,
};
use crate::{App, upkeep::progress::Progress};
use docent_domain::{
    document::{Document, DocumentState, StoredFile},
    id::ConversationId,
};
use docent_ports::{
    archive::ArchiveWriter,
    error::{Component, Fault, FaultKind},
    page::PageRequest,
    store::ReadView,
    vector_index::VectorIndex,
};
use futures::TryStreamExt;
use std::{collections::BTreeMap, sync::Arc};

const PAGE: u64 = 256;
/// Messages, which may be long, that are held at a time.
const MESSAGES: u64 = 64;

/// What goes into the archive, and what it says about where it comes from.
#[derive(Clone, Debug)]
pub struct Scope {
    /// The version of this program.
    pub program: String,
    /// The last change of the schema.
    pub schema: String,
    /// Whether chunks are taken along. Without them every document is ingested again after a restore.
    pub chunks: bool,
}

/// What went into an archive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Saved {
    /// Accounts.
    pub users: u64,
    /// Documents.
    pub documents: u64,
    /// Files.
    pub files: u64,
    /// Chunks.
    pub chunks: u64,
}

/// Writes everything into the archive.
///
/// # Errors
/// When a part does not work; then there is no archive.
pub async fn save(
    app: &App,
    scope: Scope,
    writer: Box<dyn ArchiveWriter>,
    progress: &dyn Progress,
) -> Result<Saved, BackupError> {
    let mut view = app.store.read().await?;
    let sizes = view.inventory().counts().await?;
    let generation = app.serving_generation().await?;
    // Without its back end the name is another one, and a restore makes the vectors anew.
    let embedder = app.embedders.of_model(&generation.model);
    let embedding_model =
        embedder.map_or_else(|_| generation.model.clone(), |embedder| embedder.model().to_owned());
    let index = match scope.chunks {
        true => Some(app.open(generation).await?.index),
        false => None,
    };
    let mut saving = Saving { app, entries: Entries::into(writer), saved: Saved::default(), scope, index };
    let manifest = Manifest {
        format: FORMAT,
        program: saving.scope.program.clone(),
        schema: saving.scope.schema.clone(),
        embedding_model,
        begun_at: app.clock.now().to_rfc3339(),
        users: sizes.users,
        documents: sizes.documents,
        usage: sizes.usage,
        groups: sizes.groups,
        api_keys: sizes.api_keys,
        conversations: sizes.conversations,
        webhooks: sizes.webhooks,
        audit: sizes.audit,
    };
    saving.entries.put_json(MANIFEST, &manifest).await?;
    saving.groups(&mut *view).await?;
    saving.users(&mut *view).await?;
    saving.api_keys(&mut *view).await?;
    saving.conversations(&mut *view).await?;
    saving.webhooks(&mut *view).await?;
    saving.audit(&mut *view).await?;
    saving.usage(&mut *view).await?;
    progress.begin("saving documents", Some(sizes.documents));
    let mut after = None;
    loop {
        let page = view.inventory().documents(after, PAGE).await?;
        let Some(last) = page.last() else { break };
        after = Some(last.id);
        for document in &page {
            saving.document(document).await?;
            progress.advance(1);
        }
    }
    progress.end();
    let Saving { entries, saved, .. } = saving;
    entries.finish(saved.documents).await?;
    Ok(saved)
}

struct Saving<'a> {
    app: &'a App,
    entries: Entries,
    saved: Saved,
    scope: Scope,
    /// Where chunks are taken along.
    index: Option<Arc<dyn VectorIndex>>,
}

impl Saving<'_> {
    async fn users(&mut self, view: &mut dyn ReadView) -> Result<(), Fault> {
        let mut after = None;
        for page_number in 1.. {
            let page = view.inventory().users(after, PAGE).await?;
            let Some(last) = page.last() else { break };
            after = Some(last.id);
            self.saved.users += page.len() as u64;
            let mut lines = Vec::with_capacity(page.len());
            for user in &page {
                lines.push(UserLine::of(user, &view.groups().assigned_permissions(user.id).await?));
            }
            self.entries.put_lines(&format!("users/{page_number:06}.jsonl"), lines.into_iter()).await?;
        }
        Ok(())
    }

    async fn groups(&mut self, view: &mut dyn ReadView) -> Result<(), Fault> {
        let mut after = None;
        for page_number in 1.. {
            let page = view.inventory().groups(after, PAGE).await?;
            let Some(last) = page.last() else { break };
            after = Some(last.id);
            let name = format!("groups/{page_number:06}.jsonl");
            self.entries.put_lines(&name, page.iter().map(GroupLine::of)).await?;
        }
        Ok(())
    }

    async fn api_keys(&mut self, view: &mut dyn ReadView) -> Result<(), Fault> {
        let mut after = None;
        for page_number in 1.. {
            let page = view.inventory().api_keys(after, PAGE).await?;
            let Some(last) = page.last() else { break };
            after = Some(last.id);
            let name = format!("api_keys/{page_number:06}.jsonl");
            self.entries.put_lines(&name, page.iter().map(ApiKeyLine::of)).await?;
        }
        Ok(())
    }

    async fn conversations(&mut self, view: &mut dyn ReadView) -> Result<(), Fault> {
        let mut after = None;
        for page_number in 1.. {
            let page = view.inventory().conversations(after, PAGE).await?;
            let Some(last) = page.last() else { break };
            after = Some(last.id);
            let name = format!("conversations/{page_number:06}.jsonl");
            self.entries.put_lines(&name, page.iter().map(ConversationLine::of)).await?;
            for conversation in &page {
                self.messages(view, conversation.id).await?;
            }
        }
        Ok(())
    }

    async fn messages(&mut self, view: &mut dyn ReadView, id: ConversationId) -> Result<(), Fault> {
        let mut offset = 0;
        for page_number in 1.. {
            let page =
                view.conversations().messages(id, PageRequest { offset, limit: MESSAGES }).await?.records;
            if page.is_empty() {
                break;
            }
            offset += page.len() as u64;
            let name = format!("messages/{id}/{page_number:06}.jsonl");
            self.entries.put_lines(&name, page.iter().map(MessageLine::of)).await?;
        }
        Ok(())
    }

    async fn webhooks(&mut self, view: &mut dyn ReadView) -> Result<(), Fault> {
        let mut after = None;
        for page_number in 1.. {
            let page = view.inventory().webhooks(after, PAGE).await?;
            let Some(last) = page.last() else { break };
            after = Some(last.id);
            let name = format!("webhooks/{page_number:06}.jsonl");
            self.entries.put_lines(&name, page.iter().map(WebhookLine::of)).await?;
        }
        Ok(())
    }

    async fn audit(&mut self, view: &mut dyn ReadView) -> Result<(), Fault> {
        let mut after = None;
        for page_number in 1.. {
            let page = view.inventory().audit(after, PAGE).await?;
            let Some(last) = page.last() else { break };
            after = Some(last.id);
            let name = format!("audit/{page_number:06}.jsonl");
            self.entries.put_lines(&name, page.iter().map(AuditLine::of)).await?;
        }
        Ok(())
    }

    async fn usage(&mut self, view: &mut dyn ReadView) -> Result<(), Fault> {
        let mut after = None;
        for page_number in 1.. {
            let page = view.inventory().usage(after, PAGE).await?;
            let Some(last) = page.last() else { break };
            after = Some(last.id);
            let name = format!("usage/{page_number:06}.jsonl");
            self.entries.put_lines(&name, page.iter().map(UsageLine::of)).await?;
        }
        Ok(())
    }

    async fn document(&mut self, document: &Document) -> Result<(), Fault> {
        let folder = format!("documents/{}", document.id);
        let mut digests = BTreeMap::new();
        if let Some(file) = &document.file {
            if self.file(&format!("{folder}/file.pdf"), file).await? {
                digests.insert("file.pdf".to_owned(), self.entries.sha256());
                self.saved.files += 1;
            } else if !self.is_there(document).await? {
                return Ok(());
            }
        }
        if let Some(index) = self.index.clone()
            && matches!(document.state, DocumentState::Ingested(_))
        {
            self.chunks(&*index, &folder, document, &mut digests).await?;
        }
        let record = DocumentLine::of(document, digests);
        self.entries.put_json(&format!("{folder}/record.json"), &record).await?;
        self.saved.documents += 1;
        Ok(())
    }

    /// Whether the document has not been deleted since the backup began.
    async fn is_there(&self, document: &Document) -> Result<bool, Fault> {
        Ok(self.app.store.read().await?.documents().get(document.id).await?.is_some())
    }

    /// Copies a file; false when it is gone.
    async fn file(&mut self, name: &str, file: &StoredFile) -> Result<bool, Fault> {
        let Some(bytes) = self.app.blobs.size(&file.blob).await? else { return Ok(false) };
        let Some(mut stream) = self.app.blobs.open(&file.blob).await? else { return Ok(false) };
        self.entries.begin(name, bytes).await?;
        let mut left = bytes;
        while let Some(piece) = stream.try_next().await? {
            left = left.checked_sub(piece.len() as u64).ok_or_else(|| other_size(&file.blob))?;
            self.entries.write(piece).await?;
        }
        if left > 0 { Err(other_size(&file.blob)) } else { Ok(true) }
    }

    async fn chunks(
        &mut self,
        index: &dyn VectorIndex,
        folder: &str,
        document: &Document,
        digests: &mut BTreeMap<String, String>,
    ) -> Result<(), Fault> {
        let chunks = index.chunks(document.id).await?;
        let recorded = document.coverage.as_ref().map_or(0, |coverage| coverage.chunks as usize);
        if chunks.is_empty() || chunks.len() != recorded {
            return Ok(());
        }
        let vectors: Vec<u8> = chunks
            .iter()
            .filter_map(|chunk| chunk.dense.as_ref())
            .flat_map(|dense| dense.iter().flat_map(|number| number.to_le_bytes()))
            .collect();
        self.entries.put_lines(&format!("{folder}/chunks.jsonl"), chunks.iter().map(ChunkLine::of)).await?;
        digests.insert("chunks.jsonl".to_owned(), self.entries.sha256());
        if !vectors.is_empty() {
            self.entries.put(&format!("{folder}/vectors.f32"), vectors).await?;
            digests.insert("vectors.f32".to_owned(), self.entries.sha256());
        }
        self.saved.chunks += chunks.len() as u64;
        Ok(())
    }
}

fn other_size(key: &docent_domain::document::BlobKey) -> Fault {
    let message = format!("the file {} has another size than the store says", key.as_str());
    Fault::new(Component::BlobStore, FaultKind::InvalidResponse, message)
}
