//! Checking a pair that another machine has played against its plan.

use std::time::Duration;

use anqi_engine::Fingerprint;
use anqi_play::{Budget, Clock, FaultKind};
use anqi_records::{Comment, Eval, GameResult, Record};
use anqi_rules::{Deal, Game, Ply, PlyError, Seat, Termination, excerpt};

use crate::cast::Cast;
use crate::contender::Who;
use crate::pair::{DescribeError, Described, PairError, PlayedPair, describe, seed_of};
use crate::plan::{Pair, Plan};
use crate::referee::MOVE_MARGIN;
use crate::side::Thought;

/// Why a text is not what a pair of a plan can have brought.
#[derive(Debug, thiserror::Error)]
pub enum PairMismatch {
    /// Not two games, or no such pair.
    #[error(transparent)]
    Pair(#[from] PairError),
    /// Two games in other words than ours.
    #[error("pair {0}: the text is not as a pair is written")]
    Text(u64),
    /// A ply that is not legal.
    #[error("game {game}: ply {ply}: {error}")]
    Illegal {
        /// Which game, 1 or 2.
        game: usize,
        /// Which ply, from 1.
        ply: usize,
        /// What is wrong.
        error: PlyError,
    },
    /// A flip that shows another piece than the deal has there.
    #[error("game {game}: ply {ply}: the deal does not show {shown}")]
    NotDealt {
        /// Which game.
        game: usize,
        /// Which ply.
        ply: usize,
        /// What the record says.
        shown: Ply,
    },
    /// An ending that these players and budgets cannot have.
    #[error("game {game}: {what}")]
    Ending {
        /// Which game.
        game: usize,
        /// What is wrong.
        what: String,
    },
    /// Times that do not fit the clock.
    #[error("game {game}: ply {ply}: {what}")]
    Clock {
        /// Which game.
        game: usize,
        /// Which ply.
        ply: usize,
        /// What is wrong.
        what: &'static str,
    },
    /// Something that follows from the plan and the plies, and is something else.
    #[error("game {game}: {found:?} should be {expected:?}")]
    Record {
        /// Which game.
        game: usize,
        /// The first line that differs.
        found: String,
        /// What it should be.
        expected: String,
    },
    /// Something that no record can hold.
    #[error(transparent)]
    Describe(#[from] DescribeError),
}

/// What a clock may be off because times are written in whole milliseconds.
const ROUNDING: Duration = Duration::from_millis(2);
/// How much later a program's own supervisor may have let an answer through.
const SUPERVISION: Duration = Duration::from_secs(1);

/// Reads a pair that another machine has played, and plays it through the rules: deal, plies and endings, names, fingerprints,
/// seeds, budgets and clocks must be those of the plan, and the text must be written as ours are. What the players thought of
/// their moves cannot be checked.
///
/// # Errors
/// Says what differs.
pub fn check_pair(plan: &Plan, cast: &Cast, number: u64, text: &str) -> Result<PlayedPair, PairMismatch> {
    let pair = plan.pair(number).ok_or(PairError::NoSuchPair(number))?;
    let played = PlayedPair::from_text(number, text)?;
    if played.to_text() != text {
        return Err(PairMismatch::Text(number));
    }
    let check = Check { plan, pair: &pair, fingerprints: fingerprints(plan, &pair, cast, &played)? };
    for (order, record) in [[0, 1], [1, 0]].into_iter().zip(&played.games) {
        check.game(order, record)?;
    }
    Ok(played)
}

/// Who the two contenders are: as the cast knows them, or, for programs that are not here, as both games say.
fn fingerprints(
    plan: &Plan,
    pair: &Pair,
    cast: &Cast,
    played: &PlayedPair,
) -> Result<[Option<Fingerprint>; 2], PairMismatch> {
    let mut both = [None; 2];
    for (place, number) in pair.contenders.into_iter().enumerate() {
        both[place] = cast.fingerprints()[number];
        let is_elsewhere = matches!(plan.contenders()[number].who, Who::Outside(_)) && both[place].is_none();
        if let Some(told) = played.games[0].tags().get(ENGINE_TAGS[place]).filter(|_| is_elsewhere) {
            let parsed = told.parse::<Fingerprint>();
            both[place] = Some(parsed.map_err(|error| PairMismatch::Ending { game: 1, what: error.to_string() })?);
        }
    }
    Ok(both)
}

const ENGINE_TAGS: [&str; 2] = ["FirstEngine", "SecondEngine"];

struct Check<'a> {
    plan: &'a Plan,
    pair: &'a Pair,
    /// Of the two contenders of the pair.
    fingerprints: [Option<Fingerprint>; 2],
}

impl Check<'_> {
    fn game(&self, order: [usize; 2], record: &Record) -> Result<(), PairMismatch> {
        let number = order[0] + 1;
        let mut game = Game::new(*self.plan.rules());
        let deal = Deal::new(self.plan.rules(), &seed_of(self.plan, self.pair));
        for (index, played) in record.plies().iter().enumerate() {
            let (ply, shown) = (index + 1, played.ply);
            if deal.resolve(shown.to_move()).is_ok_and(|dealt| dealt != shown) {
                return Err(PairMismatch::NotDealt { game: number, ply, shown });
            }
            game.play(shown).map_err(|error| PairMismatch::Illegal { game: number, ply, error })?;
        }
        let budgets = order.map(|index| self.plan.budget_of(self.pair.contenders[index]));
        self.clocks(number, order, budgets, record)?;
        let fault = match game.outcome() {
            Some(_) => None,
            None => Some(self.end_off_board(number, order, budgets, record, &mut game)?),
        };
        let thoughts: Vec<Thought> = record.plies().iter().map(|played| thought_of(&played.comment)).collect();
        let fingerprints = order.map(|index| self.fingerprints[index]);
        let described = Described { game: &game, thoughts: &thoughts, fault, fingerprints };
        let expected = describe(self.plan, self.pair, order, &described)?.to_string();
        let found = record.to_string();
        match found.lines().zip(expected.lines()).find(|(found, expected)| found != expected) {
            None if found == expected => Ok(()),
            differing => {
                let (found, expected) = differing.unwrap_or_default();
                Err(PairMismatch::Record { game: number, found: excerpt(found), expected: excerpt(expected) })
            }
        }
    }

    /// Whether the player that moves `seat`th is an outside program.
    fn is_outside(&self, order: [usize; 2], seat: Seat) -> bool {
        let contender = self.pair.contenders[order[seat as usize]];
        matches!(self.plan.contenders()[contender].who, Who::Outside(_))
    }

    /// Ends a game that did not end on the board as its record tells it; gives what the record calls the fault.
    fn end_off_board(
        &self,
        number: usize,
        order: [usize; 2],
        budgets: [Budget; 2],
        record: &Record,
        game: &mut Game,
    ) -> Result<String, PairMismatch> {
        let wrong = |what: String| PairMismatch::Ending { game: number, what };
        let told = record.tags().get("Termination").unwrap_or_default();
        let not_over = || wrong(format!("the game is not over, and {:?} is no reason to end it", excerpt(told)));
        let why: Termination = told.parse().map_err(|_| not_over())?;
        let GameResult::Won(winner) = record.result() else { return Err(not_over()) };
        let loser = winner.other();
        let is_timed = !budgets[loser as usize].is_reproducible();
        let can_be = match why {
            // Only the side to move can be late.
            Termination::Time => is_timed && loser == game.seat(),
            // A player of ours neither gives up nor breaks rules.
            Termination::Forfeit | Termination::Resignation => self.is_outside(order, loser),
            _ => false,
        };
        let outcome = why.off_board(Some(loser)).filter(|_| can_be).ok_or_else(not_over)?;
        let fault = record.tags().get("Fault").unwrap_or_default();
        let mut words = fault.splitn(3, ": ");
        let told_of = (words.next(), words.next());
        let kind = FaultKind::ALL.into_iter().find(|kind| Some(kind.name()) == told_of.1);
        if told_of.0 != Some(loser.name()) || kind.and_then(FaultKind::termination) != Some(why) {
            return Err(wrong(format!("{:?} is no fault that ends a game by {why}", excerpt(fault))));
        }
        game.end(outcome);
        Ok(fault.to_owned())
    }

    /// Follows both clocks through a game.
    fn clocks(
        &self,
        number: usize,
        order: [usize; 2],
        budgets: [Budget; 2],
        record: &Record,
    ) -> Result<(), PairMismatch> {
        let mut left = budgets.map(|budget| budget.clock.map(|clock| clock.base));
        for (index, (played, seat)) in record.plies().iter().zip(Seat::ALL.into_iter().cycle()).enumerate() {
            let wrong = |what| Err(PairMismatch::Clock { game: number, ply: index + 1, what });
            let budget = budgets[seat as usize];
            let (clk, emt) = (played.comment.clk.map(Duration::from), played.comment.emt.map(Duration::from));
            if emt.is_some() == budget.is_reproducible() || clk.is_some() != budget.clock.is_some() {
                return wrong("times are told where none count, or the other way round");
            }
            let Some(used) = emt else { continue };
            let per_move = budget.limits.time.map(|time| time + MOVE_MARGIN);
            let slack = if self.is_outside(order, seat) { SUPERVISION } else { ROUNDING };
            let most = [left[seat as usize], per_move].into_iter().flatten().min();
            if most.is_some_and(|most| used > most + slack) {
                return wrong("the move took longer than its player had");
            }
            if let (Some(clock), Some(before), Some(after)) = (budget.clock, left[seat as usize], clk) {
                let expected = after_move(&clock, before, used, index / 2 + 1);
                if after.abs_diff(expected) > ROUNDING {
                    return wrong("the clock does not show what is left of it");
                }
                left[seat as usize] = Some(after);
            }
        }
        Ok(())
    }
}

fn after_move(clock: &Clock, left: Duration, used: Duration, moves: usize) -> Duration {
    clock.after_move(left, used, u32::try_from(moves).unwrap_or(u32::MAX))
}

/// What a comment of ours tells of a thought, as it was told.
fn thought_of(comment: &Comment) -> Thought {
    let number = |name: &str| {
        let (_, rest) = comment.text().split_once(&format!("[%{name} "))?;
        rest.split_once(']')?.0.parse().ok()
    };
    Thought {
        eval: comment.eval.map(Eval::get),
        depth: number("depth").and_then(|depth: u64| depth.try_into().ok()),
        nodes: number("nodes"),
        playouts: number("playouts"),
        clock: comment.clk.map(Into::into),
        used: comment.emt.map(Into::into),
    }
}
