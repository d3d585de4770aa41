//! Reads the files that are attached to an email message.

use crate::formats;
use crate::pdf::document::{self, DocumentLimits};
use crate::pdf::limits::PageLimits;
use crate::reader::{PageSource, Pages, Sink, Stopped, one_line};
use docent_domain::extraction::{ExtractedPage, Metadata, PageQuality};
use docent_domain::file_type::{FileType, HEAD_BYTES, conversion, detect};
use std::io;

/// Maximum number of attachments that are read of a file.
const READ_MAX: usize = 200;
/// Maximum size of all attachments that are read of a file in bytes.
const BYTES_MAX: usize = 256 << 20;

/// What attachments can still be read.
#[derive(Debug)]
pub(super) struct AttachmentBudget {
    files: usize,
    bytes: usize,
}

impl Default for AttachmentBudget {
    fn default() -> Self {
        Self { files: READ_MAX, bytes: BYTES_MAX }
    }
}

impl AttachmentBudget {
    /// Takes an attachment of this size; why it is not read if there are too many.
    pub(super) const fn take(&mut self, bytes: usize) -> Result<(), &'static str> {
        let left = (self.files.checked_sub(1), self.bytes.checked_sub(bytes));
        let (Some(files), Some(left)) = left else {
            return Err("the message has more attachments than the limits allow");
        };
        (self.files, self.bytes) = (files, left);
        Ok(())
    }
}

/// Passes the pages of an attachment on, labelled with its name; nothing of types that are not read. Returns why another
/// attachment was not read: a failure of an attachment is no failure of its message.
pub(super) fn read(
    name: &str,
    bytes: &[u8],
    budget: &mut AttachmentBudget,
    pages: &mut Pages<'_>,
) -> Result<Option<String>, Stopped> {
    let file_type = detect(&bytes[..bytes.len().min(HEAD_BYTES)], name);
    // Messages are read with the message that contains them.
    let is_other = |of: &FileType| !matches!(of, FileType::Eml | FileType::Msg) && !bytes.is_empty();
    let Some(file_type) = file_type.filter(is_other) else {
        return Ok(conversion(name).map(str::to_owned));
    };
    if let Err(reason) = budget.take(bytes.len()) {
        return Ok(Some(reason.to_owned()));
    }
    let limits = pages.limits();
    let mut attachment =
        Attachment { name: one_line(name), file_type, bytes, pages, stopped: None, has_text: false };
    let result = match file_type {
        FileType::Pdf => {
            let (count, text_bytes, page) = (limits.pages, limits.text_bytes, PageLimits::default());
            document::read(
                bytes.to_vec(),
                &DocumentLimits { pages: count, text_bytes, page },
                &mut attachment,
            )
        }
        other => formats::read(other, bytes.to_vec(), limits, &mut attachment),
    };
    if let Some(stopped) = attachment.stopped {
        return Err(stopped);
    }
    match result {
        Ok(()) if attachment.has_text => Ok(None),
        Ok(()) => Ok(Some("no text was found".to_owned())),
        Err(Stopped::Document(failure)) => Ok(Some(failure.reason)),
        Err(stopped @ Stopped::Sink(_)) => Err(stopped),
    }
}

/// Receives the pages of an attachment and passes them on as pages of its message.
struct Attachment<'p, 'a> {
    name: String,
    file_type: FileType,
    bytes: &'p [u8],
    pages: &'p mut Pages<'a>,
    /// Why a page could not be passed on.
    stopped: Option<Stopped>,
    has_text: bool,
}

impl Sink for Attachment<'_, '_> {
    fn page(&mut self, page: ExtractedPage) -> io::Result<()> {
        let part = match &page.label {
            Some(label) => label.clone(),
            None => format!("page {}", page.number),
        };
        self.has_text |= page.quality() == PageQuality::Text;
        let label = format!("Attachment {}, {part}", self.name);
        if self.pages.is_next_wanted() {
            let (file_type, bytes, page) = (self.file_type, self.bytes.to_vec(), page.number);
            self.pages.set_source(PageSource::Attachment { file_type, bytes, page });
        }
        self.pages.push_page(&label, page).map_err(|stopped| {
            self.stopped = Some(stopped);
            io::Error::other("a page of an attachment was refused")
        })
    }

    fn complete(&mut self, _: u32) -> io::Result<()> {
        Ok(())
    }

    fn metadata(&mut self, _: Metadata) -> io::Result<()> {
        Ok(())
    }
}
