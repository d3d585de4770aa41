//! Quotes in place of an answer that the chat model cannot give.

use super::{Author, Generation, Progress, transcript};
use crate::agent::events::{AnswerMetadata, EndReason};
use crate::metering::{self, Payer};
use docent_domain::fallback::FallbackCause;
use docent_domain::fault::Fault;
use docent_domain::usage::TokenUsage;
use std::mem;
use std::sync::Arc;

impl Generation {
    /// Quotes documents if the client asked for that, the agent can search, and the model failed before the first text.
    /// Returns the fault otherwise.
    pub(super) async fn fall_back(&mut self, fault: Fault) -> Result<EndReason, Fault> {
        let Some((author, cause)) = self.fallback(&fault) else { return Err(fault) };
        let asked = Arc::clone(&self.asked);
        tracing::warn!(fault = %fault.report(), cause = cause.code(), "the chat model failed; documents are quoted");
        asked.app.note(&fault);
        asked.app.recorder.answered_by_fallback(&author.agent.name, cause);
        let Author { agent, model } = mem::replace(&mut self.author, author);
        // Of calls before the one that failed.
        let used = mem::take(&mut self.progress.meter).total().await;
        if used != TokenUsage::default() {
            let (actor, conversation) = (&asked.request.actor, asked.request.conversation);
            metering::record(
                &asked.app,
                Payer::of(actor),
                conversation,
                agent.name.clone(),
                &*model,
                used,
                &asked.span,
            )
            .await;
        }
        let mut transcript = transcript(&agent, &asked.request);
        transcript.fallback = Some(cause);
        self.progress = Progress { transcript, ..Progress::default() };
        self.events.clear();
        self.events.push(AnswerMetadata::Fallback { cause }.into());
        // Boxed, since most answers do not need it.
        Box::pin(self.answer()).await
    }

    /// Who quotes documents after this fault, and why.
    fn fallback(&self, fault: &Fault) -> Option<(Author, FallbackCause)> {
        let model = self.asked.app.fallback_model.as_ref()?;
        let is_allowed = self.asked.request.quotes_as_fallback
            && self.author.agent.has_search()
            && self.progress.transcript.is_empty();
        let cause = FallbackCause::of(fault).filter(|_| is_allowed)?;
        let agent = Arc::new(self.author.agent.reading_records());
        Some((Author { agent, model: Arc::clone(model) }, cause))
    }
}
