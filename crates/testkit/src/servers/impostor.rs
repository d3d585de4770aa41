//! Something that listens where a server should be.

use docent_domain::fault::{Component, Fault, FaultKind};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// What an impostor does with each connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// Resets it once something was said.
    Resets,
    /// Closes it once something was said.
    Closes,
    /// Answers with bytes of no protocol, and closes it.
    Babbles,
    /// Takes what is said and never answers.
    IsSilent,
}

impl Manner {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Resets, Self::Closes, Self::Babbles, Self::IsSilent];
}

/// A listener that is no server. Dropping it closes its connections.
#[derive(Debug)]
pub struct Impostor {
    address: SocketAddr,
    listener: JoinHandle<()>,
}

impl Impostor {
    /// Listens on a free port.
    pub async fn start(manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let listener = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((socket, _)) = listener.accept().await {
                connections.spawn(treat(socket, manner));
            }
        });
        Self { address, listener }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Impostor {
    fn drop(&mut self) {
        self.listener.abort();
    }
}

/// Longest time of a call that respects its timeout, also on a busy machine.
const MAX_CALL: Duration = Duration::from_secs(60);

/// Calls a client of each impostor and checks that it returns a transient fault of `component`.
///
/// # Panics
/// If a call hangs, succeeds or returns another fault.
pub async fn check_impostor_faults(component: Component, call: impl AsyncFn(SocketAddr) -> Option<Fault>) {
    for manner in Manner::ALL {
        let impostor = Impostor::start(manner).await;
        let fault = tokio::time::timeout(MAX_CALL, call(impostor.address())).await;
        let fault = fault.unwrap_or_else(|_| panic!("{manner:?}: the call hangs"));
        let fault = fault.unwrap_or_else(|| panic!("{manner:?}: the call succeeded"));
        assert_eq!(fault.component(), component, "{manner:?}: {fault}");
        assert!(fault.is_transient(), "{manner:?}: {:?}: {fault}", fault.kind());
        if manner == Manner::IsSilent {
            assert_eq!(fault.kind(), FaultKind::Timeout, "{fault}");
        }
    }
}

async fn treat(mut socket: TcpStream, manner: Manner) {
    let mut heard = [0; 1024];
    // A client that says nothing is gone; there is nothing to answer.
    let _ = socket.read(&mut heard).await;
    match manner {
        Manner::Resets => {
            let _ = socket.set_zero_linger();
        }
        Manner::Closes => {}
        Manner::Babbles => {
            let _ = socket.write_all(&[0x21; 4096]).await;
        }
        Manner::IsSilent => loop {
            match socket.read(&mut heard).await {
                Ok(0) | Err(_) => return,
                // As slow as it is silent: nothing is gained by reading faster.
                Ok(_) => tokio::time::sleep(Duration::from_millis(1)).await,
            }
        },
    }
}
