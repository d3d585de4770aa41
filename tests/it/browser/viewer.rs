//! The document viewer of the web chat.

use super::chat::{ask, enter, renderer};
use super::inspection::Inspection;
use super::journey_with;
use docent_app::accounts::create::Flags;
use docent_domain::fault::FaultKind;
use docent_testkit::fakes::chat_model::Turn;
use docent_tests::app::TestApp;
use docent_tests::chromium::Chromium;
use docent_tests::member::{Member, question_body};
use docent_tests::pdf::pdf;
use docent_tests::wait;
use serde_json::{Value, json};

const PAGES: usize = 30;
const SENTENCE: &str = "The zebra grazes between the old lighthouse and the harbour.";

/// A handbook of many pages, one of which has a sentence about zebras among others.
fn handbook() -> Vec<u8> {
    let page = |number: usize| {
        let lines = |what: &str| {
            (1..=9).map(|n| format!("Chapter {number} says in rule {n} {what}.\n")).collect::<String>()
        };
        let middle = if number == 17 { format!("{SENTENCE}\n") } else { String::new() };
        format!("{}{middle}{}", lines("how keepers feed lions"), lines("how keepers clean cages"))
    };
    let pages: Vec<String> = (1..=PAGES).map(page).collect();
    pdf(&pages.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Uploads the handbook and opens the chat; returns the account and the ID of the document.
async fn open_chat(app: &TestApp, window: &Chromium) -> (Member, String) {
    let member = Member::login(app, enter(app, window).await).await;
    let id = member.add("Handbook.pdf", handbook()).await;
    app.run_jobs().await;
    window.goto("/chat").await;
    (member, id)
}

/// Uploads the handbook, asks about it and opens the citation of the answer.
async fn open_citation(app: &TestApp, window: &Chromium) {
    open_chat(app, window).await;
    ask(window, "Where does the zebra graze?").await;
    window.find(".chip").await;
    window.click(".answer a").await;
    window.find("#pages .marks .strong").await;
}

fn script() -> [Turn; 2] {
    let answer = "The zebra grazes near the harbour and the lighthouse (Handbook.pdf, page 17).";
    [Turn::searching("zebra lighthouse harbour"), Turn::saying(answer)]
}

async fn run(window: &Chromium, script: &str) -> Value {
    window.run(script, vec![]).await
}

/// Waits until the page field has this number and the image of the page is loaded.
async fn see_page(window: &Chromium, number: usize) {
    window.find(&format!("#pages img[alt^='Page {number} of Handbook.pdf']")).await;
    wait::until(&format!("the page field is {number}"), async || {
        run(window, "return document.getElementById('page-number').value").await == json!(number.to_string())
    })
    .await;
}

/// Presses a key in the pages.
async fn press_key(window: &Chromium, key: &str) {
    window.find("#pages").await.send_keys(key).await.unwrap();
}

async fn enter_page(window: &Chromium, number: usize) {
    let keys = format!("\u{e009}a\u{e000}{number}\n");
    window.find("#page-number").await.send_keys(&keys).await.unwrap();
}

const LOADED: &str = "return document.querySelectorAll('#pages img').length";

/// Whether an element is in the visible part of the pages.
const IS_VISIBLE: &str = "
    const box = document.getElementById('pages').getBoundingClientRect();
    const mark = document.querySelector('.marks .strong').getBoundingClientRect();
    return mark.height > 4 && mark.top >= box.top && mark.bottom <= box.bottom && mark.left >= box.left;";

#[tokio::test]
async fn quote_is_marked_and_the_whole_document_scrolls() {
    journey_with(
        |setup| setup.script(script()).renderer(renderer()),
        async |app, window| {
            open_citation(app, window).await;
            see_page(window, 17).await;
            wait::until("the quote is visible", async || run(window, IS_VISIBLE).await == json!(true)).await;
            let alt = window.find("#pages img[alt^='Page 17']").await.attr("alt").await.unwrap().unwrap();
            assert_eq!(alt, format!("Page 17 of Handbook.pdf, with this quote marked: {SENTENCE}"));
            // The sentence is one line; the passage is all lines of its page.
            let counts = "return ['.strong', '.faint'].map((kind) => document.querySelectorAll(`[data-page='17'] .marks ${kind}`).length)";
            let counts = run(window, counts).await;
            assert!(counts[0] == json!(1) && counts[1].as_u64().unwrap() >= 10, "{counts}");

            // Scrolling shows the other pages, and frees those that are far away.
            run(window, "document.getElementById('pages').scrollTop = 0").await;
            see_page(window, 1).await;
            for page in [9, 23, PAGES] {
                enter_page(window, page).await;
                see_page(window, page).await;
                wait::until("pages far away are freed", async || run(window, LOADED).await.as_u64().unwrap() <= 6).await;
            }
            assert!(window.has("#next-page:disabled").await);
            assert_eq!(run(window, "return document.querySelectorAll('.page').length").await, json!(PAGES));
            enter_page(window, 99).await;
            assert_eq!(run(window, "return document.getElementById('page-number').value").await, json!("30"));

            // With the keyboard.
            press_key(window, "\u{e011}").await;
            see_page(window, 1).await;
            press_key(window, "\u{e014}").await;
            see_page(window, 2).await;
            let top = "return document.getElementById('pages').scrollTop";
            let before = run(window, top).await.as_f64().unwrap();
            press_key(window, "\u{e00f}").await;
            let below = run(window, top).await.as_f64().unwrap();
            assert!(below > before + 200.0, "Page Down: {before} to {below}");
            press_key(window, "\u{e00e}\u{e015}").await;
            let after = run(window, top).await.as_f64().unwrap();
            assert!((after - before - 60.0).abs() < 4.0, "Page Up and arrow down: {before} to {after}");

            // The text of a PDF has the same marks.
            enter_page(window, 17).await;
            window.press("Text").await;
            window.find("[data-page='17'] mark.strong").await;
            assert_eq!(window.texts("mark.strong").await, [SENTENCE]);
            window.press("Text").await;
            see_page(window, 17).await;

            // Escape closes the viewer and returns the focus to the citation.
            press_key(window, "\u{e00c}").await;
            wait::until("the viewer is closed", async || !window.has("#source[open]").await).await;
            assert_eq!(run(window, "return document.activeElement.closest('.answer') !== null").await, json!(true));
            assert_eq!(run(window, LOADED).await, json!(0));
            assert_eq!(window.console_errors().await, Vec::<String>::new());
        },
    )
    .await;
}

/// Makes the places of words load until the request is stopped.
const HANG_WORDS: &str = "
    const real = window.fetch;
    window.fetch = (url, options) => String(url).endsWith('/words')
        ? new Promise((_, reject) => options.signal.addEventListener('abort', () => reject(options.signal.reason)))
        : real(url, options);";

#[tokio::test]
async fn text_shows_the_quote_when_the_image_has_not_loaded_completely() {
    journey_with(
        |setup| setup.script(script()).renderer(renderer()),
        async |app, window| {
            open_citation(app, window).await;
            enter_page(window, 1).await;
            see_page(window, 1).await;
            wait::until("page 17 is freed", async || !window.has("#pages img[alt^='Page 17']").await).await;
            run(window, HANG_WORDS).await;
            enter_page(window, 17).await;
            see_page(window, 17).await;
            window.press("Text").await;
            window.find("[data-page='17'] mark.strong").await;
            let is_visible = IS_VISIBLE.replace(".marks .strong", "mark.strong");
            wait::until("the quote is visible", async || run(window, &is_visible).await == json!(true)).await;
            assert_eq!(window.find("#page-number").await.prop("value").await.unwrap().as_deref(), Some("17"));
            assert_eq!(window.console_errors().await, Vec::<String>::new());
        },
    )
    .await;
}

const ZOOM: &str = "return [document.getElementById('zoom-reset').textContent,
    Math.round(document.querySelector('.page').clientWidth / document.getElementById('pages').clientWidth * 10)]";

#[tokio::test]
async fn zoom_keeps_the_place_and_loads_sharper_images() {
    journey_with(
        |setup| setup.script(script()).renderer(renderer()),
        async |app, window| {
            open_citation(app, window).await;
            see_page(window, 17).await;
            window.click("#zoom-in").await;
            window.click("#zoom-in").await;
            assert_eq!(run(window, ZOOM).await[0], json!("156 %"));
            let width = "return document.querySelector(\"#pages img[alt^='Page 17']\").naturalWidth";
            wait::until("the image is sharper", async || run(window, width).await.as_u64() >= Some(1200)).await;
            see_page(window, 17).await;
            window.find("#pages .marks .strong").await;
            press_key(window, "-").await;
            assert_eq!(run(window, ZOOM).await[0], json!("125 %"));
            press_key(window, "+").await;
            press_key(window, "0").await;
            assert_eq!(run(window, ZOOM).await[0], json!("100 %"));
            let wheel = json!({ "type": "mouseWheel", "x": 1100, "y": 500, "deltaX": 0, "deltaY": -120, "modifiers": 2 });
            window.devtools("Input.dispatchMouseEvent", wheel).await;
            wait::until("the wheel zooms", async || run(window, ZOOM).await[0] == json!("149 %")).await;
            assert_eq!(run(window, "return visualViewport.scale").await, json!(1), "not the whole page");
            see_page(window, 17).await;
            window.click("#zoom-reset").await;
            assert_eq!(run(window, ZOOM).await[0], json!("100 %"));
            assert_eq!(window.console_errors().await, Vec::<String>::new());
        },
    )
    .await;
}

#[tokio::test]
async fn title_in_the_list_opens_the_document_at_its_first_page() {
    journey_with(
        |setup| setup.renderer(renderer()),
        async |app, window| {
            let (member, id) = open_chat(app, window).await;
            // A page that fails can be loaded again.
            app.faults.blobs.fail_all(FaultKind::Unavailable);
            window.click("#documents-list .title button").await;
            window.see("Page 1 cannot be shown.").await;
            app.faults.blobs.clear();
            window.press("Try again").await;
            see_page(window, 1).await;
            assert!(!window.has("#pages .marks").await && window.has("#passage[hidden]").await);
            window.click("#source-close").await;
            let focused = "return document.activeElement.textContent";
            assert_eq!(run(window, focused).await, json!("Handbook.pdf"));

            // A deleted document says so.
            window.click("#documents-list .title button").await;
            see_page(window, 1).await;
            let _ = member.delete(&format!("/documents/{id}")).await.expect(204);
            enter_page(window, 25).await;
            window.see("Page 25 cannot be shown. Page not found: the document may have been deleted.").await;
            app.run_jobs().await;
        },
    )
    .await;
}

/// Emulates a phone with a touch screen.
pub(super) async fn become_phone(window: &Chromium) {
    let size = json!({ "width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": true });
    window.devtools("Emulation.setDeviceMetricsOverride", size).await;
    window
        .devtools("Emulation.setTouchEmulationEnabled", json!({ "enabled": true, "maxTouchPoints": 2 }))
        .await;
}

/// Moves two fingers apart.
async fn pinch(window: &Chromium) {
    for (kind, distance) in [("touchStart", 40), ("touchMove", 60), ("touchMove", 80)] {
        let point = |x: i32, id: u8| json!({ "x": x, "y": 500, "id": id });
        let points = [point(195 - distance, 0), point(195 + distance, 1)];
        window.devtools("Input.dispatchTouchEvent", json!({ "type": kind, "touchPoints": points })).await;
    }
    window.devtools("Input.dispatchTouchEvent", json!({ "type": "touchEnd", "touchPoints": [] })).await;
}

#[tokio::test]
async fn viewer_fills_the_screen_of_a_phone() {
    journey_with(
        |setup| setup.script(script()).renderer(renderer()),
        async |app, window| {
            become_phone(window).await;
            app.account("phone@example.org", Flags::default()).await;
            open_citation(app, window).await;
            assert!(window.has("#source:modal").await, "the rest of the page is inert");
            let fills = "const box = document.getElementById('source').getBoundingClientRect();
                return [box.left, box.top, Math.round(box.width - innerWidth), Math.round(box.height - innerHeight),
                    document.documentElement.scrollWidth - innerWidth]";
            assert_eq!(run(window, fills).await, json!([0, 0, 0, 0, 0]));
            // The line of the quote is large enough to read.
            wait::until("the quote is readable", async || {
                let height = "return document.querySelector('.marks .strong')?.getBoundingClientRect().height ?? 0";
                run(window, height).await.as_f64() >= Some(13.0) && run(window, IS_VISIBLE).await == json!(true)
            })
            .await;
            let zoom = "return Number.parseInt(document.getElementById('zoom-reset').textContent)";
            let before = run(window, zoom).await.as_u64().unwrap();
            pinch(window).await;
            wait::until("two fingers zoom", async || run(window, zoom).await.as_u64().unwrap() >= before * 3 / 2).await;
            assert_eq!(run(window, "return visualViewport.scale").await, json!(1));
            let mut inspection = Inspection::begin(window, "light").await;
            inspection.inspect("viewer-phone").await;
            become_phone(window).await;
            press_key(window, "\u{e00c}").await;
            wait::until("the viewer is closed", async || !window.has("#source[open]").await).await;
            inspection.assert_no_findings();
        },
    )
    .await;
}

const FOUND: &str = "return [document.getElementById('find-count').textContent, document.getElementById('page-number').value]";

async fn see_found(window: &Chromium, expected: [&str; 2]) {
    wait::until(&format!("{expected:?} is shown"), async || run(window, FOUND).await == json!(expected))
        .await;
}

#[tokio::test]
async fn text_is_found_in_the_document() {
    journey_with(
        |setup| setup.renderer(renderer()),
        async |app, window| {
            open_chat(app, window).await;
            window.click("#documents-list .title button").await;
            see_page(window, 1).await;
            press_key(window, "\u{e009}f\u{e000}").await;
            assert_eq!(run(window, "return document.activeElement.id").await, json!("find-text"));
            window.fill("find-text", "CHAPTER 21 says in rule 3").await;
            see_found(window, ["1 of 2", "21"]).await;
            assert_eq!(window.texts("#find-hits mark").await, ["Chapter 21 says in rule 3"; 2]);
            see_page(window, 21).await;
            window.find("[data-page='21'] .marks .current").await;
            assert_eq!(run(window, "return document.querySelectorAll('.marks .hit').length").await, json!(2));
            let first = "return document.querySelector('.marks .current').style.top";
            let first = run(window, first).await;
            window.find("#find-text").await.send_keys("\n").await.unwrap();
            see_found(window, ["2 of 2", "21"]).await;
            wait::until("the second place is marked", async || {
                run(window, "return document.querySelector('.marks .current')?.style.top").await != first
            })
            .await;
            window.find("#find-text").await.send_keys("\n").await.unwrap();
            see_found(window, ["1 of 2", "21"]).await;

            // In the text of the pages too, and a chosen place is on its page.
            window.fill("find-text", "feed lions").await;
            window.find("#find-hits li:nth-child(200)").await;
            let choose = "document.querySelector('#find-hits li:nth-child(40) button').click()";
            run(window, choose).await;
            see_found(window, ["40 of 270", "5"]).await;
            window.press("Text").await;
            window.find("[data-page='5'] mark.current").await;
            let mut inspection = Inspection::begin(window, "light").await;
            inspection.inspect("viewer-find").await;
            window.fill("find-text", "giraffe").await;
            window.see("Not found").await;

            // Escape closes the search and not the document.
            window.find("#find-text").await.send_keys("\u{e00c}").await.unwrap();
            window.find("#find-toggle[aria-expanded=false]").await;
            assert!(window.has("#source[open]").await && !window.has("mark.hit").await);
            inspection.assert_no_findings();
        },
    )
    .await;
}

/// Selects the text of the strong marks with the mouse.
async fn select_quote(window: &Chromium) {
    let edges = "const box = document.querySelector('.marks .strong').getBoundingClientRect();
        return [box.left + 3, box.right - 3, box.top + box.height / 2]";
    let edges = run(window, edges).await;
    for (kind, x) in [("mousePressed", &edges[0]), ("mouseMoved", &edges[1]), ("mouseReleased", &edges[1])] {
        let event = json!({ "type": kind, "x": x, "y": edges[2], "button": "left", "clickCount": 1 });
        window.devtools("Input.dispatchMouseEvent", event).await;
    }
}

const QUESTION: &str = "return [document.getElementById('question').value, document.activeElement.id]";

#[tokio::test]
async fn selected_text_becomes_a_question_about_its_document() {
    journey_with(
        |setup| setup.script(script()).renderer(renderer()),
        async |app, window| {
            open_citation(app, window).await;
            window.find(".words").await;
            wait::until("the quote is visible", async || run(window, IS_VISIBLE).await == json!(true)).await;
            assert!(window.has("#selection[hidden]").await);
            select_quote(window).await;
            window.press("Ask about this selection").await;
            let expected = format!("“{SENTENCE}” (Handbook.pdf, page 17)\n");
            assert_eq!(run(window, QUESTION).await, json!([expected, "question"]));
            assert_eq!(window.texts("#chosen li").await, ["Handbook.pdf"]);
            assert!(window.has("#source[open]").await && window.has("#selection[hidden]").await);

            // In the text of the page.
            window.fill("question", "").await;
            window.press("Text").await;
            window.find("mark.strong").await;
            let select = "getSelection().selectAllChildren(document.querySelector('mark.strong'))";
            run(window, select).await;
            window.press("Ask about this selection").await;
            assert_eq!(run(window, QUESTION).await, json!([expected, "question"]));
            assert_eq!(window.console_errors().await, Vec::<String>::new());
        },
    )
    .await;
}

/// Answers the first requests for images and words of pages as a service does that draws too many pages.
const BUSY: &str = "
    const send = window.fetch;
    let refusals = 4;
    window.fetch = (path, options) => {
        if (!/pages\\/\\d+(\\?width|\\/words)/.test(path) || refusals === 0) return send(path, options);
        refusals -= 1;
        const headers = { 'Content-Type': 'application/json', 'Retry-After': '1' };
        return Promise.resolve(new Response('{\"detail\":\"Too many pages are being drawn\",\"code\":\"drawing_queue_full\"}', { status: 503, headers }));
    };";

#[tokio::test]
async fn page_waits_while_the_service_draws_others_and_is_gone_after_signing_out() {
    journey_with(
        |setup| setup.renderer(renderer()).script(script()),
        async |app, window| {
            open_chat(app, window).await;
            ask(window, "Where does the zebra graze?").await;
            window.find(".chip").await;
            run(window, BUSY).await;
            window.click(".answer a").await;
            window.find(".page[aria-busy][data-loading^='Many pages are being drawn.']").await;
            see_page(window, 17).await;
            window.find("#pages .marks .strong").await;
            let texts = "
                const ids = ['source-title', 'passage-text', 'page-list'];
                return ids.map((id) => document.getElementById(id).innerHTML);";
            assert!(!run(window, texts).await.as_array().unwrap().contains(&json!("")));
            window.set_cookie("ended").await;
            run(window, "dispatchEvent(new Event('focus'))").await;
            window.see("Your session has ended. Sign in again.").await;
            assert_eq!(run(window, texts).await, json!(["", "", ""]));
        },
    )
    .await;
}

#[tokio::test]
async fn link_of_a_citation_opens_the_document_at_its_page() {
    journey_with(
        |setup| setup.script(script()).renderer(renderer()),
        async |app, window| {
            let member = Member::login(app, enter(app, window).await).await;
            let id = member.add("Handbook.pdf", handbook()).await;
            app.run_jobs().await;
            let mut body = question_body("Where does the zebra graze?");
            body["model"] = json!("chat");
            let answer = member.post("/v1/chat/completions", body).await.expect(200).json();
            let url = &answer["choices"][0]["message"]["annotations"][0]["url_citation"]["url"];
            let path = format!("/chat#document={id}&page=17");
            assert_eq!(*url, format!("http://{}{path}", app.address));
            window.goto(&path).await;
            see_page(window, 17).await;
            assert_eq!(window.texts("#source-title").await, ["Handbook.pdf"]);
            // Another link in the same window.
            run(window, &format!("location.hash = '#document={id}&page=3'")).await;
            see_page(window, 3).await;
            run(window, "location.hash = '#document=00000000-0000-0000-0000-000000000000&page=3'").await;
            wait::until("an unknown document is reported", async || {
                window.texts("#ask-alert").await.concat().contains("Document not found")
            })
            .await;
        },
    )
    .await;
}
