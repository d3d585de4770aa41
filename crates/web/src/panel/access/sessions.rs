//! `GET /admin/sessions` and `POST /admin/sessions/{id}/revoke`

use super::tables::page_of;
use crate::language::t;
use crate::paging::PageNumber;
use crate::panel::listing::{List, account_of, filters};
use crate::panel::nav::ROOT;
use crate::signed_in::area::Area;
use crate::signed_in::form::OwnForm;
use crate::signed_in::page::{self, PageResult, id_of};
use crate::signed_in::rows::{Emails, SessionRow};
use crate::signed_in::session::Staff;
use actix_session::Session as Cookie;
use actix_web::web::Path;
use docent_app::accounts::{sessions as use_case, users};
use docent_app::error::Error;
use docent_domain::access::{DeleteSessions, ViewSessions};
use docent_domain::id::UserId;
use docent_domain::listing::{Page, SessionFilter};
use docent_domain::permission::RecordKind;
use docent_domain::session::{Session, SessionKind};
use docent_http::{Query, State};
use serde::Serialize;

const FILTERS: [&str; 3] = ["user", "kind", "state"];

#[derive(Serialize)]
pub(super) struct SessionsPage {
    #[serde(flatten)]
    list: List<SessionRow>,
    /// ID of the filtered account, whose sessions can be ended together.
    account: Option<String>,
}

pub(super) async fn sessions(staff: Staff, context: State, mut query: Query) -> PageResult {
    let grant = staff.authorize::<ViewSessions>()?;
    let (app, now) = (&context.app, context.app.now());
    let is_valid = query.parse("state", "must be good", |text| (text == "good").then_some(()));
    let kind = query.parse("kind", "must be api or panel", SessionKind::parse);
    let (number, filters) = (PageNumber::of(&query), filters(&query, FILTERS));
    query.done()?;
    let account = account_of(app, filters[0].1.as_deref()).await?;
    let found = match account {
        Some(None) => Page::default(),
        user => {
            let filter = SessionFilter { user: user.flatten(), kind, valid_at: is_valid.map(|()| now) };
            use_case::list(app, grant, &filter, number.page()).await?
        }
    };
    let owners: Vec<_> = found.records.iter().map(|session| session.user).collect();
    let emails: Emails = users::emails(app, &owners).await?;
    let row = |session: &Session| {
        SessionRow::of(session, &emails, &staff, now).with_owner_page(page_of(&staff, session.user))
    };
    let rows = found.records.iter().map(row).collect();
    let may_end = |id: &UserId| staff.actor.authorize_for::<DeleteSessions>(Some(*id)).is_ok();
    let page = SessionsPage {
        list: List::of("sessions", number, filters, found.total, rows),
        account: account.flatten().filter(may_end).map(|id| id.to_string()),
    };
    staff.show(&context, "sessions", page)
}

pub(super) async fn revoke(
    staff: Staff,
    context: State,
    cookie: Cookie,
    id: Path<String>,
    form: OwnForm,
) -> PageResult {
    let id = id_of(RecordKind::Session, &id)?;
    match use_case::revoke(&context.app, &staff.actor, id).await {
        Ok(()) if id == staff.session => {
            cookie.purge();
            return Ok(page::see_other(&format!("{ROOT}/login")));
        }
        Ok(()) => staff.notify(t!("session-ended"))?,
        // Old sessions can be purged while the list is open.
        Err(Error::NotFound(_)) => staff.warn(t!("session-had-ended"))?,
        Err(error) => return Err(error.into()),
    }
    Ok(page::see_other(Area::Panel.page(form.text("back"))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl Samples for SessionsPage {
        fn samples() -> Vec<Self> {
            let page = |list| Self { list, account: Some("1".to_owned()) };
            List::sample_pages(FILTERS, SessionRow::samples).map(page).into()
        }
    }
}
