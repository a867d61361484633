//! Whom a request comes from and whom it is meant for: names of this server, origins of pages, and what a proxy says.

use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use anqi_rules::excerpt;
use axum::http::{HeaderMap, header};
use ipnet::IpNet;

/// Whose words about other addresses are believed, and how this server may be called.
#[derive(Clone, Debug, Default)]
pub struct Network {
    /// Names of this server, beside its addresses and `localhost`.
    pub hosts: Vec<HostName>,
    /// Proxies that tell for whom they ask.
    pub proxies: Vec<Proxy>,
}

/// A name of this server, as a browser sends it, without a port.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HostName(String);

/// A proxy, or a network of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Proxy {
    /// On this machine.
    Loopback,
    /// At these addresses.
    Network(IpNet),
}

/// A text that is no name of a host.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0:?} is not the name of a host, expected one such as banqi.example.org, without scheme or port")]
pub struct HostNameError(String);

/// A text that is no address or network.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0:?} is neither loopback, nor an address such as 192.0.2.7, nor a network such as 10.0.0.0/8")]
pub struct ProxyError(String);

impl FromStr for HostName {
    type Err = HostNameError;

    fn from_str(text: &str) -> Result<HostName, HostNameError> {
        let is_label = |label: &str| {
            let is_sound = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
            (1..=63).contains(&label.len()) && label.bytes().all(is_sound)
        };
        if text.len() <= 253 && text.split('.').all(is_label) {
            Ok(HostName(text.to_ascii_lowercase()))
        } else {
            Err(HostNameError(excerpt(text)))
        }
    }
}

impl FromStr for Proxy {
    type Err = ProxyError;

    fn from_str(text: &str) -> Result<Proxy, ProxyError> {
        if text == "loopback" {
            return Ok(Proxy::Loopback);
        }
        let address = || text.parse::<IpAddr>().map(IpNet::from);
        text.parse::<IpNet>().or_else(|_| address()).map(Proxy::Network).map_err(|_| ProxyError(excerpt(text)))
    }
}

/// What is known of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Caller {
    /// Who asks.
    pub(crate) address: IpAddr,
    /// Whether it was passed on, as far as the headers say.
    pub(crate) is_forwarded: bool,
    /// Whether it came over TLS; not known of proxies that do not say.
    pub(crate) is_secure: Option<bool>,
}

impl Network {
    /// Whether an address is that of a proxy.
    pub(crate) fn is_proxy(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.proxies.iter().any(|proxy| match proxy {
            Proxy::Loopback => address.is_loopback(),
            Proxy::Network(network) => network.contains(&address),
        })
    }

    /// Whom a request comes from. Only a proxy is believed, and only as far back as there are proxies.
    pub(crate) fn caller(&self, peer: IpAddr, headers: &HeaderMap, is_tls: bool) -> Caller {
        let is_forwarded = [FORWARDED_FOR, FORWARDED, REAL_IP].iter().any(|name| headers.contains_key(*name));
        let direct = Caller { address: peer, is_forwarded, is_secure: Some(is_tls) };
        if !self.is_proxy(peer) {
            return direct;
        }
        let (addresses, scheme) = if headers.contains_key(FORWARDED_FOR) {
            let addresses: Vec<_> = values(headers, FORWARDED_FOR).map(address_of).collect();
            (addresses, values(headers, FORWARDED_PROTO).next_back())
        } else {
            let elements: Vec<_> = values(headers, FORWARDED).collect();
            let addresses = elements.iter().map(|element| parameter(element, "for").and_then(address_of)).collect();
            (addresses, elements.last().and_then(|element| parameter(element, "proto")))
        };
        // From the nearest: the first that is no proxy, or the last that is one.
        let mut address = peer;
        for found in addresses.into_iter().rev() {
            let Some(found) = found else { break };
            address = found;
            if !self.is_proxy(found) {
                break;
            }
        }
        Caller { address, is_forwarded, is_secure: scheme.map(|scheme| scheme.eq_ignore_ascii_case("https")) }
    }

    /// A browser says where a page comes from. Only our own may talk to us, and it must have been reached by a number, as
    /// localhost or by a name of ours: another name could point here without our knowledge (DNS rebinding).
    pub(crate) fn check_origin(&self, headers: &HeaderMap, is_secure: Option<bool>) -> Result<(), String> {
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        if !self.is_own(host) {
            return Err(format!("this server is not {}, see --allow-host\n", excerpt(host)));
        }
        let Some(origin) = headers.get(header::ORIGIN) else { return Ok(()) };
        let origin = origin.to_str().unwrap_or_default();
        // Pages that came over TLS are not mixed with those that did not; without a proxy that says so one may do TLS unseen.
        let secure = origin.strip_prefix("https://").filter(|_| is_secure != Some(false) || self.proxies.is_empty());
        let plain = origin.strip_prefix("http://").filter(|_| is_secure != Some(true));
        if secure.or(plain).is_some_and(|of| of.eq_ignore_ascii_case(host)) {
            return Ok(());
        }
        Err(format!("pages of {} may not talk to this server\n", excerpt(origin)))
    }

    fn is_own(&self, host: &str) -> bool {
        let has_port = |(_, port): &(&str, &str)| port.parse::<u16>().is_ok();
        let name = host.rsplit_once(':').filter(has_port).map_or(host, |(name, _)| name);
        name == "localhost"
            || name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().is_ok()
            || host.parse::<SocketAddr>().is_ok()
            || self.hosts.iter().any(|own| own.0.eq_ignore_ascii_case(name))
    }
}

const FORWARDED_FOR: &str = "x-forwarded-for";
const FORWARDED_PROTO: &str = "x-forwarded-proto";
const FORWARDED: &str = "forwarded";
const REAL_IP: &str = "x-real-ip";

/// The elements of a header that may come more than once.
fn values<'a>(headers: &'a HeaderMap, name: &str) -> impl DoubleEndedIterator<Item = &'a str> {
    let texts = headers.get_all(name).iter().map(|value| value.to_str().unwrap_or_default());
    let elements: Vec<&str> = texts.flat_map(|text| text.split(',')).map(str::trim).collect();
    elements.into_iter()
}

/// A parameter of an element of `Forwarded` (RFC 7239).
fn parameter<'a>(element: &'a str, name: &str) -> Option<&'a str> {
    let mut pairs = element.split(';').filter_map(|pair| pair.split_once('='));
    pairs.find(|(key, _)| key.trim().eq_ignore_ascii_case(name)).map(|(_, value)| value.trim().trim_matches('"'))
}

/// `192.0.2.7`, `192.0.2.7:1234`, `2001:db8::1` or `[2001:db8::1]:1234`.
fn address_of(text: &str) -> Option<IpAddr> {
    let bare = || text.strip_prefix('[')?.strip_suffix(']')?.parse().ok();
    let address = text.parse().ok().or_else(|| text.parse::<SocketAddr>().ok().map(|address| address.ip()));
    address.or_else(bare)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(all: &[(&'static str, &str)]) -> HeaderMap {
        all.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    #[test]
    fn only_our_own_pages_may_talk() {
        let check = |host: &str, origin: Option<&str>| {
            let mut all = headers(&[("host", host)]);
            if let Some(origin) = origin {
                all.insert(header::ORIGIN, origin.parse().unwrap());
            }
            Network::default().check_origin(&all, Some(false)).is_ok()
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

    #[test]
    fn names_are_allowed_one_by_one() {
        let network =
            Network { hosts: vec!["Banqi.Example.org".parse().unwrap()], proxies: vec!["10.0.0.0/8".parse().unwrap()] };
        let check = |host: &str, origin: &str, is_secure| {
            network.check_origin(&headers(&[("host", host), ("origin", origin)]), is_secure).is_ok()
        };
        assert!(check("banqi.example.org", "https://banqi.example.org", Some(true)));
        assert!(check("banqi.example.org:8443", "https://banqi.example.org:8443", Some(true)));
        assert!(check("banqi.example.org", "https://banqi.example.org", None));
        assert!(check("banqi.example.org", "http://banqi.example.org", Some(false)));
        assert!(!check("banqi.example.org", "http://banqi.example.org", Some(true)));
        assert!(!check("banqi.example.org", "https://banqi.example.org", Some(false)));
        assert!(!check("banqi.example.org", "https://other.example.org", Some(true)));
        assert!(!check("other.example.org", "https://other.example.org", Some(true)));
        for text in ["", "https://a.example", "a.example:80", "a..b", "a_b", "*.example.org"] {
            assert!(text.parse::<HostName>().unwrap_err().to_string().contains(&format!("{text:?}")), "{text}");
        }
        for text in ["", "localhost", "10.0.0.0/33", "10.0.0"] {
            assert!(text.parse::<Proxy>().unwrap_err().to_string().contains(&format!("{text:?}")), "{text}");
        }
    }

    #[test]
    fn a_proxy_is_believed_and_nothing_else() {
        let network =
            Network { hosts: Vec::new(), proxies: vec!["loopback".parse().unwrap(), "10.0.0.0/8".parse().unwrap()] };
        let caller = |peer: &str, all: &[(&'static str, &str)]| {
            let caller = network.caller(peer.parse().unwrap(), &headers(all), false);
            (caller.address.to_string(), caller.is_secure, caller.is_forwarded)
        };
        let is = |address: &str, is_secure, is_forwarded| (address.to_owned(), is_secure, is_forwarded);
        assert_eq!(caller("192.0.2.1", &[("x-forwarded-for", "192.0.2.9")]), is("192.0.2.1", Some(false), true));
        assert_eq!(caller("127.0.0.1", &[]), is("127.0.0.1", None, false));
        assert_eq!(
            caller("127.0.0.1", &[("x-forwarded-for", "192.0.2.9"), ("x-forwarded-proto", "https")]),
            is("192.0.2.9", Some(true), true)
        );
        // What a client claims stands before what the proxies add.
        let chain = [("x-forwarded-for", "192.0.2.66, 192.0.2.9, 10.1.1.1"), ("x-forwarded-proto", "https, http")];
        assert_eq!(caller("127.0.0.1", &chain), is("192.0.2.9", Some(false), true));
        let twice = [("x-forwarded-for", "192.0.2.66"), ("x-forwarded-for", "2001:db8::1")];
        assert_eq!(caller("10.2.3.4", &twice), is("2001:db8::1", None, true));
        assert_eq!(caller("::ffff:10.2.3.4", &twice), is("2001:db8::1", None, true));
        let standard = [("forwarded", "for=192.0.2.66;proto=http, for=\"[2001:db8::7]:99\";proto=https")];
        assert_eq!(caller("10.2.3.4", &standard), is("2001:db8::7", Some(true), true));
        for nonsense in ["unknown", "", "_hidden", "1.2.3"] {
            assert_eq!(caller("10.2.3.4", &[("x-forwarded-for", nonsense)]), is("10.2.3.4", None, true));
        }
    }
}
