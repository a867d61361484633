//! `WorkItem`: what a coordinator says of an item beside its name.

use std::collections::BTreeSet;
use std::fmt;

use anqi_endgame::Ending;

use crate::key::{PublicKey, from_hex, hex};

/// An item on the queue.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct WorkItem {
    /// Workers that must not do it: what they said of it is to be compared, or they are excluded.
    pub(crate) except: BTreeSet<PublicKey>,
    /// The tables that it is built on, each with the hash of its file.
    pub(crate) needs: Vec<(Ending, FileHash)>,
}

/// BLAKE3 of a file.
pub(crate) type FileHash = [u8; 32];

impl fmt::Display for WorkItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.except.iter().try_for_each(|key| writeln!(f, "except {key}"))?;
        self.needs.iter().try_for_each(|(ending, hash)| writeln!(f, "need {ending} {}", hex(hash)))
    }
}

impl WorkItem {
    /// Reads what was written; none if it is something else.
    pub(crate) fn read(text: &str) -> Option<WorkItem> {
        let mut item = WorkItem::default();
        for line in text.lines() {
            match line.split_once(' ')? {
                ("except", key) => drop(item.except.insert(key.parse().ok()?)),
                ("need", need) => {
                    let (ending, hash) = need.split_once(' ')?;
                    item.needs.push((ending.parse().ok()?, from_hex(hash)?));
                }
                _ => return None,
            }
        }
        Some(item)
    }
}

#[cfg(test)]
mod tests {
    use super::WorkItem;
    use crate::FleetKey;

    #[test]
    fn goes_round() {
        let key = FleetKey::new().expect("random").public();
        let item = WorkItem { except: [key].into(), needs: vec![("N-p".parse().expect("an ending"), [7; 32])] };
        for item in [item, WorkItem::default()] {
            assert_eq!(WorkItem::read(&item.to_string()), Some(item));
        }
        for text in ["except me", "need N-p", "need N-p 00", "else", "except "] {
            assert_eq!(WorkItem::read(text), None, "{text}");
        }
    }
}
