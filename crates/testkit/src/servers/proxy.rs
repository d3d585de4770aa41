//! Reverse proxies with the sample configurations of `deploy/`.

use super::postgres::make_certificate;
use super::signal;
use std::fs::{self, File};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Longest time until a proxy listens.
const START: Duration = Duration::from_secs(30);

/// A reverse proxy with TLS of a test's own. Its certificate is for `localhost`, and of no known issuer.
#[derive(Debug)]
pub struct Proxy {
    folder: TempDir,
    process: Child,
    port: u16,
}

impl Proxy {
    /// Returns an unused port of this machine.
    pub fn free_port() -> u16 {
        TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
    }

    /// Starts nginx on this port, with a sample of `deploy/` whose names, ports and certificates are replaced.
    pub fn nginx(sample: &str, service: SocketAddr, port: u16) -> Self {
        let folder = tempfile::tempdir().unwrap();
        make_certificate(folder.path(), "key.pem", "cert.pem");
        let path = |name: &str| folder.path().join(name).display().to_string();
        let mut site = replaced(sample, "listen 443 ssl;", &format!("listen 127.0.0.1:{port} ssl;"));
        site = replaced(&site, "server 127.0.0.1:8000;", &format!("server {service};"));
        for (directive, value) in [
            ("server_name", "localhost".to_owned()),
            ("ssl_certificate", path("cert.pem")),
            ("ssl_certificate_key", path("key.pem")),
        ] {
            site = with_directive(&site, directive, &value);
        }
        // The directories of Debian's package belong to root.
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map(|kind| format!("{kind}_temp_path {};\n", path(kind)))
            .concat();
        let main = format!(
            "pid {};\nerror_log stderr;\nevents {{}}\nhttp {{\naccess_log off;\n{temporary}{site}}}\n",
            path("pid")
        );
        fs::write(folder.path().join("nginx.conf"), main).unwrap();
        let mut command = Command::new(find("nginx"));
        command.args(["-p", &path(""), "-c", &path("nginx.conf"), "-e", "stderr"]);
        command.args(["-g", "daemon off; master_process off;"]);
        Self::start(folder, command, port)
    }

    /// Starts Caddy on this port, with a sample of `deploy/` whose host and ports are replaced.
    pub fn caddy(sample: &str, service: SocketAddr, port: u16) -> Self {
        let folder = tempfile::tempdir().unwrap();
        // No changes of this machine, and no other port.
        let local = "admin off\n\tskip_install_trust\n\tauto_https disable_redirects";
        let mut site = replaced(sample, "admin off", local);
        site = replaced(&site, "\nwww.example.org {", &format!("\nlocalhost:{port} {{\n\tbind 127.0.0.1"));
        site = replaced(&site, "reverse_proxy 127.0.0.1:8000", &format!("reverse_proxy {service}"));
        fs::write(folder.path().join("Caddyfile"), site).unwrap();
        let mut command = Command::new(find("caddy"));
        command.args(["run", "--adapter", "caddyfile", "--config", "Caddyfile"]);
        for variable in ["HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"] {
            command.env(variable, folder.path());
        }
        Self::start(folder, command, port)
    }

    /// The address of the proxy, without a path.
    pub fn url(&self) -> String {
        format!("https://localhost:{}", self.port)
    }

    fn start(folder: TempDir, mut command: Command, port: u16) -> Self {
        let log = File::create(folder.path().join("log")).unwrap();
        command.current_dir(folder.path()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        let program = command.get_program().to_owned();
        let process =
            command.spawn().unwrap_or_else(|error| panic!("{program:?} cannot be started: {error}"));
        let mut proxy = Self { folder, process, port };
        let end = Instant::now() + START;
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            let has_ended = proxy.process.try_wait().unwrap().is_some();
            assert!(!has_ended && Instant::now() < end, "{program:?} does not listen: {}", proxy.log());
            #[expect(clippy::disallowed_methods, reason = "another program starts in its own time")]
            std::thread::sleep(Duration::from_millis(20));
        }
        proxy
    }

    /// What the proxy has logged.
    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        signal(&self.process, "-TERM");
        let _ = self.process.wait();
    }
}

/// A sample with another text at all its places.
fn replaced(sample: &str, from: &str, to: &str) -> String {
    assert!(sample.contains(from), "the sample has no {from:?}");
    sample.replace(from, to)
}

/// A sample with another value of a directive.
fn with_directive(sample: &str, directive: &str, value: &str) -> String {
    let is_wanted = |line: &str| line.split_whitespace().next() == Some(directive);
    let line =
        |line: &str| if is_wanted(line) { format!("{directive} {value};\n") } else { format!("{line}\n") };
    assert_eq!(sample.lines().filter(|line| is_wanted(line)).count(), 1, "{directive}");
    sample.lines().map(line).collect()
}

/// Debian keeps servers in directories of root.
fn find(program: &str) -> String {
    let folders = ["/usr/sbin", "/usr/local/sbin", "/usr/bin"].map(|folder| format!("{folder}/{program}"));
    let found = folders.into_iter().find(|path| Path::new(path).is_file());
    found.unwrap_or_else(|| program.to_owned())
}
