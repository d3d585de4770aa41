//! Metrics of the process.

use chrono::{DateTime, Utc};
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use std::sync::atomic::AtomicU64;

#[derive(Debug)]
pub(super) struct Process {
    /// `None` if the system does not report it.
    memory: Option<Gauge>,
}

impl Process {
    pub(super) fn register(registry: &mut Registry, started: DateTime<Utc>) -> Self {
        let start = Gauge::<f64, AtomicU64>::default();
        // A double represents microseconds since 1970 exactly for centuries.
        start.set(started.timestamp_micros() as f64 / 1e6);
        registry.register("process_start_time_seconds", "Start time in seconds since 1970", start);
        let memory = resident_bytes().map(|_| Gauge::default());
        if let Some(memory) = &memory {
            registry.register("process_resident_memory_bytes", "Resident memory in bytes", memory.clone());
        }
        Self { memory }
    }

    pub(super) fn refresh(&self) {
        if let (Some(memory), Some(bytes)) = (&self.memory, resident_bytes()) {
            memory.set(bytes);
        }
    }
}

/// Reads the resident memory from `/proc`, which never blocks on a disk.
fn resident_bytes() -> Option<i64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: i64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}
