//! `docent config`, and reading the settings for all other commands.

use crate::telemetry;
use docent::config::{self, Environment, Loaded, Profile, Settings, Source};
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
pub(crate) fn run(profile: Profile) -> anyhow::Result<()> {
    let Loaded { effective, warnings, .. } = Settings::load(profile, &Environment::of_process())?;
    for (setting, value) in config::all().iter().zip(effective) {
        let from = match value.source {
            Source::Default => "",
            Source::Environment => "   (from the environment)",
            Source::File => "   (from the file it names)",
        };
        let meaning = setting.meaning.split_whitespace().collect::<Vec<_>>().join(" ");
        println!("# {meaning}\n{}={}{from}\n", value.variable, value.shown);
    }
    for warning in warnings {
        eprintln!("docent: {warning}");
    }
    Ok(())
}
