//! Shell scripts that take a program's place.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// Makes the file `program`, a shell script with the commands of `body` that can be run at once.
///
/// `cp` writes it: while this process has a file open for writing, a child that another thread forks has it open too,
/// and until that child runs its own program, the kernel refuses to run the file ("Text file busy").
///
/// # Panics
///
/// When the file cannot be written.
pub fn script(program: &Path, body: &str) {
    let text = program.with_extension("txt");
    fs::write(&text, format!("#!/bin/sh\n{body}")).unwrap();
    let copied = Command::new("cp").arg(&text).arg(program).status().unwrap();
    assert!(copied.success(), "cp {} {}: {copied}", text.display(), program.display());
    fs::set_permissions(program, Permissions::from_mode(0o755)).unwrap();
}
