//! Actions that need a recent proof of identity, so that an unattended browser or a stolen cookie is not enough: keys,
//! rights, accounts, limits, links that replace passwords, second factors and exports.

use actix_web::HttpRequest;
use actix_web::http::Method;

/// Methods and patterns of their routes. `GET` includes `HEAD`.
const ACTIONS: &[(&str, &str)] = &[
    ("GET", "/account/api-keys/add"),
    ("POST", "/account/api-keys/add"),
    // Shows the secret of an unfinished setup.
    ("GET", "/account/second-factor"),
    ("POST", "/account/second-factor/begin"),
    ("POST", "/account/second-factor/confirm"),
    ("POST", "/account/second-factor/recovery-codes"),
    ("POST", "/account/second-factor/remove"),
    ("GET", "/admin/answers.jsonl"),
    ("GET", "/admin/api-keys/add"),
    ("POST", "/admin/api-keys/add"),
    // Roles decide who reads documents.
    ("POST", "/admin/collections/{id}"),
    ("GET", "/admin/collections/{id}/delete"),
    ("POST", "/admin/collections/{id}/delete"),
    ("POST", "/admin/collections/{id}/members"),
    ("GET", "/admin/groups/add"),
    ("POST", "/admin/groups/add"),
    ("POST", "/admin/groups/{id}"),
    ("GET", "/admin/groups/{id}/delete"),
    ("POST", "/admin/groups/{id}/delete"),
    ("GET", "/admin/usage.csv"),
    ("GET", "/admin/users/add"),
    ("POST", "/admin/users/add"),
    ("POST", "/admin/users/{id}"),
    ("GET", "/admin/users/{id}/delete"),
    ("POST", "/admin/users/{id}/delete"),
    ("GET", "/admin/users/{id}/limits"),
    ("POST", "/admin/users/{id}/limits"),
    ("GET", "/admin/users/{id}/password"),
    ("POST", "/admin/users/{id}/password"),
    ("POST", "/admin/users/{id}/reset-second-factor"),
    ("POST", "/admin/verifications/add"),
];

/// Whether a request is such an action.
pub(super) fn is_needed(request: &HttpRequest) -> bool {
    let pattern = request.match_pattern().unwrap_or_default();
    ACTIONS.contains(&(method(request), pattern.as_str()))
}

/// Page to open after the proof.
pub(super) fn next<'p>(request: &HttpRequest, page: &'p str) -> &'p str {
    page_after(method(request), page)
}

/// Method of the route: `GET` also answers `HEAD`.
fn method(request: &HttpRequest) -> &str {
    if request.method() == Method::HEAD { "GET" } else { request.method().as_str() }
}

/// The requested page, or the page with the button of an action that has no page.
fn page_after<'p>(method: &str, page: &'p str) -> &'p str {
    if method == "GET" {
        return page;
    }
    let path = page.split('?').next().unwrap_or(page);
    if path == "/admin/verifications/add" {
        return "/admin/users";
    }
    for action in ["/begin", "/confirm", "/members", "/recovery-codes", "/remove", "/reset-second-factor"] {
        if let Some(parent) = path.strip_suffix(action) {
            return parent;
        }
    }
    path
}

/// Files that pages offer as downloads, with the pages. A browser stays on its page while it downloads a file.
const DOWNLOADS: [(&str, &str); 2] =
    [("/admin/answers.jsonl", "/admin/answers"), ("/admin/usage.csv", "/admin/usage")];
/// Maximum length of the path of a download that is remembered for the next page, in a cookie.
const DOWNLOAD_MAX: usize = 1000;

/// The page of a download, with its filters, or `None` for paths of other pages.
pub(super) fn page_of_download(path: &str) -> Option<String> {
    let (file, query) = path.split_at(path.find('?').unwrap_or(path.len()));
    let (_, page) = DOWNLOADS.into_iter().find(|(download, _)| *download == file)?;
    (path.len() <= DOWNLOAD_MAX).then(|| format!("{page}{query}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Routes that change something without a recent proof, and why.
    const HARMLESS: &[(&str, &[&str])] = &[
        (
            "signing in and out, and the proof itself",
            &[
                "/account/confirm",
                "/account/login",
                "/account/login/code",
                "/account/logout",
                "/admin/login",
                "/admin/login/code",
                "/admin/logout",
                "/chat/session",
            ],
        ),
        (
            "ask for the current password themselves",
            &["/account/delete", "/account/email", "/account/password"],
        ),
        ("chooses a language", &["/account/language"]),
        ("send a link to the owner of an account", &["/account/forgot-password"]),
        (
            "need the token of a link instead of a session",
            &["/account/confirm-email", "/account/reset-password", "/account/verify-email"],
        ),
        (
            "only end access, which must be quick after a theft",
            &[
                "/account/api-keys/{id}/revoke",
                "/account/sessions/end-others",
                "/account/sessions/{id}/revoke",
                "/admin/api-keys/{id}/revoke",
                "/admin/collections/{id}/members/remove",
                "/admin/sessions/{id}/revoke",
                "/admin/users/{id}/end-sessions",
                "/admin/verifications/{id}/revoke",
            ],
        ),
        ("create a collection without documents and members", &["/admin/collections/add"]),
        (
            "change neither rights nor credentials nor accounts",
            &[
                "/admin/conversations/{id}/delete",
                "/admin/documents/bulk",
                "/admin/documents/upload",
                "/admin/documents/{id}/attributes",
                "/admin/documents/{id}/delete",
                "/admin/documents/{id}/retry",
                "/admin/model",
                "/admin/service",
                "/admin/webhooks/{id}/delete",
                "/admin/webhooks/{id}/replay",
                "/admin/webhooks/{id}/switch",
            ],
        ),
    ];

    fn routes() -> Vec<(&'static str, &'static str)> {
        let rows = crate::TABLES.iter().copied().flatten();
        rows.flat_map(|(path, methods)| methods.iter().map(|method| (*method, *path))).collect()
    }

    #[test]
    fn actions_are_routes() {
        let routes = routes();
        for action in ACTIONS {
            assert!(routes.contains(action), "{action:?}");
        }
        for (file, page) in DOWNLOADS {
            assert!(ACTIONS.contains(&("GET", file)) && routes.contains(&("GET", page)), "{file}");
        }
    }

    #[test]
    fn every_change_needs_a_proof_or_is_listed_as_harmless() {
        let harmless = || HARMLESS.iter().flat_map(|(_, paths)| paths.iter().copied());
        let changes: Vec<_> = routes().into_iter().filter(|(method, _)| *method != "GET").collect();
        for change in &changes {
            let is_harmless = harmless().any(|path| change.1 == path);
            assert!(
                ACTIONS.contains(change) != is_harmless,
                "{change:?} must be in exactly one of the lists"
            );
        }
        for path in harmless() {
            assert!(changes.iter().any(|change| change.1 == path), "{path} is not a route");
        }
    }

    #[test]
    fn downloads_belong_to_a_page_with_the_same_filters() {
        assert_eq!(page_of_download("/admin/usage.csv?by=user").as_deref(), Some("/admin/usage?by=user"));
        assert_eq!(page_of_download("/admin/answers.jsonl").as_deref(), Some("/admin/answers"));
        assert_eq!(page_of_download("/admin/users/add"), None);
        assert_eq!(page_of_download(&format!("/admin/usage.csv?user={}", "x".repeat(1000))), None);
    }

    #[test]
    fn page_after_the_proof_can_be_opened() {
        assert_eq!(page_after("GET", "/admin/usage.csv?days=7"), "/admin/usage.csv?days=7");
        assert_eq!(page_after("POST", "/admin/users/1"), "/admin/users/1");
        assert_eq!(page_after("POST", "/admin/users/1/reset-second-factor"), "/admin/users/1");
        assert_eq!(page_after("POST", "/account/second-factor/remove"), "/account/second-factor");
        assert_eq!(page_after("POST", "/account/second-factor/confirm"), "/account/second-factor");
        assert_eq!(page_after("POST", "/admin/groups/1/delete"), "/admin/groups/1/delete");
        assert_eq!(page_after("POST", "/admin/verifications/add"), "/admin/users");
        assert_eq!(page_after("POST", "/admin/collections/1/members"), "/admin/collections/1");
    }
}
