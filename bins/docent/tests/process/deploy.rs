//! The files in deploy/ and the commands they use.

use super::client::{Client, fixture};
use super::create_account;
use super::program::{SECRET, Serving, docent, in_time, rest, run};
use serde_json::json;
use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tempfile::TempDir;
use tokio::process::Command;

fn read(file: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file)).unwrap()
}

#[tokio::test]
async fn serve_with_example_environment_names_missing_settings() {
    let folder = TempDir::new().unwrap();
    let example = read("deploy/.env.example");
    let set = example.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('='));
    for (command, needs_key) in [("serve", true), ("worker", false)] {
        let (status, _, errors) = run(docent(folder.path()).envs(set.clone()).arg(command)).await;
        assert!(!status.success());
        assert!(errors.contains("DOCENT_DATABASE_URL must be set"), "{command}: {errors}");
        assert_eq!(errors.contains("DOCENT_SECRET_KEY must be set"), needs_key, "{command}: {errors}");
    }
}

#[test]
fn units_continue_when_the_kernel_ends_a_worker() {
    for unit in ["docent.service", "docent-serve.service", "docent-worker.service"] {
        assert!(read(&format!("deploy/{unit}")).contains("\nOOMPolicy=continue\n"), "{unit}");
    }
}

/// The defaults of both settings for the shutdown, and what follows, are 25 s together.
#[test]
fn supervisors_wait_longer_than_a_process_takes_to_stop() {
    for unit in ["docent.service", "docent-serve.service", "docent-worker.service"] {
        assert!(read(&format!("deploy/{unit}")).contains("\nTimeoutStopSec=30\n"), "{unit}");
    }
    let compose = read("deploy/compose.yaml");
    for service in ["serve", "worker"] {
        let (_, of_service) = compose.split_once(&format!("\n  {service}:\n    <<: *docent\n")).unwrap();
        let of_service = of_service.split("\n\n").next().unwrap();
        assert!(of_service.contains("\n    stop_grace_period: 30s\n"), "{service}");
    }
}

/// The environment of the unit for one machine, with its directories in `folder`.
fn environment_of_the_unit(folder: &Path) -> Vec<(String, String)> {
    let unit = read("deploy/docent.service");
    let variables = unit.lines().filter_map(|line| line.strip_prefix("Environment=")?.split_once('='));
    let here = |value: &str| {
        let data = folder.join("data").display().to_string();
        value.replace("/var/lib/docent", &data).replace("%d", &folder.display().to_string())
    };
    variables.map(|(name, value)| (name.to_owned(), here(value))).collect()
}

#[tokio::test]
async fn unit_for_one_machine_serves_embedded_stores_with_production_checks() {
    let folder = TempDir::new().unwrap();
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let command = |arguments: &[&str]| {
        let mut command = docent(folder.path());
        command.env("DOCENT_BIND_ADDRESS", &address).args(arguments);
        command.envs(environment_of_the_unit(folder.path()));
        command
    };
    let unit = read("deploy/docent.service");
    assert!(unit.contains("docent serve\n") && !unit.contains("docent dev"));
    let key = folder.path().join("secret_key");
    fs::write(&key, "short").unwrap();
    for arguments in ["migrate", "serve"] {
        let (status, _, errors) = run(&mut command(&[arguments])).await;
        assert!(!status.success() && errors.contains("has fewer than 32 characters"), "{errors}");
    }
    fs::write(&key, SECRET).unwrap();
    let (status, _, errors) = run(&mut command(&["migrate"])).await;
    assert!(status.success(), "{errors}");
    create_account(folder.path(), "ada@example.org", "correct horse").await;

    let mut serving = command(&["serve"]).spawn().unwrap();
    in_time(async {
        while !run(&mut command(&["healthcheck"])).await.0.success() {
            assert!(serving.try_wait().unwrap().is_none(), "{}", rest(&mut serving).await);
        }
    })
    .await;
    let ada = Client::log_in_at(format!("http://{address}"), "ada@example.org", "correct horse").await;
    ada.upload(&fixture("handbook.pdf")).await;
    assert_eq!(ada.settled().await[0].1, "ingested");
    let (_, sources) = ada.ask("How long is the warranty on pumps?").await;
    assert!(!sources.is_empty());
    let webhook = ada.http.post(format!("http://{address}/webhooks")).bearer_auth(&ada.token);
    let webhook = webhook.json(&json!({ "url": "http://127.0.0.1:9/" })).send().await.unwrap();
    assert_eq!(webhook.status(), 422, "private targets need a setting");
}

#[tokio::test]
async fn migrate_refuses_to_replace_a_lost_database() {
    let folder = TempDir::new().unwrap();
    let environment = environment_of_the_unit(folder.path());
    fs::write(folder.path().join("secret_key"), SECRET).unwrap();
    fs::create_dir_all(folder.path().join("data/blobs")).unwrap();
    fs::write(folder.path().join("data/blobs/file"), "a file without a record").unwrap();
    let (status, _, errors) = run(docent(folder.path()).envs(environment).arg("migrate")).await;
    assert!(
        !status.success() && errors.contains("data/blobs") && errors.contains("docent restore"),
        "{errors}"
    );
    assert!(!folder.path().join("data/docent.db").exists());
}

#[test]
fn proxy_samples_send_hsts() {
    for file in ["deploy/Caddyfile", "deploy/Caddyfile.path", "deploy/nginx.conf", "deploy/nginx-path.conf"] {
        assert!(read(file).contains("Strict-Transport-Security max-age=31536000"), "{file}");
    }
}

/// A process whose memory others of its account cannot read has files in `/proc` that belong to root.
// Invariant: A file that takes over a PDF worker finds neither files nor sockets nor programs, and cannot
// inspect the service.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn memory_of_the_program_cannot_be_inspected() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let folder = TempDir::new().unwrap();
    let data = folder.path().join("data");
    fs::create_dir(&data).unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(&data, fs::Permissions::from_mode(0o777)).unwrap();
    // Files in `/proc` of root's processes always belong to root, so the program runs as another account. The open file
    // makes it reachable in a directory of root.
    let drop_root = "exec 3<\"$0\"; [ $(id -u) = 0 ] || exec /proc/self/fd/3 \"$@\"; \
                     exec setpriv --reuid=65534 --regid=65534 --clear-groups /proc/self/fd/3 \"$@\"";
    let mut command = Command::new("/bin/sh");
    command.args(["-c", drop_root, env!("CARGO_BIN_EXE_docent")]);
    command.args(["createsuperuser", "--dev", "--password-stdin", "ada@example.org"]);
    // It waits for the password.
    command.env("DOCENT_DATA_DIR", &data).stdin(Stdio::piped()).kill_on_drop(true);
    let child = command.spawn().unwrap();
    let environment = format!("/proc/{}/environ", child.id().unwrap());
    in_time(async {
        let owner = || fs::metadata(&environment).unwrap().uid();
        let program = || fs::read_to_string(format!("/proc/{}/comm", child.id().unwrap())).unwrap();
        // The shell of root first.
        while !matches!(program().trim(), "docent" | "3") || owner() != 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
    let uid = fs::metadata(format!("/proc/{}", child.id().unwrap())).unwrap().uid();
    assert_ne!(uid, 0, "the process runs as another account");
}

#[tokio::test]
async fn healthcheck_succeeds_only_while_server_runs() {
    let folder = TempDir::new().unwrap();
    let serving = Serving::start(docent(folder.path()).args(["dev", "--no-sample"])).await;
    let address = serving.base.trim_start_matches("http://").to_owned();
    let (status, printed, errors) =
        run(docent(folder.path()).args(["healthcheck", "--address", &address])).await;
    assert!(status.success() && printed.contains("\"ok\""), "{printed}{errors}");
    let everywhere = address.replace("127.0.0.1", "0.0.0.0");
    let mut by_setting = docent(folder.path());
    by_setting.env("DOCENT_BIND_ADDRESS", everywhere).env("DOCENT_SECRET_KEY", SECRET);
    let (status, ..) = run(by_setting.args(["healthcheck", "--dev"])).await;
    assert!(status.success(), "the bind address in the settings is checked");
    serving.kill().await;
    let (status, _, errors) = run(docent(folder.path()).args(["healthcheck", "--address", &address])).await;
    assert!(!status.success() && errors.contains(&address), "{errors}");
}

#[test]
fn image_uses_workspace_toolchain() {
    let toolchain = read("rust-toolchain.toml");
    let channel = toolchain.split('"').nth(1).unwrap();
    let dockerfile = read("deploy/Dockerfile");
    assert!(
        dockerfile.contains(&format!("FROM rust:{channel}-")),
        "deploy/Dockerfile does not use Rust {channel}"
    );
}
