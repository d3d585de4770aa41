//! `/account/applications`: lists and disconnects the applications that the account has connected.

use super::nav::ROOT;
use crate::language::t;
use crate::signed_in::confirm::ConfirmPage;
use crate::signed_in::form::OwnForm;
use crate::signed_in::page::{self, PageResult, id_of};
use crate::signed_in::rows::{Emails, KeyRow};
use crate::signed_in::session::SignedIn;
use actix_web::http::StatusCode;
use actix_web::web::Path;
use docent_app::accounts::api_keys;
use docent_app::oauth::access as use_case;
use docent_domain::listing::PageRequest;
use docent_domain::permission::RecordKind;
use docent_http::State;
use serde::Serialize;

/// Maximum number of applications shown.
const SHOWN: PageRequest = PageRequest { offset: 0, limit: 100 };

#[derive(Serialize)]
pub(super) struct ApplicationsPage {
    applications: Vec<KeyRow>,
    /// Number of all applications.
    total: u64,
    are_accepted: bool,
    /// URL of the service for assistants.
    link: String,
}

pub(super) async fn show(signed_in: SignedIn, context: State) -> PageResult {
    let (app, now) = (&context.app, context.app.now());
    let found = use_case::list_own(app, &signed_in.actor, SHOWN).await?;
    let emails: Emails = [(signed_in.actor.user(), signed_in.email.clone())].into();
    let page = ApplicationsPage {
        applications: found.records.iter().map(|key| KeyRow::of(key, &emails, &signed_in, now)).collect(),
        total: found.total,
        are_accepted: app.settings().accepts_oauth,
        link: format!("{}/mcp", app.settings().public_url.trim_end_matches('/')),
    };
    signed_in.show_account(StatusCode::OK, &context, "applications", page)
}

pub(super) async fn confirm(signed_in: SignedIn, context: State, id: Path<String>) -> PageResult {
    let id = id_of(RecordKind::ApiKey, &id)?;
    let key = use_case::get_own(&context.app, &signed_in.actor, id).await?;
    let section = format!("{ROOT}/applications");
    let page = ConfirmPage {
        section: t!("applications"),
        cancel: section.clone(),
        name: key.name.as_str(),
        question: t!("application-disconnect-question"),
        consequences: vec![t!("application-disconnect-access"), t!("application-connect-again")],
        action: format!("{section}/{}/disconnect", key.id),
        verb: t!("application-disconnect"),
        section_href: section,
    };
    signed_in.show_account(StatusCode::OK, &context, "applications", page)
}

pub(super) async fn disconnect(
    signed_in: SignedIn,
    context: State,
    id: Path<String>,
    _: OwnForm,
) -> PageResult {
    let id = id_of(RecordKind::ApiKey, &id)?;
    let key = use_case::get_own(&context.app, &signed_in.actor, id).await?;
    api_keys::revoke(&context.app, &signed_in.actor, key.id).await?;
    signed_in.notify(t!("application-disconnected", name = key.name.as_str()))?;
    Ok(page::see_other(&format!("{ROOT}/applications")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl Samples for ApplicationsPage {
        fn samples() -> Vec<Self> {
            let page = |applications, total, are_accepted| Self {
                applications,
                total,
                are_accepted,
                link: "https://example.org/mcp".to_owned(),
            };
            vec![page(KeyRow::samples(), 102, true), page(Vec::new(), 0, false)]
        }
    }
}
