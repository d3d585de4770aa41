//! Limits of what an account or an API key can use.

use std::fmt;
use std::time::Duration;

/// Limits of an account or of an API key; 0 for no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Answers in progress at the same time.
    pub answers: u64,
    /// Tokens per day (UTC).
    pub tokens_per_day: u64,
    /// Bytes of uploaded files.
    pub stored_bytes: u64,
    /// Page images drawn per hour.
    pub page_images_per_hour: u64,
}

/// Limits of one account that replace those of the settings, where set; 0 for no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct AccountLimits {
    /// Answers in progress at the same time.
    pub answers: Option<u64>,
    /// Tokens per day (UTC).
    pub tokens_per_day: Option<u64>,
    /// Bytes of uploaded files.
    pub stored_bytes: Option<u64>,
    /// Page images drawn per hour.
    pub page_images_per_hour: Option<u64>,
}

impl AccountLimits {
    /// Maximum of a limit, which every store can keep.
    pub const MAX: u64 = 1 << 50;

    /// The limits of the account.
    pub fn or(self, settings: Limits) -> Limits {
        Limits {
            answers: self.answers.unwrap_or(settings.answers),
            tokens_per_day: self.tokens_per_day.unwrap_or(settings.tokens_per_day),
            stored_bytes: self.stored_bytes.unwrap_or(settings.stored_bytes),
            page_images_per_hour: self.page_images_per_hour.unwrap_or(settings.page_images_per_hour),
        }
    }
}

/// A kind of limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitKind {
    /// Answers in progress at the same time.
    Answers,
    /// Tokens per day.
    TokensPerDay,
    /// Bytes of uploaded files.
    StoredBytes,
    /// Page images drawn per hour.
    PageImages,
}

impl LimitKind {
    /// Code for programs.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Answers => "answers_limit",
            Self::TokensPerDay => "tokens_per_day_limit",
            Self::StoredBytes => "stored_bytes_limit",
            Self::PageImages => "page_images_limit",
        }
    }
}

/// A limit that a request would exceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimitReached {
    /// The limit.
    pub kind: LimitKind,
    /// Its value.
    pub max: u64,
    /// Time until the limit permits requests again, if known.
    pub retry_after: Option<Duration>,
}

impl fmt::Display for LimitReached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let max = self.max;
        let seconds = self.retry_after.unwrap_or_default().as_secs_f64().ceil();
        match self.kind {
            LimitKind::Answers => {
                write!(
                    f,
                    "This account can have {max} answers in progress at the same time; wait until one has ended"
                )
            }
            LimitKind::TokensPerDay => {
                write!(
                    f,
                    "This account has used its {max} tokens of today; the next day (UTC) begins in {seconds} seconds"
                )
            }
            LimitKind::StoredBytes => {
                write!(f, "This account can store {max} bytes of files; delete documents to upload others")
            }
            LimitKind::PageImages => {
                write!(
                    f,
                    "This account can have {max} page images drawn per hour; try again in {seconds} seconds"
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn account_limits_replace_those_of_the_settings() {
        let settings = Limits { answers: 1, tokens_per_day: 2, stored_bytes: 3, page_images_per_hour: 4 };
        assert_eq!(AccountLimits::default().or(settings), settings);
        let own = AccountLimits { answers: Some(0), stored_bytes: Some(9), ..AccountLimits::default() };
        assert_eq!(own.or(settings), Limits { answers: 0, stored_bytes: 9, ..settings });
    }
}
