//! Faults of the chat model, for clients that do not ask for a fallback.

use docent_domain::fault::FaultKind;
use docent_testkit::fakes::chat_model::Turn;
use docent_tests::rules;

rules! {
    async fn fault_before_the_first_token_returns_an_http_error(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let (refused, broken) = (Turn::refused, |kind| Turn::new().fault(kind));
        for (turn, status, detail) in [
            (refused(FaultKind::Unavailable), 502, "is overloaded"),
            (broken(FaultKind::Unavailable), 502, "broke off its response"),
            (refused(FaultKind::Timeout), 504, "did not answer in time"),
            (broken(FaultKind::Timeout), 504, "did not answer in time"),
            (refused(FaultKind::RateLimited), 502, "is receiving too many requests"),
            (broken(FaultKind::RateLimited), 502, "is receiving too many requests"),
            (refused(FaultKind::Rejected), 502, "refused the request"),
            (broken(FaultKind::Rejected), 502, "refused the request"),
            (refused(FaultKind::InvalidResponse), 502, "returned an invalid response"),
            (broken(FaultKind::InvalidResponse), 502, "returned an invalid response"),
        ] {
            app.model.push(turn);
            ada.ask("q").await.refused(status, &format!("The chat model {detail}"));
        }
    }

    async fn internal_fault_returns_500(setup) {
        let app = setup.always(Turn::saying("never sent")).start().await;
        let ada = app.ada().await;
        for events_before in [0, 1] {
            app.faults.model.fail_after(events_before, 1, FaultKind::Internal);
            ada.ask("q").await.refused(500, "Internal server error");
        }
    }

    async fn fault_after_a_search_before_the_first_token_returns_an_http_error(setup) {
        let app = setup.script([Turn::searching("x"), Turn::refused(FaultKind::Timeout)]).start().await;
        app.ada().await.ask("q").await.refused(504, "The chat model did not answer in time");
    }

    async fn fault_after_the_first_token_ends_the_stream_with_an_error_event(setup) {
        let app = setup.script([Turn::new().text("Well").fault(FaultKind::Unavailable)]).start().await;
        let reply = app.ada().await.ask("q").await.expect(200);
        let error = "event: error\ndata: {\"detail\":\"The chat model broke off its response\"}\n\n";
        assert_eq!(reply.text, format!("data: \"Well\"\n\n{error}"));
    }

    async fn model_stream_without_an_end_is_an_error(setup) {
        let app = setup.script([Turn::new().text("Well")]).start().await;
        let reply = app.ada().await.ask("q").await.expect(200);
        assert_eq!(reply.event("error").unwrap()["detail"], "The chat model returned an invalid response");
    }
}
