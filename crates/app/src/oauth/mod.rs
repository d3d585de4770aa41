//! The authorization server: applications get access to the API for an account that allows it (OAuth 2.1).
//!
//! An application that an account has connected is an API key with a [`Connection`](docent_domain::connection::Connection). Its
//! access tokens are signed and name the key, so that scopes, collections, limits, usage and revocation are those of keys.

pub mod access;
pub mod authorization;
pub mod clients;
mod documents;
pub mod tokens;

pub(crate) use documents::ClientDocuments;

use docent_domain::connection::Resource;

/// URL of a resource of the service at `base`.
pub fn resource_url(base: &str, resource: Resource) -> String {
    format!("{base}{}", resource.path())
}

/// The resource of the service at `base` with this URL. A trailing slash, and the case of scheme and host, do not matter.
pub fn resource_at(base: &str, url: &str) -> Option<Resource> {
    let requested = canonical(url)?;
    Resource::ALL
        .into_iter()
        .find(|resource| canonical(&resource_url(base, *resource)).as_ref() == Some(&requested))
}

fn canonical(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let (host, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let (scheme, host) = (scheme.to_ascii_lowercase(), host.to_ascii_lowercase());
    let port = match scheme.as_str() {
        "https" => ":443",
        _ => ":80",
    };
    let host = host.strip_suffix(port).unwrap_or(&host);
    Some(format!("{scheme}://{host}{}", path.strip_suffix('/').unwrap_or(path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_are_found_by_their_urls_only() {
        let base = "https://docs.example.org/docent";
        for (url, resource) in [
            ("https://docs.example.org/docent/mcp", Some(Resource::Mcp)),
            ("HTTPS://Docs.Example.org:443/docent/mcp/", Some(Resource::Mcp)),
            ("https://docs.example.org/docent", Some(Resource::Api)),
            ("https://docs.example.org/docent/", Some(Resource::Api)),
            ("https://docs.example.org/docent/MCP", None),
            ("https://docs.example.org/docent/mcp?a", None),
            ("https://docs.example.org/docent/mcp#a", None),
            ("https://docs.example.org/mcp", None),
            ("https://docs.example.org:8443/docent/mcp", None),
            ("http://docs.example.org/docent/mcp", None),
            ("https://evil.example/docent/mcp", None),
            ("mcp", None),
            ("", None),
        ] {
            assert_eq!(resource_at(base, url), resource, "{url}");
        }
    }
}
