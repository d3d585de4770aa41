//! The server: binding, serving, stopping.

use crate::routes;
use actix_web::middleware::{NormalizePath, from_fn};
use actix_web::web::Data;
use actix_web::{App as Service, HttpServer};
use docent_app::App;
use docent_http::context::Context;
use docent_http::routes::not_found;
use docent_http::settings::HttpSettings;
use docent_http::{middleware, table};
use std::io;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How long the rest of a rejected body is read and discarded, so that the client can read the response.
const LINGER: Duration = Duration::from_secs(10);
/// Additional seconds in which interrupted streams send their last event.
const CLOSING_SECONDS: u64 = 1;
/// Maximum time after the last request for work without a client, such as recording the usage of interrupted
/// answers.
const TASKS_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum number of connections that wait to be accepted.
const BACKLOG: u32 = 1024;

/// How a server stops.
#[derive(Clone, Copy, Debug)]
pub struct Shutdown {
    /// Time in which `/health/ready` returns 503 and new requests are still served, until load balancers send no
    /// more.
    pub drain: Duration,
    /// Time afterwards for requests and streams in progress.
    pub timeout: Duration,
}

/// A server that is bound to its address but does not run yet.
#[allow(missing_debug_implementations, reason = "the use cases have no debug form")]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    context: Data<Context>,
    surface: Surface,
}

/// The paths that a server has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Surface {
    All,
    Probes,
}

impl Server {
    /// Binds to an address; port 0 selects a free port, see [`Self::address`].
    ///
    /// Must be called on the runtime that outlives the server, since work that continues after its request runs there.
    ///
    /// # Errors
    /// If the address cannot be bound, or a page's template is invalid.
    pub fn bind(app: Arc<App>, settings: HttpSettings, address: impl ToSocketAddrs) -> io::Result<Self> {
        Self::new(app, settings, address, Surface::All)
    }

    /// Binds to an address and serves only `/health` and `/metrics`, for processes that only run jobs.
    ///
    /// # Errors
    /// As [`Self::bind`].
    pub fn bind_probes(
        app: Arc<App>,
        settings: HttpSettings,
        address: impl ToSocketAddrs,
    ) -> io::Result<Self> {
        Self::new(app, HttpSettings { workers: Some(1), ..settings }, address, Surface::Probes)
    }

    fn new(
        app: Arc<App>,
        settings: HttpSettings,
        address: impl ToSocketAddrs,
        surface: Surface,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        docent_web::compile()?;
        let context = Context::new(app, settings, routes::tables())?;
        Ok(Self { address: listener.local_addr()?, listener, context: Data::new(context), surface })
    }

    /// The address that the server listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `stop`, and then for the time of the drain, in which the server is not ready. Afterwards no more
    /// connections are accepted, and requests and streams in progress have the timeout to complete. Then they are
    /// interrupted; streams send an event that says so.
    ///
    /// # Errors
    /// If the sockets cannot be served.
    pub async fn run(self, stop: CancellationToken, shutdown: Shutdown) -> io::Result<()> {
        let app = Arc::clone(&self.context.app);
        let (not_ready, cut) = (self.context.stopping.clone(), self.context.cut.clone());
        let mut server = self.start(shutdown.timeout)?;
        let handle = server.handle();
        let stopping = async {
            stop.cancelled().await;
            not_ready.cancel();
            if !shutdown.drain.is_zero() {
                app.sleep(shutdown.drain).await;
            }
            let mut stopping = pin!(handle.stop(true));
            if tokio::time::timeout(shutdown.timeout, &mut stopping).await.is_err() {
                cut.cancel();
                stopping.await;
            }
        };
        tokio::select! {
            ended = &mut server => ended?,
            () = stopping => server.await?,
        }
        // Answers without a connected client are no longer waited for.
        cut.cancel();
        if !app.finish_tasks(shutdown.timeout.min(TASKS_TIMEOUT)).await {
            tracing::warn!("answers were interrupted");
        }
        Ok(())
    }

    /// Starts the workers. Separate from [`Self::run`], whose future must be `Send`: values of this thread are dropped here.
    fn start(self, timeout: Duration) -> io::Result<actix_web::dev::Server> {
        let Self { listener, context, surface, .. } = self;
        let workers = context.settings.workers;
        let shared = docent_api::Shared::default();
        let is_https = context.app.settings().public_url.starts_with("https://");
        let server = HttpServer::new(move || {
            Service::new()
                .app_data(context.clone())
                .configure(|config| match surface {
                    Surface::Probes => {
                        docent_api::configure(config, &shared, |path| {
                            table::is_probe(&context.settings, path)
                        });
                    }
                    Surface::All => {
                        docent_api::configure(config, &shared, |path| {
                            table::is_there(&context.settings, path)
                        });
                        docent_web::mount(config);
                    }
                })
                .default_service(match surface {
                    Surface::Probes => actix_web::web::to(not_found),
                    Surface::All => actix_web::web::to(docent_web::unknown_path),
                })
                // The last one is the outermost.
                .wrap(from_fn(docent_web::identify))
                .wrap(from_fn(docent_web::choose_language))
                .wrap(from_fn(docent_web::note_sessions))
                .wrap(docent_web::sessions(&context.settings.session_key, is_https, &context.base_path))
                .wrap(from_fn(docent_web::keep_sessions))
                .wrap(NormalizePath::trim())
                .wrap(from_fn(middleware::panics::catch))
                .wrap(from_fn(middleware::rate_limit::limit))
                .wrap(from_fn(docent_api::convert_openai_errors))
                .wrap(from_fn(middleware::cors::share))
                .wrap(from_fn(middleware::challenge::challenge))
                .wrap(from_fn(middleware::headers::secure))
                .wrap(from_fn(middleware::observe::observe))
                .wrap(from_fn(middleware::base_path::translate))
        });
        let server = match workers {
            Some(workers) => server.workers(workers),
            None => server,
        };
        let server = server
            .disable_signals()
            .shutdown_timeout(timeout.as_secs() + u64::from(timeout.subsec_nanos() > 0) + CLOSING_SECONDS)
            .client_disconnect_timeout(LINGER)
            // A client that closes its side has disconnected: its answer is stopped.
            .h1_allow_half_closed(false)
            .backlog(BACKLOG)
            .listen(listener)?
            .run();
        Ok(server)
    }
}
