//! Checks that every component is reachable and works.

use super::{CheckListener, Finding};
use crate::accounts::second_factor;
use crate::audit;
use crate::generations::OpenIndex;
use crate::{App, health, recognition};
use docent_domain::chat::Message;
use docent_domain::fault::{Component, Fault, FaultKind, Result};
use docent_domain::identity::ProviderRules;
use docent_ports::chat_model::ChatRequest;
use docent_ports::embedder::Embedder;
use docent_ports::identity_provider::{ConfiguredProvider, IdentityError};
use docent_ports::reranker::Reranker;
use docent_ports::store::Schema;
use docent_ports::text_recognizer::TextRecognizer;
use futures::StreamExt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

/// The timeout for the first response of a model.
const MODEL_TIMEOUT: Duration = Duration::from_secs(60);

/// Checks all components. Returns whether the database can be read.
pub(super) async fn check(app: &App, listener: &mut dyn CheckListener) -> bool {
    let health = health::check(app).await;
    let has_database = health.is_ready();
    let active = if has_database { Some(app.active_index().await) } else { None };
    for (component, result) in health.components {
        // The health of models is only the result of their last call; they are called below.
        if matches!(component, Component::Reranker | Component::Recognizer) {
            continue;
        }
        // Reachable is not enough: the index must be readable.
        let result = match (component, result, &active) {
            (Component::VectorStore, Ok(()), Some(Ok(active))) => active.index.check().await,
            (Component::VectorStore, Ok(()), Some(Err(fault))) if fault.component() == component => {
                Err(fault.clone())
            }
            (_, result, _) => result,
        };
        match result {
            Ok(()) => listener.healthy(component, "answers"),
            Err(fault) if fault.kind() == FaultKind::InUse => listener.in_use(component),
            Err(fault) => listener.found(Finding::ComponentDown(component, fault)).await,
        }
    }
    // An unreachable database has already been reported.
    if let Ok(schema) = health.schema {
        match schema {
            Schema::Current => {}
            other => listener.found(Finding::Schema(other)).await,
        }
    }
    if has_database && let Ok(Some(at)) = audit::newest_ahead_of_clock(app).await {
        let note = format!("the audit log has entries of the future (until {at}): check the clock");
        listener.healthy(Component::Service, &note);
    }
    if has_database
        && let Ok(missing) = second_factor::count_missing(app).await
        && missing.accounts > 0
    {
        listener.healthy(Component::Service, &missing.to_string());
    }
    let active = active.and_then(Result::ok);
    let embedder = match &active {
        Some(active) => active.embedder().cloned(),
        None => app.embedders.of_model(&app.settings.embedding_model),
    };
    let embedding = report(listener, Component::Embedder, check_embedder(embedder)).await;
    report(listener, Component::ChatModel, check_chat_model(app)).await;
    if let Some(reranker) = &app.reranker {
        report(listener, Component::Reranker, check_reranker(&**reranker)).await;
    }
    for known in &app.identity_providers {
        report(listener, Component::IdentityProvider, check_identity_provider(app, known)).await;
    }
    if let Some(recognizer) = app.recognizer.detected().await {
        report(listener, Component::Recognizer, check_recognizer(app, &*recognizer)).await;
    } else {
        listener.healthy(
            Component::Recognizer,
            "none, so that scans fail; to read them, install tesseract (Debian package tesseract-ocr), and set \
             DOCENT_OCR to auto if it is off",
        );
    }
    if let (Some(model), Some(active)) = (embedding, &active)
        && let Ok(Some(index)) = index_dimensions(active).await
        && index != model
    {
        listener.found(Finding::DimensionMismatch { index, model }).await;
    }
    has_database
}

/// Checks one component by using it, like [`check`]. Returns details such as its model; `None` if there are none.
pub(crate) async fn check_one(app: &App, component: Component) -> Result<Option<String>> {
    let timeout = |_| Err(Fault::new(component, FaultKind::Timeout, "no response within 60 s"));
    tokio::time::timeout(MODEL_TIMEOUT, use_component(app, component)).await.unwrap_or_else(timeout)
}

async fn use_component(app: &App, component: Component) -> Result<Option<String>> {
    let model = |(name, ()): (String, ())| Some(name);
    match component {
        Component::Database => app.store.check().await.map(|()| None),
        Component::KeyValueStore => app.tokens.check().await.map(|()| None),
        Component::BlobStore => app.blobs.check().await.map(|()| None),
        Component::VectorStore => {
            app.collections.check().await?;
            app.active_index().await?.index.check().await.map(|()| None)
        }
        Component::Embedder => {
            let embedder = app.active_index().await?.embedder().cloned();
            check_embedder(embedder).await.map(|(name, _)| Some(name))
        }
        Component::ChatModel => check_chat_model(app).await.map(model),
        Component::Reranker => match &app.reranker {
            Some(reranker) => check_reranker(&**reranker).await.map(model),
            None => Ok(None),
        },
        Component::Recognizer => match app.recognizer.detected().await {
            Some(recognizer) => check_recognizer(app, &*recognizer).await.map(model),
            None => Ok(None),
        },
        Component::IdentityProvider => {
            let mut issuers = Vec::new();
            for known in &app.identity_providers {
                issuers.push(check_identity_provider(app, known).await?.0);
            }
            Ok(Some(issuers.join(", ")).filter(|issuers| !issuers.is_empty()))
        }
        Component::Extractor | Component::MailServer | Component::Service => Ok(None),
    }
}

/// Runs a model's check and reports its result. The check returns the model's name and a value for the caller.
async fn report<T>(
    listener: &mut dyn CheckListener,
    component: Component,
    check: impl Future<Output = Result<(String, T)>> + Send,
) -> Option<T> {
    let timeout = |_| Err(Fault::new(component, FaultKind::Timeout, "no response within 60 s"));
    match tokio::time::timeout(MODEL_TIMEOUT, check).await.unwrap_or_else(timeout) {
        Ok((model, value)) => {
            listener.healthy(component, &model);
            Some(value)
        }
        Err(fault) => {
            listener.found(Finding::ComponentDown(component, fault)).await;
            None
        }
    }
}

/// The dimensions of the index's vectors. Outer `None`: the index is empty; inner `None`: it has no dense vectors.
/// An unreadable index is reported elsewhere.
async fn index_dimensions(active: &OpenIndex) -> Result<Option<Option<usize>>> {
    let is_empty = active.index.versions(None, 1).await?.versions.is_empty();
    Ok(if is_empty { None } else { Some(active.index.dimensions().await?) })
}

/// Embeds a query. Returns the dimensions of the model's vectors, if it produces any.
async fn check_embedder(embedder: Result<Arc<dyn Embedder>>) -> Result<(String, Option<usize>)> {
    let embedder = embedder?;
    let embedding = embedder.embed_query("Is anybody there?").await?;
    Ok((embedder.model().to_owned(), embedding.dense.map(|dense| dense.len())))
}

/// Checks that the chat model starts to answer a question with few tokens.
async fn check_chat_model(app: &App) -> Result<(String, ())> {
    let messages = vec![Message::User("Answer with the one word: ready".to_owned())];
    let mut answer = app.model.stream(ChatRequest { messages, ..ChatRequest::default() }).await?;
    let empty = || Fault::new(Component::ChatModel, FaultKind::InvalidResponse, "its answer is empty");
    answer.next().await.ok_or_else(empty)??;
    Ok((app.model.model().to_owned(), ()))
}

/// Checks that the recognizer is available.
async fn check_recognizer(app: &App, recognizer: &dyn TextRecognizer) -> Result<(String, ())> {
    let languages = &app.settings.recognition_languages;
    recognizer.check(languages).await?;
    Ok((recognition::name(recognizer, languages), ()))
}

/// Checks that the metadata and keys of an identity provider can be read, and that its groups have groups here.
async fn check_identity_provider(app: &App, known: &ConfiguredProvider) -> Result<(String, ())> {
    let unusable = |kind, reason: String| Err(Fault::new(Component::IdentityProvider, kind, reason));
    match known.provider.check().await {
        Ok(()) => {}
        Err(IdentityError::Unavailable(fault)) => return Err(fault),
        Err(IdentityError::Refused(reason)) => return unusable(FaultKind::InvalidResponse, reason),
    }
    // The database has a check of its own.
    let missing = missing_groups(app, &known.rules).await.unwrap_or_default();
    if !missing.is_empty() {
        let names = missing.join(", ");
        let reason = format!("groups that its groups are mapped to do not exist: {names}");
        return unusable(FaultKind::Unconfigured, reason);
    }
    Ok((known.provider.issuer().to_owned(), ()))
}

async fn missing_groups(app: &App, rules: &ProviderRules) -> Result<Vec<String>> {
    let (mut view, mut missing) = (app.store.read().await?, Vec::new());
    for mapping in &rules.groups {
        if view.groups().by_name(&mapping.group).await?.is_none() {
            missing.push(mapping.group.as_str().to_owned());
        }
    }
    Ok(missing)
}

/// Checks that the reranker scores two passages.
async fn check_reranker(reranker: &dyn Reranker) -> Result<(String, ())> {
    let scores = reranker.rerank("Is anybody there?", &["Yes, here I am.", "Nothing of the kind."]).await?;
    if scores.len() != 2 {
        let message = format!("{} scores for 2 passages", scores.len());
        return Err(Fault::new(Component::Reranker, FaultKind::InvalidResponse, message));
    }
    Ok((reranker.model().to_owned(), ()))
}
