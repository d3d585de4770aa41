//! The access matrix: requests every route in every role, and checks that refusals reveal and change nothing.

mod collections;
mod proof;
mod records;
mod roles;
mod rows;
mod staff;

use docent_app::settings::OpenCollectionsRule;
use docent_testkit::fakes::chat_model::Turn;
use docent_tests::app::TestApp;
use docent_tests::librechat::SECRET;
use docent_tests::member::form;
use docent_tests::pdf::pdf;
use docent_tests::reply::Reply;
use docent_tests::rules;
use futures::StreamExt as _;
use records::{MARKER, Records, snapshot};
use reqwest::multipart::Form;
use roles::{Accounts, Expected, Role, SCRAPE_TOKEN};
use rows::{Consumes, Payload, RecordOwner, Requires, Row, rows};
use std::collections::BTreeSet;

/// The service, the roles and the records that rows are tried with.
struct Matrix {
    app: TestApp,
    accounts: Accounts,
    roles: Vec<Role>,
    records: Records,
    /// How often the records have been created.
    count: usize,
    /// Violations found so far.
    violations: Vec<String>,
}

impl Matrix {
    async fn new(app: TestApp) -> Self {
        let accounts = Accounts::new(&app).await;
        let roles = Role::all(&app, &accounts).await;
        let records = Records::new(&app, 0).await;
        let matrix = Self { app, accounts, roles, records, count: 0, violations: Vec::new() };
        // The first use of a key is recorded; done here so that it does not count as a change made by a row.
        let documents = rows().find(|row| row.path == "/documents").unwrap();
        for role in &matrix.roles {
            let _ = matrix.request(role, documents).await;
        }
        matrix
    }

    /// Requests a row in every role: first in the roles to be refused, which together must change nothing.
    async fn try_row(&mut self, row: &Row) {
        let (admitted, refused): (Vec<_>, Vec<_>) =
            self.roles.clone().into_iter().partition(|role| role.expected(row) == Expected::Allowed);
        assert_eq!(
            admitted.is_empty(),
            matches!(row.requires, Requires::Owner(_) | Requires::SignedInOwner)
                && row.owner != RecordOwner::Own,
            "{row:?}"
        );
        let before = if row.method == "GET" { String::new() } else { snapshot(&self.app).await };
        for role in &self.roles {
            role.prepare(&self.app, &self.accounts, row).await;
        }
        self.request_concurrently(&refused, row).await;
        if row.method != "GET" && snapshot(&self.app).await != before {
            self.violations
                .push(format!("{} {} ({:?}): a refusal changed something", row.method, row.path, row.owner));
        }
        if row.consumes == Consumes::Nothing {
            return self.request_concurrently(&admitted, row).await;
        }
        for role in &admitted {
            let reply = self.request(role, row).await;
            self.check(role, row, &reply);
            self.restore(role, row).await;
        }
    }

    /// Requests a row in several roles concurrently, which saves time.
    async fn request_concurrently(&mut self, roles: &[Role], row: &Row) {
        let requests = futures::stream::iter(roles).map(|role| self.request(role, row)).buffered(8);
        let replies: Vec<_> = requests.collect().await;
        for (role, reply) in roles.iter().zip(&replies) {
            self.check(role, row, reply);
        }
    }

    async fn request(&self, role: &Role, row: &Row) -> Reply {
        let path = self.records.path(row, role.account(&self.accounts));
        let mut request = self.app.request(row.method.parse().unwrap(), &path);
        if let Some(bearer) = role.bearer(&self.accounts) {
            request = request.bearer_auth(bearer);
        }
        if let Some(account) = role.web_chat(&self.accounts) {
            request = request.header("X-Docent-Account", account);
        }
        let session = role.session(&self.accounts);
        if let Some((cookie, _)) = session {
            request = request.header("Cookie", cookie);
        }
        let form_token = session.map_or("x", |(_, token)| token);
        let request = match row.payload {
            Payload::Fields([]) if !row.has_form_token() => request,
            Payload::Json(body) => {
                request.header("Content-Type", "application/json").body(self.records.body(body))
            }
            Payload::Files(0) => request.multipart(Form::new().text("form_token", form_token.to_owned())),
            Payload::Files(_) if row.path.starts_with("/admin") => {
                let form = Form::new().text("form_token", form_token.to_owned());
                let file = reqwest::multipart::Part::bytes(pdf(&["words"])).file_name("new.pdf");
                request.multipart(form.part("file", file.mime_str("application/pdf").unwrap()))
            }
            Payload::Files(_) => request.multipart(form("new.pdf", "application/pdf", pdf(&["words"]))),
            Payload::Fields(fields) => {
                let caller = role.account(&self.accounts);
                let fields = fields.iter().map(|(name, value)| (*name, self.records.value(value, caller)));
                let fields = [("form_token", form_token.to_owned())].into_iter().chain(fields);
                let pairs: Vec<_> = fields.map(|(name, value)| format!("{name}={value}")).collect();
                request.header("Content-Type", "application/x-www-form-urlencoded").body(pairs.join("&"))
            }
        };
        self.app.send(request).await
    }

    fn check(&mut self, role: &Role, row: &Row, reply: &Reply) {
        let (expected, location) = (role.expected(row), reply.header("location"));
        let roots = ["/account", "/oauth/authorize", "/auth/oidc"];
        let is_of_account = roots.iter().any(|root| row.path.starts_with(root));
        let login = if is_of_account { "/account/login" } else { "/admin/login" };
        let redirects_to_login = reply.status == 303 && location.starts_with(login);
        let is_expected = match expected {
            Expected::Allowed if row.consumes == Consumes::Session && row.has_form_token() => {
                redirects_to_login
            }
            // A step of the login leads to its first one.
            Expected::Allowed if matches!(row.requires, Requires::Nothing) => reply.status == row.success,
            Expected::Allowed => reply.status == row.success && !redirects_to_login,
            Expected::Unauthenticated if row.has_form_token() => redirects_to_login,
            Expected::Unauthenticated => {
                reply.status == 401 && reply.header("www-authenticate").starts_with("Bearer")
            }
            Expected::Refused(status) => reply.status == status,
        };
        let reveals = reply.status != 200 && (reply.text.contains(MARKER) || location.contains(MARKER));
        let case = format!("{} {} ({:?}) by {}", row.method, row.path, row.owner, role.name);
        if !is_expected {
            let success = if expected == Expected::Allowed { row.success.to_string() } else { String::new() };
            self.violations.push(format!("{case}: {} {location}, not {expected:?} {success}", reply.status));
        }
        if expected != Expected::Allowed && reveals {
            self.violations.push(format!("{case}: the refusal reveals the record"));
        }
    }

    /// Creates again what a successful request used up.
    async fn restore(&mut self, role: &Role, row: &Row) {
        let account = role.account_mut(&mut self.accounts);
        match row.consumes {
            Consumes::Nothing => {}
            Consumes::Record if row.owner == RecordOwner::Own => {
                account.unwrap().replace_own(&self.app, row).await
            }
            Consumes::Record => {
                self.count += 1;
                self.records = Records::new(&self.app, self.count).await;
            }
            Consumes::Session => {
                let account = account.unwrap();
                let request =
                    self.app.request(reqwest::Method::GET, "/admin").header("Cookie", &account.cookie);
                let _ = self.app.send(request).await.expect(303);
                account.sign_in(&self.app).await;
            }
            Consumes::AllSessions => account.unwrap().replace_sessions(&self.app).await,
        }
    }
}

// Invariant: Every route admits only its roles; a refusal reveals and changes nothing.
#[test]
fn rows_cover_exactly_the_routes() {
    let routes: BTreeSet<_> = docent_server::routes::all()
        .flat_map(|(path, methods)| methods.iter().map(move |method| (path, *method)))
        .collect();
    let rows: BTreeSet<_> = rows().map(|row| (row.path, row.method)).collect();
    let missing: Vec<_> = routes.difference(&rows).collect();
    assert!(missing.is_empty(), "say in rows.rs caller admitted do this: {missing:?}");
    let gone: Vec<_> = rows.difference(&routes).collect();
    assert!(gone.is_empty(), "rows without a route: {gone:?}");
}

rules! {
    // Invariant: Every route admits only its roles; a refusal reveals and changes nothing.
    async fn every_route_admits_only_its_roles(setup) {
        let setup = setup.api_keys().metrics(Some(SCRAPE_TOKEN)).librechat(SECRET).always(Turn::saying("ok"));
        // Rows change the role of all accounts, which takes a permission otherwise.
        let setup = setup.settings(|settings| settings.open_collections = OpenCollectionsRule::Managers);
        let mut matrix = Matrix::new(setup.start().await).await;
        for row in rows() {
            matrix.try_row(row).await;
        }
        matrix.app.leave_jobs();
        assert!(matrix.violations.is_empty(), "{} violations:\n{}", matrix.violations.len(), matrix.violations.join("\n"));
    }
}
