//! `kind = "analysis"`: what players think of positions: the best move, and the rank and score of each move that is named.
//! Positions with named moves are drawn.

use anqi_engine::Limits;
use anqi_engine::PlayerSpec;
use anqi_play::{Budget, split_player};
use anqi_rules::{Game, Move, Position, Rules, Seed, excerpt};
use serde::{Deserialize, Serialize};

use super::expected::Expected;
use crate::facts::{Facts, Quantity};
use crate::figure::{BoardFigure, Content, Figure, Mark};
use crate::kind::{ExperimentKind, Told, Work};
use crate::number::Number;
use crate::section::Section;
use crate::sheet::{check_version, read_keys};
use crate::{Experiment, ExperimentError, RAW, Run, SheetError, read_table};

/// The keys of a plan.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AnalysisFile {
    version: u32,
    /// Who thinks, each with a budget of its own: `champion nodes=100000`.
    players: Vec<String>,
    /// Where random choices come from, one analysis for each; 1 by default.
    #[serde(default = "usual_seeds")]
    seeds: Vec<u64>,
    /// By which rules, for positions that do not say it.
    #[serde(default = "usual_rules")]
    rules: String,
    /// A file beside the plan with the rows that must come out; none by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expected: Option<String>,
    /// Of what.
    positions: Vec<PositionKeys>,
}

/// A position and what is said of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PositionKeys {
    name: String,
    /// `start`, or `BOARD SIDE POOL`.
    position: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rules: Option<String>,
    /// What a figure says of it; a position is drawn if it has moves or this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    caption: Option<String>,
    /// Moves that are looked for among all.
    #[serde(default)]
    moves: Vec<MoveKeys>,
}

/// A move and who names it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MoveKeys {
    #[serde(rename = "move")]
    mv: String,
    /// What is said of it.
    #[serde(default)]
    says: String,
}

fn usual_seeds() -> Vec<u64> {
    vec![1]
}

fn usual_rules() -> String {
    "chen".to_owned()
}

/// A sound plan.
#[derive(Debug)]
struct AnalysisPlan {
    file: AnalysisFile,
    players: Vec<(PlayerSpec, Limits)>,
    places: Vec<Place>,
}

#[derive(Debug)]
struct Place {
    game: Game,
    moves: Vec<Move>,
}

/// A move in one analysis: each that is named, or else the best.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AnalysisRow {
    /// The name of the position.
    position: String,
    /// Who thought, with the budget.
    player: String,
    /// Where random choices came from.
    seed: u64,
    /// The move.
    #[serde(rename = "move")]
    mv: String,
    /// How many moves are better, and one.
    rank: usize,
    /// How many moves there are.
    of: usize,
    /// What it is worth, in the player's own units.
    score: i32,
    /// Chances of win, draw and loss in thousandths, if the scores mean any.
    win: Option<u32>,
    draw: Option<u32>,
    loss: Option<u32>,
    /// The best move.
    best: String,
    /// What that is worth.
    best_score: i32,
}

pub(super) fn read(table: toml::Table) -> Result<Box<dyn ExperimentKind>, SheetError> {
    AnalysisPlan::new(read_keys(table)?).map(|plan| Box::new(plan) as Box<dyn ExperimentKind>)
}

impl AnalysisPlan {
    fn new(file: AnalysisFile) -> Result<AnalysisPlan, SheetError> {
        check_version(file.version)?;
        SheetError::check_list("players", &file.players)?;
        SheetError::check_list("seeds", &file.seeds.iter().map(ToString::to_string).collect::<Vec<_>>())?;
        SheetError::check_list("positions", &file.positions.iter().map(|at| at.name.clone()).collect::<Vec<_>>())?;
        let players = file.players.iter().map(|text| player(text)).collect::<Result<_, _>>()?;
        let places = file.positions.iter().map(|keys| place(keys, &file.rules)).collect::<Result<_, _>>()?;
        Ok(AnalysisPlan { players, places, file })
    }

    /// How many analyses there are.
    fn count(&self) -> usize {
        self.places.len() * self.players.len() * self.file.seeds.len()
    }

    fn rows(run: &Run) -> Result<Vec<AnalysisRow>, ExperimentError> {
        let path = run.dir.join(RAW);
        if path.exists() { read_table(&path) } else { Ok(Vec::new()) }
    }

    fn is_done(rows: &[AnalysisRow], position: &str, player: &str, seed: u64) -> bool {
        rows.iter().any(|row| row.position == position && row.player == player && row.seed == seed)
    }

    /// Every analysis: places of the position and the player, and the seed.
    fn analyses(&self) -> impl Iterator<Item = (usize, usize, u64)> {
        let (positions, players, seeds) = (self.places.len(), self.players.len(), &self.file.seeds);
        let pairs = (0..positions).flat_map(move |position| (0..players).map(move |player| (position, player)));
        pairs.flat_map(move |(position, player)| seeds.iter().map(move |&seed| (position, player, seed)))
    }

    fn analyse(
        &self,
        (position, player, seed): (usize, usize, u64),
        work: &Work<'_>,
    ) -> Result<Option<Vec<AnalysisRow>>, String> {
        let (keys, text) = (&self.file.positions[position], &self.file.players[player]);
        let (Place { game, moves }, (spec, limits)) = (&self.places[position], &self.players[player]);
        work.resources.open_for(spec).map_err(|error| error.to_string())?;
        let mut thinker =
            spec.impartial().build(Seed::from(seed), work.resources).map_err(|error| error.to_string())?;
        let Some(choice) = thinker.analyse(game, limits, work.stop) else {
            return Err(format!("{spec} finds no move in {}", game.position()));
        };
        // A search that was stopped says something else than it would have said.
        if work.stop.is_raised() {
            return Ok(None);
        }
        let named = if moves.is_empty() { std::slice::from_ref(&choice.mv) } else { moves };
        let row = |&mv: &Move| {
            let found = choice.candidates.iter().find(|candidate| candidate.mv == mv);
            let candidate = found.ok_or_else(|| format!("{spec} did not look at {mv}"))?;
            let better = choice.candidates.iter().filter(|other| other.score > candidate.score).count();
            let chances = spec.chances_of(game, candidate, work.resources);
            let part = |place: usize| chances.map(|chances| (1000.0 * chances[place]).round() as u32);
            Ok(AnalysisRow {
                position: keys.name.clone(),
                player: text.clone(),
                seed,
                mv: mv.to_string(),
                rank: better + 1,
                of: choice.candidates.len(),
                score: candidate.score.0,
                win: part(0),
                draw: part(1),
                loss: part(2),
                best: choice.mv.to_string(),
                best_score: choice.score.0,
            })
        };
        named.iter().map(row).collect::<Result<_, String>>().map(Some)
    }
}

fn player(text: &str) -> Result<(PlayerSpec, Limits), SheetError> {
    let bad = |error: String| SheetError::value(format!("player {:?}", excerpt(text)), error);
    let (spec, budget) = split_player(text);
    let spec: PlayerSpec = spec.parse().map_err(|error: anqi_engine::SpecError| bad(error.to_string()))?;
    let budget = (!budget.is_empty()).then(|| budget.parse::<Budget>()).transpose();
    let budget = budget.map_err(|error| bad(error.to_string()))?.unwrap_or_default();
    if budget.clock.is_some() || !spec.is_bounded_by(&budget.limits) {
        return Err(bad("expected a budget for one position, such as nodes=100000 or playouts=10000".to_owned()));
    }
    Ok((spec, budget.limits))
}

fn place(keys: &PositionKeys, usual: &str) -> Result<Place, SheetError> {
    let bad = |error: &dyn std::fmt::Display| SheetError::value(format!("position {:?}", excerpt(&keys.name)), error);
    let rules: Rules =
        keys.rules.as_deref().unwrap_or(usual).parse().map_err(|error: anqi_rules::RulesError| bad(&error))?;
    let position = match keys.position.as_str() {
        "start" => Position::initial(&rules),
        text => Position::parse(text, rules.ladder()).map_err(|error| bad(&error))?,
    };
    let game = Game::from_position(rules.on_board(position.board()), position).map_err(|error| bad(&error))?;
    let legal = position.moves();
    let named = |keys: &MoveKeys| {
        let mv: Move = keys.mv.parse().map_err(|error: anqi_rules::ParseError| bad(&error))?;
        if !legal.contains(&mv) {
            return Err(bad(&format!("move {mv} is not legal")));
        }
        Ok(mv)
    };
    let moves = keys.moves.iter().map(named).collect::<Result<_, _>>()?;
    Ok(Place { game, moves })
}

impl ExperimentKind for AnalysisPlan {
    fn text(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(&self.file)
    }

    fn size(&self) -> String {
        format!("{} positions, {} analyses", self.places.len(), self.count())
    }

    /// Only the searches with at most so many nodes or playouts.
    fn with_count(&self, count: u64) -> Result<Box<dyn ExperimentKind>, SheetError> {
        let small = |limits: &Limits| {
            let nodes = limits.nodes.or(limits.playouts);
            nodes.is_some_and(|nodes| nodes <= count)
        };
        let pairs = self.file.players.iter().zip(&self.players);
        let players = pairs.filter(|(_, (_, limits))| small(limits)).map(|(text, _)| text.clone()).collect();
        Ok(Box::new(AnalysisPlan::new(AnalysisFile { players, ..self.file.clone() })?))
    }

    fn is_finished(&self, run: &Run) -> bool {
        AnalysisPlan::rows(run).is_ok_and(|rows| {
            self.analyses().all(|(position, player, seed)| {
                AnalysisPlan::is_done(&rows, &self.file.positions[position].name, &self.file.players[player], seed)
            })
        })
    }

    fn measure(&self, run: &Run, work: &mut Work<'_>) -> Result<bool, ExperimentError> {
        let mut rows = AnalysisPlan::rows(run)?;
        let mut done = 0;
        let is_done = |rows: &[AnalysisRow], &(position, player, seed): &(usize, usize, u64)| {
            AnalysisPlan::is_done(rows, &self.file.positions[position].name, &self.file.players[player], seed)
        };
        let found = self.analyses().filter(|analysis| is_done(&rows, analysis)).count();
        for analysis in self.analyses() {
            done += 1;
            if is_done(&rows, &analysis) {
                continue;
            }
            if work.stop.is_raised() {
                return Ok(false);
            }
            let name = self.file.positions[analysis.0].name.clone();
            let failed = |error| ExperimentError::Work { name: name.clone(), error };
            let Some(new) = self.analyse(analysis, work).map_err(failed)? else { return Ok(false) };
            rows.extend(new);
            run.write_raw(&rows)?;
            work.show("analyses", [done, found, self.count()], &format!("{name} {}", self.file.players[analysis.1]));
        }
        Ok(true)
    }

    fn tell(&self, experiment: &Experiment, run: &Run) -> Result<Told, ExperimentError> {
        let rows = AnalysisPlan::rows(run)?;
        let done = self.analyses().filter(|&(position, player, seed)| {
            AnalysisPlan::is_done(&rows, &self.file.positions[position].name, &self.file.players[player], seed)
        });
        let mut told = Told { measured: (done.count(), self.count(), "analyses"), ..Told::default() };
        add_facts(&mut told.facts, &rows);
        for (keys, place) in self.file.positions.iter().zip(&self.places) {
            if !keys.moves.is_empty() || keys.caption.is_some() {
                told.figures.push(drawing(keys, place));
            }
            let of_position: Vec<&AnalysisRow> = rows.iter().filter(|row| row.position == keys.name).collect();
            told.sections.push(section(keys, place, &of_position));
        }
        if let Some(name) = &self.file.expected {
            let compared = Expected::compare(&experiment.dir.join(name), &run.raw_text()?, 3)?;
            told.sections.extend(compared.map(|compared| compared.section(name)));
        }
        Ok(told)
    }
}

/// `POSITION MOVE PLAYER seed N`: the rank of a move among all.
fn add_facts(facts: &mut Facts, rows: &[AnalysisRow]) {
    for AnalysisRow { position, player, seed, mv, rank, score, .. } in rows {
        let name = format!("{position} {mv} {player} seed {seed}");
        facts.add(Quantity::Rank, name.clone(), Number::new(*rank as f64, 0.0));
        facts.add(Quantity::Value, name, Number::new(f64::from(*score), 0.0));
    }
}

/// Who says what of each move.
fn section(keys: &PositionKeys, place: &Place, rows: &[&AnalysisRow]) -> Section {
    const COLUMNS: [&str; 7] = ["move", "said of it", "player", "rank", "score", "won, drawn, lost", "best move"];
    let game = &place.game;
    let before = format!("`{}`, rules {}, {} moves.", game.position(), game.rules(), game.position().moves().len());
    let said = |mv: &str| {
        let found = keys.moves.iter().find(|keys| keys.mv == mv);
        found.map_or_else(String::new, |keys| keys.says.clone())
    };
    let line = |row: &&AnalysisRow| {
        let AnalysisRow { player, seed, mv, rank, of, score, win, draw, loss, best, best_score, .. } = row;
        let chances = match (win, draw, loss) {
            (Some(win), Some(draw), Some(loss)) => {
                let [win, draw, loss] = [win, draw, loss].map(|part| format!("{:.1}", f64::from(*part) / 10.0));
                format!("{win} / {draw} / {loss} %")
            }
            _ => "–".to_owned(),
        };
        vec![
            mv.clone(),
            said(mv),
            format!("`{player}`, seed {seed}"),
            format!("{rank} of {of}"),
            score.to_string(),
            chances,
            format!("{best} ({best_score})"),
        ]
    };
    // All that is said of one move together.
    let mut rows = rows.to_vec();
    let place_of = |mv: &str| keys.moves.iter().position(|keys| keys.mv == mv);
    rows.sort_by_key(|row| place_of(&row.mv));
    Section { before, ..Section::table(&keys.name, &COLUMNS, rows.iter().map(line).collect()) }
}

/// The position with its named moves.
fn drawing(keys: &PositionKeys, place: &Place) -> Figure {
    let mark = |(&mv, keys): (&Move, &MoveKeys)| Mark { mv, says: keys.says.clone() };
    let marks = place.moves.iter().zip(&keys.moves).map(mark).collect();
    let title = match &keys.caption {
        Some(caption) => format!("{}: {caption}", keys.name),
        None => keys.name.clone(),
    };
    let board = BoardFigure { position: *place.game.position(), marks };
    Figure { title, measure: "", content: Content::Board(board) }
}
