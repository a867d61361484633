//! One game at a time with the instruction that deposits bits: the `n`-th bit of a set in one step, where
//! every ply waits for it.
#![allow(unsafe_code)]

use std::arch::x86_64::{_pdep_u32, _pdep_u64};

use crate::bits::Nth;
use crate::lanes::Avx512;
use crate::narrow::Choose;
use crate::run::PlyLimits;
use crate::scalar::{Dealt, PlayoutGame, PlyReading};
use crate::seed::Generator;
use crate::start::PlayoutStart;
use crate::summary::Playout;

/// The proof that this machine has the instruction, and a fast one.
#[derive(Clone, Copy)]
pub(crate) struct Pdep(());

impl Pdep {
    /// The proof, if it can be given. The first machines that had the instruction took hundreds of
    /// cycles for it; those with AVX-512 take three.
    #[inline]
    pub(crate) fn detect() -> Option<Pdep> {
        (Avx512::detect().is_some() && is_x86_feature_detected!("lzcnt")).then_some(Pdep(()))
    }

    /// Deals a game to be played elsewhere.
    #[inline]
    pub(crate) fn deal(self, start: &PlayoutStart, rng: &mut Generator) -> Dealt {
        // SAFETY: `self` proves that the machine has the instructions.
        unsafe { dealt(start, rng) }
    }

    /// Plays one game to its end.
    #[inline]
    pub(crate) fn play<C: Choose, R: PlyReading, const JUMPS: bool>(
        self,
        start: &PlayoutStart,
        limits: PlyLimits,
        rng: Generator,
    ) -> Playout {
        // SAFETY: `self` proves that the machine has the instructions.
        unsafe { play::<C, R, JUMPS>(start, limits, rng) }
    }
}

#[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt")]
fn play<C: Choose, R: PlyReading, const JUMPS: bool>(
    start: &PlayoutStart,
    limits: PlyLimits,
    mut rng: Generator,
) -> Playout {
    let game = deal(start, &mut rng);
    game.play_on::<C, R, Deposit, JUMPS>(start.arena.squares, limits, rng)
}

/// [`PlayoutGame::deal`], and like it not inlined.
#[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt")]
#[inline(never)]
fn deal(start: &PlayoutStart, rng: &mut Generator) -> PlayoutGame {
    PlayoutGame::from(Dealt::new::<Deposit>(start, rng))
}

#[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt")]
fn dealt(start: &PlayoutStart, rng: &mut Generator) -> Dealt {
    Dealt::new::<Deposit>(start, rng)
}

/// Deposits a single bit.
struct Deposit;

impl Nth for Deposit {
    #[inline(always)]
    fn nth(set: u32, n: u32) -> u32 {
        // SAFETY: only the functions above come here, which run only where the instructions exist.
        unsafe { _pdep_u32(1 << n, set) }.trailing_zeros()
    }

    #[inline(always)]
    fn nth_of_64(set: u64, n: u32) -> u32 {
        // SAFETY: as above.
        unsafe { _pdep_u64(1 << n, set) }.trailing_zeros()
    }
}

#[cfg(test)]
mod tests {
    use anqi_rules::{Position, Rules};

    use super::Pdep;
    use crate::narrow::{Avoid, Capture, Choose, Random, Trap};
    use crate::run::PlyLimits;
    use crate::scalar::{ByAction, play_anywhere};
    use crate::seed::Generator;
    use crate::start::PlayoutStart;

    fn check<C: Choose>(pdep: Pdep) {
        let start = PlayoutStart::from(&Position::initial(&Rules::chen()));
        let limits = PlyLimits { draw: 40, cut: u32::MAX };
        for index in 0..2000 {
            let rng = || Generator::new(4, index);
            assert_eq!(
                pdep.play::<C, ByAction, true>(&start, limits, rng()),
                play_anywhere::<C, ByAction, true>(&start, limits, rng())
            );
        }
    }

    #[test]
    fn the_games_are_those_of_any_machine() {
        if let Some(pdep) = Pdep::detect() {
            check::<Random>(pdep);
            check::<Capture>(pdep);
            check::<Avoid>(pdep);
            check::<Trap>(pdep);
        }
    }
}
