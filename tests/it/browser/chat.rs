//! The web chat at `/chat`.

use super::inspection::Inspection;
use super::{journey, journey_with};
use docent_app::accounts::create::Flags;
use docent_app::accounts::second_factor;
use docent_domain::access::Actor;
use docent_domain::fault::{FaultCause, FaultKind};
use docent_domain::user::User;
use docent_extraction::{ExtractionLimits, WorkerRenderer};
use docent_ports::clock::Clock;
use docent_testkit::fakes::chat_model::Turn;
use docent_tests::app::{PASSWORD, TestApp};
use docent_tests::chromium::Chromium;
use docent_tests::member::Member;
use docent_tests::pdf::pdf;
use docent_tests::wait;
use serde_json::json;
use totp_rs::Totp;

pub(super) const ADA: &str = "ada@example.org";
const ANIMALS: [&str; 3] =
    ["lion sleeps below the tree", "zebra lives in Africa", "penguin swims in the south"];

/// A PDF with a page for each animal, each long enough to be a passage of its own.
pub(super) fn animals() -> Vec<u8> {
    let page = |animal: &&str| {
        (1..=45).map(|n| format!("The {animal}, says observer {n} of many.\n")).collect::<String>()
    };
    let pages: Vec<String> = ANIMALS.iter().map(page).collect();
    pdf(&pages.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Renders pages as the service does.
pub(super) fn renderer() -> WorkerRenderer {
    let worker = env!("CARGO_BIN_EXE_docent-tests-worker").into();
    let limits = ExtractionLimits::default();
    WorkerRenderer::new(worker, Vec::new(), limits, limits)
}

/// Creates an account and signs it in to the web chat.
pub(super) async fn enter(app: &TestApp, window: &Chromium) -> User {
    let user = app.account(ADA, Flags::default()).await;
    window.goto("/chat").await;
    window.submit_login(ADA, PASSWORD).await;
    window.find("#question").await;
    user
}

/// Sets up a second factor without the pages. Returns a recovery code.
async fn second_factor(app: &TestApp, user: &User) -> String {
    let actor = Actor::of(user).unwrap();
    let enrolment = second_factor::begin(&app.app, &actor, "Docent").await.unwrap();
    let totp = Totp::from_url(&enrolment.uri).unwrap();
    let code = totp.generate(u64::try_from(app.clock.now().timestamp()).unwrap()).to_string();
    second_factor::confirm(&app.app, &actor, &code).await.unwrap().0.swap_remove(0)
}

#[tokio::test]
async fn sign_in_asks_for_the_code_of_a_second_factor() {
    journey(async |app, window| {
        let user = app.account(ADA, Flags::default()).await;
        let recovery_code = second_factor(app, &user).await;
        window.goto("/chat").await;
        window.submit_login(ADA, PASSWORD).await;
        window.find("#code").await;
        let mut inspection = Inspection::begin(window, "light").await;
        inspection.inspect("chat-code").await;
        inspection.assert_no_findings();
        window.fill("code", "000000").await;
        window.press("Sign in").await;
        window.see("This code is not valid.").await;
        window.console_errors().await;
        window.fill("code", &recovery_code).await;
        window.press("Sign in").await;
        window.find("#question").await;
    })
    .await;
}

pub(super) async fn ask(window: &Chromium, question: &str) {
    window.fill("question", &format!("{question}\n")).await;
}

/// Uploads a file in the page and waits until the page shows this state.
async fn upload(app: &TestApp, window: &Chromium, name: &str, file: Vec<u8>, state: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, file).unwrap();
    window.choose("#files", &[&path]).await;
    window.find(".pill.pending").await;
    assert_eq!(window.texts("#documents-list .title").await[0], name);
    app.run_jobs().await;
    window.find(&format!("#documents-list > li:first-child .pill.{state}")).await;
}

/// A script that searches and gives the same answer twice.
fn two_answers(answer: &str) -> [Turn; 4] {
    let answered = || [Turn::searching("zebra"), Turn::saying(answer)];
    let [first, second] = answered();
    let [third, fourth] = answered();
    [first, second, third, fourth]
}

#[tokio::test]
async fn question_is_answered_and_its_source_opens_at_the_page() {
    let script = [
        Turn::searching("zebra"),
        Turn::new().text("In **Afr").text("ica** (Animals.pdf, page 3).").finished(None),
    ];
    journey_with(
        |setup| setup.script(script).renderer(renderer()),
        async |app, window| {
            enter(app, window).await;
            window.see("No documents yet.").await;
            upload(app, window, "Animals.pdf", animals(), "ingested").await;
            ask(window, "Where does the zebra live?").await;
            window.find(".answer .cite").await;
            assert_eq!(window.texts(".answer").await, ["In Africa1."]);
            assert_eq!(window.texts(".answer strong").await, ["Africa"]);
            window.find(".chip").await;
            let chips = window.texts(".chip").await;
            assert!(chips[0].starts_with("1\nAnimals.pdf") && chips[0].ends_with("page 3"), "{chips:?}");

            // A passage of several pages opens at the page that the answer names.
            window.click(".chip").await;
            window.find("#pages img[alt^='Page 3 of Animals.pdf, with this quote marked: The zebra lives in Africa']").await;
            let size = "const image = document.querySelector('#pages img');
                return image.src.startsWith('blob:') && image.naturalHeight > image.naturalWidth";
            assert_eq!(window.run(size, vec![]).await, json!(true));
            window.see("of 3").await;
            window.find("#next-page:disabled").await;
            window.click("#previous-page").await;
            window.find("#pages img[alt^='Page 2 of Animals.pdf']").await;
            window.click("#previous-page").await;
            window.find("#pages img[alt^='Page 1 of Animals.pdf, with this quote marked']").await;
            window.click(".answer .cite").await;
            window.find("#pages img[alt^='Page 3 of Animals.pdf']").await;

            window.press("Open the file at page 3").await;
            wait::until("the file is opened", async || {
                let targets = window.devtools("Target.getTargets", json!({})).await;
                let targets = targets["targetInfos"].as_array().unwrap().clone();
                targets.iter().any(|target| {
                    let url = target["url"].as_str().unwrap_or_default();
                    url.starts_with("blob:") && url.ends_with("#page=3")
                })
            })
            .await;
            window.click("#source-close").await;
            assert!(
                !window.find(".chip").await.attr("aria-expanded").await.unwrap().unwrap().contains("true")
            );
            assert_eq!(window.console_errors().await, Vec::<String>::new());
        },
    )
    .await;
}

#[tokio::test]
async fn answer_can_be_stopped_and_asked_again_and_faults_are_shown() {
    let script = [
        Turn::new().text("It begins").stall(),
        Turn::refused_because(FaultKind::Rejected, FaultCause::ContentFilter),
        Turn::new().text("Half an answer").fault(FaultKind::Unavailable),
        Turn::saying("All of it."),
    ];
    journey_with(
        |setup| setup.script(script),
        async |app, window| {
            enter(app, window).await;
            ask(window, "Why?").await;
            window.see("It begins").await;
            window.fill("question", "\u{e00c}").await;
            window.see("Stopped.").await;
            wait::until("the model is stopped", async || app.model.cut_short() == 1).await;
            for text in ["Your question is kept", "The answer is incomplete", "All of it."] {
                window.press("Ask again").await;
                window.see(text).await;
            }
            window.see("Ask again").await;
            assert_eq!(window.texts(".question").await, ["Why?"]);
            window.run("document.activeElement.blur()", vec![]).await;
            let slash = json!({ "type": "keyDown", "key": "/", "text": "/" });
            window.devtools("Input.dispatchKeyEvent", slash).await;
            assert_eq!(window.run("return document.activeElement.id", vec![]).await, json!("question"));
            assert_eq!(window.run("return document.activeElement.value", vec![]).await, json!(""));
        },
    )
    .await;
}

/// Each supported construct, and text that resembles one.
const MARKDOWN: &str = "# Title\n\nSome *slanted*, **strong `code`** and snake_case_words, 2 * 3 * 4.\n\n\
    1. One\n   - Inner\n   - [x](https://example.org/y)\n2. Two\n\n> Said **so**\n\n```rust\nlet <b> = 1;\n```\n\n\
    [bad](javascript:window.hit=1) ![picture](https://example.org/p.png) <b>bold</b> [own](/admin) | a\n\n| a | b |\n|---|--:|\n| `c\\|d` | **1** | 2 |\n| only |\n";

#[tokio::test]
async fn answers_are_rendered_as_markdown_without_html() {
    journey_with(
        |setup| setup.always(Turn::saying(MARKDOWN)),
        async |app, window| {
            enter(app, window).await;
            ask(window, "?").await;
            window.see("Ask again").await;
            assert_eq!(window.texts(".answer h3").await, ["Title"]);
            assert_eq!(window.texts(".answer em").await, ["slanted"]);
            assert_eq!(window.texts(".answer strong").await, ["strong code", "so", "1"]);
            assert_eq!(window.texts(".answer ol > li > ul > li").await, ["Inner", "x (example.org)"]);
            assert_eq!(window.texts(".answer > ol > li").await.len(), 2);
            assert_eq!(window.texts(".answer blockquote").await, ["Said so"]);
            assert_eq!(window.texts(".answer pre").await, ["let <b> = 1;"]);
            assert_eq!(window.texts(".answer th").await, ["a", "b"]);
            assert_eq!(window.texts(".answer td").await, ["c|d", "1", "only"], "no more cells than columns");
            assert_eq!(window.texts(".answer td.right strong").await, ["1"]);
            let links = "return [...document.querySelectorAll('.answer a')].map((a) => [a.getAttribute('href'), a.rel])";
            let links = window.run(links, vec![]).await;
            let rel = "noopener noreferrer nofollow";
            let own = format!("http://{}/admin", app.address);
            let picture = "https://example.org/p.png";
            assert_eq!(links, json!([["https://example.org/y", rel], [picture, rel], [own, rel]]));
            let text = window.text().await;
            assert!(text.contains("[bad](javascript:window.hit=1)") && text.contains("<b>bold</b>"), "{text}");
            assert!(text.contains("snake_case_words, 2 * 3 * 4."));
            assert!(!window.has("main img").await && !window.has(".answer b").await);
        },
    )
    .await;
}

#[tokio::test]
async fn scripts_in_documents_titles_and_answers_are_escaped() {
    // No longer than the title of a conversation.
    const HOSTILE: &str = "'\"><img src=x onerror=\"hit=1\"><script>hit=1</script>{{7*7}}";
    let name = "<img src=x onerror=window.hit=1>.pdf";
    journey_with(
        |setup| setup.script(two_answers(HOSTILE)),
        async |app, window| {
            let member = Member::login(app, enter(app, window).await).await;
            member.add(name, pdf(&["The zebra <script>window.hit=1</script> lives."])).await;
            let _ = member.post("/documents", json!({ "title": HOSTILE })).await.expect(201);
            app.run_jobs().await;
            window.goto("/chat").await;
            window.see(HOSTILE).await;
            ask(window, HOSTILE).await;
            window.find(".chip").await;
            window.click(".chip").await;
            window.see("<script>window.hit=1</script> lives.").await;
            let text = window.text().await;
            assert_eq!(
                text.matches(HOSTILE).count(),
                5,
                "twice for the document, once for the conversation, its question and its answer: {text}"
            );
            assert!(text.contains(name));
            assert_eq!(window.run("return window.hit ?? 0", vec![]).await, json!(0));
            assert!(!window.has("main img").await && !window.has("script:not([src])").await);
            // Trusted Types stop even the page's own scripts from turning text into markup.
            let sink =
                "try { document.body.innerHTML = '<b>x</b>'; return 'markup' } catch { return 'refused' }";
            assert_eq!(window.run(sink, vec![]).await, json!("refused"));
        },
    )
    .await;
}

#[tokio::test]
async fn refusal_of_a_type_names_the_setting_to_staff() {
    journey(async |app, window| {
        app.account(ADA, Flags { is_staff: true, is_superuser: false }).await;
        window.goto("/chat").await;
        window.submit_login(ADA, PASSWORD).await;
        window.find("#question").await;
        let folder = tempfile::tempdir().unwrap();
        let text = folder.path().join("notes.txt");
        std::fs::write(&text, "text").unwrap();
        window.choose("#files", &[&text]).await;
        window
            .see("Only PDF files are supported. The setting DOCENT_UPLOAD_TYPES of the service lists")
            .await;
    })
    .await;
}

#[tokio::test]
async fn document_without_text_on_most_pages_is_ready_with_a_warning() {
    journey(async |app, window| {
        enter(app, window).await;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("partly.pdf");
        std::fs::write(&file, pdf(&["words", "", ""])).unwrap();
        window.choose("#files", &[&file]).await;
        window.find("#documents-list .pill.pending").await;
        app.run_jobs().await;
        window.see("Ready, 2 of 3 pages without text").await;
        // The list has it too, without the report.
        window.goto("/chat").await;
        window.see("Ready, 2 of 3 pages without text").await;
        assert!(!window.has("#documents-list details[open]").await);
    })
    .await;
}

#[tokio::test]
async fn own_document_can_be_deleted_after_confirmation() {
    journey(async |app, window| {
        enter(app, window).await;
        let other = app.member("grace@example.org").await;
        let _ = other.post("/documents", json!({ "title": "Of Grace" })).await.expect(201);
        let folder = tempfile::tempdir().unwrap();
        let (text, scan) = (folder.path().join("notes.txt"), folder.path().join("scan.pdf"));
        std::fs::write(&text, "text").unwrap();
        std::fs::write(&scan, pdf(&[""])).unwrap();
        window.choose("#files", &[&text, &scan]).await;
        window.see("not uploaded. Only PDF files are supported.").await;
        assert!(!window.text().await.contains("DOCENT_UPLOAD_TYPES"), "it is for staff");
        window.find("#documents-list .pill.pending").await;
        app.run_jobs().await;
        window.see("Failed: ").await;

        window.press("Delete…").await;
        // At once: no dialog answers for the next.
        let again = "
            const click = (label) => [...document.querySelectorAll('button')].find((one) => one.textContent === label).click();
            click('Cancel');
            click('Delete…');";
        let _ = window.run(again, vec![]).await;
        assert_eq!(window.texts("#confirm-name").await, ["scan.pdf"]);
        window.press("Delete").await;
        if !wait::comes_true(async || !window.has("#documents-list .title").await).await {
            panic!("the document is not removed: {}", window.text().await);
        }
        window.fill("documents-search", "grace").await;
        window.see("Of Grace").await;
        window.click("#documents-list summary").await;
        window.see("by another account").await;
        assert!(!window.has("#documents-list .actions button").await, "it cannot be deleted by others");
        app.run_jobs().await;
    })
    .await;
}

#[tokio::test]
async fn dropped_upload_shows_progress() {
    journey(async |app, window| {
        enter(app, window).await;
        let slow = json!({ "offline": false, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 60_000 });
        window.devtools("Network.enable", json!({})).await;
        window.devtools("Network.emulateNetworkConditions", slow).await;
        // Drops a large file that only claims to be a PDF, with the events that a file manager causes.
        let drop = "const data = new DataTransfer();
            data.items.add(new File(['%PDF-1.7' + 'x'.repeat(300000)], 'Dropped.pdf', { type: 'application/pdf' }));
            const event = (name) => new DragEvent(name, { dataTransfer: data, bubbles: true, cancelable: true });
            const over = event('dragover');
            document.body.dispatchEvent(over);
            const isMarked = document.documentElement.classList.contains('over');
            document.body.dispatchEvent(event('drop'));
            return [over.defaultPrevented, isMarked, document.documentElement.classList.contains('over')]";
        assert_eq!(window.run(drop, vec![]).await, json!([true, true, false]));
        let (mut seen, mut shown) = (Vec::new(), Vec::new());
        wait::until("the upload is in progress", async || {
            let value = "return document.querySelector('#uploads progress')?.value ?? null";
            seen.push(window.run(value, vec![]).await);
            shown.extend(window.texts("#uploads .hint").await);
            seen.iter().any(|value| value.as_f64().is_some_and(|part| part > 0.0 && part < 1.0))
        })
        .await;
        let leave = "return !dispatchEvent(new Event('beforeunload', { cancelable: true }))";
        assert_eq!(window.run(leave, vec![]).await, json!(true), "the browser asks first");
        window.connect(true).await;
        assert!(shown.iter().any(|bytes| bytes.ends_with(" of 300 kB")), "{shown:?}");
        window.find("#documents-list .pill.pending").await;
        assert_eq!(window.texts("#documents-list .title").await, ["Dropped.pdf"]);
        wait::until("leaving needs no question", async || window.run(leave, vec![]).await == json!(false)).await;
        app.run_jobs().await;
        window.see("Failed: ").await;
    })
    .await;
}

#[tokio::test]
async fn copied_answer_is_the_markdown_source() {
    journey_with(
        |setup| setup.always(Turn::saying("In **Africa**.")),
        async |app, window| {
            enter(app, window).await;
            let granted = json!({ "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"] });
            window.devtools("Browser.grantPermissions", granted).await;
            ask(window, "Where?").await;
            window.see("Ask again").await;
            window.press("Copy").await;
            window.see("Copied").await;
            let read = "navigator.clipboard.readText().then(arguments[arguments.length - 1])";
            assert_eq!(window.run_async(read, vec![]).await, json!("In **Africa**."));
        },
    )
    .await;
}

#[tokio::test]
async fn page_without_scripts_says_that_it_needs_javascript() {
    journey(async |_, window| {
        window.devtools("Emulation.setScriptExecutionDisabled", json!({ "value": true })).await;
        window.goto("/chat").await;
        window.see("This page needs JavaScript").await;
        assert!(!window.text().await.contains("Sign in"));
    })
    .await;
}

const LONG: &str =
    "Annual report of the committee for the preservation of historical waterways, with appendices.pdf";

async fn inspect_all_states(scheme: &'static str) {
    let answer = format!(
        "The zebra lives in **Africa**, where it grazes in herds:\n\n- on plains,\n- in `savannas`.\n\n\
                  > It has stripes.\n\nSee [the map](https://example.org/map) and {LONG}, page 2."
    );
    journey_with(
        |setup| setup.script(two_answers(&answer)).renderer(renderer()),
        async |app, window| {
            let mut inspection = Inspection::begin(window, scheme).await;
            window.goto("/chat").await;
            window.find("#email").await;
            inspection.inspect("chat-login").await;
            let user = enter(app, window).await;
            window.see("No documents yet.").await;
            inspection.inspect("chat-empty").await;
            let member = Member::login(app, user).await;
            let team = json!({ "name": "Preservation of historical waterways and their locks, bridges and towpaths" });
            let team = member.post("/collections", team).await.expect(201).json();
            let upload_path = format!("/documents/upload?collection_id={}", team["id"].as_str().unwrap());
            let _ = member.upload_to(&upload_path, "Canals.pdf", animals()).await.expect(202);
            app.run_jobs().await;
            upload(app, window, "四半期の業績に関する報告書.pdf", animals(), "ingested").await;
            upload(app, window, LONG, animals(), "ingested").await;
            upload(app, window, "دليل المستخدم.pdf", pdf(&[""]), "failed").await;
            window.see("Failed: ").await;
            window.press("Choose sources").await;
            window.find("#picker-documents label").await;
            inspection.inspect("chat-picker").await;
            window.click("#picker-documents li:nth-child(1) label").await;
            window.click("#picker-documents li:nth-child(2) label").await;
            window.press("Done").await;
            inspection.inspect("chat-chosen").await;
            ask(window, "Where does the zebra live, and what does it do there all day?").await;
            window.find(".chip").await;
            inspection.inspect("chat-answer").await;
            window.click("button[aria-label='Bad answer']").await;
            window.find(".feedback").await;
            inspection.inspect("chat-feedback").await;
            window.click("button[aria-label='Bad answer']").await;
            window.run("document.getElementById('side').classList.remove('folded')", vec![]).await;
            window.find("#conversations-list summary").await;
            window.click("#conversations-list summary").await;
            window.click("#conversations-list details button").await;
            inspection.inspect("chat-conversations").await;
            window.press("Cancel").await;
            // Before a page was drawn, since images are kept in memory.
            app.faults.blobs.fail_all(FaultKind::Unavailable);
            window.click(".chip").await;
            window.see("cannot be shown.").await;
            let _ = window.console_errors().await;
            inspection.inspect("chat-source-failed").await;
            app.faults.blobs.clear();
            window.click("#source-close").await;
            let _ = window.console_errors().await;
            window.click(".chip").await;
            window.find("#pages img[alt^='Page 2']").await;
            inspection.inspect("chat-source").await;
            inspection.assert_no_findings();
        },
    )
    .await;
}

#[tokio::test]
async fn every_chat_state_passes_inspection_in_light() {
    inspect_all_states("light").await;
}

#[tokio::test]
async fn every_chat_state_passes_inspection_in_dark() {
    inspect_all_states("dark").await;
}
