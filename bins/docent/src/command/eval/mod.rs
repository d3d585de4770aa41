//! `docent eval`: evaluates retrieval with given questions and documents.

mod corpus;
mod fit;
mod table;
mod work_dir;

use super::config::load;
use super::service::signal;
use crate::progress::ProgressDisplay;
use crate::wire::{self, Assembly};
use anyhow::{Context, bail};
use corpus::{Corpus, IngestionResult, SelectedFiles};
use docent::cli::{ConditionArg, EvalArgs};
use docent::config::{Profile, Settings};
use docent_answerer::quotes_page;
use docent_app::App;
use docent_app::evaluation::{
    DEPTH, EvaluatedAnswer, EvaluationInput, EvaluationResult, InvalidQuestion, LinkedQuestion, QuestionSet,
    RESAMPLES, SearchScope, UnanswerableQuestion, answers, comparison, matching, measure, questions, report,
};
use docent_domain::access::Actor;
use docent_domain::condition::Condition;
use docent_http::extract::condition::parse_filters;
use serde_json::{Value, json};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use work_dir::WorkDir;

/// Runs the evaluation and prints the results.
pub(crate) async fn run(args: &EvalArgs) -> anyhow::Result<()> {
    let sets = sets(args)?;
    let earlier = args.compare.as_deref().map(Earlier::read).transpose()?;
    let settings = load(Profile::Dev)?;
    // Created first, so that a long run does not fail at its end.
    let json = args.json.as_deref().map(|file| File::create(file).with_context(|| name(file))).transpose()?;
    let is_alone = sets.len() == 1;
    let mut reports: Vec<(String, Value)> = Vec::new();
    let mut to_fit = Vec::new();
    for set in sets {
        let set_name = set.name.clone();
        let folder = WorkDir::open(args, (!is_alone).then_some(set_name.as_str()))?;
        let work = Box::pin(evaluate(args, &settings, folder.path(), set));
        let done = tokio::select! {
            done = work => done,
            stopped = signal() => stopped.and_then(|()| bail!("interrupted")),
        };
        folder.clean_up().await;
        let results = done?;
        if !is_alone {
            println!("== {set_name}");
        }
        print!("{}", table::text(&results));
        if !is_alone {
            println!();
        }
        if args.fit.is_some() {
            to_fit.push(results.to_fit(&set_name));
        }
        reports.push((set_name, results.json()));
    }
    if !is_alone {
        let all: Vec<&Value> = reports.iter().map(|(_, report)| report).collect();
        print!("== mean of {} sets{}", reports.len(), table::summary(&comparison::summarize(&all)));
    }
    if let Some(earlier) = &earlier {
        print!("{}", earlier.differences(&reports)?);
    }
    if let Some(file) = &args.fit {
        let weights = fit::fit(&to_fit)?;
        print!("{}", fit::report(&to_fit, &weights)?);
        std::fs::write(file, serde_json::to_string_pretty(&weights)? + "\n").with_context(|| name(file))?;
    }
    if let Some(mut file) = json {
        serde_json::to_writer_pretty(&mut file, &report_of(reports)).context("writing the JSON file")?;
        writeln!(file).context("writing the JSON file")?;
    }
    Ok(())
}

/// The JSON report: that of the set, or of several sets by name.
fn report_of(mut reports: Vec<(String, Value)>) -> Value {
    match reports.as_mut_slice() {
        [(set, report)] => {
            report["name"] = json!(set);
            report.take()
        }
        _ => json!({ "sets": reports.into_iter().collect::<serde_json::Map<_, _>>() }),
    }
}

/// The report of an earlier run.
struct Earlier {
    file: String,
    report: Value,
}

impl Earlier {
    fn read(file: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(file).with_context(|| name(file))?;
        let report: Value = serde_json::from_str(&text).with_context(|| name(file))?;
        if !(report["sets"].is_object() || report["details"].is_array()) {
            bail!("{} was not written by docent eval --json", name(file));
        }
        Ok(Self { file: name(file), report })
    }

    /// The report of a set. A run over a single set is compared whatever its name was.
    fn of_set(&self, set: &str, is_alone: bool) -> Option<&Value> {
        match self.report.get("sets") {
            Some(sets) => sets.get(set),
            None => (is_alone || self.report["name"] == *set).then_some(&self.report),
        }
    }

    /// The tables of differences: by set, and over all sets.
    fn differences(&self, reports: &[(String, Value)]) -> anyhow::Result<String> {
        let mut text = String::new();
        let mut pairs = Vec::new();
        for (set, report) in reports {
            if let Some(earlier) = self.of_set(set, reports.len() == 1) {
                pairs.push((earlier, report));
                let differences = comparison::compare(&[(earlier, report)]);
                text +=
                    &format!("\n== {set} compared with {}{}", self.file, table::differences(&differences));
            }
        }
        if pairs.is_empty() {
            bail!("{} has no results of these question sets", self.file);
        }
        if pairs.len() > 1 {
            let differences = comparison::compare(&pairs);
            text +=
                &format!("\n== mean of {} sets compared{}", pairs.len(), table::differences(&differences));
        }
        Ok(text)
    }
}

/// Questions with the directory of their documents.
struct Set {
    name: String,
    file: String,
    pdfs: Option<PathBuf>,
    questions: QuestionSet,
}

/// Reads the question sets.
fn sets(args: &EvalArgs) -> anyhow::Result<Vec<Set>> {
    let (files, pdfs) = (args.questions.len(), args.pdfs.len());
    if args.reuse.is_none() && files != pdfs {
        bail!(
            "{files} files of questions and {pdfs} directories in --pdfs; give one directory for each file"
        );
    }
    if files > 1 && args.unanswerable.is_some() {
        bail!(
            "--unanswerable needs a single file of questions; mark such questions with \"unanswerable\": true"
        );
    }
    let mut sets: Vec<Set> = Vec::new();
    for (n, path) in args.questions.iter().enumerate() {
        let mut questions = read(path, questions::questions)?;
        if let Some(file) = &args.unanswerable {
            questions.unanswerable.extend(read(file, questions::unanswerable_questions)?);
        }
        let stem = path.file_stem().map_or_else(|| name(path), |stem| stem.to_string_lossy().into_owned());
        if sets.iter().any(|set| set.name == stem) {
            bail!("two files of questions are named {stem:?}");
        }
        sets.push(Set { name: stem, file: name(path), pdfs: args.pdfs.get(n).cloned(), questions });
    }
    Ok(sets)
}

fn read<T>(file: &Path, parse: impl FnOnce(&str) -> Result<T, InvalidQuestion>) -> anyhow::Result<T> {
    let text = std::fs::read_to_string(file).with_context(|| name(file))?;
    parse(&text).with_context(|| name(file))
}

fn name(file: &Path) -> String {
    file.display().to_string()
}

/// All results of an evaluation.
struct Results {
    /// The questions that documents answer.
    questions: Vec<LinkedQuestion>,
    corpus: Corpus,
    ingestion: Vec<IngestionResult>,
    measured: EvaluationResult,
    /// Number of questions about excluded files.
    left_out: usize,
    top: usize,
    /// Answers of the built-in answerer, if it was asked.
    answers: Option<Vec<EvaluatedAnswer>>,
    unanswerable: Option<Vec<EvaluatedAnswer>>,
}

impl Results {
    /// The answers with the pages that answer their questions.
    fn to_fit(&self, set: &str) -> fit::Set {
        let gold = |answer: &EvaluatedAnswer| {
            let linked = self.questions.iter().find(|linked| linked.question.id == answer.id)?;
            Some((linked.sources.first()?.document, &linked.question))
        };
        let answered = self.answers.iter().flatten().map(|answer| fit::Asked::new(answer, gold(answer)));
        let others = self.unanswerable.iter().flatten().map(|answer| fit::Asked::new(answer, None));
        fit::Set { name: set.to_owned(), asked: answered.chain(others).collect() }
    }

    fn json(&self) -> Value {
        let (corpus, measured) = (&self.corpus, &self.measured);
        let mut json = json!({
            "embedding_model": measured.model,
            "reranking_model": measured.reranker,
            "documents": self.ingestion.iter().map(IngestionResult::json).collect::<Vec<_>>(),
            "neutral_titles": corpus.neutral_titles,
            "passages": measured.passages,
            "questions": measured.questions.len(),
            "questions_left_out": self.left_out,
            "top": self.top,
            "depth": DEPTH,
            "resamples": RESAMPLES,
            "summary": report::summaries(&measured.questions),
            "details": report::details(
                &measured.questions,
                &corpus.sources,
                self.answers.as_deref().unwrap_or_default(),
            ),
        });
        let shares = |given: &[EvaluatedAnswer], scope| {
            json!({
                "quotes_page": answers::share_with_quotes(given, scope),
                "sources_hold_page": answers::share_with_page_found(given, scope),
                "shows_evidence": answers::share_showing_evidence(given, scope),
                "declined": answers::share_declining(given, scope),
            })
        };
        let (all, one) = (SearchScope::AllDocuments, SearchScope::OneDocument);
        if let Some(given) = &self.answers {
            json["answers"] = shares(given, all);
            json["answers"]["one_document"] = shares(given, one);
        }
        if let Some(given) = &self.unanswerable {
            let of = |scope| {
                let these: Vec<&EvaluatedAnswer> =
                    given.iter().filter(|answer| answer.scope == scope).collect();
                json!({ "declined": answers::share_declining(given, scope), "answers": these })
            };
            json["unanswerable"] = of(all);
            json["unanswerable"]["one_document"] = of(one);
        }
        json
    }
}

async fn evaluate(args: &EvalArgs, settings: &Settings, folder: &Path, set: Set) -> anyhow::Result<Results> {
    let Set { file, pdfs, questions, .. } = set;
    let progress = ProgressDisplay::new();
    let settings = work_dir::installation_settings(settings, folder);
    let store = wire::store(&settings).await?;
    store.migrate().await?;
    let Assembly { app, recognizer, .. } = wire::app(Profile::Dev, &settings, store)?;
    recognizer.check().await?;
    let actor = corpus::actor(&app).await?;
    let corpus = match &pdfs {
        Some(pdfs) => {
            let selected = SelectedFiles::select(pdfs, args, settings.ingestion.upload_types)?;
            // Errors in the questions are reported before the PDFs are ingested.
            questions::ensure_files_exist(&questions, &selected.names()).with_context(|| file.clone())?;
            selected.ingest(&app, wire::runner(&settings), &actor, &progress).await?
        }
        None => Corpus::load(folder)?,
    };
    questions::ensure_files_exist(&questions, &corpus.names()).with_context(|| file.clone())?;
    if args.keep.is_some() {
        corpus.save(folder)?;
    }
    let ingestion = corpus.results(&app, &actor).await?;
    for IngestionResult { file, failure, .. } in &ingestion {
        if let Some(reason) = failure {
            eprintln!("docent: {file} could not be ingested: {reason}");
        }
    }
    let condition = condition(args)?;
    let sources = match &condition {
        Some(condition) => matching(&app, corpus.sources.clone(), condition).await?,
        None => corpus.sources.clone(),
    };
    let all = questions.answerable.len();
    let posed = questions::link_sources(questions.answerable, &sources);
    if posed.is_empty() && questions.unanswerable.is_empty() {
        bail!("no question is about the selected files");
    }
    warn_about_missing_pages(&posed, &ingestion, &file);
    let top = usize::from(args.top);
    let condition = condition.as_ref();
    let input = EvaluationInput { sources: &sources, condition, questions: &posed, top };
    let measured = measure(&app, actor.authorize()?, &input, &progress).await?;
    let answerer = BuiltinAnswerer { app: &app, actor: &actor, input: &input, progress: &progress };
    let answers = if args.answers { Some(answerer.answerable().await?) } else { None };
    let unanswerable = answerer.unanswerable(&questions.unanswerable).await?;
    let left_out = all - posed.len();
    Ok(Results { questions: posed, measured, left_out, top, answers, unanswerable, ingestion, corpus })
}

/// The condition that all documents must meet, if there are any.
fn condition(args: &EvalArgs) -> anyhow::Result<Option<Condition>> {
    parse_filters(ConditionArg::all(&args.conditions)).context("--where")
}

/// Warns about questions whose pages are not in the document: their numbering may start elsewhere.
fn warn_about_missing_pages(questions: &[LinkedQuestion], ingestion: &[IngestionResult], name: &str) {
    for LinkedQuestion { question, .. } in questions {
        let file = &question.files[0];
        let result = ingestion.iter().find(|result| result.file == *file && result.failure.is_none());
        if let Some(IngestionResult { file, pages, .. }) = result
            && !question.pages.is_empty()
            && question.pages.iter().all(|page| page > pages)
        {
            eprintln!(
                "docent: {name}: line {}: {file} has {pages} pages and none of the gold pages",
                question.line
            );
        }
    }
}

/// Asks the built-in answerer.
struct BuiltinAnswerer<'a> {
    app: &'a Arc<App>,
    actor: &'a Actor,
    input: &'a EvaluationInput<'a>,
    progress: &'a ProgressDisplay,
}

impl BuiltinAnswerer<'_> {
    async fn answerable(&self) -> anyhow::Result<Vec<EvaluatedAnswer>> {
        let Self { app, actor, input, progress } = self;
        Ok(answers::answer_all(app, actor, input, quotes_page, *progress).await?)
    }

    /// `None` if there are no such questions.
    async fn unanswerable(
        &self,
        questions: &[UnanswerableQuestion],
    ) -> anyhow::Result<Option<Vec<EvaluatedAnswer>>> {
        if questions.is_empty() {
            return Ok(None);
        }
        let Self { app, actor, input, progress } = self;
        Ok(Some(answers::answer_unanswerable(app, actor, questions, input, *progress).await?))
    }
}
