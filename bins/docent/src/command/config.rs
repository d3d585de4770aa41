//! `docent config`, and loading the settings for the other commands.

use crate::{output, telemetry};
use docent::cli::InstallationArgs;
use docent::config::{self, Environment, Inspection, Loaded, Profile, Settings, Source};
use serde_json::json;
use tracing::Level;

/// Loads the settings; warnings go to standard error.
pub(crate) fn load(profile: Profile) -> anyhow::Result<Settings> {
    let Loaded { settings, warnings, .. } = Settings::load(profile, &Environment::of_process())?;
    for warning in warnings {
        telemetry::report(settings.telemetry.log_format, Level::WARN, &warning.to_string());
    }
    Ok(settings)
}

/// Prints every setting with its meaning and current value. Secrets are hidden.
///
/// # Errors
/// If settings are missing or invalid, after they have been printed too.
pub(crate) fn run(args: InstallationArgs) -> anyhow::Result<()> {
    let Inspection { effective, problems, warnings } =
        Settings::inspect(args.profile(), &Environment::of_process());
    for setting in config::all() {
        let variable = setting.variable();
        let value = effective.iter().find(|value| value.variable == variable);
        let problem = problems.0.iter().find(|problem| problem.variable == variable);
        let (source, from) = match value.map(|value| value.source) {
            Some(Source::Default) => (Some("default"), ""),
            Some(Source::Environment) => (Some("environment"), "   (from the environment)"),
            Some(Source::File) => (Some("file"), "   (from the file named by its _FILE variable)"),
            None => (None, ""),
        };
        let shown = value.map(|value| value.shown.as_str());
        let meaning = setting.meaning.split_whitespace().collect::<Vec<_>>().join(" ");
        let text = || {
            let wrong = problem.map(|problem| format!("# Problem: {problem}\n")).unwrap_or_default();
            format!("# {meaning}\n{wrong}{variable}={}{from}\n", shown.unwrap_or_default())
        };
        output::print(args.output, text, || {
            json!({
                "variable": variable, "value": shown, "source": source, "meaning": meaning,
                "problem": problem.map(ToString::to_string),
            })
        })?;
    }
    for warning in warnings {
        eprintln!("docent: {warning}");
    }
    if problems.0.is_empty() { Ok(()) } else { Err(problems.into()) }
}
