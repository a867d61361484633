//! What an engine thinks of a position, in words for a page: chances, lines, and what every flip is worth.

use std::path::Path;

use anqi_endgame::{Measure, TableError, Wdl};
use anqi_engine::{
    Candidate, Chances, Choice, Limits, PlayerSpec, Resources, Score, SpecError, Stop, TablesOption, chances, expected,
};
use anqi_rules::{Game, Move, Position, Seed};
use serde::Serialize;

use crate::view::{ColorName, SeatName};

/// Who thinks about positions, but for its tables. What its scores mean in won games is measured: see [`chances`].
const ANALYST: &str = "champion,hash=32";

/// A study is repeated with so many nodes, each with more than all before: every answer is a pure function of the game,
/// and the last costs a third more than it would alone.
pub(crate) const STAGES: [u64; 5] = [4000, 20_000, 100_000, 500_000, 2_000_000];
/// Nobody may ask for more.
pub(crate) const MOST_NODES: u64 = 10_000_000;

/// Moves listed by name; every flip is on the map anyway.
const MOST_LINES: usize = 6;

/// What is known about a position, for the side to move.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Study {
    game: String,
    ply: usize,
    turn: Option<ColorName>,
    seat: SeatName,
    nodes: u64,
    /// Plies that every move was looked at.
    depth: u32,
    is_during_search: bool,
    /// Chances of win, draw and loss for the side to move.
    wdl: Chances,
    #[serde(rename = "move")]
    mv: String,
    pv: Vec<String>,
    move_infos: Vec<MoveInfo>,
    flips: Vec<FlipInfo>,
    table: Option<Verdict>,
    /// Why the tables could not be read.
    trouble: Option<String>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct MoveInfo {
    #[serde(rename = "move")]
    mv: String,
    winrate: f64,
    wdl: Chances,
}

/// What flipping a square is worth, and what may lie there.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct FlipInfo {
    square: String,
    winrate: f64,
    outcomes: Vec<OutcomeInfo>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct OutcomeInfo {
    piece: char,
    count: u8,
    probability: f64,
    /// `None` if the search was stopped before it looked.
    winrate: Option<f64>,
}

/// What is proven for the side to move.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(test, derive(ts_rs::TS))]
enum Proven {
    Win,
    Draw,
    Loss,
}

/// What the plies of a verdict lead to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(test, derive(ts_rs::TS))]
enum Goal {
    End,
    Capture,
}

/// What endgame tables prove.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
struct Verdict {
    result: Proven,
    plies: Option<u16>,
    to: Option<Goal>,
    /// Whether the verdict holds for the game's draw by quiet plies; repetition is in no table.
    knows_draw_rule: bool,
}

/// Thinks about positions, and knows the tables of endings.
#[derive(Debug)]
pub(crate) struct Analyst {
    spec: PlayerSpec,
    tables: TablesOption,
    resources: Resources,
}

/// Why nobody can think with these tables: no folder of that name, or a name that cannot stand in a player string.
#[derive(Debug, thiserror::Error)]
#[error("cannot use endgame tables: {0}")]
pub struct AnalystError(String);

impl Analyst {
    /// Up to four pieces are solved when they are met; more are looked up in a folder.
    pub(crate) fn new(folder: Option<&Path>, resources: &Resources) -> Result<Analyst, AnalystError> {
        let named = folder.map_or_else(|| "on".to_owned(), |folder| folder.display().to_string());
        let tables = folder.map_or(TablesOption::On, |_| TablesOption::Folder(named.clone()));
        let spec: Result<PlayerSpec, SpecError> = format!("{ANALYST},tables={named}").parse();
        let spec = spec.map_err(|error| AnalystError(error.to_string()))?.impartial();
        resources.open_for(&spec).map_err(|error| AnalystError(error.to_string()))?;
        Ok(Analyst { spec, tables, resources: resources.clone() })
    }

    /// Thinks about every move of a position once: a pure function of the game and its arguments.
    pub(crate) fn think(&self, game: &Game, nodes: u64, stop: &Stop) -> Option<Choice> {
        let limits = Limits { every_move: true, ..Limits::nodes(nodes) };
        // Its tables were opened with it.
        self.spec.build(Seed::from(1), &self.resources).ok()?.choose(game, &limits, stop)
    }

    /// What is proven about a position with few pieces and nothing face down.
    fn verdict(&self, game: &Game) -> Result<Option<Verdict>, TableError> {
        let draw = game.rules().draw();
        if !game.position().hidden().is_empty() {
            return Ok(None);
        }
        let Some(tables) = self.resources.tablebase(&self.tables, draw)? else { return Ok(None) };
        let Some(value) = tables.judge(game.position())? else { return Ok(None) };
        let to = match tables.flavour().measure() {
            Measure::Outcome => None,
            Measure::Conversion => Some(Goal::Capture),
            Measure::End => Some(Goal::End),
        };
        Ok(Some(Verdict {
            result: match value.wdl() {
                Wdl::Win => Proven::Win,
                Wdl::Draw => Proven::Draw,
                Wdl::Loss => Proven::Loss,
            },
            plies: value.distance().filter(|_| to.is_some()).map(|distance| distance.0),
            to: to.filter(|_| value.distance().is_some()),
            knows_draw_rule: tables.flavour().draw() == draw,
        }))
    }
}

impl Verdict {
    fn chances(&self) -> Chances {
        match self.result {
            Proven::Win => [1.0, 0.0, 0.0],
            Proven::Draw => [0.0, 1.0, 0.0],
            Proven::Loss => [0.0, 0.0, 1.0],
        }
    }
}

/// Four digits are more than any search knows.
pub(crate) fn rounded(number: f64) -> f64 {
    (number * 1e4).round() / 1e4
}

impl Study {
    pub(crate) fn new(id: &str, game: &Game, choice: &Choice, is_last: bool, analyst: &Analyst) -> Study {
        let position = game.position();
        let (table, trouble) = match analyst.verdict(game) {
            Ok(verdict) => (verdict, None),
            Err(error) => (None, Some(error.to_string())),
        };
        let info = |candidate: &Candidate| {
            // What is neither won nor lost by the tables is drawn, and an even score would not say so.
            let drawn = table.is_some() && !candidate.score.is_decided();
            let [win, draw, loss] = if drawn { [0.0, 1.0, 0.0] } else { chances(position, compared(candidate.score)) };
            MoveInfo {
                mv: candidate.mv.to_string(),
                winrate: rounded(win + draw / 2.0),
                wdl: [win, draw, loss].map(rounded),
            }
        };
        Study {
            game: id.to_owned(),
            ply: game.plies().len(),
            turn: position.turn().map(ColorName::from),
            seat: game.seat().into(),
            nodes: choice.stats.nodes,
            depth: choice.stats.depth,
            is_during_search: !is_last,
            wdl: table.as_ref().map_or_else(|| value_of(game, choice), Verdict::chances),
            mv: choice.mv.to_string(),
            pv: choice.pv.iter().map(ToString::to_string).collect(),
            move_infos: choice.candidates.iter().take(MOST_LINES).map(info).collect(),
            flips: choice.candidates.iter().filter_map(|candidate| flip_info(position, candidate)).collect(),
            table,
            trouble,
        }
    }
}

/// A score among others. A draw that the search sees is worth less in games than its score says, because it saves a side that is behind;
/// but beside worse moves it is the better one.
fn compared(score: Score) -> Score {
    if score == Score::DRAW { Score(1) } else { score }
}

/// The expected score of a move of `game`, of which `choice` is what the analyst thinks; nothing if it was stopped
/// before it had looked at every move.
pub(crate) fn worth(game: &Game, choice: &Choice, mv: Move) -> Option<f64> {
    let candidate = choice.candidates.iter().find(|candidate| candidate.mv == mv)?;
    Some(expected(game.position(), compared(candidate.score)))
}

/// The chances of the side to move.
pub(crate) fn value_of(game: &Game, choice: &Choice) -> Chances {
    let best = choice.candidates.iter().find(|candidate| candidate.mv == choice.mv);
    chances(game.position(), best.map_or(choice.score, |candidate| candidate.score)).map(rounded)
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
            .map(|outcome| rounded(expected(position, compared(outcome.score)))),
    });
    Some(FlipInfo {
        square: square.to_string(),
        winrate: rounded(expected(position, compared(candidate.score))),
        outcomes: outcomes.collect(),
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::num::NonZeroUsize;

    use anqi_endgame::Flavour;
    use anqi_records::{Reader, replay};
    use anqi_rules::Rules;

    use super::*;

    #[test]
    fn a_study_maps_every_flip_and_adds_up() {
        let position: Position = "4/4/4/4/4/4/xx2/Rxp1 r krP".parse().unwrap();
        let game = Game::from_position(Rules::server(), position).unwrap();
        let analyst = Analyst::new(None, &Resources::default()).unwrap();
        let choice = analyst.think(&game, STAGES[0], &Stop::default()).unwrap();
        let study = Study::new("0", &game, &choice, true, &analyst);
        assert_eq!(study.flips.len(), 3);
        for flip in &study.flips {
            let all: f64 = flip.outcomes.iter().map(|outcome| outcome.probability).sum();
            assert!((all - 1.0).abs() < 1e-3);
        }
        assert!((study.wdl.iter().sum::<f64>() - 1.0).abs() < 1e-3);
    }

    /// The first stage is long enough for an opinion of every move in every position of real games, and of all that a
    /// flip may show.
    #[test]
    fn every_move_has_a_worth_from_the_first_stage_on() {
        let analyst = Analyst::new(None, &Resources::default()).unwrap();
        let text = fs::read_to_string("../../data/games/server.anqi").unwrap();
        for entry in Reader::new(text.as_bytes()).unwrap().take(2) {
            let mut game = replay(&entry.unwrap().record, None).unwrap().game;
            while game.take_back().is_some() {
                let choice = analyst.think(&game, STAGES[0], &Stop::default()).unwrap();
                let study = Study::new("0", &game, &choice, true, &analyst);
                for mv in game.legal_moves() {
                    assert!(worth(&game, &choice, mv).is_some(), "{mv} in {}", game.position());
                }
                let outcomes = study.flips.iter().flat_map(|flip| &flip.outcomes);
                assert!(outcomes.into_iter().all(|outcome| outcome.winrate.is_some()));
                assert!(study.depth > 0 || study.table.is_some());
            }
        }
    }

    /// Where one move alone holds a draw nobody has to search, and still everything is said.
    #[test]
    fn a_draw_that_one_move_holds_is_known_move_by_move() {
        let analyst = Analyst::new(None, &Resources::default()).unwrap();
        let game = Game::from_position(Rules::server(), "4/4/4/4/4/4/g3/N2P r -".parse().unwrap()).unwrap();
        let choice = analyst.think(&game, STAGES[0], &Stop::default()).unwrap();
        for mv in game.legal_moves() {
            assert_eq!(worth(&game, &choice, mv).unwrap() > 0.1, mv == choice.mv, "{mv}");
        }
    }

    fn verdict(analyst: &Analyst, rules: &str, position: &str) -> Option<(Proven, Option<u16>, bool)> {
        let game = Game::from_position(rules.parse().unwrap(), position.parse().unwrap()).unwrap();
        let verdict = analyst.verdict(&game).unwrap()?;
        if verdict.result != Proven::Draw {
            assert_eq!(value_of(&game, &analyst.think(&game, STAGES[0], &Stop::default()).unwrap()), verdict.chances());
        }
        Some((verdict.result, verdict.plies, verdict.knows_draw_rule))
    }

    #[test]
    fn tables_prove_endings() {
        let analyst = Analyst::new(None, &Resources::default()).unwrap();
        let of = |position| verdict(&analyst, "server", position);
        assert_eq!(of("4/4/4/4/4/4/4/Kg2 r -"), Some((Proven::Win, Some(1), true)));
        assert_eq!(of("4/4/4/4/4/4/p2p/N3 b -"), Some((Proven::Draw, None, true)));
        assert_eq!(of("4/4/4/4/4/4/4/Kgx1 r p"), None);
        // Fig. 7 of Chen, Shen & Hsu has five pieces, and no folder is given.
        assert_eq!(of("1m2/4/1g2/g3/4/4/1c2/2P1 b -"), None);
    }

    #[test]
    fn tables_of_a_folder_prove_more() {
        const FIG_7: &str = "1m2/4/1g2/g3/4/4/1c2/2P1 b -";
        let ending = "P-ggmc".parse().unwrap();
        for (flavour, expected) in [
            (Flavour::END, (Proven::Win, Some(13), false)),
            (Flavour::conversion(Some(40)), (Proven::Win, Some(13), true)),
        ] {
            let dir = tempfile::tempdir().unwrap();
            anqi_endgame::build(dir.path(), flavour, [ending], NonZeroUsize::MIN, &Stop::default(), ()).unwrap();
            let analyst = Analyst::new(Some(dir.path()), &Resources::default()).unwrap();
            assert_eq!(verdict(&analyst, "chen", FIG_7), Some(expected));
            // A damaged table is told.
            for entry in fs::read_dir(dir.path()).unwrap() {
                fs::write(entry.unwrap().path(), "damaged").unwrap();
            }
            let analyst = Analyst::new(Some(dir.path()), &Resources::default()).unwrap();
            let game = Game::from_position(Rules::chen(), FIG_7.parse().unwrap()).unwrap();
            let choice = analyst.think(&game, STAGES[0], &Stop::default()).unwrap();
            let study = Study::new("0", &game, &choice, true, &analyst);
            assert!(study.table.is_none() && study.trouble.is_some());
        }
        let missing = Analyst::new(Some(Path::new("/nowhere/at-all")), &Resources::default()).unwrap_err();
        assert!(missing.to_string().contains("/nowhere/at-all"));
    }
}
