//! `GET /admin/model`, and `POST` to check the connection

use crate::language;
use crate::signed_in::form::OwnForm;
use crate::signed_in::page::PageResult;
use crate::signed_in::session::Staff;
use docent_app::model_check::{self, CheckedStep, ModelCheck};
use docent_app::service::{UnsearchedAnswers, unsearched_answers};
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
    /// Settings that the check recommends, as lines of an environment file.
    settings: Vec<String>,
    unsearched: Option<UnsearchedView>,
}

/// Recent answers without a search, if these are many.
#[derive(Serialize)]
pub(super) struct UnsearchedView {
    unsearched: usize,
    answers: usize,
}

impl From<UnsearchedAnswers> for UnsearchedView {
    fn from(UnsearchedAnswers { unsearched, answers }: UnsearchedAnswers) -> Self {
        Self { unsearched, answers }
    }
}

#[derive(Serialize)]
struct StepRow {
    label: String,
    /// `passed`, `warning`, `not_supported` or `failed`.
    result: &'static str,
    /// Label of the result.
    result_name: String,
    message: String,
    advice: Option<String>,
}

impl From<CheckedStep> for StepRow {
    fn from(CheckedStep { step, result, message, advice, .. }: CheckedStep) -> Self {
        let result = result.code();
        Self {
            label: language::named("model-step-", step.code()),
            result,
            result_name: language::named("model-result-", result),
            message,
            advice,
        }
    }
}

impl ModelPage {
    fn of(check: ModelCheck, unsearched: Option<UnsearchedAnswers>) -> Self {
        let is_usable = check.is_usable();
        let ModelCheck { model, address, steps, settings } = check;
        let steps = steps.into_iter().map(StepRow::from).collect();
        let settings =
            settings.into_iter().map(|setting| format!("{}={}", setting.name, setting.value)).collect();
        Self { model, address, is_usable, steps, settings, unsearched: unsearched.map(UnsearchedView::from) }
    }
}

pub(super) async fn show(staff: Staff, context: State, query: Query) -> PageResult {
    let grant = staff.authorize::<ViewJobs>()?;
    query.done()?;
    let unsearched = unsearched_answers(&context.app, &grant);
    let page = ModelPage::of(model_check::connection(&context.app, &grant), unsearched);
    staff.show(&context, "model", page)
}

pub(super) async fn check(staff: Staff, context: State, _: OwnForm) -> PageResult {
    let grant = staff.authorize::<ViewJobs>()?;
    let unsearched = unsearched_answers(&context.app, &grant);
    let page = ModelPage::of(model_check::check_service(&context.app, grant).await, unsearched);
    staff.show(&context, "model", page)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::t;
    use crate::templates::tests::Samples;
    use docent_app::model_check::{Step, StepResult};

    #[test]
    fn english_texts_are_those_of_the_command_line() {
        assert_eq!(t!("model-connect"), docent_app::model_check::HOW_TO_CONNECT);
        for step in Step::ALL {
            assert_eq!(language::named("model-step-", step.code()), step.label());
        }
        for result in StepResult::ALL {
            assert_eq!(language::named("model-result-", result.code()), result.label());
        }
    }

    impl UnsearchedView {
        pub(in crate::panel) fn sample() -> Self {
            Self { unsearched: 3, answers: 4 }
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
                settings: if is_usable { vec!["DOCENT_AGENT_SEARCH=first".to_owned()] } else { Vec::new() },
                unsearched: is_usable.then(UnsearchedView::sample),
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
