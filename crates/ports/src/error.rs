//! The one error of all ports: what broke, whose fault it is, and whether trying again can help.

use std::{borrow::Cow, error::Error, fmt, sync::Arc, time::Duration};

/// A part of the outside world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Component {
    /// The relational database.
    Database,
    /// The key-value store of refresh tokens and counters.
    KeyValueStore,
    /// The store of uploaded files.
    BlobStore,
    /// The vector store.
    VectorStore,
    /// The embedding back end.
    Embedder,
    /// The reranking back end.
    Reranker,
    /// The chat model.
    ChatModel,
    /// The PDF extraction worker.
    Extractor,
    /// The mail server.
    MailServer,
    /// The service itself.
    Service,
}

impl Component {
    /// The part's name in health checks, logs and messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Database => "database",
            Self::KeyValueStore => "key-value store",
            Self::BlobStore => "blob store",
            Self::VectorStore => "vector store",
            Self::Embedder => "embedding back end",
            Self::Reranker => "reranking back end",
            Self::ChatModel => "chat model",
            Self::Extractor => "extraction worker",
            Self::MailServer => "mail server",
            Self::Service => "service",
        }
    }

    /// The part's name for programs: in metrics and traces.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Database => "database",
            Self::KeyValueStore => "key_value_store",
            Self::BlobStore => "blob_store",
            Self::VectorStore => "vector_store",
            Self::Embedder => "embedding_back_end",
            Self::Reranker => "reranking_back_end",
            Self::ChatModel => "chat_model",
            Self::Extractor => "extraction_worker",
            Self::MailServer => "mail_server",
            Self::Service => "service",
        }
    }
}

/// What kind of fault it is; it decides both the answer to the caller and whether to try again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultKind {
    /// The part cannot be reached, or says that it cannot serve now.
    Unavailable,
    /// It belongs to one process at a time, and another one has it open.
    InUse,
    /// It did not answer in time.
    Timeout,
    /// It asks for fewer calls.
    RateLimited,
    /// It has no room left for what it is given.
    Full,
    /// It refused the call for good: wrong key, unknown model, invalid request.
    Rejected,
    /// It answered something that makes no sense.
    InvalidResponse,
    /// This process lacks the settings that it takes.
    Unconfigured,
    /// A rule of ours was broken: a bug, or data that should not exist.
    Internal,
}

impl FaultKind {
    /// Whether the same call may work later.
    pub const fn is_transient(self) -> bool {
        match self {
            Self::Unavailable
            | Self::InUse
            | Self::Timeout
            | Self::RateLimited
            | Self::Full
            | Self::InvalidResponse => true,
            Self::Rejected | Self::Unconfigured | Self::Internal => false,
        }
    }

    /// The kind's name for programs: in metrics and traces.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Unavailable => "unavailable",
            Self::InUse => "in_use",
            Self::Timeout => "timeout",
            Self::RateLimited => "rate_limited",
            Self::Full => "full",
            Self::Rejected => "rejected",
            Self::InvalidResponse => "garbage",
            Self::Unconfigured => "unconfigured",
            Self::Internal => "internal",
        }
    }
}

/// A port's call that did not work.
///
/// Its `Display` is for logs and staff; it holds no secret and no document text. It is not for
/// clients: the server answers with a sentence of its own. Clones are for callers that share one call.
#[derive(Clone, Debug)]
pub struct Fault {
    component: Component,
    kind: FaultKind,
    message: Cow<'static, str>,
    retry_after: Option<Duration>,
    source: Option<Arc<dyn Error + Send + Sync>>,
}

impl Fault {
    /// A fault of `part`; `message` says what was being done or what is wrong.
    pub fn new(component: Component, kind: FaultKind, message: impl Into<Cow<'static, str>>) -> Self {
        Self { component, kind, message: message.into(), retry_after: None, source: None }
    }

    /// Adds the error behind it.
    #[must_use]
    pub fn caused_by(self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { source: Some(source.into().into()), ..self }
    }

    /// Adds when the part asks to be called again.
    #[must_use]
    pub fn retry_after(self, pause: Duration) -> Self {
        Self { retry_after: Some(pause), ..self }
    }

    /// What broke.
    pub fn component(&self) -> Component {
        self.component
    }

    /// How it broke.
    pub fn kind(&self) -> FaultKind {
        self.kind
    }

    /// Whether the same call may work later.
    pub fn is_transient(&self) -> bool {
        self.kind.is_transient()
    }

    /// One sentence for people outside: what broke and how, without its inner message.
    pub fn public(&self) -> String {
        let how = match self.kind {
            FaultKind::Unavailable => "cannot be reached",
            FaultKind::InUse => "is in use by another process",
            FaultKind::Timeout => "did not answer in time",
            FaultKind::RateLimited => "is receiving too many requests",
            FaultKind::Full => "has no room left",
            FaultKind::Rejected => "refused the request",
            FaultKind::InvalidResponse => "gave an answer that makes no sense",
            FaultKind::Unconfigured => "is not configured here",
            FaultKind::Internal => "met an internal error",
        };
        format!("the {} {how}", self.component.name())
    }

    /// The pause that the part asked for.
    pub fn pause(&self) -> Option<Duration> {
        self.retry_after
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.component.name(), self.message)?;
        let mut source = self.source.as_deref().map(|source| source as &dyn Error);
        while let Some(error) = source {
            write!(f, ": {error}")?;
            source = error.source();
        }
        Ok(())
    }
}

// The chain is in `Display` already; naming it as `source` too would print it twice.
impl Error for Fault {}

/// The result of a port's call.
pub type Result<T, E = Fault> = std::result::Result<T, E>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_tells_its_part_and_its_whole_chain() {
        let fault = Fault::new(Component::Database, FaultKind::Unavailable, "begin")
            .caused_by(std::io::Error::other("connection refused"));
        assert_eq!(fault.to_string(), "database: begin: connection refused");
        assert!(fault.is_transient());
        assert!(!Fault::new(Component::ChatModel, FaultKind::Rejected, "wrong key").is_transient());
    }
}
