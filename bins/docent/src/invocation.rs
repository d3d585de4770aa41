//! How this program was started, so that messages name commands that work in the same terminal.

use docent::cli::DEFAULT_SERVER;
use docent::config::{Environment, Profile, Settings};
use std::ffi::{OsStr, OsString};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// A command of this program as it is typed here, such as `cargo run -- login`.
pub(crate) fn command(arguments: &str) -> String {
    let started_by_cargo = std::env::var_os("CARGO_PKG_NAME").is_some_and(|name| name == "docent");
    format!("{} {arguments}", program(std::env::args_os().next(), started_by_cargo))
}

/// The words that start this program: `cargo run --`, or its name or path as it was typed.
fn program(typed: Option<OsString>, started_by_cargo: bool) -> String {
    if started_by_cargo {
        return "cargo run --".to_owned();
    }
    let typed =
        typed.as_deref().and_then(OsStr::to_str).filter(|typed| !typed.is_empty()).unwrap_or("docent");
    let is_plain = |c: char| c.is_alphanumeric() || "/._+-~".contains(c);
    match typed.chars().all(is_plain) {
        true => typed.to_owned(),
        false => quote(typed),
    }
}

/// A text as one word of a shell.
pub(crate) fn quote(text: &str) -> String {
    let text: String = text.chars().filter(|c| !c.is_control()).collect();
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// The option with which client commands find the service at this address, after a space; empty if they find it without.
pub(crate) fn server_option(address: SocketAddr) -> String {
    option(address, std::env::var_os("DOCENT_SERVER"))
}

fn option(address: SocketAddr, server: Option<OsString>) -> String {
    let url = format!("http://{}", local_address(address));
    let found = server.filter(|server| !server.is_empty()).unwrap_or_else(|| DEFAULT_SERVER.into());
    if url == DEFAULT_SERVER && found == *url { String::new() } else { format!(" --server {url}") }
}

/// The address at which a server with this bind address is reached from this machine.
pub(crate) fn local_address(bind_address: SocketAddr) -> SocketAddr {
    let ip = match bind_address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, bind_address.port())
}

/// The first steps, which the program prints when it is started without a command.
pub(crate) fn first_steps() -> String {
    let settings = Settings::load(Profile::Dev, &Environment::of_process());
    // A port of 0 is chosen at the start.
    let address = settings.ok().map(|loaded| loaded.settings.http.bind_address).filter(|at| at.port() != 0);
    let server = address.map(server_option).unwrap_or_default();
    format!(
        "Docent answers questions about your documents, with page references.\n\
         \n\
         First steps:\n\
         \n\
         1. Start the service. The first start creates an account and prints its password.\n\
         \n     {}\n\
         \n\
         2. In another terminal, sign in and upload a PDF.\n\
         \n     {}\n     {}\n\
         \n\
         3. Ask a question about it, here or in the web chat, whose address step 1 prints.\n\
         \n     {}\n\
         \n\
         All commands: {}",
        command("dev"),
        command(&format!("login{server} admin@localhost")),
        command(&format!("ingest --wait{server} YOUR.pdf")),
        command(&format!("ask{server} \"YOUR QUESTION\"")),
        command("--help"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn program_is_named_as_it_was_typed() {
        let named = |typed: &str| program(Some(typed.into()), false);
        assert_eq!(named("docent"), "docent");
        assert_eq!(named("./target/debug/docent"), "./target/debug/docent");
        assert_eq!(named("/opt/my tools/it's/docent"), r"'/opt/my tools/it'\''s/docent'");
        assert_eq!(program(Some("target/debug/docent".into()), true), "cargo run --");
        assert_eq!((named("").as_str(), program(None, false).as_str()), ("docent", "docent"));
    }

    #[test]
    fn server_is_named_unless_it_is_found_without() {
        let option = |address: &str, server: Option<&str>| {
            option(address.parse().unwrap(), server.map(OsString::from))
        };
        assert_eq!(option("127.0.0.1:8000", None), "");
        assert_eq!(option("0.0.0.0:8000", Some("")), "");
        assert_eq!(option("127.0.0.1:9000", None), " --server http://127.0.0.1:9000");
        assert_eq!(option("[::]:8000", None), " --server http://[::1]:8000");
        let other = Some("https://docent.example.org");
        assert_eq!(option("127.0.0.1:8000", other), " --server http://127.0.0.1:8000");
    }

    #[test]
    fn unspecified_bind_address_is_reached_on_loopback() {
        let reached = |text: &str| local_address(text.parse().unwrap()).to_string();
        assert_eq!(reached("0.0.0.0:8000"), "127.0.0.1:8000");
        assert_eq!(reached("[::]:8000"), "[::1]:8000");
        assert_eq!(reached("10.1.2.3:80"), "10.1.2.3:80");
    }
}
