#![doc = include_str!("../README.md")]
// This crate is test code: it fails by panicking.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

/// Compiles the Rust code in the how-to guides.
#[cfg(doctest)]
mod documentation {
    #[doc = include_str!("../../docs/how-to/write-an-agent.md")]
    struct WriteAnAgent;
    #[doc = include_str!("../../docs/how-to/write-an-adapter.md")]
    struct WriteAnAdapter;
}

mod adapters;
pub mod app;
pub mod browser;
#[cfg(feature = "browser")]
pub mod chromium;
mod documented;
pub mod extractor;
pub mod files;
pub mod librechat;
pub mod member;
pub mod reply;
#[cfg(feature = "live")]
mod servers;
pub mod setup;
pub mod stack;
pub mod urlencoded;
pub use docent_testkit::wait;

pub use docent_testkit::pdf;

/// Declares tests of the contract's rules; each runs on every stack:
///
/// ```text
/// rules! {
///     /// The rule.
///     async fn subject_condition_result(setup) {
///         let app = setup.start().await;
///         …
///     }
/// }
/// ```
///
/// A test that leaves unfinished jobs fails, unless it calls `app.leave_jobs()`.
#[macro_export]
macro_rules! rules {
    ($($(#[$meta:meta])* async fn $name:ident($setup:pat) $body:block)+) => {
        $($(#[$meta])* async fn $name($setup: $crate::setup::Setup) $body)+
        $crate::rules!(@on fakes Fakes $($name)+);
        $crate::rules!(@on embedded Embedded $($name)+);
        #[cfg(feature = "live")]
        $crate::rules!(@on servers Servers $($name)+);
    };
    (@on $module:ident $stack:ident $($name:ident)+) => {
        mod $module {
            $(
                #[tokio::test]
                async fn $name() {
                    let started = $crate::setup::Started::default();
                    let setup = $crate::setup::Setup::new($crate::stack::Stack::$stack, &started);
                    super::$name(setup).await;
                    started.finish().await;
                }
            )+
        }
    };
}
