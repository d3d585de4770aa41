//! `/librechat/documents…`

use super::{ADA, FILE};
use docent_tests::librechat::SECRET;
use docent_tests::pdf::pdf;
use docent_tests::rules;
use reqwest::Method;
use serde_json::json;

rules! {
    async fn whole_text_of_a_file_is_one_string(setup) {
        let app = setup.librechat(SECRET).start().await;
        let ada = app.librechat(ADA);
        let _ = ada.embed(FILE, "a.pdf", pdf(&["About lions", "About zebras"])).await.expect(200);
        let text = "a.pdf\n\n# PAGE 1\n\nAbout lions\n\n# PAGE 2\n\nAbout zebras";
        assert_eq!(ada.context(FILE).await.expect(200).json(), json!(text));
        let _ = ada.embed("short", "b.pdf", pdf(&["About tigers"])).await.expect(200);
        assert_eq!(ada.context("short").await.expect(200).json(), json!("b.pdf\nAbout tigers"));
        ada.context("unknown").await.refused(404, "The specified file_id was not found");
    }

    async fn pages_of_files_are_read(setup) {
        let app = setup.librechat(SECRET).start().await;
        let ada = app.librechat(ADA);
        let _ = ada.embed("1", "1.pdf", pdf(&["lions", "zebras"])).await.expect(200);
        let _ = ada.embed("2", "2.pdf", pdf(&["tigers"])).await.expect(200);
        let read = async |query: &str| app.send(ada.request(Method::GET, &format!("/documents{query}"))).await;
        let pages = read("?ids=1&ids=2").await.expect(200).json();
        let places: Vec<_> = pages.as_array().unwrap().iter().map(|page| &page["metadata"]["page"]).collect();
        assert_eq!(places, [1, 2, 1]);
        assert_eq!(pages[2]["metadata"]["source"], "2.pdf");
        assert_eq!(read("?ids=1&ids=1").await.expect(200).json(), read("?ids=1").await.expect(200).json());
        read("?ids=1&ids=unknown").await.refused(404, "One or more IDs not found");
        for query in ["", "?ids="] {
            assert_eq!(read(query).await.status, 422);
        }
    }

    async fn known_files_are_deleted_beside_unknown_ones(setup) {
        let app = setup.librechat(SECRET).start().await;
        let ada = app.librechat(ADA);
        for id in ["1", "2", "3"] {
            let _ = ada.embed(id, "a.pdf", pdf(&[id])).await.expect(200);
        }
        ada.delete(&["1", "unknown"]).await.refused(404, "One or more IDs not found");
        ada.delete(&["1"]).await.refused(404, "One or more IDs not found");
        let deleted = ada.delete(&["2", "3"]).await.expect(200).json();
        assert_eq!(deleted["message"], "Documents for 2 files deleted successfully");
        app.run_jobs().await;
    }
}
