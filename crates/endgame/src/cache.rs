//! `BlockCache`: unpacked blocks of table files, as many as fit into a bound.
//!
//! A table asks for a byte of a block by the ticket that it was given when the block was kept. A reader takes no lock: it
//! compares the ticket of the frame with its own before and after it reads (a sequence lock; every word is atomic), so it
//! gets the byte of its own block or nothing. No ticket is given twice. Frames are given to other blocks in the order of a
//! clock, which passes over those that were read since it came by last.

use std::fmt;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU64, fence};
use std::sync::{Mutex, OnceLock, PoisonError};

/// How many bytes a block has, and a frame. Small enough to be unpacked for one probe, large enough to be compressed well.
pub(crate) const BLOCK: usize = 1 << 16;
const WORD: usize = size_of::<u64>();
/// The number of the frame is in the low bits of a ticket.
const FRAME_BITS: u32 = 24;
/// The ticket of a frame in which there is nothing to read.
const NOTHING: u64 = u64::MAX;

/// Unpacked blocks of tables in files, in bounded memory. Tables and threads share it.
pub struct BlockCache {
    frames: Box<[Frame]>,
    hand: Mutex<Hand>,
}

/// Room for one block. Its memory is taken when it is first used.
struct Frame {
    ticket: AtomicU64,
    is_used: AtomicBool,
    words: OnceLock<Box<[AtomicU64]>>,
}

struct Hand {
    at: usize,
    /// How many blocks were kept so far.
    kept: u64,
}

/// What a table knows of one of its blocks: the ticket that it got last.
#[derive(Debug, Default)]
pub(crate) struct Ticket(AtomicU64);

impl Default for BlockCache {
    fn default() -> BlockCache {
        BlockCache::new(BlockCache::USUAL)
    }
}

impl BlockCache {
    /// What is kept if nothing else is said: 256 MB.
    pub const USUAL: usize = 256 << 20;

    /// Keeps so many bytes at most; one block of 64 kB at least.
    #[must_use]
    pub fn new(bytes: usize) -> BlockCache {
        let frame =
            || Frame { ticket: AtomicU64::new(NOTHING), is_used: AtomicBool::new(false), words: OnceLock::new() };
        let count = (bytes / BLOCK).clamp(1, 1 << FRAME_BITS);
        let frames = std::iter::repeat_with(frame).take(count).collect();
        BlockCache { frames, hand: Mutex::new(Hand { at: 0, kept: 0 }) }
    }

    /// How many bytes of blocks are in memory.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.frames.iter().filter(|frame| frame.words.get().is_some()).count() * BLOCK
    }

    /// The most that are.
    #[must_use]
    pub const fn most(&self) -> usize {
        self.frames.len() * BLOCK
    }

    /// A byte of the block with this ticket, if it is still here.
    #[inline]
    pub(crate) fn byte(&self, ticket: &Ticket, at: usize) -> Option<u8> {
        let ticket = ticket.0.load(Relaxed);
        let frame = self.frame(ticket)?;
        if frame.ticket.load(Acquire) != ticket {
            return None;
        }
        let word = frame.words.get()?.get(at / WORD)?.load(Relaxed);
        // If the word is of another block, the ticket was changed before it was, and this shows.
        fence(Acquire);
        if frame.ticket.load(Relaxed) != ticket {
            return None;
        }
        if !frame.is_used.load(Relaxed) {
            frame.is_used.store(true, Relaxed);
        }
        Some(word.to_le_bytes()[at % WORD])
    }

    #[inline]
    fn frame(&self, ticket: u64) -> Option<&Frame> {
        self.frames.get((ticket & ((1 << FRAME_BITS) - 1)) as usize)
    }

    /// Keeps a block in place of another.
    pub(crate) fn keep(&self, ticket: &Ticket, bytes: &[u8]) {
        let mut hand = self.hand.lock().unwrap_or_else(PoisonError::into_inner);
        let known = ticket.0.load(Relaxed);
        if self.frame(known).is_some_and(|frame| frame.ticket.load(Relaxed) == known) {
            return; // another thread was faster
        }
        // Readers may mark frames as fast as the hand clears them: after two rounds any frame will do.
        for _ in 0..2 * self.frames.len() {
            hand.at = (hand.at + 1) % self.frames.len();
            if !self.frames[hand.at].is_used.swap(false, Relaxed) {
                break;
            }
        }
        hand.kept += 1;
        let new = hand.kept << FRAME_BITS | hand.at as u64;
        let frame = &self.frames[hand.at];
        frame.ticket.store(NOTHING, Relaxed);
        fence(Release);
        let words = frame.words.get_or_init(|| (0..BLOCK / WORD).map(|_| AtomicU64::new(0)).collect());
        for (word, bytes) in words.iter().zip(bytes.chunks(WORD)) {
            let mut whole = [0; WORD];
            whole[..bytes.len()].copy_from_slice(bytes);
            word.store(u64::from_le_bytes(whole), Relaxed);
        }
        frame.ticket.store(new, Release);
        ticket.0.store(new, Relaxed);
    }
}

/// Without what is in it.
impl fmt::Debug for BlockCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlockCache").field("bytes", &self.bytes()).field("most", &self.most()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    /// Blocks of one byte over and over, so that a mixture of two would show.
    fn block(number: usize) -> Vec<u8> {
        vec![number as u8; BLOCK]
    }

    #[test]
    fn the_block_that_was_not_read_goes_first() {
        let cache = BlockCache::new(2 * BLOCK);
        let tickets: [Ticket; 3] = Default::default();
        let is_there = |number: usize| cache.byte(&tickets[number], 5) == Some(number as u8);
        assert_eq!((cache.bytes(), cache.most()), (0, 2 * BLOCK));
        assert!(!is_there(0), "nothing was kept");
        for number in [0, 1] {
            cache.keep(&tickets[number], &block(number));
        }
        assert!(is_there(1) && !cache.frames.is_empty());
        cache.keep(&tickets[2], &block(2));
        assert!(is_there(1) && is_there(2) && !is_there(0));
        assert_eq!(cache.bytes(), 2 * BLOCK);
    }

    /// The last block of a table may be shorter than what was in its frame before.
    #[test]
    fn blocks_may_be_short() {
        let cache = BlockCache::new(0);
        let tickets: [Ticket; 2] = Default::default();
        cache.keep(&tickets[0], &block(7));
        cache.keep(&tickets[1], &[1, 2, 3]);
        assert_eq!([0, 1, 2].map(|at| cache.byte(&tickets[1], at)), [Some(1), Some(2), Some(3)]);
        assert_eq!(cache.byte(&tickets[0], 0), None);
    }

    /// Four threads read 40 blocks through 3 frames: they get the right byte or none.
    #[test]
    fn readers_never_see_another_block() {
        let cache = BlockCache::new(3 * BLOCK);
        let tickets: Vec<Ticket> = (0..40).map(|_| Ticket::default()).collect();
        let work = |thread: usize| {
            let (mut random, mut hits) = (thread as u64, 0);
            for _ in 0..4_000 {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let number = (random >> 33) as usize % tickets.len();
                for at in [0, 777, BLOCK - 1] {
                    match cache.byte(&tickets[number], at) {
                        Some(byte) => {
                            assert_eq!(usize::from(byte), number);
                            hits += 1;
                        }
                        None => cache.keep(&tickets[number], &block(number)),
                    }
                }
            }
            hits
        };
        let hits: usize = thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|thread| scope.spawn(move || work(thread))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert!(hits > 4_000, "{hits}");
        assert_eq!(cache.bytes(), 3 * BLOCK);
    }
}
