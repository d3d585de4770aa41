//! The service with an embedding model in a local folder.

use crate::client::Client;
use crate::program::{Serving, docent, rest, run};
use crate::remote::{EMAIL, PASSWORD};
use crate::{client, create_account};
use docent_testkit::model2vec::TinyModel;
use docent_testkit::pdf::pdf;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use tokio::process::Command;

/// No document has this word; the vector of "dog" is near to its vector.
const PARAPHRASE: &str = "canine";

/// A model in which "dog" and "canine" are synonyms, and `size` has no meaning.
fn model(size: f32) -> TinyModel {
    TinyModel::new(&[
        ("dog", &[1.0, 0.1, 0.0, 0.0]),
        ("canine", &[1.0, 0.0, 0.1, 0.0]),
        ("banana", &[0.0, 0.0, 0.0, size]),
    ])
}

/// An installation with a model beside it.
struct Installation(TempDir);

impl Installation {
    async fn new() -> Self {
        let installation = Self(TempDir::new().unwrap());
        create_account(installation.0.path(), EMAIL, PASSWORD).await;
        model(1.0).write(&installation.model());
        for (name, text) in
            [("one.pdf", "The dog sleeps in the yard."), ("two.pdf", "A banana ripens slowly.")]
        {
            fs::write(installation.0.path().join(name), pdf(&[text])).unwrap();
        }
        installation
    }

    fn model(&self) -> PathBuf {
        self.0.path().join("tiny")
    }

    fn provider(&self) -> String {
        format!("local:{}", self.model().display())
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = docent(self.0.path());
        command.args(args);
        command
    }

    fn with_model(&self, args: &[&str]) -> Command {
        let mut command = self.command(args);
        command.env("DOCENT_EMBEDDING_PROVIDER", self.provider());
        command
    }

    /// Starts `docent dev` and uploads the documents if there are none.
    async fn serve(&self, mut command: Command) -> (Serving, Client) {
        let serving = Serving::start(&mut command).await;
        let client = Client::log_in(&serving, EMAIL, PASSWORD).await;
        if client.settled().await.is_empty() {
            for name in ["one.pdf", "two.pdf"] {
                client.upload(&self.0.path().join(name)).await;
            }
        }
        assert!(client.settled().await.iter().all(|(_, status)| status == "ingested"));
        (serving, client)
    }
}

/// The numbers of chunks found in the documents, ascending.
async fn found(client: &Client) -> Vec<usize> {
    let mut found: Vec<usize> = client.found(PARAPHRASE).await.values().map(|chunks| chunks.len()).collect();
    found.sort_unstable();
    found
}

async fn search_status(client: &Client) -> u16 {
    let request = client::client().post(format!("{}/search", client.base)).bearer_auth(&client.token);
    request.json(&serde_json::json!({ "query": PARAPHRASE })).send().await.unwrap().status().as_u16()
}

#[tokio::test]
async fn local_model_finds_what_no_word_finds() {
    let installation = Installation::new().await;
    let (serving, client) = installation.serve(installation.command(&["dev", "--no-sample"])).await;
    assert_eq!(found(&client).await, [0, 0], "the words alone do not find it");
    serving.terminate().await;

    // An index keeps its model until it is rebuilt.
    let (serving, client) = installation.serve(installation.with_model(&["dev", "--no-sample"])).await;
    assert_eq!(found(&client).await, [0, 0]);
    serving.terminate().await;
    let provider = installation.provider();
    let mut reindex = installation.command(&["reindex", "--dev", "--json", "--embedding-model", &provider]);
    let (status, printed, error) = run(&mut reindex).await;
    assert!(status.success(), "{printed}{error}");
    let model = serde_json::from_str::<Value>(printed.trim()).unwrap()["model"].as_str().unwrap().to_owned();
    assert!(model.starts_with("local:tiny@"), "{model}");

    let (serving, client) = installation.serve(installation.with_model(&["dev", "--no-sample"])).await;
    assert_eq!(found(&client).await, [0, 1], "the vectors find it");
    serving.terminate().await;
    let (status, printed, error) = run(&mut installation.with_model(&["doctor", "--dev"])).await;
    assert_eq!(status.code(), Some(0), "{printed}{error}");
    assert!(printed.contains(&format!("embedding back end: builtin-lexical-5+{model}")), "{printed}");
}

#[tokio::test]
async fn changed_model_is_refused_until_the_index_is_rebuilt() {
    let installation = Installation::new().await;
    let (serving, client) = installation.serve(installation.with_model(&["dev", "--no-sample"])).await;
    assert_eq!(found(&client).await, [0, 1]);
    serving.terminate().await;

    model(2.0).write(&installation.model());
    let (serving, client) = installation.serve(installation.with_model(&["dev", "--no-sample"])).await;
    assert_eq!(search_status(&client).await, 503, "vectors of two models are not compared");
    serving.terminate().await;
    let why = |provider: Option<String>| {
        let mut doctor = installation.command(&["doctor", "--dev"]);
        doctor.envs(provider.map(|provider| ("DOCENT_EMBEDDING_PROVIDER", provider)));
        async move { run(&mut doctor).await.1 }
    };
    let printed = why(Some(installation.provider())).await;
    assert!(printed.contains("the index uses the embedding model local:tiny@"), "{printed}");
    assert!(printed.contains("has the model local:tiny@"), "{printed}");
    assert!(printed.contains("run `docent reindex` to change the model"), "{printed}");
    let printed = why(None).await;
    assert!(printed.contains("set DOCENT_EMBEDDING_PROVIDER=local:DIR"), "{printed}");

    // Under another name it is the same model, but names are what is recorded.
    let renamed = installation.0.path().join("renamed");
    model(1.0).write(&renamed);
    let printed = why(Some(format!("local:{}", renamed.display()))).await;
    assert!(printed.contains("give the folder its former name"), "{printed}");

    let (status, printed, error) = run(&mut installation.with_model(&["reindex", "--dev"])).await;
    assert!(status.success(), "{printed}{error}");
    let (serving, client) = installation.serve(installation.with_model(&["dev", "--no-sample"])).await;
    assert_eq!(found(&client).await, [0, 1]);
    serving.terminate().await;
}

/// Runs a command that must fail at its start; returns what it printed to standard error.
async fn refused(mut command: Command) -> String {
    let mut child = command.spawn().unwrap();
    let error = rest(&mut child).await;
    assert_eq!(child.wait().await.unwrap().code(), Some(1), "{error}");
    error
}

#[tokio::test]
async fn unusable_model_stops_the_start() {
    let installation = Installation::new().await;
    let folder = installation.model().display().to_string();
    let start = || refused(installation.with_model(&["dev", "--no-sample"]));
    let write = |name: &str, content: &str| fs::write(Path::new(&folder).join(name), content).unwrap();

    write("model.safetensors", "version https://git-lfs.github.com/spec/v1");
    let error = start().await;
    assert!(error.contains("DOCENT_EMBEDDING_PROVIDER"), "{error}");
    assert!(
        error.contains(&format!("the embedding model in {folder} cannot be used: model.safetensors")),
        "{error}"
    );
    fs::remove_dir_all(&folder).unwrap();
    assert!(start().await.contains(&format!("{folder} cannot be used: the folder does not exist")));

    let mut config = installation.with_model(&["config", "--dev"]);
    let (status, printed, _) = run(&mut config).await;
    assert!(status.success(), "{printed}");
    assert!(printed.contains(&format!("DOCENT_EMBEDDING_PROVIDER=local:{folder} ")), "{printed}");
    let mut wrong = installation.command(&["dev", "--no-sample"]);
    wrong.env("DOCENT_EMBEDDING_PROVIDER", "local");
    let error = refused(wrong).await;
    assert!(error.contains("names no folder") && error.contains("local:DIR"), "{error}");
}
