//! `docent audit …`.

use super::accounts::open_store;
use crate::{output, wire};
use anyhow::Context;
use chrono::{NaiveTime, TimeDelta};
use docent::cli::PruneArgs;
use docent_app::audit::Initiator;
use docent_app::maintenance::audit_retention::remove_before;
use docent_services::archive::audit_export::FileExport;
use serde_json::json;

/// Exports and removes old entries of the audit log.
pub(crate) async fn prune(args: &PruneArgs) -> anyhow::Result<()> {
    let (store, settings) = open_store(args.installation.profile()).await?;
    let app = wire::maintenance(&settings, store).await?;
    let before = match (args.before, args.older_than) {
        (Some(day), _) => day.and_time(NaiveTime::MIN).and_utc(),
        (None, age) => {
            let age = TimeDelta::from_std(age.context("--before or --older-than is required")?)?;
            app.now().checked_sub_signed(age).context("--older-than is out of range")?
        }
    };
    let file = args.export.display().to_string();
    let export = Box::new(FileExport::create(&args.export)?);
    let removed = remove_before(&app, &Initiator::command_line(), before, &file, export).await?;
    output::print(
        args.installation.output,
        || match removed {
            0 => format!("There are no entries from before {}. Nothing was exported.", before.to_rfc3339()),
            _ => format!("Exported and removed {removed} entries from before {}.", before.to_rfc3339()),
        },
        || {
            let export = (removed > 0).then_some(&file);
            json!({ "removed": removed, "before": before.to_rfc3339(), "export": export })
        },
    )
    .map_err(Into::into)
}
