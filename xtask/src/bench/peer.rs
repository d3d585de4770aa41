//! Other servers of the load benchmarks. Each is a separate process of this program, so that its CPU time can be measured
//! separately.

use crate::qdrant::Fake;
use actix_web::{App, HttpResponse, HttpServer, web};
use clap::Subcommand;
use docent_testkit::wire::FakeLlm;
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::ExitCode;
use std::time::Duration;

#[derive(Subcommand)]
pub(crate) enum Role {
    /// An empty HTTP handler.
    Bare {
        /// Size of the body in bytes.
        body: usize,
        /// Size of a filler header in bytes; 0 for none.
        filler: usize,
    },
    /// The fake LLM of the tests, with a pause after each token.
    Llm {
        tokens: usize,
        /// Milliseconds after each token.
        pace: u64,
    },
    /// The Qdrant fake of the adapter tests.
    Qdrant,
}

impl Role {
    pub(super) fn arguments(&self) -> Vec<String> {
        match self {
            Self::Bare { body, filler } => vec!["bare".into(), body.to_string(), filler.to_string()],
            Self::Llm { tokens, pace } => vec!["llm".into(), tokens.to_string(), pace.to_string()],
            Self::Qdrant => vec!["qdrant".into()],
        }
    }

    /// Serves until killed.
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        match self {
            Self::Bare { body, filler } => runtime.block_on(bare(body, filler))?,
            Self::Llm { tokens, pace } => runtime.block_on(llm(tokens, Duration::from_millis(pace)))?,
            Self::Qdrant => runtime.block_on(vector_store())?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn announce(address: SocketAddr) -> std::io::Result<()> {
    println!("{address}");
    std::io::stdout().flush()
}

async fn bare(body: usize, filler: usize) -> anyhow::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    announce(listener.local_addr()?)?;
    let (body, filler) = (web::Bytes::from("x".repeat(body)), "x".repeat(filler));
    // One worker per core, like docent.
    let server = HttpServer::new(move || {
        let (body, filler) = (body.clone(), filler.clone());
        let answer = move || {
            let mut response = HttpResponse::Ok();
            if !filler.is_empty() {
                response.insert_header(("x-filler", filler.as_str()));
            }
            let response = response.content_type("application/json").body(body.clone());
            async move { response }
        };
        App::new().route("/documents/{id}", web::get().to(answer))
    });
    Ok(server.listen(listener)?.run().await?)
}

async fn vector_store() -> anyhow::Result<()> {
    let fake = Fake::start();
    announce(fake.url.trim_start_matches("http://").parse()?)?;
    std::future::pending().await
}

async fn llm(tokens: usize, pace: Duration) -> anyhow::Result<()> {
    let fake = FakeLlm::start().await;
    fake.configure(|model| {
        model.answer_tokens = Some(tokens);
        model.searches = false;
        model.pace = Some(pace);
    });
    announce(fake.address())?;
    std::future::pending().await
}
