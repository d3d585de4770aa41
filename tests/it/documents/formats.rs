//! Files of other types than PDF, which `DOCENT_UPLOAD_TYPES` accepts.

use docent_domain::file_type::FileTypes;
use docent_testkit::fakes::chat_model::Turn;
use docent_tests::member::{Member, form};
use docent_tests::pdf::pdf;
use docent_tests::reply::Reply;
use docent_tests::rules;
use docent_tests::setup::Setup;
use serde_json::{Value, json};

const TEXT: &[u8] = b"Lions\nLions hunt at night.\x0cZebras\nZebras graze by day.";

/// Accepts files of these types.
fn accepting(setup: Setup, types: &str) -> Setup {
    let types = FileTypes::parse(types).unwrap();
    setup.settings(|settings| settings.upload_types = types)
}

async fn upload(by: &Member, name: &str, media_type: &str, bytes: &[u8]) -> Reply {
    by.post_form("/documents/upload", form(name, media_type, bytes.to_vec())).await
}

/// Uploads a text of two sections and ingests it.
async fn add_text(app: &docent_tests::app::TestApp, by: &Member) -> String {
    let document = upload(by, "animals.md", "text/markdown", TEXT).await.expect(202).json();
    app.run_jobs().await;
    document["id"].as_str().unwrap().to_owned()
}

rules! {
    async fn content_of_no_accepted_type_returns_415_that_names_them(setup) {
        let app = accepting(setup, "pdf,md,txt").start().await;
        let ada = app.ada().await;
        let zip: &[u8] = b"PK\x03\x04word/document.xml";
        let image: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
        let page: &[u8] = b"<!DOCTYPE html><p>Hello";
        for (name, bytes) in [("a.pdf", zip), ("a.txt", image), ("a.txt", page), ("a.pdf", page)] {
            let reply = upload(&ada, name, "application/pdf", bytes).await;
            reply.refused(415, "Only PDF, Markdown and plain text files are supported");
        }
        let long = [image, &[0; 100_000]].concat();
        upload(&ada, "a.txt", "text/plain", &long).await
            .refused(415, "Only PDF, Markdown and plain text files are supported");
        assert_eq!(ada.get("/documents").await.expect(200).json(), json!([]));
        assert_eq!(app.job_counts().await, Default::default());
    }

    async fn type_is_found_by_content_whatever_the_client_says(setup) {
        let app = accepting(setup, "all").start().await;
        let ada = app.ada().await;
        let report = async |name: &str, media_type: &str, bytes: &[u8]| {
            let document = upload(&ada, name, media_type, bytes).await.expect(202).json();
            app.run_jobs().await;
            let id = document["id"].as_str().unwrap();
            ada.get(&format!("/documents/{id}/report")).await.expect(200).json()["file"]["type"].clone()
        };
        assert_eq!(report("a.md", "text/markdown", b"# Title").await, "md");
        assert_eq!(report("a.pdf", "application/pdf", b"just text").await, "txt");
        assert_eq!(report("a.txt", "text/plain", b"<html>x").await, "html");
        assert_eq!(report("a", "image/png", b"From: a@b.c\nSubject: x\n\nHello").await, "eml");
        assert_eq!(report("a.csv", "text/plain", b"a,b\n1,2").await, "csv");
        assert_eq!(report("a.txt", "text/plain", &pdf(&["words"])).await, "pdf");
    }

    async fn ready_lists_the_types_that_can_be_uploaded(setup) {
        let app = accepting(setup, "md,pdf,docx").start().await;
        let body = app.get("/health/ready").await.expect(200).json();
        assert_eq!(body["upload_types"], json!(["pdf", "docx", "md"]));
    }

    async fn sources_name_the_label_of_their_section(setup) {
        let answer = [Turn::searching("zebras"), Turn::saying("By day.")];
        let app = accepting(setup, "pdf,md").script([answer.clone(), answer].concat()).start().await;
        let ada = app.ada().await;
        let _ = add_text(&app, &ada).await;
        let found = ada.post("/search", json!({ "query": "zebras" })).await.expect(200).json();
        let label = &found["results"][0]["label"];
        assert!(label == "Lions" || label == "Zebras", "{found}");
        let mut body = docent_tests::member::question_body("When do zebras graze?");
        body["include_sources"] = json!(true);
        let stream = ada.post("/agents/chat", body).await.expect(200).text;
        assert!(stream.contains(&format!("\"label\":{label}")), "{stream}");
        let _ = ada.add("printed.pdf", pdf(&["Penguins swim."])).await;
        app.run_jobs().await;
        let found = ada.post("/search", json!({ "query": "penguins" })).await.expect(200).json();
        assert_eq!(found["results"][0].get("label"), None, "a PDF has pages");
    }

    async fn text_of_a_page_is_returned_with_its_label(setup) {
        let app = accepting(setup, "pdf,md").start().await;
        let ada = app.ada().await;
        let id = add_text(&app, &ada).await;
        let page = ada.get(&format!("/documents/{id}/pages/2/text")).await.expect(200).json();
        let text = "Zebras\nZebras graze by day.";
        assert_eq!(page, json!({ "page": 2, "pages": 2, "label": "Zebras", "text": text }));
        let rest = ada.get(&format!("/documents/{id}/pages/2/text?offset=7")).await.expect(200).json();
        assert_eq!(rest["text"], "Zebras graze by day.");
        ada.get(&format!("/documents/{id}/pages/3/text")).await.refused(404, "Page not found");
        ada.get(&format!("/documents/{id}/pages/0/text")).await.invalid(&["path.page"]);
        ada.get(&format!("/documents/{id}/pages/1/text?offset=x")).await.invalid(&["query.offset"]);
        let id = ada.add("printed.pdf", pdf(&["Penguins swim."])).await;
        app.run_jobs().await;
        let page = ada.get(&format!("/documents/{id}/pages/1/text")).await.expect(200).json();
        assert_eq!((page["text"].clone(), page.get("label")), (json!("Penguins swim.\n"), None::<&Value>));
    }

    async fn file_is_an_attachment_with_its_media_type_and_has_no_page_images(setup) {
        let app = accepting(setup, "all").start().await;
        let ada = app.ada().await;
        let page = b"<!DOCTYPE html><script>alert(1)</script>Hello";
        let document = upload(&ada, "", "text/html", page).await.expect(202).json();
        app.run_jobs().await;
        let id = document["id"].as_str().unwrap();
        let file = ada.get(&format!("/documents/{id}/file")).await.expect(200);
        assert_eq!(file.header("content-type"), "text/html");
        assert!(file.header("content-disposition").starts_with("attachment; filename=\"document.html\""));
        assert_eq!(file.header("content-security-policy"), "default-src 'none'; sandbox");
        let image = ada.get(&format!("/documents/{id}/pages/1")).await;
        image.refused(404, "A HTML file has no page images; its pages can be read as text");
    }

    async fn equal_bytes_of_two_types_are_read_as_both(setup) {
        let app = accepting(setup, "md,txt").start().await;
        let ada = app.ada().await;
        let first = add_text(&app, &ada).await;
        let second = upload(&ada, "animals.txt", "text/plain", TEXT).await.expect(202).json();
        app.run_jobs().await;
        for id in [first.as_str(), second["id"].as_str().unwrap()] {
            assert_eq!(ada.document(id).await["status"], "ingested");
            let page = ada.get(&format!("/documents/{id}/pages/1/text")).await.expect(200).json();
            assert_eq!(page["label"], "Lions");
        }
    }

    async fn replacement_can_be_of_another_type(setup) {
        let app = accepting(setup, "pdf,md").start().await;
        let ada = app.ada().await;
        let id = ada.add("animals.pdf", pdf(&["Penguins swim."])).await;
        app.run_jobs().await;
        let path = format!("/documents/{id}/file");
        let _ = ada.put_form(&path, form("animals.md", "text/markdown", TEXT.to_vec())).await.expect(202);
        app.run_jobs().await;
        let report = ada.get(&format!("/documents/{id}/report")).await.expect(200).json();
        assert_eq!((&report["file"]["type"], &report["coverage"]["pages"]), (&json!("md"), &json!(2)));
    }
}
