//! The unit of work: one deal, played in both orders.

use std::fmt::Write as _;
use std::time::Duration;

use anqi_engine::{BuildError, Fingerprint, Stop};
use anqi_play::{Clock, Left, luck};
use anqi_protocol::{Fault, Outside, OutsideSpec};
use anqi_records::{Comment, CommentError, Eval, GameResult, Reader, Record, TagError, Tags};
use anqi_rules::{Commitment, Deal, Game, Outcome, Ply, Seat, Seed, excerpt};
use anqi_stats::Points;

use crate::cast::Cast;
use crate::contender::{Contender, Who, seeded};
use crate::plan::{Pair, Plan};
use crate::referee::{BrokenOff, PlayedGame, referee};
use crate::side::{Answer, Insider, Side, Thought};
use anqi_play::Budget;

/// A pair that was played.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlayedPair {
    /// Its number in the plan.
    pub number: u64,
    /// The two games. In the first one the contender named first in the plan moved first.
    pub games: [Record; 2],
}

/// Why a pair was not played, or cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum PairError {
    /// A game was broken off; nothing of the pair counts.
    #[error(transparent)]
    BrokenOff(#[from] BrokenOff),
    /// A player of ours lacks what its string names.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The plan has no such pair.
    #[error("there is no pair {0} in the plan")]
    NoSuchPair(u64),
    /// A record cannot hold a game.
    #[error(transparent)]
    Describe(#[from] DescribeError),
    /// A text that is not two games.
    #[error("pair {number}: {reason}")]
    Text {
        /// Which pair.
        number: u64,
        /// What is wrong.
        reason: String,
    },
}

/// Plays pair `number` of a plan.
///
/// Without time in the budgets the result is a pure function of the plan and the number, on any machine and in any
/// order. Outside programs live for one pair at most, so that nothing they remember reaches another one.
///
/// # Errors
/// If `stop` was raised before the end, if a program cannot be started, if a player's files were not opened, or if the plan
/// has no such pair.
pub fn play_pair(plan: &Plan, number: u64, cast: &Cast, stop: &Stop) -> Result<PlayedPair, PairError> {
    let pair = plan.pair(number).ok_or(PairError::NoSuchPair(number))?;
    let seed = seed_of(plan, &pair);
    let mut sides = pair.contenders.map(|contender| SeatedContender::new(plan, contender, &seed, cast));
    let mut play = |order: [usize; 2]| -> Result<Record, PairError> {
        let deal = Deal::new(plan.rules(), &seed);
        let budgets = order.map(|index| plan.budget_of(pair.contenders[index]));
        let [one, two] = &mut sides;
        let both = if order == [0, 1] { [one.sit()?, two.sit()?] } else { [two.sit()?, one.sit()?] };
        let PlayedGame { game, thoughts, fault } = referee(Game::new(*plan.rules()), &deal, both, budgets, stop)?;
        let fault = fault.map(|(seat, fault)| {
            let text = excerpt(&fault.to_string()).replace(char::is_control, " ");
            format!("{}: {}: {text}", seat.name(), fault.name())
        });
        let fingerprints = order.map(|index| cast.fingerprints()[pair.contenders[index]]);
        Ok(describe(plan, &pair, order, &Described { game: &game, thoughts: &thoughts, fault, fingerprints })?)
    };
    let games = [play([0, 1])?, play([1, 0])?];
    Ok(PlayedPair { number, games })
}

/// Where a contender sits during a pair.
struct SeatedContender<'a> {
    contender: &'a Contender,
    /// What is run if it is an outside program.
    program: Option<&'a OutsideSpec>,
    seed: Seed,
    side: Option<Box<dyn Side>>,
    cast: &'a Cast,
}

impl<'a> SeatedContender<'a> {
    fn new(plan: &'a Plan, contender: usize, pair: &Seed, cast: &'a Cast) -> SeatedContender<'a> {
        let seed = pair.child(format!("player {contender}"));
        let program = cast.program(contender);
        SeatedContender { contender: &plan.contenders()[contender], program, seed, side: None, cast }
    }

    /// Ready for the next game. A player of ours starts afresh with the same seed; a program that can goes on.
    fn sit(&mut self) -> Result<&mut dyn Side, BuildError> {
        let fresh: Option<Box<dyn Side>> = match (&self.contender.who, &self.side) {
            (Who::Player(spec), _) => Some(Box::new(Insider(spec.build(self.seed.clone(), &self.cast.resources)?))),
            (Who::Outside(_), Some(_)) => None,
            (Who::Outside(_), None) => {
                Some(match self.program.map(|program| Outside::launch(&seeded(program, &self.seed))) {
                    Some(Ok(outside)) => Box::new(outside),
                    Some(Err(fault)) => Box::new(Absent(fault)),
                    None => Box::new(Absent(Fault::Launch {
                        command: self.contender.name.clone(),
                        reason: "this machine has no program for it".to_owned(),
                    })),
                })
            }
        };
        Ok(match fresh {
            Some(fresh) => self.side.insert(fresh).as_mut(),
            None => self.side.get_or_insert_with(|| Box::new(Absent(Fault::Resigned))).as_mut(),
        })
    }
}

/// A program that could not be started.
struct Absent(Fault);

impl Side for Absent {
    fn begin(&mut self, _: &Game, _: Seat, _: Option<Clock>, _: &Stop) -> Result<(), Fault> {
        Err(self.0.clone())
    }

    fn choose(&mut self, _: &Game, _: &Budget, _: Option<Left>, _: &Stop) -> Result<Answer, Fault> {
        Err(self.0.clone())
    }

    fn played(&mut self, _: &Game, _: Ply, _: Option<Duration>, _: &Stop) -> Result<(), Fault> {
        Ok(())
    }

    fn end(&mut self, _: Option<&Outcome>) {}
}

/// What a record tells of a game beside what follows from the plan.
pub(crate) struct Described<'a> {
    pub(crate) game: &'a Game,
    pub(crate) thoughts: &'a [Thought],
    /// What the loser did, if the game ended by that.
    pub(crate) fault: Option<String>,
    /// By seat.
    pub(crate) fingerprints: [Option<Fingerprint>; 2],
}

/// The record of a game of a pair; `order` says which of its two contenders moved first. It says nothing that depends on when
/// or where the game was played, unless time was part of it.
pub(crate) fn describe(
    plan: &Plan,
    pair: &Pair,
    order: [usize; 2],
    Described { game, thoughts, fault, fingerprints }: &Described<'_>,
) -> Result<Record, DescribeError> {
    let seed = seed_of(plan, pair);
    let contenders = order.map(|index| pair.contenders[index]);
    let budgets = contenders.map(|contender| plan.budget_of(contender).to_string());
    let luck: Vec<Option<f64>> = luck::by_ply(game).collect();
    let mut tags = Tags::new();
    tags.set("Event", plan.event())?;
    tags.set("Round", &format!("{}.{}", pair.number + 1, 1 + order[0]))?;
    for ((seat, number), fingerprint) in ["First", "Second"].into_iter().zip(contenders).zip(fingerprints) {
        let contender = &plan.contenders()[number];
        tags.set(seat, &contender.name)?;
        if let Who::Player(spec) = &contender.who
            && contender.name != spec.to_string()
        {
            tags.set(&format!("{seat}Player"), &spec.to_string())?;
        }
        if let Some(fingerprint) = fingerprint {
            tags.set(&format!("{seat}Engine"), &fingerprint.to_string())?;
        }
    }
    tags.set("Seed", &seed.to_string())?;
    tags.set("DealCommit", &Commitment::new(&seed, &seed.child("nonce")).to_string())?;
    match &budgets {
        [first, second] if first == second && first.is_empty() => {}
        [first, second] if first == second => tags.set("TimeControl", first)?,
        [first, second] => tags.set("TimeControl", &format!("{first} / {second}"))?,
    }
    if let Some(fault) = fault {
        tags.set("Fault", fault)?;
    }
    tags.set("Luck", &format!("{:.6} by {}", luck::of_first(&luck), luck::VALUE))?;
    let comments = thoughts.iter().zip(luck).map(|(thought, luck)| comment(thought, luck));
    Ok(Record::from_game(game, tags).with_comments(comments.collect::<Result<Vec<_>, _>>()?))
}

/// Why a record cannot hold a game.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum DescribeError {
    /// Not what happened.
    #[error(transparent)]
    Tag(#[from] TagError),
    /// Not what was thought.
    #[error(transparent)]
    Comment(#[from] CommentError),
}

/// Where deal and players of a pair come from.
pub(crate) fn seed_of(plan: &Plan, pair: &Pair) -> Seed {
    plan.seed().child(format!("pair {}", pair.round))
}

/// What a record says about a ply.
fn comment(thought: &Thought, luck: Option<f64>) -> Result<Comment, CommentError> {
    let mut words = String::new();
    let mut say = |name: &str, value: Option<u64>| {
        if let Some(value) = value {
            // Writing to a string cannot fail.
            let _ = write!(words, "[%{name} {value}] ");
        }
    };
    say("depth", thought.depth.map(u64::from));
    say("nodes", thought.nodes);
    say("playouts", thought.playouts);
    // What changes nothing to four digits is not worth a word.
    if let Some(luck) = luck.filter(|luck| luck.abs() >= 0.00005) {
        let _ = write!(words, "[%luck {luck:+.4}]");
    }
    let mut comment = if words.is_empty() { Comment::default() } else { Comment::new(&words)? };
    comment.eval = thought.eval.and_then(Eval::new);
    comment.clk = thought.clock.map(Into::into);
    comment.emt = thought.used.map(Into::into);
    Ok(comment)
}

impl PlayedPair {
    /// The two games as a file of records has them.
    #[must_use]
    pub fn to_text(&self) -> String {
        format!("{}\n{}", self.games[0], self.games[1])
    }

    /// Reads the text back.
    ///
    /// # Errors
    /// If it is not two finished games.
    pub fn from_text(number: u64, text: &str) -> Result<PlayedPair, PairError> {
        let bad = |reason: String| PairError::Text { number, reason };
        let reader = Reader::new(text.as_bytes()).map_err(|error| bad(error.to_string()))?;
        let games = reader.map(|entry| entry.map(|entry| entry.record)).collect::<Result<Vec<_>, _>>();
        let games: [Record; 2] = games
            .map_err(|error| bad(error.to_string()))?
            .try_into()
            .map_err(|games: Vec<_>| bad(format!("{} games, expected 2", games.len())))?;
        if games.iter().any(|game| points_of_first(game).is_none()) {
            return Err(bad("a game without a result".to_owned()));
        }
        Ok(PlayedPair { number, games })
    }

    /// What each game brought the contender that the plan names first.
    #[must_use]
    pub fn points(&self) -> [Points; 2] {
        let [one, two] = self.games.each_ref().map(|game| points_of_first(game).unwrap_or(Points::Draw));
        [one, two.inverted()]
    }

    /// The mean luck of the contender that the plan names first, if the records tell it by our value.
    #[must_use]
    pub fn luck(&self) -> Option<f64> {
        let of_first = |record: &Record| {
            let (luck, value) = record.tags().get("Luck")?.split_once(" by ")?;
            luck.parse::<f64>().ok().filter(|luck| value == luck::VALUE && luck.is_finite())
        };
        Some((of_first(&self.games[0])? - of_first(&self.games[1])?) / 2.0)
    }
}

/// What a game brought its first player; none if it has no result.
fn points_of_first(record: &Record) -> Option<Points> {
    match record.result() {
        GameResult::Won(Seat::First) => Some(Points::Win),
        GameResult::Won(Seat::Second) => Some(Points::Loss),
        GameResult::Drawn => Some(Points::Draw),
        GameResult::Unfinished => None,
    }
}
