//! `docent completions`.

use crate::output;
use docent::cli::{CompletionsArgs, visible};

/// Prints the completions of a shell.
pub(crate) fn run(args: CompletionsArgs) -> anyhow::Result<()> {
    // The generators panic when they cannot write, and memory takes all that they do.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut visible(), "docent", &mut script);
    output::piece(&String::from_utf8(script)?)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum;
    use clap_complete::Shell;

    #[test]
    fn each_shell_completes_each_command_and_not_the_one_for_the_server_alone() {
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
