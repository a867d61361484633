//! Logins: each against a server that asks for it. A wrong one is told without what is secret.

use std::fs;
use std::path::{Path, PathBuf};

use anqi_endgame::{Ending, Flavour, classes_up_to};
use anqi_fleet::{FleetError, Login, NatsServer, Tell, Tls, Trusted, build_elsewhere, fleet_status};
use anqi_lab::Allowed;
use anqi_task::Stop;
use data_encoding::BASE64URL_NOPAD;
use nkeys::KeyPair;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair as TlsKey};
use tempfile::TempDir;

use crate::scene::{Log, Scene, Server, key, plan, played_here, trusting};

/// Whether a login does: all streams of a fleet are made then.
fn enter(server: &NatsServer) -> Result<(), FleetError> {
    fleet_status(server, &Trusted::default(), &Tell::new(|_| {})).map(drop)
}

fn address(url: &str) -> NatsServer {
    NatsServer::new(url).expect("an address")
}

/// Nothing secret is in what the operator reads.
fn is_refused(server: &NatsServer, secrets: &[&str]) {
    let told = enter(server).expect_err("no login").to_string();
    assert!(told.starts_with("cannot reach the NATS server at "), "{told}");
    assert!(secrets.iter().all(|secret| !told.contains(secret)), "{told}");
}

fn scene(lines: impl FnOnce(&Path) -> String) -> (TempDir, Server) {
    let dir = tempfile::tempdir().expect("a folder");
    let lines = lines(dir.path());
    let server = Server::start(dir.path(), &lines);
    (dir, server)
}

fn write(dir: &Path, name: &str, text: &str) -> PathBuf {
    let path = dir.join(name);
    fs::write(&path, text).expect("room");
    path
}

#[test]
fn user_and_password() {
    let (_dir, server) = scene(|_| "authorization { user: me, password: \"s@cret:/\" }".to_owned());
    let port = server.port;
    let login = |password: &str| Login::Password { user: "me".to_owned(), password: password.to_owned() };
    enter(&address(&format!("nats://me:s%40cret%3A%2F@127.0.0.1:{port}"))).expect("in the address");
    enter(&address(&server.url()).with_login(login("s@cret:/"))).expect("beside the address");
    is_refused(&address(&server.url()), &[]);
    is_refused(&address(&format!("nats://me:wrongword@127.0.0.1:{port}")), &["wrongword"]);
    is_refused(&address(&server.url()).with_login(login("wrongword")), &["wrongword"]);
}

#[test]
fn token() {
    let (_dir, server) = scene(|_| "authorization { token: \"t/oken\" }".to_owned());
    let port = server.port;
    enter(&address(&format!("nats://t%2Foken@127.0.0.1:{port}"))).expect("in the address");
    enter(&address(&server.url()).with_login(Login::Token("t/oken".to_owned()))).expect("beside the address");
    is_refused(&address(&server.url()), &[]);
    is_refused(&address(&format!("nats://wrongword@127.0.0.1:{port}")), &["wrongword"]);
}

#[test]
fn nkey() {
    let user = KeyPair::new_user();
    let (dir, server) = scene(|_| format!("authorization {{ users: [ {{ nkey: {} }} ] }}", user.public_key()));
    let nkey = |seed: &str| Login::NKey(write(dir.path(), "user.nk", seed));
    let seed = user.seed().expect("its seed");
    enter(&address(&server.url()).with_login(nkey(&format!("{seed}\n")))).expect("the seed");
    let other = KeyPair::new_user().seed().expect("its seed");
    is_refused(&address(&server.url()).with_login(nkey(&other)), &[&other]);
    is_refused(&address(&server.url()).with_login(nkey("SUwrongword")), &["SUwrongword"]);
    let error = enter(&address(&server.url()).with_login(nkey("wrongword"))).expect_err("no seed").to_string();
    assert!(error.ends_with("it holds no seed of a user's NKey, which begins with SU"), "{error}");
    let nowhere = Login::NKey(dir.path().join("nowhere"));
    let error = enter(&address(&server.url()).with_login(nowhere)).expect_err("no file").to_string();
    assert!(error.contains("nowhere: "), "{error}");
}

/// A JWT as `nsc` writes it.
fn jwt(issuer: &KeyPair, of: &KeyPair, claims: &str) -> String {
    let encode = |text: &str| BASE64URL_NOPAD.encode(text.as_bytes());
    let (iss, sub) = (issuer.public_key(), of.public_key());
    let head = encode(r#"{"typ":"JWT","alg":"ed25519-nkey"}"#);
    let body = encode(&format!(
        r#"{{"jti":"{sub}","iat":1700000000,"iss":"{iss}","name":"test","sub":"{sub}","nats":{{{claims},"version":2}}}}"#
    ));
    let signature = issuer.sign(format!("{head}.{body}").as_bytes()).expect("a key pair");
    format!("{head}.{body}.{}", BASE64URL_NOPAD.encode(&signature))
}

fn credentials(account: &KeyPair, user: &KeyPair) -> String {
    let jwt = jwt(account, user, r#""pub":{},"sub":{},"subs":-1,"data":-1,"payload":-1,"type":"user""#);
    let seed = user.seed().expect("its seed");
    format!(
        "-----BEGIN NATS USER JWT-----\n{jwt}\n------END NATS USER JWT------\n\n\
         -----BEGIN USER NKEY SEED-----\n{seed}\n------END USER NKEY SEED------\n"
    )
}

#[test]
fn credentials_file() {
    let [operator, account, system, user] =
        [KeyPair::new_operator(), KeyPair::new_account(), KeyPair::new_account(), KeyPair::new_user()];
    let limits = r#""limits":{"subs":-1,"data":-1,"payload":-1,"imports":-1,"exports":-1,"wildcards":true,"conn":-1,
        "leaf":-1,"mem_storage":-1,"disk_storage":-1,"streams":-1,"consumer":-1},"type":"account""#;
    let limits = limits.replace(char::is_whitespace, "");
    let (dir, server) = scene(|_| {
        let of = |key: &KeyPair, limits: &str| format!("{}: {}", key.public_key(), jwt(&operator, key, limits));
        format!(
            "operator: {}\nsystem_account: {}\nresolver: MEMORY\nresolver_preload: {{\n{}\n{}\n}}",
            jwt(&operator, &operator, r#""type":"operator""#),
            system.public_key(),
            of(&account, &limits),
            of(&system, r#""limits":{"subs":-1,"conn":-1,"data":-1,"payload":-1,"wildcards":true},"type":"account""#),
        )
    });
    let login = |text: &str| Login::Credentials(write(dir.path(), "user.creds", text));
    enter(&address(&server.url()).with_login(login(&credentials(&account, &user)))).expect("credentials");
    is_refused(&address(&server.url()), &[]);
    let stranger = KeyPair::new_account();
    let forged = credentials(&stranger, &user);
    is_refused(&address(&server.url()).with_login(login(&forged)), &[&user.seed().expect("its seed")]);
    let error = enter(&address(&server.url()).with_login(login("wrongword"))).expect_err("no credentials").to_string();
    assert!(error.contains("user.creds: it is no file of credentials") && !error.contains("wrongword"), "{error}");
}

#[test]
fn tls_with_certificates_of_both_sides() {
    let issue = |name: &str| {
        let mut params = CertificateParams::new(vec![name.to_owned()]).expect("a name");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        CertifiedIssuer::self_signed(params, TlsKey::generate().expect("a key")).expect("a certificate")
    };
    let (authority, other) = (issue("authority"), issue("other authority"));
    let dir = tempfile::tempdir().expect("a folder");
    let certified = |name: &str, by: &CertifiedIssuer<'_, TlsKey>| {
        let key = TlsKey::generate().expect("a key");
        let params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).expect("an address");
        let certificate = params.signed_by(&key, by).expect("a certificate");
        (
            write(dir.path(), &format!("{name}.pem"), &certificate.pem()),
            write(dir.path(), &format!("{name}.key"), &key.serialize_pem()),
        )
    };
    let ca = write(dir.path(), "ca.pem", &authority.pem());
    let (certificate, key) = certified("server", &authority);
    let (own, stranger) = (certified("own", &authority), certified("stranger", &other));
    let tls = format!("tls {{ cert_file: {certificate:?}, key_file: {key:?}, ca_file: {ca:?}, verify: true }}");
    let server = Server::start(dir.path(), &tls);
    let with = |scheme: &str, authority: Option<&Path>, own: Option<&(PathBuf, PathBuf)>| {
        let tls = Tls { authority: authority.map(Path::to_owned), own: own.cloned() };
        enter(&address(&format!("{scheme}://127.0.0.1:{}", server.port)).with_tls(tls))
    };
    with("tls", Some(&ca), Some(&own)).expect("both sides are who they should be");
    with("nats", Some(&ca), Some(&own)).expect("certificates ask for TLS");
    with("tls", Some(&ca), None).expect_err("we show no certificate");
    with("tls", Some(&ca), Some(&stranger)).expect_err("our certificate is another authority's");
    let foreign = write(dir.path(), "other.pem", &other.pem());
    with("tls", Some(&foreign), Some(&own)).expect_err("the server's certificate is another authority's");
    let nowhere = dir.path().join("nowhere.pem");
    let error = with("tls", Some(&nowhere), None).expect_err("no file").to_string();
    assert!(error.contains("nowhere.pem: "), "{error}");
}

/// The permissions that `docs/book/fleet.md` gives a worker are enough for pairs and tables, and for nothing of a coordinator.
#[test]
fn a_worker_needs_the_documented_permissions_alone() {
    let document = include_str!("../../../../docs/book/fleet.md");
    let block = document.split("```text\n").nth(1).and_then(|rest| rest.split("```").next()).expect("the permissions");
    let block = block.replace("$COORDINATOR_PASSWORD", "boss").replace("$WORKER_PASSWORD", "hand");
    let scene = Scene::with(&block, "coordinator:boss", "worker:hand");
    let worker_key = key();
    let plan = plan("", 2);
    let trusted = || trusting(&[(&worker_key, "worker")]);
    let coordinator = scene.coordinate("match", &plan, trusted(), 1.0);
    scene.job_key();
    let worker = scene.worker(&worker_key, Allowed::default());
    assert!(coordinator.finish() == played_here(&plan));

    let log = Log::default();
    let member = scene.member(&scene.coordinator, trusted(), &log);
    let dir = scene.dir.path().join("tables");
    let endings: Vec<Ending> = classes_up_to(3).into_values().collect();
    let built = build_elsewhere(&member, &dir, Flavour::END, endings, &Stop::default(), ()).expect("they are built");
    assert!(built && !worker.done.lock().expect("no panic").is_empty(), "{}", log.text());
    assert!(!worker.log.has("Permissions Violation"), "{}", worker.log.text());

    // A job cannot be put there with this login, nor a result taken away.
    let stored = scene.by_hand(async |context| {
        let job = context.publish("anqi.fleet.jobs.x.y", "job".into()).await.expect("sent").await.is_ok();
        let results = context.get_stream("ANQI_FLEET_RESULTS").await.expect("to be seen");
        [job, results.purge().await.is_ok(), results.delete_message(1).await.is_ok()]
    });
    assert_eq!(stored, [false; 3]);
}
