//! `docent openapi`.

/// Prints the OpenAPI document.
pub(crate) fn run() -> anyhow::Result<()> {
    print!("{}", docent_server::openapi::json()?);
    Ok(())
}
