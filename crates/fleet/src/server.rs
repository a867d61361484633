//! `NatsServer`: where the server is, and how to log in.

use std::borrow::Cow;
use std::fmt;
use std::future::ready;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use anqi_rules::excerpt;
use anqi_store::read_small;
use async_nats::{Client, ConnectOptions, Event, ServerAddr};
use percent_encoding::percent_decode_str;

use crate::queue::{AGAIN, FleetError};
use crate::refusals::Tell;

/// Files with secrets and certificates are small.
const MOST_BYTES: usize = 1 << 20;
/// So many complaints of the server are told.
const TOLD: u32 = 5;

/// A NATS server and what it wants to know of us. Nothing that is secret is shown by `Display` or `Debug`.
///
/// ```
/// use anqi_fleet::NatsServer;
///
/// let server = NatsServer::new("nats://me:secret@10.0.0.1:4222")?;
/// assert_eq!(server.to_string(), "nats://10.0.0.1:4222");
/// assert!(NatsServer::new("nats//10.0.0.1").is_err());
/// # Ok::<(), anqi_fleet::FleetError>(())
/// ```
#[derive(Clone)]
pub struct NatsServer {
    /// Without user and password.
    address: ServerAddr,
    shown: String,
    login: Login,
    tls: Tls,
}

/// How to log in.
#[derive(Clone, Default)]
pub enum Login {
    /// The server asks for nothing, or for a certificate alone.
    #[default]
    None,
    /// User and password.
    Password {
        /// The user.
        user: String,
        /// The password.
        password: String,
    },
    /// A token.
    Token(String),
    /// The seed of an NKey, in a file.
    NKey(PathBuf),
    /// A file with a JWT and the seed of its NKey.
    Credentials(PathBuf),
}

/// Encryption beyond what `tls://` asks for.
#[derive(Clone, Default, Debug)]
pub struct Tls {
    /// Certificates of the authorities that are trusted, in place of the system's.
    pub authority: Option<PathBuf>,
    /// Our certificate and its key.
    pub own: Option<(PathBuf, PathBuf)>,
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Login::None => "None",
            Login::Password { .. } => "Password",
            Login::Token(_) => "Token",
            Login::NKey(_) => "NKey",
            Login::Credentials(_) => "Credentials",
        })
    }
}

impl fmt::Debug for NatsServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NatsServer({}, {:?})", self.shown, self.login)
    }
}

/// Without what is secret.
impl fmt::Display for NatsServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl NatsServer {
    /// A server by its address: `nats://HOST:PORT` or `tls://HOST:PORT`, with `USER:PASSWORD@` or `TOKEN@` before the host if
    /// it wants a login.
    ///
    /// # Errors
    /// If the text is no such address; it is not shown, because it may hold a password.
    pub fn new(url: &str) -> Result<NatsServer, FleetError> {
        let wrong = |what: &str| FleetError::Address { shown: without_login(url), what: what.to_owned() };
        let address: ServerAddr = url.parse().map_err(|_| wrong("expected nats://HOST:PORT or tls://HOST:PORT"))?;
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        if rest.trim_end_matches('/').contains('/') {
            return Err(wrong("expected nats://HOST:PORT or tls://HOST:PORT, and %2F for a / in a password"));
        }
        if !matches!(address.scheme(), "nats" | "tls") {
            return Err(wrong("it begins with neither nats:// nor tls://"));
        }
        let decoded = |text: &str| {
            let decoded = percent_decode_str(text).decode_utf8();
            decoded.map(Cow::into_owned).map_err(|_| wrong("user and password must be UTF-8"))
        };
        let login = match (address.username(), address.password()) {
            (None, None) => Login::None,
            (Some(token), None) => Login::Token(decoded(token)?),
            (user, Some(password)) => {
                Login::Password { user: decoded(user.unwrap_or_default())?, password: decoded(password)? }
            }
        };
        let mut url = address.into_inner();
        let cleared = url.set_username("").and_then(|()| url.set_password(None));
        cleared.map_err(|()| wrong("it names no host"))?;
        let shown = url.as_str().trim_end_matches('/').to_owned();
        let address = ServerAddr::from_url(url).map_err(|_| wrong("expected nats://HOST:PORT or tls://HOST:PORT"))?;
        Ok(NatsServer { address, shown, login, tls: Tls::default() })
    }

    /// The same server with another login than its address has.
    #[must_use]
    pub fn with_login(mut self, login: Login) -> NatsServer {
        self.login = login;
        self
    }

    /// The same server with certificates. It is spoken to in TLS then.
    #[must_use]
    pub fn with_tls(mut self, tls: Tls) -> NatsServer {
        self.tls = tls;
        self
    }

    /// Connects. From then on a lost connection is made again, for ever.
    pub(crate) async fn connect(&self, tell: &Tell) -> Result<Client, FleetError> {
        let (tell, told) = (tell.clone(), AtomicU32::new(0));
        let heard = move |event: Event| {
            // A login without a permission that it needs, for example.
            if let Event::ServerError(error) = event
                && told.fetch_add(1, Ordering::Relaxed) < TOLD
            {
                tell.line(&format!("the NATS server says: {}", excerpt(&error.to_string())));
            }
            ready(())
        };
        let options = ConnectOptions::new().name("anqi").reconnect_delay_callback(|_| AGAIN);
        let mut options = options.event_callback(heard);
        options = match &self.login {
            Login::None => options,
            Login::Password { user, password } => options.user_and_password(user.clone(), password.clone()),
            Login::Token(token) => options.token(token.clone()),
            Login::NKey(path) => options.nkey(seed_in(path)?),
            Login::Credentials(path) => options.credentials(&text_of(path)?).map_err(|_| FleetError::Login {
                path: path.display().to_string(),
                what: "it is no file of credentials, with a JWT and the seed of an NKey".to_owned(),
            })?,
        };
        if self.tls.authority.is_some() || self.tls.own.is_some() {
            options = options.require_tls(true);
        }
        if let Some(path) = &self.tls.authority {
            text_of(path)?;
            options = options.add_root_certificates(path.clone());
        }
        if let Some((certificate, key)) = &self.tls.own {
            text_of(certificate)?;
            text_of(key)?;
            options = options.add_client_certificate(certificate.clone(), key.clone());
        }
        let unreachable = |error: async_nats::ConnectError| FleetError::Unreachable {
            url: self.shown.clone(),
            reason: with_causes(&error),
        };
        options.connect(self.address.clone()).await.map_err(unreachable)
    }
}

/// An error with what caused it: "TLS error" alone helps no one.
fn with_causes(error: &dyn std::error::Error) -> String {
    let mut told = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !told.contains(&more) {
            told = format!("{told}: {more}");
        }
        cause = error.source();
    }
    told
}

fn text_of(path: &Path) -> Result<String, FleetError> {
    let wrong = |what: String| FleetError::Login { path: path.display().to_string(), what };
    let bytes = read_small(path, MOST_BYTES).map_err(|error| wrong(error.to_string()))?;
    String::from_utf8(bytes).map_err(|_| wrong("it is not text".to_owned()))
}

/// The first line of a file that is the seed of an NKey, as the tools of NATS write it.
fn seed_in(path: &Path) -> Result<String, FleetError> {
    let text = text_of(path)?;
    let seed = text.lines().map(str::trim).find(|line| line.starts_with("SU"));
    let what = "it holds no seed of a user's NKey, which begins with SU".to_owned();
    seed.map(str::to_owned).ok_or_else(|| FleetError::Login { path: path.display().to_string(), what })
}

/// A text that may be an address, without what may be a password.
fn without_login(text: &str) -> String {
    match text.rsplit_once('@') {
        Some((_, rest)) => format!("…@{}", excerpt(rest)),
        None => excerpt(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn login(url: &str) -> (Login, String) {
        let server = NatsServer::new(url).expect(url);
        (server.login.clone(), server.to_string())
    }

    #[test]
    fn addresses_hold_logins_and_do_not_show_them() {
        let (found, shown) = login("nats://me:s%40cret@host:4222");
        assert!(matches!(found, Login::Password { user, password } if (&*user, &*password) == ("me", "s@cret")));
        assert_eq!(shown, "nats://host:4222");
        let (found, shown) = login("tls://t%2Foken@host");
        assert!(matches!(found, Login::Token(token) if token == "t/oken"));
        assert_eq!(shown, "tls://host");
        let (found, shown) = login("host:4222");
        assert!(matches!(found, Login::None));
        assert_eq!(shown, "nats://host:4222");
        for url in ["http://me:secret@host", "ws://me:secret@host", "nats://me:secret@", "nats://me:secret@ho st:1"] {
            let told = NatsServer::new(url).expect_err(url).to_string();
            assert!(!told.contains("secret"), "{told}");
        }
        let server = NatsServer::new("nats://me:secret@host").expect("an address");
        assert!(!format!("{server:?}").contains("secret"));
    }
}
