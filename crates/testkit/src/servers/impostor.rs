//! Something that listens where a server should be.

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
