//! What is wrong with an environment.

use std::{error::Error, fmt};

/// A variable that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The variable.
    pub variable: String,
    /// What is wrong, as the rest of a sentence; it shows no secret.
    pub wrong: String,
    /// What is accepted.
    pub accepted: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}; accepted: {}", self.variable, self.wrong, self.accepted)
    }
}

/// Everything that is wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problems(pub Vec<Problem>);

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the settings cannot be used:")?;
        self.0.iter().try_for_each(|problem| write!(f, "\n  {problem}"))
    }
}

impl Error for Problems {}

/// A variable with our prefix that is no setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The variable.
    pub variable: String,
    /// The setting's variable whose name is nearest.
    pub nearest: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is no setting and is ignored; did you mean {}?", self.variable, self.nearest)
    }
}
