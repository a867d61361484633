//! Transpositions: positions that are reached in different orders share what lies below them.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use super::tree::Seen;

/// Which children the node of a position has. Every move to the position keeps results of its own, so
/// that visits add up; only what lies below is common.
///
/// The quiet plies are part of the key: nodes that share their children see the same draws come, except
/// those by repetition, which are not proven.
#[derive(Debug)]
pub(super) struct Shared {
    slots: Box<[Slot]>,
    /// Mixed into every key, and changed for every search, so that nothing needs to be cleared.
    salt: u64,
}

/// The children, and the key mixed with them: if two threads write at once, the words do not fit and
/// the slot reads as empty (Hyatt & Mann 2002).
#[derive(Debug, Default)]
struct Slot {
    mixed: AtomicU64,
    children: AtomicU64,
}

impl Shared {
    /// A table of at most so many bytes, or of one slot.
    pub(super) fn with_bytes(bytes: u64) -> Shared {
        let slots = (bytes / size_of::<Slot>() as u64).max(1).ilog2();
        Shared { slots: (0..1u64 << slots).map(|_| Slot::default()).collect(), salt: 0 }
    }

    fn slot(&self, key: u64) -> &Slot {
        &self.slots[key as usize & (self.slots.len() - 1)]
    }

    /// The children of the position with this key.
    pub(super) fn get(&self, key: u64) -> Option<Seen> {
        let key = key ^ self.salt;
        let slot = self.slot(key);
        let children = slot.children.load(Relaxed);
        (slot.mixed.load(Relaxed) ^ children == key && children != 0).then_some(Seen(children as u32))
    }

    pub(super) fn put(&self, key: u64, Seen(children): Seen) {
        let key = key ^ self.salt;
        let slot = self.slot(key);
        slot.children.store(children.into(), Relaxed);
        slot.mixed.store(u64::from(children) ^ key, Relaxed);
    }

    /// Forgets everything.
    pub(super) fn renew(&mut self) {
        self.salt = self.salt.wrapping_add(0x9E37_79B9_7F4A_7C15); // visits all 2^64 values
    }
}
