//! Attacks with requests alone: slow bodies, lists of errors, health checks.

use super::installation::{Statuses, Target, all, closing, closing_json, exchange};
use anyhow::Result;
use std::cell::Cell;
use std::net::SocketAddr;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::spawn_local;
use tokio::time::{Instant, sleep, timeout_at};

/// The limits of an attack.
#[derive(Clone, Copy)]
pub(super) struct Bounds {
    pub(super) clients: u32,
    pub(super) duration: Duration,
}

/// How long an attacker waits before it connects again.
const RECONNECT: Duration = Duration::from_millis(200);
/// The interval and the size of the chunks of slow bodies.
const CHUNK_PAUSE: Duration = Duration::from_millis(250);
const CHUNK: usize = 32 << 10;

pub(super) async fn slow_bodies(program: &Path, folder: &Path, bounds: Bounds) -> Result<()> {
    let target = Target::new(program, folder, &[]).await?;
    let quiet = target.quiet().await?;
    let (statuses, end) = (Statuses::default(), Instant::now() + bounds.duration);
    let address = target.peer.address;
    let clients = (0..bounds.clients).map(|_| {
        let statuses = statuses.clone();
        spawn_local(async move {
            let attack = async {
                loop {
                    statuses.add(slow_body(address).await.unwrap_or(0));
                    sleep(RECONNECT).await;
                }
            };
            let _ = timeout_at(end, attack).await;
        })
    });
    let sample = target.measure(bounds.duration, all(clients.collect())).await?;
    let name = format!("{} slow bodies", bounds.clients);
    sample.print(&name, &quiet, &statuses.print());
    Ok(())
}

/// Sends a body of 4 MiB in chunks until the service answers; returns the status.
async fn slow_body(address: SocketAddr) -> Result<u16> {
    let mut stream = TcpStream::connect(address).await?;
    let head = "POST /auth/token HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).await?;
    let chunk = [format!("{CHUNK:x}\r\n").into_bytes(), vec![b' '; CHUNK], b"\r\n".to_vec()].concat();
    let (mut reader, mut writer) = stream.split();
    let write = async {
        for _ in 0..(4 << 20) / CHUNK {
            writer.write_all(&chunk).await?;
            sleep(CHUNK_PAUSE).await;
        }
        std::future::pending::<Result<()>>().await
    };
    let mut answer = vec![0; 1024];
    let read = tokio::select! {
        read = reader.read(&mut answer) => read?,
        failed = write => { failed?; 0 }
    };
    let status =
        String::from_utf8_lossy(&answer[..read]).split(' ').nth(1).and_then(|text| text.parse().ok());
    Ok(status.unwrap_or(0))
}

pub(super) async fn error_lists(program: &Path, folder: &Path, bounds: Bounds) -> Result<()> {
    let target = Target::new(program, folder, &[]).await?;
    let quiet = target.quiet().await?;
    // Almost 4 MiB.
    let list = format!("{{\"messages\":[{}0]}}", "0,".repeat((2 << 20) - 64));
    let request = Rc::new(closing_json("POST", "/agents/chat", &target.token, &list));
    let (statuses, largest) = (Statuses::default(), Rc::new(Cell::new(0)));
    let (end, address) = (Instant::now() + bounds.duration, target.peer.address);
    let clients = (0..bounds.clients).map(|_| {
        let (statuses, largest, request) = (statuses.clone(), Rc::clone(&largest), Rc::clone(&request));
        spawn_local(async move {
            let attack = async {
                loop {
                    match exchange(address, &request).await {
                        Ok(response) => {
                            statuses.add(response.status);
                            largest.set(largest.get().max(response.bytes));
                        }
                        Err(_) => sleep(RECONNECT).await,
                    }
                }
            };
            let _ = timeout_at(end, attack).await;
        })
    });
    let sample = target.measure(bounds.duration, all(clients.collect())).await?;
    let details = format!("{}; largest response {} bytes", statuses.print(), largest.get());
    sample.print(&format!("{} senders of error lists", bounds.clients), &quiet, &details);
    Ok(())
}

pub(super) async fn ready(program: &Path, folder: &Path, bounds: Bounds) -> Result<()> {
    let target = Target::new(program, folder, &[]).await?;
    let quiet = target.quiet().await?;
    let cpu = target.peer.cpu()?;
    let (statuses, end, address) =
        (Statuses::default(), Instant::now() + bounds.duration, target.peer.address);
    let clients = (0..bounds.clients).map(|_| {
        let statuses = statuses.clone();
        spawn_local(async move {
            let request = closing("GET", "/health/ready", "", "");
            let attack = async {
                loop {
                    match exchange(address, &request).await {
                        Ok(response) => statuses.add(response.status),
                        Err(_) => sleep(RECONNECT).await,
                    }
                }
            };
            let _ = timeout_at(end, attack).await;
        })
    });
    let sample = target.measure(bounds.duration, all(clients.collect())).await?;
    let cpu = target.peer.cpu()?.saturating_sub(cpu);
    let details = format!("{}; {:.1} s of CPU", statuses.print(), cpu.as_secs_f64());
    sample.print(&format!("{} callers of /health/ready", bounds.clients), &quiet, &details);
    Ok(())
}
