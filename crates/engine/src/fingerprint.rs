//! `Fingerprint`: who plays, exactly.

use std::fmt;
use std::io::{self, Read};
use std::str::FromStr;

use anqi_rules::excerpt;

use crate::champion::NetOption;
use crate::resources::{BuildError, Resources};
use crate::spec::PlayerSpec;
use crate::tables::TablesOption;

/// Identifies a player: two with the same fingerprint play the same way, and a change of play, of an option or of the
/// content of a file changes it. Names of files are not part of it, nor are names of presets.
///
/// Written `p1-` and 32 hexadecimal digits; that of an outside program, which may read what nobody knows of, begins with
/// `unverified:`.
///
/// ```
/// use anqi_engine::{Fingerprint, PlayerSpec, Resources};
///
/// let resources = Resources::default();
/// let of = |text: &str| text.parse::<PlayerSpec>()?.fingerprint(&resources).map_err(Box::<dyn std::error::Error>::from);
/// assert_eq!(of("chen:var2")?, of("chen:enhance,k=6")?); // two names of one player
/// assert_ne!(of("chen:var2")?, of("chen:var2,k=7")?);
/// let text = of("champion")?.to_string();
/// assert_eq!((text.len(), text.parse::<Fingerprint>()?), (35, of("champion")?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint {
    digest: [u8; 16],
    verified: bool,
}

/// Of the format of fingerprints.
const VERSION: &str = "p1-";
const UNVERIFIED: &str = "unverified:";
/// Domain of the hash; a change makes all fingerprints others.
const CONTEXT: &str = "anqi 2026-11-18 fingerprint of a player, version 1";

impl Fingerprint {
    /// Of something that is known by some texts or bytes, in this order.
    fn of<'a>(parts: impl IntoIterator<Item = &'a [u8]>, verified: bool) -> Fingerprint {
        let mut hasher = blake3::Hasher::new_derive_key(CONTEXT);
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        let mut digest = [0; 16];
        hasher.finalize_xof().fill(&mut digest);
        Fingerprint { digest, verified }
    }

    /// Of an outside program, by its bytes, which are read piece by piece, and by how it is called. What else it reads is not
    /// known.
    ///
    /// # Errors
    /// If the bytes cannot be read.
    pub fn of_program<'a>(mut program: impl Read, call: impl IntoIterator<Item = &'a str>) -> io::Result<Fingerprint> {
        let (mut hasher, mut piece) = (blake3::Hasher::new(), [0; 1 << 14]);
        loop {
            match program.read(&mut piece) {
                Ok(0) => break,
                Ok(count) => drop(hasher.update(&piece[..count])),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        let hash = *hasher.finalize().as_bytes();
        let mut parts: Vec<&[u8]> = vec![b"program", &hash];
        for word in call {
            parts.push(word.as_bytes());
        }
        Ok(Fingerprint::of(parts, false))
    }

    /// Whether everything that decides how it plays is part of the fingerprint.
    #[must_use]
    pub const fn is_verified(&self) -> bool {
        self.verified
    }
}

impl PlayerSpec {
    /// Who this is, with the files that it names as they were opened.
    ///
    /// # Errors
    /// If a file that it names was not [opened](Resources::open_for), or a folder cannot be read.
    pub fn fingerprint(&self, resources: &Resources) -> Result<Fingerprint, BuildError> {
        resources.check(self)?;
        let (family, behaviour) = self.family();
        let mut options: Vec<String> = Vec::new();
        for option in self.table() {
            let value = match option.name {
                "net" => self.network_content(resources),
                "tables" => self.tables_content(resources)?,
                _ => None,
            };
            options.push(format!("{}={}", option.name, value.unwrap_or(option.default)));
        }
        options.sort_unstable();
        let behaviour = format!("{behaviour:016x}");
        let parts = [family, &behaviour].into_iter().chain(options.iter().map(String::as_str));
        Ok(Fingerprint::of(parts.map(str::as_bytes), true))
    }

    fn network_content(&self, resources: &Resources) -> Option<String> {
        match self.net()? {
            NetOption::Off => None,
            NetOption::Own | NetOption::File(_) => {
                Some(format!("weights {}", blake3::Hash::from(resources.network_facts(self)?.hash).to_hex()))
            }
        }
    }

    fn tables_content(&self, resources: &Resources) -> Result<Option<String>, BuildError> {
        match self.tables() {
            Some(TablesOption::Folder(name)) => {
                let hash = blake3::Hash::from(resources.tables_checksum(name)?);
                Ok(Some(format!("folder {}", hash.to_hex())))
            }
            _ => Ok(None),
        }
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.verified {
            f.write_str(UNVERIFIED)?;
        }
        f.write_str(VERSION)?;
        self.digest.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A text that is no fingerprint.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0:?} is no fingerprint, expected p1- and 32 hexadecimal digits")]
pub struct FingerprintError(String);

impl FromStr for Fingerprint {
    type Err = FingerprintError;

    fn from_str(text: &str) -> Result<Fingerprint, FingerprintError> {
        let bad = || FingerprintError(excerpt(text));
        let rest = text.strip_prefix(UNVERIFIED);
        let digits = rest.unwrap_or(text).strip_prefix(VERSION).ok_or_else(bad)?;
        let lower = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if digits.len() != 32 || !digits.bytes().all(lower) {
            return Err(bad());
        }
        let mut digest = [0; 16];
        for (byte, pair) in digest.iter_mut().zip(digits.as_bytes().chunks(2)) {
            let pair = std::str::from_utf8(pair).map_err(|_| bad())?;
            *byte = u8::from_str_radix(pair, 16).map_err(|_| bad())?;
        }
        Ok(Fingerprint { digest, verified: rest.is_none() })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    fn of(text: &str) -> Fingerprint {
        text.parse::<PlayerSpec>().unwrap().fingerprint(&Resources::default()).unwrap()
    }

    #[test]
    fn texts_go_round() {
        for fingerprint in [of("random"), Fingerprint::of_program(&b"a program"[..], ["./program", "-q"]).unwrap()] {
            assert_eq!(fingerprint.to_string().parse::<Fingerprint>(), Ok(fingerprint));
        }
        let text = of("random").to_string();
        for bad in ["", "p1-", "unverified:", &text[1..], &text.to_uppercase(), &text.replace("p1", "p2")] {
            assert!(bad.parse::<Fingerprint>().is_err(), "{bad}");
        }
    }

    #[test]
    fn programs_are_known_by_bytes_and_call() {
        let of = |program: &[u8], call: &[&str]| Fingerprint::of_program(program, call.iter().copied()).unwrap();
        let all = [of(b"a", &["a", "b"]), of(b"b", &["a", "b"]), of(b"a", &["a b"]), of(b"a", &["a", "b", ""])];
        assert!(all.iter().enumerate().all(|(place, one)| !all[..place].contains(one) && !one.is_verified()));
    }

    /// Every option of every player counts, and what is written out is what was meant anyway.
    #[test]
    fn every_option_counts() {
        let mut known: HashMap<Fingerprint, String> = HashMap::new();
        for preset in PlayerSpec::presets() {
            let options = preset.table();
            let all: Vec<String> = options.iter().map(|option| format!("{}={}", option.name, option.default)).collect();
            let written_out = [&[preset.name.to_owned()], &all[..]].concat().join(",");
            assert_eq!(of(preset.name), of(&written_out), "{written_out}");
            let others = |option: &crate::OptionInfo| match (option.default.as_str(), option.name) {
                ("on", _) => vec!["off".to_owned()],
                ("off", "draws") => vec!["lead".to_owned(), "graded".to_owned()],
                ("off", _) => vec!["on".to_owned()],
                (_, "net") => vec!["off".to_owned()],
                (_, "weights") => vec![],
                (number, _) if number.parse::<f64>().is_ok() => {
                    let number: f64 = number.parse().unwrap();
                    vec![(number + 1.0).to_string(), (number / 2.0).to_string(), "1".to_owned(), "0".to_owned()]
                }
                _ => option.range.split(", ").map(str::to_owned).collect(),
            };
            for option in &options {
                let changed: Vec<PlayerSpec> = others(option)
                    .into_iter()
                    .filter(|value| *value != option.default)
                    .filter_map(|value| format!("{},{}={value}", preset.name, option.name).parse().ok())
                    .collect();
                assert!(!changed.is_empty() || option.name == "weights", "{} of {}", option.name, preset.name);
                for spec in changed {
                    let fingerprint = spec.fingerprint(&Resources::default()).unwrap();
                    assert_ne!(fingerprint, of(preset.name), "{spec}");
                    // The same number means another player.
                    let mut facts: Vec<String> =
                        spec.table().into_iter().map(|o| format!("{}={}", o.name, o.default)).collect();
                    facts.push(spec.family().0.to_owned());
                    let facts = facts.join(",");
                    assert_eq!(*known.entry(fingerprint).or_insert_with(|| facts.clone()), facts);
                }
            }
        }
    }
}
