//! Stored responses, and those that continue them.

use super::{PATH, body, events, function, path, respond, searching};
use crate::openai::files::ids;
use crate::openai::refused;
use docent_testkit::fakes::chat_model::Turn;
use docent_tests::rules;
use serde_json::{Value, json};

rules! {
    async fn chain_is_the_history_of_the_model_and_instructions_are_not(setup) {
        let app = setup.script(["One.", "Two.", "Three.", "Four."].map(Turn::saying)).start().await;
        let ada = app.ada().await;
        let mut first = body("1?");
        first["instructions"] = json!("Be brief.");
        let first = respond(&ada, first).await;
        let next = async |input: &str, previous: &Value| {
            let body = json!({ "model": "chat", "input": input, "previous_response_id": previous["id"] });
            respond(&ada, body).await
        };
        let second = next("2?", &first).await;
        assert_eq!(second["previous_response_id"], first["id"]);
        let _ = next("3?", &second).await;
        let texts = |n: usize| -> Vec<String> {
            app.model.requests()[n].messages.iter().map(|message| message.content().to_owned()).collect()
        };
        assert_eq!(texts(2), ["1?", "One.", "2?", "Two.", "3?"]);
        // A deleted response ends the history.
        let deleted = ada.delete(&path(&first)).await.expect(200).json();
        assert_eq!(deleted, json!({ "id": first["id"], "object": "response", "deleted": true }));
        let _ = next("4?", &second).await;
        assert_eq!(texts(3), ["2?", "Two.", "4?"]);
        let body = json!({ "model": "chat", "input": "5?", "previous_response_id": first["id"] });
        refused(&ada.post(PATH, body).await, 400, Some("previous_response_id"), Some("previous_response_not_found"));
    }

    async fn reference_stands_for_an_item_of_a_stored_response(setup) {
        let app = setup.script(["One.", "Two."].map(Turn::saying)).start().await;
        let (ada, bob) = (app.ada().await, app.member("bob@example.org").await);
        let first = respond(&ada, body("1?")).await;
        let reference = json!({ "type": "item_reference", "id": first["output"][0]["id"] });
        let items = json!([{ "role": "user", "content": "1?" }, reference, { "role": "user", "content": "2?" }]);
        let message = refused(&bob.post(PATH, body(items.clone())).await, 404, None, None);
        assert!(message.contains(first["output"][0]["id"].as_str().unwrap()), "{message}");
        let _ = respond(&ada, body(items)).await;
        let texts: Vec<_> = app.model.requests()[1].messages.iter().map(|message| message.content().to_owned()).collect();
        assert_eq!(texts, ["1?", "One.", "2?"]);
        for unknown in ["msg_1", "msg_01920f3e5b7a7c3d9e214f6a8b0c2d4e_0", ""] {
            refused(&ada.post(PATH, body(json!([{ "id": unknown, "type": "item_reference" }]))).await, 404, None, None);
        }
    }

    async fn response_belongs_to_its_account_and_its_limited_key(setup) {
        let app = setup.api_keys().always(Turn::saying("ok")).start().await;
        let (ada, bob) = (app.ada().await, app.member("bob@example.org").await);
        let limited = async || {
            let key = app.limited_key(ada.user.id, &["chat"], Some(&["00000000-0000-0000-0000-000000000001"]));
            ada.with_access(key.await.key)
        };
        let (one, two) = (limited().await, limited().await);
        let (of_account, of_one) = (respond(&ada, body("Salaries?")).await, respond(&one, body("Pumps?")).await);
        for (by, response) in [(&bob, &of_account), (&one, &of_account), (&two, &of_one), (&bob, &of_one)] {
            let at = path(response);
            for reply in [
                by.get(&at).await, by.get(&format!("{at}/input_items")).await, by.post(&format!("{at}/cancel"), json!({})).await,
                by.delete(&at).await,
            ] {
                assert_eq!(refused(&reply, 404, None, None), "Response not found");
            }
            let next = json!({ "model": "chat", "input": "And?", "previous_response_id": response["id"] });
            refused(&by.post(PATH, next).await, 400, Some("previous_response_id"), Some("previous_response_not_found"));
        }
        for (by, response) in [(&ada, &of_account), (&ada, &of_one), (&one, &of_one)] {
            assert_eq!(&by.get(&path(response)).await.expect(200).json(), response);
        }
        let foreign = bob.post("/v1/vector_stores", json!({ "name": "Of Bob" })).await.expect(200).json();
        let store = foreign["id"].as_str().unwrap();
        assert_eq!(refused(&ada.post(PATH, searching("q", store)).await, 404, None, None), "Collection not found");
    }

    async fn unstored_response_cannot_be_read(setup) {
        let app = setup.always(Turn::saying("ok")).start().await;
        let ada = app.ada().await;
        for stream in [false, true] {
            let mut body = body("q");
            (body["store"], body["stream"]) = (json!(false), json!(stream));
            let reply = ada.post(PATH, body).await.expect(200);
            let response = if stream { events(&reply).last().unwrap()["response"].clone() } else { reply.json() };
            assert_eq!((&response["store"], &response["status"]), (&json!(false), &json!("completed")));
            refused(&ada.get(&path(&response)).await, 404, None, None);
        }
    }

    async fn stored_response_cannot_be_cancelled(setup) {
        let app = setup.always(Turn::saying("ok")).start().await;
        let ada = app.ada().await;
        let response = respond(&ada, body("q")).await;
        let message = refused(&ada.post(&format!("{}/cancel", path(&response)), json!({})).await, 400, None, None);
        assert!(message.contains("background"), "{message}");
        for unknown in ["resp_01920f3e5b7a7c3d9e214f6a8b0c2d4e", "x", "resp_"] {
            refused(&ada.get(&format!("{PATH}/{unknown}")).await, 404, None, None);
            refused(&ada.post(&format!("{PATH}/{unknown}/cancel"), json!({})).await, 404, None, None);
        }
    }

    async fn input_items_are_paged(setup) {
        let app = setup.always(Turn::saying("ok")).start().await;
        let ada = app.ada().await;
        let message = |role: &str, text: &str| json!({ "role": role, "content": text });
        let items = json!([message("developer", "Be good."), message("user", "1?"), message("assistant", "One."), message("user", "2?")]);
        let response = respond(&ada, body(items)).await;
        let listed = async |query: &str| {
            let list = ada.get(&format!("{}/input_items{query}", path(&response))).await.expect(200).json();
            let texts: Vec<String> = list["data"].as_array().unwrap().iter().map(|item| item["content"][0]["text"].as_str().unwrap().to_owned()).collect();
            (texts, ids(&list), list["has_more"].as_bool().unwrap())
        };
        let (texts, all, has_more) = listed("?order=asc").await;
        assert_eq!((texts.as_slice(), has_more), (&["Be good.", "1?", "One.", "2?"].map(str::to_owned)[..], false));
        let (texts, _, has_more) = listed(&format!("?limit=2&after={}", all[3])).await;
        assert_eq!((texts, has_more), (vec!["One.".to_owned(), "1?".to_owned()], true));
        for query in ["?limit=0", "?limit=101", "?order=x", "?after=x", "?include[]=x"] {
            let _ = ada.get(&format!("{}/input_items{query}", path(&response))).await.expect(400);
        }
    }

    async fn too_long_history_is_left_out_or_refused(setup) {
        let app = setup.settings(|settings| settings.client_history_tokens = 10).always(Turn::saying("ok")).start().await;
        let ada = app.ada().await;
        let message = |role: &str| json!({ "role": role, "content": "hello" });
        let items = json!([message("user"), message("assistant"), message("user"), message("assistant"), message("user")]);
        let reply = ada.post(PATH, body(items.clone())).await.expect(200);
        assert_eq!(reply.header("x-messages-left-out"), "2");
        let mut strict = body(items);
        strict["truncation"] = json!("disabled");
        refused(&ada.post(PATH, strict.clone()).await, 400, Some("input"), None);
        strict["input"] = json!("hello");
        assert_eq!(respond(&ada, strict).await["truncation"], "disabled");
    }

    async fn references_to_long_items_are_limited_together(setup) {
        let app = setup.always(Turn::saying("ok")).start().await;
        let ada = app.ada().await;
        let long = json!([{ "role": "user", "content": "a".repeat(500_000) }, { "role": "assistant", "content": "x" }, { "role": "user", "content": "?" }]);
        let response = respond(&ada, body(long)).await;
        let digits = response["id"].as_str().unwrap().trim_start_matches("resp_");
        let reference = json!({ "type": "item_reference", "id": format!("msg_in_{digits}_0") });
        let repeated = |count: usize| {
            let mut items = vec![reference.clone(); count];
            items.push(json!({ "role": "user", "content": "?" }));
            body(items)
        };
        let _ = respond(&ada, repeated(1)).await;
        let message = refused(&ada.post(PATH, repeated(9)).await, 400, Some("input"), None);
        assert!(message.contains("too long together"), "{message}");
    }

    async fn chain_that_was_cut_before_an_output_of_a_function_continues(setup) {
        let call = Turn::new().tool_call("call-7", "weather", "{}").stop();
        let app = setup.script([call, Turn::saying("It rains."), Turn::saying("Yes.")]).start().await;
        let ada = app.ada().await;
        let mut first = body("Weather?");
        first["tools"] = json!([function("weather")]);
        let first = respond(&ada, first).await;
        let output = json!({ "type": "function_call_output", "call_id": "call-7", "output": "Rain." });
        let second = json!({ "model": "chat", "input": [output], "previous_response_id": first["id"], "tools": [function("weather")] });
        let second = respond(&ada, second).await;
        let _ = ada.delete(&path(&first)).await.expect(200);
        let third = json!({ "model": "chat", "input": "Sure?", "previous_response_id": second["id"] });
        let _ = respond(&ada, third).await;
        let texts: Vec<_> = app.model.requests()[2].messages.iter().map(|message| message.content().to_owned()).collect();
        assert_eq!(texts, ["It rains.", "Sure?"]);
    }
}
