//! `GET /admin/invitations`, `POST /admin/invitations/{id}/resend` and `POST /admin/invitations/{id}/revoke`

use super::invite::section;
use super::tables::page_of;
use crate::language::{self, t};
use crate::paging::PageNumber;
use crate::panel::listing::List;
use crate::panel::nav::ROOT;
use crate::signed_in::form::OwnForm;
use crate::signed_in::invited::{InvitedPage, delivery};
use crate::signed_in::page::{self, PageResult, id_of};
use crate::signed_in::rows::state;
use crate::signed_in::session::Staff;
use crate::times::Time;
use actix_web::web::Path;
use chrono::{DateTime, Utc};
use docent_app::accounts::invitations::{self as use_case, Delivery, ListedInvitation};
use docent_app::accounts::verification;
use docent_app::error::Error;
use docent_domain::access::{AddInvitations, DeleteInvitations, ViewInvitations};
use docent_domain::permission::RecordKind;
use docent_http::{Query, State};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct InvitationsPage {
    #[serde(flatten)]
    list: List<Row>,
    may_invite: bool,
    may_revoke: bool,
    sends_email: bool,
}

#[derive(Serialize)]
struct Row {
    id: String,
    email: String,
    /// Email address of the inviting account; none for the command line.
    by: String,
    by_page: Option<String>,
    groups: String,
    collections: String,
    state: String,
    pill: &'static str,
    created: Time,
    expires: Time,
}

impl Row {
    fn of(listed: &ListedInvitation, staff: &Staff, now: DateTime<Utc>) -> Self {
        let invitation = &listed.invitation;
        let (state, pill) = state(None, invitation.is_valid(now));
        let by = listed.invited_by.as_ref().map(|email| email.as_str().to_owned());
        Self {
            id: invitation.id.to_string(),
            email: invitation.email.as_str().to_owned(),
            by: by.unwrap_or_else(|| t!("key-by-command-line")),
            by_page: invitation.invited_by.and_then(|by| page_of(staff, by)),
            groups: listed.groups.join(", "),
            collections: listed.collections.join(", "),
            state,
            pill,
            created: Time::of(invitation.created_at, now),
            expires: Time::of(invitation.expires_at, now),
        }
    }
}

pub(super) async fn invitations(staff: Staff, context: State, query: Query) -> PageResult {
    let grant = staff.authorize::<ViewInvitations>()?;
    let (app, now) = (&context.app, context.app.now());
    let (number, text) = (PageNumber::of(&query), query.text("q"));
    let found = use_case::list(app, &staff.actor, &grant, text, number.page()).await?;
    let rows = found.records.iter().map(|listed| Row::of(listed, &staff, now)).collect();
    let page = InvitationsPage {
        list: List::of("invitations", number, [("q", text.map(str::to_owned))], found.total, rows),
        may_invite: staff.can::<AddInvitations>(),
        may_revoke: staff.can::<DeleteInvitations>(),
        sends_email: verification::is_possible(app),
    };
    staff.show(&context, "invitations", page)
}

/// Sends an invitation again, or shows its new link once.
pub(super) async fn resend(staff: Staff, context: State, id: Path<String>, form: OwnForm) -> PageResult {
    let grant = staff.authorize::<AddInvitations>()?;
    let (id, delivery) = (id_of(RecordKind::Invitation, &id)?, delivery(&form));
    match use_case::resend(&context.app, &staff.actor, &grant, id, delivery).await {
        Ok(new) if delivery == Delivery::Link => {
            return staff.show(
                &context,
                "invitations",
                InvitedPage::of_link(&new, section(&staff), context.app.now()),
            );
        }
        Ok(new) => staff.notify(t!("invitation-sent", email = new.record.email.as_str()))?,
        // The invitation can be accepted while the list is open.
        Err(Error::NotFound(RecordKind::Invitation)) => staff.warn(t!("invitation-had-ended"))?,
        Err(Error::Invalid(invalid)) => {
            staff.warn(t!("invitation-not-sent", reason = language::reason(&invalid)))?;
        }
        Err(Error::NotFound(_) | Error::Forbidden | Error::FixedCollection(_)) => {
            staff.warn(t!("invitation-not-sent", reason = t!("invite-collections-refused")))?;
        }
        Err(error) => return Err(error.into()),
    }
    Ok(page::see_other(&after(&staff)))
}

pub(super) async fn revoke(staff: Staff, context: State, id: Path<String>, _: OwnForm) -> PageResult {
    let grant = staff.authorize::<DeleteInvitations>()?;
    match use_case::revoke(&context.app, &grant, id_of(RecordKind::Invitation, &id)?).await {
        Ok(()) => staff.notify(t!("invitation-revoked"))?,
        Err(Error::NotFound(_)) => staff.warn(t!("invitation-had-ended"))?,
        Err(error) => return Err(error.into()),
    }
    Ok(page::see_other(&after(&staff)))
}

/// The list, if the user may view it.
fn after(staff: &Staff) -> String {
    if staff.can::<ViewInvitations>() { format!("{ROOT}/invitations") } else { ROOT.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl Samples for InvitationsPage {
        fn samples() -> Vec<Self> {
            let row = |by_page: Option<&str>, names: &str| Row {
                id: "1".to_owned(),
                email: "guest@example.com".to_owned(),
                by: "a@example.com".to_owned(),
                by_page: by_page.map(str::to_owned),
                groups: names.to_owned(),
                collections: names.to_owned(),
                state: "active".to_owned(),
                pill: "ok",
                created: Time::sample(),
                expires: Time::sample(),
            };
            let rows = || vec![row(Some("/admin/users/1"), "Editors, Readers"), row(None, "")];
            let pages = |is_allowed| {
                List::sample_pages(["q"], rows).map(|list| Self {
                    list,
                    may_invite: is_allowed,
                    may_revoke: is_allowed,
                    sends_email: is_allowed,
                })
            };
            [pages(true), pages(false)].into_iter().flatten().collect()
        }
    }
}
