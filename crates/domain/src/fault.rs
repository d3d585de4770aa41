//! The common error of all ports: which component failed, how, and whether a retry can help.

use crate::redaction::redact;
use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// A component that the service depends on.
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
    /// The recognizer of text on page images.
    Recognizer,
    /// The mail server.
    MailServer,
    /// An identity provider.
    IdentityProvider,
    /// The service itself.
    Service,
}

impl Component {
    /// All components.
    pub const ALL: [Self; 12] = [
        Self::Database,
        Self::KeyValueStore,
        Self::BlobStore,
        Self::VectorStore,
        Self::Embedder,
        Self::Reranker,
        Self::ChatModel,
        Self::Extractor,
        Self::Recognizer,
        Self::MailServer,
        Self::IdentityProvider,
        Self::Service,
    ];

    /// Name of the component in health checks, logs and messages.
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
            Self::Recognizer => "text recognizer",
            Self::MailServer => "mail server",
            Self::IdentityProvider => "identity provider",
            Self::Service => "service",
        }
    }

    /// Machine-readable name of the component in metrics and traces.
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
            Self::Recognizer => "text_recognizer",
            Self::MailServer => "mail_server",
            Self::IdentityProvider => "identity_provider",
            Self::Service => "service",
        }
    }
}

/// The kind of a fault, which determines the response to the client and whether to retry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultKind {
    /// The component is unreachable or reports that it is unavailable.
    Unavailable,
    /// Another process has exclusive access.
    InUse,
    /// The component did not respond in time.
    Timeout,
    /// The component limits the request rate.
    RateLimited,
    /// The component has no space left.
    Full,
    /// The component rejected the call permanently: wrong key, unknown model, invalid request.
    Rejected,
    /// The component returned an invalid response.
    InvalidResponse,
    /// A required setting is missing in this process.
    Unconfigured,
    /// A bug, or data that violates an invariant.
    Internal,
}

impl FaultKind {
    /// All kinds.
    pub const ALL: [Self; 9] = [
        Self::Unavailable,
        Self::InUse,
        Self::Timeout,
        Self::RateLimited,
        Self::Full,
        Self::Rejected,
        Self::InvalidResponse,
        Self::Unconfigured,
        Self::Internal,
    ];

    /// Whether the same call can succeed later.
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

    /// Machine-readable name of the kind in metrics and traces.
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

/// A cause of a failed call that messages to clients name, because its remedy differs from those of the other faults
/// of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultCause {
    /// The model cannot call tools, or its server is not set up for it.
    ToolsUnsupported,
    /// The text is longer than the model's context.
    ContextLength,
    /// The server of the model has too little memory.
    OutOfMemory,
    /// The server is loading the model.
    Loading,
    /// The server has too many requests to process.
    Overloaded,
    /// The server does not have the model.
    UnknownModel,
    /// The server does not accept the API key.
    InvalidKey,
    /// The account at the server has no quota or credit left.
    QuotaExceeded,
    /// A content filter of the server refused the request.
    ContentFilter,
    /// The server reported an error of its own.
    ServerError,
    /// The connection ended within the response.
    Interrupted,
}

impl FaultCause {
    /// All causes.
    pub const ALL: [Self; 11] = [
        Self::ToolsUnsupported,
        Self::ContextLength,
        Self::OutOfMemory,
        Self::Loading,
        Self::Overloaded,
        Self::UnknownModel,
        Self::InvalidKey,
        Self::QuotaExceeded,
        Self::ContentFilter,
        Self::ServerError,
        Self::Interrupted,
    ];

    /// Machine-readable name of the cause.
    pub const fn code(self) -> &'static str {
        match self {
            Self::ToolsUnsupported => "tools_unsupported",
            Self::ContextLength => "context_length",
            Self::OutOfMemory => "out_of_memory",
            Self::Loading => "loading",
            Self::Overloaded => "overloaded",
            Self::UnknownModel => "unknown_model",
            Self::InvalidKey => "invalid_key",
            Self::QuotaExceeded => "quota_exceeded",
            Self::ContentFilter => "content_filter",
            Self::ServerError => "server_error",
            Self::Interrupted => "interrupted",
        }
    }

    /// What the component does, after its name.
    const fn predicate(self) -> &'static str {
        match self {
            Self::ToolsUnsupported => "does not support tools",
            Self::ContextLength => "cannot read this much text: the context length is exceeded",
            Self::OutOfMemory => "is out of memory",
            Self::Loading => "is still loading",
            Self::Overloaded => "is overloaded",
            Self::UnknownModel => "is not known to its server",
            Self::InvalidKey => "rejected the API key",
            Self::QuotaExceeded => "has no quota left",
            Self::ContentFilter => "blocked the request with its content filter",
            Self::ServerError => "reported an error",
            Self::Interrupted => "broke off its response",
        }
    }
}

/// A failed call of a port.
///
/// `Display` prints the component and the message; [`Self::report`] adds the causes. Both are for logs and
/// staff and do not contain secrets or document text: causes are [redacted](crate::redaction::redact), and so must be
/// texts of other programs in a message. Clients get [`Self::public_message`]. Clones serve callers
/// that share one call.
#[derive(Clone, Debug)]
pub struct Fault {
    component: Component,
    kind: FaultKind,
    message: Cow<'static, str>,
    retry_after: Option<Duration>,
    status: Option<u16>,
    cause: Option<FaultCause>,
    max_tokens: Option<u64>,
    passage: Option<usize>,
    source: Option<Arc<Cause>>,
}

impl Fault {
    /// Creates a fault; `message` says what was being done or what is wrong.
    pub fn new(component: Component, kind: FaultKind, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            component,
            kind,
            message: message.into(),
            retry_after: None,
            status: None,
            cause: None,
            max_tokens: None,
            passage: None,
            source: None,
        }
    }

    /// Sets the cause, of which the redacted text is kept.
    #[must_use]
    pub fn caused_by(self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        let cause = Cause(redact(&report(&*source.into())));
        Self { source: Some(Arc::new(cause)), ..self }
    }

    /// Sets the delay before a retry that the component requested.
    #[must_use]
    pub fn with_retry_after(self, delay: Duration) -> Self {
        Self { retry_after: Some(delay), ..self }
    }

    /// Sets the HTTP status of the component's response.
    #[must_use]
    pub fn with_status(self, status: u16) -> Self {
        Self { status: Some(status), ..self }
    }

    /// Sets the cause that messages to clients name.
    #[must_use]
    pub fn with_known_cause(self, cause: FaultCause) -> Self {
        Self { cause: Some(cause), ..self }
    }

    /// Sets the number of tokens that the component accepts, as it said when it refused more.
    #[must_use]
    pub fn with_max_tokens(self, tokens: u64) -> Self {
        Self { max_tokens: Some(tokens), ..self }
    }

    /// Sets the position of the passage that the component refused, among those of the call.
    #[must_use]
    pub fn with_passage(self, position: usize) -> Self {
        Self { passage: Some(position), ..self }
    }

    /// The failed component.
    pub fn component(&self) -> Component {
        self.component
    }

    /// The kind of failure.
    pub fn kind(&self) -> FaultKind {
        self.kind
    }

    /// Whether the same call can succeed later.
    pub fn is_transient(&self) -> bool {
        self.kind.is_transient()
    }

    /// The cause that messages to clients name, if it is known.
    pub fn known_cause(&self) -> Option<FaultCause> {
        self.cause
    }

    /// A sentence for clients: the component and the known cause or the kind of failure without internal
    /// details, and the setting if it is wrong.
    pub fn public_message(&self) -> String {
        if let Some(cause) = self.cause {
            return format!("the {} {}", self.component.name(), cause.predicate());
        }
        let how = match self.kind {
            FaultKind::Unavailable => "cannot be reached",
            FaultKind::InUse => "is in use by another process",
            FaultKind::Timeout => "did not answer in time",
            FaultKind::RateLimited => "is receiving too many requests",
            FaultKind::Full => "has no room left",
            FaultKind::Rejected => "refused the request",
            FaultKind::InvalidResponse => "returned an invalid response",
            // The message names the setting.
            FaultKind::Unconfigured => {
                return format!("the {} is not configured here: {}", self.component.name(), self.message);
            }
            FaultKind::Internal => "met an internal error",
        };
        format!("the {} {how}", self.component.name())
    }

    /// What was being done or what is wrong, for logs and staff.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Formats the fault with its causes; see [`report`].
    pub fn report(&self) -> String {
        report(self)
    }

    /// The HTTP status of the component's response, if it refused the call with one.
    pub fn status(&self) -> Option<u16> {
        self.status
    }

    /// The number of tokens that the component accepts, if it refused more and said so.
    pub fn max_tokens(&self) -> Option<u64> {
        self.max_tokens
    }

    /// The position of the passage that the component refused, among those of the call, if it refused only that one.
    pub fn passage(&self) -> Option<usize> {
        self.passage
    }

    /// The delay before a retry that the component requested.
    pub fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.component.name(), self.message)
    }
}

impl Error for Fault {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as &dyn Error)
    }
}

/// The cause of a fault, with its own causes.
#[derive(Debug)]
struct Cause(String);

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Cause {}

/// Formats an error with its causes, for logs and staff.
pub fn report(error: &dyn Error) -> String {
    let mut report = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        report.push_str(": ");
        report.push_str(&error.to_string());
        cause = error.source();
    }
    report
}

/// The result of a port call.
pub type Result<T, E = Fault> = std::result::Result<T, E>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_contain_no_credentials() {
        let cause = std::io::Error::other("cannot reach redis://:hunter2@cache\n");
        let fault = Fault::new(Component::KeyValueStore, FaultKind::Unavailable, "ping").caused_by(cause);
        assert_eq!(fault.report(), r"key-value store: ping: cannot reach redis://[redacted]@cache\n");
        assert!(!format!("{fault:?}").contains("hunter2"));
    }

    #[test]
    fn report_adds_causes_to_component_and_message() {
        let fault = Fault::new(Component::Database, FaultKind::Unavailable, "begin")
            .caused_by(std::io::Error::other("connection refused"));
        assert_eq!(format!("{fault}"), "database: begin");
        assert_eq!(fault.source().map(ToString::to_string).as_deref(), Some("connection refused"));
        assert_eq!(fault.report(), "database: begin: connection refused");
        assert!(fault.is_transient());
        assert!(!Fault::new(Component::ChatModel, FaultKind::Rejected, "wrong key").is_transient());
    }
}
