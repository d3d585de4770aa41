//! Records an answer in its conversation.

use super::citations::CitationFilter;
use super::request::AgentRequest;
use super::text_limits::{LimitedText, TextEnd, TextLimits};
use crate::{App, Error, conversations};
use chrono::{DateTime, Utc};
use docent_domain::chat::{AgentName, ToolOutput};
use docent_domain::conversation::MessageRole;
use docent_domain::fallback::FallbackCause;
use docent_domain::id::MessageId;
use docent_domain::retrieval::ScoredChunk;
use docent_domain::usage::TokenUsage;

/// The answer generated so far.
#[derive(Debug, Default)]
pub(super) struct Transcript {
    /// The text of the answer, as sent to the client.
    text: String,
    /// Checks the citations in the text, if the model knows numbers of passages.
    citations: Option<CitationFilter>,
    /// Ends the text where the client wants it to end.
    limited: LimitedText,
    /// The passages that were found, in the order found and without duplicates.
    pub(super) sources: Vec<ScoredChunk>,
    /// Whether the answer ended normally.
    pub(super) is_complete: bool,
    /// Whether the model says that the documents do not contain the answer.
    pub(super) is_declined: bool,
    /// Score of the best passage, if it is comparable.
    best_score: Option<f32>,
    /// Why the answer quotes documents, if the model could not answer.
    pub(super) fallback: Option<FallbackCause>,
}

impl Transcript {
    /// Creates an empty transcript.
    pub(super) fn new(citations: Option<CitationFilter>, limits: TextLimits) -> Self {
        Self { citations, limited: LimitedText::new(limits), ..Self::default() }
    }

    /// Adds text of the model. Returns the text for the client, which may be empty.
    pub(super) fn add_text(&mut self, text: String) -> String {
        let text = match &mut self.citations {
            Some(citations) => citations.push(&text, &self.sources),
            None => text,
        };
        let text = self.limited.push(text);
        self.text.push_str(&text);
        text
    }

    /// Returns the rest for the client at the end of the text of a model call.
    pub(super) fn end_text(&mut self) -> String {
        let held =
            self.citations.as_mut().map(|citations| citations.finish(&self.sources)).unwrap_or_default();
        let held = self.limited.push(held);
        self.text.push_str(&held);
        held
    }

    /// Returns the rest for the client at the end of the answer.
    pub(super) fn end_answer(&mut self) -> String {
        let held = self.limited.finish();
        self.text.push_str(&held);
        held
    }

    /// Where the limits of the client ended the text, if they did.
    pub(super) const fn limited_by(&self) -> Option<TextEnd> {
        self.limited.end()
    }

    /// Whether there is no text, not even white space.
    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty() && !self.limited.holds_text()
    }

    /// Whether there is text besides white space.
    pub(super) fn has_text(&self) -> bool {
        !self.text.trim().is_empty() || self.limited.holds_text()
    }

    /// Number of citations that were removed.
    pub(super) fn removed_citations(&self) -> u64 {
        self.citations.as_ref().map_or(0, |citations| citations.removed)
    }

    /// Adds the passages of a tool call. Returns each with its number among the sources.
    pub(super) fn add_output<'o>(&mut self, output: &'o ToolOutput) -> Vec<(usize, &'o ScoredChunk)> {
        self.best_score = self.best_score.into_iter().chain(output.best_score).reduce(f32::max);
        output.passages.iter().map(|passage| (self.add_source(passage), passage)).collect()
    }

    /// Adds a passage, unless it is already a source. Returns its number among the sources, starting at 1. A search that found more of
    /// the text after a chunk returns it as a longer passage, which replaces the shorter one.
    fn add_source(&mut self, passage: &ScoredChunk) -> usize {
        match self.sources.iter().position(|known| known.id == passage.id) {
            Some(at) if self.sources[at].text.len() < passage.text.len() => {
                self.sources[at] = passage.clone();
                at + 1
            }
            Some(at) => at + 1,
            None => {
                self.sources.push(passage.clone());
                self.sources.len()
            }
        }
    }

    /// Adds question and answer to the request's conversation, if any. A fault is only logged: the answer has already
    /// been sent.
    pub(super) async fn record(
        self,
        app: &App,
        request: &AgentRequest,
        asked_at: DateTime<Utc>,
        id: Option<MessageId>,
        agent: AgentName,
        tokens: TokenUsage,
    ) {
        let (Some(conversation), Some(id)) = (request.conversation, id) else { return };
        let Self { text, citations: _, limited: _, sources, is_complete, is_declined, best_score, fallback } =
            self;
        let role = MessageRole::Agent {
            name: agent,
            sources,
            tokens,
            is_complete,
            is_declined,
            best_score,
            fallback,
            feedback: None,
        };
        let question = request.question().to_owned();
        let selection = (&request.selection).into();
        let append = conversations::append(
            app,
            conversation,
            question,
            selection,
            asked_at,
            (id, text, role),
            request.replaces,
        );
        if let Err(error) = append.await {
            tracing::error!(error = %docent_domain::fault::report(&error), %conversation, "the question and its answer could not be recorded");
            if let Error::Fault(fault) = &error {
                app.note(fault);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use docent_testkit::retrieval::found;

    #[test]
    fn longer_passage_of_a_chunk_replaces_the_shorter_one() {
        let mut transcript = Transcript::default();
        let longer = found(1, 0, "Pumps are blue. Valves are red.");
        for (passages, numbers) in [
            (vec![found(1, 0, "Pumps are blue."), found(2, 0, "Ropes are long.")], [1, 2]),
            (vec![longer.clone(), found(1, 0, "Pumps are blue.")], [1, 1]),
        ] {
            let output = ToolOutput { passages, ..ToolOutput::default() };
            let added: Vec<usize> =
                transcript.add_output(&output).into_iter().map(|(number, _)| number).collect();
            assert_eq!(added, numbers);
        }
        assert_eq!(transcript.sources, [longer, found(2, 0, "Ropes are long.")]);
    }
}
