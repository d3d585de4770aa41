//! Limits per account.
//!
//! Tokens are summed from the usage ledger and bytes from the documents, so that both are exact after a crash and across
//! processes. Answers in progress and page images are counted in the key-value store; while it is unavailable, each
//! process counts answers on its own and images are not limited.

use crate::App;
use crate::error::{Error, Result};
use chrono::{NaiveTime, TimeDelta};
use docent_domain::access::Grant;
use docent_domain::fault::Fault;
use docent_domain::id::{LeaseId, UserId};
use docent_domain::limits::{AccountLimits, LimitKind, LimitReached, Limits};
use docent_domain::listing::{PageRequest, Period, UsageFilter, UsageGrouping};
use docent_domain::user::User;
use docent_ports::store::UnitOfWork;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::task::JoinHandle;

/// How long a slot is kept after the process that holds it has crashed.
const SLOT_LIFETIME: Duration = Duration::from_secs(120);
/// Interval at which a slot is renewed.
const SLOT_RENEWAL: Duration = Duration::from_secs(40);
/// The window of page images.
const HOUR: Duration = Duration::from_secs(60 * 60);

/// The limits of the account of a grant.
fn limits_of<A>(app: &App, grant: &Grant<A>) -> Limits {
    grant.limits().or(app.settings.account_limits)
}

/// The key of a counter of an account in the key-value store.
fn counter(name: &str, account: UserId) -> String {
    format!("{name}:account:{account}")
}

fn reached(kind: LimitKind, max: u64, retry_after: Option<Duration>) -> Error {
    Error::LimitReached(LimitReached { kind, max, retry_after })
}

/// Checks that the account has tokens left today.
///
/// # Errors
/// [`Error::LimitReached`], or when the database cannot be reached.
pub(crate) async fn check_tokens<A>(app: &App, grant: &Grant<A>) -> Result<()> {
    let max = limits_of(app, grant).tokens_per_day;
    if max == 0 {
        return Ok(());
    }
    let now = app.now();
    let today = now.date_naive().and_time(NaiveTime::MIN).and_utc();
    let period = Period { from: Some(today), to: None };
    let filter = UsageFilter { user: Some(grant.user()), api_key: None, period };
    let grouping = UsageGrouping { by_day: false, by_user: false, by_key: false };
    let page = PageRequest { offset: 0, limit: 1 };
    let sums = app.store.read_latest().await?.usage().sums(&filter, grouping, page).await?;
    let used: u64 = sums.records.iter().map(|sum| sum.tokens.prompt + sum.tokens.completion).sum();
    if used >= max {
        let tomorrow = (today + TimeDelta::days(1) - now).to_std().unwrap_or_default();
        return Err(reached(LimitKind::TokensPerDay, max, Some(tomorrow)));
    }
    Ok(())
}

/// Counts a page image that is about to be drawn.
///
/// # Errors
/// [`Error::LimitReached`].
pub(crate) async fn count_page_image<A>(app: &App, grant: &Grant<A>) -> Result<()> {
    limit_page_images(app, grant, true).await
}

/// Checks that the account of a grant may have another page drawn, without counting it.
///
/// # Errors
/// [`Error::LimitReached`].
pub(crate) async fn check_page_image<A>(app: &App, grant: &Grant<A>) -> Result<()> {
    limit_page_images(app, grant, false).await
}

async fn limit_page_images<A>(app: &App, grant: &Grant<A>, is_counted: bool) -> Result<()> {
    let max = limits_of(app, grant).page_images_per_hour;
    if max == 0 {
        return Ok(());
    }
    let counter = counter("images", grant.user());
    let drawn = if is_counted {
        let count = app.limiter.hit(&counter, HOUR, app.now()).await;
        count.map(|count| (count.events.saturating_sub(1), count))
    } else {
        app.limiter.peek(&counter, app.now()).await.map(|count| (count.events, count))
    };
    match drawn {
        Ok((before, count)) if before >= max => {
            return Err(reached(LimitKind::PageImages, max, Some(count.resets_in)));
        }
        Ok(_) => {}
        Err(fault) => uncounted(app, &fault),
    }
    Ok(())
}

/// How many bytes the account of a grant can still store; `None` for any number.
///
/// # Errors
/// [`Error::LimitReached`] when these are less than `expected`, or when the database cannot be reached.
pub(crate) async fn check_upload(
    app: &App,
    account: UserId,
    limits: AccountLimits,
    expected: u64,
) -> Result<Option<(u64, u64)>> {
    let max = limits.or(app.settings.account_limits).stored_bytes;
    if max == 0 {
        return Ok(None);
    }
    let stored = app.store.read_latest().await?.documents().stored_bytes(account).await?;
    match max.checked_sub(stored) {
        Some(room) if room >= expected.max(1) => Ok(Some((room, max))),
        _ => Err(storage_full(max)),
    }
}

/// Checks in the unit of work that adds a file that the account can store it. The unit must have locked the account, so
/// that concurrent uploads cannot pass the limit together.
pub(crate) async fn check_stored(
    app: &App,
    work: &mut dyn UnitOfWork,
    owner: &User,
    bytes: u64,
) -> Result<()> {
    let max = owner.limits.or(app.settings.account_limits).stored_bytes;
    if max > 0 && work.documents().stored_bytes(owner.id).await?.saturating_add(bytes) > max {
        return Err(storage_full(max));
    }
    Ok(())
}

/// The error of an upload for which the account has no room.
pub(crate) fn storage_full(max: u64) -> Error {
    reached(LimitKind::StoredBytes, max, None)
}

fn uncounted(app: &App, fault: &Fault) {
    app.note(fault);
    tracing::debug!(fault = %fault.report(), "a limit cannot be counted in the key-value store");
}

/// The numbers of answers in progress in this process, by counter.
#[derive(Debug, Default)]
pub(crate) struct AnswerCounts(Mutex<HashMap<String, u64>>);

impl AnswerCounts {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, counter: &str, max: u64) -> bool {
        let mut counts = self.lock();
        let count = counts.entry(counter.to_owned()).or_default();
        let has_room = *count < max;
        *count += u64::from(has_room);
        has_room
    }

    fn free(&self, counter: &str) {
        let mut counts = self.lock();
        if let Some(count) = counts.get_mut(counter) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                counts.remove(counter);
            }
        }
    }
}

/// The permission to generate an answer, which counts until this is dropped.
pub(crate) struct AnswerSlot {
    _counted: Option<CountedSlot>,
}

/// A slot of an account whose answers are limited.
struct CountedSlot {
    app: Arc<App>,
    id: String,
    counter: String,
    /// Keeps the slot while the answer is generated.
    renewal: Option<JoinHandle<()>>,
}

/// Starts an answer, if the account has tokens left and not too many answers in progress.
///
/// # Errors
/// [`Error::LimitReached`], or when the database cannot be reached.
pub(crate) async fn start_answer<A>(app: &Arc<App>, grant: &Grant<A>) -> Result<AnswerSlot> {
    check_tokens(app, grant).await?;
    let max = limits_of(app, grant).answers;
    if max == 0 {
        return Ok(AnswerSlot { _counted: None });
    }
    let (id, counter) = (app.new_id(LeaseId::generate).to_string(), counter("answers", grant.user()));
    if !app.process.answers.take(&counter, max) {
        return Err(reached(LimitKind::Answers, max, None));
    }
    // From here on the slot is freed when it is dropped.
    let mut slot = CountedSlot { app: Arc::clone(app), id, counter, renewal: None };
    match take(app, &slot.counter, &slot.id, max).await {
        Ok(true) => {}
        Ok(false) => return Err(reached(LimitKind::Answers, max, None)),
        Err(fault) => uncounted(app, &fault),
    }
    slot.renewal = Some(slot.renew(max));
    Ok(AnswerSlot { _counted: Some(slot) })
}

async fn take(app: &App, counter: &str, id: &str, max: u64) -> Result<bool, Fault> {
    app.limiter.take_slot(counter, id, max, SLOT_LIFETIME, app.now()).await
}

impl CountedSlot {
    fn renew(&self, max: u64) -> JoinHandle<()> {
        let (app, id, counter) = (Arc::clone(&self.app), self.id.clone(), self.counter.clone());
        tokio::spawn(async move {
            loop {
                app.sleep(SLOT_RENEWAL).await;
                if let Err(fault) = take(&app, &counter, &id, max).await {
                    uncounted(&app, &fault);
                }
            }
        })
    }
}

impl Drop for CountedSlot {
    fn drop(&mut self) {
        let Self { app, id, counter, renewal } = self;
        if let Some(renewal) = renewal {
            renewal.abort();
        }
        app.process.answers.free(counter);
        let (task_app, id, counter) = (Arc::clone(app), std::mem::take(id), std::mem::take(counter));
        // Without a runtime the slot expires.
        app.spawn(async move {
            if let Err(fault) = task_app.limiter.free_slot(&counter, &id).await {
                uncounted(&task_app, &fault);
            }
        });
    }
}
