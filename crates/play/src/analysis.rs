//! `Analysis`: what a player thinks of a position, as one document for the command line, the page and other programs.

use anqi_endgame::{Measure, TableError, Wdl};
use anqi_engine::{Candidate, Chances, Choice, Resources, Score, SearchStats, TablesOption};
use anqi_rules::{Game, Piece, Position};
use serde::Serialize;

use crate::names::{ColorName, SeatName};

/// What a player thinks of a position, for the side to move; in the field names of KataGo's analysis engine where the
/// meaning is the same.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Analysis {
    /// The version of this document.
    #[cfg_attr(feature = "typescript", ts(type = "'anqi-analysis-1'"))]
    pub schema: &'static str,
    /// The position, in our notation.
    pub position: String,
    /// The rules.
    pub rules: String,
    /// The player string.
    pub player: String,
    /// How many plies were played before the position.
    pub ply: usize,
    /// The side to move.
    pub turn: Option<ColorName>,
    /// The player to move.
    pub seat: SeatName,
    /// Whether the search goes on.
    pub is_during_search: bool,
    /// Chances of win, draw and loss, if the player's scores mean any.
    pub wdl: Option<Chances>,
    /// What was chosen, and what it took.
    pub root_info: RootInfo,
    /// Every move that was looked at, the best first.
    pub move_infos: Vec<MoveInfo>,
    /// What endgame tables prove.
    pub table: Option<TableProof>,
    /// Why the tables could not be read.
    pub trouble: Option<String>,
}

/// The choice, and what it took.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RootInfo {
    /// The side to move.
    pub current_player: Option<ColorName>,
    /// The best move.
    #[serde(rename = "move")]
    pub mv: String,
    /// What it is worth, in the player's own units.
    pub score: i32,
    /// How the player thinks that the game goes on.
    pub pv: Vec<String>,
    /// The last depth that was searched to the end.
    pub depth: u32,
    /// Positions that were looked at.
    pub nodes: u64,
    /// Random games that were played.
    pub playouts: u64,
    /// How long it took; absent where an analysis is a function of the game alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub seconds: Option<f64>,
    /// Positions a second; absent with `seconds`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub nodes_per_second: Option<f64>,
}

/// What one move is worth.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct MoveInfo {
    /// The move.
    #[serde(rename = "move")]
    pub mv: String,
    /// Its place among all moves, 0 for the best.
    pub order: usize,
    /// What it is worth, in the player's own units.
    pub score: i32,
    /// The standard deviation of what a flip brings, in the same units; 0 for a step.
    pub spread: f64,
    /// For a flip: what may come up.
    pub outcomes: Vec<OutcomeInfo>,
    /// Random games that began with the move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub visits: Option<u64>,
    /// The expected score, 1 for a win.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub winrate: Option<f64>,
    /// Chances of win, draw and loss for the mover.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub wdl: Option<Chances>,
}

/// What it is worth that a piece comes up.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct OutcomeInfo {
    /// The piece's letter.
    pub piece: char,
    /// How many of it are face down.
    pub count: u8,
    /// How likely it is.
    pub probability: f64,
    /// What it is worth, in the player's own units, if the search looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub score: Option<i32>,
    /// The expected score, 1 for a win.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub winrate: Option<f64>,
}

/// What is proven for the side to move.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum Proven {
    /// The side to move wins.
    Win,
    /// Neither side wins.
    Draw,
    /// The side to move loses.
    Loss,
}

/// What the plies of a proof lead to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum Goal {
    /// The end of the game.
    End,
    /// The next capture.
    Capture,
}

/// What endgame tables prove about a position.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TableProof {
    /// Who wins.
    pub result: Proven,
    /// How long it takes, if the tables know.
    pub plies: Option<u16>,
    /// What the plies lead to.
    pub to: Option<Goal>,
    /// Whether the proof holds for the game's draw by quiet plies; repetition is in no table.
    pub knows_draw_rule: bool,
}

impl Analysis {
    /// What `player` says in its own units.
    #[must_use]
    pub fn new(player: String, game: &Game, choice: &Choice) -> Analysis {
        let turn = game.position().turn().map(ColorName::from);
        Analysis {
            schema: "anqi-analysis-1",
            position: game.position().to_string(),
            rules: game.rules().to_string(),
            player,
            ply: game.plies().len(),
            turn,
            seat: game.seat().into(),
            is_during_search: false,
            wdl: None,
            root_info: RootInfo {
                current_player: turn,
                mv: choice.mv.to_string(),
                score: choice.score.0,
                pv: choice.pv.iter().map(ToString::to_string).collect(),
                depth: choice.stats.depth,
                nodes: choice.stats.nodes,
                playouts: choice.stats.playouts,
                seconds: None,
                nodes_per_second: None,
            },
            move_infos: (0..)
                .zip(&choice.candidates)
                .map(|(order, candidate)| MoveInfo::new(order, candidate))
                .collect(),
            table: None,
            trouble: None,
        }
    }

    /// The same with what scores mean in won, drawn and lost games: those of moves, and those of what a flip may show.
    #[must_use]
    pub fn meaning(
        mut self,
        choice: &Choice,
        of_move: impl Fn(&Candidate) -> Option<Chances>,
        of_outcome: impl Fn(Score) -> Option<Chances>,
    ) -> Analysis {
        for (info, candidate) in self.move_infos.iter_mut().zip(&choice.candidates) {
            info.wdl = of_move(candidate);
            info.winrate = info.wdl.map(score_of);
            for (info, outcome) in info.outcomes.iter_mut().zip(&candidate.outcomes) {
                info.winrate = of_outcome(outcome.score).map(score_of);
            }
        }
        let best = choice.candidates.iter().find(|candidate| candidate.mv == choice.mv);
        self.wdl = best.and_then(of_move);
        self
    }

    /// The same with how long it took.
    #[must_use]
    pub fn timed(mut self, stats: &SearchStats) -> Analysis {
        let seconds = stats.time.as_secs_f64();
        self.root_info.seconds = Some(seconds);
        self.root_info.nodes_per_second = Some(if seconds > 0.0 { stats.nodes as f64 / seconds } else { 0.0 });
        self
    }

    /// The same with what tables say, or why they say nothing.
    #[must_use]
    pub fn proven(mut self, proof: Result<Option<TableProof>, TableError>) -> Analysis {
        (self.table, self.trouble) = match proof {
            Ok(proof) => (proof, None),
            Err(error) => (None, Some(error.to_string())),
        };
        self
    }

    /// The same with everything that a flip may show, by rank, also where the search did not look.
    #[must_use]
    pub fn with_every_outcome(mut self, position: &Position) -> Analysis {
        let hidden = f64::from(position.hidden().len());
        // A flip is named by its square alone.
        for info in self.move_infos.iter_mut().filter(|info| !info.mv.contains('-')) {
            let looked_at = std::mem::take(&mut info.outcomes);
            let outcome = |(piece, count): (Piece, u8)| {
                let found = looked_at.iter().find(|outcome| outcome.piece == piece.char());
                OutcomeInfo {
                    piece: piece.char(),
                    count,
                    probability: f64::from(count) / hidden,
                    score: found.and_then(|found| found.score),
                    winrate: found.and_then(|found| found.winrate),
                }
            };
            info.outcomes = position.reveals().map(outcome).collect();
        }
        self
    }

    /// The same with shares of four digits: more than any search knows.
    #[must_use]
    pub fn rounded(mut self) -> Analysis {
        let round = |share: &mut f64| *share = rounded(*share);
        self.wdl.iter_mut().flatten().for_each(round);
        for info in &mut self.move_infos {
            info.wdl.iter_mut().flatten().chain(&mut info.winrate).for_each(round);
            round(&mut info.spread);
            for outcome in &mut info.outcomes {
                outcome.winrate.iter_mut().for_each(round);
                round(&mut outcome.probability);
            }
        }
        self
    }
}

impl MoveInfo {
    fn new(order: usize, candidate: &Candidate) -> MoveInfo {
        let weight: u32 = candidate.outcomes.iter().map(|outcome| u32::from(outcome.count)).sum();
        let outcomes = candidate.outcomes.iter().map(|outcome| OutcomeInfo {
            piece: outcome.piece.char(),
            count: outcome.count,
            probability: f64::from(outcome.count) / f64::from(weight),
            score: Some(outcome.score.0),
            winrate: None,
        });
        MoveInfo {
            mv: candidate.mv.to_string(),
            order,
            score: candidate.score.0,
            spread: candidate.spread(),
            outcomes: outcomes.collect(),
            visits: candidate.results.map(anqi_engine::ResultCounts::count),
            winrate: None,
            wdl: None,
        }
    }
}

impl TableProof {
    /// What tables prove about a position with few pieces and nothing face down.
    ///
    /// # Errors
    /// If a table cannot be read.
    pub fn of(game: &Game, tables: &TablesOption, resources: &Resources) -> Result<Option<TableProof>, TableError> {
        let draw = game.rules().draw();
        if !game.position().hidden().is_empty() {
            return Ok(None);
        }
        let Some(tables) = resources.tablebase(tables, draw)? else { return Ok(None) };
        let Some(value) = tables.judge(game.position())? else { return Ok(None) };
        let to = match tables.flavour().measure() {
            Measure::Outcome => None,
            Measure::Conversion => Some(Goal::Capture),
            Measure::End => Some(Goal::End),
        };
        Ok(Some(TableProof {
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

    /// The same as chances.
    #[must_use]
    pub fn chances(&self) -> Chances {
        match self.result {
            Proven::Win => [1.0, 0.0, 0.0],
            Proven::Draw => [0.0, 1.0, 0.0],
            Proven::Loss => [0.0, 0.0, 1.0],
        }
    }
}

/// The expected score of chances: 1 for a win, half for a draw.
fn score_of([win, draw, _]: Chances) -> f64 {
    win + draw / 2.0
}

/// Four digits are more than any search knows.
#[must_use]
pub fn rounded(number: f64) -> f64 {
    (number * 1e4).round() / 1e4
}
