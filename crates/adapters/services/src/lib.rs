#![doc = include_str!("../README.md")]

pub mod archive;
pub mod blob;
pub mod mail;
pub mod memory;
pub mod openid_connect;
pub mod password;
pub mod redis;
pub mod system;
pub mod token_signer;
pub mod user_tokens;
pub mod webhook_sender;
