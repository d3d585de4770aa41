//! Metrics: `/metrics`.

use docent_domain::fault::FaultKind;
use docent_domain::usage::TokenUsage;
use docent_testkit::fakes::chat_model::Turn;
use docent_tests::app::TestApp;
use docent_tests::member::question_body;
use docent_tests::pdf::pdf;
use docent_tests::{rules, wait};
use reqwest::Method;

/// Returns the value of one series, if it exists.
async fn series(app: &TestApp, name: &str) -> Option<f64> {
    let text = app.get("/metrics").await.expect(200).text;
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok())
}

rules! {
    async fn metrics_are_404_unless_configured(setup) {
        let app = setup.start().await;
        app.get("/metrics").await.refused(404, "Not found");
        app.send(app.request(Method::POST, "/metrics")).await.refused(404, "Not found");
    }

    async fn metrics_without_a_configured_token_are_public(setup) {
        let app = setup.metrics(None).start().await;
        let _ = app.get("/metrics").await.expect(200);
        app.send(app.request(Method::POST, "/metrics")).await.refused(405, "Method not allowed");
    }

    async fn metrics_have_the_format_that_accept_prefers(setup) {
        let app = setup.metrics(None).start().await;
        let open = "application/openmetrics-text; version=1.0.0; charset=utf-8";
        let text = "text/plain; version=0.0.4; charset=utf-8";
        // What Prometheus sends.
        let scrape = "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.2";
        for (accept, kind) in [(scrape, open), ("application/openmetrics-text", open), ("text/plain", text), ("*/*", text)] {
            let reply = app.send(app.request(Method::GET, "/metrics").header("Accept", accept)).await.expect(200);
            assert_eq!(reply.header("content-type"), kind, "{accept}");
            let is_open = kind == open;
            assert_eq!(reply.text.ends_with("# EOF\n"), is_open);
            let counter = if is_open { "# TYPE docent_faults counter" } else { "# TYPE docent_faults_total counter" };
            assert!(reply.text.lines().any(|line| line == counter), "{}", reply.text);
        }
    }

    async fn metrics_with_a_configured_token_require_it(setup) {
        let app = setup.metrics(Some("a token")).start().await;
        let ada = app.ada().await;
        for request in [
            app.request(Method::GET, "/metrics"),
            app.request(Method::GET, "/metrics").bearer_auth("another"),
            ada.request(Method::GET, "/metrics"),
        ] {
            let reply = app.send(request).await;
            reply.refused(401, "Could not validate credentials");
            assert_eq!(reply.header("www-authenticate"), "Bearer");
        }
        let request = app.request(Method::GET, "/metrics").bearer_auth("a token");
        let _ = app.send(request).await.expect(200);
    }

    async fn metrics_are_exempt_from_the_rate_limit(setup) {
        let app = setup.metrics(None).rate_limit(1, 60).start().await;
        let _ = app.get("/status").await.expect(200);
        for _ in 0..3 {
            let _ = app.get("/metrics").await.expect(200);
        }
        let _ = app.get("/status").await.expect(429);
    }

    // Invariant: The number of metric series is bounded, whatever clients send.
    async fn requests_are_counted_by_route_pattern_and_status(setup) {
        let app = setup.metrics(None).start().await;
        let ada = app.ada().await;
        for n in 0..3 {
            let _ = ada.get(&format!("/documents/00000000-0000-7000-8000-00000000000{n}")).await.expect(404);
            let _ = app.get(&format!("/a-made-up-path/{n}")).await.expect(404);
        }
        let _ = ada.post("/agents/no-such-agent", question_body("q")).await.expect(404);
        let count = async |method, route, status| {
            let labels = format!(r#"{{method="{method}",route="{route}",status="{status}"}}"#);
            series(&app, &format!("docent_http_requests_total{labels}")).await
        };
        assert_eq!(count("GET", "/documents/{doc_id}", 404).await, Some(3.0));
        assert_eq!(count("GET", "-", 404).await, Some(3.0));
        assert_eq!(count("POST", "/auth/token", 200).await, Some(1.0));
        assert_eq!(count("POST", "/agents/{name}", 404).await, Some(1.0));
        let timed = r#"docent_http_request_duration_seconds_count{method="GET",route="-"}"#;
        assert_eq!(series(&app, timed).await, Some(3.0));
        assert_eq!(series(&app, "docent_http_requests_in_flight").await, Some(1.0), "the request for metrics itself");
        let text = app.get("/metrics").await.text;
        assert!(!text.contains("made-up") && !text.contains("no-such-agent") && !text.contains("0000-7000"));
    }

    // Invariant: The number of metric series is bounded, whatever clients send.
    async fn unknown_methods_share_a_series(setup) {
        let app = setup.metrics(None).start().await;
        for method in ["BREW", "WHEN"] {
            let _ = app.send(app.request(method.parse().unwrap(), "/status")).await.expect(405);
        }
        let other = r#"docent_http_requests_total{method="_OTHER",route="/status",status="405"}"#;
        assert_eq!(series(&app, other).await, Some(2.0));
    }

    async fn ingestions_are_counted_by_outcome(setup) {
        let app = setup.metrics(None).start().await;
        let ada = app.ada().await;
        let ingested = r#"docent_jobs_ended_total{outcome="ingested",code=""}"#;
        assert_eq!(series(&app, ingested).await, Some(0.0), "the series exists from the start");
        ada.add("a.pdf", pdf(&["some words"])).await;
        ada.add("b.pdf", b"this is no PDF".to_vec()).await;
        assert_eq!(series(&app, r#"docent_jobs{state="queued"}"#).await, Some(2.0));
        app.advance(std::time::Duration::from_secs(90));
        assert_eq!(series(&app, "docent_oldest_job_age_seconds").await, Some(90.0));
        app.run_jobs().await;
        assert_eq!(series(&app, ingested).await, Some(1.0));
        assert_eq!(series(&app, r#"docent_jobs_ended_total{outcome="failed",code="not_a_pdf"}"#).await, Some(1.0));
        for (stage, times) in [("extract", 2.0), ("chunk", 1.0), ("embed", 1.0), ("index", 1.0)] {
            let name = format!(r#"docent_ingestion_stage_duration_seconds_count{{stage="{stage}"}}"#);
            assert_eq!(series(&app, &name).await, Some(times), "{stage}");
        }
        assert_eq!(series(&app, r#"docent_jobs{state="queued"}"#).await, Some(0.0));
        assert_eq!(series(&app, "docent_oldest_job_age_seconds").await, Some(0.0));
    }

    async fn tokens_are_counted_by_agent_and_model(setup) {
        let usage = Some(TokenUsage { prompt: 100, completion: 20 });
        let app = setup.metrics(None).script([Turn::new().text("ok").finished(usage)]).start().await;
        let _ = app.ada().await.ask("q").await.expect(200);
        let model = app.ports.model.model();
        let tokens = async |kind| {
            series(&app, &format!(r#"docent_tokens_total{{agent="chat",model="{model}",kind="{kind}"}}"#)).await
        };
        wait::until("usage is recorded", async || tokens("completion").await == Some(20.0)).await;
        assert_eq!(tokens("prompt").await, Some(100.0));
    }

    // Invariant: A fault is counted once.
    async fn fault_is_counted_once_wherever_it_surfaces(setup) {
        let app = setup.metrics(None).start().await;
        let ada = app.ada().await;
        let faults = async |part, kind| {
            series(&app, &format!(r#"docent_faults_total{{part="{part}",kind="{kind}"}}"#)).await.unwrap()
        };
        // Before the first token, which is an HTTP error, and after it, which is not.
        app.model.push(Turn::refused(FaultKind::Timeout));
        let _ = ada.ask("q").await.expect(504);
        assert_eq!(faults("chat_model", "timeout").await, 1.0);
        app.model.push(Turn::new().text("Well").fault(FaultKind::Timeout));
        let _ = ada.ask("q").await.expect(200);
        assert_eq!(faults("chat_model", "timeout").await, 2.0);
        // In a tool, where it becomes a tool result.
        app.faults.index.fail_next(1, FaultKind::Unavailable);
        app.model.push(Turn::searching("x"));
        app.model.push(Turn::saying("ok"));
        let _ = ada.ask("q").await.expect(200);
        assert_eq!(faults("vector_store", "unavailable").await, 1.0);
        // In the background.
        ada.add("a.pdf", pdf(&["words"])).await;
        app.faults.embedder.fail_next(1, FaultKind::RateLimited);
        app.run_jobs().await;
        assert_eq!(faults("embedding_back_end", "rate_limited").await, 1.0);
        assert_eq!(series(&app, r#"docent_jobs_ended_total{outcome="waiting",code=""}"#).await, Some(1.0));
        // In an API response.
        app.faults.database.read.fail_next(1, FaultKind::Unavailable);
        let _ = ada.get("/documents").await.expect(503);
        assert_eq!(faults("database", "unavailable").await, 1.0);
        app.leave_jobs();
    }

    async fn metrics_without_database_omit_only_its_series(setup) {
        let app = setup.metrics(None).start().await;
        app.faults.database.all.fail_all(FaultKind::Unavailable);
        assert_eq!(series(&app, r#"docent_jobs{state="queued"}"#).await, None);
        assert_eq!(series(&app, "docent_sse_streams_open").await, Some(0.0));
        assert!(series(&app, r#"docent_faults_total{part="database",kind="unavailable"}"#).await > Some(0.0));
        app.faults.database.all.clear();
        assert_eq!(series(&app, r#"docent_jobs{state="queued"}"#).await, Some(0.0));
    }

    async fn requests_counted_in_process_are_reported(setup) {
        let app = setup.metrics(None).rate_limit(5, 60).start().await;
        app.faults.limiter.fail_all(FaultKind::Unavailable);
        for _ in 0..3 {
            let _ = app.get("/status").await.expect(200);
        }
        assert_eq!(series(&app, "docent_rate_limit_local_total").await, Some(3.0));
        let tried = r#"docent_faults_total{part="key_value_store",kind="unavailable"}"#;
        assert_eq!(series(&app, tried).await, Some(1.0), "an absent store is tried once a second");
    }

    async fn open_streams_are_counted_until_they_end(setup) {
        let app = setup.metrics(None).script([Turn::new().text("hello").stall()]).start().await;
        let ada = app.ada().await;
        let mut stream =
            ada.request(Method::POST, "/agents/chat").json(&question_body("q")).send().await.unwrap();
        let _ = stream.chunk().await.unwrap().unwrap();
        assert_eq!(series(&app, "docent_sse_streams_open").await, Some(1.0));
        drop(stream);
        wait::until("it is closed", async || series(&app, "docent_sse_streams_open").await == Some(0.0)).await;
    }
}
