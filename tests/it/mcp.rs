//! `POST /mcp`: the Model Context Protocol over streamable HTTP.

use docent_app::settings::DefaultCollection;
use docent_domain::fault::FaultKind;
use docent_tests::app::TestApp;
use docent_tests::member::Member;
use docent_tests::pdf::pdf;
use docent_tests::reply::Reply;
use docent_tests::rules;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

/// The protocol version that most clients use.
const VERSION: &str = "2025-06-18";
const UNKNOWN: &str = "00000000-0000-0000-0000-000000000000";

fn message(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params })
}

fn request(by: &Member, body: &Value) -> RequestBuilder {
    let request = by.request(Method::POST, "/mcp").header("Accept", "application/json, text/event-stream");
    request.header("MCP-Protocol-Version", VERSION).json(body)
}

async fn send(by: &Member, method: &str, params: Value) -> Value {
    let reply = by.app().send(request(by, &message(method, params))).await.expect(200);
    assert_eq!(reply.header("content-type"), "application/json");
    let body = reply.json();
    assert_eq!((&body["jsonrpc"], &body["id"]), (&json!("2.0"), &json!(7)), "{body}");
    body
}

/// Calls a tool and returns its result.
async fn call(by: &Member, tool: &str, arguments: Value) -> Value {
    send(by, "tools/call", json!({ "name": tool, "arguments": arguments })).await["result"].clone()
}

fn text(result: &Value) -> &str {
    assert_eq!(result["content"].as_array().unwrap().len(), 1, "{result}");
    assert_eq!(result["content"][0]["type"], "text");
    result["content"][0]["text"].as_str().unwrap()
}

/// Calls a tool that fails and returns its error message.
async fn failure(by: &Member, tool: &str, arguments: Value) -> String {
    let result = call(by, tool, arguments).await;
    assert_eq!(result["isError"], true, "{result}");
    text(&result).to_owned()
}

async fn page(by: &Member, id: &str, page: u32) -> Value {
    call(by, "get_document_page", json!({ "document_id": id, "page": page })).await
}

async fn unauthenticated(app: &TestApp) -> Reply {
    app.post("/mcp", message("tools/list", json!({}))).await
}

rules! {
    async fn initialize_and_tools_list_describe_server_and_tools(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let client = json!({ "name": "test", "version": "1" });
        let params = json!({ "protocolVersion": VERSION, "capabilities": {}, "clientInfo": client });
        let initialized = send(&ada, "initialize", params).await["result"].clone();
        assert_eq!((&initialized["protocolVersion"], &initialized["serverInfo"]["name"]), (&json!(VERSION), &json!("docent")));
        assert!(initialized["capabilities"]["tools"].is_object() && initialized["instructions"].is_string(), "{initialized}");
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let _ = app.send(request(&ada, &ready)).await.expect(202);
        let tools = send(&ada, "tools/list", json!({})).await["result"]["tools"].clone();
        let names: Vec<_> = tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["search_docs", "list_documents", "get_document_page", "search", "fetch"]);
        assert_eq!(initialized["capabilities"], json!({ "tools": {} }), "there is nothing else");
        for tool in tools.as_array().unwrap() {
            assert_eq!(tool["inputSchema"]["type"], "object");
            assert_eq!(tool["outputSchema"]["type"], "object");
            assert_eq!(tool["annotations"]["readOnlyHint"], true);
            assert!(!tool["description"].as_str().unwrap().is_empty());
        }
        assert_eq!(tools[0]["inputSchema"]["required"], json!(["query"]));
    }

    async fn search_docs_returns_passages_with_document_and_page(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let id = ada.add("animals.pdf", pdf(&["The zebra lives.", "The zebra eats."])).await;
        let other = ada.add("birds.pdf", pdf(&["The owl sleeps; no zebra does."])).await;
        app.run_jobs().await;
        let found = call(&ada, "search_docs", json!({ "query": "Where does the zebra live?" })).await;
        let searched = ada.post("/search", json!({ "query": "Where does the zebra live?" })).await.expect(200);
        assert_eq!(found["structuredContent"], searched.json(), "the same results as POST /search");
        let passages = text(&found);
        assert!(passages.starts_with(&format!("[animals.pdf, pages 1 to 2, document {id}]\nThe zebra lives.")), "{passages}");
        assert!(passages.contains(&format!("\n\n[birds.pdf, page 1, document {other}]\n")), "{passages}");
        let narrow = json!({ "query": "zebra", "limit": 1, "document_ids": [other] });
        let found = call(&ada, "search_docs", narrow).await;
        assert_eq!(found["structuredContent"]["results"][0]["document_id"], json!(other));
        let nothing = call(&ada, "search_docs", json!({ "query": "granite" })).await;
        assert_eq!((text(&nothing), &nothing["isError"]), ("No relevant documents found.", &json!(false)));
    }

    async fn documents_of_hidden_collections_are_not_listed(setup) {
        let app = setup.start().await;
        app.leave_jobs();
        let ada = app.ada().await;
        let own = ada.post("/collections", json!({ "name": "Own" })).await.expect(201).json();
        let own = own["id"].as_str().unwrap();
        let path = format!("/documents/upload?collection_id={own}");
        let _ = ada.upload_to(&path, "a.pdf", pdf(&["zebras"])).await.expect(202);
        assert!(text(&call(&ada, "list_documents", json!({})).await).contains("a.pdf"));
        let _ = ada.put(&format!("/collections/{own}/hidden"), json!({})).await.expect(204);
        assert_eq!(text(&call(&ada, "list_documents", json!({})).await), "There are no documents.");
    }

    async fn list_documents_is_paged(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        assert_eq!(text(&call(&ada, "list_documents", json!({})).await), "There are no documents.");
        for title in ["a", "b", "c"] {
            let _ = ada.post("/documents", json!({ "title": title })).await.expect(201);
        }
        let titles = |result: &Value| -> Vec<String> {
            let documents = result["structuredContent"]["documents"].as_array().unwrap().clone();
            documents.iter().map(|document| document["title"].as_str().unwrap().to_owned()).collect()
        };
        let first = call(&ada, "list_documents", json!({ "limit": 2 })).await;
        let cursor = first["structuredContent"]["next_cursor"].clone();
        assert!(text(&first).contains(cursor.as_str().unwrap()));
        let rest = call(&ada, "list_documents", json!({ "limit": 2, "cursor": cursor })).await;
        assert_eq!((titles(&first).len(), titles(&rest).len()), (2, 1));
        assert_eq!(rest["structuredContent"]["next_cursor"], json!(null));
        assert_eq!(titles(&call(&ada, "list_documents", json!({ "q": "B" })).await), ["b"]);
    }

    async fn get_document_page_returns_the_whole_page(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let id = ada.add("animals.pdf", pdf(&["The zebra lives.", "The zebra eats."])).await;
        let error = failure(&ada, "get_document_page", json!({ "document_id": id, "page": 1 })).await;
        assert_eq!(error, "the document has no pages to read: it is pending");
        app.run_jobs().await;
        let found = page(&ada, &id, 2).await;
        let value = &found["structuredContent"];
        assert_eq!((&value["title"], &value["page"], &value["pages"]), (&json!("animals.pdf"), &json!(2), &json!(2)));
        assert_eq!(value["text"].as_str().unwrap().trim(), "The zebra eats.");
        assert!(text(&found).starts_with("[animals.pdf, page 2 of 2]\nThe zebra eats."));
        let rest = json!({ "document_id": id, "page": 2, "offset": 10 });
        let rest = call(&ada, "get_document_page", rest).await;
        assert_eq!(rest["structuredContent"]["text"].as_str().unwrap().trim(), "eats.");
        let error = failure(&ada, "get_document_page", json!({ "document_id": id, "page": 3 })).await;
        assert_eq!(error, "there is no page 3: the document has 2");
        let error = failure(&ada, "get_document_page", json!({ "document_id": UNKNOWN, "page": 1 })).await;
        assert_eq!(error, "Document not found");
    }

    async fn search_and_fetch_have_the_form_of_chatgpt_connectors(setup) {
        let app = setup.http(|http| http.public_url = Some("https://docs.example.org".to_owned())).start().await;
        let ada = app.ada().await;
        let id = ada.add("animals.pdf", pdf(&["The zebra lives.", "The zebra eats.", "The end."])).await;
        app.run_jobs().await;
        let found = call(&ada, "search", json!({ "query": "zebra" })).await;
        let results = found["structuredContent"]["results"].clone();
        let url = format!("https://docs.example.org/chat#document={id}&page=1");
        assert_eq!(results, json!([{ "id": format!("{id}:1-3"), "title": "animals.pdf", "url": url }]));
        assert_eq!(serde_json::from_str::<Value>(text(&found)).unwrap(), found["structuredContent"]);
        for (asked, page, expected) in [
            (format!("{id}:1-3"), 1, "[page 1]\nThe zebra lives.\n\n[page 2]\nThe zebra eats.\n\n[page 3]\nThe end."),
            (format!("{id}:2"), 2, "The zebra eats."),
            (id.clone(), 1, "[page 1]\nThe zebra lives.\n\n[page 2]\nThe zebra eats.\n\n[page 3]\nThe end."),
        ] {
            let fetched = call(&ada, "fetch", json!({ "id": asked })).await;
            let value = &fetched["structuredContent"];
            assert_eq!(serde_json::from_str::<Value>(text(&fetched)).unwrap(), *value);
            let lines = |text: &str| text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect::<Vec<_>>();
            assert_eq!(lines(value["text"].as_str().unwrap()), lines(expected));
            assert_eq!((&value["id"], &value["title"]), (&json!(asked), &json!("animals.pdf")));
            assert_eq!(value["url"], format!("https://docs.example.org/chat#document={id}&page={page}"));
            assert_eq!(value["metadata"], json!({ "document_id": id, "page": page, "pages": 3 }));
        }
        let nothing = call(&ada, "search", json!({ "query": "granite" })).await;
        assert_eq!(nothing["structuredContent"], json!({ "results": [] }));
        for (asked, error) in [
            (format!("{id}:4"), "there is no page 4: the document has 3"),
            (UNKNOWN.to_owned(), "Document not found"),
            ("x".to_owned(), "id: must be an id that search returned, or that of a document"),
        ] {
            assert_eq!(failure(&ada, "fetch", json!({ "id": asked })).await, error);
        }
    }

    async fn fetch_reads_only_documents_that_the_account_can_read(setup) {
        let app = setup.settings(|settings| settings.default_collection = DefaultCollection::Personal).start().await;
        let (ada, bob) = (app.ada().await, app.member("bob@example.org").await);
        let id = ada.add("animals.pdf", pdf(&["The zebra lives."])).await;
        app.run_jobs().await;
        let own = call(&ada, "fetch", json!({ "id": id })).await;
        assert!(own["structuredContent"]["text"].as_str().unwrap().contains("The zebra lives."), "{own}");
        assert_eq!(failure(&bob, "fetch", json!({ "id": id })).await, "Document not found");
        let found = call(&bob, "search", json!({ "query": "zebra" })).await;
        assert_eq!(found["structuredContent"], json!({ "results": [] }));
    }

    async fn accept_needs_no_event_stream(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        for (accept, status) in [
            ("application/json", 200), ("*/*", 200), ("application/json;q=0.5", 200), ("text/event-stream", 406),
            ("application/json;q=0", 406),
        ] {
            let request = ada.request(Method::POST, "/mcp").header("Accept", accept).json(&message("tools/list", json!({})));
            let _ = app.send(request).await.expect(status);
        }
    }

    async fn origins_of_all_names_of_the_machine_are_the_services_own(setup) {
        let app = setup.settings(|settings| settings.public_url = "http://127.0.0.1:8000".to_owned()).start().await;
        let ada = app.ada().await;
        let list = message("tools/list", json!({}));
        for (origin, status) in [
            ("http://127.0.0.1:8000", 200), ("http://localhost:8000", 200), ("http://[::1]:8000", 200), ("http://localhost:9", 403),
        ] {
            let _ = app.send(request(&ada, &list).header("Origin", origin)).await.expect(status);
        }
    }

    async fn invalid_tool_call_returns_an_error_result(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        for (tool, arguments, expected) in [
            ("search_docs", json!({}), "query: is required"),
            ("search_docs", json!({ "query": " " }), "query: must not be empty"),
            ("search_docs", json!({ "query": "q", "limit": 51 }), "limit: must be a whole number from 1 to 50"),
            ("search_docs", json!({ "query": "q", "document_ids": ["x"] }), "document_ids[0]: must be a UUID"),
            ("list_documents", json!({ "cursor": "x", "limit": 0 }), "cursor: is not a cursor of this list; limit: must be a whole number from 1 to 1000"),
            ("get_document_page", json!({}), "document_id: is required; page: is required"),
            ("get_document_page", json!({ "document_id": "x", "page": 0 }), "document_id: must be a UUID; page: must be a whole number from 1 to 4294967295"),
        ] {
            assert_eq!(failure(&ada, tool, arguments).await, expected);
        }
        let unknown = send(&ada, "tools/call", json!({ "name": "delete_everything", "arguments": {} })).await;
        assert_eq!(unknown["error"]["code"], -32602);
        app.faults.index.fail_next(1, FaultKind::Unavailable);
        let error = failure(&ada, "search_docs", json!({ "query": "q" })).await;
        assert!(error.contains("vector store"), "{error}");
    }

    async fn mcp_requires_the_callers_credentials_and_scope(setup) {
        let app = setup.api_keys().start().await;
        let ada = app.ada().await;
        unauthenticated(&app).await.refused(401, "Could not validate credentials");
        for (scope, status) in [("read", 200), ("chat", 403), ("ingest", 403)] {
            let key = app.api_key(ada.user.id, &[scope]).await.key;
            let list = message("tools/list", json!({}));
            let request = app.request(Method::POST, "/mcp").bearer_auth(key).json(&list);
            let _ = app.send(request.header("Accept", "application/json, text/event-stream")).await.expect(status);
        }
        app.deactivate(ada.user.id).await;
        let _ = app.send(request(&ada, &message("tools/list", json!({})))).await.expect(401);
    }

    async fn other_origins_are_refused(setup) {
        let known = "https://app.example.org";
        let app = setup.http(|http| http.cors_allowed_origins = vec![known.into()]).start().await;
        let ada = app.ada().await;
        let list = message("tools/list", json!({}));
        for (origin, status) in [(known, 200), ("https://evil.example", 403), ("null", 403)] {
            let _ = app.send(request(&ada, &list).header("Origin", origin)).await.expect(status);
        }
    }

    async fn malformed_message_is_refused(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let broken = ada.request(Method::POST, "/mcp").header("Accept", "application/json, text/event-stream");
        let broken = broken.header("Content-Type", "application/json").body("{");
        let reply = app.send(broken).await.expect(415);
        assert!(reply.json()["detail"].is_string(), "{}", reply.text);
        let plain = ada.request(Method::POST, "/mcp").json(&message("tools/list", json!({})));
        let _ = app.send(plain.header("Accept", "text/html")).await.expect(406);
        let get = ada.get("/mcp").await.expect(405);
        assert_eq!(get.header("allow"), "POST");
        let large = request(&ada, &json!({})).body(vec![b' '; 5 << 20]);
        let _ = app.send(large).await.expect(413);
    }
}
