//! Agents: `POST /agents/{name}`.

mod behaviours;
mod body;
mod fallback;
mod faults;
mod metering;

mod prompt;
mod prompt_injection;
mod recording;
mod resuming;
mod stream;
mod tools;
