//! The envelope of every message: who says what about which item of which job.
//!
//! ```text
//! anqi fleet 1
//! role worker
//! signer 64 hexadecimal digits
//! job 32 hexadecimal digits
//! item 17
//! engines BLAKE3 of what the job says of its engines
//! payload BLAKE3 of everything after the empty line
//! signature 128 hexadecimal digits, ed25519 over the lines before this one
//!
//! ...
//! ```
//!
//! The reader knows from the place of a message which role, job and item it must name, so nothing that was signed once can be
//! used in another place.

use std::fmt;

use anqi_rules::excerpt;

use crate::key::{FleetKey, PublicKey, Trusted, from_hex, hex};

/// No message is larger: twice the longest pair of games that we have seen, and below what servers take by default.
pub const MOST_BYTES: usize = 1_000_000;
const FIRST_LINE: &str = "anqi fleet 1";
/// What is wrong with a message is told in so many characters.
const LONGEST_LINE: usize = 300;
/// The lines of the head are shorter than this.
const LONGEST_HEAD: usize = 1024;

/// As what a machine speaks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Role {
    /// Has jobs done.
    Coordinator,
    /// Does them.
    Worker,
}

impl Role {
    /// One word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Role::Coordinator => "coordinator",
            Role::Worker => "worker",
        }
    }
}

/// What a message is about. Signer and reader must mean the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Subject<'a> {
    /// As what the signer speaks.
    pub role: Role,
    /// The key of the job; `-` for none.
    pub job: &'a str,
    /// The item, or what else of the job.
    pub item: &'a str,
    /// What the job says of its engines.
    pub engines: &'a str,
}

/// Why a message does not count.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Reason {
    /// It is larger than any of ours.
    Oversized,
    /// It has no envelope.
    Unsigned,
    /// Its envelope cannot be read.
    Malformed,
    /// Its signer is not trusted here.
    Foreign,
    /// Its signer was excluded.
    Excluded,
    /// It was signed in another role.
    Role,
    /// It was signed for another job.
    Job,
    /// It was signed for another item.
    Item,
    /// It was signed for other engines.
    Engines,
    /// It holds something else than was signed.
    Payload,
    /// The signature is not its signer's.
    Signature,
    /// What it says cannot be.
    Content,
    /// What it asks for is not allowed or not possible here.
    Impossible,
}

impl Reason {
    /// All of them.
    pub const ALL: [Reason; 13] = [
        Reason::Oversized,
        Reason::Unsigned,
        Reason::Malformed,
        Reason::Foreign,
        Reason::Excluded,
        Reason::Role,
        Reason::Job,
        Reason::Item,
        Reason::Engines,
        Reason::Payload,
        Reason::Signature,
        Reason::Content,
        Reason::Impossible,
    ];

    /// One or two words, for counts.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Reason::Oversized => "oversized",
            Reason::Unsigned => "unsigned",
            Reason::Malformed => "malformed",
            Reason::Foreign => "foreign key",
            Reason::Excluded => "excluded worker",
            Reason::Role => "other role",
            Reason::Job => "other job",
            Reason::Item => "other item",
            Reason::Engines => "other engines",
            Reason::Payload => "changed payload",
            Reason::Signature => "bad signature",
            Reason::Content => "bad content",
            Reason::Impossible => "not possible here",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A message that does not count, and what is wrong with it.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{reason}: {what}")]
pub struct Refused {
    /// Why, for counts.
    pub reason: Reason,
    /// What is wrong, in one line.
    pub what: String,
}

impl Refused {
    pub(crate) fn new(reason: Reason, what: impl fmt::Display) -> Refused {
        let line = what.to_string().replace(char::is_control, " ");
        let end = line.char_indices().nth(LONGEST_LINE).map_or(line.len(), |(end, _)| end);
        Refused { reason, what: line[..end].to_owned() }
    }
}

/// A message with its signature.
#[must_use]
pub fn seal(key: &FleetKey, subject: &Subject<'_>, payload: &str) -> Vec<u8> {
    let statement = statement(&key.public(), subject, payload);
    let signature = hex(&key.sign(statement.as_bytes()));
    format!("{statement}signature {signature}\n\n{payload}").into_bytes()
}

fn statement(signer: &PublicKey, subject: &Subject<'_>, payload: &str) -> String {
    let Subject { role, job, item, engines } = subject;
    format!(
        "{FIRST_LINE}\nrole {}\nsigner {signer}\njob {job}\nitem {item}\nengines {}\npayload {}\n",
        role.name(),
        blake3::hash(engines.as_bytes()).to_hex(),
        blake3::hash(payload.as_bytes()).to_hex(),
    )
}

/// Who has signed a message, and what it holds, if it is from a trusted machine and about `subject`.
///
/// # Errors
/// Says why it does not count.
pub fn open<'a>(bytes: &'a [u8], subject: &Subject<'_>, trusted: &Trusted) -> Result<(PublicKey, &'a str), Refused> {
    let refuse = |reason, what: String| Err(Refused::new(reason, what));
    if bytes.len() > MOST_BYTES {
        return refuse(Reason::Oversized, format!("{} bytes, the most is {MOST_BYTES}", bytes.len()));
    }
    let beginning = || excerpt(&String::from_utf8_lossy(&bytes[..bytes.len().min(LONGEST_HEAD)]));
    if !bytes.starts_with(FIRST_LINE.as_bytes()) {
        return refuse(Reason::Unsigned, beginning());
    }
    let Some(Envelope { statement, role, signer, job, item, engines, payload_hash, signature, payload }) = split(bytes)
    else {
        return refuse(Reason::Malformed, beginning());
    };
    if trusted.name(&signer).is_none() {
        return refuse(Reason::Foreign, format!("{signer} is not trusted here"));
    }
    for (reason, found, expected) in [
        (Reason::Role, role, subject.role.name()),
        (Reason::Job, job, subject.job),
        (Reason::Item, item, subject.item),
        (Reason::Engines, engines, &*blake3::hash(subject.engines.as_bytes()).to_hex()),
        (Reason::Payload, payload_hash, &*blake3::hash(payload.as_bytes()).to_hex()),
    ] {
        if found != expected {
            return refuse(reason, format!("{} is signed, not {}", excerpt(found), excerpt(expected)));
        }
    }
    if !signer.has_signed(statement.as_bytes(), &signature) {
        return refuse(Reason::Signature, format!("not that of {signer}"));
    }
    Ok((signer, payload))
}

struct Envelope<'a> {
    statement: &'a str,
    role: &'a str,
    signer: PublicKey,
    job: &'a str,
    item: &'a str,
    engines: &'a str,
    payload_hash: &'a str,
    signature: [u8; 64],
    payload: &'a str,
}

/// The parts of a message; none if it is not laid out as ours.
fn split(bytes: &[u8]) -> Option<Envelope<'_>> {
    let text = std::str::from_utf8(bytes).ok()?;
    let (head, payload) = text.split_once("\n\n")?;
    let (statement, signature) = head.split_at(head.rfind('\n')? + 1);
    let mut lines = statement.lines();
    if head.len() > LONGEST_HEAD || lines.next()? != FIRST_LINE {
        return None;
    }
    let mut value = |name: &str| lines.next()?.strip_prefix(name)?.strip_prefix(' ');
    let envelope = Envelope {
        statement,
        role: value("role")?,
        signer: value("signer")?.parse().ok()?,
        job: value("job")?,
        item: value("item")?,
        engines: value("engines")?,
        payload_hash: value("payload")?,
        signature: from_hex(signature.strip_prefix("signature ")?)?,
        payload,
    };
    lines.next().is_none().then_some(envelope)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUBJECT: Subject<'_> = Subject { role: Role::Worker, job: "0123", item: "17", engines: "p1-a\n" };

    #[test]
    fn nothing_signed_counts_in_another_place() {
        let (key, other) = (FleetKey::new().expect("random"), FleetKey::new().expect("random"));
        let mut trusted = Trusted::default();
        trusted.add(key.public(), "one");
        let message = seal(&key, &SUBJECT, "two\n\ngames");
        assert_eq!(open(&message, &SUBJECT, &trusted), Ok((key.public(), "two\n\ngames")));

        let reason =
            |message: &[u8], subject: &Subject<'_>| open(message, subject, &trusted).map(drop).map_err(|no| no.reason);
        for (subject, expected) in [
            (Subject { role: Role::Coordinator, ..SUBJECT }, Reason::Role),
            (Subject { job: "0124", ..SUBJECT }, Reason::Job),
            (Subject { item: "18", ..SUBJECT }, Reason::Item),
            (Subject { engines: "p1-b\n", ..SUBJECT }, Reason::Engines),
        ] {
            assert_eq!(reason(&message, &subject), Err(expected));
        }
        let text = String::from_utf8(message.clone()).expect("text");
        let changed = |from: &str, to: &str| text.replacen(from, to, 1).into_bytes();
        for (message, expected) in [
            (b"[Event \"x\"]".to_vec(), Reason::Unsigned),
            (seal(&other, &SUBJECT, "x"), Reason::Foreign),
            (changed("games", "gamez"), Reason::Payload),
            (changed(&key.public().to_string(), &other.public().to_string()), Reason::Foreign),
            (changed("signature ", "signature"), Reason::Malformed),
            (changed("item 17\n", ""), Reason::Malformed),
            (changed("payload", "extra 1\npayload"), Reason::Malformed),
            (vec![b'x'; MOST_BYTES + 1], Reason::Oversized),
        ] {
            assert_eq!(reason(&message, &SUBJECT), Err(expected));
        }
        // A payload with its own hash, but under the old signature.
        let forged = String::from_utf8(seal(&other, &SUBJECT, "forged")).expect("text");
        let forged = forged.replace(&other.public().to_string(), &key.public().to_string());
        assert_eq!(reason(forged.as_bytes(), &SUBJECT), Err(Reason::Signature));
    }

    #[test]
    fn any_bytes_are_refused_without_a_panic() {
        let key = FleetKey::new().expect("random");
        let mut trusted = Trusted::default();
        trusted.add(key.public(), "one");
        let message = seal(&key, &SUBJECT, "payload");
        for at in 0..message.len() {
            assert!(open(&message[..at], &SUBJECT, &trusted).is_err(), "cut at {at}");
            for bit in [0, 7] {
                let mut damaged = message.clone();
                damaged[at] ^= 1 << bit;
                assert!(open(&damaged, &SUBJECT, &trusted).is_err(), "bit {bit} of {at}");
            }
        }
    }
}
