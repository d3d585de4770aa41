//! The Markdown renderer of the chat and the panel: bounded work and safe elements for hostile text.

use super::chat::enter;
use super::inspection::Inspection;
use super::{journey, journey_with, superuser};
use docent_testkit::fakes::chat_model::Turn;
use docent_tests::chromium::Chromium;
use docent_tests::member::{Member, question_body};
use docent_tests::pdf::pdf;
use serde_json::{Value, json};

/// Defines `render`, which returns an element with the rendered text, and the count of steps.
const RENDERER: &str = concat!(
    include_str!("../../../crates/web/src/templates/text.js"),
    include_str!("../../../crates/web/src/templates/chat/dom.js"),
    include_str!("../../../crates/web/src/templates/chat/markdown.js"),
    "\nfunction render(text) { const target = createElement('div'); showMarkdown(target, text); return target; }\n",
);

/// Texts whose work could grow faster than their length: a start, a repeated part and an end.
const HOSTILE: &[(&str, &str, &str)] = &[
    ("", "*", ""),
    ("", "*a ", ""),
    ("", "**a", ""),
    ("", "_a*b", ""),
    ("", "*a*", ""),
    ("*a *a *a *a *a *a *a *a ", "b* ", ""),
    ("", "[", ""),
    ("", "[a](", ""),
    ("", "[](a", ")"),
    ("[[[[[[[[[[[[[[[[", "](x", ""),
    ("", "`", ""),
    ("", "`a``", ""),
    ("", "` `` ``` ```` ", ""),
    ("", "*_[`", ""),
    ("", "|", ""),
    ("|a|b|c|\n|-|-|-|\n", "|\n", ""),
    ("", "-|", "\n-|-|"),
    ("", "a|b\n-|-\n", ""),
    ("# ", "#", "x"),
    ("# ", "# ", "x"),
    ("# a", " ", "x"),
    ("", "* ", "x"),
    ("", "- ", ""),
    ("", "- a\n  - b\n    - c\n      - d\n        - e\n", ""),
    ("", "                    - a\n", ""),
    ("", ">", ""),
    ("", "> > > > > > a\n", ""),
    ("", "1. ", ""),
    ("", "```\n", "`"),
    ("", "\\", ""),
    ("", "http://", ""),
    ("", "http://a.b ", ""),
    ("", " ", "x"),
    ("", "a\n", ""),
    ("", "<b>", ""),
    ("", "[a](b)", ""),
    ("[", "*a* ", "](b)"),
    ("", "> a\n", ""),
    ("", "- a\n", ""),
    ("", "a\n\n", ""),
    ("|a|b|\n|-|-|\n", "|c|d|\n", ""),
    ("", "|a|b|\n|-|-|\n|c|d|\n\n", ""),
];

/// Returns the steps that a text takes and its length.
async fn work(window: &Chromium, (start, part, end): (&str, &str, &str), length: usize) -> (f64, f64) {
    let text = format!("{start}{}{end}", part.repeat(length / part.len()));
    let script = format!("{RENDERER} render(arguments[0]); return markdownSteps;");
    let steps = window.run(&script, vec![json!(text)]).await;
    (steps.as_f64().unwrap(), text.len() as f64)
}

// Invariant: The work of rendering Markdown is proportional to its length.
#[tokio::test]
async fn work_grows_in_proportion_to_the_text() {
    journey(async |_, window| {
        window.goto("/chat").await;
        for hostile in HOSTILE {
            let (once, length) = work(window, *hostile, 20_000).await;
            let (twice, _) = work(window, *hostile, 40_000).await;
            assert!(twice < 2.1 * once, "{hostile:?}: {once} steps, {twice} for twice the length");
            assert!(once < 8.0 * length, "{hostile:?}: {once} steps for {length} bytes");
        }
    })
    .await;
}

/// Renders a text, also as a passage, and returns why it cannot be rendered, if it cannot.
const FAULT: &str = "
    const [start, part, end, length] = arguments;
    const text = start + part.repeat(length / part.length) + end;
    let fault = null;
    const log = console.error;
    console.error = (error) => { fault = String(error); };
    try {
        render(text);
        createElement('div').replaceChildren(renderPassage(text));
    } catch (error) {
        fault = String(error);
    }
    console.error = log;
    return fault;";

/// Lists are not spread into arguments, whose number the stack limits, and nothing recurses by the depth of the text.
#[tokio::test]
async fn long_hostile_text_is_rendered_without_overflowing_the_stack() {
    journey(async |_, window| {
        window.goto("/chat").await;
        for (start, part, end) in HOSTILE {
            for length in [200_000, 1_000_000] {
                let arguments = vec![json!(start), json!(part), json!(end), json!(length)];
                let fault = window.run(&format!("{RENDERER}{FAULT}"), arguments).await;
                assert_eq!(fault, Value::Null, "{length} characters of {part:?}");
            }
        }
    })
    .await;
}

#[tokio::test]
async fn text_that_cannot_be_rendered_is_shown_as_it_is() {
    journey(async |_, window| {
        window.goto("/chat").await;
        let script = "
            const create = document.createElement;
            document.createElement = function (tag) {
                if (tag === 'em') throw new RangeError('too many');
                return create.call(document, tag);
            };
            const log = console.error;
            console.error = () => {};
            const target = render('A *b*\\n\\nc');
            document.createElement = create;
            console.error = log;
            const plain = target.textContent;
            showMarkdown(target, 'A **b**');
            return [plain, target.innerHTML];";
        let shown = window.run(&format!("{RENDERER}{script}"), vec![]).await;
        assert_eq!(shown, json!(["A *b*\n\nc", "<p dir=\"auto\">A <strong>b</strong></p>"]));
    })
    .await;
}

/// The built-in answerer and models can be made to repeat what a document says.
#[tokio::test]
async fn stored_answers_of_hostile_markdown_do_not_block_their_conversation() {
    let links = "[a](b)".repeat(40_000);
    let citations = "A zebra (Zebras.pdf, page 1). ".repeat(8_000);
    journey_with(
        |setup| {
            setup.script([
                Turn::saying(&links),
                Turn::searching("zebra"),
                Turn::saying(&citations),
                Turn::saying("The last answer."),
            ])
        },
        async |app, window| {
            let member = Member::login(app, enter(app, window).await).await;
            member.add("Zebras.pdf", pdf(&["A zebra grazes."])).await;
            app.run_jobs().await;
            let id = "01900000-0000-7000-8000-000000000001";
            for question in ["Links?", "Zebras?", "Last?"] {
                let mut body = question_body(question);
                body["conversation_id"] = json!(id);
                let _ = member.post("/agents/chat", body).await.expect(200);
                app.settle().await;
            }
            window.goto(&format!("/chat#{id}")).await;
            window.find("#question").await;
            window.see("The last answer.").await;
            assert_eq!(window.texts(".question").await, ["Links?", "Zebras?", "Last?"]);
            window.find(".chip").await;
            assert_eq!(window.console_errors().await, Vec::<String>::new());
        },
    )
    .await;
}

/// Texts that try to become markup or scripts.
const ATTACKS: &[&str] = &[
    "<script>window.hit=1</script><img src=x onerror=window.hit=1>",
    "[a](javascript:window.hit=1) [b](JaVaScRiPt:window.hit=1) [c](data:text/html,x) [d](vbscript:x)",
    "[e](//evil.example/x) [f](http://user:password@evil.example/) [g](ht\ttp://x) [h](\u{1}javascript:x)",
    "![i](https://evil.example/x.png) ![j][k] [l]: javascript:x",
    "[m](https://evil.example/\"onmouseover=window.hit=1) [n](https://evil.example/'x)",
    "| <img src=x onerror=window.hit=1> |\n|---|\n| [o](javascript:x) <style>* { display: none }</style> |",
    "[https://good.example](https://evil.example) <https://evil.example> &lt;b&gt; &#106;avascript:x",
    "[a [b](https://one.example) c](https://two.example)",
    "# <svg onload=window.hit=1>\n> <iframe src=x>\n- <a href=javascript:x>\n```html\n<form>\n```",
];

/// Returns a list of elements and attributes of a rendered text that are not allowed.
const FORBIDDEN: &str = "
    const tags = 'P H3 H4 H5 H6 HR BLOCKQUOTE UL OL LI PRE CODE STRONG EM A SPAN DIV TABLE THEAD TBODY TR TH TD'.split(' ');
    const attributes = 'dir tabindex href rel target class role aria-label scope start'.split(' ');
    return [...render(arguments[0]).querySelectorAll('*')].flatMap((element) => {
        const wrong = [...element.attributes].map((attribute) => attribute.name).filter((name) => !attributes.includes(name));
        if (!tags.includes(element.tagName)) wrong.push(element.tagName);
        if (element.href && !/^https?:/.test(element.href)) wrong.push(element.href);
        if (element.href && new URL(element.href).username) wrong.push(element.href);
        if (element.tagName === 'A' && element.querySelector('a')) wrong.push('a link in a link');
        return wrong;
    });";

#[tokio::test]
async fn hostile_markdown_becomes_only_allowed_elements() {
    journey(async |_, window| {
        window.goto("/chat").await;
        for attack in ATTACKS {
            let forbidden = window.run(&format!("{RENDERER}{FORBIDDEN}"), vec![json!(attack)]).await;
            assert_eq!(forbidden, json!([]), "{attack}");
        }
        let text = format!("{RENDERER} return render(arguments[0]).textContent;");
        let shown = window.run(&text, vec![json!(ATTACKS[0])]).await;
        assert_eq!(shown, json!(ATTACKS[0]), "HTML stays text");
        let labelled = window.run(&text, vec![json!("[https://good.example](https://evil.example)")]).await;
        assert_eq!(labelled, json!("https://good.example (evil.example)"), "the host is shown");
        assert_eq!(window.run("return window.hit ?? 0", vec![]).await, Value::from(0));
    })
    .await;
}

#[tokio::test]
async fn panel_shows_the_markdown_of_answers_and_no_elements_of_theirs() {
    let answer = "**Yes** <b>no</b>\n\n- one\n- two\n\n| Year | Sales |\n|---|---|\n| 2017 | **31,657** |\n\n\
                  [here](javascript:hit)";
    journey_with(
        |setup| setup.script([Turn::searching("sales"), Turn::saying(answer)]),
        async |app, window| {
            superuser(app, window).await;
            let member: Member = app.ada().await;
            member
                .add("Sales.pdf", pdf(&["Sales of zebras\n| Year | Sales |\n|---|---|\n| 2017 | 31,657 |"]))
                .await;
            app.run_jobs().await;
            let id = "01900000-0000-7000-8000-000000000001";
            let mut body = question_body("**Which** sales?");
            body["conversation_id"] = json!(id);
            let _ = member.post("/agents/chat", body).await.expect(200);
            app.settle().await;
            window.goto(&format!("/admin/conversations/{id}")).await;
            window.find(".markdown table").await;
            assert_eq!(window.texts(".markdown > p").await, ["Yes <b>no</b>", "[here](javascript:hit)"]);
            assert_eq!(window.texts(".markdown li").await, ["one", "two"]);
            assert_eq!(window.texts(".markdown td").await, ["2017", "31,657"]);
            assert!(!window.has(".markdown b").await && !window.has(".markdown a").await);
            // A question is what was typed.
            window.see("**Which** sales?").await;
            window.run("document.querySelector('.passage details').open = true", vec![]).await;
            assert_eq!(window.texts("pre[data-passage] td").await, ["2017", "31,657"]);
            for scheme in ["light", "dark"] {
                let mut inspection = Inspection::begin(window, scheme).await;
                inspection.inspect("panel-markdown").await;
                inspection.assert_no_findings();
            }
        },
    )
    .await;
}
