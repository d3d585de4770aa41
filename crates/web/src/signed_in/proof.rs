//! Actions that need a recent proof of identity, so that an unattended browser or a stolen cookie is not enough: keys,
//! rights, links that replace passwords, second factors and exports.

use actix_web::HttpRequest;

/// Methods and patterns of their routes.
const ACTIONS: &[(&str, &str)] = &[
    ("GET", "/account/api-keys/add"),
    ("POST", "/account/api-keys/add"),
    ("POST", "/account/second-factor/begin"),
    ("POST", "/account/second-factor/recovery-codes"),
    ("POST", "/account/second-factor/remove"),
    ("GET", "/admin/api-keys/add"),
    ("POST", "/admin/api-keys/add"),
    ("GET", "/admin/groups/add"),
    ("POST", "/admin/groups/add"),
    ("POST", "/admin/groups/{id}"),
    ("GET", "/admin/usage.csv"),
    ("GET", "/admin/users/add"),
    ("POST", "/admin/users/add"),
    ("POST", "/admin/users/{id}"),
    ("GET", "/admin/users/{id}/password"),
    ("POST", "/admin/users/{id}/password"),
    ("POST", "/admin/users/{id}/reset-second-factor"),
    ("POST", "/admin/verifications/add"),
];

/// Whether a request is such an action.
pub(super) fn is_needed(request: &HttpRequest) -> bool {
    let pattern = request.match_pattern().unwrap_or_default();
    ACTIONS.contains(&(request.method().as_str(), pattern.as_str()))
}

/// Page to open after the proof: the requested one, or the page with the button of an action that has no page.
pub(super) fn page_after<'p>(method: &str, page: &'p str) -> &'p str {
    if method == "GET" {
        return page;
    }
    let path = page.split('?').next().unwrap_or(page);
    if path == "/admin/verifications/add" {
        return "/admin/users";
    }
    for action in ["/begin", "/recovery-codes", "/remove", "/reset-second-factor"] {
        if let Some(parent) = path.strip_suffix(action) {
            return parent;
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{account, panel};

    #[test]
    fn actions_are_routes() {
        let tables = [&panel::TABLES[..], &[account::TABLE]].concat();
        for (method, pattern) in ACTIONS {
            let is_route = |(path, methods): &(&str, &[&str])| path == pattern && methods.contains(method);
            assert!(tables.iter().any(|table| table.iter().any(is_route)), "{method} {pattern}");
        }
    }

    #[test]
    fn page_after_the_proof_can_be_opened() {
        assert_eq!(page_after("GET", "/admin/usage.csv?days=7"), "/admin/usage.csv?days=7");
        assert_eq!(page_after("POST", "/admin/users/1"), "/admin/users/1");
        assert_eq!(page_after("POST", "/admin/users/1/reset-second-factor"), "/admin/users/1");
        assert_eq!(page_after("POST", "/account/second-factor/remove"), "/account/second-factor");
        assert_eq!(page_after("POST", "/admin/verifications/add"), "/admin/users");
    }
}
