//! Attacks on a running service, bounded in time and number.
//!
//! `cargo xtask load ATTACK` starts `docent serve` with the built-in stores and prints its memory and the latency of
//! ordinary requests, without the attack and with it. `--program` measures another build.

mod attack;
mod collections;
mod installation;
mod logins;
mod oauth;
mod page_images;
mod quota;
mod reads;
mod sampler;

use anyhow::{Result, ensure};
use attack::Bounds;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Attack the service, and measure its memory and the latency of ordinary requests with and without the attack.
#[derive(clap::Args)]
pub(crate) struct Load {
    /// The attack.
    attack: Attack,
    /// Program under attack, instead of a release build of this source tree.
    #[arg(long, value_name = "PROGRAM")]
    program: Option<PathBuf>,
    /// Concurrent attackers, instead of the number that the attack is defined with.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=5_000))]
    clients: Option<u32>,
    /// Maximum duration of one attack in seconds.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=120))]
    seconds: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Attack {
    /// 1,000 clients send slow chunked bodies to `/auth/token`.
    SlowBodies,
    /// 16 clients send lists of two million wrong items.
    ErrorLists,
    /// 64 clients call `/health/ready`.
    Ready,
    /// 40 callers of each read whose size depends on stored data.
    Reads,
    /// 64 clients guess passwords, while the owner of an account signs in from the same address.
    Logins,
    /// 40 clients of one account have hostile pages drawn in many widths, while another one reads its own document.
    PageImages,
    /// An account asks, uploads and has pages drawn as fast as it can, while another one asks.
    Quota,
    /// 64 clients register OAuth clients, and guess codes and refresh tokens.
    Oauth,
    /// An account opens collections to all; another one is measured before and after a superuser opened many.
    Collections,
}

impl Load {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let clients = self.clients.unwrap_or(match self.attack {
            Attack::SlowBodies => 1_000,
            Attack::ErrorLists => 16,
            Attack::Ready | Attack::Logins | Attack::Oauth => 64,
            Attack::Reads | Attack::PageImages => 40,
            Attack::Quota => 200,
            Attack::Collections => 4,
        });
        // Child processes inherit the limit.
        let (_, most) = getrlimit(Resource::RLIMIT_NOFILE)?;
        let wanted = u64::from(clients) * 2 + 500;
        ensure!(most >= wanted, "{wanted} open files are needed, but only {most} are allowed");
        setrlimit(Resource::RLIMIT_NOFILE, wanted, most)?;
        let bounds = Bounds { clients, duration: Duration::from_secs(self.seconds.into()) };
        let (attack, program) = (self.attack, self.program);
        let program = match program {
            Some(program) => program,
            None => crate::cargo::build(&crate::root()?, &["--release", "--package", "docent"])?,
        };
        let folder = tempfile::tempdir()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let run = start(attack, &program, folder.path(), bounds);
        tokio::task::LocalSet::new().block_on(&runtime, run)?;
        Ok(ExitCode::SUCCESS)
    }
}

async fn start(attack: Attack, program: &Path, folder: &Path, bounds: Bounds) -> Result<()> {
    match attack {
        Attack::SlowBodies => attack::slow_bodies(program, folder, bounds).await,
        Attack::ErrorLists => attack::error_lists(program, folder, bounds).await,
        Attack::Ready => attack::ready(program, folder, bounds).await,
        Attack::Reads => reads::run(program, folder, bounds).await,
        Attack::Logins => logins::run(program, folder, bounds).await,
        Attack::PageImages => page_images::run(program, folder, bounds).await,
        Attack::Quota => quota::run(program, folder, bounds).await,
        Attack::Oauth => oauth::run(program, folder, bounds).await,
        Attack::Collections => collections::run(program, folder, bounds).await,
    }
}
