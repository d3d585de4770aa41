//! Batches that the back end refuses: they are divided, texts that are too long are shortened, and a text
//! that makes the back end fail is found.

use super::batch::{self, BatchLimits};
use super::refusal::{Cause, accepted_share};
use super::shorten::{LengthLimit, Shortening};
use super::{MAX_RETRIES, OpenAiEmbedder, RETRY_PAUSE, TextVector};
use crate::openai::fault::CallError;
use docent_domain::fault::{Component, Fault, FaultKind, Result};
use futures::FutureExt;
use futures::future::BoxFuture;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Calls with one text that fail before the text is refused.
const MAX_REFUSALS: u32 = 3;
/// A text that every model takes. If it fails too, a failure has nothing to do with the texts.
const SHORT_TEXT: &str = "Is anybody there?";

/// What the back end accepts, as far as it was learnt from refusals.
#[derive(Debug)]
pub(super) struct Learnt {
    /// Limits of a request; larger ones were refused.
    texts: AtomicUsize,
    tokens: AtomicUsize,
    /// The largest request that was accepted.
    accepted_texts: AtomicUsize,
    accepted_tokens: AtomicUsize,
    /// Length of a text.
    pub(super) length: LengthLimit,
}

impl Default for Learnt {
    fn default() -> Self {
        let (texts, tokens) = (AtomicUsize::new(usize::MAX), AtomicUsize::new(usize::MAX));
        let (accepted_texts, accepted_tokens) = (AtomicUsize::default(), AtomicUsize::default());
        Self { texts, tokens, accepted_texts, accepted_tokens, length: LengthLimit::default() }
    }
}

impl Learnt {
    /// The smaller ones of these limits and the learnt ones.
    pub(super) fn within(&self, limits: BatchLimits) -> BatchLimits {
        let texts = limits.texts.min(self.texts.load(Ordering::Relaxed));
        let tokens = limits.tokens.min(self.tokens.load(Ordering::Relaxed));
        BatchLimits { texts, tokens, ..limits }
    }

    fn accept(&self, sent: &[&str]) {
        self.accepted_texts.fetch_max(sent.len(), Ordering::Relaxed);
        self.accepted_tokens.fetch_max(batch::tokens(sent), Ordering::Relaxed);
        self.length.accept(sent.iter().map(|text| text.len()).max().unwrap_or_default());
    }

    /// Records that a batch was refused whose halves were accepted unchanged. The limit is that of the tokens
    /// if as many texts were accepted before.
    fn divide(&self, texts: &[String]) {
        let (most_texts, most_tokens) =
            (self.accepted_texts.load(Ordering::Relaxed), self.accepted_tokens.load(Ordering::Relaxed));
        if texts.len() <= most_texts && batch::tokens(texts) > most_tokens {
            if most_tokens < self.tokens.fetch_min(most_tokens, Ordering::Relaxed) {
                tracing::info!(
                    tokens = most_tokens,
                    "the embeddings back end takes fewer tokens per request"
                );
            }
            return;
        }
        let limit = texts.len().div_ceil(2).max(most_texts);
        if limit < self.texts.fetch_min(limit, Ordering::Relaxed) {
            tracing::info!(
                texts = limit,
                "the embeddings back end takes fewer texts per request; DOCENT_EMBEDDING_BATCH sets the number"
            );
        }
    }
}

/// How failures of the back end are treated.
#[derive(Clone, Copy)]
enum Search {
    /// It may be down: calls are retried.
    None,
    /// It is not down, but failed for a batch that this part belongs to.
    ForText,
}

/// One batch with its parts.
struct Batch<'a> {
    embedder: &'a OpenAiEmbedder,
    /// What was learnt from this batch. Its texts are of one document, and so of one kind.
    length: LengthLimit,
}

impl OpenAiEmbedder {
    /// Embeds a batch. A fault about one of its texts names its position.
    pub(super) async fn embed_batch(&self, texts: &[String]) -> Result<Vec<TextVector>> {
        let batch = Batch { embedder: self, length: LengthLimit::default() };
        batch.embed(texts, Search::None).await
    }

    /// Embeds the beginning of a text that was refused.
    pub(super) async fn embed_beginning(&self, text: &str, refusal: CallError) -> Result<TextVector> {
        let batch = Batch { embedder: self, length: LengthLimit::default() };
        batch.shorten(text, text, refusal).await
    }

    /// The longest text that is sent, in bytes.
    pub(super) fn text_bytes(&self) -> Option<usize> {
        let learnt = self.learnt.length.limit();
        self.limits.text_bytes().into_iter().chain(learnt).min()
    }
}

impl Batch<'_> {
    fn embed<'a>(&'a self, texts: &'a [String], search: Search) -> BoxFuture<'a, Result<Vec<TextVector>>> {
        self.embed_part(texts, search).boxed()
    }

    async fn embed_part(&self, texts: &[String], search: Search) -> Result<Vec<TextVector>> {
        let limit = self.length.limit().into_iter().chain(self.embedder.text_bytes()).min();
        let sent: Vec<&str> = texts.iter().map(|text| batch::beginning(text, limit)).collect();
        let retries = if matches!(search, Search::None) { MAX_RETRIES } else { 0 };
        let error = match self.call(texts, &sent, retries).await {
            Ok(vectors) => return Ok(vectors),
            Err(error) => error,
        };
        match (Cause::of(&error), texts, sent.as_slice()) {
            (Cause::Size, [text], [sent]) => Ok(vec![self.shorten(text, sent, error).await?]),
            (Cause::Size, ..) => self.embed_halves(texts, search).await,
            (Cause::Failure, ..) => {
                if matches!(search, Search::None) && self.try_short_text().await.is_err() {
                    return Err(self.embedder.fault(error, &sent));
                }
                if let ([text], [sent]) = (texts, sent.as_slice()) {
                    return self.insist(text, sent, error).await;
                }
                // It may be up again.
                if matches!(search, Search::None)
                    && let Ok(vectors) = self.call(texts, &sent, 0).await
                {
                    return Ok(vectors);
                }
                self.embed_halves(texts, Search::ForText).await
            }
            (Cause::Other, ..) => Err(self.embedder.fault(error, &sent)),
        }
    }

    async fn embed_halves(&self, texts: &[String], search: Search) -> Result<Vec<TextVector>> {
        let (first, second) = texts.split_at(texts.len().div_ceil(2));
        let shortened = self.length.shortened();
        let mut vectors = self.embed(first, search).await?;
        let rest = self.embed(second, search).await;
        vectors.extend(rest.map_err(|fault| moved(fault, first.len()))?);
        if self.length.shortened() == shortened {
            self.embedder.learnt.divide(texts);
        }
        Ok(vectors)
    }

    /// Embeds the beginning of a text of which `sent` was refused.
    async fn shorten(&self, text: &str, sent: &str, refusal: CallError) -> Result<TextVector> {
        let (share, embedder) = (accepted_share(&refusal), self.embedder);
        let refused = embedder.fault(refusal, &[sent]);
        // Otherwise the request itself is wrong, such as its model.
        if let Err(error) = self.try_short_text().await {
            let fault = embedder.fault(error, &[]);
            return Err(if fault.is_transient() { fault } else { refused });
        }
        let known = self.length.longest().or_else(|| embedder.learnt.length.longest());
        let mut search = Shortening::new(sent.len(), share, known);
        let mut best = None;
        while let Some(bytes) = search.next_length() {
            let part = batch::beginning(sent, Some(bytes));
            match self.call(&[text], &[part], MAX_RETRIES).await {
                Ok(vectors) => {
                    search.accept();
                    best = vectors.into_iter().next().map(|vector| (part.len(), vector));
                }
                Err(error) if Cause::of(&error) == Cause::Size => search.refuse(accepted_share(&error)),
                Err(error) => return Err(embedder.fault(error, &[part])),
            }
        }
        let (bytes, vector) = best.ok_or_else(|| refused.with_passage(0))?;
        self.length.shorten(bytes);
        if embedder.learnt.length.shorten(bytes) {
            tracing::warn!(
                bytes,
                "the embedding model takes no longer text than this; longer passages are shortened. \
                 DOCENT_EMBEDDING_MAX_TOKENS sets the limit of the model, in tokens of about four bytes"
            );
        }
        Ok(vector)
    }

    /// Repeats a call with one text that failed while the back end is not down.
    async fn insist(&self, text: &str, sent: &str, error: CallError) -> Result<Vec<TextVector>> {
        let (embedder, mut error) = (self.embedder, error);
        for attempt in 1..MAX_REFUSALS {
            embedder.endpoint.clock().sleep(RETRY_PAUSE * attempt).await;
            error = match self.call(&[text], &[sent], 0).await {
                Ok(vectors) => return Ok(vectors),
                Err(error) if Cause::of(&error) == Cause::Size => {
                    return Ok(vec![self.shorten(text, sent, error).await?]);
                }
                Err(error) if Cause::of(&error) == Cause::Other => return Err(embedder.fault(error, &[sent])),
                Err(error) => error,
            };
        }
        let fault = embedder.fault(error, &[sent]);
        if fault.kind() == FaultKind::Timeout || self.try_short_text().await.is_err() {
            return Err(fault);
        }
        let refused = Fault::new(Component::Embedder, FaultKind::Rejected, fault.message().to_owned());
        let refused = refused.with_passage(0);
        Err(match fault.status() {
            Some(status) => refused.with_status(status),
            None => refused,
        })
    }

    async fn try_short_text(&self) -> Result<(), CallError> {
        self.embedder.call_with_retries(&[SHORT_TEXT], 0).await.map(|_| ())
    }

    /// Makes a call with what is `sent` of the texts.
    async fn call(
        &self,
        texts: &[impl AsRef<str>],
        sent: &[&str],
        retries: u32,
    ) -> Result<Vec<TextVector>, CallError> {
        let vectors = self.embedder.call_with_retries(sent, retries).await?;
        self.embedder.learnt.accept(sent);
        let lengths = texts.iter().map(|text| text.as_ref().len()).zip(sent);
        let vector = |((length, sent), vector): ((usize, &&str), Vec<f32>)| TextVector {
            vector,
            is_shortened: sent.len() < length,
        };
        Ok(lengths.zip(vectors).map(vector).collect())
    }
}

/// A fault of texts that stand after this many others.
pub(super) fn moved(fault: Fault, by: usize) -> Fault {
    match fault.passage() {
        Some(position) => fault.with_passage(position + by),
        None => fault,
    }
}
