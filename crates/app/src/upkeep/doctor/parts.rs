//! Whether every part can be reached and answers.

use super::{Finding, Listener};
use crate::{App, generations::Opened, health};
use docent_domain::chat::Message;
use docent_ports::{
    chat_model::ChatRequest,
    embedder::Embedder,
    error::{Component, Fault, FaultKind, Result},
    reranker::Reranker,
};
use futures::StreamExt;
use std::{future::Future, sync::Arc, time::Duration};

/// What a model may take to begin an answer.
const MODEL_PATIENCE: Duration = Duration::from_secs(60);

/// What can be relied on.
pub(super) struct Standing {
    /// Whether records can be read.
    pub(super) records: bool,
}

pub(super) async fn examine(app: &App, listener: &mut dyn Listener) -> Standing {
    let health = health::check(app).await;
    let records = health.is_ready();
    let serving = if records { Some(app.serving().await) } else { None };
    for (part, result) in health.parts {
        // Health tells only how its last call went; see below.
        if part == Component::Reranker {
            continue;
        }
        // It answers, but does it give what is in it?
        let result = match (part, result, &serving) {
            (Component::VectorStore, Ok(()), Some(Ok(serving))) => serving.index.check().await,
            (Component::VectorStore, Ok(()), Some(Err(fault))) if fault.component() == part => {
                Err(fault.clone())
            }
            (_, result, _) => result,
        };
        match result {
            Ok(()) => listener.works(part, "answers"),
            Err(fault) if fault.kind() == FaultKind::InUse => listener.in_use(part),
            Err(fault) => listener.found(Finding::PartDown(part, fault)).await,
        }
    }
    // Where the database is away, that it is has been told already.
    if let Ok(schema) = health.schema {
        match schema {
            health::Schema::Current => {}
            other => listener.found(Finding::Schema(other)).await,
        }
    }
    let serving = serving.and_then(Result::ok);
    let embedder = match &serving {
        Some(serving) => serving.embedder().cloned(),
        None => app.embedders.of_model(&app.settings.embedding_model),
    };
    let model = match in_time(Component::Embedder, embeds(embedder)).await {
        Ok((model, dimensions)) => {
            listener.works(Component::Embedder, &model);
            Some(dimensions)
        }
        Err(fault) => {
            listener.found(Finding::PartDown(Component::Embedder, fault)).await;
            None
        }
    };
    match in_time(Component::ChatModel, answers(app)).await {
        Ok(()) => listener.works(Component::ChatModel, app.model.model()),
        Err(fault) => listener.found(Finding::PartDown(Component::ChatModel, fault)).await,
    }
    if let Some(reranker) = &app.reranker {
        match in_time(Component::Reranker, ranks(&**reranker)).await {
            Ok(()) => listener.works(Component::Reranker, reranker.model()),
            Err(fault) => listener.found(Finding::PartDown(Component::Reranker, fault)).await,
        }
    }
    if let (Some(model), Some(serving)) = (model, &serving)
        && let Ok(Some(collection)) = collection(serving).await
        && collection != model
    {
        listener.found(Finding::Dimensions { collection, model }).await;
    }
    Standing { records }
}

/// The dimensions of the collection's vectors, if it holds anything. That it cannot be read is told elsewhere.
async fn collection(serving: &Opened) -> Result<Option<Option<usize>>> {
    let is_empty = serving.index.documents(None, 1).await?.documents.is_empty();
    Ok(if is_empty { None } else { Some(serving.index.dimensions().await?) })
}

/// The model, and the dimensions of the vectors that it makes, if it does.
async fn embeds(embedder: Result<Arc<dyn Embedder>>) -> Result<(String, Option<usize>)> {
    let embedder = embedder?;
    let embedding = embedder.embed_query("Is anybody there?").await?;
    Ok((embedder.model().to_owned(), embedding.dense.map(|dense| dense.len())))
}

/// Whether the chat model begins an answer to a question that costs next to nothing.
async fn answers(app: &App) -> Result<()> {
    let messages = vec![Message::User("Answer with the one word: ready".to_owned())];
    let mut answer = app.model.stream(ChatRequest { messages, tools: Vec::new() }).await?;
    let none = || Fault::new(Component::ChatModel, FaultKind::InvalidResponse, "its answer is empty");
    answer.next().await.ok_or_else(none)?.map(drop)
}

/// Whether the reranker judges two passages.
async fn ranks(reranker: &dyn Reranker) -> Result<()> {
    let scores = reranker.rerank("Is anybody there?", &["Yes, here I am.", "Nothing of the kind."]).await?;
    let message = || format!("{} scores for 2 passages", scores.len());
    if scores.len() == 2 {
        Ok(())
    } else {
        Err(Fault::new(Component::Reranker, FaultKind::InvalidResponse, message()))
    }
}

async fn in_time<T>(part: Component, work: impl Future<Output = Result<T>>) -> Result<T> {
    let late = |_| Err(Fault::new(part, FaultKind::Timeout, "it gave no answer in 60 s"));
    tokio::time::timeout(MODEL_PATIENCE, work).await.unwrap_or_else(late)
}
