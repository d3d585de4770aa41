//! `GET /admin/model`, and `POST` to check the connection

use crate::language;
use crate::signed_in::form::OwnForm;
use crate::signed_in::page::PageResult;
use crate::signed_in::session::Staff;
use docent_app::model_check::{self, CheckedStep, ModelCheck, StepResult};
use docent_domain::access::ViewJobs;
use docent_http::{Query, State};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct ModelPage {
    model: String,
    /// None for the built-in answerer.
    address: Option<String>,
    is_usable: bool,
    /// The steps of the check; empty before it.
    steps: Vec<StepRow>,
}

#[derive(Serialize)]
struct StepRow {
    label: String,
    /// `passed`, `warning` or `failed`.
    result: &'static str,
    /// Label of the result.
    result_name: String,
    message: String,
    advice: Option<String>,
}

impl From<CheckedStep> for StepRow {
    fn from(CheckedStep { step, result, message, advice }: CheckedStep) -> Self {
        let result = match result {
            StepResult::Passed => "passed",
            StepResult::Warning => "warning",
            StepResult::Failed => "failed",
        };
        Self {
            label: language::named("model-step-", step.code()),
            result,
            result_name: language::named("model-result-", result),
            message,
            advice,
        }
    }
}

impl From<ModelCheck> for ModelPage {
    fn from(check: ModelCheck) -> Self {
        let is_usable = check.is_usable();
        let ModelCheck { model, address, steps } = check;
        let steps = steps.into_iter().map(StepRow::from).collect();
        Self { model, address, is_usable, steps }
    }
}

pub(super) async fn show(staff: Staff, context: State, query: Query) -> PageResult {
    let grant = staff.authorize::<ViewJobs>()?;
    query.done()?;
    let page = ModelPage::from(model_check::connection(&context.app, &grant));
    staff.show(&context, "model", page)
}

pub(super) async fn check(staff: Staff, context: State, _: OwnForm) -> PageResult {
    let grant = staff.authorize::<ViewJobs>()?;
    let page = ModelPage::from(model_check::check_service(&context.app, grant).await);
    staff.show(&context, "model", page)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::t;
    use crate::templates::tests::Samples;
    use docent_app::model_check::Step;

    #[test]
    fn english_texts_are_those_of_the_command_line() {
        assert_eq!(t!("model-connect"), docent_app::model_check::HOW_TO_CONNECT);
        for step in [Step::Models, Step::Answer, Step::ToolCall, Step::ToolOutput] {
            assert_eq!(language::named("model-step-", step.code()), step.label());
        }
    }

    impl Samples for ModelPage {
        fn samples() -> Vec<Self> {
            let step = |result, advice: Option<&str>| StepRow {
                label: "Tool call".to_owned(),
                result,
                result_name: result.to_owned(),
                message: "The model searched.".to_owned(),
                advice: advice.map(str::to_owned),
            };
            let page = |address: Option<&str>, is_usable, steps| Self {
                model: "qwen3:8b".to_owned(),
                address: address.map(str::to_owned),
                is_usable,
                steps,
            };
            let address = Some("http://127.0.0.1:11434/v1");
            vec![
                page(None, false, Vec::new()),
                page(address, true, Vec::new()),
                page(address, true, vec![step("passed", None), step("warning", Some("Turn on streaming."))]),
                page(address, false, vec![step("failed", Some("Choose another model."))]),
            ]
        }
    }
}
