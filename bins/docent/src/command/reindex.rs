//! `docent reindex`: another index, built while the first one serves.

use super::{config::load, service::signal};
use crate::{output, progress::Shown, wire};
use anyhow::bail;
use docent::cli::ReindexArgs;
use docent_app::{
    App,
    maintenance::reindex::{Plan, ReindexError, Reindexed, abandon, build_in_progress, reindex},
};
use docent_migration::SchemaState;
use docent_ports::error::report;
use serde_json::{Value, json};
use std::{process::ExitCode, sync::Arc};
use tokio_util::sync::CancellationToken;

/// The index that served before serves on; there is something to go on with.
const UNFINISHED: u8 = 1;
/// Nothing was begun.
const NOT_BEGUN: u8 = 2;

/// Builds the index and lets it take over.
pub(crate) async fn run(args: ReindexArgs) -> ExitCode {
    match begun(&args).await {
        Ok(code) => code,
        Err(error) => {
            eprintln!("docent: {error:#}");
            ExitCode::from(NOT_BEGUN)
        }
    }
}

async fn begun(args: &ReindexArgs) -> anyhow::Result<ExitCode> {
    let settings = load(args.profile.into())?;
    let store = wire::store(&settings).await?;
    match store.schema_state().await? {
        SchemaState::Current => {}
        other => bail!("{other}"),
    }
    let app = wire::upkeep(&settings, store)?;
    if args.abandon {
        return give_up(&app, args).await;
    }
    let model = args.embedding_model.as_deref().map(wire::model_named);
    let plan = Plan { model, concurrency: settings.ingestion.ingest_concurrency };
    let shown = Shown::new();
    if let Some(building) = build_in_progress(&app).await? {
        eprintln!("docent: going on with the index that was begun at {}", building.created_at);
    }
    let stop = stop_at_signal();
    let ended = reindex(&app, &plan, &stop, &shown).await;
    match ended {
        Ok(Reindexed { generation, model, documents, written }) => {
            say(
                args,
                format!(
                    "The new index serves: {documents} documents, embedding model {model}. \
                     {written} were written by this run."
                ),
                json!({
                    "kind": "switched", "generation": generation.to_string(), "model": model,
                    "documents": documents, "written": written,
                }),
            );
            Ok(ExitCode::SUCCESS)
        }
        Err(error) => unfinished(&app, args, &error).await,
    }
}

/// Says what went wrong, and how to go on.
async fn unfinished(app: &App, args: &ReindexArgs, error: &ReindexError) -> anyhow::Result<ExitCode> {
    // Where the database is away, that has been said by the error.
    let left = build_in_progress(app).await.ok().flatten();
    let advice = match &left {
        Some(_) => {
            "The index that served before serves on. `docent reindex` goes on with the new one, \
             `docent reindex --abandon` gives it up."
        }
        None => "The index that served before serves on.",
    };
    let why = report(error);
    eprintln!("docent: {why}\n{advice}");
    if args.output.json {
        let unfinished = left.is_some();
        println!("{}", json!({"kind": "failed", "why": why, "unfinished": unfinished}));
    }
    Ok(ExitCode::from(if left.is_some() { UNFINISHED } else { NOT_BEGUN }))
}

async fn give_up(app: &App, args: &ReindexArgs) -> anyhow::Result<ExitCode> {
    match abandon(app).await? {
        Some(given_up) => say(
            args,
            format!("Gave up the index that was begun at {}.", given_up.created_at),
            json!({"kind": "abandoned", "generation": given_up.id.to_string()}),
        ),
        None => say(args, "No index is being built.".to_owned(), json!({"kind": "nothing"})),
    }
    Ok(ExitCode::SUCCESS)
}

fn say(args: &ReindexArgs, text: String, object: Value) {
    println!("{}", output::line(args.output, || text, || object));
}

/// Cancelled by Ctrl-C or SIGTERM; a second one ends the process at once, which costs no more.
fn stop_at_signal() -> Arc<CancellationToken> {
    let stop = Arc::new(CancellationToken::new());
    let stopping = Arc::clone(&stop);
    tokio::spawn(async move {
        if signal().await.is_ok() {
            stopping.cancel();
            if signal().await.is_ok() {
                std::process::exit(i32::from(UNFINISHED));
            }
        }
    });
    stop
}
