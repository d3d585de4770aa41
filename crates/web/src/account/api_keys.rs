//! `/account/api-keys`: lists, creates and revokes the API keys of the account.

use super::nav::ROOT;
use crate::language::{collection_name, t};
use crate::signed_in::confirm::ConfirmPage;
use crate::signed_in::form::{FieldErrors, OwnForm};
use crate::signed_in::key_form::{ApiKeyCreatedPage, ApiKeyFormPage, KeyDraft, KeySection};
use crate::signed_in::page::{self, PageResult, id_of};
use crate::signed_in::rows::{self, Emails, KeyRow};
use crate::signed_in::session::SignedIn;
use actix_web::http::StatusCode;
use actix_web::web::Path;
use docent_app::accounts::{api_keys as use_case, users};
use docent_app::error::Error;
use docent_app::{collections, scope};
use docent_domain::access::{AddApiKeys, ReadDocuments};
use docent_domain::listing::{AccountCollections, PageRequest};
use docent_domain::permission::RecordKind;
use docent_http::State;
use serde::Serialize;

/// Maximum number of keys shown.
const SHOWN: PageRequest = PageRequest { offset: 0, limit: 100 };
/// Maximum number of collections that a key can be limited to in the form.
const CHOICES: u64 = 200;

#[derive(Serialize)]
pub(super) struct ApiKeysPage {
    keys: Vec<KeyRow>,
    /// Number of all keys.
    total: u64,
    are_accepted: bool,
}

fn section(context: &State) -> KeySection {
    KeySection::of(t!("api-keys"), format!("{ROOT}/api-keys"), format!("{ROOT}/api-keys/add"), context)
}

pub(super) async fn show(signed_in: SignedIn, context: State) -> PageResult {
    let (app, now) = (&context.app, context.app.now());
    let found = use_case::list_own(app, &signed_in.actor, SHOWN).await?;
    let emails: Emails = users::emails(app, &rows::accounts_of(&found.records)).await?;
    let page = ApiKeysPage {
        keys: found.records.iter().map(|key| KeyRow::of(key, &emails, &signed_in, now)).collect(),
        total: found.total,
        are_accepted: app.settings().accepts_api_keys,
    };
    signed_in.show_account(StatusCode::OK, &context, "api-keys", page)
}

pub(super) async fn add(signed_in: SignedIn, context: State) -> PageResult {
    signed_in.authorize_own::<AddApiKeys>()?;
    show_form(&signed_in, &context, &KeyDraft::default(), &FieldErrors::default()).await
}

async fn show_form(
    signed_in: &SignedIn,
    context: &State,
    draft: &KeyDraft<'_>,
    errors: &FieldErrors,
) -> PageResult {
    let (app, actor) = (&context.app, &signed_in.actor);
    let (grant, scope) =
        (actor.authorize::<ReadDocuments>().map_err(Error::from)?, scope::load(app, actor).await?);
    let user = actor.user();
    let choices = AccountCollections { user, scope, name_contains: None, after: None, limit: CHOICES };
    let found = collections::list(app, grant, &choices).await?;
    let found = found.iter().map(|listed| &listed.collection);
    let choices: Vec<_> = found.map(|of| (of.id, collection_name(of.name.as_str()))).collect();
    let page = ApiKeyFormPage::of(Vec::new(), &choices, draft, errors, section(context));
    signed_in.show_account(errors.status(), context, "api-keys", page)
}

pub(super) async fn create(signed_in: SignedIn, context: State, form: OwnForm) -> PageResult {
    signed_in.authorize_own::<AddApiKeys>()?;
    let (app, draft, mut errors) = (&context.app, KeyDraft::of(&form), FieldErrors::default());
    if let Some(input) = draft.input(Some(signed_in.actor.user()), &mut errors) {
        match use_case::create(app, &signed_in.actor, input).await {
            Ok(new) => {
                let emails = [(signed_in.actor.user(), signed_in.email.clone())].into();
                let key = KeyRow::of(&new.record, &emails, &signed_in, app.now());
                let page = ApiKeyCreatedPage::of(key, new, section(&context), &context);
                return signed_in.show_account(StatusCode::OK, &context, "api-keys", page);
            }
            Err(error) => errors.add_from(error)?,
        }
    }
    show_form(&signed_in, &context, &draft, &errors).await
}

pub(super) async fn confirm(signed_in: SignedIn, context: State, id: Path<String>) -> PageResult {
    let id = id_of(RecordKind::ApiKey, &id)?;
    let key = use_case::get_own(&context.app, &signed_in.actor, id).await?;
    let KeySection { section, section_href, .. } = section(&context);
    let page = ConfirmPage {
        section,
        cancel: section_href.clone(),
        section_href,
        name: key.name.as_str(),
        question: t!("key-revoke-question"),
        consequences: vec![t!("key-revoke-access"), t!("cannot-be-undone")],
        action: format!("{ROOT}/api-keys/{}/revoke", key.id),
        verb: t!("key-revoke"),
    };
    signed_in.show_account(StatusCode::OK, &context, "api-keys", page)
}

pub(super) async fn revoke(signed_in: SignedIn, context: State, id: Path<String>, _: OwnForm) -> PageResult {
    let id = id_of(RecordKind::ApiKey, &id)?;
    let key = use_case::get_own(&context.app, &signed_in.actor, id).await?;
    use_case::revoke(&context.app, &signed_in.actor, key.id).await?;
    signed_in.notify(t!("key-revoked", name = key.name.as_str()))?;
    Ok(page::see_other(&format!("{ROOT}/api-keys")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl Samples for ApiKeysPage {
        fn samples() -> Vec<Self> {
            vec![
                Self { keys: KeyRow::samples(), total: 102, are_accepted: true },
                Self { keys: Vec::new(), total: 0, are_accepted: false },
            ]
        }
    }
}
