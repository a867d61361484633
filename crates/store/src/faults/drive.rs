//! What tests do with a disk: let every call fail once, and damage bytes.

use std::ops::Range;
use std::path::Path;

use super::disk::{DiskFault, SimulatedDisk};

/// How the process and the machine go on after a fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum After {
    /// The process dies.
    Restart,
    /// The power is cut, and so much is lost as this seed says.
    PowerCut(u64),
}

/// Runs an operation on a new disk once for every call that it makes and every fault of it, and once without a fault; then
/// the process dies or the power is cut, and `check` looks at what is left and at what `operate` has returned. Gives the
/// number of runs.
pub fn every_fault<T>(
    prepare: impl Fn(&SimulatedDisk),
    operate: impl Fn(&SimulatedDisk) -> T,
    mut check: impl FnMut(&SimulatedDisk, T, After),
) -> u64 {
    const POWER_CUTS: Range<u64> = 0..4;
    let mut runs = 0;
    for after in [After::Restart].into_iter().chain(POWER_CUTS.map(After::PowerCut)) {
        for fault in DiskFault::ALL {
            for call in 0.. {
                let seed = match after {
                    After::Restart => 0,
                    After::PowerCut(seed) => seed.wrapping_mul(0x1_0000) + call,
                };
                let disk = SimulatedDisk::mount(seed);
                prepare(&disk);
                disk.fail(call, fault);
                let outcome = operate(&disk);
                let has_failed = disk.has_failed();
                match after {
                    After::Restart => disk.restart(),
                    After::PowerCut(_) => disk.cut_power(),
                }
                check(&disk, outcome, after);
                runs += 1;
                if !has_failed {
                    break;
                }
            }
        }
    }
    runs
}

/// A damaged copy of some bytes.
#[derive(Clone, Debug)]
pub struct Damaged {
    /// The copy.
    pub bytes: Vec<u8>,
    /// The place of the flipped bit, or where the copy was cut off.
    pub at: usize,
    /// Whether it was cut off.
    pub is_cut: bool,
}

/// Copies with one flipped bit or cut off somewhere, the same for the same seed; three in four have a flipped bit.
pub fn damage(whole: &[u8], seed: u64) -> impl Iterator<Item = Damaged> {
    let mut random = seed;
    let mut below = move |bound: usize| {
        // An LCG (Knuth's MMIX); its upper bits are good enough to choose places.
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((random >> 32) as usize) % bound.max(1)
    };
    std::iter::repeat_with(move || {
        let (at, bit) = (below(whole.len()), below(8));
        let is_cut = below(4) == 0;
        let mut bytes = whole.to_vec();
        if is_cut {
            bytes.truncate(at);
        } else if let Some(byte) = bytes.get_mut(at) {
            *byte ^= 1 << bit;
        }
        Damaged { bytes, at, is_cut }
    })
}

/// How often the ordinary tests damage the files of each user of this crate.
pub const SOME_DAMAGE: usize = 1_500;
/// How often the long tests do: six users have 102,000 damaged files together.
pub const MUCH_DAMAGE: usize = 17_000;

/// What a user of this crate makes of a damaged file.
#[derive(Clone, Debug)]
pub enum Reading {
    /// It is refused with this message.
    Refused(String),
    /// These entries are read, in the order in which they were written, and this is told of the others.
    Read {
        /// Their texts.
        entries: Vec<String>,
        /// The message.
        told: String,
    },
}

/// A file of a user of this crate.
#[derive(Clone, Copy, Debug)]
pub struct DamageTest<'a> {
    /// Where it is, below the mount of the disk.
    pub file: &'a str,
    /// Its bytes.
    pub whole: &'a [u8],
    /// Its entries.
    pub entries: &'a [String],
    /// How many entries a flipped bit may cost, if the file is not refused.
    pub most_lost: usize,
}

impl DamageTest<'_> {
    /// Damages the file so many times and has it read. Nothing panics, the file keeps every byte, what is read was written,
    /// and the message names line, block or byte. Gives how often the file was refused.
    ///
    /// # Panics
    /// If one of these does not hold.
    pub fn run(&self, times: usize, mut read: impl FnMut(&Path) -> Reading) -> usize {
        let disk = SimulatedDisk::mount(1);
        let path = disk.path().join(self.file);
        for folder in path.ancestors().skip(1).take_while(|folder| *folder != disk.path()) {
            disk.put_folder(folder);
        }
        let mut refused = 0;
        for (number, damaged) in damage(self.whole, 24).take(times).enumerate() {
            disk.put(&path, &damaged.bytes);
            let reading = read(&path);
            let context =
                || format!("{}, damage {number}, byte {}, cut {}: {reading:?}", self.file, damaged.at, damaged.is_cut);
            let left = disk.peek(&path).unwrap_or_default();
            // A file of which only the first bytes were there is one whose making was cut short, and is made.
            let is_kept = left == damaged.bytes || damaged.is_cut && left.starts_with(&damaged.bytes);
            assert!(is_kept, "the file was changed: {}", context());
            match &reading {
                Reading::Refused(message) => {
                    assert!(names_a_place(message), "no place is named: {}", context());
                    refused += 1;
                }
                Reading::Read { entries, told } => {
                    let mut written = self.entries.iter();
                    let is_true = entries.iter().all(|entry| written.any(|known| known == entry));
                    assert!(is_true, "something else was read: {}", context());
                    // A file that ends between two lines is one to which less was written; one with a piece of its head alone
                    // was being made, and is made now.
                    let is_between = damaged.bytes.is_empty() || damaged.bytes.ends_with(b"\n");
                    let is_sound = damaged.is_cut && (is_between || left != damaged.bytes);
                    assert!(is_sound || names_a_place(told), "no place is named: {}", context());
                    let lost = self.entries.len() - entries.len();
                    assert!(damaged.is_cut || lost <= self.most_lost, "too much is lost: {}", context());
                }
            }
        }
        refused
    }
}

/// Whether a message says where something is wrong.
fn names_a_place(message: &str) -> bool {
    ["line ", "block ", "byte "].iter().any(|word| {
        let mut after = message.split(word).skip(1);
        after.any(|text| text.starts_with(|first: char| first.is_ascii_digit()))
    })
}
