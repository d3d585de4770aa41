//! The form of requests that a back end supports, learned from its refusals.

use super::request::{RequestForm, TokenLimitName, has_later_system_message};
use crate::openai::fault::CallError;
use crate::openai::optional::OptionalField;
use docent_ports::chat_model::{ChatRequest, OptionalPart};

/// A part of a request that some back ends refuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Usage,
    LaterSystemMessages,
    Streaming,
    MaxTokens,
    /// Replaces `MaxTokens`, if that is refused.
    MaxCompletionTokens,
}

impl Part {
    const ALL: [Self; 5] =
        [Self::Usage, Self::LaterSystemMessages, Self::Streaming, Self::MaxTokens, Self::MaxCompletionTokens];

    /// Texts with which errors name the part.
    fn names(self) -> &'static [&'static str] {
        match self {
            Self::Usage => &["stream_options", "include_usage"],
            // The words about the order of messages differ too much.
            Self::LaterSystemMessages => &[],
            Self::Streaming => &[
                "'stream'",
                "\"stream\"",
                "`stream`",
                "stream=",
                "with stream",
                "treaming is not",
                "support streaming",
            ],
            Self::MaxTokens => &["max_tokens"],
            Self::MaxCompletionTokens => &["max_completion_tokens"],
        }
    }

    /// Whether a refusal that names nothing may be about the part.
    fn can_be_unnamed(self) -> bool {
        matches!(self, Self::Usage | Self::LaterSystemMessages)
    }

    /// Whether a refusal is about the part, by its words.
    fn is_named_by(self, error: &CallError) -> bool {
        error.names(self.names())
            && match self {
                Self::Usage | Self::LaterSystemMessages | Self::Streaming => true,
                // A conversation that is too long is refused with the same names.
                Self::MaxTokens | Self::MaxCompletionTokens => error.may_be_about_form(),
            }
    }

    fn is_in(self, form: RequestForm) -> bool {
        match self {
            Self::Usage => form.wants_usage && form.is_streamed,
            Self::LaterSystemMessages => form.keeps_system_messages,
            Self::Streaming => form.is_streamed,
            Self::MaxTokens => form.token_limit == TokenLimitName::MaxTokens,
            Self::MaxCompletionTokens => form.token_limit == TokenLimitName::MaxCompletionTokens,
        }
    }

    fn remove_from(self, form: &mut RequestForm) {
        match self {
            Self::Usage => form.wants_usage = false,
            Self::LaterSystemMessages => form.keeps_system_messages = false,
            Self::Streaming => form.is_streamed = false,
            Self::MaxTokens => form.token_limit = TokenLimitName::MaxCompletionTokens,
            Self::MaxCompletionTokens => form.token_limit = TokenLimitName::None,
        }
    }

    /// What is logged when the part is left out from now on.
    fn unsupported(self) -> &'static str {
        match self {
            Self::Usage => "the chat back end does not support stream_options; tokens are counted locally",
            Self::LaterSystemMessages => {
                "the chat back end accepts system messages only at the beginning; its prompt cache applies less often"
            }
            Self::Streaming => "the chat back end does not stream; answers arrive at once",
            Self::MaxTokens => "the chat back end does not support max_tokens; max_completion_tokens is sent",
            Self::MaxCompletionTokens => "the chat back end supports no token limit",
        }
    }
}

/// Which parts of a request the back end supports.
#[derive(Debug, Default)]
pub(super) struct SupportedForm {
    usage: OptionalField,
    later_system_messages: OptionalField,
    streaming: OptionalField,
    max_tokens: OptionalField,
    max_completion_tokens: OptionalField,
}

impl SupportedForm {
    /// Sends a request in the form that the back end supports.
    ///
    /// A part that the refusal names is left out. Otherwise each part that the back end has never accepted is
    /// left out in turn. What was left out when the request succeeded is left out from then on.
    pub(super) async fn send<T, F>(
        &self,
        request: &ChatRequest,
        post: impl Fn(RequestForm) -> F,
    ) -> Result<T, CallError>
    where
        F: Future<Output = Result<T, CallError>>,
    {
        let preferred = self.preferred(request);
        let mut form = preferred;
        let mut error = match post(form).await {
            Ok(response) => return Ok(self.accepted(request, form, response)),
            Err(error) => error,
        };
        while let Some(named) =
            Part::ALL.into_iter().find(|part| part.is_in(form) && part.is_named_by(&error))
        {
            named.remove_from(&mut form);
            match post(form).await {
                Ok(response) => {
                    self.refused(preferred, form);
                    return Ok(self.accepted(request, form, response));
                }
                Err(next) => error = next,
            }
        }
        if error.may_be_about_form() {
            for smaller in self.unverified(request, form) {
                if let Ok(response) = post(smaller).await {
                    self.refused(preferred, form);
                    self.left_out(form, smaller);
                    return Ok(self.accepted(request, smaller, response));
                }
            }
        }
        Err(error)
    }

    /// The parts that the back end has refused so far.
    pub(super) fn refused_parts(&self) -> Vec<OptionalPart> {
        let parts = [
            (Part::Usage, OptionalPart::Usage),
            (Part::LaterSystemMessages, OptionalPart::LaterSystemMessages),
            (Part::Streaming, OptionalPart::Streaming),
            // The last name for the limit.
            (Part::MaxCompletionTokens, OptionalPart::MaxTokens),
        ];
        parts.into_iter().filter(|(part, _)| !self.field(*part).is_sent()).map(|(_, part)| part).collect()
    }

    fn field(&self, part: Part) -> &OptionalField {
        match part {
            Part::Usage => &self.usage,
            Part::LaterSystemMessages => &self.later_system_messages,
            Part::Streaming => &self.streaming,
            Part::MaxTokens => &self.max_tokens,
            Part::MaxCompletionTokens => &self.max_completion_tokens,
        }
    }

    fn preferred(&self, request: &ChatRequest) -> RequestForm {
        let is_sent = |part| self.field(part).is_sent();
        RequestForm {
            wants_usage: is_sent(Part::Usage),
            // Without such messages, nothing is learned.
            keeps_system_messages: !has_later_system_message(&request.messages)
                || is_sent(Part::LaterSystemMessages),
            is_streamed: is_sent(Part::Streaming),
            token_limit: match request.max_tokens {
                Some(_) if is_sent(Part::MaxTokens) => TokenLimitName::MaxTokens,
                Some(_) if is_sent(Part::MaxCompletionTokens) => TokenLimitName::MaxCompletionTokens,
                _ => TokenLimitName::None,
            },
        }
    }

    /// Smaller forms without parts that the back end has never accepted: without each, then without all.
    fn unverified(&self, request: &ChatRequest, form: RequestForm) -> Vec<RequestForm> {
        let is_unverified = |part: &Part| {
            part.can_be_unnamed()
                && part.is_in(form)
                && self.field(*part).is_unverified()
                && has(request, *part)
        };
        let parts: Vec<Part> = Part::ALL.into_iter().filter(is_unverified).collect();
        let without = |parts: &[Part]| {
            let mut smaller = form;
            parts.iter().for_each(|part| part.remove_from(&mut smaller));
            smaller
        };
        let mut forms: Vec<RequestForm> = parts.iter().map(|part| without(&[*part])).collect();
        forms.extend((parts.len() > 1).then(|| without(&parts)));
        forms
    }

    fn accepted<T>(&self, request: &ChatRequest, form: RequestForm, response: T) -> T {
        for part in Part::ALL.into_iter().filter(|part| part.is_in(form) && has(request, *part)) {
            self.field(part).mark_supported();
        }
        response
    }

    /// Records the parts whose refusal named them.
    fn refused(&self, before: RequestForm, after: RequestForm) {
        for part in removed(before, after) {
            tracing::info!("{}", part.unsupported());
            self.field(part).mark_refused();
        }
    }

    /// Records the parts without which the request succeeded.
    fn left_out(&self, before: RequestForm, after: RequestForm) {
        for part in removed(before, after) {
            tracing::info!("{}", part.unsupported());
            self.field(part).mark_unsupported();
        }
    }
}

fn removed(before: RequestForm, after: RequestForm) -> impl Iterator<Item = Part> {
    let is_removed = move |part: &Part| match part {
        Part::Usage => before.wants_usage && !after.wants_usage,
        Part::MaxCompletionTokens => {
            before.token_limit != TokenLimitName::None && after.token_limit == TokenLimitName::None
        }
        Part::LaterSystemMessages | Part::Streaming | Part::MaxTokens => {
            part.is_in(before) && !part.is_in(after)
        }
    };
    Part::ALL.into_iter().filter(is_removed)
}

/// Whether the request has the part at all.
fn has(request: &ChatRequest, part: Part) -> bool {
    match part {
        Part::LaterSystemMessages => has_later_system_message(&request.messages),
        Part::Usage | Part::Streaming | Part::MaxTokens | Part::MaxCompletionTokens => true,
    }
}
