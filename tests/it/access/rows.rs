//! The rows of the access matrix: one per method and route, and more where the record's owner matters.

mod api;
mod panel;

use docent_domain::api_key::ApiKeyScope;
use docent_domain::permission::Permission::{self, *};

/// What a successful request requires.
#[derive(Clone, Copy, Debug)]
pub(super) enum Requires {
    /// Nothing: the route is public.
    Nothing,
    /// The token for `/metrics`.
    ScrapeToken,
    /// A token of LibreChat.
    LibreChat,
    /// An active account, by its access token or by an API key with this scope.
    Account(ApiKeyScope),
    /// The same, and that the account owns the record. For other accounts, superusers included, the record does not
    /// exist.
    Owner(ApiKeyScope),
    /// An active account, by its access token only.
    AccessToken,
    /// A request of the web chat.
    WebChat,
    /// An account with all of these permissions; an API key also needs the scope `admin`.
    Granted(&'static [Permission]),
    /// A panel session.
    Staff,
    /// A panel session of an account with all of these permissions.
    Panel(&'static [Permission]),
    /// A panel session of a superuser.
    Superuser,
    /// A browser session of an active account.
    SignedIn,
    /// The same, and that the account owns the record.
    SignedInOwner,
}

/// The owner of the record that the path names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecordOwner {
    /// Another account, which has no permissions.
    Other,
    /// The requesting account. Anonymous roles request another account's record.
    Own,
    /// Another account, which is a superuser.
    OtherSuperuser,
}

/// The body to send; forms of pages with a session also carry the form token.
#[derive(Clone, Copy, Debug)]
pub(super) enum Payload {
    Fields(&'static [(&'static str, &'static str)]),
    Json(&'static str),
    /// A multipart form with this many files.
    Files(usize),
}

/// What a successful request uses up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Consumes {
    Nothing,
    Record,
    /// The browser session of the request.
    Session,
    /// All sessions of the account.
    AllSessions,
}

/// One row of the matrix.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) method: &'static str,
    pub(super) path: &'static str,
    pub(super) requires: Requires,
    /// The status when the requirements are met.
    pub(super) success: u16,
    /// The statuses for authenticated roles that lack the first permission, or another one.
    pub(super) refusals: [u16; 2],
    pub(super) owner: RecordOwner,
    pub(super) payload: Payload,
    pub(super) consumes: Consumes,
}

impl Row {
    const fn owned_by(self, owner: RecordOwner) -> Self {
        Self { owner, ..self }
    }

    const fn with_payload(self, payload: Payload) -> Self {
        Self { payload, ..self }
    }

    const fn with_fields(self, fields: &'static [(&'static str, &'static str)]) -> Self {
        self.with_payload(Payload::Fields(fields))
    }

    const fn consuming(self, consumes: Consumes) -> Self {
        Self { consumes, ..self }
    }

    /// Whether the path belongs to the pages with a session.
    pub(super) fn has_form_token(&self) -> bool {
        let roots = ["/admin", "/account", "/oauth/authorize", "/auth/oidc/{provider}/confirm"];
        roots.iter().any(|root| self.path.starts_with(root))
    }

    /// Makes the status 404 when the first permission is missing, to hide that the record exists.
    const fn hidden(self) -> Self {
        Self { refusals: [404, self.refusals[1]], ..self }
    }
}

const fn row(method: &'static str, path: &'static str, requires: Requires, success: u16) -> Row {
    Row {
        method,
        path,
        requires,
        success,
        refusals: [403, 403],
        owner: RecordOwner::Other,
        payload: Payload::Fields(&[]),
        consumes: Consumes::Nothing,
    }
}

const fn get(path: &'static str, requires: Requires) -> Row {
    row("GET", path, requires, 200)
}

const fn post(path: &'static str, requires: Requires, success: u16) -> Row {
    row("POST", path, requires, success)
}

use ApiKeyScope::{Admin, Chat, Ingest, Read};
use Consumes::{AllSessions, Record, Session};
use Payload::{Files, Json};
use RecordOwner::{OtherSuperuser, Own};
use Requires::{
    AccessToken, Account, Granted, LibreChat, Nothing, Owner, Panel, ScrapeToken, SignedIn, SignedInOwner,
    Staff, Superuser, WebChat,
};

const NO_BODY: Payload = Json("{}");

/// Returns all rows. A success status of 400 or more means that the role is admitted and the request fails for another reason, such as an
/// incomplete body or the record's state. Such a request changes nothing, so the row can be requested again.
pub(super) fn rows() -> impl Iterator<Item = &'static Row> {
    api::ROWS.iter().chain(panel::ROWS)
}
