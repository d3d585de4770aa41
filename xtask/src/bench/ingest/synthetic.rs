//! Documents made of the project's own text: the same in every run on the same tree.

use super::follow::Pdf;
use anyhow::{Context, Result, ensure};
use docent_testkit::pdf::pdf;
use std::{fs, path::Path};

/// Lines of a page.
const LINES: usize = 46;
/// Letters of a line.
const WIDTH: usize = 90;

/// Lines of the documentation and of the sources.
pub(super) struct Library {
    lines: Vec<String>,
}

impl Library {
    pub(super) fn read(root: &Path) -> Result<Self> {
        let mut lines = Vec::new();
        for folder in ["docs", "crates", "bins", "tests", "migration"] {
            collect(&root.join(folder), &mut lines)?;
        }
        ensure!(lines.len() > LINES, "the project has text");
        Ok(Self { lines })
    }

    /// The `n`th document: lines from anywhere in a mixture of its own, and its number on each page.
    pub(super) fn document(&self, n: u64, pages: usize) -> Pdf {
        let mut chance = n;
        let page = |page: usize| {
            let mut text = format!("Record {n}, page {page}.\n");
            for _ in 0..LINES {
                text.push_str(&self.lines[(next(&mut chance) % self.lines.len() as u64) as usize]);
                text.push('\n');
            }
            text
        };
        let texts: Vec<String> = (1..=pages).map(page).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        Pdf { name: format!("record-{n}.pdf"), bytes: pdf(&texts) }
    }
}

/// Takes the lines of all text files below a folder.
fn collect(folder: &Path, lines: &mut Vec<String>) -> Result<()> {
    let entries = fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect(&path, lines)?;
        } else if path.extension().is_some_and(|extension| extension == "md" || extension == "rs") {
            let text = fs::read_to_string(&path)?;
            let whole = text.lines().map(str::trim).filter(|line| line.len() > 20 && line.is_ascii());
            lines.extend(whole.map(|line| line[..line.len().min(WIDTH)].to_owned()));
        }
    }
    Ok(())
}

/// The same numbers in every run (splitmix64).
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
