//! Ingestion with embedding back ends that refuse texts.

use docent_testkit::wire::FakeLlm;
use docent_tests::pdf::pdf;
use docent_tests::rules;

/// The text of a page of one passage.
fn page(word: &str) -> String {
    (0..20).map(|n| format!("Line {n} tells of {word} in pumps, valves and pipes.\n")).collect()
}

rules! {
    async fn refused_passage_fails_its_document_and_is_named(setup) {
        let fake = FakeLlm::start().await;
        let app = setup.embeddings(&fake).start().await;
        let ada = app.ada().await;
        fake.configure(|model| model.refusals.word = Some(("poison", 500)));
        let pages = ["water", "oil", "poison", "air"].map(page);
        let bad = ada.add("bad.pdf", pdf(&pages.each_ref().map(String::as_str))).await;
        let good = ada.add("good.pdf", pdf(&["Cranes lift heavy loads."])).await;
        app.clock.pass_while(Box::pin(app.run_jobs())).await;
        let report = ada.get(&format!("/documents/{bad}/report")).await.expect(200).json();
        assert_eq!((&report["status"], &report["waiting"]), (&"failed".into(), &serde_json::Value::Null));
        assert_eq!(report["failure"]["code"], "embedding_failed");
        let reason = report["failure"]["reason"].as_str().unwrap();
        let expected = "the embedding back end refused passage 2 (pages 2 to 4) with status 500, and embeds others";
        assert_eq!(reason, expected);
        assert_eq!(report["coverage"]["pages"], 4);
        assert_eq!(ada.document(&good).await["status"], "ingested");
    }

    async fn down_back_end_fails_no_document(setup) {
        let fake = FakeLlm::start().await;
        let app = setup.embeddings(&fake).start().await;
        let ada = app.ada().await;
        fake.configure(|model| model.refusals.word = Some(("", 500)));
        let id = ada.add("a.pdf", pdf(&[&page("water")])).await;
        app.clock.pass_while(Box::pin(app.run_jobs())).await;
        let report = ada.get(&format!("/documents/{id}/report")).await.expect(200).json();
        assert_eq!(report["status"], "pending");
        assert_eq!(report["waiting"]["reason"], "the embedding back end reported an error");
        app.leave_jobs();
    }

    async fn passages_longer_than_the_model_takes_are_counted(setup) {
        let fake = FakeLlm::start().await;
        let app = setup.embeddings(&fake).start().await;
        let ada = app.ada().await;
        fake.configure(|model| model.refusals.bytes = Some((400, 422)));
        let pages = ["water", "oil", "sand", "air"].map(page);
        let file = pdf(&pages.each_ref().map(String::as_str));
        let warning = "2 passages are longer than the embedding model takes: their vectors are of their beginnings";
        // The second document has the same passages, whose vectors are cached.
        for is_cached in [false, true] {
            let calls = fake.counts().embeddings;
            let id = ada.add("a.pdf", file.clone()).await;
            app.clock.pass_while(Box::pin(app.run_jobs())).await;
            let report = ada.get(&format!("/documents/{id}/report")).await.expect(200).json();
            let shortened = &report["effort"]["shortened_passages"];
            assert_eq!((&report["status"], shortened), (&"ingested".into(), &2.into()));
            assert_eq!(report["warnings"], serde_json::json!([warning]));
            assert_eq!(fake.counts().embeddings == calls, is_cached);
        }
    }
}
