//! The two areas that need a session, and links to their sign-in pages.

use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpRequest};
use docent_http::extract::query::encode_query;
use std::convert::Infallible;
use std::future::{Ready, ready};

/// The page that asks an account whether an application gets access. It belongs to the account pages.
pub(crate) const AUTHORIZE: &str = "/oauth/authorize";

/// Pages with a common root and sign-in page. As an extractor, the area of the requested path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Area {
    /// The panel, for staff.
    Panel,
    /// The account pages, for every active account.
    Account,
}

impl Area {
    /// Root path.
    pub(crate) const fn root(self) -> &'static str {
        match self {
            Self::Panel => "/admin",
            Self::Account => "/account",
        }
    }

    /// Whether a path, with or without a query, is in the area. The web chat belongs to the account pages, at which it
    /// signs in.
    fn contains(self, path: &str) -> bool {
        let is_below = |root: &str| {
            path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?', '#']))
        };
        is_below(self.root()) || (self == Self::Account && (is_below("/chat") || is_below(AUTHORIZE)))
    }

    /// Area of a path. Paths outside of both belong to the panel.
    pub(crate) fn of(path: &str) -> Self {
        // Proofs of identity at a provider return to pages of the account.
        let is_account = Self::Account.contains(path) || path.starts_with("/auth/oidc/");
        if is_account { Self::Account } else { Self::Panel }
    }

    /// Path of the sign-in page.
    pub(crate) fn login(self) -> String {
        format!("{}/login", self.root())
    }

    /// Page to open after an action or after signing in: always a page of the area, never a foreign URL.
    pub(crate) fn page(self, page: &str) -> &str {
        let is_plain = page.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
        let is_login = page.strip_prefix(self.root()).is_some_and(|rest| rest.starts_with("/log"));
        if self.contains(page) && is_plain && !is_login { page } else { self.root() }
    }
}

/// URL of the sign-in page that continues to `page`.
pub(crate) fn login_link(page: &str) -> String {
    let area = Area::of(page);
    let next = Some(area.page(page)).filter(|page| *page != area.root());
    let query = encode_query(&[("next", next)]);
    if query.is_empty() { area.login() } else { format!("{}?{query}", area.login()) }
}

impl FromRequest for Area {
    type Error = Infallible;
    type Future = Ready<Result<Self, Infallible>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(Ok(Self::of(request.path())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pages_of_the_area_are_opened_after_sign_in() {
        for inside in ["/admin", "/admin/documents?status=failed", "/admin/documents/1"] {
            assert_eq!(Area::Panel.page(inside), inside);
            assert_eq!(Area::Account.page(inside), "/account");
        }
        let authorize = "/oauth/authorize?client_id=https%3A%2F%2Fa.example";
        for inside in ["/account/sessions", "/chat", "/chat?conversation=1", authorize] {
            assert_eq!(Area::Account.page(inside), inside);
            assert_eq!(Area::of(inside), Area::Account);
        }
        assert_eq!(Area::Account.page("/oauth/token"), "/account");
        assert_eq!(Area::of("/chatter"), Area::Panel);
        let proof = "/auth/oidc/sso/confirm";
        assert_eq!((Area::of(proof), Area::Account.page(proof)), (Area::Account, "/account"));
        for outside in
            ["", "/", "//evil.example", "https://evil.example", "/adminx", "/admin/login", "/admin/\\x"]
        {
            assert_eq!(Area::Panel.page(outside), "/admin", "{outside:?}");
        }
        assert_eq!(login_link("/admin"), "/admin/login");
        assert_eq!(login_link("/admin/documents?q=a"), "/admin/login?next=%2Fadmin%2Fdocuments%3Fq%3Da");
        assert_eq!(login_link("/account"), "/account/login");
        assert_eq!(login_link("/account/sessions"), "/account/login?next=%2Faccount%2Fsessions");
    }
}
