//! The account pages: what every account can do with itself, and pages opened by links in emails.
//!
//! Each section of the signed-in pages has its own file and template. Pages opened by links need no authentication: the
//! token of the link is the credential. Opening one changes nothing, because mail scanners open links too; the button
//! on it does.

mod api_keys;
mod applications;
pub(crate) mod authorize;
mod confirm;
mod delete;
mod email;
pub(crate) mod email_link;
pub(crate) mod forgot_password;
mod groups;
mod identities;
pub(crate) mod invitation;
mod language;
mod name;
mod nav;
pub(crate) mod page;
mod password;
mod profile;
pub(crate) mod reset_password;
mod second_factor;
mod sessions;

use crate::signed_in::area::Area;
use crate::signed_in::layout::Framed;
use crate::signed_in::{login, logout, page as signed_in_page, proof};
use crate::templates::pages;
use actix_web::middleware::from_fn;
use actix_web::web::{self, ServiceConfig};
use docent_http::routes;

routes! {
    below "/account":
    ""                       { GET => profile::show }
    "/login"                 { GET => login::show, POST => login::submit }
    "/login/code"            { GET => login::show_code, POST => login::submit_code }
    "/logout"                { POST => logout::logout }
    "/email"                 { GET => email::show, POST => email::submit }
    "/language"              { POST => language::submit }
    "/name"                  { POST => name::submit }
    "/password"              { GET => password::show, POST => password::submit }
    "/sessions"              { GET => sessions::show }
    "/sessions/end-others"   { POST => sessions::end_others }
    "/sessions/{id}/revoke"  { POST => sessions::revoke }
    "/api-keys"              { GET => api_keys::show }
    "/api-keys/add"          { GET => api_keys::add, POST => api_keys::create }
    "/api-keys/{id}/revoke"  { GET => api_keys::confirm, POST => api_keys::revoke }
    "/applications"          { GET => applications::show }
    "/applications/{id}/disconnect" { GET => applications::confirm, POST => applications::disconnect }
    "/groups"                { GET => groups::show }
    "/groups/{id}"           { GET => groups::group }
    "/groups/{id}/members"   { POST => groups::add }
    "/groups/{id}/members/remove" { POST => groups::remove }
    "/second-factor"         { GET => second_factor::show }
    "/second-factor/begin"   { POST => second_factor::begin }
    "/second-factor/confirm" { POST => second_factor::confirm }
    "/second-factor/recovery-codes" { POST => second_factor::renew_recovery_codes }
    "/second-factor/remove"  { POST => second_factor::remove }
    "/identities"            { GET => identities::show }
    "/identities/{provider}/connect" { POST => identities::connect }
    "/identities/{provider}/disconnect" { POST => identities::disconnect }
    "/confirm"               { GET => confirm::show, POST => confirm::submit }
    "/delete"                { GET => delete::show, POST => delete::submit }
}

pages! {
    Framed<profile::ProfilePage> => "account/profile.html"
    Framed<email::EmailPage> => "account/email.html"
    Framed<password::PasswordPage> => "account/password.html"
    Framed<sessions::SessionsPage> => "account/sessions.html"
    Framed<api_keys::ApiKeysPage> => "account/api_keys.html"
    Framed<applications::ApplicationsPage> => "account/applications.html"
    Framed<groups::GroupsPage> => "account/groups.html"
    Framed<groups::ManagedGroupPage> => "account/group.html"
    Framed<identities::IdentitiesPage> => "account/identities.html"
    Framed<delete::DeletePage> => "account/delete.html"
    Framed<second_factor::SecondFactorPage> => "account/second_factor.html"
    Framed<second_factor::RecoveryCodesPage> => "account/recovery_codes.html"
    Framed<confirm::ConfirmIdentityPage> => "account/confirm.html"
}

/// Adds the signed-in account pages to the server.
pub(crate) fn mount(config: &mut ServiceConfig) {
    config.service(
        web::scope(Area::Account.root())
            .wrap(from_fn(proof::ask))
            .configure(|config| configure(config, |_| true))
            .default_service(web::to(signed_in_page::not_found)),
    );
    authorize::mount(config);
}
