//! Reads messages with bounded memory.
//!
//! A message can have megabytes. The sizes are read first: they decide how many messages one call reads, and the bytes
//! of all concurrent calls of this process come from one budget.

use crate::App;
use crate::error::Result;
use docent_domain::conversation::{Conversation, ConversationMessage};
use docent_domain::fault::{Component, Fault, FaultKind};
use docent_domain::listing::{Page, PageRequest};
use docent_ports::conversations::MessageSize;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Maximum size of the messages of a page in bytes. A larger message is a page of its own.
const PAGE_BYTES: u64 = 1 << 20;
/// Maximum size of a message that a page for staff shows.
const SHOWN_BYTES: u64 = 32 << 10;
/// Size of the messages that all calls of this process hold at the same time, in units of [`UNIT`].
const BUDGET: usize = 16 << 10;
const UNIT: u64 = 1 << 10;

/// The memory for messages that are being read, shared by all calls of a process.
#[derive(Debug)]
pub struct ReadBudget(Arc<Semaphore>);

impl Default for ReadBudget {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(BUDGET)))
    }
}

impl ReadBudget {
    /// Waits until messages of this size can be read.
    async fn take(&self, bytes: u64) -> Result<OwnedSemaphorePermit, Fault> {
        // A message larger than the whole budget is read alone.
        let units = usize::try_from(bytes.div_ceil(UNIT)).map_or(BUDGET, |units| units.clamp(1, BUDGET));
        let permit = Arc::clone(&self.0).acquire_many_owned(u32::try_from(units).unwrap_or(u32::MAX)).await;
        permit.map_err(|_| {
            Fault::new(Component::Service, FaultKind::Internal, "the budget for reads is closed")
        })
    }
}

/// A conversation and a page of its messages. Its messages count towards the budget of the process until it is dropped.
#[derive(Debug)]
pub struct ConversationRead<M = ConversationMessage> {
    /// The conversation.
    pub conversation: Conversation,
    /// The messages, oldest first; possibly fewer than requested.
    pub messages: Page<M>,
    budget: OwnedSemaphorePermit,
}

impl<M> ConversationRead<M> {
    pub(super) fn map<N>(self, convert: impl FnMut(M) -> N) -> ConversationRead<N> {
        let Self { conversation, messages: Page { records, total }, budget } = self;
        let messages = Page { records: records.into_iter().map(convert).collect(), total };
        ConversationRead { conversation, messages, budget }
    }
}

/// A message on a page for staff.
#[derive(Clone, Debug, PartialEq)]
pub enum StaffMessage {
    /// A message.
    Shown(ConversationMessage),
    /// A message that is too large for a page with others.
    TooLarge {
        /// Its position, counted from 0.
        position: u64,
        /// Its size.
        bytes: u64,
    },
}

/// The first messages of a page that are not too large together, and at least one.
pub(super) async fn messages(
    app: &App,
    conversation: Conversation,
    page: PageRequest,
) -> Result<ConversationRead> {
    let mut view = app.store.read_latest().await?;
    let sizes = view.conversations().message_sizes(conversation.id, page).await?.records;
    let mut bytes = 0;
    let is_fitting = |size: &&MessageSize| {
        bytes += size.total();
        bytes <= PAGE_BYTES
    };
    let fitting = sizes.iter().take_while(is_fitting).count().max(1);
    let read: u64 = sizes.iter().take(fitting).copied().map(MessageSize::total).sum();
    let budget = app.process.read_budget.take(read).await?;
    let page = PageRequest { limit: page.limit.min(fitting as u64), ..page };
    let messages = view.conversations().messages(conversation.id, page).await?;
    Ok(ConversationRead { conversation, messages, budget })
}

/// All messages of a page, without the large ones.
pub(super) async fn messages_for_staff(
    app: &App,
    conversation: Conversation,
    page: PageRequest,
) -> Result<ConversationRead<StaffMessage>> {
    let mut view = app.store.read_latest().await?;
    let Page { records: sizes, total } = view.conversations().message_sizes(conversation.id, page).await?;
    let is_shown = |size: &&MessageSize| size.total() <= SHOWN_BYTES;
    let read: u64 = sizes.iter().filter(is_shown).copied().map(MessageSize::total).sum();
    let budget = app.process.read_budget.take(read).await?;
    let (mut records, mut at) = (Vec::new(), 0);
    while let Some(size) = sizes.get(at) {
        let offset = page.offset + at as u64;
        let run = sizes[at..].iter().take_while(is_shown).count();
        if run == 0 {
            records.push(StaffMessage::TooLarge { position: offset, bytes: size.total() });
        } else {
            let run = PageRequest { offset, limit: run as u64 };
            let shown = view.conversations().messages(conversation.id, run).await?.records;
            records.extend(shown.into_iter().map(StaffMessage::Shown));
        }
        at += run.max(1);
    }
    Ok(ConversationRead { conversation, messages: Page { records, total }, budget })
}
