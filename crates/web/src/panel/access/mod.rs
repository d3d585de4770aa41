//! URLs and templates of accounts, invitations, groups, API keys, sessions and the audit log.

mod api_key;
mod api_keys;
mod audit;
mod group;
mod group_members;
mod groups;
mod invitations;
mod invite;
pub(crate) mod kinds;
mod pickers;
mod sessions;
mod tables;
mod user;
mod user_actions;
mod user_limits;
mod user_page;
mod user_reach;
mod users;
mod verifications;

use crate::signed_in::layout::Framed;
use crate::templates::pages;
use docent_http::routes;

routes! {
    below "/admin":
    "/users"                 { GET => users::users }
    "/users/add"             { GET => user::add, POST => user::create }
    "/users/{id}"            { GET => user::show, POST => user::change }
    "/users/{id}/password"   { GET => user_actions::password, POST => user_actions::set_password }
    "/users/{id}/limits"     { GET => user_limits::limits, POST => user_limits::set_limits }
    "/users/{id}/collections" { GET => user_reach::collections }
    "/users/{id}/delete"     { GET => user::confirm, POST => user::delete }
    "/users/{id}/end-sessions" { POST => user_actions::end_sessions }
    "/users/{id}/reset-second-factor" { POST => user_actions::reset_second_factor }
    "/users/{id}/identities/disconnect" { GET => user_actions::confirm_disconnect, POST => user_actions::disconnect }
    "/groups"                { GET => groups::groups }
    "/groups/add"            { GET => group::add, POST => group::create }
    "/groups/{id}"           { GET => group::show, POST => group::change }
    "/groups/{id}/delete"    { GET => group::confirm, POST => group::delete }
    "/groups/{id}/members"   { POST => group_members::add }
    "/groups/{id}/members/remove" { POST => group_members::remove }
    "/groups/{id}/members/manager" { POST => group_members::set_manager }
    "/api-keys"              { GET => api_keys::api_keys }
    "/api-keys/add"          { GET => api_key::add, POST => api_key::create }
    "/api-keys/{id}"         { GET => api_key::show }
    "/api-keys/{id}/revoke"  { GET => api_key::confirm, POST => api_key::revoke }
    "/sessions"              { GET => sessions::sessions }
    "/sessions/{id}/revoke"  { POST => sessions::revoke }
    "/invitations"           { GET => invitations::invitations }
    "/invitations/add"       { GET => invite::add, POST => invite::create }
    "/invitations/{id}/resend" { POST => invitations::resend }
    "/invitations/{id}/revoke" { POST => invitations::revoke }
    "/verifications"         { GET => verifications::verifications }
    "/verifications/add"     { POST => verifications::add }
    "/verifications/{id}/revoke" { POST => verifications::revoke }
    "/audit"                 { GET => audit::audit }
    "/audit/{id}"            { GET => audit::entry }
}

pages! {
    Framed<users::UsersPage> => "users.html"
    Framed<user::UserPage> => "user.html"
    Framed<user_actions::PasswordPage> => "password.html"
    Framed<user_limits::LimitsPage> => "limits.html"
    Framed<user_reach::ReachPage> => "reach.html"
    Framed<groups::GroupsPage> => "groups.html"
    Framed<group::GroupPage> => "group.html"
    Framed<api_keys::ApiKeysPage> => "api_keys.html"
    Framed<api_key::ApiKeyPage> => "api_key.html"
    Framed<sessions::SessionsPage> => "sessions.html"
    Framed<invitations::InvitationsPage> => "invitations.html"
    Framed<invite::InvitePage> => "invite.html"
    Framed<verifications::VerificationsPage> => "verifications.html"
    Framed<verifications::VerificationCreatedPage> => "verification_created.html"
    Framed<audit::AuditPage> => "audit.html"
    Framed<audit::AuditEntryPage> => "audit_entry.html"
}
