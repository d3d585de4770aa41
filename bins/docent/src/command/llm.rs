//! `docent llm check`: checks the chat model, the embedding back end and the vision model.

use super::config::load;
use crate::{output, wire};
use docent::cli::{LlmCheckArgs, OutputArgs};
use docent_app::model_check::{
    self, CheckLimits, CheckedStep, ModelCheck, RecommendedSetting, embeddings, pictures,
};
use serde_json::json;
use std::process::ExitCode;
use tokio::time::Instant;

/// Exit code: a model cannot be used, or none is connected.
const NOT_USABLE: u8 = 1;
/// Exit code: the settings are invalid.
const UNCHECKED: u8 = 2;

/// Checks the models of the settings and prints each step.
pub(crate) async fn check(args: LlmCheckArgs) -> ExitCode {
    match run(args).await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(NOT_USABLE),
        Err(error) => {
            eprintln!("docent: {error:#}");
            ExitCode::from(UNCHECKED)
        }
    }
}

async fn run(args: LlmCheckArgs) -> anyhow::Result<bool> {
    let began = Instant::now();
    let (settings, output) = (load(args.installation.profile())?, args.installation.output);
    let model = wire::chat_model(&settings, args.timeout)?;
    let embedder = wire::embedding_model(&settings)?;
    let vision = wire::vision_model(&settings)?;
    let limits = CheckLimits { timeout: args.timeout, service_timeout: Some(settings.models.llm_timeout) };
    print_model(output, &model_check::unchecked(&*model))?;
    let mut printed = Ok(());
    let mut print = |step: &CheckedStep| {
        if printed.is_ok() {
            printed = print_step(output, step);
        }
    };
    let mut check = model_check::check(&*model, &wire::limits(&settings), limits, &mut print).await;
    printed?;
    let left = || args.timeout.saturating_sub(began.elapsed()).min(args.timeout / 2);
    if let Some(embedder) = embedder {
        let batch = settings.models.embedding_batch as usize;
        let (step, setting) = embeddings::check(&*embedder, batch, left()).await;
        print_step(output, &step)?;
        check.steps.push(step);
        check.settings.extend(setting);
    }
    if let Some(vision) = vision {
        let step = pictures::check(&*vision, left()).await;
        print_step(output, &step)?;
        check.steps.push(step);
    }
    print_settings(output, &check)?;
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
    let object = || json!({ "kind": "model", "model": model, "address": address });
    Ok(output::print(output, || output::sanitize(&text()), object)?)
}

fn print_step(output: OutputArgs, checked: &CheckedStep) -> anyhow::Result<()> {
    let CheckedStep { step, result, cause, message, advice } = checked;
    let text = || {
        let word = output::paint(&format!("{:<13}", result.label()));
        let step = format!("{word}  {}: {}", step.label(), output::sanitize(message));
        match advice {
            Some(advice) => format!("{step}\n{:15}{}", "", output::sanitize(advice)),
            None => step,
        }
    };
    let object = || {
        json!({
            "kind": "step", "step": step.code(), "result": result.code(), "cause": cause, "message": message,
            "advice": advice,
        })
    };
    Ok(output::print(output, text, object)?)
}

/// Prints the result, and what to set as lines that can be pasted.
fn print_settings(output: OutputArgs, check: &ModelCheck) -> anyhow::Result<()> {
    let is_usable = check.is_usable();
    let summary = match (is_usable, check.settings.is_empty()) {
        (true, true) => "Nothing has to be set.",
        (true, false) => "Set these settings, and restart the service:",
        (false, true) => "The service cannot work like this: see the steps that failed.",
        (false, false) => {
            "The service cannot work like this: see the steps that failed. These settings are needed too:"
        }
    };
    if !check.steps.is_empty() {
        let object = || json!({ "kind": "result", "usable": is_usable });
        output::print(output, || format!("\n{summary}"), object)?;
    }
    for RecommendedSetting { name, value } in &check.settings {
        let text = || format!("{name}={}", output::sanitize(value));
        output::print(output, text, || json!({ "kind": "setting", "name": name, "value": value }))?;
    }
    Ok(())
}
