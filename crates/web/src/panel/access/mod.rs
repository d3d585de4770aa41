//! Accounts, groups, API keys, sessions and the audit log.

mod account;
mod api_key;
mod api_keys;
mod audit;
mod editing;
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

use self::{group::GroupForm, user::UserForm};
use docent_http::routes;

routes! {
    below "/admin":
    "/account"               { GET => account::account }
    "/account/password"      { POST => account::change_password }
    "/users"                 { GET => users::users }
    "/users/add"             { GET => editing::add::<UserForm>, POST => editing::create::<UserForm> }
    "/users/{id}"            { GET => editing::show::<UserForm>, POST => editing::change::<UserForm> }
    "/users/{id}/password"   { GET => user_actions::password, POST => user_actions::set_password }
    "/users/{id}/delete"     { GET => editing::confirm::<UserForm>, POST => editing::delete::<UserForm> }
    "/users/{id}/end-sessions" { POST => user_actions::end_sessions }
    "/groups"                { GET => groups::groups }
    "/groups/add"            { GET => editing::add::<GroupForm>, POST => editing::create::<GroupForm> }
    "/groups/{id}"           { GET => editing::show::<GroupForm>, POST => editing::change::<GroupForm> }
    "/groups/{id}/delete"    { GET => editing::confirm::<GroupForm>, POST => editing::delete::<GroupForm> }
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
