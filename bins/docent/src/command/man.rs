//! `docent man`.

use crate::output;
use anyhow::Context;
use clap_mangen::Man;
use docent::cli::{ManArgs, visible};

/// Prints the manual page of the program, or writes the pages of all commands to a directory.
pub(crate) fn run(args: &ManArgs) -> anyhow::Result<()> {
    let Some(folder) = &args.out else {
        let mut page = Vec::new();
        Man::new(visible()).render(&mut page)?;
        output::print_text(&String::from_utf8(page)?)?;
        return Ok(());
    };
    std::fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
    clap_mangen::generate_to(visible(), folder).with_context(|| format!("writing to {}", folder.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Command;
    use std::collections::BTreeSet;

    fn add_page_names(command: &Command, name: String, into: &mut BTreeSet<String>) {
        for below in command.get_subcommands() {
            add_page_names(below, format!("{name}-{}", below.get_name()), into);
        }
        into.insert(format!("{name}.1"));
    }

    #[test]
    fn each_command_has_a_manual_page() {
        let folder = tempfile::tempdir().unwrap();
        run(&ManArgs { out: Some(folder.path().join("man")) }).unwrap();
        let files = std::fs::read_dir(folder.path().join("man")).unwrap();
        let written: BTreeSet<String> =
            files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        let mut expected = BTreeSet::new();
        add_page_names(&visible(), "docent".to_owned(), &mut expected);
        assert_eq!(written, expected);
        assert!(expected.contains("docent-documents-list.1") && !expected.contains("docent-help.1"));
        for name in written {
            let page = std::fs::read_to_string(folder.path().join("man").join(&name)).unwrap();
            let title = name.trim_end_matches(".1").replace('-', r"\-");
            assert!(page.contains(".TH ") && page.contains(&title), "{name}: {page}");
        }
    }
}
