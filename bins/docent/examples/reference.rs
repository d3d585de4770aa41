//! Prints the generated pages of the documentation; `cargo xtask gen` writes them to their files.
#![expect(clippy::print_stdout, reason = "printing is what it is for")]

fn main() -> anyhow::Result<()> {
    match std::env::args().nth(1).as_deref() {
        Some("configuration") => print!("{}", docent::config::reference()),
        Some("environment") => print!("{}", docent::config::environment_example()),
        Some("cli") => print!("{}", docent::cli::reference()),
        Some("openapi") => print!("{}", docent_server::openapi::json()?),
        _ => anyhow::bail!("name a page: configuration, environment, cli or openapi"),
    }
    Ok(())
}
