//! `/account/sessions`: lists and ends the sessions of the account.

use super::nav::ROOT;
use crate::language::t;
use crate::signed_in::area::Area;
use crate::signed_in::form::OwnForm;
use crate::signed_in::page::{self, PageResult, id_of};
use crate::signed_in::rows::SessionRow;
use crate::signed_in::session::SignedIn;
use actix_session::Session;
use actix_web::http::StatusCode;
use actix_web::web::Path;
use docent_app::accounts::sessions as use_case;
use docent_domain::listing::PageRequest;
use docent_domain::permission::RecordKind;
use docent_http::{Client, State, UserAgent};
use serde::Serialize;

/// Maximum number of sessions shown.
const SHOWN: PageRequest = PageRequest { offset: 0, limit: 100 };

#[derive(Serialize)]
pub(super) struct SessionsPage {
    sessions: Vec<SessionRow>,
    /// Number of all valid sessions.
    total: u64,
}

pub(super) async fn show(signed_in: SignedIn, context: State) -> PageResult {
    let (app, now) = (&context.app, context.app.now());
    let found = use_case::list_own(app, &signed_in.actor, SHOWN).await?;
    let emails = [(signed_in.actor.user(), signed_in.email.clone())].into();
    let row = |session| SessionRow::of(session, &emails, &signed_in, now);
    let (this, others): (Vec<_>, Vec<_>) =
        found.records.iter().partition(|session| session.id == signed_in.session);
    let sessions = this.into_iter().chain(others).map(row).collect();
    let page = SessionsPage { sessions, total: found.total };
    signed_in.show_account(StatusCode::OK, &context, "sessions", page)
}

pub(super) async fn revoke(
    signed_in: SignedIn,
    context: State,
    cookie: Session,
    id: Path<String>,
    _: OwnForm,
) -> PageResult {
    let id = id_of(RecordKind::Session, &id)?;
    use_case::revoke_own(&context.app, &signed_in.actor, id).await?;
    if id == signed_in.session {
        cookie.purge();
        return Ok(page::see_other(&Area::Account.login()));
    }
    signed_in.notify(t!("session-ended"))?;
    Ok(page::see_other(&format!("{ROOT}/sessions")))
}

/// Ends all sessions and starts a new one for this browser.
pub(super) async fn end_others(
    signed_in: SignedIn,
    context: State,
    cookie: Session,
    client: Client,
    agent: UserAgent,
    _: OwnForm,
) -> PageResult {
    use_case::revoke_all(&context.app, &signed_in.actor, signed_in.actor.user()).await?;
    signed_in.restart_session(&context.app, &cookie, client, agent).await?;
    signed_in.notify(t!("sessions-ended"))?;
    Ok(page::see_other(&format!("{ROOT}/sessions")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl Samples for SessionsPage {
        fn samples() -> Vec<Self> {
            vec![
                Self { sessions: SessionRow::samples(), total: 2 },
                Self { sessions: SessionRow::samples().into_iter().take(1).collect(), total: 1 },
            ]
        }
    }
}
