//! Descriptions of pictures by a model.

use crate::service::Service;
use docent_domain::chat::Message;
use docent_domain::document::Document;
use docent_domain::fault::{FaultCause, FaultKind};
use docent_domain::id::{DocumentId, VersionId};
use docent_domain::listing::{PageRequest, Period, UsageFilter, UsageGrouping};
use docent_domain::usage::TokenUsage;
use docent_testkit::fakes::chat_model::{ScriptedChatModel, Turn};
use docent_testkit::fakes::page_renderer::SIGNATURE;
use docent_testkit::fakes::text_extractor::{CachingTextExtractor, fake_pdf};
use docent_testkit::fakes::text_recognizer::FakeTextRecognizer;
use std::sync::Arc;

/// A service with a model that answers so about one picture after the other.
fn service(turns: impl IntoIterator<Item = Turn>) -> (Service, Arc<ScriptedChatModel>) {
    let model = Arc::new(ScriptedChatModel::new(turns));
    let service = Service::new().changed(|ports| {
        ports.extractor = Arc::new(CachingTextExtractor::default());
        ports.vision_model = Some(Arc::clone(&model) as _);
    });
    (service, model)
}

async fn upload(service: &Service, pages: &[&str]) -> DocumentId {
    service.upload(&String::from_utf8(fake_pdf(pages)).unwrap()).await
}

/// The ingested document and its text.
async fn ingested(service: &Service, id: DocumentId) -> (Document, String) {
    service.drain().await;
    let document = service.document(id).await;
    assert_eq!(document.state.name(), "ingested");
    let entries = service.index.entries(VersionId::first(id));
    (document, entries.into_iter().map(|entry| entry.text).collect::<Vec<_>>().join("\n"))
}

#[tokio::test]
async fn pictures_are_described_and_the_text_says_so() {
    let used = TokenUsage { prompt: 900, completion: 12 };
    let (service, model) = service([Turn::new().text("A bar chart: North 4, South 7.").finished(Some(used))]);
    let id = upload(&service, &["printed words", "Sales[picture]"]).await;
    let (document, text) = ingested(&service, id).await;
    assert!(text.contains("Picture, described by scripted: A bar chart: North 4, South 7."), "{text}");
    let coverage = document.coverage.unwrap();
    assert_eq!((&*coverage.described_pages, &*coverage.unread_picture_pages), (&[2][..], &[][..]));
    assert_eq!(coverage.warnings(), ["1 of 2 pages: pictures described by a model, which may be wrong"]);
    let [request] = &model.requests()[..] else { panic!("one call") };
    assert!(request.picture.as_ref().unwrap().starts_with(SIGNATURE));
    assert!(matches!(&request.messages[..], [Message::User(task)] if task.contains("never instructions")));

    let filter = UsageFilter { user: document.owner, api_key: None, period: Period::default() };
    let grouping = UsageGrouping { by_day: false, by_user: true, by_key: false };
    let mut view = service.ports.store.read().await.unwrap();
    let page = PageRequest { offset: 0, limit: 9 };
    let [sum] = &view.usage().sums(&filter, grouping, page).await.unwrap().records[..] else { panic!() };
    assert_eq!(sum.tokens, used);
}

#[tokio::test]
async fn description_stands_beside_recognised_text() {
    let (service, _) = service([Turn::saying("A table of copays."), Turn::saying("NONE")]);
    let service = service
        .changed(|ports| ports.recognizer = Arc::new(Some(Arc::new(FakeTextRecognizer::default()) as _)));
    let id = upload(&service, &["Costs[picture]Copay $71", "Logo[picture]Aa"]).await;
    let (document, text) = ingested(&service, id).await;
    assert!(
        text.contains("Copay $71") && text.contains("described by scripted: A table of copays."),
        "{text}"
    );
    let coverage = document.coverage.unwrap();
    assert_eq!((coverage.described_pages, coverage.undescribed_pages), (vec![1], vec![]));
    assert_eq!(coverage.recognition.unwrap().picture_pages.len(), 2);
}

#[tokio::test]
async fn refused_picture_is_listed_and_asked_about_again_later() {
    let refused = Turn::refused(FaultKind::Rejected);
    let (service, model) = service([refused, Turn::saying("A pump.")]);
    let pages = ["One[picture]", "Two[picture]"];
    let id = upload(&service, &pages).await;
    let (document, _) = ingested(&service, id).await;
    let coverage = document.coverage.unwrap();
    assert_eq!((coverage.described_pages, coverage.undescribed_pages), (vec![2], vec![1]));
    model.push(Turn::saying("A valve."));
    let id = upload(&service, &pages).await;
    let (document, text) = ingested(&service, id).await;
    assert_eq!(document.coverage.unwrap().described_pages, [1, 2]);
    assert!(text.contains("A valve.") && text.contains("A pump."), "what was described is cached: {text}");
    assert_eq!(model.requests().len(), 3);
}

#[tokio::test]
async fn model_that_is_down_is_asked_once_and_delays_nothing() {
    for kind in [FaultKind::Unavailable, FaultKind::Timeout, FaultKind::RateLimited] {
        let (service, model) = service([Turn::refused(kind), Turn::saying("never asked")]);
        let id = upload(&service, &["One[picture]", "Two[picture]", "Three[picture]"]).await;
        let (document, text) = ingested(&service, id).await;
        assert_eq!(document.coverage.unwrap().undescribed_pages, [1, 2, 3], "{kind:?}");
        assert_eq!((model.requests().len(), text.contains("described")), (1, false));
    }
}

#[tokio::test]
async fn server_that_rejects_three_pictures_in_a_row_gets_no_more() {
    let rejected = || Turn::refused(FaultKind::Rejected);
    let (service, model) =
        service([rejected(), rejected(), Turn::saying("A pump."), rejected(), rejected(), rejected()]);
    let id = upload(
        &service,
        &["1[picture]", "2[picture]", "3[picture]", "4[picture]", "5[picture]", "6[picture]", "7[picture]"],
    )
    .await;
    let (document, _) = ingested(&service, id).await;
    let coverage = document.coverage.unwrap();
    assert_eq!((coverage.described_pages, coverage.undescribed_pages), (vec![3], vec![1, 2, 4, 5, 6, 7]));
    assert_eq!(model.requests().len(), 6);

    let unknown = Turn::refused_because(FaultKind::Rejected, FaultCause::UnknownModel);
    let (service, model) = self::service([unknown]);
    let id = upload(&service, &["1[picture]", "2[picture]"]).await;
    let (document, _) = ingested(&service, id).await;
    assert_eq!((document.coverage.unwrap().undescribed_pages, model.requests().len()), (vec![1, 2], 1));
}
