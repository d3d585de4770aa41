//! Measures the memory of the service and the latency of ordinary requests meanwhile.

use crate::bench::service::Peer;
use crate::bench::wire::{Client, request};
use anyhow::Result;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;
use tokio::time::timeout;

const PAUSE: Duration = Duration::from_millis(20);
/// A slower ordinary request counts as this.
const PATIENCE: Duration = Duration::from_secs(10);

/// A running measurement.
pub(super) struct Sampler {
    is_over: Rc<Cell<bool>>,
    latencies: Rc<RefCell<Vec<f64>>>,
    requests: JoinHandle<()>,
}

/// A finished measurement.
pub(super) struct Sample {
    peak_kib: u64,
    /// Milliseconds, sorted.
    latencies: Vec<f64>,
}

impl Sampler {
    /// Starts to send an ordinary request again and again.
    pub(super) fn start(peer: &Peer, token: &str, path: &str) -> Self {
        let (is_over, latencies) = (Rc::new(Cell::new(false)), Rc::new(RefCell::new(Vec::new())));
        let (ended, measured, address) = (Rc::clone(&is_over), Rc::clone(&latencies), peer.address);
        let request = request("GET", path, Some(token), "");
        let requests = tokio::task::spawn_local(async move {
            let mut client = None;
            while !ended.get() {
                let began = Instant::now();
                let exchange = async {
                    let mut open: Client = match client.take() {
                        Some(open) => open,
                        None => Client::connect(address).await?,
                    };
                    open.exchange(&request).await?;
                    anyhow::Ok(open)
                };
                // A failed request counts with the time it took.
                client = timeout(PATIENCE, exchange).await.ok().and_then(Result::ok);
                measured.borrow_mut().push(began.elapsed().as_secs_f64() * 1e3);
                tokio::time::sleep(PAUSE).await;
            }
        });
        Self { is_over, latencies, requests }
    }

    /// Samples the memory until `done`, at most for this long.
    pub(super) async fn until(
        self,
        peer: &Peer,
        longest: Duration,
        done: impl Future<Output = ()>,
    ) -> Result<Sample> {
        let mut peak_kib = peer.resident_kib()?;
        let end = tokio::time::sleep(longest);
        tokio::pin!(end, done);
        loop {
            tokio::select! {
                () = &mut end => break,
                () = &mut done => break,
                () = tokio::time::sleep(PAUSE) => peak_kib = peak_kib.max(peer.resident_kib()?),
            }
        }
        peak_kib = peak_kib.max(peer.resident_kib()?);
        self.is_over.set(true);
        let _ = timeout(PATIENCE, self.requests).await;
        let mut latencies = self.latencies.take();
        latencies.sort_by(f64::total_cmp);
        Ok(Sample { peak_kib, latencies })
    }
}

impl Sample {
    fn at(&self, percent: usize) -> f64 {
        let last = self.latencies.len().saturating_sub(1);
        self.latencies.get(last * percent / 100).copied().unwrap_or(f64::NAN)
    }

    /// Prints this measurement beside the one without the attack.
    pub(super) fn print(&self, name: &str, quiet: &Self, details: &str) {
        let mib = |kib: u64| kib as f64 / 1024.0;
        println!(
            "{name:<34} memory {:7.1} MiB -> {:7.1} MiB (+{:.1}); ordinary request p50 {:.1} -> {:.1} ms, p99 {:.1} -> {:.1} ms{details}",
            mib(quiet.peak_kib),
            mib(self.peak_kib),
            mib(self.peak_kib.saturating_sub(quiet.peak_kib)),
            quiet.at(50),
            self.at(50),
            quiet.at(99),
            self.at(99),
        );
    }
}

/// The median of these times, which are sorted then.
pub(super) fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The longest of these times.
pub(super) fn slowest(times: &[f64]) -> f64 {
    times.iter().copied().fold(f64::NAN, f64::max)
}
