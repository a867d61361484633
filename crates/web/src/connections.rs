//! All sockets of the server, from the moment they are accepted until they are closed, pages included. One cap holds for all
//! of them; who does not read is closed; when there is no room the least of them go, so that newcomers get in.
//!
//! A socket is closed that
//! - has more to read than the system keeps for it, and takes less than [`LEAST_SPEED`] for [`PATIENCE`];
//! - is shed: at the cap one in 64 goes. First those with no game open, among them first those that do not read, then those
//!   whose visitor has the most sockets, then the longest silent; only then those with a game, in the same order.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use futures_util::task::AtomicWaker;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use crate::limits::ServerLimits;
use crate::metrics::{Metrics, count};
use crate::visitors::Visitor;

/// How long a socket may take next to nothing of what it is sent.
const PATIENCE: Duration = Duration::from_secs(10);
/// What it must take meanwhile, in bytes a second.
const LEAST_SPEED: u64 = 1024;
const SWEEP: Duration = Duration::from_secs(1);
/// What the system keeps for a socket that does not read: a page's largest file fits in twice.
#[cfg(unix)]
const SEND_BUFFER: usize = 128 * 1024;
/// What it keeps of a socket that sends more than the server reads.
#[cfg(unix)]
const RECEIVE_BUFFER: usize = 64 * 1024;

/// All sockets.
#[derive(Debug)]
pub(crate) struct Connections {
    limits: ServerLimits,
    metrics: Arc<Metrics>,
    start: Instant,
    sockets: Mutex<Sockets>,
}

#[derive(Debug, Default)]
struct Sockets {
    all: HashMap<u64, Arc<Connection>>,
    /// Those that are closed and not gone yet.
    closing: usize,
    number: u64,
}

/// One socket.
#[derive(Debug)]
pub(crate) struct Connection {
    number: u64,
    visitor: Mutex<Arc<Visitor>>,
    /// A game is open in it.
    has_game: AtomicBool,
    /// When it last sent something, in milliseconds of the server.
    heard: AtomicU64,
    /// The last write had to wait.
    is_blocked: AtomicBool,
    written: AtomicU64,
    /// Since when every look found it blocked, and what was written until then. The sweeper's own.
    blocked: Mutex<Option<(Instant, u64)>>,
    is_closed: AtomicBool,
    reader: AtomicWaker,
    writer: AtomicWaker,
}

/// Why a socket is not let in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TurnedAway {
    /// Its visitor has too many.
    TooMany,
    /// Its visitor opens them too fast.
    TooFast,
}

impl Connections {
    /// Starts the sweeper, which ends with this.
    pub(crate) fn new(limits: ServerLimits, metrics: Arc<Metrics>) -> Arc<Connections> {
        let connections = Arc::new(Connections { limits, metrics, start: Instant::now(), sockets: Mutex::default() });
        let swept = Arc::downgrade(&connections);
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(SWEEP).await;
                let Some(connections) = Weak::upgrade(&swept) else { return };
                connections.sweep(Instant::now());
            }
        });
        connections
    }

    fn sockets(&self) -> MutexGuard<'_, Sockets> {
        self.sockets.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many sockets there are.
    pub(crate) fn len(&self) -> usize {
        self.sockets().all.len()
    }

    /// Lets a socket in, if its visitor may have one more. If there is no room others have to go.
    /// A `proxy` has as many as it wants: its visitors are counted as they become known.
    pub(crate) fn admit(
        self: &Arc<Connections>,
        stream: TcpStream,
        visitor: &Arc<Visitor>,
        is_proxy: bool,
    ) -> Result<Watched, TurnedAway> {
        if !is_proxy {
            visitor.take_connection(&self.limits).map_err(|_| TurnedAway::TooFast)?;
        }
        let most = if is_proxy { usize::MAX } else { self.limits.sockets_each };
        if !visitor.add_socket(most) {
            return Err(TurnedAway::TooMany);
        }
        bound_buffers(&stream);
        let mut sockets = self.sockets();
        sockets.number += 1;
        let connection = Arc::new(Connection {
            number: sockets.number,
            visitor: Mutex::new(Arc::clone(visitor)),
            has_game: AtomicBool::new(false),
            heard: AtomicU64::new(self.millis()),
            is_blocked: AtomicBool::new(false),
            written: AtomicU64::new(0),
            blocked: Mutex::new(None),
            is_closed: AtomicBool::new(false),
            reader: AtomicWaker::new(),
            writer: AtomicWaker::new(),
        });
        let is_full = sockets.all.len() - sockets.closing >= self.limits.sockets;
        if is_full {
            drop(sockets);
            self.make_room();
            sockets = self.sockets();
        }
        sockets.all.insert(connection.number, Arc::clone(&connection));
        drop(sockets);
        count(&self.metrics.connections);
        Ok(Watched { stream, connection, connections: Arc::clone(self) })
    }

    /// Closes one in 64, so that newcomers get in. Many at once, because finding them takes a look at all.
    pub(crate) fn make_room(&self) {
        let least = {
            let sockets = self.sockets();
            sockets.least((sockets.all.len() / 64).max(1))
        };
        self.metrics.shed.fetch_add(least.len() as u64, Ordering::Relaxed);
        least.iter().for_each(|connection| self.close(connection));
    }

    /// A socket of a proxy turns out to be this visitor's. False if the visitor has too many.
    pub(crate) fn belongs_to(&self, connection: &Connection, visitor: &Arc<Visitor>) -> bool {
        let mut of = connection.visitor.lock().unwrap_or_else(PoisonError::into_inner);
        if of.id() == visitor.id() {
            return true;
        }
        if !visitor.add_socket(self.limits.sockets_each) {
            return false;
        }
        of.remove_socket();
        *of = Arc::clone(visitor);
        true
    }

    /// Closes them all.
    pub(crate) fn close_all(&self) {
        let all: Vec<_> = self.sockets().all.values().cloned().collect();
        all.iter().for_each(|connection| self.close(connection));
    }

    fn close(&self, connection: &Connection) {
        if !connection.is_closed.swap(true, Ordering::AcqRel) {
            self.sockets().closing += 1;
        }
        connection.wake();
    }

    /// Closes those that do not read.
    fn sweep(&self, now: Instant) {
        let all: Vec<_> = self.sockets().all.values().cloned().collect();
        for connection in all {
            let written = connection.written.load(Ordering::Relaxed);
            let mut blocked = connection.blocked.lock().unwrap_or_else(PoisonError::into_inner);
            if !connection.is_blocked.load(Ordering::Relaxed) {
                *blocked = None;
                continue;
            }
            let (since, before) = *blocked.get_or_insert((now, written));
            let waited = now.saturating_duration_since(since);
            if waited >= PATIENCE {
                if written - before < waited.as_secs() * LEAST_SPEED {
                    count(&self.metrics.too_slow);
                    drop(blocked);
                    self.close(&connection);
                } else {
                    *blocked = None;
                }
            }
        }
    }

    fn millis(&self) -> u64 {
        self.start.elapsed().as_millis() as u64
    }
}

impl Sockets {
    /// Those that have to go first.
    fn least(&self, number: usize) -> Vec<Arc<Connection>> {
        let mut open: Vec<_> =
            self.all.values().filter(|connection| !connection.is_closed.load(Ordering::Acquire)).collect();
        let number = number.min(open.len());
        if number > 0 {
            open.select_nth_unstable_by_key(number - 1, |connection| connection.worth());
        }
        open[..number].iter().map(|connection| Arc::clone(connection)).collect()
    }
}

impl Connection {
    /// A game is open in it, or not any more.
    pub(crate) fn set_has_game(&self, has_game: bool) {
        self.has_game.store(has_game, Ordering::Relaxed);
    }

    /// The order in which sockets have to go.
    fn worth(&self) -> (bool, bool, Reverse<usize>, u64) {
        let sockets = self.visitor.lock().unwrap_or_else(PoisonError::into_inner).sockets();
        let reads = !self.is_blocked.load(Ordering::Relaxed);
        (self.has_game.load(Ordering::Relaxed), reads, Reverse(sockets), self.heard.load(Ordering::Relaxed))
    }

    fn wake(&self) {
        self.reader.wake();
        self.writer.wake();
    }

    fn check(&self) -> io::Result<()> {
        if self.is_closed.load(Ordering::Acquire) { Err(io::ErrorKind::ConnectionAborted.into()) } else { Ok(()) }
    }
}

/// The stream of a socket, which is one of [`Connections`] until it is dropped.
#[derive(Debug)]
pub(crate) struct Watched {
    stream: TcpStream,
    connection: Arc<Connection>,
    connections: Arc<Connections>,
}

impl Watched {
    pub(crate) fn connection(&self) -> &Arc<Connection> {
        &self.connection
    }

    fn noted(&self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        self.connection.is_blocked.store(written.is_pending(), Ordering::Relaxed);
        if let Poll::Ready(Ok(bytes)) = &written {
            self.connection.written.fetch_add(*bytes as u64, Ordering::Relaxed);
        }
        written
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let mut sockets = self.connections.sockets();
        sockets.all.remove(&self.connection.number);
        if self.connection.is_closed.load(Ordering::Acquire) {
            sockets.closing = sockets.closing.saturating_sub(1);
        }
        drop(sockets);
        self.connection.visitor.lock().unwrap_or_else(PoisonError::into_inner).remove_socket();
    }
}

impl AsyncRead for Watched {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.connection.reader.register(cx.waker());
        self.connection.check()?;
        let before = buf.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buf);
        if buf.filled().len() > before {
            self.connection.heard.store(self.connections.millis(), Ordering::Relaxed);
        }
        read
    }
}

impl AsyncWrite for Watched {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.connection.writer.register(cx.waker());
        self.connection.check()?;
        let written = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.noted(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.connection.writer.register(cx.waker());
        self.connection.check()?;
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.noted(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(unix)]
fn bound_buffers(stream: &TcpStream) {
    // Without it the system keeps megabytes for each socket that does not read.
    let _ = rustix::net::sockopt::set_socket_send_buffer_size(stream, SEND_BUFFER);
    let _ = rustix::net::sockopt::set_socket_recv_buffer_size(stream, RECEIVE_BUFFER);
}

#[cfg(not(unix))]
fn bound_buffers(_: &TcpStream) {}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};

    use super::*;
    use crate::visitors::Visitors;

    struct Test {
        connections: Arc<Connections>,
        visitors: Visitors,
        listener: TcpListener,
        limits: ServerLimits,
    }

    impl Test {
        async fn new(limits: ServerLimits) -> Test {
            let connections = Connections::new(limits.clone(), Arc::default());
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            Test { connections, visitors: Visitors::default(), listener, limits }
        }

        /// A socket as if it came from this address, and the other end of it.
        async fn socket(&self, address: u32, is_proxy: bool) -> (Result<Watched, TurnedAway>, TcpStream) {
            let client = TcpStream::connect(self.listener.local_addr().unwrap()).await.unwrap();
            let (stream, _) = self.listener.accept().await.unwrap();
            let visitor = self.visitors.of(IpAddr::V4(address.into()), &self.limits);
            (self.connections.admit(stream, &visitor, is_proxy), client)
        }
    }

    #[tokio::test]
    async fn the_least_go_when_there_is_no_room() {
        let test = Test::new(ServerLimits { sockets: 4, sockets_each: 3, ..ServerLimits::default() }).await;
        let (player, _player) = test.socket(1, false).await;
        let (lonely, _lonely) = test.socket(2, false).await;
        let (mut player, mut lonely) = (player.unwrap(), lonely.unwrap());
        player.connection().set_has_game(true);
        let (one, _one) = test.socket(3, false).await;
        let (two, mut end_of_two) = test.socket(3, false).await;
        let (mut one, mut two) = (one.unwrap(), two.unwrap());
        tokio::time::sleep(Duration::from_millis(5)).await;
        end_of_two.write_all(b"x").await.unwrap();
        assert_eq!(two.read_u8().await.unwrap(), b'x');
        // The one that has been silent longer, of the visitor with the most sockets.
        let (newcomer, _newcomer) = test.socket(4, false).await;
        assert_eq!(one.read_u8().await.unwrap_err().kind(), io::ErrorKind::ConnectionAborted);
        assert_eq!(one.write(b"x").await.unwrap_err().kind(), io::ErrorKind::ConnectionAborted);
        drop(one);
        assert_eq!((test.connections.len(), test.connections.metrics.shed.load(Ordering::Relaxed)), (4, 1));
        assert!(lonely.write(b"x").await.is_ok() && player.write(b"x").await.is_ok() && two.write(b"x").await.is_ok());
        drop((newcomer, two));
        assert_eq!((test.connections.len(), test.connections.sockets().closing), (2, 0));
    }

    #[tokio::test]
    async fn a_visitor_has_a_bounded_number_and_a_proxy_has_many_visitors() {
        let test = Test::new(ServerLimits { sockets: 100, sockets_each: 2, ..ServerLimits::default() }).await;
        let mut held = Vec::new();
        for expected in [true, true, false] {
            let (socket, _) = test.socket(1, false).await;
            assert_eq!(socket.is_ok(), expected);
            held.push(socket);
        }
        assert_eq!(held.pop().unwrap().unwrap_err(), TurnedAway::TooMany);
        let visitor = test.visitors.of(IpAddr::V4(9.into()), &test.limits);
        for expected in [true, true, false] {
            let (socket, _) = test.socket(7, true).await;
            let socket = socket.unwrap();
            assert_eq!(test.connections.belongs_to(socket.connection(), &visitor), expected);
            held.push(Ok(socket));
        }
        assert_eq!(visitor.sockets(), 2);
        drop(held);
        assert_eq!((visitor.sockets(), test.connections.len()), (0, 0));
    }

    #[tokio::test]
    async fn who_does_not_read_is_closed() {
        let test = Test::new(ServerLimits::default()).await;
        let (socket, client) = test.socket(1, false).await;
        let mut socket = socket.unwrap();
        let block = vec![0; 1 << 20];
        // Until the system takes no more.
        while tokio::time::timeout(Duration::from_millis(50), socket.write(&block)).await.is_ok() {}
        let now = Instant::now();
        test.connections.sweep(now);
        test.connections.sweep(now + PATIENCE / 2);
        assert!(socket.connection.check().is_ok());
        test.connections.sweep(now + PATIENCE);
        assert!(socket.connection.check().is_err() && socket.write(&block).await.is_err());
        drop(client);
    }
}
