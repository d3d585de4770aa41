//! `docent eval`: evaluates retrieval with given questions and documents.

mod corpus;
mod table;
mod work_dir;

use super::config::load;
use super::service::signal;
use crate::progress::ProgressDisplay;
use crate::wire::{self, Assembly};
use anyhow::{Context, bail};
use corpus::{Corpus, IngestionResult, SelectedFiles};
use docent::cli::EvalArgs;
use docent::config::{Profile, Settings};
use docent_adapters::builtin::answerer;
use docent_app::App;
use docent_app::evaluation::{
    AnswerClassifier, DEPTH, EvaluatedAnswer, EvaluationInput, EvaluationResult, InvalidQuestion,
    LinkedQuestion, Question, RESAMPLES, answers, measure, questions, report,
};
use docent_domain::access::Actor;
use serde_json::{Value, json};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use work_dir::WorkDir;

/// How to interpret the answers of the built-in answerer.
const CLASSIFIER: AnswerClassifier =
    AnswerClassifier { quotes: answerer::quotes_page, declines: answerer::is_declined };

/// Runs the evaluation and prints the results.
pub(crate) async fn run(args: &EvalArgs) -> anyhow::Result<()> {
    let questions = Questions::read(args)?;
    // Created first, so that a long run does not fail at its end.
    let json = args.json.as_deref().map(|file| File::create(file).with_context(|| name(file))).transpose()?;
    let settings = load(Profile::Dev)?;
    let folder = WorkDir::open(args)?;
    let work = Box::pin(evaluate(args, &settings, folder.path(), questions));
    let done = tokio::select! {
        done = work => done,
        stopped = signal() => stopped.and_then(|()| bail!("interrupted")),
    };
    folder.clean_up().await;
    let results = done?;
    print!("{}", table::text(&results));
    if let Some(mut file) = json {
        serde_json::to_writer_pretty(&mut file, &results.json()).context("writing the JSON file")?;
        writeln!(file).context("writing the JSON file")?;
    }
    Ok(())
}

/// The questions of an evaluation.
struct Questions {
    answerable: Vec<Question>,
    unanswerable: Vec<String>,
}

impl Questions {
    fn read(args: &EvalArgs) -> anyhow::Result<Self> {
        Ok(Self {
            answerable: read(&args.questions, questions::questions)?,
            unanswerable: match &args.unanswerable {
                Some(file) => read(file, questions::unanswerable_questions)?,
                None => Vec::new(),
            },
        })
    }
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
        if let Some(given) = &self.answers {
            json["answers"] = json!({
                "quotes_page": answers::share_with_quotes(given),
                "sources_hold_page": answers::share_with_page_found(given),
                "declined": answers::share_declining(given),
            });
        }
        if let Some(given) = &self.unanswerable {
            json["unanswerable"] = json!({ "declined": answers::share_declining(given), "answers": given });
        }
        json
    }
}

async fn evaluate(
    args: &EvalArgs,
    settings: &Settings,
    folder: &Path,
    questions: Questions,
) -> anyhow::Result<Results> {
    let (progress, file) = (ProgressDisplay::new(), || name(&args.questions));
    let settings = work_dir::installation_settings(settings, folder);
    let store = wire::store(&settings).await?;
    store.migrate().await?;
    let Assembly { app, recognizer, .. } = wire::app(Profile::Dev, &settings, store)?;
    recognizer.check().await?;
    let actor = corpus::actor(&app).await?;
    let corpus = match &args.pdfs {
        Some(pdfs) => {
            let selected = SelectedFiles::select(pdfs, args, settings.http.upload_types)?;
            // Errors in the questions are reported before the PDFs are ingested.
            questions::ensure_files_exist(&questions.answerable, &selected.names()).with_context(file)?;
            selected.ingest(&app, wire::runner(&settings), &actor, &progress).await?
        }
        None => Corpus::load(folder)?,
    };
    questions::ensure_files_exist(&questions.answerable, &corpus.names()).with_context(file)?;
    if args.keep.is_some() {
        corpus.save(folder)?;
    }
    let ingestion = corpus.results(&app, &actor).await?;
    for IngestionResult { file, failure, .. } in &ingestion {
        if let Some(reason) = failure {
            eprintln!("docent: {file} could not be ingested: {reason}");
        }
    }
    let all = questions.answerable.len();
    let posed = questions::link_sources(questions.answerable, &corpus.sources);
    if posed.is_empty() {
        bail!("no question is about the selected files");
    }
    warn_about_missing_pages(&posed, &ingestion, &name(&args.questions));
    let top = usize::from(args.top);
    let input = EvaluationInput { sources: &corpus.sources, questions: &posed, top };
    let measured = measure(&app, actor.authorize()?, &input, &progress).await?;
    let answerer = BuiltinAnswerer { app: &app, actor: &actor, progress: &progress };
    let answers = if args.answers { Some(answerer.answerable(&posed).await?) } else { None };
    let unanswerable = answerer.unanswerable(&questions.unanswerable).await?;
    Ok(Results { measured, left_out: all - posed.len(), top, answers, unanswerable, ingestion, corpus })
}

/// Warns about questions whose pages are not in the document: their numbering may start elsewhere.
fn warn_about_missing_pages(questions: &[LinkedQuestion], ingestion: &[IngestionResult], name: &str) {
    for LinkedQuestion { question, .. } in questions {
        let result = ingestion.iter().find(|result| result.file == question.file && result.failure.is_none());
        if let Some(IngestionResult { file, pages, .. }) = result
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
    progress: &'a ProgressDisplay,
}

impl BuiltinAnswerer<'_> {
    async fn answerable(&self, questions: &[LinkedQuestion]) -> anyhow::Result<Vec<EvaluatedAnswer>> {
        Ok(answers::answer_all(self.app, self.actor, questions, CLASSIFIER, self.progress).await?)
    }

    /// `None` if there are no such questions.
    async fn unanswerable(&self, questions: &[String]) -> anyhow::Result<Option<Vec<EvaluatedAnswer>>> {
        if questions.is_empty() {
            return Ok(None);
        }
        let given =
            answers::answer_unanswerable(self.app, self.actor, questions, CLASSIFIER, self.progress).await;
        Ok(Some(given?))
    }
}
