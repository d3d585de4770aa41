//! `GET /v1/models`

use super::refused;
use docent_tests::rules;
use serde_json::json;

rules! {
    async fn models_list_the_agents(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let chat = json!({ "id": "chat", "object": "model", "created": 1_767_225_600, "owned_by": "docent" });
        // An embedding model follows if it makes vectors.
        let list = ada.get("/v1/models").await.expect(200).json();
        assert_eq!((&list["object"], &list["data"][0]), (&json!("list"), &chat));
        assert!(list["data"].as_array().unwrap()[1..].iter().all(|model| model["id"] == "test"), "{list}");
        assert_eq!(ada.get("/v1/models/chat").await.expect(200).json(), chat);
        let message = refused(&ada.get("/v1/models/other").await, 404, None, Some("model_not_found"));
        assert_eq!(message, "The model `other` does not exist");
    }

    async fn models_require_the_chat_scope(setup) {
        let app = setup.api_keys().start().await;
        let ada = app.ada().await;
        let chat = app.api_key(ada.user.id, &["chat"]).await.key;
        let read = app.api_key(ada.user.id, &["read"]).await.key;
        let models = async |key: &str| app.send(app.request(reqwest::Method::GET, "/v1/models").bearer_auth(key)).await;
        let _ = models(&chat).await.expect(200);
        refused(&models(&read).await, 403, None, Some("insufficient_permissions"));
        let wrong = models("sk-wrong").await;
        refused(&wrong, 401, None, Some("invalid_api_key"));
        assert!(wrong.header("www-authenticate").starts_with("Bearer"));
    }
}
