//! Positions of game records of this game: which are valued, what is known of them, and who won.

use anqi_engine::{Evaluate, Fixed};
use anqi_records::{GameResult, Record, replay};
use anqi_rules::{Game, Kind, Position, Rules, Seat, Seed};
use anqi_stats::Points;
use rand_core::Rng;

use crate::only::Only;
use crate::skipped::Skipped;
use crate::tag::Tag;

/// A position of a record, seen by the player to move.
#[derive(Clone, Debug)]
pub struct ChosenPosition {
    /// Which record, counted from 1 over all files.
    pub game: u64,
    /// Plies played.
    pub ply: u32,
    /// The position, with the plies since the last flip or capture: what a player's value can depend on.
    pub start: Game,
    /// What became of the player to move.
    pub result: Points,
    /// What is known of the position.
    pub tags: Vec<(&'static str, Tag)>,
    /// Chances or a score for the player to move that the record itself holds, and who said so.
    pub comment: Option<(String, f64)>,
}

impl ChosenPosition {
    /// The text under which values of this position are remembered.
    #[must_use]
    pub fn text(&self) -> String {
        let plies = self.start.plies().iter().map(|ply| format!(" {ply}"));
        format!("{} {}{}", self.start.rules(), self.start.positions()[0], plies.collect::<String>())
    }
}

/// A record that was replayed and can be used.
pub(crate) struct Followed {
    number: u64,
    game: Game,
    result: GameResult,
    comments: Vec<Option<(String, f64)>>,
}

/// Collects positions out of records.
#[derive(Debug)]
pub struct Positions {
    /// The rules, whatever the records say.
    pub rules: Option<Rules>,
    /// So many positions of a game, one out of each of as many equal stretches; `None` for all of them.
    pub per_game: Option<u32>,
    /// Only positions that all of these admit.
    pub only: Vec<Only>,
    /// Where the choice comes from.
    pub seed: Seed,
    /// Only positions with a value in the record itself.
    pub from_comments: bool,
}

impl Positions {
    /// The positions of record number `game`. Whatever cannot be used is counted, with `source` for an example.
    pub fn of(&self, game: u64, record: &Record, source: &str, skipped: &mut Skipped) -> Vec<ChosenPosition> {
        let followed = self.follow(game, record, source, skipped);
        followed.map(|followed| self.choose_from(&followed, source, skipped)).unwrap_or_default()
    }

    /// Replays a record by the rules. One that cannot be used is counted.
    pub(crate) fn follow(&self, number: u64, record: &Record, source: &str, skipped: &mut Skipped) -> Option<Followed> {
        let replayed = match replay(record, self.rules) {
            Ok(replayed) => replayed,
            Err(error) => {
                skipped.add("record that cannot be replayed", || format!("{source}: {error}"));
                return None;
            }
        };
        if let Some(illegal) = &replayed.illegal {
            // The result belongs to a game that we cannot follow.
            skipped.add("record with an illegal ply", || format!("{source}, ply {}: {}", illegal.ply, illegal.error));
            return None;
        }
        let judged = GameResult::from(replayed.game.outcome());
        let result = if judged == GameResult::Unfinished { replayed.result } else { judged };
        if result != replayed.result && replayed.result != GameResult::Unfinished {
            skipped.add("record with another result than the board's", || format!("{source}: {}", replayed.ending));
            return None;
        }
        let comments = (0..=record.plies().len()).map(|ply| comment(record, ply)).collect();
        Some(Followed { number, game: replayed.game, result, comments })
    }

    /// The positions of a game that was replayed.
    pub(crate) fn choose_from(&self, followed: &Followed, source: &str, skipped: &mut Skipped) -> Vec<ChosenPosition> {
        let Followed { number, game, result, comments } = followed;
        let points = |seat: Seat| match *result {
            GameResult::Won(winner) => Some(if winner == seat { Points::Win } else { Points::Loss }),
            GameResult::Drawn => Some(Points::Draw),
            GameResult::Unfinished => None,
        };
        let mut places = Vec::new();
        // Nobody is to move after the last ply.
        let usable = |ply: &usize| {
            let said = !self.from_comments || comments[*ply].is_some();
            said && (self.only.is_empty() || self.admits(*ply, &game.positions()[*ply]))
        };
        let plies: Vec<usize> = (0..game.plies().len()).filter(usable).collect();
        for ply in self.choose(*number, &plies) {
            let seat = Seat::ALL[ply % 2];
            let Some(result) = points(seat) else {
                skipped.add("record without a result", || source.to_owned());
                break;
            };
            let Some(start) = since_last_change(game, ply) else {
                skipped.add("position that cannot be set up", || format!("{source}, ply {ply}"));
                continue;
            };
            let tags = tags(&game.positions()[ply], seat);
            places.push(ChosenPosition {
                game: *number,
                ply: ply as u32,
                start,
                result,
                tags,
                comment: comments[ply].clone(),
            });
        }
        places
    }

    fn admits(&self, ply: usize, position: &Position) -> bool {
        let tags = tags(position, Seat::ALL[ply % 2]);
        self.only.iter().all(|only| match tags.iter().find(|(name, _)| *name == only.tag) {
            Some((_, tag)) => only.admits(tag),
            None => only.tag == "ply" && only.admits(&Tag::Number(ply as f64)),
        })
    }

    /// Those of the plies of a game that are looked at, be it a game of any kind: one out of each stretch.
    #[must_use]
    pub fn choose(&self, game: u64, plies: &[usize]) -> Vec<usize> {
        let Some(wanted) = self.per_game.map(|wanted| wanted as usize).filter(|wanted| *wanted < plies.len()) else {
            return plies.to_vec();
        };
        let mut rng = self.seed.child(format!("positions of game {game}")).rng();
        let mut pick = |stretch: usize| {
            let (from, to) = (stretch * plies.len() / wanted, (stretch + 1) * plies.len() / wanted);
            plies[from + ((u64::from(rng.next_u32()) * (to - from) as u64) >> 32) as usize]
        };
        (0..wanted).map(&mut pick).collect()
    }
}

/// The game at `ply` as if it had begun after the last flip or capture: nothing before that can matter.
fn since_last_change(game: &Game, ply: usize) -> Option<Game> {
    let quiet = usize::from(game.positions()[ply].quiet()).min(ply);
    let mut start = Game::from_position(*game.rules(), game.positions()[ply - quiet]).ok()?;
    game.plies()[ply - quiet..ply].iter().try_for_each(|&played| start.play(played)).ok()?;
    start.outcome().is_none().then_some(start)
}

/// What the comment on the last of so many plies says about the position, for the player to move.
fn comment(record: &Record, plies: usize) -> Option<(String, f64)> {
    let last = plies.checked_sub(1)?;
    let comment = &record.plies()[last].comment;
    let who = record.player(Seat::ALL[last % 2]).unwrap_or("?");
    // The comment is seen by whoever made the ply.
    let chances = comment
        .wdl
        .map(|wdl| (format!("{who} [%wdl]"), (f64::from(wdl.loss()) + f64::from(wdl.draw()) / 2.0) / 1000.0));
    chances.or_else(|| comment.eval.map(|eval| (format!("{who} [%eval]"), -eval.get())))
}

/// What is known of a position, by name: the conditions of conditioned curves. Own is whose turn it is.
#[must_use]
pub fn tags(position: &Position, seat: Seat) -> Vec<(&'static str, Tag)> {
    let pieces = position.occupied().len();
    let (mut king, mut cannon) = (false, false);
    if let Some(own) = position.turn() {
        let pawns = position.of_kind(Kind::Pawn) & position.pieces(own.other());
        let kings = position.of_kind(Kind::King) & position.pieces(own);
        king = kings.iter().any(|king| !(position.attackers_of(king) & pawns).is_empty());
        cannon = position.jumpers(own).iter().any(|cannon| !position.jumps(cannon, own).is_empty());
    }
    vec![
        ("hidden", position.hidden().len().into()),
        ("pieces", pieces.into()),
        ("capture", Tag::yes(!position.captures().is_empty())),
        ("king-attacked", Tag::yes(king)),
        ("cannon-carriage", Tag::yes(cannon)),
        ("side", seat.name().into()),
        ("lead", Fixed::default().evaluate(position).0.into()),
    ]
}

/// The names of all tags, and `ply`.
pub const TAGS: [&str; 8] = ["ply", "hidden", "pieces", "capture", "king-attacked", "cannon-carriage", "side", "lead"];

/// The conditions under which curves of this game are drawn when nothing else is said.
pub const USUAL_CONDITIONS: [&str; 8] = [
    "ply=20,40,60,100",
    "hidden=1,8,16,24",
    "pieces=12,20,28",
    "capture",
    "king-attacked",
    "cannon-carriage",
    "side",
    "lead=-400,0,1,401",
];
