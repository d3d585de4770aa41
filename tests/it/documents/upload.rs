//! `POST /documents/upload`

use docent_domain::fault::FaultKind;
use docent_tests::app::TestApp;
use docent_tests::member::{Member, form};
use docent_tests::pdf::pdf;
use docent_tests::reply::Reply;
use docent_tests::{rules, wait};
use reqwest::multipart::{Form, Part};
use reqwest::{Body, Method};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Uploads a form written by hand.
async fn post_raw_form(by: &Member, app: &TestApp, parts: &[(&str, &[u8])]) -> Reply {
    let mut body = Vec::new();
    for (headers, content) in parts {
        body.extend_from_slice(format!("--XX\r\n{headers}\r\n\r\n").as_bytes());
        body.extend_from_slice(content);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(b"--XX--\r\n");
    let request = by.request(Method::POST, "/documents/upload");
    app.send(request.header("Content-Type", "multipart/form-data; boundary=XX").body(body)).await
}

/// Uploads a file with this `Content-Disposition` and returns the document's title.
async fn title_of(by: &Member, app: &TestApp, disposition: &str) -> String {
    let headers = format!("Content-Disposition: {disposition}\r\nContent-Type: application/pdf");
    let body = post_raw_form(by, app, &[(&headers, b"x")]).await.expect(202).json();
    body["title"].as_str().unwrap().to_owned()
}

/// Checks that uploads have left no document and no job.
async fn assert_nothing_stored(app: &TestApp, by: &Member) {
    assert_eq!(by.get("/documents").await.expect(200).json(), json!([]));
    assert_eq!(app.job_counts().await, Default::default());
}

rules! {
    async fn upload_returns_202_before_extraction(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let reply = ada.upload("report.pdf", pdf(&["hello"])).await.expect(202);
        let body = reply.json();
        let id = body["id"].as_str().unwrap();
        let expected = json!({ "id": id, "title": "report.pdf", "status": "pending", "vector_doc_id": null });
        assert_eq!(body, expected);
        assert_eq!(ada.document(id).await, expected);
        assert_eq!(app.run_jobs().await, 1);
    }

    async fn content_type_other_than_pdf_returns_415(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        for wrong in ["text/plain", "application/octet-stream", "application/pdfx", "image/png", "multipart/mixed"] {
            let reply = ada.post_form("/documents/upload", form("a.pdf", wrong, b"x".to_vec())).await;
            reply.refused(415, "Only PDF files are supported");
        }
        let reply = post_raw_form(&ada, &app, &[("Content-Disposition: form-data; name=\"file\"; filename=\"a.pdf\"", b"x")]).await;
        reply.refused(415, "Only PDF files are supported");
        assert_nothing_stored(&app, &ada).await;
    }

    async fn content_type_parameters_and_case_are_ignored(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        for right in ["application/pdf; charset=binary", "Application/PDF"] {
            let _ = ada.post_form("/documents/upload", form("a.pdf", right, pdf(&["x"]))).await.expect(202);
        }
        app.run_jobs().await;
    }

    async fn empty_file_name_becomes_untitled(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        assert_eq!(title_of(&ada, &app, "form-data; name=\"file\"; filename=\"\"").await, "Untitled");
        assert_eq!(title_of(&ada, &app, "form-data; name=\"file\"").await, "Untitled");
        assert_eq!(title_of(&ada, &app, "form-data; name=\"file\"; filename=\"  \"").await, "Untitled");
        app.run_jobs().await;
    }

    async fn title_is_the_last_component_of_the_file_name(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let title = async |name: &str| {
            title_of(&ada, &app, &format!("form-data; name=\"file\"; filename=\"{name}\"")).await
        };
        assert_eq!(title("/etc/passwd.pdf").await, "passwd.pdf");
        assert_eq!(title("C:\\\\temp\\\\a.pdf").await, "a.pdf");
        assert_eq!(title("Jahresbericht für 2025 – 年報.pdf").await, "Jahresbericht für 2025 – 年報.pdf");
        let long = title(&format!("{}.pdf", "n".repeat(600))).await;
        assert_eq!(long, format!("{}.pdf", "n".repeat(496)));
        app.run_jobs().await;
    }

    async fn encoded_file_name_is_decoded(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let disposition = "form-data; name=\"file\"; filename=\"x.pdf\"; filename*=UTF-8''na%C3%AFve%20%E2%82%AC.pdf";
        assert_eq!(title_of(&ada, &app, disposition).await, "naïve €.pdf");
        app.run_jobs().await;
    }

    async fn form_without_a_file_returns_422(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let other = Form::new().text("note", "x").part("files", Part::bytes(vec![1]).mime_str("application/pdf").unwrap());
        ada.post_form("/documents/upload", other).await.invalid(&["body.file"]);
        assert_nothing_stored(&app, &ada).await;
    }

    async fn body_that_is_not_a_form_returns_422(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let send = async |content_type: &str, body: &'static str| {
            let request = ada.request(Method::POST, "/documents/upload");
            app.send(request.header("Content-Type", content_type).body(body)).await
        };
        send("application/pdf", "%PDF-1.4").await.invalid(&["body"]);
        send("application/json", "{}").await.invalid(&["body"]);
        send("multipart/form-data", "x").await.invalid(&["body"]);
        send("multipart/form-data; boundary=XX", "no boundary in here").await.invalid(&["body"]);
        app.send(ada.request(Method::POST, "/documents/upload")).await.invalid(&["body"]);
        assert_nothing_stored(&app, &ada).await;
    }

    async fn other_form_parts_are_ignored(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let form = form("a.pdf", "application/pdf", pdf(&["x"])).text("note", "after");
        let _ = ada.post_form("/documents/upload", form).await.expect(202);
        let form = Form::new().text("note", "before");
        let file = Part::bytes(pdf(&["x"])).file_name("b.pdf").mime_str("application/pdf").unwrap();
        let _ = ada.post_form("/documents/upload", form.part("file", file)).await.expect(202);
        assert_eq!(app.run_jobs().await, 2);
    }

    async fn second_file_returns_422(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let second = Part::bytes(pdf(&["x"])).file_name("b.pdf").mime_str("application/pdf").unwrap();
        let form = form("a.pdf", "application/pdf", pdf(&["x"])).part("file", second);
        ada.post_form("/documents/upload", form).await.invalid(&["body.file"]);
        assert_nothing_stored(&app, &ada).await;
    }

    async fn file_over_the_limit_returns_413(setup) {
        let app = setup.settings(|settings| settings.max_upload_bytes = 1000).start().await;
        let ada = app.ada().await;
        let _ = ada.upload("exact.pdf", vec![b'x'; 1000]).await.expect(202);
        ada.upload("over.pdf", vec![b'x'; 1001]).await.refused(413, "The file is larger than 1000 bytes");
        assert_eq!(app.run_jobs().await, 1);
        assert_eq!(ada.get("/documents").await.json().as_array().unwrap().len(), 1);
    }

    async fn huge_file_returns_413_that_the_client_can_read(setup) {
        let app = setup.settings(|settings| settings.max_upload_bytes = 1000).start().await;
        let ada = app.ada().await;
        // With Content-Length, it is refused before it is read.
        ada.upload("huge.pdf", vec![b'x'; 8_000_000]).await.refused(413, "The file is larger than 1000 bytes");
        // Without Content-Length, it is refused as soon as it is too large.
        let head = "--XX\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.pdf\"\r\nContent-Type: application/pdf\r\n\r\n";
        let mut chunks = vec![Ok::<_, std::io::Error>(head.as_bytes().to_vec())];
        chunks.extend((0..200).map(|_| Ok(vec![b'x'; 40_000])));
        let request = ada.request(Method::POST, "/documents/upload");
        let request = request.header("Content-Type", "multipart/form-data; boundary=XX");
        let reply = app.send(request.body(Body::wrap_stream(futures::stream::iter(chunks)))).await;
        reply.refused(413, "The file is larger than 1000 bytes");
        assert_nothing_stored(&app, &ada).await;
    }

    async fn oversized_form_fields_return_413(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let form = Form::new().text("note", "x".repeat(1_100_000));
        let file = Part::bytes(pdf(&["x"])).file_name("b.pdf").mime_str("application/pdf").unwrap();
        let reply = ada.post_form("/documents/upload", form.part("file", file)).await;
        let limit = "the parts other than \"file\" may have 1048576 bytes in total";
        reply.refused(413, &format!("The part \"note\" is too large: {limit}"));
        assert_nothing_stored(&app, &ada).await;
    }

    async fn interrupted_upload_leaves_nothing(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let mut socket = TcpStream::connect(app.address).await.unwrap();
        let head = format!(
            "POST /documents/upload HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\nContent-Length: 100000\r\n\
             Content-Type: multipart/form-data; boundary=XX\r\n\r\n--XX\r\nContent-Disposition: form-data; \
             name=\"file\"; filename=\"a.pdf\"\r\nContent-Type: application/pdf\r\n\r\n%PDF-1.4",
            ada.access
        );
        socket.write_all(head.as_bytes()).await.unwrap();
        wait::until("the file is being stored", async || app.faults.blobs.calls() > 0).await;
        drop(socket);
        assert_nothing_stored(&app, &ada).await;
    }

    async fn truncated_form_leaves_nothing(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let body = "--XX\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.pdf\"\r\n\
                    Content-Type: application/pdf\r\n\r\n%PDF-1.4";
        let request = ada.request(Method::POST, "/documents/upload");
        let request = request.header("Content-Type", "multipart/form-data; boundary=XX").body(body);
        app.send(request).await.invalid(&["body"]);
        assert_nothing_stored(&app, &ada).await;
    }

    async fn stalled_upload_returns_408(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let mut socket = TcpStream::connect(app.address).await.unwrap();
        let head = format!(
            "POST /documents/upload HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\nContent-Length: 100000\r\n\
             Content-Type: multipart/form-data; boundary=XX\r\n\r\n--XX\r\n",
            ada.access
        );
        let seen = app.faults.database.read.calls();
        socket.write_all(head.as_bytes()).await.unwrap();
        wait::until("the token is accepted", async || app.faults.database.read.calls() > seen).await;
        let mut answer = [0; 12];
        let answered = socket.read_exact(&mut answer);
        tokio::pin!(answered);
        wait::until("408", async || {
            app.advance(std::time::Duration::from_secs(60));
            futures::poll!(&mut answered).is_ready()
        }).await;
        assert_eq!(&answer, b"HTTP/1.1 408");
    }

    async fn upload_without_blob_store_returns_503(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        app.faults.blobs.fail_all(FaultKind::Unavailable);
        ada.upload("a.pdf", pdf(&["x"])).await.refused(503, "The blob store cannot be reached");
        app.faults.blobs.fail_after(1, 1, FaultKind::Unavailable);
        ada.upload("a.pdf", pdf(&["x"])).await.refused(503, "The blob store cannot be reached");
        assert_nothing_stored(&app, &ada).await;
    }

    async fn upload_without_storage_space_returns_507_and_stores_nothing(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        app.faults.blobs.fail_after(1, 1, FaultKind::Full);
        ada.upload("a.pdf", pdf(&["x"])).await.refused(507, "The blob store has no room left");
        app.faults.database.commit.fail_next(1, FaultKind::Full);
        ada.upload("a.pdf", pdf(&["x"])).await.refused(507, "The database has no room left");
        assert_nothing_stored(&app, &ada).await;
    }

    async fn upload_without_database_returns_503_and_leaves_nothing(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        app.faults.database.commit.fail_next(1, FaultKind::Unavailable);
        ada.upload("a.pdf", pdf(&["x"])).await.refused(503, "The database cannot be reached");
        assert_nothing_stored(&app, &ada).await;
        let _ = ada.upload("a.pdf", pdf(&["x"])).await.expect(202);
        assert_eq!(app.run_jobs().await, 1);
    }
}
