//! Every fake passes the battery of its port.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod blob_store {
    use docent_testkit::fakes::blob_store::FakeBlobStore;
    use std::sync::Arc;

    docent_testkit::blob_store_contract!(async { (Arc::new(FakeBlobStore::default()) as _, ()) });
}

mod clock {
    use docent_testkit::clock::TestClock;
    use std::sync::Arc;

    docent_testkit::clock_contract!(async { (Arc::new(TestClock::default()) as _, ()) });
}

mod mailer {
    use docent_ports::mailer::Mailer;
    use docent_testkit::contract::mailer::Subject;
    use docent_testkit::fakes::mailer::FakeMailer;
    use std::sync::Arc;

    docent_testkit::mailer_contract!(async {
        let mailer = Arc::new(FakeMailer::default());
        let (arrived, refusing) = (Arc::clone(&mailer), Arc::clone(&mailer));
        let subject = Subject {
            mailer: Arc::clone(&mailer) as Arc<dyn Mailer>,
            arrived: Box::new(move || arrived.mails()),
            refuse: Box::new(move || refusing.refuse_all()),
        };
        (subject, ())
    });
}

mod webhook_sender {
    use docent_domain::webhook::WebhookUrl;
    use docent_ports::webhook_sender::{DeliveryError, WebhookSender};
    use docent_testkit::contract::webhook_sender::Subject;
    use docent_testkit::fakes::webhook_sender::FakeWebhookSender;
    use std::sync::Arc;

    docent_testkit::webhook_sender_contract!(async {
        let sender = Arc::new(FakeWebhookSender::default());
        sender.allow_private();
        let (answering, cutting, arrived) = (Arc::clone(&sender), Arc::clone(&sender), Arc::clone(&sender));
        let subject = Subject {
            sender: sender as Arc<dyn WebhookSender>,
            careful: Arc::new(FakeWebhookSender::default()),
            url: WebhookUrl::parse("http://internal.example.org/hook").unwrap(),
            answer: Box::new(move |answer| answering.script(Ok(answer))),
            cut: Box::new(move || cutting.script(Err(DeliveryError::InvalidResponse))),
            arrived: Box::new(move || arrived.messages()),
        };
        (subject, ())
    });
}

mod identity_provider {
    use docent_testkit::clock::TestClock;
    use docent_testkit::contract::identity_provider::Subject;
    use docent_testkit::fakes::identity_provider::FakeIdentityProvider;
    use std::sync::Arc;

    docent_testkit::identity_provider_contract!(async {
        let clock = Arc::new(TestClock::default());
        let provider = Arc::new(FakeIdentityProvider::new(Arc::clone(&clock) as _));
        let (issuing, signing, stopping) =
            (Arc::clone(&provider), Arc::clone(&provider), Arc::clone(&provider));
        let subject = Subject {
            provider: provider as _,
            clock,
            issue: Box::new(move |code, grant, request| issuing.issue_for(code, grant, request)),
            sign_logout: Box::new(move |request| {
                signing.sign_logout("signed", request.clone());
                "signed".to_owned()
            }),
            set_down: Box::new(move |is_down| stopping.set_down(is_down)),
        };
        (subject, ())
    });
}

mod password_hasher {
    use docent_testkit::fakes::password_hasher::FakePasswordHasher;
    use std::sync::Arc;

    docent_testkit::password_hasher_contract!(async { (Arc::new(FakePasswordHasher::default()) as _, ()) });
}

mod rate_limiter {
    use docent_testkit::fakes::rate_limiter::FakeRateLimiter;
    use std::sync::Arc;

    docent_testkit::rate_limiter_contract!(async { (Arc::new(FakeRateLimiter::default()) as _, ()) });
}

mod reranker {
    use docent_testkit::fakes::reranker::FakeReranker;
    use std::sync::Arc;

    docent_testkit::reranker_contract!(async { (Arc::new(FakeReranker) as _, ()) });
}

mod token_signer {
    use docent_testkit::fakes::token_signer::FakeTokenSigner;
    use std::sync::Arc;

    docent_testkit::token_signer_contract!(async { (Arc::new(FakeTokenSigner) as _, ()) });
}

mod token_store {
    use docent_testkit::fakes::token_store::FakeTokenStore;
    use std::sync::Arc;

    docent_testkit::token_store_contract!(async { (Arc::new(FakeTokenStore::default()) as _, ()) });
}

mod relational {
    use docent_ports::store::Store;
    use docent_testkit::fakes::store::FakeStore;
    use std::sync::Arc;

    async fn fresh() -> (Arc<dyn Store>, ()) {
        (Arc::new(FakeStore::default()), ())
    }

    docent_testkit::relational_contracts!(fresh);

    mod processes {
        use super::*;

        docent_testkit::processes_contract!(async {
            let store: Arc<dyn Store> = Arc::new(FakeStore::default());
            ([Arc::clone(&store), store], ())
        });
    }
}

mod vector_index {
    use docent_testkit::fakes::vector_index::FakeVectorIndex;
    use std::sync::Arc;

    docent_testkit::vector_index_contract!(async { (Arc::new(FakeVectorIndex::default()) as _, ()) });
}

mod vector_indexes {
    use docent_testkit::fakes::vector_indexes::FakeVectorIndexes;
    use std::sync::Arc;

    docent_testkit::vector_indexes_contract!(async { (Arc::new(FakeVectorIndexes::default()) as _, ()) });
}

mod embedder {
    use docent_testkit::fakes::embedder::FakeEmbedder;
    use std::sync::Arc;

    docent_testkit::embedder_contract!(async { (Arc::new(FakeEmbedder::default()) as _, ()) });

    mod with_dense {
        use super::*;

        docent_testkit::embedder_contract!(async { (Arc::new(FakeEmbedder::with_dense(64)) as _, ()) });
    }
}

mod chat_model {
    use docent_testkit::fakes::chat_model::{ScriptedChatModel, Turn};
    use std::sync::Arc;

    docent_testkit::chat_model_contract!(async {
        (Arc::new(ScriptedChatModel::always(Turn::saying("Every six months."))) as _, ())
    });
}

mod text_extractor {
    use docent_domain::document::FailureCode;
    use docent_testkit::contract::text_extractor::Subject;
    use docent_testkit::fakes::text_extractor::{FakeTextExtractor, failing_pdf, fake_pdf};
    use std::sync::Arc;

    fn subject() -> Subject {
        let locked_pdf = failing_pdf(FailureCode::PasswordRequired);
        Subject { extractor: Arc::new(FakeTextExtractor), pdf: fake_pdf, locked_pdf }
    }

    docent_testkit::text_extractor_contract!(async { (subject(), ()) });

    mod cached {
        use super::{Arc, Subject, subject};
        use docent_testkit::fakes::text_extractor::CachingTextExtractor;

        docent_testkit::text_extractor_contract!(async {
            (Subject { extractor: Arc::new(CachingTextExtractor::default()), ..subject() }, ())
        });
    }
}

mod text_recognizer {
    use docent_testkit::contract::text_recognizer::Subject;
    use docent_testkit::fakes::page_renderer::fake_scan;
    use docent_testkit::fakes::text_recognizer::FakeTextRecognizer;
    use std::sync::Arc;

    docent_testkit::text_recognizer_contract!(async {
        let scan = |lines: &[&str]| fake_scan(&lines.join("\n"));
        (Subject { recognizer: Arc::new(FakeTextRecognizer::default()), scan }, ())
    });
}
