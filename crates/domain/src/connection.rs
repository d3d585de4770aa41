//! Applications that accounts have connected, and what their tokens are for.

use crate::client_uri::ClientUrl;
use crate::id::TokenId;
use chrono::{DateTime, Utc};

/// A part of the service that access tokens are issued for (RFC 8707).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Resource {
    /// `/mcp`.
    Mcp,
    /// The whole API, which includes `/mcp`.
    Api,
}

impl Resource {
    /// All resources.
    pub const ALL: [Self; 2] = [Self::Mcp, Self::Api];

    /// Name of the resource.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mcp => "mcp",
            Self::Api => "api",
        }
    }

    /// Returns the resource with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|resource| resource.name() == name)
    }

    /// Path of the resource below the URL of the service.
    pub const fn path(self) -> &'static str {
        match self {
            Self::Mcp => "/mcp",
            Self::Api => "",
        }
    }

    /// Whether a token for this resource can be used for `requested`.
    pub fn includes(self, requested: Self) -> bool {
        self == requested || self == Self::Api
    }
}

/// The application behind an API key, and its refresh token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connection {
    /// ID of the client.
    pub client: String,
    /// Where its tokens can be used.
    pub resource: Resource,
    /// ID of the valid refresh token.
    pub refresh_token: TokenId,
    /// ID of the refresh token before it, if any.
    pub replaced_token: Option<TokenId>,
    /// Time when the refresh token was issued.
    pub refreshed_at: DateTime<Utc>,
}

impl Connection {
    /// Host of the client's metadata document; `None` for a client that registered itself.
    pub fn client_host(&self) -> Option<String> {
        ClientUrl::parse(&self.client).ok().map(|url| url.host().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_for_the_api_includes_mcp_but_not_the_reverse() {
        assert!(Resource::Api.includes(Resource::Mcp) && Resource::Api.includes(Resource::Api));
        assert!(Resource::Mcp.includes(Resource::Mcp) && !Resource::Mcp.includes(Resource::Api));
        for resource in Resource::ALL {
            assert_eq!(Resource::parse(resource.name()), Some(resource));
        }
    }
}
