//! The documents of an evaluation.

use crate::progress::Shown;
use anyhow::{Context, bail};
use bytes::Bytes;
use docent::cli::EvalArgs;
use docent_app::{
    App,
    accounts::create::Flags,
    audit::Initiator,
    documents,
    evaluation::Source,
    jobs::{Runner, RunnerSettings},
    maintenance::progress::Progress,
};
use docent_domain::{
    access::Actor,
    document::{Document, DocumentState},
    text::{Email, Title},
    user::Password,
};
use serde_json::{Value, json};
use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

/// The file that says what a kept folder holds; it is written last.
pub(super) const MANIFEST: &str = "evaluation.json";
const ACCOUNT: &str = "eval@localhost";
const PIECE: usize = 1 << 20;
/// How often the ledger is looked at while documents are ingested.
const LOOK_EVERY: Duration = Duration::from_millis(50);
const GRACE: Duration = Duration::from_secs(5);

/// Files that are about to become documents, in the order of their names.
pub(super) struct Chosen {
    files: Vec<(String, PathBuf)>,
    left_out: Vec<String>,
    neutral_titles: bool,
}

/// The documents, in the order of their files' names.
pub(super) struct Corpus {
    pub(super) sources: Vec<Source>,
    /// Files that were left out by `--limit-files`.
    pub(super) left_out: Vec<String>,
    pub(super) neutral_titles: bool,
}

/// The account that everything is done by.
pub(super) async fn actor(app: &App) -> anyhow::Result<Actor> {
    let email = Email::parse(ACCOUNT)?;
    let there = app.store.read().await?.users().by_email(&email).await?;
    let user = match there {
        Some(user) => user,
        None => {
            // Nobody logs in.
            let mut random = [0; 16];
            app.entropy.fill(&mut random);
            let password = Password::parse_new(random.iter().map(|byte| format!("{byte:02x}")).collect())?;
            app.account_service()
                .create(&Initiator::command_line(), email, password, Flags::default())
                .await?
        }
    };
    Actor::of(&user).context("the account of the evaluation is not active")
}

impl Chosen {
    /// The PDFs of a folder.
    pub(super) fn of(folder: &Path, args: &EvalArgs) -> anyhow::Result<Self> {
        let mut files = pdfs(folder).with_context(|| folder.display().to_string())?;
        let limit = args.limit_files.map_or(files.len(), |limit| limit as usize);
        let left_out = files.split_off(limit.min(files.len()));
        let left_out = left_out.into_iter().map(|(name, _)| name).collect();
        Ok(Self { files, left_out, neutral_titles: args.neutral_titles })
    }

    /// Their names, and those of files that were left out.
    pub(super) fn names(&self) -> Vec<String> {
        self.files.iter().map(|(name, _)| name).chain(&self.left_out).cloned().collect()
    }

    /// Uploads and ingests all of them.
    pub(super) async fn ingest(
        self,
        app: &Arc<App>,
        settings: RunnerSettings,
        actor: &Actor,
        shown: &Shown,
    ) -> anyhow::Result<Corpus> {
        let digits = self.files.len().to_string().len().max(2);
        let mut sources = Vec::with_capacity(self.files.len());
        for (number, (name, path)) in (1..).zip(&self.files) {
            let title = if self.neutral_titles { format!("doc-{number:0digits$}.pdf") } else { name.clone() };
            let document =
                upload(app, actor, &title, path).await.with_context(|| path.display().to_string())?;
            sources.push(Source { file: name.clone(), document: document.id, title: document.title });
        }
        run_jobs(app, settings, sources.len() as u64, shown).await?;
        Ok(Corpus { sources, left_out: self.left_out, neutral_titles: self.neutral_titles })
    }
}

/// The PDFs of a folder with their names, by name.
fn pdfs(folder: &Path) -> anyhow::Result<Vec<(String, PathBuf)>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let is_pdf = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("pdf"));
        if is_pdf && path.is_file() {
            let name = path.file_name().and_then(|name| name.to_str());
            let name = name.with_context(|| format!("the name of {} is not UTF-8", path.display()))?;
            files.push((name.to_owned(), path));
        }
    }
    if files.is_empty() {
        bail!("there is no PDF");
    }
    files.sort_unstable();
    Ok(files)
}

async fn upload(app: &Arc<App>, actor: &Actor, name: &str, path: &Path) -> anyhow::Result<Document> {
    let mut file = File::open(path)?;
    let mut upload = documents::upload::begin(app, actor.authorize()?, name, "application/pdf").await?;
    loop {
        let mut piece = vec![0; PIECE];
        let read = file.read(&mut piece)?;
        piece.truncate(read);
        if read == 0 {
            return Ok(upload.finish().await?);
        }
        upload.write(Bytes::from(piece)).await?;
    }
}

/// Runs jobs until none is left.
async fn run_jobs(app: &Arc<App>, settings: RunnerSettings, all: u64, shown: &Shown) -> anyhow::Result<()> {
    let (stop, runner) = (CancellationToken::new(), Runner::new(Arc::clone(app), settings));
    let stopping = stop.clone();
    let running = AbortOnDropHandle::new(tokio::spawn(async move { runner.run(stopping, GRACE).await }));
    shown.begin("reading PDFs", Some(all));
    let mut done = 0;
    loop {
        let counts = app.store.read().await?.jobs().counts().await?;
        let left = counts.queued + counts.leased;
        let now_done = all.saturating_sub(left).max(done);
        shown.advance(now_done - done);
        done = now_done;
        if left == 0 {
            break;
        }
        app.clock.sleep(LOOK_EVERY).await;
    }
    shown.end();
    stop.cancel();
    running.await.context("the job runner's task died")
}

impl Corpus {
    /// What an earlier run kept in a folder.
    pub(super) fn kept(folder: &Path) -> anyhow::Result<Self> {
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

    /// Lets later runs use the folder.
    pub(super) fn keep(&self, folder: &Path) -> anyhow::Result<()> {
        std::fs::write(folder.join(MANIFEST), format!("{:#}\n", self.manifest()))
            .context("keeping the folder")
    }

    fn manifest(&self) -> Value {
        let entry = |source: &Source| {
            let (file, title) = (&source.file, source.title.as_str());
            json!({ "file": file, "title": title, "document": source.document.to_string() })
        };
        let documents: Vec<Value> = self.sources.iter().map(entry).collect();
        json!({ "documents": documents, "left_out": self.left_out, "neutral_titles": self.neutral_titles })
    }

    /// The names of the files, and of those that were left out.
    pub(super) fn names(&self) -> Vec<String> {
        self.sources.iter().map(|source| &source.file).chain(&self.left_out).cloned().collect()
    }

    /// What became of each document.
    pub(super) async fn states(&self, app: &App, actor: &Actor) -> anyhow::Result<Vec<State>> {
        let mut states = Vec::with_capacity(self.sources.len());
        for source in &self.sources {
            let document = documents::get::get(app, actor.authorize()?, source.document).await?;
            let failure = match &document.state {
                DocumentState::Ingested(_) => None,
                DocumentState::Failed(failed) => Some(failed.failure.reason.clone()),
                DocumentState::Pending(_) => Some("it was never ingested".to_owned()),
            };
            let pages = document.coverage.map_or(0, |coverage| coverage.pages);
            states.push(State { file: source.file.clone(), title: source.title.clone(), pages, failure });
        }
        Ok(states)
    }
}

/// What became of a document.
pub(super) struct State {
    pub(super) file: String,
    title: Title,
    pub(super) pages: u32,
    /// Why it cannot be found.
    pub(super) failure: Option<String>,
}

impl State {
    pub(super) fn json(&self) -> Value {
        json!({ "file": self.file, "title": self.title.as_str(), "pages": self.pages, "failure": self.failure })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_read_again() {
        let source = Source {
            file: "a.pdf".to_owned(),
            document: "00000000-0000-0000-0000-000000000007".parse().unwrap(),
            title: Title::parse("doc-01.pdf").unwrap(),
        };
        let corpus =
            Corpus { sources: vec![source], left_out: vec!["b.pdf".to_owned()], neutral_titles: true };
        let folder = tempfile::tempdir().unwrap();
        corpus.keep(folder.path()).unwrap();
        let kept = Corpus::kept(folder.path()).unwrap();
        assert_eq!((kept.names(), kept.neutral_titles), (corpus.names(), true));
        assert_eq!(kept.sources, corpus.sources);
        std::fs::write(folder.path().join(MANIFEST), "{}").unwrap();
        assert!(Corpus::kept(folder.path()).is_err());
    }

    #[test]
    fn pdfs_are_taken_by_name_whatever_the_case_of_their_extension() {
        let folder = tempfile::tempdir().unwrap();
        assert!(pdfs(folder.path()).is_err(), "a folder without PDFs is a mistake");
        for name in ["b.PDF", "a.pdf", "c.txt"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        std::fs::create_dir(folder.path().join("d.pdf")).unwrap();
        let names: Vec<String> = pdfs(folder.path()).unwrap().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["a.pdf", "b.PDF"]);
    }
}
