//! `docent completions`.

use crate::output;
use clap_complete::Shell;
use docent::cli::{CompletionsArgs, visible};

/// The beginning of the completion function in the scripts for bash and zsh.
const FUNCTION: &str = "_docent() {\n";
/// What that function does first: it completes values that the service knows.
const VALUES_FIRST: &str = "    _docent_values && return 0\n";

/// Asks for values. bash splits words at `:` and `=` too, so the words are taken from the line.
const BASH: &str = r#"_docent_values() {
    local line=${COMP_LINE:0:COMP_POINT} words value description
    read -ra words <<<"$line"
    [[ $line == *[[:space:]] ]] && words+=("")
    COMPREPLY=()
    while IFS=$'\t' read -r value description; do
        COMPREPLY+=("$(printf %q "$value")")
    done < <("${words[0]}" complete-values -- "${words[@]:1}" 2>/dev/null)
    ((${#COMPREPLY[@]}))
}

"#;

const ZSH: &str = r#"_docent_values() {
    local -a values shown
    local value description
    while IFS=$'\t' read -r value description; do
        values+=("$value")
        shown+=("$value  $description")
    done < <("${(Q)words[1]}" complete-values -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)
    (( $#values )) || return 1
    compadd -U -l -d shown -a values
}

"#;

const FISH: &str = r#"
function __docent_values
    set -l words (commandline -opc)
    set -l program $words[1]
    set -e words[1]
    command $program complete-values -- $words (commandline -ct) 2>/dev/null
end
complete -c docent -n 'count (__docent_values) >/dev/null' -f -a '(__docent_values)'
for option in collection document add remove
    complete -c docent -n "test (commandline -opc)[-1] = --$option" -l $option -r -f -a '(__docent_values)'
end
"#;

/// Prints the completion script for a shell.
pub(crate) fn run(args: CompletionsArgs) -> anyhow::Result<()> {
    output::print_text(&script(args.shell)?)?;
    Ok(())
}

/// The script for a shell. clap's own dynamic completion is not stable yet, so its static script asks for values.
fn script(shell: Shell) -> anyhow::Result<String> {
    // The generators panic on write errors, so they write to memory.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut visible(), "docent", &mut script);
    let script = String::from_utf8(script)?;
    let with_values = |function| script.replacen(FUNCTION, &format!("{function}{FUNCTION}{VALUES_FIRST}"), 1);
    Ok(match shell {
        Shell::Bash => with_values(BASH),
        Shell::Zsh => with_values(ZSH),
        Shell::Fish => script + FISH,
        _ => script,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum;

    #[test]
    fn completions_list_visible_commands_for_each_shell() {
        for shell in Shell::value_variants() {
            let script = script(*shell).unwrap();
            for command in visible().get_subcommands() {
                assert!(script.contains(command.get_name()), "{shell}: {}", command.get_name());
            }
            assert!(!script.contains("extract-worker"), "{shell}");
            let asks = script.contains("complete-values --");
            assert_eq!(asks, matches!(shell, Shell::Bash | Shell::Zsh | Shell::Fish), "{shell}");
        }
    }

    #[test]
    fn completion_functions_ask_for_values_first() {
        for shell in [Shell::Bash, Shell::Zsh] {
            let script = script(shell).unwrap();
            assert_eq!(script.matches(&format!("\n{FUNCTION}{VALUES_FIRST}")).count(), 1, "{shell}");
        }
    }
}
