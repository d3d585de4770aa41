//! `docent dev`: everything built in, and on the first run a proof that it works.

use super::{
    config::load,
    service::{Service, bind},
};
use crate::{
    telemetry,
    wire::{self, INDEX, Wired},
};
use anyhow::{Context, bail};
use bytes::Bytes;
use docent::{
    cli::DevArgs,
    config::{BlobStoreUrl, DatabaseUrl, Profile, Settings},
};
use docent_app::{
    App,
    accounts::create::Flags,
    agent::{Answer, AnswerEvent, Question, answer},
    audit::Initiator,
    documents,
};
use docent_domain::{
    access::Actor,
    chat::Message,
    document::{Document, DocumentState},
    retrieval::ScoredChunk,
    text::Email,
    user::{Password, User},
};
use docent_migration::SchemaState;
use futures::StreamExt;
use std::{
    io::Write,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

const GUIDE: &[u8] = include_bytes!("../../assets/sample-guide.pdf");
const GUIDE_NAME: &str = "The Docent Guide.pdf";
const QUESTION: &str = "How long does an access token last?";
const ADMIN: &str = "admin@localhost";
/// The sample takes well under a second; this is for a machine that is busy compiling.
const GUIDE_TIMEOUT: Duration = Duration::from_secs(60);

/// Makes what is missing, serves, and on the first run shows that it works.
pub(crate) async fn run(args: DevArgs) -> anyhow::Result<()> {
    let settings = load(Profile::Dev)?;
    let telemetry = telemetry::start(&settings.telemetry)?;
    let ended = serve(&args, &settings).await;
    telemetry.stop().await;
    ended
}

async fn serve(args: &DevArgs, settings: &Settings) -> anyhow::Result<()> {
    if let DatabaseUrl::Sqlite(path) = &settings.storage.database_url
        && !path.exists()
    {
        refuse_remains(settings)?;
    }
    let store = wire::store(settings).await?;
    if store.schema_state().await? == SchemaState::Empty {
        refuse_remains(settings)?;
    }
    store.migrate().await?;
    let wired = wire::app(Profile::Dev, settings, store.clone())?;
    // Serves before anything is made that is shown once: an address in use must not cost a first run.
    let (server, address) = bind(settings, &wired)?;
    let service = Service::start(settings, &wired, store, Some(server), true).await?;
    let first = FirstRun::of(&wired.app, &settings.service.data_dir).await?;
    let version = env!("CARGO_PKG_VERSION");
    let Some(first) = first else {
        say(format_args!("Docent {version} is listening on http://{}   (Ctrl-C stops)", address));
        return service.until_stopped().await;
    };
    say(format_args!("Docent {version}, first start: made {}", settings.service.data_dir.display()));
    let (admin, password) = first.admin(&wired.app).await?;
    say(format_args!("  admin account   {ADMIN}   password  {password}   (shown once)"));
    if !args.no_sample {
        prove(&wired, &admin).await?;
    }
    first.end()?;
    say(format_args!("\nListening on http://{}   (Ctrl-C stops)", address));
    say_next_steps(address, &password);
    service.until_stopped().await
}

/// Refuses to begin anew, without a database, where files and an index of one that was there are left.
fn refuse_remains(settings: &Settings) -> anyhow::Result<()> {
    let data_dir = &settings.service.data_dir;
    let mut folders = vec![data_dir.join(INDEX)];
    if let BlobStoreUrl::File(folder) = &settings.storage.blob_store {
        folders.push(folder.clone());
    }
    let remains: Vec<_> = folders.iter().filter(|folder| holds_files(folder)).collect();
    let [first, others @ ..] = remains.as_slice() else { return Ok(()) };
    let and = others.iter().map(|folder| format!(" and {}", folder.display())).collect::<String>();
    bail!(
        "the database is missing or empty, but {}{and} hold what belongs to one. Put the database back; or move \
         {} away and start anew, from a backup with `docent restore --dev`",
        first.display(),
        data_dir.display(),
    );
}

fn holds_files(folder: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else { return false };
    entries.flatten().any(|entry| {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        !is_folder || holds_files(&entry.path())
    })
}

/// Prints a line. Whoever closed standard output wants to read no more, which is no reason to stop.
fn say(line: std::fmt::Arguments<'_>) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// The first run, which lasts until its proof has been given: one that is cut short begins again.
struct FirstRun {
    marker: PathBuf,
}

impl FirstRun {
    /// The first run, if this is it.
    async fn of(app: &App, data_dir: &Path) -> anyhow::Result<Option<Self>> {
        let marker = data_dir.join("first-run");
        let is_new = app.store.read().await?.users().count().await? == 0;
        if is_new {
            std::fs::write(&marker, "The first run has not ended yet.\n")
                .context("writing to the data folder")?;
        }
        let is_first = is_new || marker.exists();
        Ok(is_first.then_some(Self { marker }))
    }

    /// The admin account with a new password. A first run that was cut short has made it already,
    /// but may not have shown its password.
    async fn admin(&self, app: &App) -> anyhow::Result<(User, String)> {
        let (email, password) = (Email::parse(ADMIN)?, random_password(app));
        let chosen = Password::parse_new(password.clone())?;
        let by = Initiator::command_line();
        let admin = app.store.read().await?.users().by_email(&email).await?;
        if let Some(admin) = admin {
            return Ok((app.account_service().set_password(&by, admin.id, chosen).await?, password));
        }
        let flags = Flags { is_staff: true, is_superuser: true };
        Ok((app.account_service().create(&by, email, chosen, flags).await?, password))
    }

    fn end(self) -> anyhow::Result<()> {
        std::fs::remove_file(self.marker).context("ending the first run")
    }
}

/// Four groups of four characters that are not mistaken for one another: 92 bits.
fn random_password(app: &App) -> String {
    const LETTERS: &[u8; 54] = b"ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456";
    let mut password = String::new();
    while password.len() < 19 {
        let mut byte = [0];
        app.entropy.fill(&mut byte);
        // 216 is a multiple of 54: no letter is likelier than another.
        if byte[0] < 216 {
            if password.len() % 5 == 4 {
                password.push('-');
            }
            password.push(char::from(LETTERS[usize::from(byte[0]) % LETTERS.len()]));
        }
    }
    password
}

/// Ingests the guide and asks about it, through the same doors as everybody.
async fn prove(wired: &Wired, admin: &User) -> anyhow::Result<()> {
    let app = &wired.app;
    let actor = Actor::of(admin).context("the admin account is not active")?;
    let started = std::time::Instant::now();
    let document = ingest_guide(app, &actor).await?;
    let coverage = document.coverage.unwrap_or_default();
    say(format_args!(
        "  sample guide    {} pages, {} chunks, ingested in {:.1} s",
        coverage.pages,
        coverage.chunks,
        started.elapsed().as_secs_f32()
    ));
    say(format_args!("\n  > {QUESTION}\n"));
    let question = Question {
        actor: actor.clone(),
        messages: vec![Message::User(QUESTION.to_owned())],
        conversation: None,
    };
    let chat = app.agents.get("chat").context("the agent `chat` is missing")?;
    let sources = show_answer(answer::ask(app, actor.authorize()?, chat, question).await?).await?;
    if sources.is_empty() {
        bail!("the agent found nothing in the sample guide; please report this");
    }
    Ok(())
}

async fn ingest_guide(app: &Arc<App>, actor: &Actor) -> anyhow::Result<Document> {
    let mut upload = documents::upload::begin(app, actor.authorize()?, GUIDE_NAME, "application/pdf").await?;
    upload.write(Bytes::from_static(GUIDE)).await?;
    let id = upload.finish().await?.id;
    let ended = async {
        loop {
            let document = documents::get::get(app, actor.authorize()?, id).await?;
            match &document.state {
                DocumentState::Pending(_) => app.clock.sleep(Duration::from_millis(20)).await,
                DocumentState::Ingested(_) => return Ok(document),
                DocumentState::Failed(failed) => bail!("the sample guide failed: {}", failed.failure.reason),
            }
        }
    };
    tokio::time::timeout(GUIDE_TIMEOUT, ended).await.context("the sample guide was not ingested in time")?
}

/// Shows an answer as it comes, indented, and gives its sources.
async fn show_answer(mut answer: Answer) -> anyhow::Result<Vec<ScoredChunk>> {
    let mut out = std::io::stdout();
    let _ = write!(out, "  ");
    while let Some(event) = answer.next().await {
        match event? {
            AnswerEvent::Text(text) => {
                let _ = write!(out, "{}", text.replace('\n', "\n  ")).and_then(|()| out.flush());
            }
            AnswerEvent::Sources(sources) => {
                let _ = writeln!(out);
                return Ok(sources);
            }
        }
    }
    bail!("the answer has no end")
}

fn say_next_steps(address: SocketAddr, password: &str) {
    say(format_args!(
        r#"
Now with a PDF of your own: log in, upload it, poll until its "status" is "ingested" or "failed", and ask.

  TOKEN=$(curl -s http://{address}/auth/token -H 'Content-Type: application/json' \
    -d '{{"email": "{ADMIN}", "password": "{password}"}}' | sed 's/.*"access_token":"\([^"]*\)".*/\1/')

  curl -s http://{address}/documents/upload -H "Authorization: Bearer $TOKEN" \
    -F 'file=@YOUR.pdf;type=application/pdf'

  curl -s http://{address}/documents/DOCUMENT-ID -H "Authorization: Bearer $TOKEN"

  curl -sN http://{address}/agents/chat -H "Authorization: Bearer $TOKEN" \
    -H 'Content-Type: application/json' \
    -d '{{"messages": [{{"role": "user", "content": "YOUR QUESTION"}}], "include_sources": true}}'

Or in a browser, at http://{address}/chat, or with this program: `docent login {ADMIN}`, `docent ingest --wait YOUR.pdf`,
`docent ask "YOUR QUESTION"`. The admin panel is at http://{address}/admin
"#
    ));
}
