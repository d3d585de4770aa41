//! The files in deploy/ and the commands they use.

use super::SECRET;
use super::program::{Serving, docent, run};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

fn read(file: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file)).unwrap()
}

#[tokio::test]
async fn serve_with_example_environment_names_missing_settings() {
    let folder = TempDir::new().unwrap();
    let example = read("deploy/.env.example");
    let set = example.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('='));
    for command in ["serve", "worker"] {
        let (status, _, errors) = run(docent(folder.path()).envs(set.clone()).arg(command)).await;
        assert!(!status.success());
        for missing in ["DOCENT_SECRET_KEY must be set", "DOCENT_DATABASE_URL must be set"] {
            assert!(errors.contains(missing), "{command}: {errors}");
        }
    }
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
