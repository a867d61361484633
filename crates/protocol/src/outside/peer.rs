//! Whose connection it is. A program of protocol B gets an address and connects, and can send no secret: the port is open to
//! every process of the machine until it has done so. Linux says which socket is at the other end, and which processes have
//! it open.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::path::Path;

use rustix::process::Pid;

use super::supervisor::descendants;

/// Whether a process below `root` has the other end of this connection.
pub(super) fn is_below(root: Pid, stream: &TcpStream) -> io::Result<bool> {
    let Some(socket) = socket_between(stream.peer_addr()?, stream.local_addr()?)? else { return Ok(false) };
    let name = format!("socket:[{socket}]");
    Ok(descendants(root).into_iter().any(|pid| has_open(pid, &name)))
}

/// The inode of the socket that is bound to `own` and connected to `other`. Programs that use IPv6 are in a table of their own.
fn socket_between(own: SocketAddr, other: SocketAddr) -> io::Result<Option<u64>> {
    let mapped = |address: SocketAddr| match address.ip() {
        IpAddr::V4(ip) => SocketAddr::new(ip.to_ipv6_mapped().into(), address.port()),
        IpAddr::V6(_) => address,
    };
    if let found @ Some(_) = find(Path::new("/proc/net/tcp"), own, other)? {
        return Ok(found);
    }
    match find(Path::new("/proc/net/tcp6"), mapped(own), mapped(other)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None), // a kernel without IPv6
        found => found,
    }
}

fn find(table: &Path, own: SocketAddr, other: SocketAddr) -> io::Result<Option<u64>> {
    let (own, other) = (written(own), written(other));
    for line in BufReader::new(File::open(table)?).lines() {
        let line = line?;
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        if let [_, local, remote, _, _, _, _, _, _, inode, ..] = fields[..]
            && (local, remote) == (own.as_str(), other.as_str())
        {
            return Ok(inode.parse().ok().filter(|&inode| inode != 0));
        }
    }
    Ok(None)
}

/// An address as the kernel's tables have it: words in the byte order of the machine, then the port.
fn written(address: SocketAddr) -> String {
    let bytes = match address.ip() {
        IpAddr::V4(ip) => ip.octets().to_vec(),
        IpAddr::V6(ip) => ip.octets().to_vec(),
    };
    let word = |word: &[u8; 4]| format!("{:08X}", u32::from_ne_bytes(*word));
    let words: String = bytes.as_chunks::<4>().0.iter().map(word).collect();
    format!("{words}:{:04X}", address.port())
}

fn has_open(pid: Pid, name: &str) -> bool {
    let Ok(files) = fs::read_dir(format!("/proc/{}/fd", pid.as_raw_nonzero())) else { return false };
    files.flatten().any(|file| fs::read_link(file.path()).is_ok_and(|target| target.as_os_str() == name))
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv6Addr, TcpListener};

    use rustix::process::getpid;

    use super::*;

    #[test]
    fn the_socket_of_a_connection_is_found() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let theirs = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (ours, _) = listener.accept().unwrap();
        let socket = socket_between(ours.peer_addr().unwrap(), ours.local_addr().unwrap()).unwrap().unwrap();
        assert!(has_open(getpid(), &format!("socket:[{socket}]")));
        assert!(!is_below(getpid(), &ours).unwrap(), "it is ours, and of no child");
        drop(theirs);
    }

    /// As programs in Java connect.
    #[test]
    fn a_socket_of_ipv6_is_found() {
        let mapped: Ipv6Addr = "::ffff:127.0.0.1".parse().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let _theirs = TcpStream::connect((mapped, listener.local_addr().unwrap().port())).unwrap();
        let (ours, _) = listener.accept().unwrap();
        let socket = socket_between(ours.peer_addr().unwrap(), ours.local_addr().unwrap()).unwrap().unwrap();
        assert!(has_open(getpid(), &format!("socket:[{socket}]")));
    }
}
