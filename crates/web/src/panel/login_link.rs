//! Links to the sign-in page, and the page to open after signing in.

use super::nav::ROOT;
use docent_http::extract::query::encode_query;

/// URL of the sign-in page that continues to `page`.
pub(super) fn address(page: &str) -> String {
    let next = Some(panel_page(page)).filter(|page| *page != ROOT);
    let query = encode_query(&[("next", next)]);
    if query.is_empty() { format!("{ROOT}/login") } else { format!("{ROOT}/login?{query}") }
}

/// Page to open after signing in: always a page of the panel, never a foreign URL.
pub(super) fn panel_page(page: &str) -> &str {
    let rest = page.strip_prefix(ROOT).filter(|rest| rest.is_empty() || rest.starts_with(['/', '?']));
    let is_plain = page.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    if rest.is_some() && is_plain && !page.starts_with("/admin/log") { page } else { ROOT }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pages_of_the_panel_are_opened_after_sign_in() {
        for inside in ["/admin", "/admin/documents?status=failed", "/admin/documents/1"] {
            assert_eq!(panel_page(inside), inside);
        }
        for outside in
            ["", "/", "//evil.example", "https://evil.example", "/adminx", "/admin/login", "/admin/\\x"]
        {
            assert_eq!(panel_page(outside), ROOT, "{outside:?}");
        }
        assert_eq!(address("/admin"), "/admin/login");
        assert_eq!(address("/admin/documents?q=a"), "/admin/login?next=%2Fadmin%2Fdocuments%3Fq%3Da");
    }
}
