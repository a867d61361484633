//! The addresses of the server: the page's files, its small API, its socket, and what the operator asks for.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::extract::{DefaultBodyLimit, Extension, Path, Request, State, WebSocketUpgrade};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use axum::{Json, Router};
use serde::Serialize;

use anqi_records::{Format, Writer};

use crate::assets::{ASSETS, Asset};
use crate::callers::{Caller, Network};
use crate::connections::{Connection, Connections};
use crate::hosted::HostedError;
use crate::house::House;
use crate::limits::LimitError;
use crate::metrics::{Exposition, count, resident_bytes};
use crate::scheduler::Urgency;
use crate::series::{SeriesExport, SeriesRefusal};
use crate::socket::{LONGEST_MESSAGE, talk};
use crate::visitors::Visitor;
use crate::wire::{self, Event, Games, SeriesList};

/// A page that has not asked for anything in this time is let go.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);
/// No paste is longer.
const LONGEST_IMPORT: usize = 4 << 20;

/// What the routes share.
pub(crate) struct Site {
    pub(crate) house: Arc<House>,
    pub(crate) network: Network,
    pub(crate) connections: Arc<Connections>,
    /// The metrics have an address of their own.
    pub(crate) has_metrics_address: bool,
}

/// The socket that a request came by.
#[derive(Clone)]
pub(crate) struct Door {
    pub(crate) connection: Arc<Connection>,
    pub(crate) peer: std::net::IpAddr,
    pub(crate) is_tls: bool,
}

/// What the public may ask for.
pub(crate) fn public(site: Arc<Site>) -> Router {
    Router::new()
        .route("/", get(|| async { serve_asset(&ASSETS[0]) }))
        .route("/{file}", get(asset))
        .route("/metrics", get(local_metrics))
        .route("/socket", any(socket))
        .route("/api/server", get(holder))
        .route("/api/games", get(list).post(import))
        .route("/api/games/{file}", get(export))
        .route("/api/series", get(list_series))
        .route("/api/series/{file}", get(export_series))
        .layer(DefaultBodyLimit::max(LONGEST_IMPORT))
        .layer(middleware::from_fn_with_state(Arc::clone(&site), guard))
        // A watcher asks by any name, and learns nothing.
        .route("/healthz", get(health))
        .with_state(site)
}

/// What the operator may ask for at an address of its own.
pub(crate) fn operator(site: Arc<Site>) -> Router {
    Router::new().route("/healthz", get(health)).route("/metrics", get(metrics)).with_state(site)
}

/// Refuses pages of other sites and visitors who ask too much, and gives up on what comes too slowly.
async fn guard(
    State(site): State<Arc<Site>>,
    Extension(door): Extension<Door>,
    mut request: Request,
    next: Next,
) -> Response {
    let caller = site.network.caller(door.peer, request.headers(), door.is_tls);
    if let Err(message) = site.network.check_origin(request.headers(), caller.is_secure) {
        return (StatusCode::FORBIDDEN, message).into_response();
    }
    let limits = &site.house.limits;
    let visitor = site.house.visitors.of(caller.address, limits);
    if !site.connections.belongs_to(&door.connection, &visitor) {
        count(&site.house.metrics.turned_away);
        return too_many("sockets", Duration::from_secs(1));
    }
    if let Err(wait) = visitor.take_message(limits) {
        count(&site.house.metrics.throttled);
        return too_many("requests", wait);
    }
    let extensions = request.extensions_mut();
    extensions.insert(caller);
    extensions.insert(visitor);
    match tokio::time::timeout(PATIENCE, next.run(request)).await {
        Ok(mut response) => {
            let headers = response.headers_mut();
            let mut set = |name, value| drop(headers.insert(name, HeaderValue::from_static(value)));
            set(header::CONTENT_SECURITY_POLICY, "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'");
            set(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
            set(header::REFERRER_POLICY, "no-referrer");
            response
        }
        Err(_) => StatusCode::REQUEST_TIMEOUT.into_response(),
    }
}

fn too_many(what: &str, wait: Duration) -> Response {
    let seconds = wait.as_secs().saturating_add(1);
    let text = format!("too many {what} from your address: try again in {seconds} s\n");
    (StatusCode::TOO_MANY_REQUESTS, [(header::RETRY_AFTER, seconds)], text).into_response()
}

async fn socket(
    upgrade: WebSocketUpgrade,
    State(site): State<Arc<Site>>,
    Extension(door): Extension<Door>,
    Extension(visitor): Extension<Arc<Visitor>>,
) -> Response {
    let house = Arc::clone(&site.house);
    upgrade
        .max_message_size(LONGEST_MESSAGE)
        .max_frame_size(LONGEST_MESSAGE)
        .read_buffer_size(1024)
        .write_buffer_size(0)
        .max_write_buffer_size(256 * 1024)
        .on_upgrade(|socket| talk(socket, house, visitor, door.connection))
}

async fn asset(Path(file): Path<String>) -> Response {
    match ASSETS.iter().find(|asset| asset.name == file) {
        Some(asset) => serve_asset(asset),
        None => not_found("there is no such page"),
    }
}

fn serve_asset(asset: &Asset) -> Response {
    ([(header::CONTENT_TYPE, asset.kind), (header::CACHE_CONTROL, "no-cache")], asset.bytes).into_response()
}

fn not_found(message: &str) -> Response {
    (StatusCode::NOT_FOUND, format!("{message}\n")).into_response()
}

fn json_response(value: &impl Serialize) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], wire::text(value)).into_response()
}

fn failed(error: &dyn std::fmt::Display) -> Response {
    tracing::error!("{error}");
    (StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")).into_response()
}

/// Whether a program of this very machine asks, and not for another one.
fn is_local(caller: &Caller) -> bool {
    caller.address.to_canonical().is_loopback() && !caller.is_forwarded
}

/// Tells the next server that starts with this folder that the page is open already.
async fn holder(State(site): State<Arc<Site>>, Extension(caller): Extension<Caller>) -> Response {
    match site.house.holder.get() {
        Some(_) if site.house.is_public() && !is_local(&caller) => not_found("there is no such page"),
        Some(holder) => Json(holder).into_response(),
        None => not_found("this server was not told its address"),
    }
}

/// On a network a game is known to those alone who have its name, so no list has it.
async fn list(State(site): State<Arc<Site>>) -> Response {
    let house = Arc::clone(&site.house);
    let list = move || if house.is_public() { Ok(Vec::new()) } else { house.list() };
    match tokio::task::spawn_blocking(list).await {
        Ok(Ok(games)) => json_response(&Games { schema: "anqi-games-1", games }),
        Ok(Err(error)) => failed(&error),
        Err(error) => failed(&error),
    }
}

async fn import(State(site): State<Arc<Site>>, Extension(visitor): Extension<Arc<Visitor>>, text: String) -> Response {
    let house = Arc::clone(&site.house);
    match visitor.take_import(&house.limits, text.len()) {
        Ok(()) => {}
        Err(LimitError::Rate { what, wait }) => return too_many(what, wait),
        Err(error) => return (StatusCode::TOO_MANY_REQUESTS, format!("{error}\n")).into_response(),
    }
    match tokio::task::spawn_blocking(move || house.import(&text)).await {
        Ok(Ok(imported)) => json_response(&imported),
        Ok(Err(error)) => failed(&error),
        Err(error) => failed(&error),
    }
}

/// `ID.anqi` is our format, `ID.txt` the match server's, `ID.json` what the page is shown.
async fn export(State(site): State<Arc<Site>>, Path(file): Path<String>) -> Response {
    let house = Arc::clone(&site.house);
    match tokio::task::spawn_blocking(move || exported(&house, &file)).await {
        Ok(response) => response,
        Err(error) => failed(&error),
    }
}

fn exported(house: &House, file: &str) -> Response {
    let (id, kind) = file.rsplit_once('.').unwrap_or((file, ""));
    let open_game = match house.find(id) {
        Ok(open_game) => open_game,
        Err(error @ HostedError::NoSuchGame(_)) => return not_found(&error.to_string()),
        Err(error) => return failed(&error),
    };
    let format = match kind {
        "json" => return json_response(&Event::Game(open_game.view().into())),
        "anqi" => Format::Anqi,
        "txt" => Format::Server,
        _ => return not_found("expected .anqi, .txt or .json"),
    };
    let mut writer = Writer::new(Vec::new(), format);
    let record = open_game.hosted().record();
    match writer.write(&record) {
        Ok(()) => attachment(file, "text/plain; charset=utf-8", writer.into_inner()),
        Err(error) => (StatusCode::CONFLICT, format!("{error}\n")).into_response(),
    }
}

/// A file that the browser saves.
fn attachment(file: &str, kind: &'static str, bytes: impl IntoResponse) -> Response {
    let name = format!("attachment; filename=\"anqi-{file}\"");
    let name = HeaderValue::from_str(&name).unwrap_or(HeaderValue::from_static("attachment"));
    ([(header::CONTENT_TYPE, HeaderValue::from_static(kind)), (header::CONTENT_DISPOSITION, name)], bytes)
        .into_response()
}

/// A public server keeps no series.
async fn list_series(State(site): State<Arc<Site>>) -> Response {
    let house = Arc::clone(&site.house);
    match tokio::task::spawn_blocking(move || house.list_series()).await {
        Ok(Ok(series)) => json_response(&SeriesList { schema: "anqi-series-list-1", series }),
        Ok(Err(error)) => failed(&error),
        Err(error) => failed(&error),
    }
}

/// `ID.csv` is Table 5 for this series, `ID-games.csv` its games line by line, `ID.anqi` their records; `all` in place of ID
/// stands for all series of the folder.
async fn export_series(State(site): State<Arc<Site>>, Path(file): Path<String>) -> Response {
    let house = Arc::clone(&site.house);
    let exported = move || {
        let kinds = [
            ("-games.csv", SeriesExport::Games, "text/csv; charset=utf-8"),
            (".csv", SeriesExport::Table, "text/csv; charset=utf-8"),
            (".anqi", SeriesExport::Records, "text/plain; charset=utf-8"),
        ];
        let found = kinds.into_iter().find_map(|(end, what, kind)| Some((file.strip_suffix(end)?, what, kind)));
        let Some((name, what, kind)) = found else { return not_found("expected .csv, -games.csv or .anqi") };
        match house.export_series((name != "all").then_some(name), what) {
            Ok(text) => attachment(&format!("series-{file}"), kind, text),
            Err(error @ SeriesRefusal::NoSuchSeries(_)) => not_found(&error.to_string()),
            Err(error) => failed(&error),
        }
    };
    match tokio::task::spawn_blocking(exported).await {
        Ok(response) => response,
        Err(error) => failed(&error),
    }
}

/// `ok`, or why the server is of no use at the moment.
async fn health(State(site): State<Arc<Site>>) -> Response {
    match site.house.health() {
        Ok(()) => "ok\n".into_response(),
        Err(reason) => (StatusCode::SERVICE_UNAVAILABLE, format!("{reason}\n")).into_response(),
    }
}

async fn local_metrics(State(site): State<Arc<Site>>, Extension(caller): Extension<Caller>) -> Response {
    if site.has_metrics_address || !is_local(&caller) {
        return not_found("there is no such page");
    }
    metrics(State(site)).await
}

async fn metrics(State(site): State<Arc<Site>>) -> Response {
    let house = &site.house;
    let counted = &house.metrics;
    let load = house.scheduler.load();
    let classes = |numbers: [usize; Urgency::ALL.len()]| Urgency::ALL.into_iter().map(Urgency::name).zip(numbers);
    let mut page = Exposition::default();
    let version = [(env!("CARGO_PKG_VERSION"), 1)];
    page.family("build_info", "gauge", "The version of the program.", "version", version);
    page.gauge("sockets", "Open sockets.", site.connections.len());
    page.gauge("visitors", "Addresses with open sockets.", house.visitors.here());
    page.gauge("games_in_memory", "Games that a page shows or in which a clock runs.", house.open_games());
    page.gauge("games_in_folder", "Files of games, about.", house.folder_games.load(Ordering::Relaxed));
    page.counter("games_begun_total", "New games.", &counted.games_begun);
    page.counter("plies_total", "Plies played.", &counted.plies);
    page.counter("messages_total", "Messages of pages.", &counted.messages);
    page.counter(
        "throttled_total",
        "Messages and requests that had to wait or were refused for their rate.",
        &counted.throttled,
    );
    page.family("refusals_total", "counter", "Requests of pages that were refused.", "kind", counted.refusals());
    page.counter("connections_total", "Sockets that were let in.", &counted.connections);
    page.counter(
        "turned_away_total",
        "Sockets that were not let in: too many or too fast from one address.",
        &counted.turned_away,
    );
    page.counter("shed_total", "Sockets that were closed for newcomers.", &counted.shed);
    page.counter("too_slow_total", "Sockets that were closed because they did not read.", &counted.too_slow);
    page.counter(
        "journal_sync_failures_total",
        "Journals that could not be forced to the disk.",
        &counted.sync_failures,
    );
    page.family("searches_waiting", "gauge", "Searches that wait for a slot.", "class", classes(load.waiting));
    page.family("searches_running", "gauge", "Searches that run.", "class", classes(load.running));
    page.family("preemptions_total", "counter", "Searches that had to give way.", "class", [("all", load.preemptions)]);
    let waits = house.scheduler.waits().map(|(class, waits)| (class.name(), waits));
    page.histograms("search_wait_seconds", "How long searches have waited for a slot.", "class", waits);
    let answers = [("page", &counted.answers)];
    page.histograms("message_seconds", "How long messages took, searches apart.", "from", answers);
    if let Some(bytes) = resident_bytes() {
        page.gauge("resident_memory_bytes", "Memory of the process.", bytes);
    }
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], page.finish()).into_response()
}
