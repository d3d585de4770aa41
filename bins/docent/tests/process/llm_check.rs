//! `docent llm check` with back ends that do not support everything.

use crate::program::{docent, run};
use docent_testkit::wire::model::Model;
use docent_testkit::wire::{ContextLimit, FakeLlm, Refusals, Reply};
use serde_json::Value;
use std::path::Path;
use tempfile::TempDir;
use tokio::process::Command;

const KEY: &str = "sk-not-the-right-one";
const MODEL: &str = "fake-model";
/// The steps of a model that can be used.
const STEPS: [&str; 7] =
    ["models", "answer", "system_messages", "tool_call", "tool_arguments", "tool_output", "context_length"];

fn check(folder: &Path, url: &str, model: &str) -> Command {
    let mut command = docent(folder);
    command.args(["llm", "check", "--dev"]).env("DOCENT_LLM_BASE_URL", url).env("DOCENT_LLM_MODEL", model);
    // The default.
    command.env("DOCENT_SEARCH_LIMIT", "5");
    command
}

/// What a check found.
#[derive(Debug)]
struct Checked {
    code: i32,
    objects: Vec<Value>,
    printed: String,
}

impl Checked {
    async fn of(command: &mut Command) -> Self {
        let (status, printed, error) = run(command.arg("--json")).await;
        let objects = printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        Self { code: status.code().unwrap(), objects, printed: format!("{printed}{error}") }
    }

    fn of_kind(&self, kind: &str) -> impl Iterator<Item = &Value> {
        self.objects.iter().filter(move |object| object["kind"] == kind)
    }

    /// The steps that did not pass, with their results and causes.
    fn problems(&self) -> Vec<String> {
        let problem = |step: &Value| {
            let [step, result, cause] = ["step", "result", "cause"].map(|name| step[name].as_str());
            let cause = cause.map(|cause| format!(" {cause}")).unwrap_or_default();
            format!("{} {}{cause}", step.unwrap(), result.unwrap())
        };
        self.of_kind("step").filter(|step| step["result"] != "passed").map(problem).collect()
    }

    fn steps(&self) -> Vec<&str> {
        self.of_kind("step").map(|step| step["step"].as_str().unwrap()).collect()
    }

    fn settings(&self) -> Vec<String> {
        let text = |object: &Value, name: &str| object[name].as_str().unwrap().to_owned();
        self.of_kind("setting")
            .map(|setting| format!("{}={}", text(setting, "name"), text(setting, "value")))
            .collect()
    }
}

#[tokio::test]
async fn working_model_needs_no_settings() {
    let (folder, fake) = (TempDir::new().unwrap(), FakeLlm::start().await);
    let (status, printed, error) = run(&mut check(folder.path(), &fake.base_url(), MODEL)).await;
    assert!(status.success(), "{printed}{error}");
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(lines[0], format!("Model fake-model at {}", fake.base_url()));
    for (line, begin) in lines[1..].iter().zip([
        "passed         List of models: The server offers fake-model.",
        "passed         Streamed answer: The answer was streamed in ",
        "passed         Second system message: The server takes it",
        "passed         Tool call: The model called the search tool.",
        "passed         Arguments of the call: They are JSON: “What do the documents say",
        "passed         Answer from a search result: The model answered: According to",
        "passed         Context length: 10",
        "",
        "Nothing has to be set.",
    ]) {
        assert!(line.starts_with(begin), "{begin}: {printed}");
    }
    assert_eq!(lines.len(), 10, "{printed}");
    let bodies: Vec<Value> =
        fake.requests().iter().filter(|r| r.method == "POST").map(|r| r.json()).collect();
    assert!(bodies.iter().all(|body| body["max_tokens"].as_u64().is_some()), "{bodies:?}");
}

#[tokio::test]
async fn recommended_settings_are_lines_to_paste() {
    let (folder, fake) = (TempDir::new().unwrap(), FakeLlm::start().await);
    fake.configure(|model| {
        model.searches = false;
        model.quirks.context = Some((16_384, ContextLimit::Listed));
    });
    let (status, printed, error) = run(&mut check(folder.path(), &fake.base_url(), MODEL)).await;
    assert!(status.success(), "{printed}{error}");
    let settings = "\nSet these settings, and restart the service:\nDOCENT_AGENT_SEARCH=first\nDOCENT_HISTORY_TOKENS=9000\n";
    assert!(printed.ends_with(settings), "{printed}");
}

/// What a back end does, and what the check says about it.
struct Case {
    behaviour: &'static str,
    configure: fn(&mut Model),
    code: i32,
    problems: &'static [&'static str],
    settings: &'static [&'static str],
}

fn cases() -> Vec<Case> {
    const FIRST: &[&str] = &["DOCENT_AGENT_SEARCH=first"];
    const SMALLER: &[&str] = &["DOCENT_SEARCH_LIMIT=4", "DOCENT_HISTORY_TOKENS=2000"];
    vec![
        Case {
            behaviour: "has no list of models",
            configure: |model| model.quirks.has_no_list = true,
            code: 0,
            problems: &["models not_supported rejected"],
            settings: &[],
        },
        Case {
            behaviour: "wants a key",
            configure: |model| model.key = Some("right".to_owned()),
            code: 1,
            problems: &["models failed invalid_key"],
            settings: &[],
        },
        Case {
            behaviour: "calls no tool",
            configure: |model| model.searches = false,
            code: 0,
            problems: &["tool_call not_supported"],
            settings: FIRST,
        },
        Case {
            behaviour: "does not support tools",
            configure: |model| model.quirks.refuses_tools = Some((400, "gemma does not support tools")),
            code: 0,
            problems: &["tool_call not_supported tools_unsupported"],
            settings: FIRST,
        },
        Case {
            behaviour: "refuses tools for an unknown reason",
            configure: |model| model.quirks.refuses_tools = Some((400, "bad request")),
            code: 1,
            problems: &["tool_call failed rejected"],
            settings: &[],
        },
        Case {
            behaviour: "writes arguments that are not JSON",
            configure: |model| model.quirks.arguments = Some("the museum"),
            code: 0,
            problems: &["tool_arguments not_supported"],
            settings: FIRST,
        },
        Case {
            behaviour: "refuses a second system message",
            configure: |model| model.quirks.refuses_later_system_messages = true,
            code: 0,
            problems: &["system_messages not_supported"],
            settings: &[],
        },
        Case {
            behaviour: "refuses max_tokens",
            configure: |model| model.quirks.refused_fields = vec!["max_tokens"],
            code: 0,
            problems: &[],
            settings: &[],
        },
        Case {
            behaviour: "never ends its reasoning",
            configure: |model| model.quirks.reasons_forever = true,
            code: 0,
            problems: &["answer warning", "tool_call warning", "tool_output warning"],
            settings: FIRST,
        },
        Case {
            behaviour: "lists a context that is too small",
            configure: |model| model.quirks.context = Some((1000, ContextLimit::Listed)),
            code: 1,
            problems: &["context_length failed"],
            settings: &[],
        },
        Case {
            behaviour: "names a small context when it refuses",
            configure: |model| model.quirks.context = Some((8192, ContextLimit::Named)),
            code: 0,
            problems: &["context_length warning context_length"],
            settings: SMALLER,
        },
        Case {
            behaviour: "refuses a long conversation without its limit",
            configure: |model| model.quirks.context = Some((8192, ContextLimit::Unnamed)),
            code: 0,
            problems: &["context_length warning context_length"],
            settings: &["DOCENT_SEARCH_LIMIT=1", "DOCENT_HISTORY_TOKENS=2000"],
        },
        Case {
            behaviour: "cuts a long conversation silently",
            configure: |model| {
                // Its usage follows a short answer.
                model.answer_tokens = Some(3);
                model.quirks.context = Some((4096, ContextLimit::Cut));
            },
            code: 0,
            problems: &["context_length warning"],
            settings: &["DOCENT_SEARCH_LIMIT=1", "DOCENT_HISTORY_TOKENS=1000"],
        },
    ]
}

#[tokio::test]
async fn each_fault_of_a_server_has_a_decided_outcome() {
    for case in cases() {
        let (folder, fake) = (TempDir::new().unwrap(), FakeLlm::start().await);
        fake.configure(case.configure);
        let mut command = check(folder.path(), &fake.base_url(), MODEL);
        let checked = Checked::of(command.env("DOCENT_LLM_API_KEY", KEY)).await;
        let name = case.behaviour;
        assert_eq!(checked.problems(), case.problems, "{name}: {}", checked.printed);
        assert_eq!(checked.settings(), case.settings, "{name}: {}", checked.printed);
        assert_eq!(checked.code, case.code, "{name}: {}", checked.printed);
        let usable = checked.of_kind("result").next().unwrap()["usable"].as_bool().unwrap();
        assert_eq!(usable, case.code == 0, "{name}");
        let all = checked.steps().into_iter().filter(|step| STEPS.contains(step)).count();
        assert!(case.code == 1 || all >= STEPS.len() - 1, "{name}: {}", checked.printed);
        assert!(!checked.printed.contains(KEY), "{name}: {}", checked.printed);
    }
}

#[tokio::test]
async fn server_without_the_model_names_those_that_it_has() {
    let (folder, fake) = (TempDir::new().unwrap(), FakeLlm::start().await);
    let checked = Checked::of(&mut check(folder.path(), &fake.base_url(), "other")).await;
    assert_eq!(
        (checked.code, checked.problems()),
        (0, vec!["models warning".to_owned()]),
        "it accepts any name"
    );
    assert_eq!(checked.objects[1]["advice"], "Set DOCENT_LLM_MODEL to one of: fake-model.");

    let list = r#"{"data":[{"id":"a"},{"id":"b"}]}"#;
    let no_such = r#"{"error":{"message":"model 'x' not found"}}"#;
    fake.script(Reply::json(200, list));
    fake.script(Reply::json(404, no_such));
    let (status, printed, _) = run(&mut check(folder.path(), &fake.base_url(), "x")).await;
    assert_eq!(status.code(), Some(1), "{printed}");
    let failed = "failed         Streamed answer: The chat model is not known to its server (unknown_model): status 404: model 'x' not found";
    assert!(printed.contains(failed), "{printed}");
    assert!(printed.contains("DOCENT_LLM_MODEL to one of: a, b."), "{printed}");
    assert!(
        printed.ends_with("The service cannot work like this: see the steps that failed.\n"),
        "{printed}"
    );
}

#[tokio::test]
async fn server_that_is_down_or_quotes_the_key_fails_the_check() {
    let (folder, fake) = (TempDir::new().unwrap(), FakeLlm::start().await);
    fake.script(Reply::json(401, format!(r#"{{"error":"Incorrect key {KEY}."}}"#)));
    let mut command = check(folder.path(), &fake.base_url(), MODEL);
    let checked = Checked::of(command.env("DOCENT_LLM_API_KEY", KEY)).await;
    assert_eq!((checked.code, checked.problems()), (1, vec!["models failed invalid_key".to_owned()]));
    assert!(
        !checked.printed.contains(KEY) && checked.printed.contains("Incorrect key [key]."),
        "{checked:?}"
    );

    let url = fake.base_url();
    fake.stop().await;
    let checked = Checked::of(&mut check(folder.path(), &url, MODEL)).await;
    assert_eq!((checked.code, checked.problems()), (1, vec!["models failed unavailable".to_owned()]));
    assert!(checked.printed.contains("cannot connect") && checked.printed.contains("DOCENT_LLM_BASE_URL"));
}

#[tokio::test]
async fn stream_without_an_end_fails_at_the_timeout() {
    let (folder, fake) = (TempDir::new().unwrap(), FakeLlm::start().await);
    let reasoning = r#"{"choices":[{"index":0,"delta":{"reasoning_content":"Hm."},"finish_reason":null}]}"#;
    for (reply, words) in [
        (Reply::events(&[]).stall(), "it had written nothing after 1 s"),
        (Reply::events(&[reasoning]).stall(), "it was still writing its reasoning after 1 s"),
    ] {
        fake.script(Reply::json(404, "{}"));
        fake.script(reply);
        let mut command = check(folder.path(), &fake.base_url(), MODEL);
        let checked = Checked::of(command.args(["--timeout", "2s"])).await;
        let problems = ["models not_supported rejected", "answer failed timeout"];
        assert_eq!(
            (checked.code, checked.problems()),
            (1, problems.map(str::to_owned).to_vec()),
            "{checked:?}"
        );
        assert!(checked.printed.contains(words), "{checked:?}");
    }
    let (status, _, error) =
        run(check(folder.path(), &fake.base_url(), MODEL).args(["--timeout", "0s"])).await;
    assert!(!status.success() && error.contains("the duration is zero"), "{error}");
}

#[tokio::test]
async fn embedding_back_end_is_checked_too() {
    let without_prefix =
        "64 dimensions, 32 texts per call. Before questions is nothing, before passages nothing.";
    let with_prefix = "Before questions is “query: ”, before passages “passage: ”.";
    // Model, what its server is like, exit code, problems, settings to make, and what is printed.
    type Case<'a> = (&'a str, fn(&mut Model), i32, &'a [&'a str], &'a [&'a str], &'a str);
    let cases: [Case<'_>; 5] = [
        ("some-model", |_| {}, 0, &[], &[], without_prefix),
        ("e5-base", |_| {}, 0, &[], &[], with_prefix),
        (
            "some-model",
            |model| model.refusals = Refusals { texts: Some((10, 413)), ..Refusals::default() },
            0,
            &["embeddings warning"],
            &["DOCENT_EMBEDDING_BATCH=8"],
            "8 texts per call",
        ),
        (
            "some-model",
            |model| model.refusals.always = Some(Reply::json(400, r#"{"error":"not an embedding model"}"#)),
            1,
            &["embeddings failed rejected"],
            &[],
            "not an embedding model",
        ),
        (
            "some-model",
            |model| model.key = Some("right".to_owned()),
            1,
            &["embeddings failed invalid_key"],
            &[],
            "DOCENT_EMBEDDING_API_KEY",
        ),
    ];
    for (name, configure, code, problems, settings, words) in cases {
        let (folder, fake) = (TempDir::new().unwrap(), FakeLlm::start().await);
        fake.configure(configure);
        let mut command = docent(folder.path());
        command.args(["llm", "check", "--dev"]).env("DOCENT_EMBEDDING_PROVIDER", "openai");
        command.env("DOCENT_EMBEDDING_BASE_URL", fake.base_url()).env("DOCENT_EMBEDDING_MODEL", name);
        let checked = Checked::of(&mut command).await;
        assert_eq!(checked.code, code, "{checked:?}");
        assert_eq!(
            (checked.problems(), checked.settings()),
            (owned(problems), owned(settings)),
            "{checked:?}"
        );
        assert!(checked.printed.contains(words), "{words}: {checked:?}");
    }
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(ToString::to_string).collect()
}

#[tokio::test]
async fn check_without_a_model_says_how_to_connect_one() {
    let folder = TempDir::new().unwrap();
    let (status, printed, error) = run(docent(folder.path()).args(["llm", "check", "--dev"])).await;
    assert_eq!(status.code(), Some(1), "{error}");
    assert!(
        printed.starts_with("No chat model is connected") && printed.contains("DOCENT_LLM_BASE_URL"),
        "{printed}"
    );
    let mut invalid = docent(folder.path());
    let invalid = invalid.args(["llm", "check", "--dev"]).env("DOCENT_LLM_BASE_URL", "localhost");
    let (status, printed, error) = run(invalid).await;
    assert_eq!((status.code(), printed.as_str()), (Some(2), ""), "{error}");
}
