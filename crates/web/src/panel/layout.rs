//! Layout of the panel's pages.

use super::nav::{self, NavGroup};
use super::page::{PageResult, show};
use super::session::{Flash, Staff};
use crate::templates::{InLayout, Page};
use actix_web::http::StatusCode;
use docent_http::State;
use serde::Serialize;

/// Values of the layout `base.html`.
#[derive(Serialize)]
pub(crate) struct Layout {
    app_name: String,
    nav: Vec<NavGroup>,
    /// CSRF token for the forms of the page.
    form_token: String,
    staff_email: String,
    flash: Option<Flash>,
}

/// Page of the panel in its layout.
pub(crate) type InPanel<P> = InLayout<Layout, P>;

impl Staff {
    /// Renders a page of the panel; `section` is its menu entry.
    pub(super) fn show<P>(&self, context: &State, section: &str, page: P) -> PageResult
    where
        InPanel<P>: Page,
    {
        self.show_with(StatusCode::OK, context, section, page)
    }

    /// Renders a page with another status than 200.
    pub(super) fn show_with<P>(
        &self,
        status: StatusCode,
        context: &State,
        section: &str,
        page: P,
    ) -> PageResult
    where
        InPanel<P>: Page,
    {
        let layout = Layout {
            app_name: context.settings.app_name.clone(),
            nav: nav::of(&self.actor, section),
            form_token: self.form_token.clone(),
            staff_email: self.email.as_str().to_owned(),
            flash: self.take_flash(),
        };
        show(status, &InLayout { layout, page })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl Samples for Layout {
        fn samples() -> Vec<Self> {
            let layout = |flash| Self {
                app_name: "Docent".to_owned(),
                nav: nav::sample(),
                form_token: "0f".to_owned(),
                staff_email: "staff@example.com".to_owned(),
                flash,
            };
            vec![layout(None), layout(Some(Flash::sample()))]
        }
    }
}
