//! `/account/second-factor`: sets up and removes the second factor.

use super::nav::ROOT;
use crate::language::t;
use crate::signed_in::field::{Field, FormView};
use crate::signed_in::form::{FieldErrors, OwnForm};
use crate::signed_in::page::{self, PageError, PageResult};
use crate::signed_in::session::SignedIn;
use crate::times::Time;
use actix_web::http::StatusCode;
use docent_app::accounts::profile;
use docent_app::accounts::second_factor::{self as use_case, RecoveryCodes};
use docent_app::error::Error;
use docent_http::{ApiError, State};
use qrcode::{Color, QrCode};
use serde::Serialize;
use std::fmt::Write;

const PAGE: &str = "/account/second-factor";

#[derive(Serialize)]
pub(super) struct SecondFactorPage {
    /// When it was set up, and how many recovery codes are left.
    active: Option<Active>,
    /// The setup that was begun a short time ago.
    setup: Option<Setup>,
    /// Whether the account must have a second factor.
    is_required: bool,
    #[serde(flatten)]
    form: FormView,
}

#[derive(Serialize)]
struct Active {
    since: Time,
    recovery_codes: usize,
}

/// What an authenticator app needs.
#[derive(Serialize)]
struct Setup {
    /// The secret in groups of four.
    secret: String,
    qr: QrImage,
}

/// A QR code as the path of an SVG image.
#[derive(Serialize)]
struct QrImage {
    /// Number of modules per side, with the quiet zone.
    size: usize,
    path: String,
}

/// New recovery codes, shown once.
#[derive(Serialize)]
pub(super) struct RecoveryCodesPage {
    codes: Vec<String>,
}

pub(super) async fn show(signed_in: SignedIn, context: State) -> PageResult {
    show_form(&signed_in, &context, &FieldErrors::default()).await
}

async fn show_form(signed_in: &SignedIn, context: &State, errors: &FieldErrors) -> PageResult {
    let (app, now) = (&context.app, context.app.now());
    let (user, _) = profile::get(app, &signed_in.actor).await?;
    let active = user.confirmed_second_factor().map(|factor| Active {
        since: Time::of(factor.confirmed_at.unwrap_or(now), now),
        recovery_codes: factor.recovery_codes.len(),
    });
    let setup = use_case::pending(app, &signed_in.actor, &context.settings.app_name).await?;
    let setup = setup.map(|setup| {
        let qr = QrImage::of(&setup.uri)?;
        Ok::<_, PageError>(Setup { secret: in_groups(&setup.secret), qr })
    });
    let mut without = user.clone();
    without.second_factor = None;
    let code = Field::line("text", "code", t!("code"), "").required().help(t!("code-help"));
    let page = SecondFactorPage {
        active,
        setup: setup.transpose()?,
        is_required: without.lacks_second_factor(app.settings().second_factor_rule),
        form: FormView::of(vec![code], Vec::new(), errors),
    };
    signed_in.show_account(errors.status(), context, "second-factor", page)
}

pub(super) async fn begin(signed_in: SignedIn, context: State, _: OwnForm) -> PageResult {
    use_case::begin(&context.app, &signed_in.actor, &context.settings.app_name).await?;
    Ok(page::see_other(PAGE))
}

pub(super) async fn confirm(signed_in: SignedIn, context: State, form: OwnForm) -> PageResult {
    match use_case::confirm(&context.app, &signed_in.actor, form.text("code")).await {
        Ok(codes) => show_codes(&signed_in, &context, codes),
        Err(Error::InvalidCode) => {
            let mut errors = FieldErrors::default();
            errors.add("code", t!("code-not-valid"));
            show_form(&signed_in, &context, &errors).await
        }
        Err(Error::SetupExpired) => {
            signed_in.warn(t!("second-factor-expired"))?;
            Ok(page::see_other(PAGE))
        }
        Err(error) => Err(error.into()),
    }
}

pub(super) async fn renew_recovery_codes(signed_in: SignedIn, context: State, _: OwnForm) -> PageResult {
    let codes = use_case::renew_recovery_codes(&context.app, &signed_in.actor).await?;
    show_codes(&signed_in, &context, codes)
}

fn show_codes(signed_in: &SignedIn, context: &State, codes: RecoveryCodes) -> PageResult {
    let page = RecoveryCodesPage { codes: codes.0 };
    signed_in.show_account(StatusCode::OK, context, "second-factor", page)
}

pub(super) async fn remove(signed_in: SignedIn, context: State, _: OwnForm) -> PageResult {
    match use_case::remove(&context.app, &signed_in.actor).await {
        Ok(()) => signed_in.notify(t!("second-factor-removed"))?,
        Err(Error::SecondFactorRequired) => signed_in.warn(t!("second-factor-required"))?,
        Err(error) => return Err(error.into()),
    }
    Ok(page::see_other(ROOT))
}

/// A secret in groups of four, for typing.
fn in_groups(secret: &str) -> String {
    let mut text = String::new();
    for (index, character) in secret.chars().enumerate() {
        if index > 0 && index % 4 == 0 {
            text.push(' ');
        }
        text.push(character);
    }
    text
}

impl QrImage {
    /// Width of the blank border that scanners need, in modules.
    const QUIET: usize = 4;

    fn of(text: &str) -> Result<Self, PageError> {
        let code = QrCode::new(text).map_err(|error| {
            tracing::error!(%error, "a QR code could not be made");
            ApiError::internal()
        })?;
        let width = code.width();
        let mut path = String::new();
        for (index, module) in code.to_colors().into_iter().enumerate() {
            if module == Color::Dark {
                let (x, y) = (index % width + Self::QUIET, index / width + Self::QUIET);
                // Writing to a string cannot fail.
                let _ = write!(path, "M{x} {y}h1v1h-1z");
            }
        }
        Ok(Self { size: width + 2 * Self::QUIET, path })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl Samples for SecondFactorPage {
        fn samples() -> Vec<Self> {
            let page = |active, setup, is_required, form| Self { active, setup, is_required, form };
            let setup =
                || Setup { secret: "ABCD EFGH".to_owned(), qr: QrImage::of("otpauth://totp/a").unwrap() };
            let [form, with_errors] = FormView::samples();
            let [other, _] = FormView::samples();
            vec![
                page(None, None, true, form),
                page(None, Some(setup()), true, with_errors),
                page(Some(Active { since: Time::sample(), recovery_codes: 2 }), None, false, other),
            ]
        }
    }

    impl Samples for RecoveryCodesPage {
        fn samples() -> Vec<Self> {
            vec![Self { codes: vec!["abcde-fghij".to_owned()] }]
        }
    }

    #[test]
    fn qr_image_has_a_quiet_zone_and_the_finder_patterns() {
        let image = QrImage::of("otpauth://totp/Docent:ada%40example.org?secret=ABC").unwrap();
        assert!(image.path.starts_with("M4 4h1v1h-1zM5 4h1v1h-1z"));
        assert!(image.path.contains(&format!("M{} 4h1v1h-1z", image.size - 5)));
        assert_eq!(in_groups("ABCDEFGHI"), "ABCD EFGH I");
    }
}
