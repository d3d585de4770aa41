//! `docent config`, and reading the settings for all other commands.

use docent::config::{Environment, Loaded, Profile, Settings, Source};

/// Reads the settings; what is odd about them goes to standard error.
pub(crate) fn load(profile: Profile) -> anyhow::Result<Settings> {
    let Loaded { settings, warnings, .. } = Settings::load(profile, &Environment::of_process())?;
    for warning in warnings {
        eprintln!("docent: {warning}");
    }
    Ok(settings)
}

/// Prints every setting with its value in force; secrets stay hidden.
pub(crate) fn run(profile: Profile) -> anyhow::Result<()> {
    let Loaded { effective, warnings, .. } = Settings::load(profile, &Environment::of_process())?;
    for setting in effective {
        let from = match setting.source {
            Source::Default => "",
            Source::Environment => "   # from the environment",
            Source::File => "   # from the file it names",
        };
        println!("{}={}{from}", setting.variable, setting.shown);
    }
    for warning in warnings {
        eprintln!("docent: {warning}");
    }
    Ok(())
}
