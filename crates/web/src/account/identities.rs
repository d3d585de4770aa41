//! `/account/identities`: connections of the account with identity providers.

use crate::language::t;
use crate::signed_in::form::OwnForm;
use crate::signed_in::page::{PageResult, see_other};
use crate::signed_in::session::SignedIn;
use crate::signed_in::single_sign_on::attempts::Purpose;
use crate::signed_in::single_sign_on::continue_page::continue_to;
use crate::signed_in::single_sign_on::{IDENTITIES, open_provider, reason, status};
use crate::times::Time;
use actix_session::Session;
use actix_web::http::StatusCode;
use actix_web::web::Path;
use docent_app::accounts::single_sign_on::connections;
use docent_app::error::Error;
use docent_domain::access::ConnectIdentity;
use docent_http::State;
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct IdentitiesPage {
    identities: Vec<IdentityView>,
    problem: Option<String>,
}

/// A provider, and whether the account is connected with it.
#[derive(Serialize)]
struct IdentityView {
    name: String,
    label: String,
    email: Option<String>,
    connected: Option<Time>,
}

pub(super) async fn show(signed_in: SignedIn, context: State) -> PageResult {
    show_list(&signed_in, &context, StatusCode::OK, None).await
}

async fn show_list(
    signed_in: &SignedIn,
    context: &State,
    status: StatusCode,
    problem: Option<String>,
) -> PageResult {
    let (app, now) = (&context.app, context.app.now());
    let connections = connections::list(app, &signed_in.actor).await?;
    let view = |known: connections::Connection| IdentityView {
        name: known.name.to_string(),
        label: known.label,
        connected: known.identity.as_ref().map(|identity| Time::of(identity.created_at, now)),
        email: known.identity.and_then(|identity| identity.email),
    };
    let page = IdentitiesPage { identities: connections.into_iter().map(view).collect(), problem };
    signed_in.show_account(status, context, "identities", page)
}

pub(super) async fn connect(
    signed_in: SignedIn,
    provider: Path<String>,
    context: State,
    cookie: Session,
    _: OwnForm,
) -> PageResult {
    signed_in.authorize::<ConnectIdentity>()?;
    match open_provider(&context, &cookie, &provider, Purpose::Connect, IDENTITIES).await {
        Ok(url) => continue_to(&context, &url),
        Err(error) => {
            let status = status(&error);
            show_list(&signed_in, &context, status, Some(reason(error)?)).await
        }
    }
}

pub(super) async fn disconnect(
    signed_in: SignedIn,
    provider: Path<String>,
    context: State,
    _: OwnForm,
) -> PageResult {
    match connections::disconnect(&context.app, &signed_in.actor, &provider).await {
        Ok(()) => {
            signed_in.notify(t!("identity-disconnected"))?;
            Ok(see_other(IDENTITIES))
        }
        Err(Error::Invalid(_)) => {
            let problem = Some(t!("identity-last"));
            show_list(&signed_in, &context, StatusCode::UNPROCESSABLE_ENTITY, problem).await
        }
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl Samples for IdentitiesPage {
        fn samples() -> Vec<Self> {
            let view = |email: Option<&str>, connected: bool| IdentityView {
                name: "sso".to_owned(),
                label: "Example".to_owned(),
                email: email.map(str::to_owned),
                connected: connected.then(Time::sample),
            };
            let all = || vec![view(Some("a@example.com"), true), view(None, true), view(None, false)];
            vec![
                Self { identities: all(), problem: None },
                Self { identities: Vec::new(), problem: Some("This did not work.".to_owned()) },
            ]
        }
    }
}
