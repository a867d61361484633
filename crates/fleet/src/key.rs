//! `FleetKey`, `PublicKey`, `Trusted`: which machine is which, and whose messages count.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::io;
use std::path::Path;
use std::str::FromStr;

use anqi_rules::excerpt;
use anqi_store::{Access, read_small, write_whole};
use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};

/// A key file has three short lines, a list of trusted keys a line for each machine.
const MOST_BYTES: usize = 1 << 20;
const FIRST_LINE: &str = "anqi fleet key 1";

/// The secret with which a machine signs what it sends: an ed25519 key in a file of its owner's.
#[derive(Clone)]
pub struct FleetKey(SigningKey);

/// By which others know a machine: 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PublicKey([u8; 32]);

/// Public keys of the machines whose messages count, with their names.
///
/// A worker trusts coordinators, a coordinator trusts workers. The file has one `PUBLICKEY NAME` a line; `#` begins a comment.
///
/// ```
/// use anqi_fleet::{FleetKey, Trusted};
///
/// let key = FleetKey::new()?.public();
/// let trusted: Trusted = format!("# the attic\n{key} attic\n").parse()?;
/// assert_eq!(trusted.name(&key), Some("attic"));
/// assert_eq!("attic".parse::<Trusted>().unwrap_err().to_string(), "line 1: \"attic\" is not a public key, expected 64 hexadecimal digits");
/// # Ok::<(), anqi_fleet::KeyError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Trusted(BTreeMap<PublicKey, String>);

/// What can go wrong with keys.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// A file that cannot be read or written.
    #[error("{path}: {error}")]
    Io {
        /// The file.
        path: String,
        /// Why not.
        error: io::Error,
    },
    /// A key must not be lost.
    #[error("{0}: there is a file of this name, which is not overwritten; take another name or remove it yourself")]
    Exists(String),
    /// Another kind of file.
    #[error("{path}: not a fleet key: {what} (anqi fleet key makes one)")]
    NotAKey {
        /// The file.
        path: String,
        /// What is wrong; never what the file holds.
        what: &'static str,
    },
    /// A text that is no public key.
    #[error("{0:?} is not a public key, expected 64 hexadecimal digits")]
    Public(String),
    /// A line of a list.
    #[error("line {line}: {error}")]
    Line {
        /// Which.
        line: usize,
        /// What is wrong.
        error: Box<KeyError>,
    },
    /// A list in a file.
    #[error("{path}: {error}")]
    List {
        /// The file.
        path: String,
        /// What is wrong.
        error: Box<KeyError>,
    },
    /// The system gives no random bytes.
    #[error("the system gives no random bytes: {0}")]
    Random(String),
}

impl FleetKey {
    /// A new key.
    ///
    /// # Errors
    /// If the system gives no random bytes.
    pub fn new() -> Result<FleetKey, KeyError> {
        let mut secret = [0; 32];
        getrandom::fill(&mut secret).map_err(|error| KeyError::Random(error.to_string()))?;
        Ok(FleetKey(SigningKey::from_bytes(&secret)))
    }

    /// Writes a key into a new file, for its owner's eyes alone.
    ///
    /// # Errors
    /// If there is a file of this name, or it cannot be written.
    pub fn write_new(&self, path: &Path) -> Result<(), KeyError> {
        if anqi_store::exists(path) {
            return Err(KeyError::Exists(path.display().to_string()));
        }
        let text = format!("{FIRST_LINE}\npublic {}\nsecret {}\n", self.public(), hex(&self.0.to_bytes()));
        write_whole(path, Access::Secret, |out| out.write_all(text.as_bytes()))
            .map_err(|error: io::Error| KeyError::Io { path: path.display().to_string(), error })
    }

    /// Reads a key.
    ///
    /// # Errors
    /// If the file cannot be read, may be read by others, or holds something else.
    pub fn read(path: &Path) -> Result<FleetKey, KeyError> {
        let io = |error| KeyError::Io { path: path.display().to_string(), error };
        let wrong = |what| KeyError::NotAKey { path: path.display().to_string(), what };
        let text = String::from_utf8(read_small(path, MOST_BYTES).map_err(io)?).map_err(|_| wrong("it is not text"))?;
        let mut lines = text.lines();
        if lines.next() != Some(FIRST_LINE) {
            return Err(wrong("it does not begin with \"anqi fleet key 1\""));
        }
        if anqi_store::is_open_to_others(path).map_err(io)? {
            return Err(wrong("others may read it: chmod 600 FILE"));
        }
        let mut value = |name: &str| lines.next()?.strip_prefix(name)?.strip_prefix(' ').and_then(from_hex::<32>);
        let public = value("public").ok_or_else(|| wrong("its second line is not the public key"))?;
        let secret = value("secret").ok_or_else(|| wrong("its third line is not the secret key"))?;
        let key = FleetKey(SigningKey::from_bytes(&secret));
        if key.public().0 == public { Ok(key) } else { Err(wrong("its public key is not that of its secret")) }
    }

    /// By which others know it.
    #[must_use]
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key().to_bytes())
    }

    pub(crate) fn sign(&self, statement: &[u8]) -> [u8; 64] {
        self.0.sign(statement).to_bytes()
    }

    /// A secret for one purpose, from which the key does not follow.
    pub(crate) fn derive(&self, purpose: &str) -> [u8; 32] {
        blake3::derive_key(purpose, self.0.as_bytes())
    }
}

impl fmt::Debug for FleetKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FleetKey({})", self.public())
    }
}

impl PublicKey {
    /// Whether the holder of the key has signed a statement.
    pub(crate) fn has_signed(&self, statement: &[u8], signature: &[u8; 64]) -> bool {
        let key = VerifyingKey::from_bytes(&self.0);
        key.is_ok_and(|key| key.verify_strict(statement, &Signature::from_bytes(signature)).is_ok())
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for PublicKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<PublicKey, KeyError> {
        let bytes = from_hex(text).filter(|bytes| VerifyingKey::from_bytes(bytes).is_ok_and(|key| !key.is_weak()));
        bytes.map(PublicKey).ok_or_else(|| KeyError::Public(excerpt(text)))
    }
}

impl Trusted {
    /// Trusts a machine under a name; an empty one leaves the beginning of the key.
    pub fn add(&mut self, key: PublicKey, name: &str) {
        let name = if name.is_empty() { key.to_string()[..8].to_owned() } else { name.to_owned() };
        self.0.insert(key, name);
    }

    /// Reads a list from a file.
    ///
    /// # Errors
    /// If it cannot be read, or a line is wrong.
    pub fn read(path: &Path) -> Result<Trusted, KeyError> {
        let io = |error| KeyError::Io { path: path.display().to_string(), error };
        let bytes = read_small(path, MOST_BYTES).map_err(io)?;
        let text = String::from_utf8(bytes)
            .map_err(|error| io(io::Error::new(io::ErrorKind::InvalidData, error.utf8_error())))?;
        text.parse().map_err(|error| KeyError::List { path: path.display().to_string(), error: Box::new(error) })
    }

    /// Adds those of another list.
    pub fn extend(&mut self, other: Trusted) {
        self.0.extend(other.0);
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What a machine is called here, if it is trusted.
    #[must_use]
    pub fn name(&self, key: &PublicKey) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }
}

impl FromStr for Trusted {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Trusted, KeyError> {
        let mut trusted = Trusted::default();
        for (number, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if !line.is_empty() {
                let (key, name) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
                let key = key.parse().map_err(|error| KeyError::Line { line: number + 1, error: Box::new(error) })?;
                trusted.add(key, name.trim());
            }
        }
        Ok(trusted)
    }
}

/// Bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Exactly so many bytes, in small digits.
pub(crate) fn from_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    let is_hex = text.len() == 2 * N && text.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
    for (byte, digits) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)).take(if is_hex { N } else { 0 }) {
        *byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    }
    is_hex.then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_kept_secret_and_never_overwritten() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("a.key");
        let key = FleetKey::new().expect("random bytes");
        key.write_new(&path).expect("room");
        assert!(!anqi_store::is_open_to_others(&path).expect("it is there"));
        assert_eq!(FleetKey::read(&path).expect("our own").public(), key.public());
        let again = FleetKey::new().expect("random bytes").write_new(&path).expect_err("it is there");
        assert!(again.to_string().contains("not overwritten"), "{again}");
        assert_eq!(FleetKey::read(&path).expect("as before").public(), key.public());

        let text = std::fs::read_to_string(&path).expect("text");
        let secret = text.lines().last().and_then(|line| line.split(' ').nth(1)).expect("three lines");
        for (damaged, what) in [
            (text.replace("key 1", "key 9"), "does not begin with"),
            (text.replace("public ", "public 0"), "second line"),
            (text.replace("secret", "secrets"), "third line"),
            (text.replace(secret, &"ab".repeat(32)), "not that of its secret"),
        ] {
            std::fs::write(&path, &damaged).expect("room");
            let told = FleetKey::read(&path).expect_err(what).to_string();
            assert!(told.contains(what) && !told.contains(secret), "{told}");
        }
        assert!(!format!("{key:?}").contains(secret));
    }

    #[test]
    fn lists_say_which_line_is_wrong() {
        let key = FleetKey::new().expect("random bytes").public();
        let trusted: Trusted = format!("\n# all\n {key}   garden shed # the old one\n").parse().expect("a list");
        assert_eq!((trusted.len(), trusted.name(&key)), (1, Some("garden shed")));
        let wrong = format!("{key} a\n{} b\n", &key.to_string()[1..]).parse::<Trusted>().expect_err("63 digits");
        assert!(wrong.to_string().starts_with("line 2: \""), "{wrong}");
        // The neutral point would make signatures that fit anything.
        let weak = format!("01{}", "00".repeat(31));
        assert!(weak.parse::<PublicKey>().is_err());
    }
}
