//! The server: a listener, its connections over TCP or TLS, and how it ends.

use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use hyper::body::Incoming;
use hyper::service::Service;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};

use crate::callers::Network;
use crate::connections::{Connections, TurnedAway};
use crate::house::House;
use crate::metrics::count;
use crate::routes::{self, Door, PATIENCE, Site};
use crate::socket::ended;
use crate::tasks::OwnedTask;
use crate::tls::Tls;

/// How long pages have to go when the server ends.
const FAREWELL: Duration = Duration::from_secs(3);
/// No head of a request is longer. As much is kept of the requests of a socket that does not read its answers.
const LONGEST_HEAD: usize = 8 * 1024;
/// How often old games are looked for.
const PRUNE: Duration = Duration::from_secs(3600);
/// The listener failed, for want of file descriptors, say: it tries again after this.
const PAUSE: Duration = Duration::from_millis(50);

/// How a server meets its network.
#[derive(Default)]
#[expect(missing_debug_implementations, reason = "it holds a key")]
pub struct ServerSettings {
    /// Names of this server and its proxies.
    pub network: Network,
    /// Speak TLS.
    pub tls: Option<Tls>,
    /// Where the operator asks for metrics. Without it programs of this machine may ask at the page's address.
    pub metrics: Option<TcpListener>,
}

/// Serves pages on a listening socket, forever.
///
/// # Errors
/// None at present.
pub async fn serve(listener: TcpListener, house: Arc<House>) -> io::Result<()> {
    serve_until(listener, house, ServerSettings::default(), std::future::pending()).await
}

/// Serves pages until `end` is ready. Then no connection is let in any more, pages are told, engines stop, and everything that
/// was written is forced to the disk, all within a few seconds.
///
/// # Errors
/// None at present.
pub async fn serve_until(
    listener: TcpListener,
    house: Arc<House>,
    settings: ServerSettings,
    end: impl Future<Output = ()>,
) -> io::Result<()> {
    let ServerSettings { network, tls, metrics } = settings;
    let connections = Connections::new(house.limits.clone(), Arc::clone(&house.metrics));
    let has_metrics_address = metrics.is_some();
    let site = Arc::new(Site { house, network, connections, has_metrics_address });
    let _operator = metrics.map(|metrics| OwnedTask::spawn(serve_operator(metrics, routes::operator(site.clone()))));
    let _pruning = OwnedTask::spawn(prune(Arc::clone(&site.house)));
    let entrance = Entrance { router: routes::public(Arc::clone(&site)), site: Arc::clone(&site), tls };
    let mut end = pin!(end);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut end => break,
        };
        match accepted {
            Ok((stream, peer)) => entrance.let_in(stream, peer),
            Err(error) => {
                // Out of file descriptors, or a connection that went before it came: the next may do better.
                tracing::warn!("cannot accept a connection: {error}");
                site.connections.make_room();
                sleep(PAUSE).await;
            }
        }
    }
    drop(listener);
    drain(&site).await;
    Ok(())
}

/// Ends everything.
async fn drain(site: &Site) {
    tracing::info!(sockets = site.connections.len(), "the server is ending");
    site.house.close();
    let begun = Instant::now();
    while site.connections.len() > 0 && begun.elapsed() < FAREWELL {
        sleep(PAUSE).await;
    }
    site.connections.close_all();
    while site.connections.len() > 0 && begun.elapsed() < FAREWELL + Duration::from_secs(1) {
        sleep(PAUSE).await;
    }
    let house = Arc::clone(&site.house);
    let _ = tokio::task::spawn_blocking(move || house.sync()).await;
    tracing::info!("everything is on the disk");
}

/// Deletes old games from time to time.
async fn prune(house: Arc<House>) {
    loop {
        let house = Arc::clone(&house);
        let _ = tokio::task::spawn_blocking(move || house.prune()).await;
        sleep(PRUNE).await;
    }
}

/// Where connections come in.
struct Entrance {
    site: Arc<Site>,
    router: Router,
    tls: Option<Tls>,
}

impl Entrance {
    fn let_in(&self, stream: TcpStream, peer: SocketAddr) {
        let _ = stream.set_nodelay(true);
        let Site { house, network, connections, .. } = &*self.site;
        let visitor = house.visitors.of(peer.ip(), &house.limits);
        let watched = match connections.admit(stream, &visitor, network.is_proxy(peer.ip())) {
            Ok(watched) => watched,
            Err(reason) => {
                count(&house.metrics.turned_away);
                let reason = match reason {
                    TurnedAway::TooMany => "too many sockets",
                    TurnedAway::TooFast => "too many new sockets",
                };
                tracing::debug!(address = %peer.ip(), reason, "turned away");
                return;
            }
        };
        let door = Door { connection: Arc::clone(watched.connection()), peer: peer.ip(), is_tls: self.tls.is_some() };
        let (router, house, tls) = (self.router.clone(), Arc::clone(house), self.tls.clone());
        tokio::spawn(async move {
            match tls {
                None => talk_http(watched, router, door, &house).await,
                Some(tls) => {
                    if let Ok(Ok(stream)) = timeout(PATIENCE, tls.accept(watched)).await {
                        talk_http(stream, router, door, &house).await;
                    }
                }
            }
        });
    }
}

/// Talks HTTP until the socket goes or becomes a page's.
async fn talk_http<S>(stream: S, router: Router, door: Door, house: &House)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let router = TowerToHyperService::new(router);
    let service = hyper::service::service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(door.clone());
        router.call(request.map(Body::new))
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE)
        .max_buf_size(LONGEST_HEAD)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    let mut connection = pin!(connection);
    let mut closing = house.closing();
    // Whatever a stranger sends is no concern of ours.
    tokio::select! {
        _ = &mut connection => {}
        () = ended(&mut closing) => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
}

/// Answers the operator, one request a connection.
async fn serve_operator(listener: TcpListener, router: Router) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            sleep(PAUSE).await;
            continue;
        };
        let service = TowerToHyperService::new(router.clone());
        tokio::spawn(timeout(PATIENCE, async move {
            let connection = hyper::server::conn::http1::Builder::new()
                .keep_alive(false)
                .max_buf_size(LONGEST_HEAD)
                .serve_connection(TokioIo::new(stream), service);
            let _ = connection.await;
        }));
    }
}
