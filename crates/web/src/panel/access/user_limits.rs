//! `/admin/users/{id}/limits`

use super::user_actions::manageable;
use crate::language::{grouped, t};
use crate::panel::nav::ROOT;
use crate::signed_in::field::{Field, FormView};
use crate::signed_in::form::{FieldErrors, Form, OwnForm};
use crate::signed_in::page::{self, PageResult};
use crate::signed_in::session::Staff;
use actix_web::web::Path;
use docent_app::accounts::users::{self, Account};
use docent_domain::error::ValidationError;
use docent_domain::limits::{AccountLimits, Limits};
use docent_http::State;
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct LimitsPage {
    #[serde(flatten)]
    form: FormView,
    /// ID of the account.
    account: String,
    email: String,
    /// What applies where a field is empty.
    defaults: String,
}

const NAMES: [&str; 4] = ["answers", "tokens_per_day", "stored_bytes", "page_images_per_hour"];

/// Labels of the limits.
fn labels() -> [String; 4] {
    [t!("limit-answers"), t!("tokens-per-day"), t!("limit-bytes"), t!("limit-images")]
}

pub(super) async fn limits(staff: Staff, context: State, id: Path<String>) -> PageResult {
    let (account, _) = manageable(&staff, &context, &id).await?;
    let limits = account.user.limits;
    let values = [limits.answers, limits.tokens_per_day, limits.stored_bytes, limits.page_images_per_hour];
    let values = values.map(|limit| limit.map_or_else(String::new, |limit| limit.to_string()));
    show(&staff, &context, &account, values, &FieldErrors::default())
}

fn show(
    staff: &Staff,
    context: &State,
    account: &Account,
    values: [String; 4],
    errors: &FieldErrors,
) -> PageResult {
    let labels = labels();
    let fields = (0..4).map(|n| Field::line("text", NAMES[n], &*labels[n], &values[n])).collect();
    let Limits { answers, tokens_per_day, stored_bytes, page_images_per_hour } =
        context.app.settings().account_limits;
    let defaults = [answers, tokens_per_day, stored_bytes, page_images_per_hour];
    let value = |limit: u64| if limit == 0 { t!("limits-none") } else { grouped(limit) };
    let setting =
        |(name, limit): (&String, u64)| t!("limits-setting", name = name.as_str(), value = value(limit));
    let settings: Vec<_> = labels.iter().zip(defaults).map(setting).collect();
    let page = LimitsPage {
        form: FormView::of(fields, Vec::new(), errors),
        account: account.user.id.to_string(),
        email: account.user.email.as_str().to_owned(),
        defaults: settings.join("; "),
    };
    staff.show_with(errors.status(), context, "users", page)
}

pub(super) async fn set_limits(staff: Staff, context: State, id: Path<String>, form: OwnForm) -> PageResult {
    let (account, grant) = manageable(&staff, &context, &id).await?;
    let mut errors = FieldErrors::default();
    let [answers, tokens_per_day, stored_bytes, page_images_per_hour] =
        NAMES.map(|name| errors.take(name, limit(&form, name)).flatten());
    if !errors.is_empty() {
        let values = NAMES.map(|name| form.text(name).to_owned());
        return show(&staff, &context, &account, values, &errors);
    }
    let limits = AccountLimits { answers, tokens_per_day, stored_bytes, page_images_per_hour };
    let id = account.user.id;
    users::set_limits(&context.app, &staff.actor, grant, id, limits).await?;
    staff.notify(t!("limits-set"))?;
    Ok(page::see_other(&format!("{ROOT}/users/{id}")))
}

/// Reads a limit; none if the field is empty.
fn limit(form: &Form, name: &'static str) -> Result<Option<u64>, ValidationError> {
    let text = form.text(name).trim();
    if text.is_empty() {
        return Ok(None);
    }
    let limit = text.parse().ok().filter(|limit| *limit <= AccountLimits::MAX);
    let reason = t!("limits-not-a-number", max = grouped(AccountLimits::MAX));
    limit.map(Some).ok_or_else(|| ValidationError::new(name, reason))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl Samples for LimitsPage {
        fn samples() -> Vec<Self> {
            let page = |form| Self {
                form,
                account: "1".to_owned(),
                email: "a@example.com".to_owned(),
                defaults: "Answers: 32".to_owned(),
            };
            FormView::samples().map(page).into()
        }
    }
}
