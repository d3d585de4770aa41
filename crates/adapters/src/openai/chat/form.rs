//! The form of requests that a back end supports, learned from its refusals.

use super::request::{RequestForm, has_later_system_message};
use crate::openai::fault::CallError;
use crate::openai::optional::OptionalField;
use docent_ports::chat_model::ChatRequest;

/// A part of a request that some back ends refuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Usage,
    LaterSystemMessages,
    Streaming,
}

impl Part {
    const ALL: [Self; 3] = [Self::Usage, Self::LaterSystemMessages, Self::Streaming];

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
        }
    }

    /// Whether a refusal that names nothing may be about the part.
    fn can_be_unnamed(self) -> bool {
        self != Self::Streaming
    }

    fn is_in(self, form: RequestForm) -> bool {
        match self {
            Self::Usage => form.wants_usage && form.is_streamed,
            Self::LaterSystemMessages => form.keeps_system_messages,
            Self::Streaming => form.is_streamed,
        }
    }

    fn remove_from(self, form: &mut RequestForm) {
        match self {
            Self::Usage => form.wants_usage = false,
            Self::LaterSystemMessages => form.keeps_system_messages = false,
            Self::Streaming => form.is_streamed = false,
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
        }
    }
}

/// Which parts of a request the back end supports.
#[derive(Debug, Default)]
pub(super) struct SupportedForm {
    usage: OptionalField,
    later_system_messages: OptionalField,
    streaming: OptionalField,
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
            Part::ALL.into_iter().find(|part| part.is_in(form) && error.names(part.names()))
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

    fn field(&self, part: Part) -> &OptionalField {
        match part {
            Part::Usage => &self.usage,
            Part::LaterSystemMessages => &self.later_system_messages,
            Part::Streaming => &self.streaming,
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
        Part::LaterSystemMessages | Part::Streaming => part.is_in(before) && !part.is_in(after),
    };
    Part::ALL.into_iter().filter(is_removed)
}

/// Whether the request has the part at all.
fn has(request: &ChatRequest, part: Part) -> bool {
    part != Part::LaterSystemMessages || has_later_system_message(&request.messages)
}
