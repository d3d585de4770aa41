//! Problems and warnings of an environment.

use std::error::Error;
use std::fmt;

/// An invalid variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The variable.
    pub variable: String,
    /// What is wrong, as the rest of a sentence; contains no secret.
    pub wrong: String,
    /// What is accepted.
    pub accepted: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}; accepted: {}", self.variable, self.wrong, self.accepted)
    }
}

/// All problems of an environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problems(pub Vec<Problem>);

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("invalid settings:")?;
        self.0.iter().try_for_each(|problem| write!(f, "\n  {problem}"))
    }
}

impl Error for Problems {}

/// A problem that does not prevent the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The variable.
    pub variable: String,
    /// What is wrong with it.
    pub wrong: String,
    /// What to do about it.
    pub advice: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}; {}", self.variable, self.wrong, self.advice)
    }
}
