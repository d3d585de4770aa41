//! `docent config`, and reading the settings for all other commands.

use crate::{output, telemetry};
use docent::{
    cli::InstallationArgs,
    config::{self, Environment, Loaded, Profile, Settings, Source},
};
use serde_json::json;
use tracing::Level;

/// Reads the settings; what is odd about them goes to standard error.
pub(crate) fn load(profile: Profile) -> anyhow::Result<Settings> {
    let Loaded { settings, warnings, .. } = Settings::load(profile, &Environment::of_process())?;
    for warning in warnings {
        telemetry::say(settings.telemetry.log_format, Level::WARN, &warning.to_string());
    }
    Ok(settings)
}

/// Prints every setting: what it means, and its value in force. Secrets stay hidden.
pub(crate) fn run(args: InstallationArgs) -> anyhow::Result<()> {
    let Loaded { effective, warnings, .. } = Settings::load(args.profile.into(), &Environment::of_process())?;
    for (setting, value) in config::all().iter().zip(effective) {
        let (source, from) = match value.source {
            Source::Default => ("default", ""),
            Source::Environment => ("environment", "   (from the environment)"),
            Source::File => ("file", "   (from the file it names)"),
        };
        let meaning = setting.meaning.split_whitespace().collect::<Vec<_>>().join(" ");
        output::result(
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
