//! Documents made of the project's own text, the same in every run on the same tree.

use super::uploader::Pdf;
use crate::random::Random;
use anyhow::{Context, Result, ensure};
use docent_testkit::pdf::pdf;
use std::fs;
use std::path::Path;

/// Lines per page.
const LINES: usize = 46;
/// Characters per line.
const WIDTH: usize = 90;

/// Lines of the documentation and the source code.
pub(super) struct Library {
    lines: Vec<String>,
}

impl Library {
    pub(super) fn read(root: &Path) -> Result<Self> {
        let mut lines = Vec::new();
        for folder in ["docs", "crates", "bins", "tests", "migration"] {
            collect(&root.join(folder), &mut lines)?;
        }
        ensure!(lines.len() > LINES, "the project has too little text");
        Ok(Self { lines })
    }

    /// Generates document `n`: random lines, and its number on each page.
    pub(super) fn document(&self, n: u64, pages: usize) -> Pdf {
        let mut random = Random(n);
        let page = |page: usize| {
            let mut text = format!("Record {n}, page {page}.\n");
            for _ in 0..LINES {
                text.push_str(&self.lines[(random.below(self.lines.len() as u64)) as usize]);
                text.push('\n');
            }
            text
        };
        let texts: Vec<String> = (1..=pages).map(page).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        Pdf { name: format!("record-{n}.pdf"), bytes: pdf(&texts) }
    }
}

/// Collects the lines of all text files in a directory.
fn collect(folder: &Path, lines: &mut Vec<String>) -> Result<()> {
    let entries = fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect(&path, lines)?;
        } else if path.extension().is_some_and(|extension| extension == "md" || extension == "rs") {
            let text = fs::read_to_string(&path)?;
            let usable = text.lines().map(str::trim).filter(|line| line.len() > 20 && line.is_ascii());
            lines.extend(usable.map(|line| line[..line.len().min(WIDTH)].to_owned()));
        }
    }
    Ok(())
}
