//! `docent sync`: makes a collection have the PDFs of a directory.
//!
//! All state is with the service: the attribute `path` of a document names its file, and its report has the digest. Each change
//! is one request, so an interrupted run leaves nothing half done, and the next one continues.

mod plan;

use super::ingest::files::{Found, find_files};
use crate::client::ServiceClient;
use crate::client::retry::{Decision, RetryPolicy};
use crate::fail;
use crate::output::{self, sanitize};
use anyhow::{Context, bail};
use docent::cli::SyncArgs;
use docent_domain::file_type::FileTypes;
use docent_domain::id::CollectionId;
use futures::{StreamExt, TryStreamExt, stream};
use plan::{Action, LocalFile, PATH, Plan, SyncedDocument};
use reqwest::Method;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tokio::time::sleep;

/// Exit code: some changes failed.
const INCOMPLETE: u8 = 1;
/// Exit code: nothing was done.
const NOT_STARTED: u8 = 2;
/// Attempts of a request.
const MAX_ATTEMPTS: u32 = 9;
/// Documents per request.
const PAGE_SIZE: &str = "1000";
/// Reports that are read at the same time.
const REPORTS: usize = 8;

/// Runs the command; the exit codes are in its help.
pub(crate) async fn run(args: &SyncArgs) -> ExitCode {
    match prepare(args).await {
        Err(error) => fail(&error, NOT_STARTED),
        Ok((sync, plan)) => match sync.execute(plan).await {
            Ok(0) => ExitCode::SUCCESS,
            Ok(_) => ExitCode::from(INCOMPLETE),
            Err(error) => fail(&error, INCOMPLETE),
        },
    }
}

/// A run of the command.
struct Sync<'a> {
    args: &'a SyncArgs,
    client: ServiceClient,
    collection: CollectionId,
}

/// Compares the directory with the collection.
async fn prepare(args: &SyncArgs) -> anyhow::Result<(Sync<'_>, Plan)> {
    let client = ServiceClient::open(&args.client.remote)?;
    client.check().await?;
    let collection = client.collection_id(&args.collection).await?;
    let (folder, types) = (args.folder.clone(), args.types);
    let local = tokio::task::spawn_blocking(move || read_directory(&folder, types)).await??;
    let sync = Sync { args, client, collection };
    let remote = sync.documents().await?;
    let plan = Plan::new(local, remote, args.delete);
    let (deletions, synced) = (plan.deletions(), plan.synced);
    if deletions * 100 > synced * usize::from(args.max_delete) {
        bail!(
            "{deletions} of {synced} documents would be deleted, more than --max-delete {} allows: nothing was done",
            args.max_delete
        );
    }
    Ok((sync, plan))
}

/// The files of these types of a directory and their digests.
fn read_directory(folder: &Path, types: FileTypes) -> anyhow::Result<Vec<LocalFile>> {
    if !std::fs::metadata(folder).with_context(|| format!("reading {}", folder.display()))?.is_dir() {
        bail!("{} is not a directory", folder.display());
    }
    let mut files = Vec::new();
    for Found { path, size } in find_files(&[folder.to_owned()], types) {
        // The directory itself stands for one without files. Anything else that cannot be read would look like a deleted file.
        match size {
            Err(_) if path == folder => {}
            Err(why) => bail!("{}: {why}", path.display()),
            Ok(_) => files.push(local_file(folder, path)?),
        }
    }
    Ok(files)
}

fn local_file(folder: &Path, path: PathBuf) -> anyhow::Result<LocalFile> {
    let parts = path.strip_prefix(folder).unwrap_or(&path).components();
    let parts: Option<Vec<&str>> = parts.map(|part| part.as_os_str().to_str()).collect();
    let name = parts.with_context(|| format!("{}: the name is not UTF-8", path.display()))?.join("/");
    let sha256 = digest(&path).with_context(|| format!("reading {}", path.display()))?;
    Ok(LocalFile { path, name, sha256 })
}

/// The SHA-256 digest of a file, in hexadecimal digits.
fn digest(path: &Path) -> std::io::Result<String> {
    let (mut file, mut digest) = (std::fs::File::open(path)?, Sha256::new());
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()),
            read => digest.update(buffer.get(..read).unwrap_or_default()),
        }
    }
}

impl Sync<'_> {
    /// The documents of the collection that have a path.
    async fn documents(&self) -> anyhow::Result<Vec<SyncedDocument>> {
        let (mut ids, mut cursor) = (Vec::new(), None::<String>);
        let collection = self.collection.to_string();
        loop {
            let mut query = vec![("limit", PAGE_SIZE), ("collection_id", &collection)];
            query.extend(cursor.as_deref().map(|cursor| ("cursor", cursor)));
            let response =
                self.retried(async || self.client.send(Method::GET, &["documents"], &query).await).await?;
            let next = response.headers().get("X-Next-Cursor").and_then(|value| value.to_str().ok());
            cursor = next.map(str::to_owned);
            let page: Vec<Value> = response.json().await.context("reading the list")?;
            ids.extend(page.iter().filter_map(|document| document["id"].as_str().map(str::to_owned)));
            if cursor.is_none() {
                break;
            }
        }
        let reports = stream::iter(ids).map(|id| async move {
            let id = id.as_str();
            self.retried(async || self.client.get(&["documents", id, "report"]).await).await
        });
        let reports: Vec<Value> = reports.buffered(REPORTS).try_collect().await?;
        Ok(reports.iter().filter_map(SyncedDocument::of_report).collect())
    }

    /// Repeats a request that changes nothing while the service is busy or cannot be reached.
    async fn retried<T>(&self, request: impl AsyncFn() -> anyhow::Result<T>) -> anyhow::Result<T> {
        let mut retries = RetryPolicy::new(MAX_ATTEMPTS);
        loop {
            let error = match request().await {
                Ok(reply) => return Ok(reply),
                Err(error) => error,
            };
            match retries.after_read(&error) {
                Decision::Wait(pause) => sleep(pause).await,
                Decision::Refresh | Decision::Fail => return Err(error),
            }
        }
    }

    /// Makes or prints the changes. Returns how many failed.
    async fn execute(&self, plan: Plan) -> anyhow::Result<usize> {
        let unchanged = plan.unchanged;
        let (mut done, mut failed) = (0_usize, 0_usize);
        let changes = stream::iter(plan.actions).map(|action| async move {
            let made = if self.args.dry_run { Ok(()) } else { self.apply(&action).await };
            (action, made)
        });
        let mut changes = changes.buffer_unordered(usize::from(self.args.concurrency));
        while let Some((action, made)) = changes.next().await {
            match &made {
                Ok(()) => done += 1,
                Err(_) => failed += 1,
            }
            self.print(&action, made.err())?;
        }
        let would = if self.args.dry_run { "would be made" } else { "made" };
        eprintln!("docent: {done} changes {would}, {failed} failed, {unchanged} files unchanged");
        Ok(failed)
    }

    fn print(&self, action: &Action, error: Option<anyhow::Error>) -> anyhow::Result<()> {
        let reason = error.map(|error| format!("{error:#}"));
        let row = || {
            let row = format!("{:7}  {}", action.name(), sanitize(action.path()));
            reason.as_ref().map_or(row.clone(), |reason| format!("{row}  failed: {}", sanitize(reason)))
        };
        let object = || json!({ "action": action.name(), "path": action.path(), "id": action.document(), "error": reason });
        Ok(output::print(self.args.client.output, row, object)?)
    }

    /// Makes a change; repeats it while the service asks to wait.
    async fn apply(&self, action: &Action) -> anyhow::Result<()> {
        let mut retries = RetryPolicy::new(MAX_ATTEMPTS);
        loop {
            let Err(error) = self.request(action).await else { return Ok(()) };
            match retries.after_upload(&error) {
                Decision::Wait(pause) => sleep(pause).await,
                // Streamed bodies cannot be repeated when the login is refreshed.
                Decision::Refresh => self.client.check().await?,
                Decision::Fail => return Err(error),
            }
        }
    }

    async fn request(&self, action: &Action) -> anyhow::Result<()> {
        match action {
            Action::Add(file) => {
                let attributes = json!({ PATH: file.name });
                self.client.upload_with(&file.path, self.collection, &attributes).await.map(drop)
            }
            Action::Replace(document, file) => self.client.replace(&document.id, &file.path).await.map(drop),
            Action::Move(document, file) => {
                let mut attributes = document.attributes.clone();
                attributes.insert(PATH.to_owned(), file.name.clone().into());
                self.change(document, &json!({ "attributes": attributes })).await
            }
            Action::Delete(document) if document.collections.len() > 1 => {
                let own = self.collection.to_string();
                let others: Vec<&String> = document.collections.iter().filter(|id| **id != own).collect();
                self.change(document, &json!({ "collection_ids": others })).await
            }
            Action::Delete(document) => {
                self.client.send(Method::DELETE, &["documents", &document.id], &[]).await.map(drop)
            }
        }
    }

    async fn change(&self, document: &SyncedDocument, change: &Value) -> anyhow::Result<()> {
        self.client.send_json(Method::PATCH, &["documents", &document.id], change).await.map(drop)
    }
}
