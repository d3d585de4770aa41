//! `docent llm check`: checks the connection to the chat model.

use super::config::load;
use crate::{output, wire};
use docent::cli::{InstallationArgs, OutputArgs};
use docent_app::model_check::{self, CheckedStep, ModelCheck, StepResult};
use serde_json::json;
use std::process::ExitCode;

/// Exit code: the model cannot be used, or none is connected.
const NOT_USABLE: u8 = 1;
/// Exit code: the settings are invalid.
const UNCHECKED: u8 = 2;

/// Checks the model of the settings and prints each step.
pub(crate) async fn check(args: InstallationArgs) -> ExitCode {
    match run(args).await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(NOT_USABLE),
        Err(error) => {
            eprintln!("docent: {error:#}");
            ExitCode::from(UNCHECKED)
        }
    }
}

async fn run(args: InstallationArgs) -> anyhow::Result<bool> {
    let settings = load(args.profile())?;
    let check = model_check::check(&*wire::chat_model(&settings)?).await;
    print_model(args.output, &check)?;
    for step in &check.steps {
        print_step(args.output, step)?;
    }
    Ok(check.is_usable())
}

fn print_model(output: OutputArgs, check: &ModelCheck) -> anyhow::Result<()> {
    let ModelCheck { model, address, .. } = check;
    let text = || match address {
        Some(address) => format!("Model {model} at {address}"),
        None => format!(
            "No chat model is connected: answers are quotes from documents. {}",
            model_check::HOW_TO_CONNECT
        ),
    };
    let object =
        || json!({ "kind": "model", "model": model, "address": address, "usable": check.is_usable() });
    Ok(output::print(output, || output::sanitize(&text()), object)?)
}

fn print_step(output: OutputArgs, checked: &CheckedStep) -> anyhow::Result<()> {
    let CheckedStep { step, result, message, advice } = checked;
    let word = match result {
        StepResult::Passed => "ok",
        StepResult::Warning => "warning",
        StepResult::Failed => "failed",
    };
    let text = || {
        let step = format!("{word:<8} {}: {}", step.label(), output::sanitize(message));
        match advice {
            Some(advice) => format!("{step}\n         {}", output::sanitize(advice)),
            None => step,
        }
    };
    let object = || json!({ "kind": "step", "step": step.code(), "result": word, "message": message, "advice": advice });
    Ok(output::print(output, text, object)?)
}
