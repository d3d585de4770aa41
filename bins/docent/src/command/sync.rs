//! `docent sync`: makes a collection have the PDFs of a directory.
//!
//! All state is with the service: the attribute `path` of a document names its file, and its report has the digest. Each change
//! is one request, so an interrupted run leaves nothing half done, and the next one continues.
//!
//! Contributors can give their documents any path. A file must not become a version of a document that another account controls, so
//! only documents of the own account count, unless asked otherwise.

mod plan;

use super::ingest::files::{Found, find_files};
use crate::client::ServiceClient;
use crate::client::retry::{Decision, RetryPolicy};
use crate::client::source::SourceFile;
use crate::fail;
use crate::output::{self, pluralize, sanitize};
use anyhow::{Context, bail};
use docent::cli::SyncArgs;
use docent_domain::attributes::AttributeValue;
use docent_domain::file_type::FileTypes;
use docent_domain::id::CollectionId;
use futures::{StreamExt, TryStreamExt, stream};
use plan::{Action, LocalFile, PATH, Plan, Problem, SyncedDocument};
use reqwest::Method;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fs::{File, TryLockError};
use std::io::Read;
use std::path::Path;
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
        Ok((sync, plan, _lock)) => match sync.execute(plan).await {
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

/// Compares the directory with the collection. The lock ends with the file, and with the process.
async fn prepare(args: &SyncArgs) -> anyhow::Result<(Sync<'_>, Plan, Option<File>)> {
    let lock = lock(&args.folder)?;
    let client = ServiceClient::open(&args.client.remote)?;
    client.check().await?;
    let collection = client.collection_id(&args.collection).await?;
    let (folder, types) = (args.folder.clone(), args.types);
    let local = tokio::task::spawn_blocking(move || read_directory(&folder, types)).await??;
    // What cannot be read would look like a deleted file.
    if let (true, Some(problem)) = (args.delete, local.problems.first()) {
        bail!("{}: {}", sanitize(&problem.path), problem.reason);
    }
    let sync = Sync { args, client, collection };
    let mut remote = sync.documents().await?;
    // Documents of links that are not followed are left alone: nothing says that their files are gone.
    remote.retain(|document| !local.links.contains(&document.name));
    let plan = Plan::new(local.files, local.problems, remote, args.delete);
    let (deletions, synced) = (plan.deletions(), plan.synced);
    if deletions * 100 > synced * usize::from(args.max_delete) {
        bail!(
            "{deletions} of {synced} documents would be deleted, more than --max-delete {} allows: nothing was done",
            args.max_delete
        );
    }
    Ok((sync, plan, lock))
}

/// Locks a directory: two runs at once would both upload what is new. None where the file system has no locks.
fn lock(folder: &Path) -> anyhow::Result<Option<File>> {
    let folder = File::open(folder).with_context(|| format!("reading {}", folder.display()))?;
    match folder.try_lock() {
        Ok(()) => Ok(Some(folder)),
        Err(TryLockError::WouldBlock) => bail!("another `docent sync` of this directory is running"),
        Err(TryLockError::Error(_)) => Ok(None),
    }
}

/// The files of a directory.
struct Directory {
    files: Vec<LocalFile>,
    /// Files and directories that cannot be read.
    problems: Vec<Problem>,
    /// Symbolic links that lead outside and are not followed.
    links: BTreeSet<String>,
}

/// The files of these types of a directory and their digests.
fn read_directory(folder: &Path, types: FileTypes) -> anyhow::Result<Directory> {
    if !std::fs::metadata(folder).with_context(|| format!("reading {}", folder.display()))?.is_dir() {
        bail!("{} is not a directory", folder.display());
    }
    let found = find_files(&[folder.to_owned()], types);
    found.report_links();
    let shown = |path: &Path| path.strip_prefix(folder).unwrap_or(path).to_string_lossy().into_owned();
    let links = found.links.iter().map(|link| shown(link)).collect();
    let mut directory = Directory { files: Vec::new(), problems: Vec::new(), links };
    for Found { source, size } in found.found {
        let shown = shown(source.path());
        match size {
            // The directory itself stands for one without files.
            Err(_) if source.path() == folder => {}
            Err(reason) => directory.problems.push(Problem { path: shown, reason }),
            Ok(_) => match local_file(folder, source) {
                Ok(file) => directory.files.push(file),
                Err(reason) => directory.problems.push(Problem { path: shown, reason }),
            },
        }
    }
    Ok(directory)
}

/// Reads a file, or says why it cannot be synchronised.
fn local_file(folder: &Path, source: SourceFile) -> Result<LocalFile, String> {
    let parts = source.path().strip_prefix(folder).unwrap_or(source.path()).components();
    let parts: Option<Vec<&str>> = parts.map(|part| part.as_os_str().to_str()).collect();
    let name = parts.ok_or("the name is not UTF-8")?.join("/");
    AttributeValue::string(&name).map_err(|error| format!("the path cannot be an attribute: {error}"))?;
    let sha256 = digest(&source).map_err(|error| error.to_string())?;
    Ok(LocalFile { source, name, sha256, is_only: true })
}

/// The SHA-256 digest of a file, in hexadecimal digits.
fn digest(source: &SourceFile) -> std::io::Result<String> {
    let (mut file, mut digest) = (source.open()?, Sha256::new());
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()),
            read => digest.update(buffer.get(..read).unwrap_or_default()),
        }
    }
}

impl Sync<'_> {
    /// The documents of earlier runs: those of the collection that have a path.
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
        let reports = reports.iter().filter(|report| self.counts(report));
        Ok(reports.filter_map(SyncedDocument::of_report).collect())
    }

    /// Whether the document of a report can be one of an earlier run.
    fn counts(&self, report: &Value) -> bool {
        self.args.all_owners || report["is_own"] == true
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
        let Plan { unchanged, left_over, problems, .. } = plan;
        let (mut done, mut failed) = (0_usize, problems.len());
        for Problem { path, reason } in problems {
            self.print("none", &path, None, Some(reason))?;
        }
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
            let reason = made.err().map(|error| format!("{error:#}"));
            self.print(action.name(), action.path(), action.document(), reason)?;
        }
        let would = if self.args.dry_run { "would be made" } else { "made" };
        let [done, unchanged, left_over] = [(done, "change"), (unchanged, "file"), (left_over, "document")]
            .map(|(n, what)| pluralize(n, what));
        let left_over = match self.args.delete {
            true => String::new(),
            false => format!(", {left_over} without a file of their own"),
        };
        eprintln!("docent: {done} {would}, {failed} failed, {unchanged} unchanged{left_over}");
        Ok(failed)
    }

    fn print(
        &self,
        action: &str,
        path: &str,
        document: Option<&str>,
        reason: Option<String>,
    ) -> anyhow::Result<()> {
        let row = || {
            let row = format!("{action:7}  {}", sanitize(path));
            reason.as_ref().map_or(row.clone(), |reason| format!("{row}  failed: {}", sanitize(reason)))
        };
        let object = || json!({ "action": action, "path": path, "id": document, "error": reason });
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
            Action::Add(file) => self.add(file).await,
            Action::Replace(document, file) => {
                self.client.replace(&document.id, &file.source).await.map(drop)
            }
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

    /// Uploads a file. An upload of a run that was killed can complete after this run has listed the documents, so that a file
    /// whose content is in the directory once only is not uploaded again.
    async fn add(&self, file: &LocalFile) -> anyhow::Result<()> {
        let attributes = json!({ PATH: file.name });
        let upload = |is_only| self.client.upload_with(&file.source, self.collection, &attributes, is_only);
        let document = upload(file.is_only).await?;
        if file.is_only {
            let id = document["id"].as_str().context("the service returned no document")?;
            let report = self.client.get(&["documents", id, "report"]).await?;
            if report["attributes"][PATH] != file.name.as_str() || !self.counts(&report) {
                // Added in another way.
                upload(false).await?;
            }
        }
        Ok(())
    }

    async fn change(&self, document: &SyncedDocument, change: &Value) -> anyhow::Result<()> {
        self.client.send_json(Method::PATCH, &["documents", &document.id], change).await.map(drop)
    }
}
