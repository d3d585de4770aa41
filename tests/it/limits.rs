//! Limits per account and per API key.

use crate::admin::{staff, submit};
use docent_domain::fault::FaultKind;
use docent_domain::permission::Permission;
use docent_testkit::fakes::chat_model::Turn;
use docent_tests::member::{Member, form, question_body};
use docent_tests::pdf::pdf;
use docent_tests::reply::Reply;
use docent_tests::{rules, wait};
use reqwest::{Method, Response};
use std::time::Duration;

/// Asks a question and returns after the first token.
async fn begin_answer(by: &Member) -> Response {
    let mut response =
        by.request(Method::POST, "/agents/chat").json(&question_body("q")).send().await.unwrap();
    assert_eq!(response.status(), 200);
    let _ = response.chunk().await.unwrap().unwrap();
    response
}

#[track_caller]
fn assert_reached(reply: &Reply, code: &str) {
    assert_eq!((reply.status, &reply.json()["code"]), (429, &code.into()), "{}", reply.text);
}

rules! {
    async fn answers_in_progress_are_limited_per_account(setup) {
        let turn = Turn::new().text("one").stall();
        let app = setup.settings(|settings| settings.account_limits.answers = 2).always(turn).start().await;
        let (ada, bob) = (app.ada().await, app.member("bob@example.org").await);
        let (first, second) = (begin_answer(&ada).await, begin_answer(&ada).await);
        let reply = ada.ask("q").await;
        assert_reached(&reply, "answers_limit");
        let detail = "This account can have 2 answers in progress at the same time; wait until one has ended";
        assert_eq!(reply.json()["detail"], detail);
        let of_bob = begin_answer(&bob).await;
        // A slot outlives its renewals.
        for _ in 0..5 {
            app.advance(Duration::from_secs(60));
        }
        assert_reached(&ada.ask("q").await, "answers_limit");
        drop(first);
        let third = wait::until("the slot is free", async || {
            let reply = ada.request(Method::POST, "/agents/chat").json(&question_body("q")).send().await.unwrap();
            reply.status() == 200
        });
        third.await;
        drop((second, of_bob));
    }

    async fn tokens_per_day_are_limited_until_midnight(setup) {
        let turns = ["hello world"; 3].map(Turn::saying);
        let app = setup.settings(|settings| settings.account_limits.tokens_per_day = 4).script(turns).start().await;
        let ada = app.ada().await;
        app.advance(Duration::from_secs(60 * 60 - 5 * 60));
        let ada = Member::login(&app, ada.user.clone()).await;
        let _ = ada.ask("hello world").await.expect(200);
        wait::until("usage is recorded", async || app.usage(ada.user.id).await.completion == 2).await;
        let reply = ada.ask("hello world").await;
        assert_reached(&reply, "tokens_per_day_limit");
        let seconds: u64 = reply.header("retry-after").parse().unwrap();
        assert_eq!(seconds, 23 * 60 * 60 + 5 * 60);
        let openai = serde_json::json!({ "model": "chat", "messages": [{ "role": "user", "content": "q" }] });
        let reply = ada.post("/v1/chat/completions", openai).await.expect(429);
        assert_eq!(reply.json()["error"]["code"], "tokens_per_day_limit");
        app.advance(Duration::from_secs(seconds));
        let ada = Member::login(&app, ada.user.clone()).await;
        let _ = ada.ask("hello world").await.expect(200);
    }

    async fn stored_bytes_are_limited_before_the_file_is_read(setup) {
        let file = pdf(&["words"]);
        let max = file.len() as u64 * 2 + 10;
        let app = setup.settings(move |settings| settings.account_limits.stored_bytes = max).start().await;
        app.leave_jobs();
        let ada = app.ada().await;
        let too_large = form("b.pdf", "application/pdf", vec![b'x'; 2 << 20]);
        assert_reached(&ada.post_form("/documents/upload", too_large).await, "stored_bytes_limit");
        let (first, second) = tokio::join!(ada.upload("a.pdf", file.clone()), ada.upload("b.pdf", file.clone()));
        let (first, _) = (first.expect(202), second.expect(202));
        let reply = ada.upload("c.pdf", file.clone()).await;
        assert_reached(&reply, "stored_bytes_limit");
        assert_eq!(reply.header("retry-after"), "");
        let _ = app.member("bob@example.org").await.upload("d.pdf", file.clone()).await.expect(202);
        let _ = ada.delete(&format!("/documents/{}", first.json()["id"].as_str().unwrap())).await.expect(204);
        let _ = ada.upload("e.pdf", file).await.expect(202);
    }

    // Invariant: An account stores no more than its limit, and has no more answers in progress, in any
    // process.
    async fn concurrent_uploads_do_not_pass_the_limit_together(setup) {
        let file = pdf(&["words"]);
        let max = file.len() as u64 * 3 - 1;
        let app = setup.settings(move |settings| settings.account_limits.stored_bytes = max).start().await;
        app.leave_jobs();
        let ada = app.ada().await;
        let uploads = futures::future::join_all((0..8).map(|n| ada.upload(if n % 2 == 0 { "a.pdf" } else { "b.pdf" }, file.clone())));
        let statuses: Vec<u16> = uploads.await.iter().map(|reply| reply.status).collect();
        assert_eq!(statuses.iter().filter(|status| **status == 202).count(), 2, "{statuses:?}");
        assert_eq!(statuses.iter().filter(|status| **status == 429).count(), 6, "{statuses:?}");
        assert_eq!(ada.get("/documents").await.json().as_array().unwrap().len(), 2);
    }

    async fn drawn_page_images_are_limited_per_hour(setup) {
        let app = setup.settings(|settings| settings.account_limits.page_images_per_hour = 2).start().await;
        app.leave_jobs();
        let ada = app.ada().await;
        let path = format!("/documents/{}/pages", ada.add("a.pdf", pdf(&["one", "two", "three"])).await);
        let _ = ada.get(&format!("{path}/1")).await.expect(200);
        // A known image and a known failure are not drawn.
        let _ = ada.get(&format!("{path}/1")).await.expect(200);
        for _ in 0..2 {
            let _ = ada.get(&format!("{path}/4")).await.expect(404);
        }
        let reply = ada.get(&format!("{path}/2")).await;
        assert_reached(&reply, "page_images_limit");
        assert_eq!(reply.header("retry-after"), "3600");
        let bob = app.member("bob@example.org").await;
        let _ = bob.get(&format!("{path}/2")).await.expect(200);
    }

    async fn limits_of_an_account_replace_those_of_the_settings(setup) {
        let app = setup.settings(|settings| settings.account_limits.page_images_per_hour = 1).start().await;
        app.leave_jobs();
        let (mut browser, _) = staff(&app, &[Permission::ViewUser, Permission::ChangeUser]).await;
        let ada = app.ada().await;
        let path = format!("/admin/users/{}/limits", ada.user.id);
        let page = browser.get(&path).await.expect(200).text;
        assert!(page.contains("Page images per hour: 1."), "{page}");
        for wrong in ["-1", "many", "99999999999999999999"] {
            let page = submit(&mut browser, &path, &[("answers", wrong)]).await.expect(422).text;
            assert!(page.contains("must be a whole number"), "{page}");
        }
        let _ = submit(&mut browser, &path, &[("page_images_per_hour", "2"), ("answers", " ")]).await.expect(303);
        let images = format!("/documents/{}/pages", ada.add("a.pdf", pdf(&["one", "two", "three"])).await);
        for page in 1..=2 {
            let _ = ada.get(&format!("{images}/{page}")).await.expect(200);
        }
        assert_reached(&ada.get(&format!("{images}/3")).await, "page_images_limit");
        assert!(browser.get(&path).await.expect(200).text.contains("value=\"2\""));
    }

    async fn answers_are_limited_while_the_key_value_store_is_unavailable(setup) {
        let turn = Turn::new().text("one").stall();
        let app = setup.settings(|settings| settings.account_limits.answers = 1).always(turn).start().await;
        let ada = app.ada().await;
        app.faults.limiter.fail_all(FaultKind::Unavailable);
        let first = begin_answer(&ada).await;
        assert_reached(&ada.ask("q").await, "answers_limit");
        drop(first);
    }
}
