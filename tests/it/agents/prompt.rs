//! The system prompt.

use docent_app::agent::prompt::GROUNDED;
use docent_domain::chat::Message;
use docent_testkit::fakes::chat_model::Turn;
use docent_tests::app::TestApp;
use docent_tests::pdf::pdf;
use docent_tests::rules;

/// Returns the system messages of the model's `n`th call.
fn system_messages(app: &TestApp, n: usize) -> Vec<String> {
    let request = app.model.requests().swap_remove(n);
    let words = request.messages.into_iter().filter_map(|message| match message {
        Message::System(text) => Some(text),
        Message::User(_) | Message::Assistant { .. } | Message::Tool(_) => None,
    });
    words.collect()
}

rules! {
    async fn system_prompt_precedes_the_conversation(setup) {
        let app = setup.system_prompt(GROUNDED).script([Turn::saying("ok")]).start().await;
        let _ = app.ada().await.ask("q").await.expect(200);
        assert_eq!(app.model.requests()[0].messages, [
            Message::System(GROUNDED.to_owned()),
            Message::User("q".to_owned()),
        ]);
    }

    async fn sources_of_passages_follow_the_tool_outputs(setup) {
        let turns = [Turn::searching("zebra"), Turn::searching("Africa"), Turn::searching("unicorn"), Turn::saying("done")];
        let app = setup.system_prompt("Be good.").script(turns).start().await;
        let ada = app.ada().await;
        ada.add("Animals of 2018.pdf", pdf(&["Nothing here.", "The zebra lives in Africa and eats grass."])).await;
        app.run_jobs().await;
        let _ = ada.ask("q").await.expect(200);
        assert_eq!(system_messages(&app, 0), ["Be good."]);
        let [prompt, sources] = system_messages(&app, 1).try_into().unwrap();
        let line = "\n1. Animals of 2018.pdf, pages 1 to 2, begins with: Nothing here. The zebra lives";
        assert!(prompt == "Be good." && sources.ends_with(line), "{prompt} {sources}");
        let messages = &app.model.requests()[1].messages;
        assert!(matches!(&messages[3..], [Message::Tool(_), Message::System(_)]), "{messages:?}");
        // A passage that is found again keeps its number; nothing follows a search without results.
        assert_eq!(system_messages(&app, 3), ["Be good.", &sources, &sources]);
    }

    async fn tool_outputs_are_the_last_messages_without_a_system_prompt(setup) {
        let app = setup.script([Turn::searching("zebra"), Turn::saying("done")]).start().await;
        let ada = app.ada().await;
        ada.add("a.pdf", pdf(&["The zebra lives."])).await;
        app.run_jobs().await;
        let _ = ada.ask("q").await.expect(200);
        assert!(system_messages(&app, 1).is_empty());
        assert!(matches!(app.model.requests()[1].messages.last(), Some(Message::Tool(_))));
    }

    async fn client_system_messages_follow_the_prompt(setup) {
        let app = setup.system_prompt("Be good.").script([Turn::saying("ok")]).start().await;
        let messages = serde_json::json!({ "messages": [
            { "role": "system", "content": "Be brief." },
            { "role": "user", "content": "Hi" },
        ] });
        let _ = app.ada().await.post("/agents/chat", messages).await.expect(200);
        assert_eq!(system_messages(&app, 0), ["Be good.", "Be brief."]);
    }
}
