//! Documents of an evaluation.

use crate::progress::ProgressDisplay;
use anyhow::{Context, bail};
use bytes::Bytes;
use docent::cli::EvalArgs;
use docent_app::accounts::create::Flags;
use docent_app::accounts::{self};
use docent_app::audit::Initiator;
use docent_app::background::{Runner, RunnerSettings};
use docent_app::evaluation::Source;
use docent_app::jobs;
use docent_app::maintenance::progress::Progress;
use docent_app::{App, documents};
use docent_domain::access::Actor;
use docent_domain::document::{Document, DocumentState};
use docent_domain::file_type::{FileType, FileTypes};
use docent_domain::id::CollectionId;
use docent_domain::scope::Scope;
use docent_domain::text::{Email, Title};
use docent_domain::user::Password;
use serde_json::{Value, json};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

/// File that lists the documents of a kept directory; it is written last.
pub(super) const MANIFEST: &str = "evaluation.json";
const ACCOUNT: &str = "eval@localhost";
const CHUNK_SIZE: usize = 1 << 20;
/// Interval of polling the job counts.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
const SHUTDOWN_GRACE: Duration = Duration::from_secs(5);

/// Files to ingest, ordered by name.
pub(super) struct SelectedFiles {
    files: Vec<(String, PathBuf)>,
    left_out: Vec<String>,
    neutral_titles: bool,
}

/// Ingested documents, ordered by file name.
pub(super) struct Corpus {
    pub(super) sources: Vec<Source>,
    /// Files excluded by `--limit-files`.
    pub(super) left_out: Vec<String>,
    pub(super) neutral_titles: bool,
}

/// Returns the account of the evaluation; creates it if missing.
pub(super) async fn actor(app: &App) -> anyhow::Result<Actor> {
    let email = Email::parse(ACCOUNT)?;
    let existing = accounts::find_by_email(app, &email).await?;
    let user = match existing {
        Some(user) => user,
        None => {
            // The account is not used for logins.
            let random: [u8; 16] = app.random();
            let password = Password::parse_new(random.iter().map(|byte| format!("{byte:02x}")).collect())?;
            app.account_service()
                .create(&Initiator::command_line(), email, password, Flags::default())
                .await?
        }
    };
    Actor::of(&user).context("the account of the evaluation is inactive")
}

impl SelectedFiles {
    /// Selects the files of these types of a directory.
    pub(super) fn select(folder: &Path, args: &EvalArgs, types: FileTypes) -> anyhow::Result<Self> {
        let mut files = files(folder, types).with_context(|| folder.display().to_string())?;
        let limit = args.limit_files.map_or(files.len(), |limit| limit as usize);
        let left_out = files.split_off(limit.min(files.len()));
        let left_out = left_out.into_iter().map(|(name, _)| name).collect();
        Ok(Self { files, left_out, neutral_titles: args.neutral_titles })
    }

    /// The names of all files, including excluded ones.
    pub(super) fn names(&self) -> Vec<String> {
        self.files.iter().map(|(name, _)| name).chain(&self.left_out).cloned().collect()
    }

    /// Uploads and ingests the files.
    pub(super) async fn ingest(
        self,
        app: &Arc<App>,
        settings: RunnerSettings,
        actor: &Actor,
        progress: &ProgressDisplay,
    ) -> anyhow::Result<Corpus> {
        let digits = self.files.len().to_string().len().max(2);
        let mut sources = Vec::with_capacity(self.files.len());
        for (number, (name, path)) in (1..).zip(&self.files) {
            // The extension separates kinds of plain text.
            let extension = FileType::of_name(name).unwrap_or(FileType::Pdf).extensions()[0];
            let neutral = || format!("doc-{number:0digits$}.{extension}");
            let title = if self.neutral_titles { neutral() } else { name.clone() };
            let document =
                upload(app, actor, &title, path).await.with_context(|| path.display().to_string())?;
            sources.push(Source { file: name.clone(), document: document.id, title: document.title });
        }
        run_jobs(app, settings, sources.len() as u64, progress).await?;
        Ok(Corpus { sources, left_out: self.left_out, neutral_titles: self.neutral_titles })
    }
}

/// Lists the files of these types of a directory with their names, ordered by name.
fn files(folder: &Path, types: FileTypes) -> anyhow::Result<Vec<(String, PathBuf)>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let file_type = path.file_name().and_then(|name| FileType::of_name(name.to_str()?));
        if file_type.is_some_and(|of| types.contains(of)) && path.is_file() {
            let name = path.file_name().and_then(|name| name.to_str());
            let name = name.with_context(|| format!("the name of {} is not UTF-8", path.display()))?;
            files.push((name.to_owned(), path));
        }
    }
    if files.is_empty() {
        bail!("no {types} file found");
    }
    files.sort_unstable();
    Ok(files)
}

async fn upload(app: &Arc<App>, actor: &Actor, name: &str, path: &Path) -> anyhow::Result<Document> {
    let mut file = File::open(path)?;
    let mut upload = documents::upload::begin(
        app,
        documents::upload::NewDocument::new(actor.authorize()?, CollectionId::EVERYONE),
        name,
        FileType::of_name(name).unwrap_or(FileType::Pdf).media_type(),
        0,
    )
    .await?;
    loop {
        let mut chunk = vec![0; CHUNK_SIZE];
        let read = file.read(&mut chunk)?;
        chunk.truncate(read);
        if read == 0 {
            return Ok(upload.finish().await?.document);
        }
        upload.write(Bytes::from(chunk)).await?;
    }
}

/// Runs jobs until none are left.
async fn run_jobs(
    app: &Arc<App>,
    settings: RunnerSettings,
    total: u64,
    progress: &ProgressDisplay,
) -> anyhow::Result<()> {
    let (stop, runner) = (CancellationToken::new(), Runner::new(Arc::clone(app), settings));
    let stopping = stop.clone();
    let running =
        AbortOnDropHandle::new(tokio::spawn(async move { runner.run(stopping, SHUTDOWN_GRACE).await }));
    progress.begin("reading PDFs", Some(total));
    let mut done = 0;
    loop {
        let left = jobs::browse::unfinished(app).await?;
        let now_done = total.saturating_sub(left).max(done);
        progress.advance(now_done - done);
        done = now_done;
        if left == 0 {
            break;
        }
        app.sleep(POLL_INTERVAL).await;
    }
    progress.end();
    stop.cancel();
    running.await.context("the job runner's task panicked")
}

impl Corpus {
    /// Reads the documents that an earlier run kept in a directory.
    pub(super) fn load(folder: &Path) -> anyhow::Result<Self> {
        let path = folder.join(MANIFEST);
        let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let manifest = serde_json::from_str(&text).ok().as_ref().and_then(Self::parse);
        manifest.with_context(|| format!("{} was not written by this version", path.display()))
    }

    fn parse(manifest: &Value) -> Option<Self> {
        let source = |entry: &Value| {
            Some(Source {
                file: entry["file"].as_str()?.to_owned(),
                document: entry["document"].as_str()?.parse().ok()?,
                title: Title::parse(entry["title"].as_str()?).ok()?,
            })
        };
        let left_out = manifest["left_out"].as_array()?.iter();
        Some(Self {
            sources: manifest["documents"].as_array()?.iter().map(source).collect::<Option<_>>()?,
            left_out: left_out.map(|name| name.as_str().map(str::to_owned)).collect::<Option<_>>()?,
            neutral_titles: manifest["neutral_titles"].as_bool()?,
        })
    }

    /// Writes the manifest, so that later runs can use the directory.
    pub(super) fn save(&self, folder: &Path) -> anyhow::Result<()> {
        std::fs::write(folder.join(MANIFEST), format!("{:#}\n", self.manifest()))
            .context("writing the manifest")
    }

    fn manifest(&self) -> Value {
        let entry = |source: &Source| {
            let (file, title) = (&source.file, source.title.as_str());
            json!({ "file": file, "title": title, "document": source.document.to_string() })
        };
        let documents: Vec<Value> = self.sources.iter().map(entry).collect();
        json!({ "documents": documents, "left_out": self.left_out, "neutral_titles": self.neutral_titles })
    }

    /// The names of all files, including excluded ones.
    pub(super) fn names(&self) -> Vec<String> {
        self.sources.iter().map(|source| &source.file).chain(&self.left_out).cloned().collect()
    }

    /// The ingestion results of the documents.
    pub(super) async fn results(&self, app: &App, actor: &Actor) -> anyhow::Result<Vec<IngestionResult>> {
        let mut results = Vec::with_capacity(self.sources.len());
        for source in &self.sources {
            let document =
                documents::get::get(app, actor.authorize()?, Scope::SERVICE, source.document).await?;
            let failure = match &document.state {
                DocumentState::Ingested(_) => None,
                DocumentState::Failed(failed) => Some(failed.failure.reason.clone()),
                DocumentState::Pending(_) => Some("it was not ingested".to_owned()),
            };
            let pages = document.coverage.map_or(0, |coverage| coverage.pages);
            results.push(IngestionResult {
                file: source.file.clone(),
                title: source.title.clone(),
                pages,
                failure,
            });
        }
        Ok(results)
    }
}

/// The ingestion result of a document.
pub(super) struct IngestionResult {
    pub(super) file: String,
    title: Title,
    pub(super) pages: u32,
    /// Why the ingestion failed.
    pub(super) failure: Option<String>,
}

impl IngestionResult {
    pub(super) fn json(&self) -> Value {
        json!({ "file": self.file, "title": self.title.as_str(), "pages": self.pages, "failure": self.failure })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn saved_corpus_is_loaded() {
        let source = Source {
            file: "a.pdf".to_owned(),
            document: "00000000-0000-0000-0000-000000000007".parse().unwrap(),
            title: Title::parse("doc-01.pdf").unwrap(),
        };
        let corpus =
            Corpus { sources: vec![source], left_out: vec!["b.pdf".to_owned()], neutral_titles: true };
        let folder = tempfile::tempdir().unwrap();
        corpus.save(folder.path()).unwrap();
        let loaded = Corpus::load(folder.path()).unwrap();
        assert_eq!((loaded.names(), loaded.neutral_titles), (corpus.names(), true));
        assert_eq!(loaded.sources, corpus.sources);
        std::fs::write(folder.path().join(MANIFEST), "{}").unwrap();
        assert!(Corpus::load(folder.path()).is_err());
    }

    #[test]
    fn files_of_types_are_found_in_any_case_and_ordered_by_name() {
        let folder = tempfile::tempdir().unwrap();
        assert!(files(folder.path(), FileTypes::all()).is_err(), "an empty directory is an error");
        for name in ["b.PDF", "a.pdf", "c.txt"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        std::fs::create_dir(folder.path().join("d.pdf")).unwrap();
        let names = |types| -> Vec<String> {
            files(folder.path(), types).unwrap().into_iter().map(|(name, _)| name).collect()
        };
        assert_eq!(names(FileTypes::default()), ["a.pdf", "b.PDF"]);
        assert_eq!(names(FileTypes::all()), ["a.pdf", "b.PDF", "c.txt"]);
    }
}
