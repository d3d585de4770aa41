//! Prints a generated page of the documentation. `cargo xtask gen` writes the pages to their files.
#![expect(clippy::print_stdout, reason = "its output is the page")]

fn main() -> anyhow::Result<()> {
    match std::env::args().nth(1).as_deref() {
        Some("configuration") => print!("{}", docent::config::reference()),
        Some("environment") => print!("{}", docent::config::environment_example()),
        Some("cli") => print!("{}", docent::cli::reference()),
        Some("openapi") => print!("{}", docent_server::openapi::json()?),
        _ => anyhow::bail!("expected a page: configuration, environment, cli or openapi"),
    }
    Ok(())
}
