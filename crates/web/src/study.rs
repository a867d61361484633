//! What a page is told of an analysis.

use anqi_play::{Analysis, MoveInfo, rounded};
use anqi_rules::{Game, Position};
use serde::Serialize;

use crate::wire::Schema;

/// So many moves were listed in `anqi-page-1`, beside the map of flips.
const MOST_LINES: usize = 6;

/// What the analyst thinks of a position of a game.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Study {
    game: String,
    #[serde(flatten)]
    analysis: Analysis,
    #[serde(flatten)]
    #[cfg_attr(test, ts(skip))]
    older: Option<OlderStudy>,
}

/// What `anqi-page-1` has elsewhere: the choice beside the analysis, and flips apart from the other moves.
#[derive(Serialize)]
struct OlderStudy {
    nodes: u64,
    depth: u32,
    #[serde(rename = "move")]
    mv: String,
    pv: Vec<String>,
    flips: Vec<FlipInfo>,
}

#[derive(Serialize)]
struct FlipInfo {
    square: String,
    winrate: Option<f64>,
    outcomes: Vec<FlipOutcome>,
}

#[derive(Serialize)]
struct FlipOutcome {
    piece: char,
    count: u8,
    probability: f64,
    /// `None` if the search was stopped before it looked.
    winrate: Option<f64>,
}

impl Study {
    pub(crate) fn new(id: &str, game: &Game, mut analysis: Analysis, schema: Schema) -> Study {
        let older = (schema == Schema::Whole).then(|| OlderStudy::of(game.position(), &analysis));
        if older.is_some() {
            analysis.move_infos.truncate(MOST_LINES);
        }
        Study { game: id.to_owned(), analysis, older }
    }
}

impl OlderStudy {
    fn of(position: &Position, analysis: &Analysis) -> OlderStudy {
        let root = &analysis.root_info;
        let flips = analysis.move_infos.iter().filter(|info| !info.mv.contains('-'));
        OlderStudy {
            nodes: root.nodes,
            depth: root.depth,
            mv: root.mv.clone(),
            pv: root.pv.clone(),
            flips: flips.map(|info| FlipInfo::of(position, info)).collect(),
        }
    }
}

impl FlipInfo {
    fn of(position: &Position, info: &MoveInfo) -> FlipInfo {
        let hidden = f64::from(position.hidden().len());
        let outcomes = position.reveals().map(|(piece, count)| FlipOutcome {
            piece: piece.char(),
            count,
            probability: rounded(f64::from(count) / hidden),
            winrate: info.outcomes.iter().find(|outcome| outcome.piece == piece.char()).and_then(|found| found.winrate),
        });
        FlipInfo { square: info.mv.clone(), winrate: info.winrate, outcomes: outcomes.collect() }
    }
}
