//! `docent dev`: runs the service with everything built in; the first run demonstrates it with a sample document.

mod sample;

use super::config::load;
use super::migrate::open_store;
use super::service::{Service, bind};
use crate::invocation::{command, local_address, server_option};
use crate::telemetry;
use crate::wire;
use anyhow::Context;
use docent::cli::DevArgs;
use docent::config::{Profile, Settings};
use docent_app::App;
use docent_app::accounts::create::Flags;
use docent_app::accounts::{self};
use docent_app::audit::Initiator;
use docent_domain::text::Email;
use docent_domain::user::{Password, User};
use std::io::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

const ADMIN: &str = "admin@localhost";
const WRITING: &str = "writing to the data directory";

/// Creates what is missing and serves; the first run ingests the sample guide and asks about it.
pub(crate) async fn run(args: DevArgs) -> anyhow::Result<()> {
    let settings = load(Profile::Dev)?;
    let telemetry = telemetry::start(&settings.telemetry)?;
    let result = serve(&args, &settings).await;
    telemetry.stop().await;
    result
}

async fn serve(args: &DevArgs, settings: &Settings) -> anyhow::Result<()> {
    let store = open_store(settings).await?;
    store.migrate().await?;
    let assembly = wire::app(Profile::Dev, settings, store.clone())?;
    // Binds before the first run creates the admin account: its password is shown only once.
    let (server, address) = bind(settings, &assembly)?;
    let service = Service::start(settings, &assembly, store, Some(server), true).await?;
    let first = FirstRun::detect(&assembly.app, &settings.service.data_dir).await?;
    let version = env!("CARGO_PKG_VERSION");
    let Some(first) = first else {
        print(format_args!("Docent {version} is listening on http://{}   (Ctrl-C to stop)", address));
        return service.until_stopped().await;
    };
    assembly.recognizer.check().await?;
    print(format_args!("Docent {version}, first start: created {}", settings.service.data_dir.display()));
    let (admin, password) = first.show_admin(&assembly.app).await?;
    if !args.no_sample {
        sample::show(&assembly.app, &admin, settings.models.llm_base_url.is_some()).await;
    }
    first.finish()?;
    print(format_args!("\nListening on http://{}   (Ctrl-C to stop)", address));
    print_next_steps(address, password.as_deref().unwrap_or("YOUR PASSWORD"));
    service.until_stopped().await
}

/// Prints a line. Returns whether it was written: a closed standard output does not stop the service.
fn print(line: std::fmt::Arguments<'_>) -> bool {
    writeln!(std::io::stdout(), "{line}").is_ok()
}

/// The marker of a first run whose password has been shown.
const PASSWORD_SHOWN: &str =
    "The first run has not finished yet. The password of the admin account has been shown.\n";

/// The first run. A marker file exists until it has finished, so that an interrupted one is repeated.
struct FirstRun {
    marker: PathBuf,
    has_shown_password: bool,
}

impl FirstRun {
    /// Returns the first run if this is one.
    async fn detect(app: &App, data_dir: &Path) -> anyhow::Result<Option<Self>> {
        let marker = data_dir.join("first-run");
        let is_new = !accounts::any_exist(app).await?;
        if is_new {
            std::fs::write(&marker, "The first run has not finished yet.\n").context(WRITING)?;
        }
        let is_first = is_new || marker.exists();
        let has_shown_password = std::fs::read_to_string(&marker).is_ok_and(|text| text == PASSWORD_SHOWN);
        Ok(is_first.then_some(Self { marker, has_shown_password }))
    }

    /// Creates the admin account and prints its password, which is also returned. The account of an
    /// interrupted first run keeps its password if that was shown, and gets a new one otherwise.
    async fn show_admin(&self, app: &App) -> anyhow::Result<(User, Option<String>)> {
        let (email, password) = (Email::parse(ADMIN)?, random_password(app));
        let chosen = Password::parse_new(password.clone())?;
        let by = Initiator::command_line();
        let admin = match accounts::find_by_email(app, &email).await? {
            Some(admin) if self.has_shown_password => {
                let change = command(&format!("changepassword --dev {ADMIN}"));
                print(format_args!(
                    "  admin account   {ADMIN}   password  as shown before (`{change}` sets another)"
                ));
                return Ok((admin, None));
            }
            Some(admin) => app.account_service().set_password(&by, admin.id, chosen).await?,
            None => {
                let flags = Flags { is_staff: true, is_superuser: true };
                app.account_service().create(&by, email, chosen, flags).await?
            }
        };
        if print(format_args!("  admin account   {ADMIN}   password  {password}   (shown once)")) {
            std::fs::write(&self.marker, PASSWORD_SHOWN).context(WRITING)?;
        }
        Ok((admin, Some(password)))
    }

    fn finish(self) -> anyhow::Result<()> {
        std::fs::remove_file(self.marker).context("removing the marker of the first run")
    }
}

/// Generates four groups of four unambiguous characters: 92 bits.
fn random_password(app: &App) -> String {
    const LETTERS: &[u8; 54] = b"ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456";
    let mut password = String::new();
    while password.len() < 19 {
        let [byte] = app.random();
        // 216 is a multiple of 54, so that all letters are equally likely.
        if byte < 216 {
            if password.len() % 5 == 4 {
                password.push('-');
            }
            password.push(char::from(LETTERS[usize::from(byte) % LETTERS.len()]));
        }
    }
    password
}

fn print_next_steps(address: SocketAddr, password: &str) {
    let (server, address) = (server_option(address), local_address(address));
    let (login, ingest, ask) = (
        command(&format!("login{server} {ADMIN}")),
        command(&format!("ingest --wait{server} YOUR.pdf")),
        command(&format!("ask{server} \"YOUR QUESTION\"")),
    );
    print(format_args!(
        r#"
Next, try a PDF of your own: log in, upload it, poll until its "status" is "ingested" or "failed", and ask.

  TOKEN=$(curl -s http://{address}/auth/token -H 'Content-Type: application/json' \
    -d '{{"email": "{ADMIN}", "password": "{password}"}}' | sed 's/.*"access_token":"\([^"]*\)".*/\1/')

  curl -s http://{address}/documents/upload -H "Authorization: Bearer $TOKEN" \
    -F 'file=@YOUR.pdf;type=application/pdf'

  curl -s http://{address}/documents/DOCUMENT-ID -H "Authorization: Bearer $TOKEN"

  curl -sN http://{address}/agents/chat -H "Authorization: Bearer $TOKEN" \
    -H 'Content-Type: application/json' \
    -d '{{"messages": [{{"role": "user", "content": "YOUR QUESTION"}}], "include_sources": true}}'

Or use the web chat at http://{address}/chat, or this program in another terminal:

  {login}
  {ingest}
  {ask}

The admin panel is at http://{address}/admin
"#
    ));
}
