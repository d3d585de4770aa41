//! Parameters that are accepted without an effect, and refused ones.

use super::{PATH, body, function, respond, searching};
use crate::openai::refused;
use docent_testkit::fakes::chat_model::Turn;
use docent_tests::rules;
use reqwest::Method;
use serde_json::{Value, json};

rules! {
    async fn parameters_without_an_effect_on_the_answer_are_accepted(setup) {
        let app = setup.always(Turn::saying("ok")).start().await;
        let ada = app.ada().await;
        let mut body = body("q");
        for (name, value) in [
            ("user", json!("u")), ("safety_identifier", json!("s")), ("prompt_cache_key", json!("k")), ("prompt_cache_retention", json!("24h")),
            ("service_tier", json!("auto")), ("background", json!(false)), ("conversation", json!(null)), ("prompt", json!(null)),
            ("reasoning", json!({ "effort": null, "summary": null })), ("text", json!({ "format": { "type": "text" }, "verbosity": "medium" })),
            ("top_logprobs", json!(0)), ("stream_options", json!({ "include_obfuscation": false })), ("truncation", json!("auto")),
            ("include", json!(["reasoning.encrypted_content"])), ("max_tool_calls", json!(null)), ("tools", json!([])), ("metadata", json!(null)),
            ("tool_choice", json!("auto")), ("context_management", json!(null)), ("moderation", json!(null)), ("store", json!(null)),
        ] {
            body[name] = value;
        }
        let response = respond(&ada, body).await;
        assert_eq!((&response["user"], &response["safety_identifier"], &response["prompt_cache_key"]), (&json!("u"), &json!("s"), &json!("k")));
    }

    async fn unsupported_requests_are_refused(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let store = "vs_00000000000000000000000000000001";
        let file_search = |key: &str, value: Value| {
            let mut tool = json!({ "type": "file_search", "vector_store_ids": [store] });
            tool[key] = value;
            json!([tool])
        };
        let named = |name: &str| json!([function(name)]);
        for (name, value, param) in [
            ("background", json!(true), "background"),
            ("conversation", json!("conv_1"), "conversation"),
            ("conversation", json!({ "id": "conv_1" }), "conversation"),
            ("max_tool_calls", json!(3), "max_tool_calls"),
            ("prompt", json!({ "id": "pmpt_1" }), "prompt"),
            ("reasoning", json!({ "effort": "low" }), "reasoning"),
            ("text", json!({ "format": { "type": "json_object" } }), "text.format"),
            ("text", json!({ "format": { "type": "json_schema", "name": "x", "schema": {} } }), "text.format"),
            ("text", json!({ "verbosity": "low" }), "text.verbosity"),
            ("top_logprobs", json!(1), "top_logprobs"),
            ("service_tier", json!("flex"), "service_tier"),
            ("stream_options", json!({ "include_obfuscation": true }), "stream_options.include_obfuscation"),
            ("include", json!(["message.output_text.logprobs"]), "include"),
            ("temperature", json!(2.1), "temperature"),
            ("top_p", json!(-0.1), "top_p"),
            ("truncation", json!("some"), "truncation"),
            ("max_output_tokens", json!(0), "max_output_tokens"),
            ("metadata", json!({ "n": 1 }), "metadata"),
            ("context_management", json!([{ "type": "compaction" }]), "context_management"),
            ("moderation", json!({ "model": "x" }), "moderation"),
            ("made_up", json!(1), "made_up"),
            ("tools", json!([{ "type": "web_search" }]), "tools[0].type"),
            ("tools", json!([{ "type": "file_search" }]), "tools[0].vector_store_ids"),
            ("tools", file_search("vector_store_ids", json!([])), "tools"),
            ("tools", file_search("max_num_results", json!(51)), "tools[0].max_num_results"),
            ("tools", file_search("filters", json!({ "type": "like" })), "tools[0].filters"),
            ("tools", file_search("ranking_options", json!({ "score_threshold": 2 })), "tools[0].ranking_options.score_threshold"),
            ("tools", file_search("ranking_options", json!({ "hybrid_search": { "embedding_weight": 1 } })), "tools[0].ranking_options.hybrid_search"),
            ("tools", file_search("made_up", json!(1)), "tools[0].made_up"),
            ("tools", named("a b"), "tools[0].name"),
            ("tools", named("search_docs"), "tools"),
            ("tools", json!([function("f"), function("f")]), "tools"),
            ("tools", json!([{ "type": "function", "name": "f", "parameters": [] }]), "tools[0].parameters"),
            ("tool_choice", json!({ "type": "function", "name": "f" }), "tool_choice"),
            ("tool_choice", json!({ "type": "allowed_tools", "mode": "auto", "tools": [] }), "tool_choice"),
            ("tool_choice", json!("required"), "tool_choice"),
            ("input", json!(""), "input"),
            ("input", json!([]), "input"),
            ("input", json!(null), "input"),
            ("input", json!([{ "role": "assistant", "content": "x" }]), "input"),
            ("input", json!([{ "role": "user", "content": [{ "type": "input_image", "image_url": "x" }] }]), "input"),
            ("input", json!([{ "type": "function_call_output", "call_id": "a", "output": "x" }]), "input"),
            ("input", json!([{ "type": "web_search_call", "id": "a" }]), "input"),
            ("model", json!(null), "model"),
            ("stream", json!("yes"), "stream"),
        ] {
            let mut body = body("q");
            body[name] = value;
            let message = refused(&ada.post(PATH, body).await, 400, Some(param), None);
            assert!(message.starts_with(&format!("{param}: ")), "{message}");
        }
        let mut none = searching("q", store);
        none["tool_choice"] = json!("none");
        refused(&ada.post(PATH, none).await, 400, Some("tool_choice"), None);
        let mut twice = searching("q", store);
        let tool = twice["tools"][0].clone();
        twice["tools"].as_array_mut().unwrap().push(tool);
        refused(&ada.post(PATH, twice).await, 400, Some("tools"), None);
        let mut other = body("q");
        other["model"] = json!("gpt-4o");
        refused(&ada.post(PATH, other).await, 404, None, Some("model_not_found"));
        refused(&ada.app().send(ada.request(Method::POST, PATH).body("{")).await, 400, Some("body"), None);
        assert!(app.model.requests().is_empty());
    }
}
