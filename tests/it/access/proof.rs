//! The column "session older than ten minutes" of the access matrix: operations that need a recent proof of
//! identity are refused, all other ones are allowed as before.

use super::records::snapshot;
use super::roles::{Expected, Role, SCRAPE_TOKEN};
use super::rows::{Consumes, Payload, Row, rows};
use super::{MARKER, Matrix};
use docent_app::settings::OpenCollectionsRule;
use docent_testkit::fakes::chat_model::Turn;
use docent_tests::librechat::SECRET;
use docent_tests::reply::Reply;
use docent_tests::rules;
use std::time::Duration;

const TEN_MINUTES: Duration = Duration::from_secs(10 * 60);

/// Roles that send a session: of the web chat to the API, and to the panel and the account pages. Two of them
/// send an access token too, which the API uses instead.
const ROLES: [&str; 6] = [
    "a plain user's web chat",
    "a superuser's web chat",
    "a superuser's session alone",
    "a superuser",
    "a plain user's session",
    "staff with exactly the required permissions",
];

/// Methods and paths that need a recent proof. Those that need it for some bodies only have a part of these
/// bodies.
const NEEDS_PROOF: &[(&str, &str, &str)] = &[
    ("GET", "/account/api-keys/add", ""),
    ("POST", "/account/identities/{provider}/connect", ""),
    ("POST", "/account/identities/{provider}/disconnect", ""),
    ("POST", "/account/api-keys/add", ""),
    // Shows the secret of an unfinished setup.
    ("GET", "/account/second-factor", ""),
    ("POST", "/account/second-factor/begin", ""),
    ("POST", "/account/second-factor/confirm", ""),
    ("POST", "/account/second-factor/recovery-codes", ""),
    ("POST", "/account/second-factor/remove", ""),
    ("POST", "/collections", "role_of_all"),
    ("PATCH", "/collections/{id}", "role_of_all"),
    ("DELETE", "/collections/{id}", ""),
    ("DELETE", "/v1/vector_stores/{vector_store_id}", ""),
    ("PUT", "/collections/{id}/members", ""),
    ("POST", "/webhooks", ""),
    ("PATCH", "/webhooks/{id}", "url"),
    ("PATCH", "/webhooks/{id}", "events"),
    ("POST", "/webhooks/{id}/secret", ""),
    ("GET", "/admin/answers.jsonl", ""),
    ("GET", "/admin/api-keys/add", ""),
    ("POST", "/admin/api-keys/add", ""),
    ("POST", "/admin/collections/add", "role_of_all"),
    ("POST", "/admin/collections/{id}", "role_of_all"),
    ("GET", "/admin/collections/{id}/delete", ""),
    ("POST", "/admin/collections/{id}/delete", ""),
    ("POST", "/admin/collections/{id}/members", ""),
    ("GET", "/admin/groups/add", ""),
    ("POST", "/admin/groups/add", ""),
    ("POST", "/admin/groups/{id}", ""),
    ("POST", "/admin/groups/{id}/members", ""),
    ("POST", "/admin/groups/{id}/members/manager", ""),
    ("POST", "/admin/groups/{id}/members/remove", ""),
    ("GET", "/admin/groups/{id}/delete", ""),
    ("POST", "/admin/groups/{id}/delete", ""),
    ("GET", "/admin/invitations/add", ""),
    ("POST", "/admin/invitations/add", ""),
    ("POST", "/admin/invitations/{id}/resend", ""),
    ("GET", "/admin/usage.csv", ""),
    ("GET", "/admin/users/add", ""),
    ("POST", "/admin/users/add", ""),
    ("POST", "/admin/users/{id}", ""),
    ("GET", "/admin/users/{id}/delete", ""),
    ("POST", "/admin/users/{id}/delete", ""),
    ("GET", "/admin/users/{id}/identities/disconnect", ""),
    ("POST", "/admin/users/{id}/identities/disconnect", ""),
    ("GET", "/admin/users/{id}/limits", ""),
    ("POST", "/admin/users/{id}/limits", ""),
    ("GET", "/admin/users/{id}/password", ""),
    ("POST", "/admin/users/{id}/password", ""),
    ("POST", "/admin/users/{id}/reset-second-factor", ""),
    ("POST", "/admin/verifications/add", ""),
];

fn is_sensitive(row: &Row) -> bool {
    let has = |part: &str| match row.payload {
        Payload::Json(body) => body.contains(part),
        Payload::Fields(fields) => fields.iter().any(|(name, _)| *name == part),
        Payload::Files(_) => false,
    };
    let is_row = |(method, path, part): &(&str, &str, &str)| {
        (*method, *path) == (row.method, row.path) && (part.is_empty() || has(part))
    };
    NEEDS_PROOF.iter().any(is_row)
}

/// Whether a reply asks for a proof: with a code for programs, or by the page that asks for it. A form is
/// sent there with its fields.
fn asks_for_proof(row: &Row, reply: &Reply) -> bool {
    let leads_to = |form: &str| reply.header("location").starts_with(form);
    match row.method {
        _ if row.path.starts_with("/v1/") => {
            reply.status == 403 && reply.json()["error"]["code"] == "proof_needed"
        }
        _ if !row.has_form_token() => reply.status == 403 && reply.json()["code"] == "proof_needed",
        "GET" => reply.status == 303 && leads_to("/account/confirm?next=%2F"),
        _ => reply.status == 307 && leads_to("/account/confirm?action=%2F"),
    }
}

impl Matrix {
    /// Requests a row in roles with old sessions. What needs a proof must change nothing.
    async fn try_with_old_sessions(&mut self, row: &Row, roles: &[Role]) {
        for role in roles {
            role.prepare(&self.app, &self.accounts, row).await;
        }
        let uses_session = |role: &Role| row.has_form_token() || role.web_chat(&self.accounts).is_some();
        let (asked, others): (Vec<_>, Vec<_>) =
            roles.iter().cloned().partition(|role| is_sensitive(row) && uses_session(role));
        let before = if asked.is_empty() { String::new() } else { snapshot(&self.app).await };
        for role in &asked {
            let reply = self.request(role, row).await;
            self.check_asked(role, row, &reply);
        }
        if !asked.is_empty() && snapshot(&self.app).await != before {
            self.violations.push(format!("{} {}: something changed without a proof", row.method, row.path));
        }
        for role in &others {
            if matches!(row.consumes, Consumes::Session | Consumes::AllSessions) {
                let Some(account) = role.account_mut(&mut self.accounts) else { continue };
                account.sign_in(&self.app).await;
                self.app.advance(TEN_MINUTES);
            }
            let reply = self.request(role, row).await;
            self.check(role, row, &reply);
            if row.consumes == Consumes::Record && role.expected(row) == Expected::Allowed {
                self.restore(role, row).await;
            }
        }
    }

    /// A role that may do it is asked for the proof. One that may not is refused as before, or asked first
    /// where that reveals nothing about the record.
    fn check_asked(&mut self, role: &Role, row: &Row, reply: &Reply) {
        let is_asked = asks_for_proof(row, reply);
        let is_expected = match role.expected(row) {
            Expected::Refused(status) => is_asked || reply.status == status,
            Expected::Unauthenticated => reply.header("location").contains("/login"),
            Expected::Allowed => is_asked,
        };
        if !is_expected || reply.text.contains(MARKER) {
            let case = format!("{} {} ({:?}) by {}", row.method, row.path, row.owner, role.name);
            self.violations.push(format!("{case}: {} {}", reply.status, reply.header("location")));
        }
    }
}

#[test]
fn routes_that_need_a_proof_have_rows() {
    for (method, path, part) in NEEDS_PROOF {
        let is_row = |row: &&Row| (row.method, row.path) == (*method, *path) && is_sensitive(row);
        assert!(rows().any(|row| is_row(&row)), "{method} {path} {part}");
    }
}

rules! {
    // Invariant: A session of a browser needs a recent proof of identity for sensitive operations, in the API
    // as on pages; nothing is changed without it.
    async fn sessions_older_than_ten_minutes_need_a_proof_for_sensitive_operations_only(setup) {
        let setup = setup.api_keys().metrics(Some(SCRAPE_TOKEN)).librechat(SECRET).always(Turn::saying("ok"));
        // Rows change the role of all accounts, which takes a permission otherwise.
        let setup = setup.settings(|settings| settings.open_collections = OpenCollectionsRule::Managers);
        let mut matrix = Matrix::new(setup.start().await).await;
        let roles: Vec<_> =
            matrix.roles.iter().filter(|role| ROLES.contains(&role.name.as_str())).cloned().collect();
        assert_eq!(roles.len(), ROLES.len());
        matrix.app.advance(TEN_MINUTES);
        // The use of a session is recorded once a minute; done here so that it does not count as a change
        // made by a row.
        let account = rows().find(|row| row.path == "/account").unwrap();
        for role in &roles {
            let _ = matrix.request(role, account).await.expect(200);
        }
        // Sessions end last, since new ones are not old.
        let ends_sessions = |row: &&Row| matches!(row.consumes, Consumes::Session | Consumes::AllSessions);
        let (last, first): (Vec<_>, Vec<_>) = rows().partition(ends_sessions);
        for row in first.into_iter().chain(last) {
            matrix.try_with_old_sessions(row, &roles).await;
        }
        matrix.app.leave_jobs();
        assert!(matrix.violations.is_empty(), "{} violations:\n{}", matrix.violations.len(), matrix.violations.join("\n"));
    }
}
