//! `kind = "solve"`: small boards solved exactly, every first flip of every fair set; a table for each board.

use std::fmt::Write as _;

use anqi_rules::BoardSize;
use anqi_solve::{SolvedGame, solved_games_csv};
use anqi_store::read_text;
use serde::{Deserialize, Serialize};

use super::expected::Expected;
use crate::facts::{Facts, Quantity};
use crate::figure::{Content, Dots, Figure};
use crate::kind::{ExperimentKind, Told, Work};
use crate::number::Number;
use crate::section::Section;
use crate::sheet::{check_version, read_keys};
use crate::{Experiment, ExperimentError, MOST_TABLE_BYTES, Run, SheetError, io_error, read_table};

/// The keys of a plan. `BOARD.csv` beside it is what must come out.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SolvePlan {
    version: u32,
    /// The boards: 2x2, 3x2, 2x4.
    boards: Vec<String>,
}

/// A line of the table of a board.
#[derive(Clone, Debug, Deserialize)]
struct FlipRow {
    set: String,
    like: String,
    squares: String,
    decimal: f64,
}

const BOARDS: [BoardSize; 3] = [BoardSize::TwoByTwo, BoardSize::ThreeByTwo, BoardSize::TwoByFour];

pub(super) fn read(table: toml::Table) -> Result<Box<dyn ExperimentKind>, SheetError> {
    SolvePlan::new(read_keys(table)?).map(|plan| Box::new(plan) as Box<dyn ExperimentKind>)
}

fn board(name: &str) -> Option<BoardSize> {
    BOARDS.into_iter().find(|board| board.name() == name)
}

impl SolvePlan {
    fn new(plan: SolvePlan) -> Result<SolvePlan, SheetError> {
        check_version(plan.version)?;
        SheetError::check_list("boards", &plan.boards)?;
        match plan.boards.iter().find(|name| board(name).is_none()) {
            Some(name) => {
                let error =
                    format!("{:?} is not a board that is solved, expected 2x2, 3x2 or 2x4", anqi_rules::excerpt(name));
                Err(SheetError::value("boards", error))
            }
            None => Ok(plan),
        }
    }

    fn solved(&self, run: &Run) -> usize {
        self.boards.iter().filter(|name| run.dir.join(format!("{name}.csv")).is_file()).count()
    }
}

impl ExperimentKind for SolvePlan {
    fn text(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(self)
    }

    fn size(&self) -> String {
        format!("all fair sets of {}", self.boards.join(", "))
    }

    /// The first boards.
    fn with_count(&self, count: u64) -> Result<Box<dyn ExperimentKind>, SheetError> {
        let boards = self.boards.iter().take(usize::try_from(count).unwrap_or(usize::MAX)).cloned().collect();
        Ok(Box::new(SolvePlan::new(SolvePlan { boards, ..self.clone() })?))
    }

    fn is_finished(&self, run: &Run) -> bool {
        self.solved(run) == self.boards.len()
    }

    fn measure(&self, run: &Run, work: &mut Work<'_>) -> Result<bool, ExperimentError> {
        let found = self.solved(run);
        let mut done = found;
        for name in &self.boards {
            let path = format!("{name}.csv");
            let Some(board) = board(name).filter(|_| !run.dir.join(&path).is_file()) else { continue };
            if work.stop.is_raised() {
                return Ok(false);
            }
            let failed =
                |error: anqi_solve::SolveError| ExperimentError::Work { name: name.clone(), error: error.to_string() };
            let games = SolvedGame::solve_all(board, work.threads).map_err(failed)?;
            run.write(&path, solved_games_csv(&games).as_bytes())?;
            done += 1;
            work.show("boards", [done, found, self.boards.len()], name);
        }
        Ok(true)
    }

    fn tell(&self, experiment: &Experiment, run: &Run) -> Result<Told, ExperimentError> {
        let mut told = Told { measured: (self.solved(run), self.boards.len(), "boards"), ..Told::default() };
        for name in &self.boards {
            let file = format!("{name}.csv");
            let path = run.dir.join(&file);
            if !path.is_file() {
                continue;
            }
            let text = read_text(&path, MOST_TABLE_BYTES).map_err(|error| io_error(&path, error))?;
            let rows: Vec<FlipRow> = read_table(&path)?;
            told.sections.push(summary(name, &rows));
            told.sections.extend(Expected::compare(&experiment.dir.join(&file), &text, 4)?.map(|it| it.section(&file)));
            add_facts(&mut told.facts, name, &rows);
            told.figures.push(picture(name, &rows));
        }
        Ok(told)
    }
}

/// The rows of each set, in order.
fn sets(rows: &[FlipRow]) -> Vec<&[FlipRow]> {
    rows.chunk_by(|a, b| a.set == b.set).collect()
}

fn best(set: &[FlipRow]) -> f64 {
    set.iter().map(|row| row.decimal).fold(f64::NEG_INFINITY, f64::max)
}

fn summary(board: &str, rows: &[FlipRow]) -> Section {
    let sets = sets(rows);
    let classes: Vec<&[FlipRow]> = sets.iter().copied().filter(|set| set[0].set == set[0].like).collect();
    let better = sets.iter().filter(|set| best(set) > 0.0).count();
    let mut before = format!(
        "{} fair sets of {} classes; the player who flips first is better off in {better} sets. P(win) − P(loss) of the \
         best first flip: ",
        sets.len(),
        classes.len()
    );
    let order = |a: &&&[FlipRow], b: &&&[FlipRow]| best(a).total_cmp(&best(b));
    if let (Some(most), Some(least)) = (classes.iter().max_by(order), classes.iter().min_by(order)) {
        let _ = write!(before, "{:+.4} ({}) to {:+.4} ({}).", best(most), most[0].set, best(least), least[0].set);
    }
    Section { title: format!("Board {board}"), before, ..Section::default() }
}

/// `2x4 NCPP a1 a2 d1 d2` for a kind of square, `2x4 NCPP` for the best of them.
fn add_facts(facts: &mut Facts, board: &str, rows: &[FlipRow]) {
    for set in sets(rows) {
        facts.add(Quantity::Value, format!("{board} {}", set[0].set), Number::new(best(set), 0.0));
        for row in set {
            facts.add(Quantity::Value, format!("{board} {} {}", row.set, row.squares), Number::new(row.decimal, 0.0));
        }
    }
}

/// A row for the first set of each class.
fn picture(board: &str, rows: &[FlipRow]) -> Figure {
    let sets = sets(rows);
    let dots = |set: &&[FlipRow]| {
        let like = sets.iter().filter(|other| other[0].like == set[0].like).count();
        let label = if like == 1 { set[0].set.clone() } else { format!("{} and {} more", set[0].set, like - 1) };
        let first = |squares: &str| squares.split(' ').next().unwrap_or_default().to_owned();
        Dots { label, points: set.iter().map(|row| (first(&row.squares), row.decimal)).collect() }
    };
    let classes: Vec<Dots> = sets.iter().filter(|set| set[0].set == set[0].like).map(dots).collect();
    let title = format!("What the first flip is worth on the {board} board");
    let content = Content::Dots { board: board.to_owned(), sets: sets.len(), rows: classes };
    Figure { title, measure: Quantity::Value.label(), content }
}
