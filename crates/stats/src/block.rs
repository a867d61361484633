//! `Block`: the result block of match runners, as every engine author reads it.

use std::fmt;

use serde::Serialize;

use crate::elo::Elo;
use crate::sprt::{Sprt, Verdict};
use crate::tally::{Games, Outcomes, Pairs, Tally};

/// What a match says. Printed, it is the block that fastchess prints:
///
/// ```
/// use anqi_stats::{Block, Pairs};
///
/// let block = Block::of_pairs(Pairs([165, 6076, 13441, 6436, 154]), None, Some("elo0=0 elo1=2".parse()?));
/// assert!(block.to_string().contains("Ptnml(0-2): [165, 6076, 13441, 6436, 154]"));
/// # Ok::<(), anqi_stats::SprtError>(())
/// ```
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Block {
    /// Strength, from pairs if there are any.
    pub elo: Option<Elo>,
    /// Share of draws; of pairs that gave one point each if pairs were counted.
    pub draw_ratio: Option<f64>,
    /// Pairs above one point over pairs below it.
    pub pairs_ratio: Option<f64>,
    /// How many games.
    pub count: u64,
    /// What they brought, in points.
    pub points: f64,
    /// Losses, draws and wins, if known.
    pub games: Option<Games>,
    /// Pairs by their points.
    pub pairs: Option<Pairs>,
    /// The sequential test, if one was asked for.
    pub sprt: Option<SprtState>,
}

/// Where a sequential test stands.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct SprtState {
    /// The test.
    #[serde(flatten)]
    pub test: Sprt,
    /// Log-likelihood ratio.
    pub llr: f64,
    /// H0 is accepted at the first, H1 at the second.
    pub bounds: (f64, f64),
    /// What that means.
    pub verdict: Verdict,
}

impl SprtState {
    /// The test after these results.
    #[must_use]
    pub fn new(test: Sprt, outcomes: &impl Outcomes) -> SprtState {
        let llr = test.llr(outcomes);
        SprtState { test, llr, bounds: test.bounds(), verdict: test.verdict(llr) }
    }
}

impl Block {
    /// From everything a match counted: by pairs if one is complete, by games otherwise.
    #[must_use]
    pub fn of(tally: &Tally, sprt: Option<Sprt>) -> Block {
        if tally.pairs.total() > 0 {
            Block::of_pairs(tally.pairs, Some(tally.games), sprt)
        } else {
            Block::of_games(tally.games, sprt)
        }
    }

    /// From pairs, and if they are known the results of the games.
    #[must_use]
    pub fn of_pairs(pairs: Pairs, games: Option<Games>, sprt: Option<Sprt>) -> Block {
        let total = pairs.total();
        Block {
            elo: Elo::of(&pairs),
            draw_ratio: ratio(pairs.0[2], total),
            pairs_ratio: Some(pairs.ratio()),
            count: games.map_or(2 * total, |games| games.total()),
            points: games.map_or(pairs.half_points(), |games| games.half_points()) as f64 / 2.0,
            games,
            pairs: Some(pairs),
            sprt: sprt.map(|test| SprtState::new(test, &pairs)),
        }
    }

    /// From single games.
    #[must_use]
    pub fn of_games(games: Games, sprt: Option<Sprt>) -> Block {
        Block {
            elo: Elo::of(&games),
            draw_ratio: ratio(games.draws(), games.total()),
            pairs_ratio: None,
            count: games.total(),
            points: games.half_points() as f64 / 2.0,
            games: Some(games),
            pairs: None,
            sprt: sprt.map(|test| SprtState::new(test, &games)),
        }
    }
}

fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(Elo { elo, nelo, los, .. }) = self.elo else {
            return writeln!(f, "Games: 0");
        };
        writeln!(f, "Elo: {elo}, nElo: {nelo}")?;
        write!(f, "LOS: {:.2} %, DrawRatio: {:.2} %", 100.0 * los, 100.0 * self.draw_ratio.unwrap_or(0.0))?;
        match self.pairs_ratio {
            Some(ratio) => writeln!(f, ", PairsRatio: {ratio:.2}")?,
            None => writeln!(f)?,
        }
        write!(f, "Games: {}", self.count)?;
        if let Some(games) = self.games {
            write!(f, ", Wins: {}, Losses: {}, Draws: {}", games.wins(), games.losses(), games.draws())?;
        }
        writeln!(f, ", Points: {:.1} ({:.2} %)", self.points, 100.0 * self.points / self.count as f64)?;
        if let Some(Pairs(counts)) = self.pairs {
            writeln!(f, "Ptnml(0-2): {counts:?}")?;
        }
        if let Some(SprtState { test, llr, bounds: (low, high), .. }) = self.sprt {
            // How far towards the bound it is heading for.
            let progress = 100.0 * if llr < 0.0 { -llr / low } else { llr / high };
            let (elo0, elo1) = test.hypotheses();
            writeln!(f, "LLR: {llr:.2} ({progress:.1} %) ({low:.2}, {high:.2}) [{elo0:.2}, {elo1:.2}]")?;
        }
        Ok(())
    }
}
