//! The OpenAPI document and its page: `/openapi.json`, `/docs`.

use docent_tests::rules;

rules! {
    async fn openapi_json_equals_the_generated_document(setup) {
        let app = setup.start().await;
        let reply = app.get("/openapi.json").await.expect(200);
        assert_eq!(reply.header("content-type"), "application/json");
        assert_eq!(reply.text, docent_server::openapi::json().unwrap());
        assert_eq!(reply.json()["openapi"], "3.1.0");
    }

    async fn docs_page_loads_only_own_scripts(setup) {
        let app = setup.start().await;
        let page = app.get("/docs").await.expect(200);
        let policy = page.header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'; "), "{policy}");
        assert!(policy.contains("script-src 'self';") && !policy.contains("unsafe"), "{policy}");
        let addresses = |name: &str| -> Vec<String> {
            let begin = format!("{name}=\"");
            let parts = page.text.split(&begin).skip(1);
            parts.map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
        };
        let scripts = addresses("src");
        assert_eq!(scripts.len(), page.text.matches("<script").count(), "the page has no inline script");
        for address in scripts.iter().chain(&addresses("href")).filter(|address| *address != "data:,") {
            assert!(address.starts_with('/') && !address.starts_with("//"), "{address}");
            let file = app.get(address).await.expect(200);
            assert!(!file.text.is_empty(), "{address}");
        }
    }

    async fn unknown_docs_file_returns_404(setup) {
        let app = setup.start().await;
        for name in ["index.html", "swagger-initializer.js", "nothing", "..%2FCargo.toml"] {
            app.get(&format!("/docs/{name}")).await.refused(404, "Not found");
        }
    }
}
