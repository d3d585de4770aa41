//! `POST /agents/{name}`

mod body;
mod faults;
mod metering;
mod planted;
mod prompt;
mod recording;
mod resuming;
mod stream;
mod tools;
