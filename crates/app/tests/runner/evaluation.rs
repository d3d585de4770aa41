//! Retrieval and answer evaluation.

use crate::service::Service;
use docent_app::evaluation::answers::{answer_all, answer_unanswerable, share_declining, share_with_quotes};
use docent_app::evaluation::report::summary;
use docent_app::evaluation::{
    EvaluationInput, EvaluationResult, LinkedQuestion, Metric, Ranking, SearchScope, Source, measure,
    questions,
};
use docent_app::maintenance::progress::NoProgress;
use docent_domain::access::Actor;
use docent_domain::id::VersionId;
use docent_domain::text::Title;
use docent_ports::vector_index::VectorIndex as _;
use docent_testkit::builders;
use docent_testkit::fakes::chat_model::{ScriptedChatModel, Turn};
use std::sync::Arc;

const TEXTS: [(&str, &str); 3] = [
    ("zebra.pdf", "zebras have stripes"),
    ("owl.pdf", "owls have feathers"),
    ("gone.pdf", "newts have gills"),
];
const QUESTIONS: &str = r#"
{"question": "who has stripes", "file": "zebra.pdf", "gold_pages": [1], "evidence": "zebras have stripes"}
{"question": "what feathers", "file": "owl.pdf", "gold_pages": [1]}
{"question": "what gills", "file": "gone.pdf", "gold_pages": [1]}
{"question": "owls", "file": "owl.pdf", "gold_pages": [2]}
"#;

fn actor() -> Actor {
    Actor::of(&builders::user(1)).unwrap()
}

/// Uploads the documents and removes the last one's chunks.
async fn sources(service: &Service) -> Vec<Source> {
    let mut sources = Vec::new();
    for (file, text) in TEXTS {
        let document = service.upload(text).await;
        let title = Title::parse(file).unwrap();
        sources.push(Source { file: file.to_owned(), document, title });
    }
    service.drain().await;
    let deleted = sources.last().unwrap().document;
    service.index.remove(VersionId::first(deleted)).await.unwrap();
    sources
}

async fn measured(service: &Service, sources: &[Source]) -> EvaluationResult {
    let posed = posed(sources);
    let input = EvaluationInput { sources, condition: None, questions: &posed, top: 5 };
    measure(&service.app, actor().authorize().unwrap(), &input, &NoProgress).await.unwrap()
}

fn posed(sources: &[Source]) -> Vec<LinkedQuestion> {
    questions::link_sources(questions::questions(QUESTIONS).unwrap().answerable, sources)
}

#[tokio::test]
async fn every_ranking_is_measured_and_missing_documents_count_as_misses() {
    let service = Service::embedding(64);
    let sources = sources(&service).await;
    let measured = measured(&service, &sources).await;
    assert_eq!((measured.passages, measured.questions.len()), (2, 4));
    for scope in SearchScope::ALL {
        for ranking in Ranking::ALL {
            let mean = |metric| summary(&measured.questions, scope, ranking, metric).unwrap().mean;
            assert_eq!(mean(Metric::PageHit(1)), 0.5, "{scope:?} {ranking:?}");
            assert_eq!(mean(Metric::Evidence), 1.0, "{scope:?} {ranking:?}");
        }
    }
    let places = |scope| -> Vec<usize> {
        let rankings = measured.questions[1].rankings.iter().filter(|result| result.scope == scope);
        rankings.map(|result| result.first.len()).collect()
    };
    assert_eq!(places(SearchScope::OneDocument), [1, 1, 1], "only one document is searched");
    assert!(places(SearchScope::AllDocuments).iter().all(|found| *found >= 1));
}

#[tokio::test]
async fn dense_ranking_is_omitted_without_vectors() {
    let service = Service::new();
    let sources = sources(&service).await;
    let measured = measured(&service, &sources).await;
    let rankings: Vec<Ranking> = measured.questions[0].rankings.iter().map(|result| result.ranking).collect();
    assert_eq!(rankings, [Ranking::Docent, Ranking::Bm25, Ranking::Docent, Ranking::Bm25]);
}

#[tokio::test]
async fn answers_are_checked_for_page_quotes_and_refusals() {
    let service = Service::new();
    let sources = sources(&service).await;
    // Each question is asked over all documents, then over its own.
    let turns = [
        Turn::searching("stripes"),
        Turn::saying("zebra.pdf 1"),
        Turn::declining("no"),
        Turn::saying("zebra.pdf 1"),
        Turn::saying("owl.pdf 1"),
        Turn::declining("no"),
        Turn::declining("no"),
        Turn::saying("owl.pdf 1"),
        Turn::declining("no"),
        Turn::declining("no"),
        Turn::saying("some"),
    ];
    let service = service.changed(|ports| ports.model = Arc::new(ScriptedChatModel::new(turns)));
    let quotes = |answer: &str, title: &str, page| answer == format!("{title} {page}");
    let posed = posed(&sources);
    let input = EvaluationInput { sources: &sources, condition: None, questions: &posed, top: 5 };
    let given = answer_all(&service.app, &actor(), &input, quotes, &NoProgress).await.unwrap();
    let of = |scope| given.iter().filter(move |answer| answer.scope == scope);
    let (all, own) = (SearchScope::AllDocuments, SearchScope::OneDocument);
    let quoting: Vec<_> = of(all).map(|answer| answer.quotes_page).collect();
    assert_eq!(
        quoting,
        [true, false, false, false].map(Some),
        "another document and another page do not count"
    );
    let sourced: Vec<_> = of(all).map(|answer| answer.sources_hold_page).collect();
    assert_eq!(sourced, [true, false, false, false].map(Some), "only the first turn searched");
    assert_eq!(
        (share_with_quotes(&given, all).unwrap().mean, share_declining(&given, all).unwrap().mean),
        (0.25, 0.25)
    );
    assert_eq!(
        (share_with_quotes(&given, own).unwrap().mean, share_declining(&given, own).unwrap().mean),
        (0.25, 0.75)
    );
    let questions = questions::unanswerable_questions(r#"{"question": "x", "file": "owl.pdf"}"#).unwrap();
    let (app, actor) = (&service.app, actor());
    let bare = answer_unanswerable(app, &actor, &questions, &input, &NoProgress).await.unwrap();
    assert_eq!(share_declining(&bare, all).unwrap().mean, 1.0);
    assert_eq!(share_declining(&bare, own).unwrap().mean, 0.0);
}
