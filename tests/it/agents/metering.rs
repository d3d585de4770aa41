//! Token usage of answers.

use docent_domain::usage::TokenUsage;
use docent_testkit::fakes::chat_model::Turn;
use docent_tests::member::question_body;
use docent_tests::{rules, wait};
use reqwest::Method;

rules! {
    async fn reported_usage_is_summed_over_model_calls(setup) {
        let usage = |prompt, completion| Some(TokenUsage { prompt, completion });
        let first = Turn::new().tool_call("a", "search_docs", r#"{"query":"x"}"#).finished(usage(100, 20));
        let app = setup.script([first, Turn::new().text("ok").finished(usage(200, 5))]).start().await;
        let ada = app.ada().await;
        let reply = ada.ask("q").await.expect(200);
        assert_eq!(reply.text, "data: \"ok\"\n\n", "usage is not sent to the client");
        let sum = TokenUsage { prompt: 300, completion: 25 };
        wait::until("usage is recorded", async || app.usage(ada.user.id).await == sum).await;
    }

    async fn unreported_usage_is_counted(setup) {
        let app = setup.script([Turn::saying("hello world")]).start().await;
        let ada = app.ada().await;
        let _ = ada.ask("hello world").await.expect(200);
        let counted = TokenUsage { prompt: 2, completion: 2 };
        wait::until("usage is recorded", async || app.usage(ada.user.id).await == counted).await;
    }

    async fn answer_after_a_disconnect_is_metered(setup) {
        let app = setup.script([Turn::new().text("hello world").stall()]).start().await;
        let ada = app.ada().await;
        let mut response = ada.request(Method::POST, "/agents/chat").json(&question_body("q")).send().await.unwrap();
        let _ = response.chunk().await.unwrap().unwrap();
        drop(response);
        wait::until("usage is recorded", async || app.usage(ada.user.id).await.completion == 2).await;
    }
}
