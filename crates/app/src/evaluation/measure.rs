//! Asking the questions.

use super::{Judged, Passage, Posed, Question, Ranking, Scope, Source, plain::Plain};
use crate::{App, error::Result, generations::Opened, search, upkeep::progress::Progress};
use docent_domain::{
    access::{Grant, ReadDocuments},
    id::DocumentId,
    retrieval::{Passages, QueryEmbedding, SparseVector},
};
use docent_ports::error::{Component, Fault, FaultKind};
use std::sync::Arc;
use tokio::task::spawn_blocking;

/// How far down a ranking is looked at.
pub const DEPTH: usize = 50;
/// Passages whose terms are counted in one call.
const BATCH: usize = 64;

/// What is to be measured.
#[derive(Clone, Copy, Debug)]
pub struct Measurement<'a> {
    /// All documents.
    pub sources: &'a [Source],
    /// The questions.
    pub questions: &'a [Posed],
    /// In how many passages evidence is sought.
    pub top: usize,
}

/// A question, asked in every way.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Which one.
    pub question: Question,
    /// What came of it.
    pub outcomes: Vec<Outcome>,
}

/// What came of a question in one way of asking it.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// What was searched.
    pub scope: Scope,
    /// What ranked.
    pub ranking: Ranking,
    /// How good that was.
    pub judged: Judged,
    /// The first passages.
    pub first: Vec<Passage>,
}

/// What was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurements {
    /// By question, in their order.
    pub questions: Vec<Measured>,
    /// All passages that could be found.
    pub passages: usize,
    /// The embedding model.
    pub model: String,
    /// The reranking model, where there is one.
    pub reranker: Option<String>,
}

/// Asks every question, of all documents and of its own one, and judges what is found.
///
/// # Errors
/// When a part does not work, the reranker among them: what was measured is what was set.
pub async fn measure(
    app: &App,
    grant: Grant<ReadDocuments>,
    what: &Measurement<'_>,
    progress: &dyn Progress,
) -> Result<Measurements> {
    let serving = app.serving().await?;
    let plain = Arc::new(read(&serving, what.sources, progress).await?);
    let embedder = serving.embedder()?;
    progress.begin("asking", Some(what.questions.len() as u64));
    let mut questions = Vec::with_capacity(what.questions.len());
    for Posed { question, source } in what.questions {
        let embedding = embedder.embed_query(&question.text).await?;
        let mut outcomes = Vec::new();
        for scope in Scope::ALL {
            let document = (scope == Scope::OneDocument).then_some(source.document);
            let within = document.as_ref().map(std::slice::from_ref);
            let found = search::search_in_full(app, grant, &question.text, within, DEPTH).await?;
            let found = found.into_iter().map(Passage::from).collect();
            let mut rankings = vec![(Ranking::Docent, found)];
            rankings.extend(compared(&plain, &embedding, document).await?);
            outcomes.extend(rankings.into_iter().map(|(ranking, mut first)| {
                let judged = Judged::of(question, source.document, &first, what.top);
                first.truncate(what.top);
                Outcome { scope, ranking, judged, first }
            }));
        }
        questions.push(Measured { question: question.clone(), outcomes });
        progress.advance(1);
    }
    progress.end();
    let reranker = app.reranker.as_ref().map(|reranker| reranker.model().to_owned());
    Ok(Measurements { questions, passages: plain.len(), model: serving.generation.model, reranker })
}

/// Reads all passages back, for the rankings to compare with.
async fn read(serving: &Opened, sources: &[Source], progress: &dyn Progress) -> Result<Plain> {
    progress.begin("reading passages", Some(sources.len() as u64));
    let (embedder, mut plain) = (serving.embedder()?, Plain::default());
    for source in sources {
        let chunks = serving.index.chunks(source.document).await?;
        let mut terms = Vec::with_capacity(chunks.len());
        for batch in chunks.chunks(BATCH) {
            // No title, no lead, and one page for all: what every passage has tells none from the others.
            let texts: Vec<(u32, &str)> = batch.iter().map(|chunk| (0, chunk.text.as_str())).collect();
            let passages = Passages { title: "", lead: "", chunks: &texts, headings: &[] };
            let sparse = embedder.embed_sparse(passages).await?;
            let sparse = sparse.unwrap_or_else(|| vec![SparseVector::default(); batch.len()]);
            terms.extend(sparse.into_iter().map(|sparse| sparse.body));
        }
        plain.add(source.document, chunks, &terms);
        progress.advance(1);
    }
    progress.end();
    Ok(plain)
}

async fn compared(
    plain: &Arc<Plain>,
    query: &QueryEmbedding,
    document: Option<DocumentId>,
) -> Result<Vec<(Ranking, Vec<Passage>)>> {
    let (plain, query) = (Arc::clone(plain), query.clone());
    let rank = move || {
        let mut rankings = Vec::new();
        if let Some(terms) = &query.sparse {
            rankings.push((Ranking::Bm25, plain.by_terms(terms, document, DEPTH)));
        }
        if let Some(vector) = query.dense.as_ref().filter(|_| plain.has_vectors()) {
            rankings.push((Ranking::Dense, plain.by_vector(vector, document, DEPTH)));
        }
        rankings
    };
    let ranked = spawn_blocking(rank).await;
    Ok(ranked.map_err(|error| {
        Fault::new(Component::Service, FaultKind::Internal, "ranking plainly").caused_by(error)
    })?)
}
