//! How often the model searched for the recent answers of this process.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// Number of answers that are counted.
const ANSWERS: usize = 20;
/// Fewer answers without a search say nothing: some questions need none.
const LEAST: usize = 3;
/// Above one of so many answers without a search, the service should search first.
const ONE_OF: usize = 3;

/// Answers for which the model did not search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnsearchedAnswers {
    /// Number of these.
    pub unsearched: usize,
    /// Number of recent answers.
    pub answers: usize,
}

/// Whether the model searched, for each of the recent answers for which it decided that.
#[derive(Debug, Default)]
pub(crate) struct RecentSearches(Mutex<VecDeque<bool>>);

impl RecentSearches {
    /// Counts an answer.
    pub(crate) fn add(&self, has_searched: bool) {
        let mut recent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if recent.len() == ANSWERS {
            recent.pop_front();
        }
        recent.push_back(has_searched);
    }

    /// The answers without a search, if these are many.
    pub(crate) fn unsearched(&self) -> Option<UnsearchedAnswers> {
        let recent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let unsearched = recent.iter().filter(|has_searched| !**has_searched).count();
        let is_much = unsearched >= LEAST && unsearched * ONE_OF >= recent.len();
        is_much.then_some(UnsearchedAnswers { unsearched, answers: recent.len() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unsearched(answers: &str) -> Option<(usize, usize)> {
        let recent = RecentSearches::default();
        answers.chars().for_each(|answer| recent.add(answer == 's'));
        recent.unsearched().map(|UnsearchedAnswers { unsearched, answers }| (unsearched, answers))
    }

    #[test]
    fn many_of_the_recent_answers_without_a_search_are_reported() {
        for (answers, found) in [
            ("", None),
            ("nn", None),
            ("nnn", Some((3, 3))),
            ("ssssssnnn", Some((3, 9))),
            ("sssssssnnn", None),
        ] {
            assert_eq!(unsearched(answers), found, "{answers}");
        }
        assert_eq!(unsearched(&format!("nnn{}", "s".repeat(20))), None, "older answers do not count");
        assert_eq!(unsearched(&"n".repeat(30)), Some((20, 20)));
    }
}
