//! Looks at the service's process from outside while it works.

use super::super::service::{Peer, in_time};
use anyhow::{Context, Result};
use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    fs,
    rc::Rc,
    time::Duration,
};
use tokio::task::JoinHandle;

/// Workers live for some tenths of a second.
const LOOK_EVERY: Duration = Duration::from_millis(40);
/// Looks at the children for one at the threads.
const THREADS_EVERY: u32 = 5;

/// What the threads of the service do, by the beginning of their names.
const DUTIES: [(&str, &str); 8] = [
    ("tokio-rt", "chunking, tokens, embedding, packing, jobs"),
    ("docent-index", "indexing"),
    ("thrd-tantivy", "indexing"),
    ("docstore", "indexing"),
    ("merge_thread", "indexing"),
    ("segment_upd", "indexing"),
    ("sqlx-sqlite", "database"),
    ("actix", "HTTP: uploads, hashing, answers"),
];

/// A look that goes on until it is stopped.
pub(super) struct Watch {
    task: JoinHandle<()>,
    seen: Rc<State>,
    before: (Duration, Duration),
}

#[derive(Default)]
struct State {
    /// The name and the ticks of each thread when it was last seen.
    threads: RefCell<HashMap<String, (String, u64)>>,
    worker_kib: Cell<u64>,
}

/// What was seen.
pub(super) struct Seen {
    /// Seconds of processor time of each duty.
    duties: Vec<(&'static str, Duration)>,
    pub(super) server: Duration,
    pub(super) workers: Duration,
    peak_kib: u64,
    worker_kib: u64,
}

impl Watch {
    pub(super) fn start(peer: &Peer) -> Result<Self> {
        let seen = Rc::new(State::default());
        let (state, pid) = (Rc::clone(&seen), peer.pid());
        let task = tokio::task::spawn_local(async move {
            for look in 0_u32.. {
                state.look_at_workers(pid);
                if look % THREADS_EVERY == 0 {
                    state.look_at_threads(pid);
                }
                tokio::time::sleep(LOOK_EVERY).await;
            }
        });
        Ok(Self { task, seen, before: peer.times()? })
    }

    pub(super) async fn stop(self, peer: &Peer) -> Result<Seen> {
        self.task.abort();
        self.seen.look_at_threads(peer.pid());
        let (server, workers) = peer.times()?;
        let mut duties: Vec<(&'static str, Duration)> = Vec::new();
        for (name, ticks) in self.seen.threads.borrow().values() {
            let duty = DUTIES.iter().find(|(beginning, _)| name.starts_with(beginning));
            let (duty, time) = (duty.map_or("other threads", |(_, duty)| duty), in_time(*ticks));
            match duties.iter_mut().find(|(known, _)| *known == duty) {
                Some((_, sum)) => *sum += time,
                None => duties.push((duty, time)),
            }
        }
        duties.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
        Ok(Seen {
            duties,
            server: server.saturating_sub(self.before.0),
            workers: workers.saturating_sub(self.before.1),
            peak_kib: kib(peer.pid(), "VmHWM:").context("the most memory of a process")?,
            worker_kib: self.seen.worker_kib.get(),
        })
    }
}

impl State {
    fn look_at_threads(&self, pid: u32) {
        for thread in threads(pid) {
            let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/task/{thread}/stat")) else { continue };
            let parts = stat.split_once('(').and_then(|(_, rest)| rest.rsplit_once(") "));
            let Some((name, fields)) = parts else { continue };
            let ticks =
                fields.split(' ').skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
            self.threads.borrow_mut().insert(thread, (name.to_owned(), ticks));
        }
    }

    fn look_at_workers(&self, pid: u32) {
        for thread in threads(pid) {
            let children = fs::read_to_string(format!("/proc/{pid}/task/{thread}/children"));
            for child in children.unwrap_or_default().split_whitespace().filter_map(|pid| pid.parse().ok()) {
                // Until it has become the worker, a child has its parent's memory.
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

/// A figure of a process in KiB.
pub(super) fn kib(pid: u32, name: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}

impl Seen {
    pub(super) fn cpu(&self) -> Duration {
        self.server + self.workers
    }

    pub(super) fn print(&self, pages: u64) {
        let seconds = |time: Duration| time.as_secs_f64();
        println!(
            "  CPU {:.2} s, {:.2} ms for a page",
            seconds(self.cpu()),
            seconds(self.cpu()) * 1e3 / pages.max(1) as f64
        );
        println!("    {:6.2} s extraction (worker processes)", seconds(self.workers));
        for (duty, time) in &self.duties {
            println!("    {:6.2} s {duty}", seconds(*time));
        }
        self.print_memory();
    }

    pub(super) fn print_memory(&self) {
        let mib = |kib: u64| kib as f64 / 1024.0;
        println!(
            "  memory at most: server {:.0} MiB, an extraction worker {:.0} MiB",
            mib(self.peak_kib),
            mib(self.worker_kib)
        );
    }
}
