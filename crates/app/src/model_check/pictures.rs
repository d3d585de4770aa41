//! Checks whether the vision model sees pictures.

use super::call::Caller;
use super::{CheckedStep, Step, StepResult, advice};
use docent_domain::chat::Message;
use docent_ports::chat_model::{ChatModel, ChatRequest};
use std::time::Duration;

/// A red square.
const PICTURE: &[u8] = include_bytes!("red.png");
const QUESTION: &str = "Which colour has the picture? Answer with one English word.";
/// Words for its colour, of which one is in a right answer.
const RIGHT: [&str; 3] = ["red", "crimson", "scarlet"];

/// Asks for the colour of a picture. Nothing but descriptions of pictures depends on it.
pub async fn check(model: &dyn ChatModel, limit: Duration) -> CheckedStep {
    let step = Step::Pictures;
    // A step takes half of the time of a check.
    let mut caller = Caller::new(model, limit * 2);
    let messages = vec![Message::User(QUESTION.to_owned())];
    let request = ChatRequest { messages, picture: Some(PICTURE.to_vec()), ..ChatRequest::default() };
    match caller.call(request).await {
        Ok(output) => {
            let said = output.text.to_lowercase();
            if RIGHT.iter().any(|word| said.contains(word)) {
                return CheckedStep::passed(step, format!("{} sees the colour of a picture.", model.model()));
            }
            let message = format!("{} does not see the colour of a red picture.", model.model());
            CheckedStep::warning(step, message, advice::NO_PICTURES)
        }
        Err(fault) if fault.is_transient() => {
            let advice = advice::for_fault(&fault, model.address().as_deref(), &[]);
            CheckedStep::of_fault(step, StepResult::Warning, &fault, advice)
        }
        Err(fault) => CheckedStep::of_fault(step, StepResult::NotSupported, &fault, advice::NO_PICTURES),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use docent_domain::fault::FaultKind;
    use docent_testkit::fakes::chat_model::{ScriptedChatModel, Turn};

    #[tokio::test]
    async fn only_a_model_that_sees_the_colour_passes() {
        for (turn, result) in [
            (Turn::saying("It is Red."), StepResult::Passed),
            (Turn::saying("I cannot see pictures."), StepResult::Warning),
            (Turn::refused(FaultKind::Rejected), StepResult::NotSupported),
            (Turn::refused(FaultKind::Unavailable), StepResult::Warning),
        ] {
            let model = ScriptedChatModel::new([turn]);
            let checked = check(&model, Duration::from_secs(60)).await;
            assert_eq!((checked.step, checked.result), (Step::Pictures, result), "{checked:?}");
            assert_eq!(checked.advice.is_none(), result == StepResult::Passed);
            assert_eq!(model.requests()[0].picture.as_deref(), Some(PICTURE));
        }
    }
}
