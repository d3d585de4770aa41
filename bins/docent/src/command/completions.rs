//! `docent completions`.

use crate::output;
use docent::cli::{CompletionsArgs, visible};

/// Prints the completion script for a shell.
pub(crate) fn run(args: CompletionsArgs) -> anyhow::Result<()> {
    // The generators panic on write errors, so they write to memory.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut visible(), "docent", &mut script);
    output::print_text(&String::from_utf8(script)?)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum;
    use clap_complete::Shell;

    #[test]
    fn completions_list_visible_commands_for_each_shell() {
        for shell in Shell::value_variants() {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut visible(), "docent", &mut script);
            let script = String::from_utf8(script).unwrap();
            for command in visible().get_subcommands() {
                assert!(script.contains(command.get_name()), "{shell}: {}", command.get_name());
            }
            assert!(!script.contains("extract-worker"), "{shell}");
        }
    }
}
