//! A server on a network: what is not told, TLS, names and proxies.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use anqi_web::{Network, Rate, ServerLimits, ServerSettings, Tls};
use serde_json::{Value, json};
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned, crypto::ring};
use tungstenite::client::IntoClientRequest;

use crate::common::{start, start_network};
use crate::settings;

#[test]
fn games_of_others_are_not_listed() {
    let server = start_network(&settings(121, ServerLimits::public()), ServerSettings::default());
    let game = server.page().ask(json!({ "type": "new", "first": "person", "second": "person" }));
    let name = game["game"].as_str().unwrap();
    let list: Value = serde_json::from_str(&server.get("/api/games")).unwrap();
    assert_eq!(list, json!({ "schema": "anqi-games-1", "games": [] }));
    // Who has the name may look.
    assert!(server.get(&format!("/api/games/{name}.anqi")).contains("[Rules"));
    let alone = start(121);
    alone.page().ask(json!({ "type": "new", "first": "person", "second": "person" }));
    assert!(alone.get("/api/games").contains(name), "a user's own games are");
}

fn get(path: &str, more: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: banqi.example.org\r\nConnection: close\r\n{more}\r\n")
}

#[test]
fn names_proxies_and_rates() {
    let network =
        Network { hosts: vec!["banqi.example.org".parse().unwrap()], proxies: vec!["loopback".parse().unwrap()] };
    let limits = ServerLimits { messages: Rate { burst: 3.0, per_second: 1e-6 }, ..ServerLimits::public() };
    let server = start_network(&settings(122, limits), ServerSettings { network, ..ServerSettings::default() });
    let of = |visitor: &str| format!("X-Forwarded-For: {visitor}\r\nX-Forwarded-Proto: https\r\n");
    let origin = |scheme: &str| format!("Origin: {scheme}://banqi.example.org\r\n{}", of("192.0.2.9"));
    assert_eq!(server.answer(&get("/main.js", &origin("https"))).0, 200);
    assert_eq!(server.answer(&get("/main.js", &origin("http"))).0, 403);
    let (status, text) = server.answer(&get("/", "").replace("banqi", "evil"));
    assert!(status == 403 && text.contains("--allow-host"), "{text}");
    // Each visitor of the proxy has a rate of its own.
    for expected in [200, 200, 429] {
        let (status, text) = server.answer(&get("/main.js", &of("192.0.2.9")));
        assert_eq!((status, status == 429), (expected, text.contains("too many requests from your address")));
    }
    assert_eq!(server.answer(&get("/main.js", &of("192.0.2.10"))).0, 200);
    // What is for the operator is not for those who come from elsewhere.
    for path in ["/metrics", "/api/server"] {
        assert_eq!(server.answer(&get(path, &of("192.0.2.11"))).0, 404);
    }
    assert_eq!(server.answer(&get("/healthz", &of("192.0.2.9"))), (200, "ok\n".to_owned()));
    assert_eq!(server.answer(&get("/metrics", "")).0, 200);
}

#[test]
fn an_import_has_a_rate() {
    let limits = ServerLimits { imports: Rate { burst: 100.0, per_second: 1e-6 }, ..ServerLimits::public() };
    let server = start_network(&settings(123, limits), ServerSettings::default());
    let import = |text: &str| {
        let length = text.len();
        let head = format!("POST /api/games HTTP/1.1\r\nHost: 127.0.0.1\r\ncontent-length: {length}\r\n");
        server.answer(&format!("{head}content-type: text/plain\r\nConnection: close\r\n\r\n{text}")).0
    };
    assert_eq!(import(&"x".repeat(90)), 200);
    assert_eq!(import(&"x".repeat(90)), 429);
}

#[test]
fn a_page_over_tls() {
    let dir = tempfile::tempdir().unwrap();
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let (chain, key) = (dir.path().join("chain.pem"), dir.path().join("key.pem"));
    std::fs::write(&chain, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    for (chain, key, expected) in [
        (&dir.path().join("none.pem"), &key, "cannot read the certificate"),
        (&key, &key, "there is no certificate in"),
        (&chain, &chain, "cannot read the key"),
    ] {
        let error = Tls::read(chain, key).err().unwrap().to_string();
        assert!(error.contains(expected) && error.contains(".pem"), "{error}");
    }
    let tls = Some(Tls::read(&chain, &key).unwrap());
    let server =
        start_network(&settings(124, ServerLimits::public()), ServerSettings { tls, ..ServerSettings::default() });

    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let config = Arc::new(config);
    let connect = |origin: &str| {
        let client = ClientConnection::new(Arc::clone(&config), ServerName::try_from("localhost").unwrap()).unwrap();
        let stream = StreamOwned::new(client, TcpStream::connect(("127.0.0.1", server.port)).unwrap());
        let mut request = format!("wss://localhost:{}/socket", server.port).into_client_request().unwrap();
        request.headers_mut().insert("origin", format!("{origin}:{}", server.port).parse().unwrap());
        tungstenite::client::client(request, stream).map(|(socket, _)| socket).map_err(|error| error.to_string())
    };
    assert!(connect("http://localhost").unwrap_err().contains("403"));
    let mut socket = connect("https://localhost").unwrap();
    socket.send(tungstenite::Message::text(r#"{"type":"hello"}"#)).unwrap();
    let mut heard = std::iter::repeat_with(|| socket.read().unwrap());
    let welcome = heard.find(tungstenite::Message::is_text).unwrap();
    assert!(welcome.to_text().unwrap().contains("welcome"), "{welcome}");
    // Without TLS there is nothing to hear.
    let mut plain = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    plain.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut heard = Vec::new();
    let _ = plain.read_to_end(&mut heard);
    assert!(!heard.starts_with(b"HTTP"), "{heard:?}");
}
