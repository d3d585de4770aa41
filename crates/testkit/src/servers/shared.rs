//! Servers that the environment gives to all tests together, and what a test has of its own on them.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// The variable with the URL of a PostgreSQL server, whose account may create schemas.
const POSTGRES: &str = "DOCENT_TEST_POSTGRES_URL";
/// The variable with the URL of a Redis server.
const REDIS: &str = "DOCENT_TEST_REDIS_URL";
/// The variable with the URL of a bucket on a server with the protocol of S3.
const S3: &str = "DOCENT_TEST_S3_URL";

fn address(variable: &str) -> String {
    #[expect(clippy::disallowed_methods, reason = "tests have no other settings than these addresses")]
    let address = std::env::var(variable);
    address.unwrap_or_else(|_| panic!("{variable} must hold the URL of a server"))
}

/// The URL of the Redis server to test on.
///
/// # Panics
/// When the environment gives none.
pub fn redis_url() -> String {
    address(REDIS)
}

/// The URL of the bucket to test on.
///
/// # Panics
/// When the environment gives none.
pub fn s3_url() -> String {
    address(S3)
}

/// Returns a name that is unique on a server shared by tests.
///
/// # Panics
/// If the operating system has no random numbers.
pub fn unique_name() -> String {
    let mut unique = [0; 16];
    getrandom::fill(&mut unique).expect("random numbers");
    format!("docent_test_{:032x}", u128::from_le_bytes(unique))
}

/// An empty schema of a test's own on the PostgreSQL server, which goes with the test. It takes the place
/// of a database: making one of those takes thirty times as long.
///
/// It is made through `psql`, so that nothing here links a driver.
#[derive(Debug)]
pub struct OwnSchema {
    name: String,
    server: String,
}

impl OwnSchema {
    /// Makes one.
    ///
    /// # Panics
    /// When the environment gives no server, or the server refuses.
    pub fn create() -> Self {
        let (name, server) = (unique_name(), address(POSTGRES));
        let state = execute(&server, &format!("CREATE SCHEMA {name}"));
        assert_eq!(state, DONE, "the SQLSTATE of CREATE SCHEMA");
        Self { name, server }
    }

    /// The URL of a database that holds this schema alone, as far as its sessions can tell.
    pub fn url(&self) -> String {
        let Self { name, server } = self;
        let separator = if server.contains('?') { '&' } else { '?' };
        format!("{server}{separator}application_name={name}&options[search_path]={name}")
    }
}

impl Drop for OwnSchema {
    fn drop(&mut self) {
        let name = &self.name;
        // A transaction that was left open would hold the schema.
        let end_sessions = format!(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '{name}'"
        );
        for statement in [end_sessions, format!("DROP SCHEMA {name} CASCADE")] {
            let state = execute(&self.server, &statement);
            assert!(state == DONE || std::thread::panicking(), "the SQLSTATE is {state}: {statement}");
        }
    }
}

/// SQLSTATE of a successful statement.
const DONE: &str = "00000";

/// The one `psql` of this process.
static PSQL: Mutex<Option<Psql>> = Mutex::new(None);

/// Executes a statement on the server; returns its SQLSTATE. Other messages are printed to stderr.
fn execute(server: &str, statement: &str) -> String {
    let mut psql = PSQL.lock().unwrap_or_else(PoisonError::into_inner);
    psql.get_or_insert_with(|| Psql::start(server)).execute(statement)
}

struct Psql {
    _process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Psql {
    fn start(server: &str) -> Self {
        let mut process = Command::new("psql")
            .args(["--no-psqlrc", "--quiet", "--no-password", "--output=/dev/null", "--dbname", server])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("psql is installed");
        let input = process.stdin.take().expect("a pipe");
        let output = BufReader::new(process.stdout.take().expect("a pipe"));
        let mut psql = Self { _process: process, input, output };
        // Dropping a schema would name each of its tables, and sessions may end by themselves meanwhile.
        assert_eq!(psql.execute("SET client_min_messages = error"), DONE);
        psql
    }

    fn execute(&mut self, statement: &str) -> String {
        let mut state = String::new();
        let sent = writeln!(self.input, "{statement};\n\\echo :SQLSTATE").and_then(|()| self.input.flush());
        let read = sent.and_then(|()| self.output.read_line(&mut state));
        assert!(read.is_ok_and(|bytes| bytes > 0), "psql has ended");
        state.trim().to_owned()
    }
}
