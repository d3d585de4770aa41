//! `/admin`

mod login;
mod pages;
mod session;
