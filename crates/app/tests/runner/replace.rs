//! Replacing the files of documents while they are searched and read.

use crate::call_gate::GatedTask;
use crate::service::Service;
use docent_app::search::{self, SearchRequest};
use docent_domain::access::Actor;
use docent_domain::scope::Scope;
use docent_domain::selection::Selection;
use docent_domain::user::User;
use docent_testkit::builders;
use std::sync::Arc;

/// Between whichever calls of a search the new version becomes the searched one, the search finds one version.
#[tokio::test]
async fn search_of_selected_document_finds_it_while_its_file_is_replaced() {
    let mut searches = 0;
    for is_selected in [true, false] {
        for calls in 0.. {
            let service = Service::stepped();
            let id = service.upload("zebras 1").await;
            service.drain().await;
            service.replace(id, "zebras 2").await;
            let documents = is_selected.then(|| vec![id]);
            let selection = Selection { documents, ..Selection::default() };
            let app = Arc::clone(&service.app);
            let mut search = GatedTask::start(async move {
                let root = Actor::of(&User { is_superuser: true, ..builders::user(1) }).unwrap();
                let grant = root.authorize().unwrap();
                let (query, scope) = ("zebras", Scope::SERVICE);
                let request = SearchRequest { query, scope, selection: &selection, limit: 10 };
                search::search(&app, grant, request).await.unwrap().passages
            })
            .await;
            let mut has_ended = false;
            for _ in 0..calls {
                has_ended = has_ended || search.step().await;
            }
            if has_ended {
                break;
            }
            service.drain().await;
            let found = search.finish().await;
            let found: Vec<_> = found.iter().map(|chunk| (chunk.version, chunk.text.as_str())).collect();
            assert!(
                [[(1, "zebras 1")], [(2, "zebras 2")]].iter().any(|one| *one == *found),
                "{found:?} after {calls} calls"
            );
            searches += 1;
        }
    }
    assert!(searches >= 6, "{searches} searches");
}
