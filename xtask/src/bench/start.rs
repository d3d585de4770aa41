//! Start-up time of the program, and its memory when idle.
#![allow(clippy::disallowed_methods, reason = "blocking waits for another process, without async code")]

use super::Programs;
use anyhow::{Context, bail, ensure};
use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// Timeout of a start.
const START_TIMEOUT: Duration = Duration::from_secs(120);
/// Time after a start until background work has finished.
const IDLE: Duration = Duration::from_secs(2);

/// Measures starts with an existing data directory.
pub(crate) fn run(programs: Programs, runs: usize) -> anyhow::Result<ExitCode> {
    for program in programs.paths()? {
        println!("{}:", program.display());
        medians(&program, runs)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Measures starts of a program and prints them. Returns the medians of the time in milliseconds and of the idle memory in MiB.
pub(crate) fn medians(program: &Path, runs: usize) -> anyhow::Result<(f64, f64)> {
    let folder = std::env::temp_dir().join(format!("docent-bench-start-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let measured = measure(program, &folder, runs);
    fs::remove_dir_all(&folder)?;
    let (mut starts, mut idle) = measured?;
    starts.sort_unstable();
    idle.sort_unstable();
    let ms = |time: Duration| time.as_secs_f64() * 1000.0;
    let mib = |kib: u64| kib as f64 / 1024.0;
    println!("`docent dev` with an existing data directory, release build, {runs} runs");
    println!("                          min   median      max");
    println!(
        "start to first 200   {:8.0} {:8.0} {:8.0}   ms",
        ms(starts[0]),
        ms(starts[runs / 2]),
        ms(starts[runs - 1])
    );
    println!(
        "resident when idle   {:8.1} {:8.1} {:8.1}   MiB",
        mib(idle[0]),
        mib(idle[runs / 2]),
        mib(idle[runs - 1])
    );
    Ok((ms(starts[runs / 2]), mib(idle[runs / 2])))
}

fn measure(program: &Path, folder: &Path, runs: usize) -> anyhow::Result<(Vec<Duration>, Vec<u64>)> {
    // The first run creates the data directory and ingests the sample.
    let (first, _) = start(program, folder)?;
    std::thread::sleep(IDLE);
    stop(first)?;
    let (mut starts, mut idle) = (Vec::new(), Vec::new());
    for _ in 0..runs {
        let (child, time) = start(program, folder)?;
        starts.push(time);
        std::thread::sleep(IDLE);
        idle.push(resident_kib(child.id())?);
        stop(child)?;
    }
    Ok((starts, idle))
}

fn start(program: &Path, folder: &Path) -> anyhow::Result<(Child, Duration)> {
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
    let began = Instant::now();
    let mut child = Command::new(program)
        .arg("dev")
        .env("DOCENT_DATA_DIR", folder.join("data"))
        .env("DOCENT_BIND_ADDRESS", free.to_string())
        .stdout(Stdio::null())
        .spawn()
        .context("starting docent")?;
    while !is_live(free) {
        if let Some(status) = child.try_wait()? {
            bail!("docent ended: {status}");
        }
        ensure!(began.elapsed() < START_TIMEOUT, "docent did not answer in time");
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok((child, began.elapsed()))
}

fn is_live(address: SocketAddr) -> bool {
    let ask = || -> std::io::Result<bool> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        stream.write_all(b"GET /health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
        let mut status = [0; 12];
        stream.read_exact(&mut status)?;
        Ok(&status == b"HTTP/1.1 200")
    };
    ask().unwrap_or(false)
}

pub(super) fn resident_kib(pid: u32) -> anyhow::Result<u64> {
    let status =
        fs::read_to_string(format!("/proc/{pid}/status")).context("reading memory works on Linux only")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}

fn stop(mut child: Child) -> anyhow::Result<()> {
    child.kill()?;
    child.wait()?;
    Ok(())
}
