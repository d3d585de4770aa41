//! `GET /admin/verifications`, `POST /admin/verifications/add` and `POST /admin/verifications/{id}/revoke`

use super::tables::VerificationRow;
use crate::language::{self, t};
use crate::paging::PageNumber;
use crate::panel::listing::{List, filters, find_of_account};
use crate::panel::nav::ROOT;
use crate::signed_in::area::Area;
use crate::signed_in::form::OwnForm;
use crate::signed_in::page::{self, PageResult, id_of};
use crate::signed_in::rows::Emails;
use crate::signed_in::session::Staff;
use crate::times::Time;
use actix_web::web::Path;
use docent_app::accounts::{users, verification as use_case};
use docent_app::error::Error;
use docent_domain::access::{AddVerifications, DeleteVerifications, ViewVerifications};
use docent_domain::permission::RecordKind;
use docent_domain::verification::VerificationPurpose;
use docent_http::{Query, State};
use serde::Serialize;

const FILTERS: [&str; 1] = ["user"];

pub(super) type VerificationsPage = List<VerificationRow>;

/// Page that shows a new link, once.
#[derive(Serialize)]
pub(super) struct VerificationCreatedPage {
    email: String,
    /// ID of the account.
    account: String,
    is_reset: bool,
    link: String,
    expires: Time,
}

pub(super) async fn verifications(staff: Staff, context: State, query: Query) -> PageResult {
    let grant = staff.authorize::<ViewVerifications>()?;
    let (app, now) = (&context.app, context.app.now());
    let (number, filters) = (PageNumber::of(&query), filters(&query, FILTERS));
    let find = async |user| use_case::list(app, &grant, user, number.page()).await;
    let found = find_of_account(app, filters[0].1.as_deref(), find).await?;
    let owners: Vec<_> = found.records.iter().map(|token| token.user).collect();
    let emails: Emails = users::emails(app, &owners).await?;
    let rows = found.records.iter().map(|token| VerificationRow::of(token, &emails, &staff, now)).collect();
    let list = List::of("verifications", number, filters, found.total, rows);
    staff.show(&context, "verifications", list)
}

/// Creates a link and shows it once, for staff to pass on.
pub(super) async fn add(staff: Staff, context: State, form: OwnForm) -> PageResult {
    let grant = staff.authorize::<AddVerifications>()?;
    let user = id_of(RecordKind::User, form.text("user"))?;
    let purpose =
        VerificationPurpose::parse(form.text("purpose")).ok_or(Error::NotFound(RecordKind::Verification))?;
    let new = match use_case::issue(&context.app, &staff.actor, &grant, user, purpose).await {
        Ok(new) => new,
        Err(Error::Invalid(invalid)) => {
            staff.warn(t!("link-not-created", reason = language::reason(&invalid)))?;
            return Ok(page::see_other(&format!("{ROOT}/users/{user}")));
        }
        Err(error) => return Err(error.into()),
    };
    let emails: Emails = users::emails(&context.app, &[user]).await?;
    let page = VerificationCreatedPage {
        email: emails.get(&user).map_or_else(String::new, |email| email.as_str().to_owned()),
        account: user.to_string(),
        is_reset: purpose == VerificationPurpose::ResetPassword,
        link: new.link,
        expires: Time::of(new.record.expires_at, context.app.now()),
    };
    staff.show(&context, "verifications", page)
}

pub(super) async fn revoke(staff: Staff, context: State, id: Path<String>, form: OwnForm) -> PageResult {
    let grant = staff.authorize::<DeleteVerifications>()?;
    let id = id_of(RecordKind::Verification, &id)?;
    match use_case::revoke(&context.app, &grant, id).await {
        Ok(()) => staff.notify(t!("link-revoked"))?,
        // The link can be used or expire while the list is open.
        Err(Error::NotFound(_)) => staff.warn(t!("link-had-ended"))?,
        Err(error) => return Err(error.into()),
    }
    Ok(page::see_other(Area::Panel.page(form.text("back"))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl Samples for VerificationsPage {
        fn samples() -> Vec<Self> {
            List::sample_pages(FILTERS, VerificationRow::samples).into()
        }
    }

    impl Samples for VerificationCreatedPage {
        fn samples() -> Vec<Self> {
            let page = |is_reset| Self {
                email: "a@example.com".to_owned(),
                account: "1".to_owned(),
                is_reset,
                link: "https://example.com/".to_owned(),
                expires: Time::sample(),
            };
            vec![page(true), page(false)]
        }
    }
}
