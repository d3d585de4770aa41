//! `POST /agents/{name}`

mod body;
mod faults;
mod metering;
mod recording;
mod stream;
mod tools;
