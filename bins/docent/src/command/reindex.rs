//! `docent reindex`: builds a new index while the current one stays active.

use super::config::load;
use super::service::signal;
use crate::invocation::command;
use crate::progress::ProgressDisplay;
use crate::{output, wire};
use anyhow::bail;
use docent::cli::ReindexArgs;
use docent::config::EmbeddingProvider;
use docent_app::App;
use docent_app::maintenance::reindex::{Plan, ReindexError, Reindexed, abandon, build_in_progress, reindex};
use docent_domain::fault::report;
use docent_migration::SchemaState;
use serde_json::{Value, json};
use std::process::ExitCode;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Exit code: the build is unfinished; the previous index remains active.
const UNFINISHED: u8 = 1;
/// Exit code: nothing was started.
const NOT_STARTED: u8 = 2;

/// Builds the index and activates it.
pub(crate) async fn run(args: ReindexArgs) -> ExitCode {
    match start(&args).await {
        Ok(code) => code,
        Err(error) => {
            eprintln!("docent: {error:#}");
            ExitCode::from(NOT_STARTED)
        }
    }
}

async fn start(args: &ReindexArgs) -> anyhow::Result<ExitCode> {
    let mut settings = load(args.installation.profile())?;
    let local = args.embedding_model.as_deref().and_then(EmbeddingProvider::local_folder);
    if let Some(folder) = local.clone() {
        settings.models.embedding_provider = EmbeddingProvider::Local(folder);
    }
    let store = wire::store(&settings).await?;
    match store.schema_state().await? {
        SchemaState::Current => {}
        other => bail!("{other}"),
    }
    let app = wire::maintenance(&settings, store).await?;
    if args.abandon {
        return discard(&app, args).await;
    }
    let model = match local {
        Some(_) => Some(app.settings().embedding_model.clone()),
        None => args.embedding_model.as_deref().map(|name| wire::resolve_model(&settings, name)),
    };
    let plan = Plan { model, concurrency: wire::concurrent_documents(&settings) };
    let progress = ProgressDisplay::new();
    if let Some(building) = build_in_progress(&app).await? {
        eprintln!("docent: resuming the build that was started at {}", building.created_at);
    }
    let stop = stop_on_signal();
    match reindex(&app, &plan, &stop, &progress).await {
        Ok(Reindexed { generation, model, documents, written }) => {
            print(
                args,
                format!(
                    "The new index is active: {documents} documents, embedding model {model}. \
                     This run wrote {written} of them."
                ),
                json!({
                    "kind": "switched", "generation": generation.to_string(), "model": model,
                    "documents": documents, "written": written,
                }),
            );
            Ok(ExitCode::SUCCESS)
        }
        Err(error) => report_failure(&app, args, &error).await,
    }
}

/// Prints the error and how to continue.
async fn report_failure(app: &App, args: &ReindexArgs, error: &ReindexError) -> anyhow::Result<ExitCode> {
    // If the database is unreachable, the error already says so.
    let build = build_in_progress(app).await.ok().flatten();
    let advice = match &build {
        Some(_) => format!(
            "The previous index remains active. Run `{}` to resume the build, or `{}` to discard it.",
            command("reindex"),
            command("reindex --abandon"),
        ),
        None => "The previous index remains active.".to_owned(),
    };
    let why = report(error);
    eprintln!("docent: {why}\n{advice}");
    if args.installation.output.json {
        let unfinished = build.is_some();
        println!("{}", json!({"kind": "failed", "why": why, "unfinished": unfinished}));
    }
    Ok(ExitCode::from(if build.is_some() { UNFINISHED } else { NOT_STARTED }))
}

async fn discard(app: &App, args: &ReindexArgs) -> anyhow::Result<ExitCode> {
    match abandon(app).await? {
        Some(discarded) => print(
            args,
            format!("Discarded the build that was started at {}.", discarded.created_at),
            json!({"kind": "abandoned", "generation": discarded.id.to_string()}),
        ),
        None => print(args, "There is no unfinished build.".to_owned(), json!({"kind": "nothing"})),
    }
    Ok(ExitCode::SUCCESS)
}

fn print(args: &ReindexArgs, text: String, object: Value) {
    println!("{}", output::format(args.installation.output, || text, || object));
}

/// Returns a token that Ctrl-C or SIGTERM cancels. A second signal ends the process immediately, which loses nothing.
fn stop_on_signal() -> Arc<CancellationToken> {
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
