//! The chat model in the panel: `/admin/model`.

use super::staff_with;
use docent_domain::fault::FaultKind;
use docent_domain::permission::Permission;
use docent_testkit::fakes::chat_model::Turn;
use docent_tests::browser::form_token;
use docent_tests::rules;

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
        let turns = [Turn::saying("one two three"), Turn::searching("<b>visitors"), Turn::saying("On Sundays.")];
        let app = setup.script(turns).start().await;
        app.model.offer(&["scripted"]);
        let mut browser = staff_with(&app, &[Permission::ViewJob]).await;
        let page = browser.get(PAGE).await.expect(200);
        assert!(page.text.contains("Check the connection") && app.model.requests().is_empty(), "{}", page.text);
        let page = browser.post(PAGE, &[("form_token", &form_token(&page))]).await.expect(200).text;
        assert!(page.contains("The model can be used.") && page.contains("searched for “&lt;b&gt;visitors”"), "{page}");
        assert!(page.contains("The model answered: On Sundays."), "{page}");
    }

    async fn check_of_a_model_without_tools_says_what_to_do(setup) {
        let turns = [Turn::saying("one two three"), Turn::refused(FaultKind::Rejected)];
        let app = setup.script(turns).start().await;
        app.model.offer(&["scripted"]);
        let mut browser = staff_with(&app, &[Permission::ViewJob]).await;
        let token = form_token(&browser.get(PAGE).await.expect(200));
        let _ = browser.post(PAGE, &[("form_token", "wrong")]).await.expect(403);
        let page = browser.post(PAGE, &[("form_token", &token)]).await.expect(200).text;
        assert!(page.contains("cannot be used") && page.contains("does not support tool calls"), "{page}");
    }
}
