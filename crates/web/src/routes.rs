//! URLs and templates of pages without a session; other tables are in `panel/` and `account/`.

use crate::account::page::{InAccount, MessagePage};
use crate::account::{self};
use crate::signed_in::single_sign_on;
use crate::templates::{Template, pages};
use crate::{chat, chat_session, panel, signed_in};
use docent_http::routes;
use docent_http::table::Table;

/// Templates of all pages.
pub(crate) fn templates() -> impl Iterator<Item = &'static Template> {
    let panel = [
        panel::TEMPLATES,
        panel::content::TEMPLATES,
        panel::collections::TEMPLATES,
        panel::access::TEMPLATES,
    ];
    [TEMPLATES, signed_in::TEMPLATES, account::TEMPLATES, account::authorize::TEMPLATES]
        .into_iter()
        .chain(panel)
        .flatten()
}

/// Routes of all pages.
pub const TABLES: [Table; 7] = [
    TABLE,
    account::TABLE,
    account::authorize::TABLE,
    panel::TABLES[0],
    panel::TABLES[1],
    panel::TABLES[2],
    panel::TABLES[3],
];

routes! {
    below "":
    "/account/confirm-email" { GET => account::email_link::confirm, POST => account::email_link::submit_confirm }
    "/account/forgot-password" { GET => account::forgot_password::page, POST => account::forgot_password::submit }
    "/account/invitation"   { GET => account::invitation::page, POST => account::invitation::submit }
    "/account/reset-password" { GET => account::reset_password::page, POST => account::reset_password::submit }
    "/account/verify-email" { GET => account::email_link::verify, POST => account::email_link::submit_verify }
    "/auth/oidc/{provider}/login" { GET => single_sign_on::begin }
    "/auth/oidc/{provider}/confirm" { GET => single_sign_on::begin_proof }
    "/auth/oidc/{provider}/callback" { GET => single_sign_on::callback }
    "/auth/oidc/{provider}/backchannel-logout" { POST => single_sign_on::backchannel_logout }
    "/chat"                 { GET => chat::page }
    "/chat/chat.css"        { GET => chat::style }
    "/chat/chat.js"         { GET => chat::script }
    "/chat/actions.js"      { GET => chat::actions }
    "/chat/actions.css"     { GET => chat::actions_style }
    "/chat/proof.js"        { GET => chat::proof }
    "/chat/viewer.css"      { GET => chat::viewer_style }
    "/chat/viewer.js"       { GET => chat::viewer_script }
    "/chat/session"         { GET => chat_session::show, DELETE => chat_session::end }
    "/chat/session/confirm" { POST => chat_session::confirm }
}

pages! {
    InAccount<MessagePage> => "account/message.html"
    InAccount<account::email_link::EmailLinkPage> => "account/email_link.html"
    InAccount<account::forgot_password::ForgotPasswordPage> => "account/forgot_password.html"
    InAccount<account::invitation::InvitationPage> => "account/invitation.html"
    InAccount<account::invitation::InvitationAcceptedPage> => "account/invitation_accepted.html"
    InAccount<account::reset_password::ResetPasswordPage> => "account/reset_password.html"
    single_sign_on::continue_page::ContinuePage<'_> => "continue.html"
    chat::ChatPage<'_> => "chat/chat.html"
}
