//! `docent config`, and loading the settings for the other commands.

use crate::{output, telemetry};
use docent::cli::InstallationArgs;
use docent::config::{self, Environment, Loaded, Profile, Settings, Source};
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
pub(crate) fn run(args: InstallationArgs) -> anyhow::Result<()> {
    let Loaded { effective, warnings, .. } = Settings::load(args.profile(), &Environment::of_process())?;
    for (setting, value) in config::all().iter().zip(effective) {
        let (source, from) = match value.source {
            Source::Default => ("default", ""),
            Source::Environment => ("environment", "   (from the environment)"),
            Source::File => ("file", "   (from the file named by its _FILE variable)"),
        };
        let meaning = setting.meaning.split_whitespace().collect::<Vec<_>>().join(" ");
        output::print(
            args.output,
            || format!("# {meaning}\n{}={}{from}\n", value.variable, value.shown),
            || {
                json!({
                    "variable": value.variable, "value": value.shown, "source": source, "meaning": meaning,
                })
            },
        )?;
    }
    for warning in warnings {
        eprintln!("docent: {warning}");
    }
    Ok(())
}
