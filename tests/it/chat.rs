//! The web chat: `/chat` and its assets.

use docent_tests::app::TestApp;
use docent_tests::rules;
use reqwest::Method;

/// What the page has before the address of its script.
const SCRIPT: &str = "type=\"module\" src=\"";

/// Returns the address that follows this text in the page.
async fn asset(app: &TestApp, before: &str) -> String {
    let page = app.get("/chat").await.expect(200).text;
    let from = page.find(before).unwrap() + before.len();
    page[from..].split('"').next().unwrap().to_owned()
}

rules! {
    async fn chat_page_needs_no_login_and_is_not_cached(setup) {
        let app = setup.http(|http| http.app_name = "<Library>".into()).start().await;
        for path in ["/chat", "/chat/"] {
            let page = app.get(path).await.expect(200);
            assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
            assert_eq!(page.header("cache-control"), "no-store");
            assert!(page.text.contains("Chat · &lt;Library&gt;") && !page.text.contains("<Library>"));
            assert!(page.text.contains("<noscript><p class=\"note\">This page needs JavaScript"));
        }
    }

    async fn chat_page_says_when_no_language_model_is_connected(setup) {
        let mode = "Quote mode: no language model is connected.";
        let quoting = setup.builtin_answerer().start().await.get("/chat").await.expect(200);
        assert!(quoting.text.contains(mode));
    }

    async fn chat_page_of_a_language_model_has_no_mode(setup) {
        let app = setup.start().await;
        assert!(!app.get("/chat").await.expect(200).text.contains("Quote mode"));
    }

    async fn chat_page_policy_forbids_inline_scripts_and_markup(setup) {
        let app = setup.start().await;
        let page = app.get("/chat").await.expect(200);
        let policy: Vec<_> = page.header("content-security-policy").split("; ").collect();
        let expected = [
            "default-src 'none'",
            "style-src 'self'",
            "script-src 'self'",
            "connect-src 'self'",
            "img-src blob: data:",
            "form-action 'none'",
            "base-uri 'none'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        ];
        assert_eq!(policy, expected);
        for inline in [" style=", "<style", " onclick", " onload", "javascript:"] {
            assert!(!page.text.contains(inline), "{inline}");
        }
        for script in page.text.split("<script").skip(1) {
            assert!(script.starts_with(" type=\"module\" src=\"/chat/chat.js?v="), "{script}");
        }
    }

    async fn chat_assets_are_small_and_cacheable(setup) {
        let app = setup.start().await;
        let script = asset(&app, SCRIPT).await;
        let actions = app.get(&script.replace("chat.js", "actions.js")).await.expect(200);
        let proof = app.get(&script.replace("chat.js", "proof.js")).await.expect(200);
        let viewer = app.get(&script.replace("chat.js", "viewer.js")).await.expect(200);
        let script = app.get(&script).await.expect(200);
        let style = app.get(&asset(&app, "rel=\"stylesheet\" href=\"").await).await.expect(200);
        let actions_style = app.get("/chat/actions.css").await.expect(200);
        let viewer_style = app.get("/chat/viewer.css").await.expect(200);
        for (asset, content_type, limit) in [
            (&style, "text/css; charset=utf-8", 25),
            (&script, "text/javascript; charset=utf-8", 80),
            (&actions, "text/javascript; charset=utf-8", 30),
            (&proof, "text/javascript; charset=utf-8", 3),
            (&actions_style, "text/css; charset=utf-8", 10),
            (&viewer_style, "text/css; charset=utf-8", 10),
            (&viewer, "text/javascript; charset=utf-8", 40),
        ] {
            assert_eq!(asset.header("content-type"), content_type);
            assert_eq!(asset.header("cache-control"), "public, max-age=3600");
            assert_eq!(asset.header("x-content-type-options"), "nosniff");
            assert!(asset.text.len() < limit * 1024, "{} bytes", asset.text.len());
        }
        let page = app.get("/chat").await.expect(200);
        let first_load = page.text.len() + style.text.len() + script.text.len();
        assert!(first_load < 100 * 1024, "{first_load} bytes");
        for sink in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "DOMParser"] {
            for script in [&script, &actions, &proof, &viewer] {
                assert!(!script.text.contains(sink), "{sink}");
            }
        }
    }

    async fn assets_are_compressed_for_clients_that_accept_it(setup) {
        let app = setup.start().await;
        for path in [
            "/chat/chat.css", "/chat/chat.js", "/chat/actions.js", "/chat/actions.css", "/chat/proof.js", "/chat/viewer.css",
            "/chat/viewer.js",
            "/admin/admin.css", "/admin/admin.js", "/admin/picker.js",
        ] {
            let plain = app.get(path).await.expect(200);
            assert_eq!((plain.header("content-encoding"), plain.header("vary")), ("", "Accept-Encoding"), "{path}");
            for refused in ["br", "gzip;q=0, br", "identity, gzip;q=0.5"] {
                let request = app.request(Method::GET, path).header("Accept-Encoding", refused);
                assert_eq!(app.send(request).await.text, plain.text, "{path}, {refused}");
            }
            for accepted in ["gzip", "gzip, deflate, br, zstd"] {
                let request = app.request(Method::GET, path).header("Accept-Encoding", accepted);
                let response = request.send().await.unwrap();
                let headers = response.headers().clone();
                assert_eq!((&headers["content-encoding"], &headers["vary"]), (&"gzip".parse().unwrap(), &"Accept-Encoding".parse().unwrap()));
                let bytes = response.bytes().await.unwrap();
                assert!(bytes.len() < plain.text.len() / 2, "{path}: {} bytes", bytes.len());
                // The beginning of the format, and the length of the decoded text at its end.
                assert_eq!(bytes[..2], [0x1f, 0x8b]);
                assert_eq!(bytes[bytes.len() - 4..], u32::try_from(plain.text.len()).unwrap().to_le_bytes());
            }
        }
    }
}
