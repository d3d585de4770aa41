//! Shared by the panel, the account pages and the web chat: the session of the browser, signing in and out, layout, forms and
//! rows.
//!
//! They have one session. Any active account can use the account pages and the chat, and staff also the panel.

pub(crate) mod area;
mod client;
pub(crate) mod confirm;
pub(crate) mod field;
pub(crate) mod form;
pub(crate) mod invited;
pub(crate) mod key_form;
pub(crate) mod layout;
pub(crate) mod login;
pub(crate) mod logout;
pub(crate) mod members;
pub(crate) mod own_page;
pub(crate) mod page;
pub(crate) mod proof;
pub(crate) mod rows;
pub(crate) mod session;
pub(crate) mod single_sign_on;

use self::layout::Framed;
use crate::templates::pages;

pages! {
    login::LoginPage<'_> => "login.html"
    login::CodePage<'_> => "login_code.html"
    page::ErrorPage<'_> => "error.html"
    Framed<confirm::ConfirmPage<'_>> => "confirm.html"
    Framed<invited::InvitedPage> => "invited.html"
    Framed<key_form::ApiKeyFormPage> => "api_key_form.html"
    Framed<key_form::ApiKeyCreatedPage> => "api_key_created.html"
}
