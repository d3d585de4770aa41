//! Real servers: those of a test's own, which it may stop, stall and start again, impostors of them, and
//! those that the environment gives to all tests together.

mod impostor;
mod postgres;
mod proxy;
mod redis;
mod shared;

pub use impostor::{Impostor, Manner, check_impostor_faults};
pub use postgres::PostgresServer;
pub use proxy::Proxy;
pub use redis::{RedisSentinel, RedisServer};
pub use shared::{OwnSchema, redis_url, s3_url, unique_name};

use std::process::{Child, Command};

fn signal(process: &Child, signal: &str) {
    let sent = Command::new("kill").args([signal, &process.id().to_string()]).status();
    // A test that fails must not abort for the sake of cleaning up.
    assert!(sent.is_ok_and(|status| status.success()) || std::thread::panicking());
}
