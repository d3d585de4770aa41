//! `POST /documents/upload`

use docent_ports::error::FaultKind;
use docent_tests::{
    app::TestApp,
    member::{Member, form},
    pdf::pdf,
    reply::Reply,
    rules, wait,
};
use reqwest::{
    Body, Method,
    multipart::{Form, Part},
};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// Uploads a hand-written form.
async fn raw(by: &Member, app: &TestApp, parts: &[(&str, &[u8])]) -> Reply {
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

async fn title_of(by: &Member, app: &TestApp, disposition: &str) -> String {
    let headers = format!("Content-Disposition: {disposition}\r\nContent-Type: application/pdf");
    let body = raw(by, app, &[(&headers, b"x")]).await.expect(202).json();
    body["title"].as_str().unwrap().to_owned()
}

/// Checks that no upload has left anything.
async fn nothing_is_left(app: &TestApp, by: &Member) {
    assert_eq!(by.get("/documents").await.expect(200).json(), json!([]));
    assert_eq!(app.job_counts().await, Default::default());
}

rules! {
    async fn it_answers_202_before_anything_is_read(setup) {
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

    async fn other_content_types_are_415(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        for wrong in ["text/plain", "application/octet-stream", "application/pdfx", "image/png", "multipart/mixed"] {
            let reply = ada.post_form("/documents/upload", form("a.pdf", wrong, b"x".to_vec())).await;
            reply.refused(415, "Only PDF files are supported");
        }
        let reply = raw(&ada, &app, &[("Content-Disposition: form-data; name=\"file\"; filename=\"a.pdf\"", b"x")]).await;
        reply.refused(415, "Only PDF files are supported");
        nothing_is_left(&app, &ada).await;
    }

    async fn parameters_of_the_content_type_do_not_count(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        for right in ["application/pdf; charset=binary", "Application/PDF"] {
            let _ = ada.post_form("/documents/upload", form("a.pdf", right, pdf(&["x"]))).await.expect(202);
        }
        app.run_jobs().await;
    }

    async fn an_empty_file_name_makes_untitled(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        assert_eq!(title_of(&ada, &app, "form-data; name=\"file\"; filename=\"\"").await, "Untitled");
        assert_eq!(title_of(&ada, &app, "form-data; name=\"file\"").await, "Untitled");
        assert_eq!(title_of(&ada, &app, "form-data; name=\"file\"; filename=\"  \"").await, "Untitled");
        app.run_jobs().await;
    }

    async fn a_file_name_is_its_last_component(setup) {
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

    async fn encoded_file_names_are_read(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let disposition = "form-data; name=\"file\"; filename=\"x.pdf\"; filename*=UTF-8''na%C3%AFve%20%E2%82%AC.pdf";
        assert_eq!(title_of(&ada, &app, disposition).await, "naïve €.pdf");
        app.run_jobs().await;
    }

    async fn a_form_without_a_file_is_422(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let other = Form::new().text("note", "x").part("files", Part::bytes(vec![1]).mime_str("application/pdf").unwrap());
        ada.post_form("/documents/upload", other).await.invalid(&["body.file"]);
        nothing_is_left(&app, &ada).await;
    }

    async fn what_is_no_form_is_422(setup) {
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
        nothing_is_left(&app, &ada).await;
    }

    async fn other_parts_are_ignored(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let form = form("a.pdf", "application/pdf", pdf(&["x"])).text("note", "after");
        let _ = ada.post_form("/documents/upload", form).await.expect(202);
        let form = Form::new().text("note", "before");
        let file = Part::bytes(pdf(&["x"])).file_name("b.pdf").mime_str("application/pdf").unwrap();
        let _ = ada.post_form("/documents/upload", form.part("file", file)).await.expect(202);
        assert_eq!(app.run_jobs().await, 2);
    }

    async fn two_files_are_422(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let second = Part::bytes(pdf(&["x"])).file_name("b.pdf").mime_str("application/pdf").unwrap();
        let form = form("a.pdf", "application/pdf", pdf(&["x"])).part("file", second);
        ada.post_form("/documents/upload", form).await.invalid(&["body.file"]);
        nothing_is_left(&app, &ada).await;
    }

    async fn a_file_over_the_limit_is_413(setup) {
        let app = setup.settings(|settings| settings.max_upload_bytes = 1000).start().await;
        let ada = app.ada().await;
        let _ = ada.upload("exact.pdf", vec![b'x'; 1000]).await.expect(202);
        ada.upload("over.pdf", vec![b'x'; 1001]).await.refused(413, "The file is larger than 1000 bytes");
        assert_eq!(app.run_jobs().await, 1);
        assert_eq!(ada.get("/documents").await.json().as_array().unwrap().len(), 1);
    }

    async fn a_huge_file_is_413_and_the_client_reads_it(setup) {
        let app = setup.settings(|settings| settings.max_upload_bytes = 1000).start().await;
        let ada = app.ada().await;
        // Announced in advance, it is refused before it is read.
        ada.upload("huge.pdf", vec![b'x'; 8_000_000]).await.refused(413, "The file is larger than 1000 bytes");
        // Not announced, it is refused as soon as it is too large.
        let head = "--XX\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.pdf\"\r\nContent-Type: application/pdf\r\n\r\n";
        let mut chunks = vec![Ok::<_, std::io::Error>(head.as_bytes().to_vec())];
        chunks.extend((0..200).map(|_| Ok(vec![b'x'; 40_000])));
        let request = ada.request(Method::POST, "/documents/upload");
        let request = request.header("Content-Type", "multipart/form-data; boundary=XX");
        let reply = app.send(request.body(Body::wrap_stream(futures::stream::iter(chunks)))).await;
        reply.refused(413, "The file is larger than 1000 bytes");
        nothing_is_left(&app, &ada).await;
    }

    async fn too_much_beside_the_file_is_413(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let form = Form::new().text("note", "x".repeat(1_100_000));
        let file = Part::bytes(pdf(&["x"])).file_name("b.pdf").mime_str("application/pdf").unwrap();
        let _ = ada.post_form("/documents/upload", form.part("file", file)).await.expect(413);
        nothing_is_left(&app, &ada).await;
    }

    async fn an_upload_that_breaks_off_leaves_nothing(setup) {
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
        nothing_is_left(&app, &ada).await;
    }

    async fn a_form_that_ends_early_leaves_nothing(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let body = "--XX\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.pdf\"\r\n\
                    Content-Type: application/pdf\r\n\r\n%PDF-1.4";
        let request = ada.request(Method::POST, "/documents/upload");
        let request = request.header("Content-Type", "multipart/form-data; boundary=XX").body(body);
        app.send(request).await.invalid(&["body"]);
        nothing_is_left(&app, &ada).await;
    }

    async fn a_client_that_stops_sending_is_given_up(setup) {
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

    async fn without_the_blob_store_it_is_503(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        app.faults.blobs.fail_all(FaultKind::Unavailable);
        ada.upload("a.pdf", pdf(&["x"])).await.refused(503, "The blob store cannot be reached");
        app.faults.blobs.fail_after(1, 1, FaultKind::Unavailable);
        ada.upload("a.pdf", pdf(&["x"])).await.refused(503, "The blob store cannot be reached");
        nothing_is_left(&app, &ada).await;
    }

    async fn without_room_for_it_it_is_507_and_nothing_is_recorded(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        app.faults.blobs.fail_after(1, 1, FaultKind::Full);
        ada.upload("a.pdf", pdf(&["x"])).await.refused(507, "The blob store has no room left");
        app.faults.database.commit.fail_next(1, FaultKind::Full);
        ada.upload("a.pdf", pdf(&["x"])).await.refused(507, "The database has no room left");
        nothing_is_left(&app, &ada).await;
    }

    async fn a_record_that_cannot_be_written_is_503_and_leaves_nothing(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        app.faults.database.commit.fail_next(1, FaultKind::Unavailable);
        ada.upload("a.pdf", pdf(&["x"])).await.refused(503, "The database cannot be reached");
        nothing_is_left(&app, &ada).await;
        let _ = ada.upload("a.pdf", pdf(&["x"])).await.expect(202);
        assert_eq!(app.run_jobs().await, 1);
    }
}
