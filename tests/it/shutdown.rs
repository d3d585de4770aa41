//! Shutdown.

use docent_testkit::fakes::chat_model::Turn;
use docent_tests::member::question_body;
use docent_tests::{rules, wait};
use reqwest::Method;

rules! {
    async fn answer_interrupted_by_shutdown_ends_with_an_error_and_is_metered(setup) {
        let app = setup.script([Turn::new().text("one two three").stall()]).start().await;
        let ada = app.ada().await;
        let request = ada.request(Method::POST, "/agents/chat").json(&question_body("q"));
        let mut response = request.send().await.unwrap();
        assert_eq!(response.chunk().await.unwrap().unwrap(), "data: \"one two three\"\n\n");
        app.stop().await;
        let rest = response.text().await.unwrap();
        assert_eq!(rest, "event: error\ndata: {\"detail\":\"The service is stopping\"}\n\n");
        assert!(app.usage(ada.user.id).await.completion >= 3);
        wait::until("the model is stopped", async || app.model.cut_short() == 1).await;
    }
}
