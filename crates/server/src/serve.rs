//! The server: binding, serving, stopping.

use crate::routes;
use actix_web::{
    App as Service, HttpServer,
    middleware::{NormalizePath, from_fn},
    web::Data,
};
use docent_app::App;
use docent_http::{context::Context, middleware, routes::not_found, settings::HttpSettings, table};
use std::{
    io,
    net::{SocketAddr, TcpListener, ToSocketAddrs},
    pin::pin,
    sync::Arc,
    time::Duration,
};
use tokio_util::sync::CancellationToken;

/// How long the rest of a refused body is read and thrown away, so that its sender gets to read the
/// refusal instead of a broken connection.
const LINGER: Duration = Duration::from_secs(10);
/// Seconds after the end of the grace in which streams say that they are cut off.
const LAST_WORDS: u64 = 1;
/// Connections that wait to be accepted.
const BACKLOG: u32 = 1024;

/// A server that is bound to its address but does not answer yet.
#[allow(missing_debug_implementations, reason = "the use cases have no debug form")]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    context: Data<Context>,
    surface: Surface,
}

/// Which paths a server has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Surface {
    All,
    Probes,
}

impl Server {
    /// Binds to an address. Port 0 takes any free one; see [`Self::address`].
    ///
    /// Must be called on the runtime that outlives the server: work that goes on when its request is
    /// over runs there.
    ///
    /// # Errors
    /// When the address cannot be bound, or a page's template is broken.
    pub fn bind(app: Arc<App>, settings: HttpSettings, address: impl ToSocketAddrs) -> io::Result<Self> {
        Self::new(app, settings, address, Surface::All)
    }

    /// The same with what watches a process alone, for one that only runs jobs: `/health` and `/metrics`.
    ///
    /// # Errors
    /// As those of [`Self::bind`].
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

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `stop`. Then no more connections are accepted, and requests and streams under way
    /// get `grace` to end; what has not ended by then is cut off, streams with an event that says so.
    ///
    /// # Errors
    /// When the sockets cannot be served.
    pub async fn run(self, stop: CancellationToken, grace: Duration) -> io::Result<()> {
        let (app, cut) = (Arc::clone(&self.context.app), self.context.cut.clone());
        let mut server = self.start(grace)?;
        let handle = server.handle();
        let stopping = async {
            stop.cancelled().await;
            let mut stopping = pin!(handle.stop(true));
            if tokio::time::timeout(grace, &mut stopping).await.is_err() {
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
        if !app.finish_tasks(grace).await {
            tracing::warn!("answers were cut off");
        }
        Ok(())
    }

    /// Starts the workers. Apart from [`Self::run`] so that what belongs to one thread is gone
    /// before the waiting begins, and the future can go to another.
    fn start(self, grace: Duration) -> io::Result<actix_web::dev::Server> {
        let Self { listener, context, surface, .. } = self;
        let workers = context.settings.workers;
        let shared = docent_api::Shared::default();
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
                        docent_web::mount(config, &context.settings.session_key);
                    }
                })
                .default_service(actix_web::web::to(not_found))
                // The last one is the outermost.
                .wrap(NormalizePath::trim())
                .wrap(from_fn(middleware::panics::catch))
                .wrap(from_fn(middleware::rate_limit::limit))
                .wrap(from_fn(docent_api::word_openai_errors))
                .wrap(from_fn(middleware::cors::share))
                .wrap(from_fn(middleware::headers::secure))
                .wrap(from_fn(middleware::observe::observe))
        });
        let server = match workers {
            Some(workers) => server.workers(workers),
            None => server,
        };
        let server = server
            .disable_signals()
            .shutdown_timeout(grace.as_secs() + u64::from(grace.subsec_nanos() > 0) + LAST_WORDS)
            .client_disconnect_timeout(LINGER)
            // A client that closes its side has gone away: its answer is stopped at once.
            .h1_allow_half_closed(false)
            .backlog(BACKLOG)
            .listen(listener)?
            .run();
        Ok(server)
    }
}
