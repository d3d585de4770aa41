//! Remembers pages that could not be drawn, so that they are not drawn again and again.

use crate::error::Error;
use chrono::{DateTime, TimeDelta, Utc};
use docent_domain::document::Failure;
use docent_domain::id::VersionId;
use docent_ports::page_renderer::RenderError;
use lru::LruCache;
use std::num::{NonZeroU16, NonZeroU32, NonZeroUsize};
use std::sync::{Mutex, PoisonError};

/// The maximum number of pages that are known to fail.
const FAILURES: NonZeroUsize = NonZeroUsize::new(4096).unwrap();
/// How long a page is not drawn again after it failed: a limit of time or memory may be kept at a quieter moment.
const FAILURE_MEMORY: TimeDelta = TimeDelta::hours(1);
/// The difference of the widths of two attempts, in pixels: that of the images that the viewer asks for.
const WIDTH_STEP: u16 = 400;

/// A page of a version of a document, and what is drawn or found on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct PageTask {
    /// The version.
    pub(super) version: VersionId,
    /// The page, counted from 1.
    pub(super) page: NonZeroU32,
    /// What is wanted of the page.
    pub(super) output: PageOutput,
}

/// What is wanted of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum PageOutput {
    /// Its image, with or without a highlighted passage: that does not decide whether it can be drawn.
    Image,
    /// Its words.
    Words,
}

/// Why a page cannot be drawn.
#[derive(Clone, Debug)]
enum PageFailure {
    /// The page does not exist.
    NoSuchPage,
    /// The page exceeds a limit, or the file is faulty.
    NotRenderable(Failure),
}

impl From<PageFailure> for Error {
    fn from(failure: PageFailure) -> Self {
        match failure {
            PageFailure::NoSuchPage => Self::PageNotFound,
            PageFailure::NotRenderable(failure) => Self::PageNotRenderable(failure),
        }
    }
}

/// The pages that could not be drawn a short time ago.
#[derive(Debug)]
pub(crate) struct PageFailures(Mutex<LruCache<PageTask, Failed>>);

#[derive(Debug)]
struct Failed {
    failure: PageFailure,
    /// The width of the image, if it is one.
    width: Option<NonZeroU16>,
    at: DateTime<Utc>,
}

impl Default for PageFailures {
    fn default() -> Self {
        Self(Mutex::new(LruCache::new(FAILURES)))
    }
}

impl PageFailures {
    /// Why the page could not be drawn a short time ago. A narrower image can be within the limits that a wide one
    /// exceeded, but it is tried only when it is narrower by [`WIDTH_STEP`]: otherwise each width would be another attempt.
    pub(super) fn get(&self, task: PageTask, width: Option<NonZeroU16>, now: DateTime<Utc>) -> Option<Error> {
        let mut failures = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let failed = failures.get(&task)?;
        let is_narrower = match (width, failed.width) {
            (Some(width), Some(failed)) => width.get().saturating_add(WIDTH_STEP) <= failed.get(),
            _ => false,
        };
        let is_tried = is_narrower && matches!(failed.failure, PageFailure::NotRenderable(_));
        (now - failed.at < FAILURE_MEMORY && !is_tried).then(|| failed.failure.clone().into())
    }

    /// Remembers that the page could not be drawn, unless a component failed.
    pub(super) fn insert(
        &self,
        task: PageTask,
        width: Option<NonZeroU16>,
        error: RenderError,
        at: DateTime<Utc>,
    ) -> Error {
        let failure = match error {
            RenderError::Fault(fault) => return fault.into(),
            RenderError::NoSuchPage => PageFailure::NoSuchPage,
            RenderError::Document(failure) => PageFailure::NotRenderable(failure),
        };
        let failed = Failed { failure: failure.clone(), width, at };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).put(task, failed);
        failure.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use docent_domain::document::FailureCode;
    use docent_domain::id::DocumentId;
    use uuid::Uuid;

    fn width(pixels: u16) -> Option<NonZeroU16> {
        NonZeroU16::new(pixels)
    }

    #[test]
    fn failed_page_is_drawn_again_only_at_a_much_smaller_width_or_an_hour_later() {
        let (failures, at) = (PageFailures::default(), DateTime::from_timestamp(1_767_225_600, 0).unwrap());
        let version = VersionId::first(DocumentId::from_uuid(Uuid::from_u128(1)));
        let page =
            |number| PageTask { version, page: NonZeroU32::new(number).unwrap(), output: PageOutput::Image };
        let slow = || RenderError::Document(Failure::of(FailureCode::ExtractionTimeout));
        let _ = failures.insert(page(1), width(1000), slow(), at);
        let is_failed = |pixels| failures.get(page(1), width(pixels), at).is_some();
        assert!(is_failed(3000) && is_failed(1000) && is_failed(999) && is_failed(601));
        assert!(!is_failed(600) && !is_failed(100));
        assert!(failures.get(page(2), width(1000), at).is_none());
        let words = PageTask { output: PageOutput::Words, ..page(1) };
        assert!(failures.get(words, None, at).is_none());
        assert!(failures.get(page(1), width(1000), at + FAILURE_MEMORY).is_none());
        // As few attempts as there are steps.
        let widths = (100..=3000).rev().filter(|pixels| {
            let is_tried = failures.get(page(3), width(*pixels), at).is_none();
            if is_tried {
                let _ = failures.insert(page(3), width(*pixels), slow(), at);
            }
            is_tried
        });
        assert_eq!(widths.collect::<Vec<_>>(), [3000, 2600, 2200, 1800, 1400, 1000, 600, 200]);
        let _ = failures.insert(page(4), width(1000), RenderError::NoSuchPage, at);
        assert!(failures.get(page(4), width(100), at).is_some(), "it does not exist at any width");
    }
}
