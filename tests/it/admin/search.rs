//! Trying a search in the panel: `/admin/search`.

use super::{between, staff_with};
use docent_domain::fault::FaultKind;
use docent_domain::permission::Permission;
use docent_tests::app::TestApp;
use docent_tests::pdf::pdf;
use docent_tests::rules;

/// Adds two documents and returns their IDs.
async fn animals(app: &TestApp) -> [String; 2] {
    let ada = app.ada().await;
    let zebra = ada.add("zebra notes.pdf", pdf(&["The zebra lives in Africa and likes grass."])).await;
    let penguin = ada.add("birds.pdf", pdf(&["The penguin is no zebra at all."])).await;
    app.run_jobs().await;
    [zebra, penguin]
}

rules! {
    async fn search_shows_the_score_of_each_field(setup) {
        let app = setup.start().await;
        let mut staff = staff_with(&app, &[Permission::ViewDocument]).await;
        let page = staff.get("/admin/search").await.expect(200).text;
        assert!(page.contains("The passages that are found appear here."), "{page}");
        let [zebra, penguin] = animals(&app).await;
        let page = staff.get("/admin/search?q=zebra").await.expect(200).text;
        assert!(page.contains(&zebra) && page.contains(&penguin) && page.contains("likes grass."), "{page}");
        for heading in ["Score", "Body", "Headings", "Title", "Lead"] {
            assert!(page.contains(&format!("<th scope=\"col\" class=\"number\">{heading}</th>")), "{heading}: {page}");
        }
        // The title of the first result has the word, that of the second has not.
        let numbers = |document: &str| -> Vec<f32> {
            let row = between(&page, document, "</tr>");
            row.split("<td class=\"number\"").skip(1).map(|cell| between(cell, ">", "<").parse().unwrap()).collect()
        };
        let (first, second) = (numbers(&zebra), numbers(&penguin));
        assert!(first[1] > 0.0 && first[3] > 0.0 && second[1] > 0.0, "{first:?} {second:?}");
        assert_eq!(second[3], 0.0);
        if first.len() == 5 {
            assert!((first[0] - first[1..].iter().sum::<f32>()).abs() < 0.01, "{first:?}");
        }
        let none = staff.get("/admin/search?q=crane").await.expect(200).text;
        assert!(none.contains("No matching passages.") || none.contains("Dense"), "{none}");
    }

    async fn units_are_shown_with_their_features_if_the_built_in_answerer_answers(setup) {
        let app = setup.builtin_answerer().start().await;
        let mut staff = staff_with(&app, &[Permission::ViewDocument]).await;
        let [zebra, _] = animals(&app).await;
        let page = staff.get("/admin/search?q=Where%20does%20the%20zebra%20live%3F").await.expect(200).text;
        let table = &page[page.find("Units that could answer</h2>").unwrap_or_else(|| panic!("{page}"))..];
        for heading in ["Probability", "subject", "context", "rank"] {
            assert!(table.contains(&format!("<th scope=\"col\" class=\"number\">{heading}</th>")), "{heading}: {table}");
        }
        assert!(table.contains("Constant and weights"), "{table}");
        let first = between(table, &format!("/admin/documents/{zebra}"), "</tr>");
        assert!(first.contains("The zebra lives in Africa and likes grass.") && first.contains("page 1"), "{first}");
        let values: Vec<f32> =
            first.split("<td class=\"number\"").skip(1).map(|cell| between(cell, ">", "<").parse().unwrap()).collect();
        assert_eq!(values.len(), 9, "{first}");
        assert!(values.iter().all(|value| (0.0..=1.0).contains(value)), "{values:?}");
        assert!(!staff.get("/admin/search?q=").await.expect(200).text.contains("Units that could answer"));
    }

    async fn units_are_not_shown_if_a_model_answers(setup) {
        let app = setup.start().await;
        let mut staff = staff_with(&app, &[Permission::ViewDocument]).await;
        animals(&app).await;
        let page = staff.get("/admin/search?q=zebra").await.expect(200).text;
        assert!(page.contains("likes grass.") && !page.contains("Units that could answer"), "{page}");
    }

    async fn search_is_limited_by_filters_collection_and_document(setup) {
        let app = setup.start().await;
        let mut staff = staff_with(&app, &[Permission::ViewDocument]).await;
        let [zebra, penguin] = animals(&app).await;
        let filter = "%7B%22type%22%3A%22eq%22%2C%22key%22%3A%22title%22%2C%22value%22%3A%22birds.pdf%22%7D";
        let everyone = docent_domain::id::CollectionId::EVERYONE;
        for (query, shown) in [
            (format!("filters={filter}"), [false, true]),
            (format!("document={zebra}"), [true, false]),
            (format!("collection={everyone}"), [true, true]),
            (format!("collection={}", app.superuser().await.user.id), [false, false]),
        ] {
            let page = staff.get(&format!("/admin/search?q=zebra&{query}")).await.expect(200).text;
            let linked = [&zebra, &penguin].map(|id| page.contains(&format!("href=\"/admin/documents/{id}\"")));
            assert_eq!(linked, shown, "{query}: {page}");
        }
        for (query, problem) in [
            ("filters=x", "Filters must be JSON"),
            ("filters=%7B%7D", "Filters must have a"),
            ("document=x", "is not an ID (expected a UUID)"),
            ("collection=x", "is not an ID (expected a UUID)"),
        ] {
            let page = staff.get(&format!("/admin/search?q=zebra&{query}")).await.expect(422).text;
            assert!(page.contains(problem) && page.contains("value=\"zebra\""), "{query}: {page}");
        }
    }

    async fn scores_of_the_reranker_are_named(setup) {
        let app = setup.reranking().start().await;
        let mut staff = staff_with(&app, &[Permission::ViewDocument]).await;
        animals(&app).await;
        let page = staff.get("/admin/search?q=zebra").await.expect(200).text;
        assert!(page.contains("The score is that of the reranker"), "{page}");
    }

    async fn search_fails_while_the_vector_store_is_unavailable(setup) {
        let app = setup.start().await;
        let mut staff = staff_with(&app, &[Permission::ViewDocument]).await;
        animals(&app).await;
        app.faults.index.fail_all(FaultKind::Unavailable);
        let _ = staff.get("/admin/search?q=zebra").await.expect(503);
    }
}
