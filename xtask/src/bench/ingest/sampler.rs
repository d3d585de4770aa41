//! Samples CPU time and memory of the service and its extraction workers.

use super::super::service::{Peer, ticks_to_time};
use anyhow::{Context, Result};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fs;
use std::rc::Rc;
use std::time::Duration;
use tokio::task::JoinHandle;

/// Sampling interval; workers live for some tenths of a second.
const SAMPLE_INTERVAL: Duration = Duration::from_millis(40);
/// Samples of the child processes per sample of the threads.
const THREADS_EVERY: u32 = 5;

/// Work of the threads of the service, by name prefix.
const THREAD_WORK: [(&str, &str); 8] = [
    ("tokio-rt", "chunking, tokens, embedding, packing, jobs"),
    ("docent-index", "indexing"),
    ("thrd-tantivy", "indexing"),
    ("docstore", "indexing"),
    ("merge_thread", "indexing"),
    ("segment_upd", "indexing"),
    ("sqlx-sqlite", "database"),
    ("actix", "HTTP: uploads, hashing, answers"),
];

/// Samples a process until stopped.
pub(super) struct Sampler {
    task: JoinHandle<()>,
    samples: Rc<Samples>,
    before: (Duration, Duration),
}

#[derive(Default)]
struct Samples {
    /// Name and ticks of each thread in its last sample.
    threads: RefCell<HashMap<String, (String, u64)>>,
    worker_kib: Cell<u64>,
}

/// CPU time and memory of the sampled processes.
pub(super) struct ProcessUsage {
    /// CPU time by kind of work.
    by_work: Vec<(&'static str, Duration)>,
    pub(super) server: Duration,
    pub(super) workers: Duration,
    peak_kib: u64,
    worker_kib: u64,
}

impl Sampler {
    pub(super) fn start(peer: &Peer) -> Result<Self> {
        let samples = Rc::new(Samples::default());
        let (state, pid) = (Rc::clone(&samples), peer.pid());
        let task = tokio::task::spawn_local(async move {
            for sample in 0_u32.. {
                state.sample_workers(pid);
                if sample % THREADS_EVERY == 0 {
                    state.sample_threads(pid);
                }
                tokio::time::sleep(SAMPLE_INTERVAL).await;
            }
        });
        Ok(Self { task, samples, before: peer.times()? })
    }

    pub(super) async fn stop(self, peer: &Peer) -> Result<ProcessUsage> {
        self.task.abort();
        self.samples.sample_threads(peer.pid());
        let (server, workers) = peer.times()?;
        let mut by_work: Vec<(&'static str, Duration)> = Vec::new();
        for (name, ticks) in self.samples.threads.borrow().values() {
            let work = THREAD_WORK.iter().find(|(prefix, _)| name.starts_with(prefix));
            let (work, time) = (work.map_or("other threads", |(_, work)| work), ticks_to_time(*ticks));
            match by_work.iter_mut().find(|(known, _)| *known == work) {
                Some((_, sum)) => *sum += time,
                None => by_work.push((work, time)),
            }
        }
        by_work.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
        Ok(ProcessUsage {
            by_work,
            server: server.saturating_sub(self.before.0),
            workers: workers.saturating_sub(self.before.1),
            peak_kib: kib(peer.pid(), "VmHWM:").context("reading the peak memory")?,
            worker_kib: self.samples.worker_kib.get(),
        })
    }
}

impl Samples {
    fn sample_threads(&self, pid: u32) {
        for thread in threads(pid) {
            let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/task/{thread}/stat")) else { continue };
            let parts = stat.split_once('(').and_then(|(_, rest)| rest.rsplit_once(") "));
            let Some((name, fields)) = parts else { continue };
            let ticks =
                fields.split(' ').skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
            self.threads.borrow_mut().insert(thread, (name.to_owned(), ticks));
        }
    }

    fn sample_workers(&self, pid: u32) {
        for thread in threads(pid) {
            let children = fs::read_to_string(format!("/proc/{pid}/task/{thread}/children"));
            for child in children.unwrap_or_default().split_whitespace().filter_map(|pid| pid.parse().ok()) {
                // Until exec, a child process has the memory of its parent.
                let command = fs::read_to_string(format!("/proc/{child}/cmdline")).unwrap_or_default();
                if command.contains("extract-worker") {
                    let peak = kib(child, "VmHWM:").unwrap_or_default();
                    self.worker_kib.set(self.worker_kib.get().max(peak));
                }
            }
        }
    }
}

fn threads(pid: u32) -> Vec<String> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task"));
    let name =
        |entry: std::io::Result<fs::DirEntry>| Some(entry.ok()?.file_name().to_string_lossy().into_owned());
    tasks.map(|tasks| tasks.filter_map(name).collect()).unwrap_or_default()
}

/// Reads a memory figure of a process in KiB.
pub(super) fn kib(pid: u32, name: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}

impl ProcessUsage {
    pub(super) fn cpu(&self) -> Duration {
        self.server + self.workers
    }

    /// CPU time of the extraction workers.
    pub(super) fn workers(&self) -> Duration {
        self.workers
    }

    /// Peak memory of the server.
    pub(super) fn peak_mib(&self) -> f64 {
        self.peak_kib as f64 / 1024.0
    }

    pub(super) fn print(&self, pages: u64) {
        let seconds = |time: Duration| time.as_secs_f64();
        println!(
            "  CPU {:.2} s, {:.2} ms per page",
            seconds(self.cpu()),
            seconds(self.cpu()) * 1e3 / pages.max(1) as f64
        );
        println!("    {:6.2} s extraction (worker processes)", seconds(self.workers));
        for (work, time) in &self.by_work {
            println!("    {:6.2} s {work}", seconds(*time));
        }
        self.print_memory();
    }

    pub(super) fn print_memory(&self) {
        let mib = |kib: u64| kib as f64 / 1024.0;
        println!(
            "  peak memory: server {:.0} MiB, extraction worker {:.0} MiB",
            mib(self.peak_kib),
            mib(self.worker_kib)
        );
    }
}
