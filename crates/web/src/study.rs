//! What a page is told of an analysis.

use anqi_play::{Analysis, MoveInfo};
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
    pub(crate) fn new(id: &str, mut analysis: Analysis, schema: Schema) -> Study {
        let older = (schema == Schema::Whole).then(|| OlderStudy::of(&analysis));
        if older.is_some() {
            analysis.move_infos.truncate(MOST_LINES);
        }
        Study { game: id.to_owned(), analysis, older }
    }
}

impl OlderStudy {
    fn of(analysis: &Analysis) -> OlderStudy {
        let root = &analysis.root_info;
        let flips = analysis.move_infos.iter().filter(|info| !info.mv.contains('-'));
        OlderStudy {
            nodes: root.nodes,
            depth: root.depth,
            mv: root.mv.clone(),
            pv: root.pv.clone(),
            flips: flips.map(FlipInfo::of).collect(),
        }
    }
}

impl FlipInfo {
    fn of(info: &MoveInfo) -> FlipInfo {
        let outcomes = info.outcomes.iter().map(|outcome| FlipOutcome {
            piece: outcome.piece,
            count: outcome.count,
            probability: outcome.probability,
            winrate: outcome.winrate,
        });
        FlipInfo { square: info.mv.clone(), winrate: info.winrate, outcomes: outcomes.collect() }
    }
}
