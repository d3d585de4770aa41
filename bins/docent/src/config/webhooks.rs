//! Webhooks.

use super::declare::{Default, Defaults, section};

section! {
    /// Webhooks.
    Webhooks "Webhooks" {
        /// Whether webhooks may lead to this machine and to private networks, and may use `http`. Whoever has an account
        /// can then have the service send messages to hosts that only it reaches. Link-local addresses, where clouds serve
        /// credentials, stay out of reach.
        webhook_allow_private: bool = Defaults { dev: Default::Text("true"), serve: Default::Text("false") };
    }
}
