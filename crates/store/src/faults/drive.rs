//! What tests do with a disk: let every call fail once, and damage bytes.

use std::ops::Range;

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
