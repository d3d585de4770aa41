//! Uploads in the panel: `/admin/documents/upload`.

use super::staff;
use docent_domain::permission::Permission;
use docent_tests::browser::form_token;
use docent_tests::member::Member;
use docent_tests::pdf::pdf;
use docent_tests::rules;
use reqwest::multipart::{Form, Part};
use serde_json::json;

const PATH: &str = "/admin/documents/upload";
const BOTH: &[Permission] = &[Permission::ViewDocument, Permission::AddDocument];

fn file(name: &str, content_type: &str, bytes: Vec<u8>) -> Part {
    Part::bytes(bytes).file_name(name.to_owned()).mime_str(content_type).unwrap()
}

fn accepted_file(name: &str) -> Part {
    file(name, "application/pdf", pdf(&["words"]))
}

rules! {
    async fn files_upload_without_a_script(setup) {
        let app = setup.start().await;
        let (mut browser, member) = staff(&app, BOTH).await;
        let token = form_token(&browser.get(PATH).await.expect(200));
        let form = Form::new().text("form_token", token).part("file", accepted_file("a.pdf")).part("file", accepted_file("b.pdf"));
        let reply = browser.post_files(PATH, form).await.expect(303);
        assert_eq!(reply.header("location"), "/admin/documents");
        let page = browser.get("/admin/documents").await.expect(200).text;
        assert!(page.contains("Uploaded 2 documents.") && page.contains("a.pdf") && page.contains("b.pdf"));
        app.run_jobs().await;
        let documents = member.get("/documents?status=ingested").await.expect(200).json();
        assert_eq!(documents.as_array().unwrap().len(), 2);
    }

    /// The form names the collections that the account may add to, and who reads them.
    async fn files_go_to_the_chosen_collection(setup) {
        let app = setup.start().await;
        let (mut browser, member) = staff(&app, BOTH).await;
        let ada = app.ada().await;
        let collection = async |by: &Member, name: &str| {
            let created = by.post("/collections", json!({ "name": name })).await.expect(201).json();
            created["id"].as_str().unwrap().to_owned()
        };
        let (team, secret) = (collection(&member, "Team").await, collection(&ada, "Secret").await);
        let body = json!({ "email": "ada@example.org", "role": "viewer" });
        let _ = member.put(&format!("/collections/{team}/members"), body).await.expect(200);
        let page = browser.get(PATH).await.expect(200);
        for text in ["selected>Everyone – read by every account", ">Personal – read by only its owner", ">Team – read by its owner and 1 member"] {
            assert!(page.text.contains(text), "{text}: {}", page.text);
        }
        assert!(!page.text.contains("Secret"));
        let token = form_token(&page);
        let form = |collection: &str| {
            Form::new()
                .text("form_token", token.clone())
                .text("collection", collection.to_owned())
                .part("file", accepted_file("a.pdf"))
                .part("file", accepted_file("b.pdf"))
        };
        let _ = browser.post_files(PATH, form(&team)).await.expect(303);
        let listed = member.get(&format!("/documents?collection_id={team}")).await.expect(200).json();
        assert_eq!(listed.as_array().unwrap().len(), 2);
        let _ = browser.post_files(PATH, form(&secret)).await.expect(404);
        let _ = browser.post_files(PATH, form("x")).await.expect(422);
        // Without the permission to add there.
        let body = json!({ "email": "staff@example.org", "role": "viewer" });
        let _ = ada.put(&format!("/collections/{secret}/members"), body).await.expect(200);
        let _ = browser.post_files(PATH, form(&secret)).await.expect(403);
        assert_eq!(member.get("/documents").await.expect(200).json().as_array().unwrap().len(), 2);
        app.run_jobs().await;
    }

    async fn refused_file_does_not_stop_other_files(setup) {
        let app = setup.settings(|settings| settings.max_upload_bytes = 2_000).start().await;
        let (mut browser, member) = staff(&app, BOTH).await;
        let token = form_token(&browser.get(PATH).await.expect(200));
        let form = Form::new()
            .text("form_token", token)
            .part("file", file("<script>.txt", "text/plain", b"text".to_vec()))
            .part("file", file("large.pdf", "application/pdf", vec![b'x'; 2_001]))
            .part("file", accepted_file("good.pdf"));
        let page = browser.post_files(PATH, form).await.expect(422).text;
        for text in ["&lt;script&gt;.txt", "Only PDF files are supported. The setting DOCENT_UPLOAD_TYPES", "The file is larger than 2000 bytes", "good.pdf"] {
            assert!(page.contains(text), "{text}: {page}");
        }
        assert!(!page.contains("<script>"));
        let documents = member.get("/documents").await.expect(200).json();
        assert_eq!(documents.as_array().unwrap().len(), 1);
        app.run_jobs().await;
    }

    async fn script_request_is_answered_in_json(setup) {
        let app = setup.start().await;
        let (mut browser, _) = staff(&app, BOTH).await;
        let token = form_token(&browser.get(PATH).await.expect(200));
        let form = Form::new().text("form_token", token.clone()).part("file", accepted_file("a.pdf"));
        let answer = browser.post_files_by_script(PATH, form).await.expect(200).json();
        assert_eq!(answer["uploaded"][0]["title"], "a.pdf");
        let form = Form::new().text("form_token", token).part("file", file("a.txt", "text/plain", b"x".to_vec()));
        let answer = browser.post_files_by_script(PATH, form).await.expect(422).json();
        let reason = answer["refused"][0]["reason"].as_str().unwrap();
        assert!(reason.starts_with("Only PDF files are supported. The setting DOCENT_UPLOAD_TYPES of the service"), "{reason}");
        app.run_jobs().await;
    }

    async fn too_many_files_are_refused_one_by_one(setup) {
        let app = setup.start().await;
        let (mut browser, _) = staff(&app, BOTH).await;
        let token = form_token(&browser.get(PATH).await.expect(200));
        let text = || file("a.txt", "text/plain", b"x".to_vec());
        let form = |count| (0..count).fold(Form::new().text("form_token", token.clone()), |form, _| form.part("file", text()));
        let answer = browser.post_files_by_script(PATH, form(101)).await.expect(422).json();
        let refused = answer["refused"].as_array().unwrap();
        assert_eq!((refused.len(), &refused[100]["reason"]), (101, &"Too many files in one upload".into()));
        let answer = browser.post_files_by_script(PATH, form(100)).await.expect(422).json();
        assert_eq!(answer["refused"].as_array().unwrap().len(), 100);
    }

    async fn form_without_a_file_reports_the_missing_file(setup) {
        let app = setup.start().await;
        let (mut browser, _) = staff(&app, BOTH).await;
        let token = form_token(&browser.get(PATH).await.expect(200));
        let none = file("", "application/octet-stream", Vec::new());
        let form = Form::new().text("form_token", token).part("file", none);
        let reply = browser.post_files(PATH, form).await.expect(303);
        assert_eq!(reply.header("location"), PATH);
        assert!(browser.get(PATH).await.expect(200).text.contains("Select at least one file."));
    }

    async fn form_without_valid_token_stores_nothing(setup) {
        let app = setup.start().await;
        let (mut browser, member) = staff(&app, BOTH).await;
        let token = form_token(&browser.get(PATH).await.expect(200));
        for form in [
            Form::new().part("file", accepted_file("a.pdf")),
            Form::new().text("form_token", "x").part("file", accepted_file("a.pdf")),
            Form::new().part("file", accepted_file("a.pdf")).text("form_token", token.clone()),
            Form::new().text("form_token", token.repeat(5)).part("file", accepted_file("a.pdf")),
        ] {
            let status = browser.post_files(PATH, form).await.status;
            assert!(status == 403 || status == 422, "{status}");
        }
        app.permit(member.user.id, &[Permission::ViewDocument]).await;
        let form = Form::new().text("form_token", token).part("file", accepted_file("a.pdf"));
        let _ = browser.post_files(PATH, form).await.expect(403);
        assert_eq!(member.get("/documents").await.expect(200).text, "[]");
    }
}
