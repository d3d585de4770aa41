//! `POST /agents/{name}`

mod body;
mod faults;
mod metering;
mod stream;
mod tools;
