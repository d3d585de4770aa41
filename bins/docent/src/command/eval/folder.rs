//! Where an evaluation has its installation.

use super::corpus::MANIFEST;
use anyhow::{Context, bail};
use docent::{
    cli::EvalArgs,
    config::{BlobStoreUrl, DatabaseUrl, KeyValueUrl, Settings, VectorDb},
};
use std::{
    path::{Path, PathBuf},
    time::Duration,
};
use tempfile::TempDir;

/// How often the removal of the folder is tried while threads that were stopped still write to it.
const REMOVALS: u32 = 40;
const BETWEEN_REMOVALS: Duration = Duration::from_millis(50);

/// A folder of an installation.
pub(super) enum Folder {
    /// Gone at the end.
    Temporary(TempDir),
    /// Kept for later runs.
    Kept(PathBuf),
}

impl Folder {
    /// The one that the command line names, or a new one.
    pub(super) fn open(args: &EvalArgs) -> anyhow::Result<Self> {
        match (&args.keep, &args.reuse) {
            (_, Some(kept)) if kept.join(MANIFEST).is_file() => Ok(Self::Kept(kept.clone())),
            (_, Some(kept)) => {
                bail!("{} was not kept by a run of this command that came to its end", kept.display())
            }
            (Some(keep), None) => {
                std::fs::create_dir_all(keep).with_context(|| keep.display().to_string())?;
                let mut entries = std::fs::read_dir(keep).with_context(|| keep.display().to_string())?;
                if entries.next().is_some() {
                    bail!("{} is not empty; use it with --reuse, or name another folder", keep.display());
                }
                Ok(Self::Kept(keep.clone()))
            }
            (None, None) => {
                let folder = tempfile::Builder::new().prefix("docent-eval-").tempdir();
                Ok(Self::Temporary(folder.context("making a temporary folder")?))
            }
        }
    }

    pub(super) fn path(&self) -> &Path {
        match self {
            Self::Temporary(folder) => folder.path(),
            Self::Kept(folder) => folder,
        }
    }

    /// Removes what is not to be kept.
    pub(super) async fn finish(self) {
        let Self::Temporary(folder) = self else { return };
        let path = folder.keep();
        for _ in 0..REMOVALS {
            if std::fs::remove_dir_all(&path).is_ok() || !path.exists() {
                return;
            }
            tokio::time::sleep(BETWEEN_REMOVALS).await;
        }
        eprintln!("docent: {} could not be removed", path.display());
    }
}

/// The settings of an installation in this folder, which has no other server but a back end of embeddings.
pub(super) fn installation(settings: &Settings, folder: &Path) -> Settings {
    let mut settings = settings.clone();
    settings.service.data_dir = folder.to_owned();
    settings.storage.database_url = DatabaseUrl::Sqlite(folder.join("docent.db"));
    settings.storage.redis_url = KeyValueUrl::Memory;
    settings.storage.blob_store = BlobStoreUrl::File(folder.join("blobs"));
    settings.storage.vector_db = VectorDb::Embedded;
    settings.models.llm_base_url = None;
    settings.ingestion.ingest_sweep_interval = Duration::ZERO;
    settings.telemetry.tracing_enabled = false;
    settings.telemetry.metrics_enabled = false;
    settings
}
