//! The searches that are compared: without a scope, in scopes of different sizes, and with a condition.

use crate::bench::synthetic::{GROUP, collection};
use anyhow::{Context, Result};
use docent_domain::attributes::{AttributeKey, AttributeValue};
use docent_domain::condition::{Comparison, Condition};
use docent_domain::id::VersionId;
use docent_domain::retrieval::{ChunkFilter, QueryEmbedding};
use docent_domain::scope::Scope;
use docent_ports::vector_index::VectorIndex;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::{Duration, Instant};

/// Searches before the measurement, so that the files are in the page cache.
const WARM_UP: usize = 30;

/// A kind of search.
pub(super) struct Row {
    name: &'static str,
    scope: Scope,
    condition: Option<Condition>,
    in_one: bool,
}

/// Times and results of a row.
#[derive(Default)]
struct Measured {
    times: Vec<Duration>,
    results: DefaultHasher,
}

/// All kinds; the first searches all documents without a scope.
pub(super) fn rows() -> Result<Vec<Row>> {
    let row = |name| Row { name, scope: Scope::SERVICE.clone(), condition: None, in_one: false };
    let scoped = |name, share| {
        let scope =
            Scope::SERVICE.within(&[collection(share)?]).context("the service can use all collections")?;
        anyhow::Ok(Row { scope, ..row(name) })
    };
    let key = AttributeKey::parse(GROUP)?;
    let condition = Condition::compare(key, Comparison::Eq, vec![AttributeValue::Number(3.0)])?;
    Ok(vec![
        row("all"),
        scoped("scope of 100 %", 1)?,
        scoped("scope of 10 %", 10)?,
        scoped("scope of 1 %", 100)?,
        Row { condition: Some(condition), ..row("attribute of 10 %") },
        Row { in_one: true, ..row("one") },
    ])
}

/// Runs every question in every row and prints their times, and how these compare with those of the first row. The rows
/// rotate, so that none is always the first to read the postings of a question.
pub(super) async fn time(
    index: &dyn VectorIndex,
    questions: &[(QueryEmbedding, Option<VersionId>)],
    rows: &[Row],
    limit: usize,
    which: &str,
) -> Result<()> {
    let mut measured: Vec<Measured> = rows.iter().map(|_| Measured::default()).collect();
    for (at, (query, document)) in questions.iter().take(WARM_UP).chain(questions).enumerate() {
        let mut order: Vec<(&Row, &mut Measured)> = rows.iter().zip(&mut measured).collect();
        order.rotate_left(at % rows.len());
        for (row, measured) in order {
            let versions = document.as_ref().filter(|_| row.in_one).map(std::slice::from_ref);
            let filter =
                ChunkFilter { scope: &row.scope, condition: row.condition.as_ref(), versions, limit };
            let started = Instant::now();
            let found = index.search(query, filter).await?;
            let took = started.elapsed();
            if at >= WARM_UP {
                measured.times.push(took);
                for chunk in &found {
                    (chunk.id, chunk.score.to_bits()).hash(&mut measured.results);
                }
            }
        }
    }
    let [all, wide, ..] = &measured[..] else { anyhow::bail!("there are at least two rows") };
    anyhow::ensure!(
        all.results.finish() == wide.results.finish(),
        "the scope of all documents has other results than no scope; delete indexes that were kept by an earlier version"
    );
    let figures: Vec<[f64; 2]> = measured.iter_mut().map(|row| percentiles(&mut row.times)).collect();
    let base = figures.first().copied().unwrap_or_default();
    for ((row, measured), [p50, p95]) in rows.iter().zip(&measured).zip(&figures) {
        let name = format!("{}{which}", row.name);
        println!(
            "  top {limit:<4} {name:<30} {p50:8.2} ms p50 {p95:8.2} ms p95  {:5.2} {:5.2} of all   results {:016x}",
            p50 / base[0],
            p95 / base[1],
            measured.results.finish()
        );
    }
    Ok(())
}

/// The median and the 95th percentile in milliseconds.
fn percentiles(times: &mut [Duration]) -> [f64; 2] {
    times.sort_unstable();
    let at = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or_default();
    [50, 95].map(|share| at(share).as_secs_f64() * 1e3)
}
