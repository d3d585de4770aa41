//! `docent dev`: runs the service with everything built in; the first run demonstrates it with a sample document.

use super::config::load;
use super::migrate::open_store;
use super::service::{Service, bind};
use crate::invocation::{command, local_address, server_option};
use crate::telemetry;
use crate::wire::{self, Assembly};
use anyhow::{Context, bail};
use bytes::Bytes;
use docent::cli::DevArgs;
use docent::config::{Profile, Settings};
use docent_app::accounts::create::Flags;
use docent_app::accounts::{self};
use docent_app::agent::{AgentRequest, AnswerEvent, AnswerStream, answer};
use docent_app::audit::Initiator;
use docent_app::{App, documents};
use docent_domain::access::Actor;
use docent_domain::chat::Message;
use docent_domain::document::{Document, DocumentState};
use docent_domain::id::CollectionId;
use docent_domain::retrieval::ScoredChunk;
use docent_domain::scope::Scope;
use docent_domain::selection::Selection;
use docent_domain::text::Email;
use docent_domain::user::{Password, User};
use futures::StreamExt;
use std::io::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

const GUIDE: &[u8] = include_bytes!("../../assets/sample-guide.pdf");
const GUIDE_NAME: &str = "The Docent Guide.pdf";
const QUESTION: &str = "How long does an access token last?";
const ADMIN: &str = "admin@localhost";
/// Ingesting the guide takes well under a second, except on a busy machine.
const GUIDE_TIMEOUT: Duration = Duration::from_secs(60);

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
    let (admin, password) = first.create_admin(&assembly.app).await?;
    print(format_args!("  admin account   {ADMIN}   password  {password}   (shown once)"));
    if !args.no_sample {
        run_sample(&assembly, &admin).await?;
    }
    first.finish()?;
    print(format_args!("\nListening on http://{}   (Ctrl-C to stop)", address));
    print_next_steps(address, &password);
    service.until_stopped().await
}

/// Prints a line. A closed standard output does not stop the service.
fn print(line: std::fmt::Arguments<'_>) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// The first run. A marker file exists until it has finished, so that an interrupted one is repeated.
struct FirstRun {
    marker: PathBuf,
}

impl FirstRun {
    /// Returns the first run if this is one.
    async fn detect(app: &App, data_dir: &Path) -> anyhow::Result<Option<Self>> {
        let marker = data_dir.join("first-run");
        let is_new = !accounts::any_exist(app).await?;
        if is_new {
            std::fs::write(&marker, "The first run has not finished yet.\n")
                .context("writing to the data directory")?;
        }
        let is_first = is_new || marker.exists();
        Ok(is_first.then_some(Self { marker }))
    }

    /// Creates the admin account and returns it with its password. An account from an interrupted first run gets a new
    /// password, because the old one may not have been shown.
    async fn create_admin(&self, app: &App) -> anyhow::Result<(User, String)> {
        let (email, password) = (Email::parse(ADMIN)?, random_password(app));
        let chosen = Password::parse_new(password.clone())?;
        let by = Initiator::command_line();
        let admin = accounts::find_by_email(app, &email).await?;
        if let Some(admin) = admin {
            return Ok((app.account_service().set_password(&by, admin.id, chosen).await?, password));
        }
        let flags = Flags { is_staff: true, is_superuser: true };
        Ok((app.account_service().create(&by, email, chosen, flags).await?, password))
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

/// Ingests the sample guide and asks about it, through the same use cases as any client.
async fn run_sample(assembly: &Assembly, admin: &User) -> anyhow::Result<()> {
    let app = &assembly.app;
    let actor = Actor::of(admin).context("the admin account is inactive")?;
    let started = std::time::Instant::now();
    let document = ingest_guide(app, &actor).await?;
    let coverage = document.coverage.unwrap_or_default();
    print(format_args!(
        "  sample guide    {} pages, {} chunks, ingested in {:.1} s",
        coverage.pages,
        coverage.chunks,
        started.elapsed().as_secs_f32()
    ));
    print(format_args!("\n  > {QUESTION}\n"));
    let request = AgentRequest {
        actor: actor.clone(),
        messages: vec![Message::User(QUESTION.to_owned())],
        selection: Selection::default(),
        conversation: None,
        replaces: None,
    };
    let chat = app.agent("chat").context("the agent `chat` is missing")?;
    let sources = print_answer(answer::ask(app, actor.authorize()?, chat, request).await?).await?;
    if sources.is_empty() {
        bail!("the agent found no source in the sample guide; please report this");
    }
    Ok(())
}

async fn ingest_guide(app: &Arc<App>, actor: &Actor) -> anyhow::Result<Document> {
    let mut upload = documents::upload::begin(
        app,
        documents::upload::NewDocument::new(actor.authorize()?, CollectionId::EVERYONE),
        GUIDE_NAME,
        "application/pdf",
        0,
    )
    .await?;
    upload.write(Bytes::from_static(GUIDE)).await?;
    let id = upload.finish().await?.document.id;
    let result = async {
        loop {
            let document = documents::get::get(app, actor.authorize()?, Scope::SERVICE, id).await?;
            match &document.state {
                DocumentState::Pending(_) => app.sleep(Duration::from_millis(20)).await,
                DocumentState::Ingested(_) => return Ok(document),
                DocumentState::Failed(failed) => bail!("the sample guide failed: {}", failed.failure.reason),
            }
        }
    };
    tokio::time::timeout(GUIDE_TIMEOUT, result).await.context("the sample guide was not ingested in time")?
}

/// Prints an answer as it arrives, indented, and returns its sources.
async fn print_answer(mut answer: AnswerStream) -> anyhow::Result<Vec<ScoredChunk>> {
    let mut out = std::io::stdout();
    let _ = write!(out, "  ");
    while let Some(event) = answer.next().await {
        match event? {
            AnswerEvent::Text(text) => {
                let _ = write!(out, "{}", text.replace('\n', "\n  ")).and_then(|()| out.flush());
            }
            AnswerEvent::Metadata(_) => {}
            AnswerEvent::Sources(sources) => {
                let _ = writeln!(out);
                return Ok(sources);
            }
        }
    }
    bail!("the answer ended without sources")
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
