//! `GET /documents/{doc_id}/pages/{page}`

use async_trait::async_trait;
use docent_domain::document::{Failure, FailureCode};
use docent_domain::fault::FaultKind;
use docent_domain::page_words::PageLines;
use docent_ports::blob_store::ByteStream;
use docent_ports::page_renderer::{PageImageRequest, PageRenderer, RenderError};
use docent_tests::member::Member;
use docent_tests::pdf::pdf;
use docent_tests::{rules, wait};
use futures::future::{join_all, select_all};
use reqwest::Method;
use serde_json::json;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::Semaphore;

/// Draws page 1 at once. Other pages exceed their time limit once they are released.
#[derive(Clone)]
struct Slow {
    /// The pages that are released.
    released: Arc<Semaphore>,
    started: Arc<AtomicUsize>,
    under_way: Arc<AtomicUsize>,
}

impl Default for Slow {
    fn default() -> Self {
        Self { released: Arc::new(Semaphore::new(0)), started: Arc::default(), under_way: Arc::default() }
    }
}

/// A drawing that has not ended.
struct UnderWay<'a>(&'a AtomicUsize);

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Slow {
    fn under_way(&self) -> usize {
        self.under_way.load(Ordering::SeqCst)
    }

    fn started(&self) -> usize {
        self.started.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl PageRenderer for Slow {
    async fn render(&self, _pdf: ByteStream, drawing: &PageImageRequest) -> Result<Vec<u8>, RenderError> {
        if drawing.page.get() == 1 {
            return Ok(b"image".to_vec());
        }
        self.started.fetch_add(1, Ordering::SeqCst);
        self.under_way.fetch_add(1, Ordering::SeqCst);
        let _under_way = UnderWay(&self.under_way);
        self.released.acquire().await.unwrap().forget();
        Err(RenderError::Document(Failure::of(FailureCode::ExtractionTimeout)))
    }

    async fn words(&self, _pdf: ByteStream, _page: NonZeroU32) -> Result<PageLines, RenderError> {
        Ok(Vec::new())
    }
}

rules! {
    async fn page_image_is_a_png(setup) {
        let app = setup.start().await;
        app.leave_jobs();
        let ada = app.ada().await;
        let id = ada.add("a.pdf", pdf(&["one", "two"])).await;
        // An image needs only the file, not the ingestion.
        app.leave_jobs();
        let reply = ada.get(&format!("/documents/{id}/pages/2")).await.expect(200);
        assert!(reply.text.contains("page: 2, size: Width(1000), marked: None"), "{}", reply.text);
        assert_eq!(reply.header("content-type"), "image/png");
        assert_eq!(reply.header("cache-control"), "no-store");
        let reply = ada.get(&format!("/documents/{id}/pages/1?width=300")).await.expect(200);
        assert!(reply.text.contains("page: 1, size: Width(300)"), "{}", reply.text);
    }

    async fn requested_passage_is_highlighted(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let id = ada.add("a.pdf", pdf(&["The zebra lives in Africa.", "It eats grass."])).await;
        app.run_jobs().await;
        let found = ada.post("/search", json!({ "query": "zebra" })).await.expect(200).json();
        let passage = found["results"][0]["chunk_id"].as_str().unwrap();
        let marked = |reply: &str| reply.split_once("marked: ").unwrap().1.to_owned();
        let reply = ada.get(&format!("/documents/{id}/pages/2?passage={passage}")).await.expect(200);
        assert!(marked(&reply.text).starts_with("Some(\"It eats grass."), "{}", reply.text);
        let other = "00000000-0000-0000-0000-000000000007";
        let reply = ada.get(&format!("/documents/{id}/pages/2?passage={other}")).await.expect(200);
        assert!(marked(&reply.text).starts_with("None"), "{}", reply.text);
    }

    async fn cached_page_image_is_reused_and_deleted_with_its_document(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let path = format!("/documents/{}/pages/1", ada.add("a.pdf", pdf(&["one"])).await);
        let _ = ada.get(&path).await.expect(200);
        app.faults.extractor.fail_next(1, FaultKind::Unavailable);
        let _ = ada.get(&path).await.expect(200);
        let _ = ada.get(&format!("{path}?width=200")).await.expect(503);
        app.run_jobs().await;
        let _ = ada.delete(path.strip_suffix("/pages/1").unwrap()).await.expect(204);
        ada.get(&path).await.refused(404, "Document not found");
        app.run_jobs().await;
    }

    async fn missing_or_undrawable_page_returns_an_error(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let id = ada.add("a.pdf", pdf(&["one"])).await;
        ada.get(&format!("/documents/{id}/pages/2")).await.refused(404, "Page not found");
        // The renderer is not asked again within an hour.
        app.faults.extractor.fail_next(1, FaultKind::Unavailable);
        ada.get(&format!("/documents/{id}/pages/2")).await.refused(404, "Page not found");
        app.advance(Duration::from_secs(3600));
        let ada = Member::login(&app, ada.user.clone()).await;
        let _ = ada.get(&format!("/documents/{id}/pages/2")).await.expect(503);
        for page in ["0", "-1", "x", "99999999999"] {
            ada.get(&format!("/documents/{id}/pages/{page}")).await.invalid(&["path.page"]);
        }
        for (query, place) in [("width=99", "query.width"), ("width=3001", "query.width"), ("passage=x", "query.passage")] {
            ada.get(&format!("/documents/{id}/pages/1?{query}")).await.invalid(&[place]);
        }
        let broken = ada.add("b.pdf", b"nothing".to_vec()).await;
        let reply = ada.get(&format!("/documents/{broken}/pages/1")).await.expect(422);
        assert!(reply.json()["detail"].as_str().unwrap().starts_with("This page cannot be drawn: "), "{}", reply.text);
        app.run_jobs().await;
    }

    async fn page_that_fails_is_not_drawn_again_at_other_widths(setup) {
        let slow = Slow::default();
        let app = setup.renderer(slow.clone()).start().await;
        app.leave_jobs();
        let ada = app.ada().await;
        let path = format!("/documents/{}/pages/2", ada.add("a.pdf", pdf(&["one", "two"])).await);
        slow.released.add_permits(100);
        let paths: Vec<String> = (900..912).map(|width| format!("{path}?width={width}")).collect();
        for reply in join_all(paths.iter().map(|path| ada.get(path))).await {
            let _ = reply.expect(422);
        }
        // The default settings let an account draw two pages at a time, and both may be this one.
        assert!(slow.started() <= 2, "{}", slow.started());
        let before = slow.started();
        let _ = ada.get(&format!("{path}?width=2000")).await.expect(422);
        assert_eq!(slow.started(), before);
    }

    async fn one_account_does_not_stop_the_page_images_of_others(setup) {
        let slow = Slow::default();
        let app = setup.renderer(slow.clone()).start().await;
        app.leave_jobs();
        let (ada, bob) = (app.ada().await, app.member("bob@example.org").await);
        let path = format!("/documents/{}/pages", ada.add("a.pdf", pdf(&["one", "two", "three"])).await);
        let request = |n: u32| {
            let request = ada.request(Method::GET, &format!("{path}/{}?width={}", 2 + n % 2, 200 + n));
            tokio::spawn(async move { request.send().await.unwrap() })
        };
        // Two are drawn and 16 wait.
        let requests: Vec<_> = (0..19).map(request).collect();
        // A refusal takes a second, and waiting ends after ten.
        let time = async {
            loop {
                tokio::time::sleep(Duration::from_millis(50)).await;
                app.advance(Duration::from_millis(100));
            }
        };
        let (refused, _, waiting) = tokio::select! {
            first = select_all(requests) => first,
            () = time => unreachable!("time does not end"),
        };
        let refused = refused.unwrap();
        assert_eq!((refused.status().as_u16(), &refused.headers()["retry-after"]), (503, &"3".parse().unwrap()));
        assert_eq!(refused.json::<serde_json::Value>().await.unwrap(), json!({ "detail": "Too many pages are being drawn", "code": "drawing_queue_full" }));
        wait::until("two pages are drawn", async || slow.under_way() == 2).await;
        let _ = bob.get(&format!("{path}/1")).await.expect(200);
        let _ = bob.get(&format!("{path}/1/words")).await.expect(200);
        assert_eq!(slow.started(), 2);
        // The requests of a client that has gone away are dropped.
        for request in &waiting {
            request.abort();
        }
        wait::until("nothing is drawn", async || slow.under_way() == 0).await;
        let _ = ada.get(&format!("{path}/1")).await.expect(200);
    }
}
