//! Plain answers: streaming, and system messages within the conversation.

use super::call::Caller;
use super::{CheckedStep, Step, StepResult, advice};
use docent_domain::chat::Message;
use docent_ports::chat_model::{ChatRequest, OptionalPart};

const COUNT: &str = "Write the numbers from one to ten as words, separated by spaces. Write nothing else.";
const BRIEF: &str = "Answer in one short sentence.";
const NOTE: &str = "Where the passage above comes from: 1. Museum guide.pdf, page 1";

pub(super) async fn check_answer(caller: &mut Caller<'_>, listed: &[String]) -> CheckedStep {
    let step = Step::Answer;
    let request = ChatRequest { messages: vec![Message::User(COUNT.to_owned())], ..ChatRequest::default() };
    let output = match caller.call(request).await {
        Ok(output) => output,
        Err(fault) => {
            let advice = advice::for_fault(&fault, caller.model.address().as_deref(), listed);
            return CheckedStep::of_fault(step, StepResult::Failed, &fault, advice);
        }
    };
    let does_not_stream = caller.model.refused_parts().contains(&OptionalPart::Streaming);
    match output.pieces {
        _ if output.is_reasoning_only() => {
            CheckedStep::warning(step, "The model wrote only its reasoning.", advice::LONG_REASONING)
        }
        _ if output.text.trim().is_empty() => {
            CheckedStep::failed(step, "The model returned no text.", advice::NO_TEXT)
        }
        _ if does_not_stream => {
            CheckedStep::not_supported(step, "The server does not stream.", advice::NO_STREAMING)
        }
        1 => CheckedStep::warning(step, "The answer came in one piece.", advice::NOT_STREAMED),
        pieces => CheckedStep::passed(step, format!("The answer was streamed in {pieces} pieces.")),
    }
}

/// Sends a system message in the middle of a conversation, as the service does for the sources of passages.
pub(super) async fn check_system_messages(caller: &mut Caller<'_>) -> CheckedStep {
    let step = Step::SystemMessages;
    let messages = vec![
        Message::System(BRIEF.to_owned()),
        Message::User("Hello.".to_owned()),
        Message::Assistant { content: "Hello.".to_owned(), tool_calls: Vec::new() },
        Message::System(NOTE.to_owned()),
        Message::User("What is a museum?".to_owned()),
    ];
    match caller.call(ChatRequest { messages, ..ChatRequest::default() }).await {
        Err(fault) => {
            let advice = match fault.is_transient() {
                true => advice::for_fault(&fault, caller.model.address().as_deref(), &[]),
                false => advice::SYSTEM_MESSAGE_REFUSED.to_owned(),
            };
            CheckedStep::of_fault(step, StepResult::Failed, &fault, advice)
        }
        Ok(_) if caller.model.refused_parts().contains(&OptionalPart::LaterSystemMessages) => {
            let message = "The server takes system messages only at the beginning.";
            CheckedStep::not_supported(step, message, advice::SYSTEM_MESSAGES_MOVED)
        }
        Ok(output) if output.text.trim().is_empty() && !output.is_reasoning_only() => {
            CheckedStep::failed(step, "The model returned no text.", advice::NO_TEXT)
        }
        Ok(_) => CheckedStep::passed(step, "The server takes it in the middle of a conversation."),
    }
}
