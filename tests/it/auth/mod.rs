//! `/auth/…`

mod bearer;
mod logout;
mod refresh;
mod token;
