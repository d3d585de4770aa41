//! Every route times every role: who is answered, who is refused, and that a refusal tells and changes nothing.

mod roles;
mod rows;
mod world;

use docent_testkit::fakes::chat_model::Turn;
use docent_tests::{app::TestApp, member::form, pdf::pdf, reply::Reply, rules};
use futures::StreamExt as _;
use reqwest::multipart::Form;
use roles::{People, Role, SCRAPE_TOKEN, Verdict};
use rows::{ROWS, Row, Sent, Spends, Takes, Whose};
use std::collections::BTreeSet;
use world::{MARK, Records, snapshot};

/// Everything that a row is asked with.
struct Matrix {
    app: TestApp,
    people: People,
    roles: Vec<Role>,
    records: Records,
    /// How many records there have been.
    count: usize,
    /// What was not as it is to be.
    wrong: Vec<String>,
}

impl Matrix {
    async fn new(app: TestApp) -> Self {
        let people = People::new(&app).await;
        let roles = Role::all(&app, &people).await;
        let records = Records::new(&app, 0).await;
        let matrix = Self { app, people, roles, records, count: 0, wrong: Vec::new() };
        // The first use of a key is written down; that is no change that a row makes.
        let documents = ROWS.iter().find(|row| row.path == "/documents").unwrap();
        for role in &matrix.roles {
            let _ = matrix.ask(role, documents).await;
        }
        matrix
    }

    /// Asks those who are to be refused first: together they change nothing.
    async fn try_row(&mut self, row: &Row) {
        let (may, may_not): (Vec<_>, Vec<_>) =
            self.roles.clone().into_iter().partition(|role| role.verdict(row) == Verdict::Answered);
        assert_eq!(
            may.is_empty(),
            matches!(row.takes, Takes::Owner(_)) && row.whose != Whose::Own,
            "{row:?}"
        );
        let before = if row.method == "GET" { String::new() } else { snapshot(&self.app).await };
        for role in &self.roles {
            role.prepare(&self.app, &self.people, row).await;
        }
        self.ask_all(&may_not, row).await;
        if row.method != "GET" && snapshot(&self.app).await != before {
            self.wrong
                .push(format!("{} {} ({:?}): a refusal changed something", row.method, row.path, row.whose));
        }
        if row.spends == Spends::Nothing {
            return self.ask_all(&may, row).await;
        }
        for role in &may {
            let reply = self.ask(role, row).await;
            self.check(role, row, &reply);
            self.restore(role, row).await;
        }
    }

    /// Several at once, for the sake of time.
    async fn ask_all(&mut self, roles: &[Role], row: &Row) {
        let asking = futures::stream::iter(roles).map(|role| self.ask(role, row)).buffered(8);
        let replies: Vec<_> = asking.collect().await;
        for (role, reply) in roles.iter().zip(&replies) {
            self.check(role, row, reply);
        }
    }

    async fn ask(&self, role: &Role, row: &Row) -> Reply {
        let path = self.records.path(row, role.person(&self.people));
        let mut request = self.app.request(row.method.parse().unwrap(), &path);
        if let Some(bearer) = role.bearer(&self.people) {
            request = request.bearer_auth(bearer);
        }
        let session = role.session(&self.people);
        if let Some((cookie, _)) = session {
            request = request.header("Cookie", cookie);
        }
        let form_token = session.map_or("x", |(_, token)| token);
        let request = match row.sent {
            Sent::Fields([]) if !row.path.starts_with("/admin") => request,
            Sent::Json(body) => {
                request.header("Content-Type", "application/json").body(self.records.body(body))
            }
            Sent::Files(0) => request.multipart(Form::new().text("form_token", form_token.to_owned())),
            Sent::Files(_) if row.path.starts_with("/admin") => {
                let form = Form::new().text("form_token", form_token.to_owned());
                let file = reqwest::multipart::Part::bytes(pdf(&["words"])).file_name("new.pdf");
                request.multipart(form.part("file", file.mime_str("application/pdf").unwrap()))
            }
            Sent::Files(_) => request.multipart(form("new.pdf", "application/pdf", pdf(&["words"]))),
            Sent::Fields(fields) => {
                let fields = fields.iter().map(|(name, value)| (*name, self.records.value(value)));
                let fields = [("form_token", form_token.to_owned())].into_iter().chain(fields);
                let pairs: Vec<_> = fields.map(|(name, value)| format!("{name}={value}")).collect();
                request.header("Content-Type", "application/x-www-form-urlencoded").body(pairs.join("&"))
            }
        };
        self.app.send(request).await
    }

    fn check(&mut self, role: &Role, row: &Row, reply: &Reply) {
        let (verdict, location) = (role.verdict(row), reply.header("location"));
        let is_sent_to_login = reply.status == 303 && location.starts_with("/admin/login");
        let is_right = match verdict {
            Verdict::Answered if row.spends == Spends::Session => is_sent_to_login,
            Verdict::Answered => reply.status == row.good && !is_sent_to_login,
            Verdict::Unknown if row.path.starts_with("/admin") => is_sent_to_login,
            Verdict::Unknown => reply.status == 401 && reply.header("www-authenticate") == "Bearer",
            Verdict::Refused(status) => reply.status == status,
        };
        let tells = reply.status != 200 && (reply.text.contains(MARK) || location.contains(MARK));
        let case = format!("{} {} ({:?}) by {}", row.method, row.path, row.whose, role.name);
        if !is_right {
            let good = if verdict == Verdict::Answered { row.good.to_string() } else { String::new() };
            self.wrong.push(format!("{case}: {} {location}, not {verdict:?} {good}", reply.status));
        }
        if verdict != Verdict::Answered && tells {
            self.wrong.push(format!("{case}: the refusal tells what it is about"));
        }
    }

    /// Makes anew what the answer has spent.
    async fn restore(&mut self, role: &Role, row: &Row) {
        let person = role.person_mut(&mut self.people);
        match row.spends {
            Spends::Nothing => {}
            Spends::Record if row.whose == Whose::Own => person.unwrap().renew(&self.app, row).await,
            Spends::Record => {
                self.count += 1;
                self.records = Records::new(&self.app, self.count).await;
            }
            Spends::Session => {
                let person = person.unwrap();
                let request =
                    self.app.request(reqwest::Method::GET, "/admin").header("Cookie", &person.cookie);
                let _ = self.app.send(request).await.expect(303);
                person.enter(&self.app).await;
            }
        }
    }
}

#[test]
fn every_route_has_a_row_and_every_row_a_route() {
    let routes: BTreeSet<_> = docent_server::routes::all()
        .flat_map(|(path, methods)| methods.iter().map(move |method| (path, *method)))
        .collect();
    let rows: BTreeSet<_> = ROWS.iter().map(|row| (row.path, row.method)).collect();
    let missing: Vec<_> = routes.difference(&rows).collect();
    assert!(missing.is_empty(), "say in rows.rs who may do this: {missing:?}");
    let gone: Vec<_> = rows.difference(&routes).collect();
    assert!(gone.is_empty(), "there is no such route: {gone:?}");
}

rules! {
    async fn every_route_answers_whom_it_is_for_and_nobody_else(setup) {
        let setup = setup.api_keys().metrics(Some(SCRAPE_TOKEN)).always(Turn::saying("ok"));
        let mut matrix = Matrix::new(setup.start().await).await;
        for row in ROWS {
            matrix.try_row(row).await;
        }
        matrix.app.leave_jobs();
        assert!(matrix.wrong.is_empty(), "{} wrong:\n{}", matrix.wrong.len(), matrix.wrong.join("\n"));
    }
}
