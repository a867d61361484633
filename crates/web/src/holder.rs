//! Which server holds a folder of games: written there when it listens, asked for over HTTP by the next one that starts.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::path::Path;
use std::time::Duration;
use std::{fmt, io, process};

use anqi_store::{Access, read_small, write_whole};
use serde::{Deserialize, Serialize};

/// A server and where it listens: the file `server.json` of a folder of games, and the answer to `GET /api/server`.
///
/// The file stays when a server ends, so it counts only while the folder is locked and the server answers with the
/// same [`id`](Holder::id).
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Holder {
    schema: String,
    /// The version of anqi.
    pub version: String,
    /// Random, new with every start: it tells a server from another one that took its port, and nothing about the folder.
    pub id: String,
    /// The number of its process.
    pub process: u32,
    /// Where it listens.
    pub address: SocketAddr,
    /// Whether it speaks TLS.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tls: bool,
}

const SCHEMA: &str = "anqi-server-1";
const FILE: &str = "server.json";
/// A server on this machine answers at once, unless it is stopped.
const PATIENCE: Duration = Duration::from_secs(2);
/// No answer is longer; another program's may be.
const LONGEST_ANSWER: usize = 16 * 1024;

impl Holder {
    /// This process, listening on `address`, with an id of its own.
    pub(crate) fn new(address: SocketAddr, tls: bool) -> io::Result<Holder> {
        let mut id = [0; 8];
        getrandom::fill(&mut id).map_err(|error| io::Error::other(error.to_string()))?;
        Ok(Holder {
            schema: SCHEMA.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            id: format!("{:016x}", u64::from_le_bytes(id)),
            process: process::id(),
            address,
            tls,
        })
    }

    /// What a folder says of its last server; `None` if it says nothing that can be read.
    pub(crate) fn read(dir: &Path) -> Option<Holder> {
        let holder: Holder = serde_json::from_slice(&read_small(&dir.join(FILE), LONGEST_ANSWER).ok()?).ok()?;
        (holder.schema == SCHEMA).then_some(holder)
    }

    pub(crate) fn write(&self, dir: &Path) -> io::Result<()> {
        write_whole(&dir.join(FILE), Access::Ordinary, |file| Ok(serde_json::to_writer(file, self)?))
    }

    /// The address of the page. A server that listens on every address is reached on the loopback address.
    #[must_use]
    pub fn url(&self) -> String {
        let scheme = if self.tls { "https" } else { "http" };
        format!("{scheme}://{}/", self.reachable())
    }

    fn reachable(&self) -> SocketAddr {
        let mut address = self.address;
        match address.ip() {
            IpAddr::V4(Ipv4Addr::UNSPECIFIED) => address.set_ip(Ipv4Addr::LOCALHOST.into()),
            IpAddr::V6(Ipv6Addr::UNSPECIFIED) => address.set_ip(Ipv6Addr::LOCALHOST.into()),
            _ => {}
        }
        address
    }

    /// Whether this very server answers at its address. Waits for two seconds at most. One that speaks TLS is not asked.
    #[must_use]
    pub fn answers(&self) -> bool {
        !self.tls && self.ask().is_ok_and(|answer| answer == *self)
    }

    fn ask(&self) -> io::Result<Holder> {
        let address = self.reachable();
        let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        write!(stream, "GET /api/server HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
        let mut answer = String::new();
        stream.take(LONGEST_ANSWER as u64).read_to_string(&mut answer)?;
        let (_, body) = answer.split_once("\r\n\r\n").ok_or(io::ErrorKind::InvalidData)?;
        Ok(serde_json::from_str(body)?)
    }
}

/// `process 123 at http://127.0.0.1:8064/`.
impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {} at {}", self.process, self.url())
    }
}
