//! Layout of the pages with a session: header, menu, message of the previous action.

use super::area::Area;
use super::page::{PageResult, show};
use super::session::{Flash, SignedIn};
use crate::language::t;
use crate::templates::{InLayout, Page};
use actix_web::http::StatusCode;
use docent_domain::text::PersonName;
use docent_http::State;
use serde::Serialize;

/// Values of the layout `base.html`.
#[derive(Serialize)]
pub(crate) struct Layout {
    app_name: String,
    /// Root path of the area.
    root: &'static str,
    /// Name of the menu for screen readers.
    nav_label: String,
    nav: Vec<NavGroup>,
    /// CSRF token for the forms of the page.
    form_token: String,
    user_email: String,
    /// Name of the account, or else its email address.
    user_name: String,
    user_id: String,
    flash: Option<Flash>,
}

/// Group of links in the menu.
#[derive(Serialize)]
pub(crate) struct NavGroup {
    pub(crate) title: String,
    pub(crate) links: Vec<NavLink>,
}

#[derive(Serialize)]
pub(crate) struct NavLink {
    pub(crate) label: String,
    pub(crate) href: String,
    pub(crate) is_current: bool,
}

/// Page in its layout.
pub(crate) type Framed<P> = InLayout<Layout, P>;

impl SignedIn {
    /// Renders a page with the menu of its area.
    pub(crate) fn render<P>(
        &self,
        status: StatusCode,
        context: &State,
        area: Area,
        nav: Vec<NavGroup>,
        page: P,
    ) -> PageResult
    where
        Framed<P>: Page,
    {
        let layout = Layout {
            app_name: context.settings.app_name.clone(),
            root: area.root(),
            nav_label: match area {
                Area::Panel => t!("menu-of-panel"),
                Area::Account => t!("menu-of-account"),
            },
            nav,
            form_token: self.form_token.clone(),
            user_email: self.email.as_str().to_owned(),
            user_name: self.name.as_ref().map_or(self.email.as_str(), PersonName::as_str).to_owned(),
            user_id: self.actor.user().to_string(),
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
            let link = NavLink {
                label: "Documents".to_owned(),
                href: "/admin/documents".to_owned(),
                is_current: true,
            };
            let layout = |links, flash| Self {
                app_name: "Docent".to_owned(),
                root: "/admin",
                nav_label: "Panel".to_owned(),
                nav: vec![NavGroup { title: "Content".to_owned(), links }],
                form_token: "0f".to_owned(),
                user_email: "staff@example.com".to_owned(),
                user_name: "Staff".to_owned(),
                user_id: "1".to_owned(),
                flash,
            };
            vec![
                layout(vec![link], None),
                layout(Vec::new(), Some(Flash::sample())),
                layout(Vec::new(), Some(Flash::sample_download())),
            ]
        }
    }
}
