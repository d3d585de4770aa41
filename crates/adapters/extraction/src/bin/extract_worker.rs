//! The extraction worker as a separate binary for tests; the `docent` binary contains it as a hidden command.
//!
//! With arguments it attempts something in the worker's sandbox and exits with 0 if that succeeds and with 1 otherwise.

use docent_extraction::{sandbox, worker_main};
use std::fs::File;
use std::net::{TcpStream, UdpSocket};
use std::os::unix::net::UnixStream;
use std::process::{Command, ExitCode};
use std::{env, io, thread};

fn main() -> ExitCode {
    let mut arguments = env::args().skip(1);
    let (Some(action), Some(target)) = (arguments.next(), arguments.next()) else { return worker_main() };
    let is_confined = arguments.next().as_deref() != Some("unconfined");
    let result = match is_confined {
        true => sandbox::run_confined(move |_| attempt(&action, &target)),
        false => Ok(attempt(&action, &target)),
    };
    if matches!(result, Ok(Ok(()))) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn attempt(action: &str, target: &str) -> io::Result<()> {
    match action {
        "read" => File::open(target).map(drop),
        "write" => File::create(target).map(drop),
        "connect" => TcpStream::connect(target).map(drop),
        "send" => UdpSocket::bind(target).map(drop),
        "connect-unix" => UnixStream::connect(target).map(drop),
        "run" => Command::new(target).status().map(drop),
        "thread" => thread::Builder::new().spawn(|| ()).map(drop),
        _ => Err(io::Error::other("unknown action")),
    }
}
