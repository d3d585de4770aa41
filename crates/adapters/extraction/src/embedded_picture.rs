//! Pictures that are entries of an archive, and their places on a page.

use docent_domain::extraction::PICTURES_MAX;
use docent_domain::recognition::PageBox;

/// A picture that may show text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EmbeddedPicture {
    /// Name of the entry.
    pub(crate) entry: String,
    /// Size in pixels.
    pub(crate) width: u32,
    pub(crate) height: u32,
}

impl EmbeddedPicture {
    /// The number of its pixels.
    pub(crate) fn pixels(&self) -> u64 {
        u64::from(self.width) * u64::from(self.height)
    }
}

/// The indices of the pictures that are remembered of a page, the largest first.
pub(crate) fn largest<'a>(pictures: impl Iterator<Item = &'a EmbeddedPicture>) -> Vec<usize> {
    let mut found: Vec<(usize, u64)> = pictures.map(EmbeddedPicture::pixels).enumerate().collect();
    found.sort_by_key(|(_, pixels)| std::cmp::Reverse(*pixels));
    found.truncate(PICTURES_MAX);
    found.into_iter().map(|(index, _)| index).collect()
}

/// The place of the picture with an index among the pictures of a page.
pub(crate) fn place(index: usize, count: usize) -> PageBox {
    let edge = |at: usize| (at * usize::from(PageBox::UNITS) / count.max(1)) as u16;
    PageBox { left: 0, top: edge(index), right: PageBox::UNITS, bottom: edge(index + 1) }
}
