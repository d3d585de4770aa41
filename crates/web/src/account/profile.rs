//! `GET /account`: the account, its permissions, and news that concern its safety.

use crate::language::{self, FluentArgs, Language, t};
use crate::panel::access::kinds::{self, Allowed};
use crate::signed_in::page::PageResult;
use crate::signed_in::rows::{self, Emails, KeyRow};
use crate::signed_in::session::SignedIn;
use crate::times::Time;
use actix_web::http::StatusCode;
use docent_app::accounts::{api_keys, email_change, profile, users};
use docent_domain::access::UseAdminPanel;
use docent_domain::text::PERSON_NAME_MAX;
use docent_http::State;
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct ProfilePage {
    email: String,
    /// Name that others see; empty for none.
    name: String,
    max_name_length: usize,
    verified: Option<Time>,
    created: Time,
    last_login: Option<Time>,
    can_change_email: bool,
    /// Code of the chosen language; empty for that of the browser.
    language: String,
    languages: Vec<LanguageOption>,
    /// Effective permissions, for staff.
    account: Option<Permissions>,
    /// Valid keys that other accounts created recently.
    new_keys: Vec<KeyRow>,
}

/// A language that the pages have.
#[derive(Serialize)]
struct LanguageOption {
    code: &'static str,
    name: String,
}

fn languages() -> Vec<LanguageOption> {
    let name = |language: &Language| language.text("language-name", &FluentArgs::new());
    language::all().iter().map(|one| LanguageOption { code: one.code(), name: name(one) }).collect()
}

/// Values of `effective_permissions.html`.
#[derive(Serialize)]
struct Permissions {
    is_superuser: bool,
    /// What every account may do.
    base: String,
    allowed: Vec<Allowed>,
}

pub(super) async fn show(signed_in: SignedIn, context: State) -> PageResult {
    let (app, now) = (&context.app, context.app.now());
    let (user, permissions) = profile::get(app, &signed_in.actor).await?;
    let keys = api_keys::new_by_others(app, &signed_in.actor).await?;
    let emails: Emails = users::emails(app, &rows::accounts_of(&keys)).await?;
    let is_staff = signed_in.can::<UseAdminPanel>();
    let page = ProfilePage {
        email: user.email.as_str().to_owned(),
        name: user.name.map_or_else(String::new, |name| name.as_str().to_owned()),
        max_name_length: PERSON_NAME_MAX,
        verified: user.email_verified_at.map(|at| Time::of(at, now)),
        created: Time::of(user.created_at, now),
        last_login: user.last_login_at.map(|at| Time::of(at, now)),
        can_change_email: email_change::is_possible(app),
        language: user.language.map_or_else(String::new, |language| language.as_str().to_owned()),
        languages: languages(),
        account: is_staff.then(|| Permissions {
            is_superuser: user.is_superuser,
            base: t!("every-account"),
            allowed: kinds::allowed(permissions),
        }),
        new_keys: keys.iter().map(|key| KeyRow::of(key, &emails, &signed_in, now)).collect(),
    };
    signed_in.show_account(StatusCode::OK, &context, "", page)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl Samples for ProfilePage {
        fn samples() -> Vec<Self> {
            let page = |time: fn() -> Option<Time>, account, new_keys| Self {
                email: "a@example.com".to_owned(),
                name: if time().is_some() { "Ada".to_owned() } else { String::new() },
                max_name_length: PERSON_NAME_MAX,
                verified: time(),
                created: Time::sample(),
                last_login: time(),
                can_change_email: time().is_some(),
                language: String::new(),
                languages: languages(),
                account,
                new_keys,
            };
            let permissions = |is_superuser, allowed| {
                Some(Permissions { is_superuser, base: t!("every-account"), allowed })
            };
            vec![
                page(|| None, None, Vec::new()),
                page(|| Some(Time::sample()), permissions(true, Vec::new()), KeyRow::samples()),
                page(|| None, permissions(false, Allowed::samples()), Vec::new()),
                page(|| None, permissions(false, Vec::new()), Vec::new()),
            ]
        }
    }
}
