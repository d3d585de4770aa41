//! The combined URL tables of the API and of the pages.

use docent_http::table::Table;

/// All tables.
pub(crate) fn tables() -> Vec<Table> {
    [docent_api::TABLE].into_iter().chain(docent_web::TABLES).collect()
}

/// All paths of the service with their methods, including `/metrics`, which exists only if metrics are enabled.
pub fn all() -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
    tables().into_iter().flatten().copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use docent_http::table::pattern_of;

    #[test]
    fn path_matches_its_pattern() {
        for (path, pattern) in [
            ("/", Some("/")),
            ("/documents/", Some("/documents")),
            ("/documents/upload", Some("/documents/upload")),
            ("/documents/17", Some("/documents/{doc_id}")),
            ("/agents/chat", Some("/agents/{name}")),
            ("/admin", Some("/admin")),
            ("/admin/users/add", Some("/admin/users/add")),
            ("/admin/users/17/", Some("/admin/users/{id}")),
            ("/documents/17/nothing", None),
            ("/secret", None),
        ] {
            assert_eq!(pattern_of(&tables(), path), pattern, "{path}");
        }
    }

    #[test]
    fn paths_outside_the_api_are_pages() {
        for (path, _) in docent_web::TABLES.into_iter().flatten() {
            let is_page = ["/admin", "/account", "/auth/oidc", "/chat", "/oauth/authorize"]
                .iter()
                .any(|root| path.starts_with(root));
            assert!(is_page, "{path}");
        }
    }
}
