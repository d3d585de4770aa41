//! `docent eval`.

use crate::client::fixture;
use crate::program::{docent, run};
use docent_testkit::wire::{FakeLlm, Reply};
use serde_json::Value;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use tokio::process::Command;

/// Questions about the test PDFs; one counts pages from 0, and the last one has no gold page in its file.
const QUESTIONS: &str = r#"
{"id": "returns", "question": "How long is the return period for pumps?", "file": "handbook.pdf", "gold_pages": [2], "evidence": "The return period for pumps is 45 days."}
{"id": "fire", "question": "Where is the assembly point in case of fire?", "file": "handbook.pdf", "gold_pages": [5]}
{"id": "price", "question": "What is the price of the Model S1?", "file": "table.pdf", "gold_pages": [1], "evidence": ["Model S1", "690 EUR"]}

{"id": "reference", "question": "What is the reference of the letter about the first delivery?", "file": "letter.pdf", "page_base": 0, "gold_pages": [0]}
{"id": "nowhere", "question": "How long is the warranty of every pump?", "file": "handbook.pdf", "gold_pages": [40]}
"#;
const UNANSWERABLE: &str = r#"{"question": "Which glaciers feed the reservoir of the observatory?"}"#;

/// A directory with questions and PDFs, and the directory for temporary files.
struct Workspace(TempDir);

impl Workspace {
    fn new() -> Self {
        let workspace = Self(TempDir::new().unwrap());
        for folder in ["pdfs", "temporary"] {
            std::fs::create_dir(workspace.path(folder)).unwrap();
        }
        for name in ["handbook.pdf", "letter.pdf", "scan.pdf", "table.pdf"] {
            std::fs::copy(fixture(name), workspace.path("pdfs").join(name)).unwrap();
        }
        std::fs::write(workspace.path("questions.jsonl"), QUESTIONS).unwrap();
        std::fs::write(workspace.path("unanswerable.jsonl"), UNANSWERABLE).unwrap();
        workspace
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn eval(&self, args: &[&str]) -> Command {
        let mut command = docent(self.0.path());
        let command_line = command.args(["eval", "questions.jsonl"]).args(args);
        command_line.current_dir(self.0.path()).env("TMPDIR", self.path("temporary"));
        command
    }
}

/// Shares of the ordinary questions: those whose answers show all evidence, of the unanswerable ones those that are declined,
/// and those that are declined although they are answered.
const SHOWN: f64 = 0.6;
const DECLINED: f64 = 0.6;
const WRONGLY_DECLINED: f64 = 0.25;

fn json(file: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
}

#[tokio::test]
async fn eval_measures_questions_and_removes_temporary_files() {
    let workspace = Workspace::new();
    let args = ["--pdfs", "pdfs", "--answers", "--unanswerable", "unanswerable.jsonl", "--json", "out.json"];
    let (status, printed, error) = run(&mut workspace.eval(&args)).await;
    assert!(status.success(), "{printed}{error}");
    assert!(printed.starts_with("5 questions; 4 documents, "), "{printed}");
    assert!(printed.contains("embedding model builtin-lexical-"), "{printed}");
    assert_eq!(printed.matches("page-hit@5 ").count(), 2, "{printed}");
    assert!(printed.contains("plain BM25") && !printed.contains("plain dense"), "{printed}");
    assert!(error.contains("reading PDFs: 4 of 4"), "{error}");
    assert!(error.contains("scan.pdf could not be ingested: no extractable text"), "{error}");
    let out = json(&workspace.path("out.json"));
    for scope in ["all_documents", "one_document"] {
        let page_hit = &out["summary"][scope]["docent"]["page_hit_at_5"];
        assert_eq!((&page_hit["mean"], &page_hit["high"]), (&0.8.into(), &1.0.into()), "{scope}: {out:#}");
        assert_eq!(out["summary"][scope]["docent"]["evidence_recall"]["mean"], 1.0, "{scope}: {out:#}");
    }
    let last = &out["details"][3];
    assert_eq!((&last["id"], &last["pages"]), (&"reference".into(), &serde_json::json!([1])));
    assert_eq!(last["all_documents"]["docent"]["first"][0]["file"], "letter.pdf");
    assert_eq!(out["details"][4]["all_documents"]["docent"]["rank"], Value::Null);
    assert!(error.contains("questions.jsonl: line 7: handbook.pdf has 6 pages"), "{error}");
    assert!(out["details"][0]["answer"]["text"].as_str().unwrap().contains("45 days"), "{out:#}");
    assert_eq!(out["answers"]["quotes_page"]["mean"], 0.8, "{out:#}");
    assert_eq!(out["unanswerable"]["declined"]["mean"], 1.0, "{out:#}");
    assert!(
        std::fs::read_dir(workspace.path("temporary")).unwrap().next().is_none(),
        "temporary files are left"
    );
    assert!(!workspace.path("data").exists(), "the data directory is not used");
}

/// A floor: what the answerer showed when its weights were fitted, with room for a few questions.
#[tokio::test]
async fn ordinary_questions_are_answered_or_declined() {
    let workspace = Workspace::new();
    let set = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/ordinary");
    let (questions, documents) = (set.join("questions.jsonl"), set.join("documents"));
    let mut command = docent(workspace.0.path());
    command.arg("eval").arg(questions).arg("--pdfs").arg(documents);
    command.args(["--answers", "--fit", "weights.json", "--json", "out.json"]);
    command.current_dir(workspace.0.path()).env("DOCENT_UPLOAD_TYPES", "all");
    let (status, printed, error) = run(&mut command).await;
    assert!(status.success(), "{printed}{error}");
    let out = json(&workspace.path("out.json"));
    let share = |value: &Value| value["mean"].as_f64().unwrap();
    assert!(share(&out["answers"]["shows_evidence"]) >= SHOWN, "{printed}");
    assert!(share(&out["unanswerable"]["declined"]) >= DECLINED, "{printed}");
    assert!(share(&out["answers"]["declined"]) <= WRONGLY_DECLINED, "{printed}");
    assert!(printed.contains("answers from "), "{printed}");
    let weights = json(&workspace.path("weights.json"));
    assert!(weights["features"]["context"].is_number(), "{weights}");
}

#[tokio::test]
async fn eval_with_a_condition_searches_documents_that_meet_it() {
    let workspace = Workspace::new();
    let args = ["--pdfs", "pdfs", "--where", "pages>=2", "--answers", "--json", "out.json"];
    let (status, printed, error) = run(&mut workspace.eval(&args)).await;
    assert!(status.success(), "{printed}{error}");
    assert!(printed.contains("Questions skipped because their files are excluded: 2\n"), "{printed}");
    let out = json(&workspace.path("out.json"));
    let details = out["details"].as_array().unwrap();
    let ids: Vec<_> = details.iter().map(|it| it["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["returns", "fire", "nowhere"]);
    for result in details.iter().flat_map(|it| [&it["all_documents"]["docent"], &it["all_documents"]["bm25"]])
    {
        let first = result["first"].as_array().unwrap();
        assert!(
            !first.is_empty() && first.iter().all(|passage| passage["file"] == "handbook.pdf"),
            "{result}"
        );
    }
    assert_eq!(out["answers"]["quotes_page"]["mean"].as_f64().unwrap(), 2.0 / 3.0, "{out:#}");

    for (condition, expected) in [
        ("pages>=100", "no question is about the selected files"),
        ("pages", "has no operator"),
        ("p a>1", "--where"),
    ] {
        let (status, printed, error) =
            run(&mut workspace.eval(&["--pdfs", "pdfs", "--where", condition])).await;
        assert!(!status.success() && error.contains(expected), "{condition}: {printed}{error}");
    }
}

#[tokio::test]
async fn eval_reuse_gives_same_results_without_files() {
    let workspace = Workspace::new();
    let args =
        ["--pdfs", "pdfs", "--neutral-titles", "--limit-files", "2", "--keep", "kept", "--json", "1.json"];
    let (status, printed, error) = run(&mut workspace.eval(&args)).await;
    assert!(status.success(), "{printed}{error}");
    assert!(printed.contains("Questions skipped because their files are excluded: 1\n"), "{printed}");
    let first = json(&workspace.path("1.json"));
    let titles: Vec<_> = first["documents"].as_array().unwrap().iter().map(|it| &it["title"]).collect();
    assert_eq!(titles, ["doc-01.pdf", "doc-02.pdf"]);
    std::fs::remove_dir_all(workspace.path("pdfs")).unwrap();
    let (status, again, error) = run(&mut workspace.eval(&["--reuse", "kept", "--json", "2.json"])).await;
    assert!(status.success(), "{again}{error}");
    assert_eq!((again, json(&workspace.path("2.json"))), (printed, first));
    let (status, _, error) = run(&mut workspace.eval(&["--pdfs", "temporary", "--keep", "kept"])).await;
    assert!(!status.success() && error.contains("kept is not empty"), "{error}");
}

#[tokio::test]
async fn eval_of_several_sets_reports_each_and_the_mean_and_compares_runs() {
    let workspace = Workspace::new();
    std::fs::create_dir(workspace.path("tables")).unwrap();
    std::fs::copy(fixture("table.pdf"), workspace.path("tables").join("table.pdf")).unwrap();
    let prices = r#"
{"id": "any", "question": "What is the price of the Model S1?", "files": ["table.pdf"]}
{"id": "none", "question": "Which glaciers feed the reservoir?", "unanswerable": true, "file": "table.pdf"}
"#;
    std::fs::write(workspace.path("prices.jsonl"), prices).unwrap();
    let args = [
        "prices.jsonl",
        "--pdfs",
        "pdfs",
        "--pdfs",
        "tables",
        "--answers",
        "--keep",
        "kept",
        "--json",
        "1.json",
    ];
    let (status, printed, error) = run(&mut workspace.eval(&args)).await;
    assert!(status.success(), "{printed}{error}");
    for heading in ["== questions\n5 questions; ", "== prices\n1 questions; 1 documents", "== mean of 2 sets"]
    {
        assert!(printed.contains(heading), "{heading}: {printed}");
    }
    let first = json(&workspace.path("1.json"));
    let hit = &first["sets"]["prices"]["summary"]["all_documents"]["docent"];
    assert_eq!((&hit["document_hit_at_5"]["mean"], hit.get("page_hit_at_5")), (&1.0.into(), None), "{hit:#}");
    let given = &first["sets"]["questions"]["details"][0]["answer_one_document"];
    assert_eq!(given["quotes_page"], true, "{given:#}");
    let declined = &first["sets"]["prices"]["unanswerable"];
    assert_eq!(
        (declined["declined"]["mean"].as_f64(), declined["one_document"]["declined"]["mean"].as_f64()),
        (Some(1.0), Some(1.0))
    );
    let (status, printed, error) =
        run(&mut workspace.eval(&["prices.jsonl", "--reuse", "kept", "--answers", "--compare", "1.json"]))
            .await;
    assert!(status.success(), "{printed}{error}");
    assert!(printed.contains("== questions compared with 1.json"), "{printed}");
    assert!(printed.contains("== mean of 2 sets compared"), "{printed}");
    let line = printed.lines().rfind(|line| line.starts_with("  page-hit@5, all documents")).unwrap();
    assert!(
        line.contains("80.0") && line.contains("0.0 (0.0 to 0.0)") && line.ends_with("0 / 0 of 5"),
        "{line}"
    );
    for (args, expected) in [
        (&["prices.jsonl", "--pdfs", "pdfs"] as &[&str], "2 files of questions and 1 directories"),
        (&["prices.jsonl", "--reuse", "kept", "--unanswerable", "unanswerable.jsonl"], "needs a single file"),
        (&["questions.jsonl", "--reuse", "kept"], "two files of questions are named \"questions\""),
        (&["--reuse", "kept/questions", "--compare", "prices.jsonl"], "prices.jsonl"),
        (&["--reuse", "kept/questions", "--compare", "unanswerable.jsonl"], "was not written by docent eval"),
    ] {
        let (status, _, error) = run(&mut workspace.eval(args)).await;
        assert!(!status.success() && error.contains(expected), "{args:?}: {error}");
    }
}

#[tokio::test]
async fn eval_uses_reranker_and_fails_if_it_fails() {
    let (workspace, fake) = (Workspace::new(), FakeLlm::start().await);
    let reranked = |args: &[&str]| {
        let mut command = workspace.eval(args);
        command.env("DOCENT_RERANK_BASE_URL", fake.base_url()).env("DOCENT_RERANK_MODEL", "test-reranker");
        command
    };
    let args = ["--pdfs", "pdfs", "--keep", "kept", "--json", "out.json"];
    let (status, printed, error) = run(&mut reranked(&args)).await;
    assert!(status.success(), "{printed}{error}");
    assert!(printed.contains("Results of Docent were reranked by test-reranker"), "{printed}");
    assert_eq!(json(&workspace.path("out.json"))["reranking_model"], "test-reranker");
    assert_eq!(fake.counts().reranks, 10, "five questions, each over all documents and over one");
    fake.script(Reply::json(500, "{}"));
    let (status, printed, error) = run(&mut reranked(&["--reuse", "kept"])).await;
    assert_eq!((status.code(), printed.as_str()), (Some(1), ""), "{error}");
    assert!(error.contains("reranking back end: status 500"), "{error}");
}

#[tokio::test]
async fn eval_reports_invalid_input_before_ingesting() {
    let workspace = Workspace::new();
    for (questions, expected) in [
        ("{}", "questions.jsonl: line 1: \"question\" is missing"),
        (
            "\n{\"question\": \"q\", \"file\": \"x.pdf\", \"gold_pages\": [1]}",
            "line 2: there is no file \"x.pdf\"",
        ),
    ] {
        std::fs::write(workspace.path("questions.jsonl"), questions).unwrap();
        let (status, printed, error) = run(&mut workspace.eval(&["--pdfs", "pdfs"])).await;
        assert_eq!((status.code(), printed.as_str()), (Some(1), ""), "{error}");
        assert!(error.contains(expected) && !error.contains("reading PDFs"), "{error}");
    }
    std::fs::write(workspace.path("questions.jsonl"), QUESTIONS).unwrap();
    for (args, expected) in [
        (&["--pdfs", "temporary"] as &[&str], "temporary: no PDF file found"),
        (&["--pdfs", "nowhere"], "nowhere: "),
        (&["--reuse", "pdfs"], "pdfs was not written by a completed run"),
        (&[], "--pdfs"),
    ] {
        let (status, _, error) = run(&mut workspace.eval(args)).await;
        assert!(!status.success() && error.contains(expected), "{args:?}: {error}");
    }
    assert!(
        std::fs::read_dir(workspace.path("temporary")).unwrap().next().is_none(),
        "temporary files are left"
    );
}
