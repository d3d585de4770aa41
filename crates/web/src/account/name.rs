//! `POST /account/name`: chooses the name that others see.

use super::nav::ROOT;
use crate::language::{self, t};
use crate::signed_in::form::OwnForm;
use crate::signed_in::page::{self, PageResult};
use crate::signed_in::session::SignedIn;
use docent_app::accounts::profile;
use docent_domain::text::PersonName;
use docent_http::State;

pub(super) async fn submit(signed_in: SignedIn, context: State, form: OwnForm) -> PageResult {
    let chosen = match form.text("name").trim() {
        "" => Ok(None),
        name => PersonName::parse(name).map(Some),
    };
    match chosen {
        Ok(name) => {
            profile::set_name(&context.app, &signed_in.actor, name).await?;
            signed_in.notify(t!("name-saved"))?;
        }
        Err(invalid) => signed_in.warn(language::field_sentence(&t!("your-name"), &invalid))?,
    }
    Ok(page::see_other(ROOT))
}
