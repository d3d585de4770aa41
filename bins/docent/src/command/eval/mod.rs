//! `docent eval`: how well questions of one's own are answered.

mod corpus;
mod folder;
mod table;

use super::{config::load, service::signal};
use crate::{
    progress::Shown,
    wire::{self, Wired},
};
use anyhow::{Context, bail};
use corpus::{Chosen, Corpus, State};
use docent::{
    cli::EvalArgs,
    config::{Profile, Settings},
};
use docent_adapters::builtin::answerer;
use docent_app::{
    App,
    evaluation::{
        AnswerClassifier, DEPTH, EvaluatedAnswer, EvaluationInput, EvaluationResult, InvalidQuestion,
        LinkedQuestion, Question, RESAMPLES, answers, measure, questions, report,
    },
};
use docent_domain::access::Actor;
use folder::Folder;
use serde_json::{Value, json};
use std::{fs::File, io::Write, path::Path, sync::Arc};

/// The built-in answerer's own words, understood.
const CLASSIFIER: AnswerClassifier =
    AnswerClassifier { quotes: answerer::quotes_page, declines: answerer::is_declined };

/// Measures, and prints what came out.
pub(crate) async fn run(args: &EvalArgs) -> anyhow::Result<()> {
    let questions = Questions::read(args)?;
    // An hour of work must not end at a file that cannot be written.
    let json = args.json.as_deref().map(|file| File::create(file).with_context(|| name(file))).transpose()?;
    let settings = load(Profile::Dev)?;
    let folder = Folder::open(args)?;
    let work = Box::pin(evaluate(args, &settings, folder.path(), questions));
    let done = tokio::select! {
        done = work => done,
        stopped = signal() => stopped.and_then(|()| bail!("stopped")),
    };
    folder.finish().await;
    let results = done?;
    print!("{}", table::text(&results));
    if let Some(mut file) = json {
        serde_json::to_writer_pretty(&mut file, &results.json()).context("writing the JSON file")?;
        writeln!(file).context("writing the JSON file")?;
    }
    Ok(())
}

/// What is asked.
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

/// Everything that came out.
struct Results {
    corpus: Corpus,
    states: Vec<State>,
    measured: EvaluationResult,
    /// Questions about files that were left out.
    left_out: usize,
    top: usize,
    /// Of the built-in answerer, when it was asked.
    answers: Option<Vec<EvaluatedAnswer>>,
    unanswerable: Option<Vec<EvaluatedAnswer>>,
}

impl Results {
    fn json(&self) -> Value {
        let (corpus, measured) = (&self.corpus, &self.measured);
        let mut json = json!({
            "embedding_model": measured.model,
            "reranking_model": measured.reranker,
            "documents": self.states.iter().map(State::json).collect::<Vec<_>>(),
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
    let (shown, about) = (Shown::new(), || name(&args.questions));
    let settings = folder::installation(settings, folder);
    let store = wire::store(&settings).await?;
    store.migrate().await?;
    let Wired { app, .. } = wire::app(Profile::Dev, &settings, store)?;
    let actor = corpus::actor(&app).await?;
    let corpus = match &args.pdfs {
        Some(pdfs) => {
            let chosen = Chosen::of(pdfs, args)?;
            // What is wrong with the questions is told before the PDFs are read.
            questions::ensure_files_exist(&questions.answerable, &chosen.names()).with_context(about)?;
            chosen.ingest(&app, wire::runner(&settings), &actor, &shown).await?
        }
        None => Corpus::kept(folder)?,
    };
    questions::ensure_files_exist(&questions.answerable, &corpus.names()).with_context(about)?;
    if args.keep.is_some() {
        corpus.keep(folder)?;
    }
    let states = corpus.states(&app, &actor).await?;
    for State { file, failure, .. } in &states {
        if let Some(reason) = failure {
            eprintln!("docent: {file} could not be ingested: {reason}");
        }
    }
    let all = questions.answerable.len();
    let posed = questions::link_sources(questions.answerable, &corpus.sources);
    if posed.is_empty() {
        bail!("no question is about the files that are left");
    }
    doubt(&posed, &states, &name(&args.questions));
    let top = usize::from(args.top);
    let what = EvaluationInput { sources: &corpus.sources, questions: &posed, top };
    let measured = measure(&app, actor.authorize()?, &what, &shown).await?;
    let answering = Answering { app: &app, actor: &actor, shown: &shown };
    let answers = if args.answers { Some(answering.answerable(&posed).await?) } else { None };
    let unanswerable = answering.unanswerable(&questions.unanswerable).await?;
    Ok(Results { measured, left_out: all - posed.len(), top, answers, unanswerable, states, corpus })
}

/// Names questions whose pages cannot be found: they may be counted from another number.
fn doubt(questions: &[LinkedQuestion], states: &[State], name: &str) {
    for LinkedQuestion { question, .. } in questions {
        let state = states.iter().find(|state| state.file == question.file && state.failure.is_none());
        if let Some(State { file, pages, .. }) = state
            && question.pages.iter().all(|page| page > pages)
        {
            eprintln!(
                "docent: {name}: line {}: {file} has {pages} pages, and those that are to answer are none of them",
                question.line
            );
        }
    }
}

/// Who answers.
struct Answering<'a> {
    app: &'a Arc<App>,
    actor: &'a Actor,
    shown: &'a Shown,
}

impl Answering<'_> {
    async fn answerable(&self, questions: &[LinkedQuestion]) -> anyhow::Result<Vec<EvaluatedAnswer>> {
        Ok(answers::answer_all(self.app, self.actor, questions, CLASSIFIER, self.shown).await?)
    }

    /// None where there are no such questions.
    async fn unanswerable(&self, questions: &[String]) -> anyhow::Result<Option<Vec<EvaluatedAnswer>>> {
        if questions.is_empty() {
            return Ok(None);
        }
        let given =
            answers::answer_unanswerable(self.app, self.actor, questions, CLASSIFIER, self.shown).await;
        Ok(Some(given?))
    }
}
