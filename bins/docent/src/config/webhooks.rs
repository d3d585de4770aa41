//! Webhooks.

use super::declare::text;
use super::section::section;

section! {
    /// Webhooks.
    Webhooks "Send webhooks" {
        /// Whether webhook URLs may point to this machine and to private networks, and may use `http`. Any account can
        /// then make the service send requests to hosts that only it can reach. Link-local addresses, where clouds
        /// serve credentials, are always blocked.
        webhook_allow_private: bool = text("false");
    }
}
