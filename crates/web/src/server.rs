//! The server: the page's files, its small API and its sockets over HTTP.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{DefaultBodyLimit, Path, Request, State, WebSocketUpgrade};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use axum::{Json, Router};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use serde::Serialize;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use anqi_records::{Format, Writer};

use crate::assets::{ASSETS, Asset};
use crate::hosted::HostedError;
use crate::house::House;
use crate::socket::{LONGEST_MESSAGE, talk};
use crate::wire::{self, Event, Games};

/// A page that has not asked for anything in this time is let go.
const PATIENCE: Duration = Duration::from_secs(10);
/// No paste is longer.
const LONGEST_IMPORT: usize = 4 << 20;
const MOST_CONNECTIONS: usize = 4096;

/// Serves pages on a listening socket, forever.
///
/// # Errors
/// If the listener fails.
pub async fn serve(listener: TcpListener, house: Arc<House>) -> std::io::Result<()> {
    let router = router(house);
    let room = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    loop {
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else { return Ok(()) };
        let Ok((stream, _)) = listener.accept().await else {
            // Out of file descriptors, or a connection that went before it came: the next may do better.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let _ = stream.set_nodelay(true);
        let service = TowerToHyperService::new(router.clone());
        tokio::spawn(async move {
            let connection = hyper::server::conn::http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(PATIENCE)
                .max_buf_size(16 * 1024)
                .serve_connection(TokioIo::new(stream), service)
                .with_upgrades();
            // Whatever a stranger sends is no concern of ours.
            let _ = connection.await;
            drop(permit);
        });
    }
}

fn router(house: Arc<House>) -> Router {
    Router::new()
        .route("/", get(|| async { serve_asset(&ASSETS[0]) }))
        .route("/{file}", get(asset))
        .route("/socket", any(socket))
        .route("/api/server", get(holder))
        .route("/api/games", get(list).post(import))
        .route("/api/games/{file}", get(export))
        .layer(DefaultBodyLimit::max(LONGEST_IMPORT))
        .layer(middleware::from_fn(guard))
        .with_state(house)
}

/// Refuses pages of other sites, and gives up on what comes too slowly.
async fn guard(request: Request, next: Next) -> Response {
    if let Err(message) = check_origin(request.headers()) {
        return (StatusCode::FORBIDDEN, message).into_response();
    }
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

/// A browser says where a page comes from. Only our own may talk to us, and it must have been reached by a number or
/// as localhost: a name could be anybody's that points here (DNS rebinding).
fn check_origin(headers: &HeaderMap) -> Result<(), String> {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    if !is_own(host) {
        return Err(format!("this server is not {}\n", anqi_rules::excerpt(host)));
    }
    let Some(origin) = headers.get(header::ORIGIN) else { return Ok(()) };
    let origin = origin.to_str().unwrap_or_default();
    if origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://")) == Some(host) {
        return Ok(());
    }
    Err(format!("pages of {} may not talk to this server\n", anqi_rules::excerpt(origin)))
}

fn is_own(host: &str) -> bool {
    let name = host.rsplit_once(':').filter(|(_, port)| port.parse::<u16>().is_ok()).map_or(host, |(name, _)| name);
    name == "localhost"
        || name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().is_ok()
        || host.parse::<SocketAddr>().is_ok()
}

async fn socket(upgrade: WebSocketUpgrade, State(house): State<Arc<House>>) -> Response {
    upgrade
        .max_message_size(LONGEST_MESSAGE)
        .max_frame_size(LONGEST_MESSAGE)
        .read_buffer_size(1024)
        .write_buffer_size(0)
        .max_write_buffer_size(256 * 1024)
        .on_upgrade(|socket| talk(socket, house))
}

async fn asset(Path(file): Path<String>) -> Response {
    match ASSETS.iter().find(|asset| asset.name == file) {
        Some(asset) => serve_asset(asset),
        None => (StatusCode::NOT_FOUND, "there is no such page\n").into_response(),
    }
}

fn serve_asset(asset: &Asset) -> Response {
    ([(header::CONTENT_TYPE, asset.kind), (header::CACHE_CONTROL, "no-cache")], asset.bytes).into_response()
}

fn json_response(value: &impl Serialize) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], wire::text(value)).into_response()
}

fn failed(error: &dyn std::fmt::Display) -> Response {
    (StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")).into_response()
}

/// Tells the next server that starts with this folder that the page is open already.
async fn holder(State(house): State<Arc<House>>) -> Response {
    match house.holder.get() {
        Some(holder) => Json(holder).into_response(),
        None => (StatusCode::NOT_FOUND, "this server was not told its address\n").into_response(),
    }
}

async fn list(State(house): State<Arc<House>>) -> Response {
    match tokio::task::spawn_blocking(move || house.list()).await {
        Ok(Ok(games)) => json_response(&Games { schema: "anqi-games-1", games }),
        Ok(Err(error)) => failed(&error),
        Err(error) => failed(&error),
    }
}

async fn import(State(house): State<Arc<House>>, text: String) -> Response {
    match tokio::task::spawn_blocking(move || house.import(&text)).await {
        Ok(Ok(imported)) => json_response(&imported),
        Ok(Err(error)) => failed(&error),
        Err(error) => failed(&error),
    }
}

/// `ID.anqi` is our format, `ID.txt` the match server's, `ID.json` what the page is shown.
async fn export(State(house): State<Arc<House>>, Path(file): Path<String>) -> Response {
    let (id, kind) = file.rsplit_once('.').unwrap_or((&file, ""));
    let open_game = match house.find(id) {
        Ok(open_game) => open_game,
        Err(error @ HostedError::NoSuchGame(_)) => {
            return (StatusCode::NOT_FOUND, format!("{error}\n")).into_response();
        }
        Err(error) => return failed(&error),
    };
    let format = match kind {
        "json" => return json_response(&Event::Game(open_game.view().into())),
        "anqi" => Format::Anqi,
        "txt" => Format::Server,
        _ => return (StatusCode::NOT_FOUND, "expected .anqi, .txt or .json\n").into_response(),
    };
    let mut writer = Writer::new(Vec::new(), format);
    let record = open_game.hosted().record();
    match writer.write(&record) {
        Ok(()) => {
            let name = format!("attachment; filename=\"anqi-{file}\"");
            let kind = HeaderValue::from_static("text/plain; charset=utf-8");
            let name = HeaderValue::from_str(&name).unwrap_or(HeaderValue::from_static("attachment"));
            ([(header::CONTENT_TYPE, kind), (header::CONTENT_DISPOSITION, name)], writer.into_inner()).into_response()
        }
        Err(error) => (StatusCode::CONFLICT, format!("{error}\n")).into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_pages_may_talk() {
        let check = |host: &str, origin: Option<&str>| {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, host.parse().unwrap());
            if let Some(origin) = origin {
                headers.insert(header::ORIGIN, origin.parse().unwrap());
            }
            check_origin(&headers).is_ok()
        };
        assert!(check("127.0.0.1:8064", Some("http://127.0.0.1:8064")));
        assert!(check("localhost:8064", Some("http://localhost:8064")));
        assert!(check("[::1]:8064", Some("http://[::1]:8064")));
        assert!(check("192.168.1.5:8064", None));
        assert!(!check("127.0.0.1:8064", Some("http://evil.example")));
        assert!(!check("127.0.0.1:8064", Some("http://127.0.0.1:9999")));
        assert!(!check("127.0.0.1:8064", Some("null")));
        assert!(!check("evil.example:8064", Some("http://evil.example:8064")));
        assert!(!check("", None));
    }
}
