//! The chat model in the panel: `/admin/model`.

use super::staff_with;
use docent_domain::fault::FaultKind;
use docent_domain::permission::Permission;
use docent_testkit::fakes::chat_model::Turn;
use docent_tests::browser::form_token;
use docent_tests::rules;
use reqwest::Method;
use serde_json::json;

const PAGE: &str = "/admin/model";

rules! {
    async fn page_without_a_model_says_how_to_connect_one(setup) {
        let app = setup.builtin_answerer().start().await;
        let mut browser = staff_with(&app, &[Permission::ViewJob]).await;
        let page = browser.get(PAGE).await.expect(200).text;
        assert!(page.contains("No chat model is connected") && page.contains("DOCENT_LLM_BASE_URL"), "{page}");
        assert!(!page.contains("Check the connection"), "{page}");
    }

    async fn check_shows_each_step(setup) {
        let turns = [Turn::saying("one two"), Turn::saying("A house."), Turn::searching("<b>visitors"), Turn::saying("On Sundays.")];
        let app = setup.script(turns).start().await;
        // The second name is that of the model on servers.
        app.model.offer(&["scripted", "test"]);
        app.model.set_context_length(16_384);
        let mut browser = staff_with(&app, &[Permission::ViewJob]).await;
        let page = browser.get(PAGE).await.expect(200);
        assert!(page.text.contains("Check the connection") && app.model.requests().is_empty(), "{}", page.text);
        let page = browser.post(PAGE, &[("form_token", &form_token(&page))]).await.expect(200).text;
        assert!(page.contains("The model can be used.") && page.contains("“&lt;b&gt;visitors”"), "{page}");
        assert!(page.contains("The model answered: On Sundays."), "{page}");
        assert!(page.contains("DOCENT_HISTORY_TOKENS=") && !page.contains("DOCENT_AGENT_SEARCH"), "{page}");
    }

    async fn check_of_a_model_without_tools_says_what_to_do(setup) {
        let turns = [Turn::saying("one two"), Turn::saying("A house."), Turn::refused(FaultKind::Rejected)];
        let app = setup.script(turns).start().await;
        app.model.offer(&["scripted"]);
        let mut browser = staff_with(&app, &[Permission::ViewJob]).await;
        let token = form_token(&browser.get(PAGE).await.expect(200));
        let _ = browser.post(PAGE, &[("form_token", "wrong")]).await.expect(403);
        let page = browser.post(PAGE, &[("form_token", &token)]).await.expect(200).text;
        assert!(page.contains("cannot be used") && page.contains("does not support tool calls"), "{page}");
    }

    async fn answers_without_a_search_are_shown_with_the_setting(setup) {
        let app = setup.start().await;
        app.model.offer(&["scripted"]);
        let ada = app.ada().await;
        let mut browser = staff_with(&app, &[Permission::ViewJob]).await;
        let notice = "of the last";
        for asked in 0..4 {
            for page in [PAGE, "/admin/service"] {
                let page = browser.get(page).await.expect(200).text;
                assert_eq!(page.contains(notice), asked > 2, "{asked}: {page}");
                assert_eq!(page.contains("<code>DOCENT_AGENT_SEARCH=first</code>"), asked > 2, "{asked}: {page}");
            }
            app.model.push(Turn::saying("Five years."));
            let _ = ada.ask("How long is the warranty?").await.expect(200);
        }
        let page = browser.send(app.request(Method::GET, PAGE).header("Accept-Language", "de")).await.expect(200).text;
        assert!(page.contains("Bei 4 der letzten 4 Antworten") && page.contains("docs/how-to/local-llm.md"), "{page}");
    }

    async fn answers_with_a_search_are_not_shown(setup) {
        let app = setup.start().await;
        app.model.offer(&["scripted"]);
        let ada = app.ada().await;
        for _ in 0..4 {
            app.model.push(Turn::searching("warranty"));
            app.model.push(Turn::saying("Five years."));
            let _ = ada.ask("How long is the warranty?").await.expect(200);
        }
        // A question that is searched for in any case does not count, nor do those that clients want so.
        for _ in 0..4 {
            app.model.push(Turn::saying("Five years."));
            let body = json!({ "messages": [{ "role": "user", "content": "q" }], "search": "first" });
            let _ = ada.post("/agents/chat", body).await.expect(200);
        }
        let mut browser = staff_with(&app, &[Permission::ViewJob]).await;
        assert!(!browser.get(PAGE).await.expect(200).text.contains("of the last"));
    }
}
