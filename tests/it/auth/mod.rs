//! Authentication: `/auth/…`, account pages, bearer tokens and API keys.

mod api_keys;
mod bearer;
mod email_verification;
mod logout;
mod password_reset;
mod refresh;
mod sessions;
mod token;
