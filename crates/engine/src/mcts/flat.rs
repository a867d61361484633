//! Monte Carlo without a tree: MC and MC-Score, the methods that Takeuchi, Kaneko & Yamaguchi compare
//! with UCT (sections II-C and IV-A).
//!
//! Every legal move gets the same number of playouts. MC plays the move with the best results; MC-Score,
//! the classical model, the one that leaves most on the board at the end on average.

use anqi_playout::{Path, PlayoutOptions, PlayoutStart, Policy, Reading, for_each};
use anqi_rules::{Game, Move, Piece, Position, Seed};
use anqi_task::Stop;
use rand_core::Rng;

use super::simulate::{Draws, Rewards, Simulated, lead};
use super::tree::EndResult;
use super::{Policies, Readings};
use crate::eval::Weights;
use crate::limits::{Limits, SharedMeter};
use crate::options::{Names, choices, options};
use crate::player::{Candidate, Choice, FlipOutcome, Player, ResultCounts, SearchStats};
use crate::resources::Resources;
use crate::score::Score;

choices! {
    /// What flat Monte Carlo averages.
    pub enum Average {
        Results = "results", "won, drawn and lost games (MC)";
        Material = "material", "the material at the end of the games (MC-Score)";
    }
}

/// How the family plays: see `behaviour.rs`.
pub(crate) const BEHAVIOUR: u64 = 0x1b3f_a79d_780b_f4e8;

options! {
    /// What flat Monte Carlo can be told.
    pub struct FlatOptions {
        average: Average = Average::Results, Names(Average::NAMES), "what is averaged over the playouts of a move";
        policy: Policy = Policy::Random, Policies, "how playouts choose their moves";
        playout: u32 = 640, 1..=1_000_000, "quiet plies after which a playout is drawn";
        reading: Reading = Reading::Rules, Readings, "how playouts read the rules; paper: captures do not reset the quiet plies, a unit is drawn before its move";
        draws: Draws = Draws::Off, Names(Draws::NAMES), "what a drawn playout counts for: a draw, a win of the side with a lead in material, or a draw and half the lead";
    }
}

/// Flat Monte Carlo at play.
#[derive(Debug)]
pub(crate) struct Flat {
    options: FlatOptions,
    seed: Seed,
    resources: Resources,
}

/// A board that a move may lead to, and what playouts from there brought to the mover.
struct Branch {
    /// What a flip shows.
    piece: Option<(Piece, u8)>,
    board: Position,
    results: ResultCounts,
    /// The sum of what the mover had more than the other side at the end.
    material: i64,
}

/// The values of Chen, Shen & Hsu's evaluation, by which MC-Score counts.
const VALUES: Weights = crate::eval::Fixed::VALUES;

impl Branch {
    fn new(board: Position, piece: Option<(Piece, u8)>) -> Branch {
        Branch { piece, board, results: ResultCounts::default(), material: 0 }
    }

    /// All boards that `mv` may lead to.
    fn all(position: &Position, mv: Move) -> Vec<Branch> {
        match mv {
            Move::Step { from, to } => vec![Branch::new(position.after_step(from, to), None)],
            Move::Flip(square) => position
                .reveals()
                .map(|(piece, count)| Branch::new(position.after_flip(square, piece), Some((piece, count))))
                .collect(),
        }
    }

    /// The mean of what is averaged, in thousandths of a game or in points of material.
    fn score(branches: &[Branch], average: Average) -> Score {
        let mut results = ResultCounts::default();
        branches.iter().for_each(|branch| results += branch.results);
        let mean = match average {
            Average::Results => results.balance() * 1000.0,
            Average::Material => {
                branches.iter().map(|branch| branch.material).sum::<i64>() as f64 / results.count().max(1) as f64
            }
        };
        Score(mean.round() as i32)
    }
}

/// Playouts that are played together from one board.
const ROUND: u64 = 64;

impl Flat {
    pub(crate) fn new(options: &FlatOptions, seed: Seed, resources: &Resources) -> Flat {
        Flat { options: options.clone(), seed, resources: resources.clone() }
    }

    /// Plays from the board of a branch.
    fn play(&self, branch: &mut Branch, rewards: &mut Rewards, seed: u64, playouts: u64) {
        let FlatOptions { policy, playout, reading, .. } = self.options;
        let options = PlayoutOptions { policy, draw: playout, cut: None, reading };
        let first = branch.results.count();
        let ladder = branch.board.ladder();
        let start = PlayoutStart::from(&branch.board);
        for_each(&start, &options, seed, first..first + playouts, Path::best(), |_, playout| {
            // The playout begins with the opponent's move.
            let Simulated { result, bonus } = rewards.of(&playout);
            match result.reversed() {
                EndResult::Win => branch.results.wins += 1,
                EndResult::Draw => branch.results.draws += 1,
                EndResult::Loss => branch.results.losses += 1,
            }
            branch.results.leads -= i64::from(bonus); // without quality, only graded draws have any
            branch.material -= i64::from(lead(&VALUES, ladder, &playout.end));
        });
    }
}

impl Player for Flat {
    fn choose(&mut self, game: &Game, limits: &Limits, stop: &Stop) -> Option<Choice> {
        let position = game.position();
        let moves = game.legal_moves();
        let &first = moves.first()?;
        let meter = SharedMeter::of_playouts(limits, stop, self.resources.time());
        let mut rng = self.seed.child(format!("ply {}", game.plies().len())).rng();
        let mut rewards = Rewards::new(position.ladder(), self.options.draws, 0.0);
        let mut tried: Vec<(Move, Vec<Branch>)> = moves.iter().map(|&mv| (mv, Branch::all(position, mv))).collect();
        let seeds: Vec<u64> = moves.iter().map(|_| rng.next_u64()).collect();

        // In turn, so that all moves have the same number when the budget ends. A round is shorter where
        // the budget is: nothing is lost to the moves that come last.
        let share = limits.playouts.or(limits.nodes).map_or(ROUND, |all| (all / moves.len() as u64).clamp(1, ROUND));
        'thinking: loop {
            for ((_, branches), seed) in tried.iter_mut().zip(&seeds) {
                let taken = meter.take_up_to(share);
                if taken == 0 {
                    break 'thinking;
                }
                let drawn: Vec<usize> = (0..taken).map(|_| draw(branches, &mut rng)).collect();
                for (number, branch) in branches.iter_mut().enumerate() {
                    let playouts = drawn.iter().filter(|&&drawn| drawn == number).count() as u64;
                    if playouts > 0 {
                        self.play(branch, &mut rewards, seed ^ number as u64, playouts);
                    }
                }
            }
            if limits.depth.is_some() {
                break; // every move was looked at, and there is nothing below
            }
        }

        let average = self.options.average;
        let mut candidates: Vec<Candidate> =
            tried.into_iter().map(|(mv, branches)| candidate(mv, &branches, average)).collect();
        candidates.sort_by_key(|candidate| std::cmp::Reverse(candidate.score));
        let best = candidates.first()?;
        let untried = meter.taken() == 0;
        Some(Choice {
            mv: if untried { first } else { best.mv },
            score: best.score,
            pv: vec![if untried { first } else { best.mv }],
            stats: SearchStats { nodes: meter.taken(), depth: 1, playouts: meter.taken(), time: meter.elapsed() },
            candidates,
        })
    }

    fn reseed(&mut self, seed: Seed) {
        self.seed = seed;
    }
}

/// Which board a playout is played from: as likely as its piece.
fn draw(branches: &[Branch], rng: &mut impl Rng) -> usize {
    let weight = |branch: &Branch| branch.piece.map_or(1, |(_, count)| u32::from(count));
    let all: u32 = branches.iter().map(weight).sum();
    let mut drawn = ((u64::from(rng.next_u32()) * u64::from(all)) >> 32) as u32;
    branches
        .iter()
        .position(|branch| {
            let here = drawn < weight(branch);
            drawn = drawn.wrapping_sub(weight(branch));
            here
        })
        .unwrap_or_default()
}

fn candidate(mv: Move, branches: &[Branch], average: Average) -> Candidate {
    let outcomes = branches.iter().filter_map(|branch| {
        let (piece, count) = branch.piece?;
        let score = Branch::score(std::slice::from_ref(branch), average);
        (branch.results.count() > 0).then_some(FlipOutcome { piece, count, score })
    });
    let mut results = ResultCounts::default();
    branches.iter().for_each(|branch| results += branch.results);
    Candidate { mv, score: Branch::score(branches, average), outcomes: outcomes.collect(), results: Some(results) }
}
