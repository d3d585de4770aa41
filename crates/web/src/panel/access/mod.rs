//! URLs and templates of accounts, groups, API keys, sessions and the audit log.

mod account;
mod api_key;
mod api_keys;
mod audit;
mod confirm;
mod field;
mod group;
mod groups;
mod kinds;
mod sessions;
mod tables;
mod user;
mod user_actions;
mod user_page;
mod users;
mod verifications;

use super::layout::InPanel;
use crate::templates::pages;
use docent_http::routes;

routes! {
    below "/admin":
    "/account"               { GET => account::account }
    "/account/password"      { POST => account::change_password }
    "/users"                 { GET => users::users }
    "/users/add"             { GET => user::add, POST => user::create }
    "/users/{id}"            { GET => user::show, POST => user::change }
    "/users/{id}/password"   { GET => user_actions::password, POST => user_actions::set_password }
    "/users/{id}/delete"     { GET => user::confirm, POST => user::delete }
    "/users/{id}/end-sessions" { POST => user_actions::end_sessions }
    "/groups"                { GET => groups::groups }
    "/groups/add"            { GET => group::add, POST => group::create }
    "/groups/{id}"           { GET => group::show, POST => group::change }
    "/groups/{id}/delete"    { GET => group::confirm, POST => group::delete }
    "/api-keys"              { GET => api_keys::api_keys }
    "/api-keys/add"          { GET => api_key::add, POST => api_key::create }
    "/api-keys/{id}"         { GET => api_key::show }
    "/api-keys/{id}/revoke"  { GET => api_key::confirm, POST => api_key::revoke }
    "/sessions"              { GET => sessions::sessions }
    "/sessions/{id}/revoke"  { POST => sessions::revoke }
    "/verifications"         { GET => verifications::verifications }
    "/verifications/add"     { POST => verifications::add }
    "/verifications/{id}/revoke" { POST => verifications::revoke }
    "/audit"                 { GET => audit::audit }
    "/audit/{id}"            { GET => audit::entry }
}

pages! {
    InPanel<account::AccountPage> => "account.html"
    InPanel<users::UsersPage> => "users.html"
    InPanel<user::UserPage> => "user.html"
    InPanel<user_actions::PasswordPage> => "password.html"
    InPanel<groups::GroupsPage> => "groups.html"
    InPanel<group::GroupPage> => "group.html"
    InPanel<confirm::ConfirmPage<'_>> => "confirm.html"
    InPanel<api_keys::ApiKeysPage> => "api_keys.html"
    InPanel<api_key::ApiKeyPage> => "api_key.html"
    InPanel<api_key::ApiKeyFormPage> => "api_key_form.html"
    InPanel<api_key::ApiKeyCreatedPage> => "api_key_created.html"
    InPanel<sessions::SessionsPage> => "sessions.html"
    InPanel<verifications::VerificationsPage> => "verifications.html"
    InPanel<verifications::VerificationCreatedPage> => "verification_created.html"
    InPanel<audit::AuditPage> => "audit.html"
    InPanel<audit::AuditEntryPage> => "audit_entry.html"
}
