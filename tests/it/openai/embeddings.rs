//! `POST /v1/embeddings`

use super::refused;
use docent_testkit::wire::FakeLlm;
use docent_tests::member::Member;
use docent_tests::reply::Reply;
use docent_tests::rules;
use docent_tests::setup::{Setup, Started};
use docent_tests::stack::Stack;
use serde_json::{Value, json};

/// Model name of the embedding back end.
const MODEL: &str = "test";

async fn embed(by: &Member, input: Value) -> Reply {
    by.post("/v1/embeddings", json!({ "model": MODEL, "input": input })).await
}

fn vector(embedding: &Value) -> Vec<f64> {
    embedding["embedding"].as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

rules! {
    async fn each_text_gets_a_vector(setup) {
        let fake = FakeLlm::start().await;
        let app = setup.embeddings(&fake).start().await;
        let ada = app.ada().await;
        let reply = embed(&ada, json!(["The zebra", "Granite", "The zebra"])).await.expect(200).json();
        assert_eq!((&reply["object"], &reply["model"]), (&json!("list"), &json!(MODEL)));
        let data = reply["data"].as_array().unwrap();
        let places: Vec<_> = data.iter().map(|one| (&one["object"], one["index"].as_u64().unwrap())).collect();
        let object = json!("embedding");
        assert_eq!(places, [(&object, 0), (&object, 1), (&object, 2)]);
        let length: f64 = vector(&data[0]).iter().map(|number| number * number).sum();
        assert!((length - 1.0).abs() < 1e-3);
        assert!(vector(&data[0]) == vector(&data[2]) && vector(&data[0]) != vector(&data[1]));
        let tokens = reply["usage"]["prompt_tokens"].as_u64().unwrap();
        assert!(tokens > 5 && reply["usage"]["total_tokens"] == tokens);
        assert_eq!(app.usage(ada.user.id).await.prompt, tokens);
        let one = embed(&ada, json!("Granite")).await.expect(200).json();
        assert_eq!(vector(&one["data"][0]), vector(&data[1]));
    }

    async fn base64_encoding_returns_the_same_vector(setup) {
        let fake = FakeLlm::start().await;
        let app = setup.embeddings(&fake).start().await;
        let ada = app.ada().await;
        let plain = embed(&ada, json!("zebra")).await.expect(200).json();
        let body = json!({ "model": MODEL, "input": "zebra", "encoding_format": "base64" });
        let packed = ada.post("/v1/embeddings", body).await.expect(200).json();
        let packed = packed["data"][0]["embedding"].as_str().unwrap();
        assert_eq!(decode(packed), vector(&plain["data"][0]));
    }

    async fn tokens_get_the_vector_of_their_text(setup) {
        let fake = FakeLlm::start().await;
        let app = setup.embeddings(&fake).start().await;
        let ada = app.ada().await;
        let texts = embed(&ada, json!(["Hello world", "Hello"])).await.expect(200).json();
        // As cl100k_base encodes them.
        let lists = embed(&ada, json!([[9906, 1917], [9906]])).await.expect(200).json();
        let one = embed(&ada, json!([9906, 1917])).await.expect(200).json();
        assert_eq!(lists["data"], texts["data"]);
        assert_eq!(lists["usage"], texts["usage"]);
        assert_eq!((vector(&one["data"][0]), one["data"].as_array().unwrap().len()), (vector(&texts["data"][0]), 1));
    }

    async fn dimensions_must_be_those_of_the_model(setup) {
        let fake = FakeLlm::start().await;
        let app = setup.embeddings(&fake).start().await;
        let ada = app.ada().await;
        let length = vector(&embed(&ada, json!("x")).await.expect(200).json()["data"][0]).len();
        let asked = async |dimensions: Value| {
            ada.post("/v1/embeddings", json!({ "model": MODEL, "input": "x", "dimensions": dimensions })).await
        };
        let _ = asked(json!(length)).await.expect(200);
        let _ = asked(json!(null)).await.expect(200);
        let message = refused(&asked(json!(length + 1)).await, 400, Some("dimensions"), None);
        assert!(message.contains(&length.to_string()), "{message}");
    }

    async fn models_list_the_embedding_model(setup) {
        let fake = FakeLlm::start().await;
        let app = setup.embeddings(&fake).start().await;
        let ada = app.ada().await;
        let models = ada.get("/v1/models").await.expect(200).json();
        let names: Vec<_> = models["data"].as_array().unwrap().iter().map(|model| model["id"].clone()).collect();
        assert_eq!(names, [json!("chat"), json!(MODEL)]);
        assert_eq!(ada.get(&format!("/v1/models/{MODEL}")).await.expect(200).json(), models["data"][1]);
        refused(&ada.get("/v1/models/other").await, 404, None, Some("model_not_found"));
    }

    async fn invalid_requests_are_refused(setup) {
        let fake = FakeLlm::start().await;
        let app = setup.embeddings(&fake).start().await;
        let ada = app.ada().await;
        for input in [json!(null), json!(""), json!(" "), json!([]), json!([[]]), json!([220]), json!([[1], "a"]), json!([-1]), json!([100_300]), json!([[9906], [4_000_000_000_u32]]), json!(["a", ""]), json!(1), json!(vec!["a"; 2049])] {
            refused(&embed(&ada, input).await, 400, Some("input"), None);
        }
        for (name, value) in [("dimensions", json!(0)), ("dimensions", json!("64")), ("encoding_format", json!("int8")), ("model", json!(1))] {
            let mut body = json!({ "model": MODEL, "input": "x" });
            body[name] = value;
            refused(&ada.post("/v1/embeddings", body).await, 400, Some(name), None);
        }
        let other = json!({ "model": "text-embedding-3-small", "input": "x" });
        refused(&ada.post("/v1/embeddings", other).await, 404, None, Some("model_not_found"));
        assert_eq!(fake.counts().embeddings, 0);
    }
}

/// Decodes a vector from base64.
fn decode(text: &str) -> Vec<f64> {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = text.bytes().filter_map(|letter| LETTERS.iter().position(|known| *known == letter));
    let bits: Vec<bool> =
        digits.flat_map(|digit| (0..6).rev().map(move |bit| digit >> bit & 1 == 1)).collect();
    let byte = |bits: &[bool]| bits.iter().fold(0_u8, |byte, bit| byte << 1 | u8::from(*bit));
    let bytes: Vec<u8> = bits.chunks_exact(8).map(byte).collect();
    // Parsed from text, as JSON shows 32-bit numbers.
    let number = |bytes: &[u8]| f32::from_le_bytes(bytes.try_into().unwrap()).to_string().parse().unwrap();
    bytes.chunks_exact(4).map(number).collect()
}

#[tokio::test]
async fn embedder_without_dense_vectors_returns_an_error() {
    let started = Started::default();
    let app = Setup::new(Stack::Embedded, &started).start().await;
    let ada = app.ada().await;
    let message = refused(&embed(&ada, json!("x")).await, 400, None, Some("unsupported_model"));
    assert!(message.contains("makes no vectors"), "{message}");
    started.finish().await;
}
