//! What an engine thinks of a position, in words for a page: chances, lines, and what every flip is worth.

use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};

use anqi_endgame::{Ending, Tables, Wdl as Proven};
use anqi_engine::{Candidate, Choice, Limits, PlayerSpec, Score, Stop, Wdl};
use anqi_rules::{Color, Game, Move, Position, Seed};
use serde::Serialize;

/// Who thinks about positions.
pub(crate) const ANALYST: &str = "mcts:chance,memory=128,cut=30,minimax=0.7,bias=20,quality=1";

/// A study is repeated with so many playouts, each with more than all before: every answer is a pure function of the
/// game, and the last costs a third more than it would alone.
pub(crate) const STAGES: [u64; 5] = [250, 1000, 4000, 16_000, 64_000];

/// Moves listed by name; every flip is on the map anyway.
const MOST_LINES: usize = 6;

/// What is known about a position, for the side to move.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Study {
    r#type: &'static str,
    game: String,
    ply: usize,
    turn: Option<&'static str>,
    seat: &'static str,
    playouts: u64,
    is_during_search: bool,
    /// Chances of win, draw and loss for the side to move.
    wdl: [f64; 3],
    #[serde(rename = "move")]
    mv: String,
    pv: Vec<String>,
    move_infos: Vec<MoveInfo>,
    flips: Vec<FlipInfo>,
    table: Option<Verdict>,
}

#[derive(Serialize)]
struct MoveInfo {
    #[serde(rename = "move")]
    mv: String,
    winrate: f64,
    visits: u64,
    wdl: [f64; 3],
}

/// What flipping a square is worth, and what may lie there.
#[derive(Serialize)]
struct FlipInfo {
    square: String,
    winrate: f64,
    visits: u64,
    outcomes: Vec<OutcomeInfo>,
}

#[derive(Serialize)]
struct OutcomeInfo {
    piece: char,
    count: u8,
    probability: f64,
    /// `None` if the search did not look.
    winrate: Option<f64>,
}

/// What endgame tables prove.
#[derive(Serialize)]
struct Verdict {
    result: &'static str,
    plies: Option<u32>,
}

/// Thinks about a position once.
pub(crate) fn think(game: &Game, playouts: u64, stop: &Stop) -> Option<Choice> {
    // The string is a constant, and a test reads it.
    let spec: PlayerSpec = ANALYST.parse().ok()?;
    spec.build(Seed::from(1)).choose(game, &Limits::playouts(playouts), stop)
}

/// The expected score of a move: 1 for a win.
pub(crate) fn winrate(score: Score) -> f64 {
    match score {
        score if score.is_decided() => f64::from(u8::from(score > Score::DRAW)),
        Score(thousandths) => f64::midpoint(f64::from(thousandths) / 1000.0, 1.0).clamp(0.0, 1.0),
    }
}

/// Four digits are more than any search knows.
pub(crate) fn rounded(number: f64) -> f64 {
    (number * 1e4).round() / 1e4
}

/// The chances behind a candidate.
pub(crate) fn shares(candidate: Option<&Candidate>) -> [f64; 3] {
    let Some(candidate) = candidate else { return [0.0, 1.0, 0.0] };
    if candidate.score.is_decided() {
        let win = winrate(candidate.score);
        return [win, 0.0, 1.0 - win];
    }
    let Wdl { wins, draws, losses } = candidate.results.unwrap_or_default();
    let all = (wins + draws + losses).max(1) as f64;
    [wins, draws, losses].map(|part| rounded(part as f64 / all))
}

impl Study {
    pub(crate) fn new(id: &str, game: &Game, choice: &Choice, is_last: bool, endings: &Endings) -> Study {
        let position = game.position();
        let best = choice.candidates.iter().find(|candidate| candidate.mv == choice.mv);
        let info = |candidate: &Candidate| MoveInfo {
            mv: candidate.mv.to_string(),
            winrate: rounded(winrate(candidate.score)),
            visits: candidate.results.map_or(0, Wdl::count),
            wdl: shares(Some(candidate)),
        };
        Study {
            r#type: "analysis",
            game: id.to_owned(),
            ply: game.plies().len(),
            turn: position.turn().map(Color::name),
            seat: game.seat().name(),
            playouts: choice.stats.playouts,
            is_during_search: !is_last,
            wdl: shares(best),
            mv: choice.mv.to_string(),
            pv: choice.pv.iter().map(ToString::to_string).collect(),
            move_infos: choice.candidates.iter().take(MOST_LINES).map(info).collect(),
            flips: choice.candidates.iter().filter_map(|candidate| flip_info(position, candidate)).collect(),
            table: endings.verdict(position),
        }
    }
}

fn flip_info(position: &Position, candidate: &Candidate) -> Option<FlipInfo> {
    let Move::Flip(square) = candidate.mv else { return None };
    let hidden = f64::from(position.hidden().len());
    let outcomes = position.reveals().map(|(piece, count)| OutcomeInfo {
        piece: piece.char(),
        count,
        probability: rounded(f64::from(count) / hidden),
        winrate: candidate
            .outcomes
            .iter()
            .find(|outcome| outcome.piece == piece)
            .map(|outcome| rounded(winrate(outcome.score))),
    });
    Some(FlipInfo {
        square: square.to_string(),
        winrate: rounded(winrate(candidate.score)),
        visits: candidate.results.map_or(0, Wdl::count),
        outcomes: outcomes.collect(),
    })
}

/// Endgame tables, built when first asked for; up to four pieces that takes less than a second.
#[derive(Debug, Default)]
pub(crate) struct Endings(Mutex<Tables>);

const MOST_PIECES: u32 = 4;

impl Endings {
    /// What is proven about a position with few pieces and nothing face down. Draws by quiet plies and repetition are
    /// not in the tables.
    fn verdict(&self, position: &Position) -> Option<Verdict> {
        if !position.hidden().is_empty() || position.occupied().len() > MOST_PIECES {
            return None;
        }
        let mut tables = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let ending = Ending::try_from(position.revealed()).ok()?;
        tables.build([ending], NonZeroUsize::MIN).ok()?;
        let value = tables.probe(position)?;
        let result = match value.wdl() {
            Proven::Win => "win",
            Proven::Draw => "draw",
            Proven::Loss => "loss",
        };
        Some(Verdict { result, plies: value.distance().map(|distance| u32::from(distance.0)) })
    }
}

#[cfg(test)]
mod tests {
    use anqi_rules::Rules;

    use super::*;

    #[test]
    fn a_study_maps_every_flip_and_adds_up() {
        let position: Position = "4/4/4/4/4/4/xx2/Rxp1 r krP".parse().unwrap();
        let game = Game::from_position(Rules::server(), position).unwrap();
        let choice = think(&game, 500, &Stop::default()).unwrap();
        let study = Study::new("0", &game, &choice, true, &Endings::default());
        assert_eq!(study.flips.len(), 3);
        for flip in &study.flips {
            let all: f64 = flip.outcomes.iter().map(|outcome| outcome.probability).sum();
            assert!((all - 1.0).abs() < 1e-3);
        }
        assert!((study.wdl.iter().sum::<f64>() - 1.0).abs() < 1e-3);
    }

    #[test]
    fn tables_prove_endings() {
        let endings = Endings::default();
        let verdict =
            |text: &str| endings.verdict(&text.parse().unwrap()).map(|verdict| (verdict.result, verdict.plies));
        assert_eq!(verdict("4/4/4/4/4/4/4/Kg2 r -"), Some(("win", Some(1))));
        assert_eq!(verdict("4/4/4/4/4/4/p2p/N3 b -").map(|(result, _)| result), Some("draw"));
        assert_eq!(verdict("4/4/4/4/4/4/4/Kgx1 r p"), None);
    }
}
