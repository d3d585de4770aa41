//! Every fake passes the battery of its port.

mod rate_limiter {
    use docent_testkit::fakes::rate_limiter::FakeRateLimiter;
    use std::sync::Arc;

    docent_testkit::rate_limiter_contract!(async { (Arc::new(FakeRateLimiter::default()) as _, ()) });
}

mod vector_index {
    use docent_testkit::fakes::vector_index::FakeVectorIndex;
    use std::sync::Arc;

    docent_testkit::vector_index_contract!(async { (Arc::new(FakeVectorIndex::default()) as _, ()) });
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
