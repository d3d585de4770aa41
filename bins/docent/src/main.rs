//! The `docent` program.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line program prints")]

mod client;
mod command;
mod heap;
mod invocation;
mod output;
mod progress;
mod telemetry;
mod wire;

use clap::{CommandFactory, FromArgMatches};
use docent::cli::{ApiKeysCommand, AuditCommand, Cli, Command, LlmCommand, UsersCommand};
use docent::config::{Environment, LogFormat};
use docent_app::accounts::create::Flags;
use output::OutputError;
use std::process::ExitCode;
use tracing::Level;

/// Exit code of a failed command that has no exit codes of its own.
const FAILURE: u8 = 1;

fn main() -> ExitCode {
    // Errors and help, which are printed while the arguments are parsed, have the colours that the arguments ask for.
    let arguments = Cli::command().color(output::requested_color(std::env::args_os()));
    let cli = Cli::from_arg_matches(&arguments.get_matches()).unwrap_or_else(|error| error.exit());
    output::set_color(cli.color);
    let Some(command) = cli.command else {
        return match output::print_text(&(invocation::first_steps() + "\n")) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => fail(&error.into(), FAILURE),
        };
    };
    // The worker sets its resource limits before any thread is started.
    if matches!(command, Command::ExtractWorker) {
        return docent_extraction::worker_main();
    }
    if let Err(error) = docent_services::system::deny_inspection() {
        return fail(&anyhow::Error::from(error).context("protecting the memory of this process"), FAILURE);
    }
    if matches!(command, Command::Dev(_) | Command::Serve(_) | Command::Worker) {
        heap::bound();
    }
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return fail(&error.into(), FAILURE),
    };
    match runtime.block_on(run(command)) {
        Ok(code) => code,
        Err(error) => fail(&error, FAILURE),
    }
}

async fn run(command: Command) -> anyhow::Result<ExitCode> {
    let result = match command {
        Command::Doctor(args) => return Ok(command::doctor::run(args).await),
        Command::Llm(LlmCommand::Check(args)) => return Ok(command::llm::check(args).await),
        Command::Reindex(args) => return Ok(command::reindex::run(args).await),
        Command::Ingest(args) => return Ok(command::ingest::run(args).await),
        Command::Sync(args) => return Ok(command::sync::run(&args).await),
        Command::Ask(args) => return Ok(command::ask::run(&args).await),
        Command::Documents(command) => return command::documents::run(&command).await,
        Command::Collections(command) => command::collections::run(&command).await,
        Command::Dev(args) => command::dev::run(args).await,
        Command::Serve(args) => command::serve::run(args).await,
        Command::Worker => command::worker::run().await,
        Command::Migrate(args) => command::migrate::run(args).await,
        Command::Createsuperuser(args) => {
            let flags = Flags { is_staff: true, is_superuser: true };
            command::accounts::create(&args, flags).await
        }
        Command::Users(UsersCommand::Create(args)) => {
            let flags = Flags { is_staff: args.staff, is_superuser: false };
            command::accounts::create(&args.account, flags).await
        }
        Command::Changepassword(args) => command::accounts::change_password(&args).await,
        Command::Users(UsersCommand::Invite(args)) => command::invite::run(&args).await,
        Command::Users(UsersCommand::List(args)) => command::accounts::list(&args).await,
        Command::Users(UsersCommand::Deactivate(args)) => command::accounts::set_active(&args, false).await,
        Command::Users(UsersCommand::ResetSecondFactor(args)) => {
            command::accounts::reset_second_factor(&args).await
        }
        Command::Users(UsersCommand::Activate(args)) => command::accounts::set_active(&args, true).await,
        Command::Apikeys(ApiKeysCommand::Create(args)) => command::api_keys::create(&args).await,
        Command::Apikeys(ApiKeysCommand::List(args)) => command::api_keys::list(&args).await,
        Command::Apikeys(ApiKeysCommand::Revoke(args)) => command::api_keys::revoke(&args).await,
        Command::Audit(AuditCommand::Prune(args)) => command::audit::prune(&args).await,
        Command::Login(args) => command::login::log_in(&args).await,
        Command::Logout(args) => command::login::log_out(&args).await,
        Command::Mcp(args) => command::mcp::run(&args).await,
        Command::Search(args) => command::search::run(&args).await,
        Command::Eval(args) => command::eval::run(&args).await,
        Command::Healthcheck(args) => command::healthcheck::run(args).await,
        Command::Backup(args) => command::backup::run(args).await,
        Command::Restore(args) => command::restore::run(args).await,
        Command::Config(args) => command::config::run(args),
        Command::Openapi => command::openapi::run(),
        Command::CompleteValues(args) => command::complete_values::run(&args).await,
        Command::Completions(args) => command::completions::run(args),
        Command::Man(args) => command::man::run(&args),
        Command::ExtractWorker => unreachable!("handled in main"),
    };
    result.map(|()| ExitCode::SUCCESS)
}

/// Prints an error and returns the exit code.
///
/// A closed standard output is not a failure: the reader has seen enough.
fn fail(error: &anyhow::Error, code: u8) -> ExitCode {
    if error.downcast_ref::<OutputError>().is_some_and(OutputError::is_broken_pipe) {
        return ExitCode::SUCCESS;
    }
    let format = LogFormat::from_environment(&Environment::of_process());
    telemetry::report(format, Level::ERROR, &format!("{error:#}"));
    ExitCode::from(code)
}
