//! Answers that quote documents because the chat model cannot answer.

use crate::fault::{Component, Fault, FaultCause, FaultKind};

/// Why the chat model did not answer, so that passages are quoted instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FallbackCause {
    /// Its server cannot be reached.
    Unreachable,
    /// It did not answer in time.
    Timeout,
    /// It has too many requests or too little memory.
    Overloaded,
    /// Its server is loading it.
    Loading,
    /// The account at its server has no quota left.
    QuotaExceeded,
    /// Its server refuses all requests: it does not know the model, the API key or the form of the request.
    Rejected,
    /// The question with the conversation and the passages is longer than its context.
    ContextLength,
    /// Its server reported an error or broke off its response.
    Failed,
}

impl FallbackCause {
    /// All causes.
    pub const ALL: [Self; 8] = [
        Self::Unreachable,
        Self::Timeout,
        Self::Overloaded,
        Self::Loading,
        Self::QuotaExceeded,
        Self::Rejected,
        Self::ContextLength,
        Self::Failed,
    ];

    /// The cause that a fault is. None if quotes do not help: another component failed, or a content filter refused the
    /// question.
    pub fn of(fault: &Fault) -> Option<Self> {
        if fault.component() != Component::ChatModel {
            return None;
        }
        Some(match (fault.known_cause(), fault.kind()) {
            (Some(FaultCause::ContentFilter), _) => return None,
            // Most of the text is the conversation and the passages, which the user cannot shorten.
            (Some(FaultCause::ContextLength), _) => Self::ContextLength,
            (Some(FaultCause::Loading), _) => Self::Loading,
            (Some(FaultCause::Overloaded | FaultCause::OutOfMemory), _) => Self::Overloaded,
            (Some(FaultCause::QuotaExceeded), _) => Self::QuotaExceeded,
            (Some(FaultCause::UnknownModel | FaultCause::InvalidKey | FaultCause::ToolsUnsupported), _) => {
                Self::Rejected
            }
            (Some(FaultCause::ServerError | FaultCause::Interrupted), _) => Self::Failed,
            (None, FaultKind::Unavailable | FaultKind::InUse) => Self::Unreachable,
            (None, FaultKind::Timeout) => Self::Timeout,
            (None, FaultKind::RateLimited | FaultKind::Full) => Self::Overloaded,
            (None, FaultKind::Rejected | FaultKind::Unconfigured) => Self::Rejected,
            (None, FaultKind::InvalidResponse | FaultKind::Internal) => Self::Failed,
        })
    }

    /// Machine-readable name of the cause in the API, in records and in metrics.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Unreachable => "unreachable",
            Self::Timeout => "timeout",
            Self::Overloaded => "overloaded",
            Self::Loading => "loading",
            Self::QuotaExceeded => "quota_exceeded",
            Self::Rejected => "rejected",
            Self::ContextLength => "context_length",
            Self::Failed => "failed",
        }
    }

    /// The cause with this code.
    pub fn parse(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|cause| cause.code() == code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_of_the_model_has_a_cause_except_a_content_filter() {
        for kind in FaultKind::ALL {
            let fault = |component| Fault::new(component, kind, "call");
            assert!(FallbackCause::of(&fault(Component::ChatModel)).is_some(), "{kind:?}");
            assert_eq!(FallbackCause::of(&fault(Component::Database)), None);
            for cause in FaultCause::ALL {
                let found = FallbackCause::of(&fault(Component::ChatModel).with_known_cause(cause));
                assert_eq!(found.is_none(), cause == FaultCause::ContentFilter, "{kind:?} {cause:?}");
            }
        }
    }

    #[test]
    fn known_cause_counts_more_than_the_kind() {
        let fault = Fault::new(Component::ChatModel, FaultKind::Unavailable, "call");
        assert_eq!(FallbackCause::of(&fault), Some(FallbackCause::Unreachable));
        let loading = fault.with_known_cause(FaultCause::Loading);
        assert_eq!(FallbackCause::of(&loading), Some(FallbackCause::Loading));
    }

    #[test]
    fn codes_are_unique_and_parse_back() {
        for cause in FallbackCause::ALL {
            assert_eq!(FallbackCause::parse(cause.code()), Some(cause));
        }
        assert_eq!(FallbackCause::parse("other"), None);
    }
}
