//! `kind = "tables"`: endings solved exactly and counted, a line for each class of endings in which the same pieces take each
//! other. Revealed pieces alone are counted without keeping their tables; with face-down pieces tables are built.

use std::collections::HashSet;

use anqi_endgame::{Class, CountsFile, Ending, Flavour, Index};
use anqi_rules::Color;
use anqi_solve::{MOST_HIDDEN, TableFolder};
use anqi_stats::Grouped;
use anqi_task::Status;
use serde::{Deserialize, Serialize};

use super::expected::Expected;
use crate::kind::{ExperimentKind, Told, Work};
use crate::section::Section;
use crate::sheet::{check_version, read_keys};
use crate::{Experiment, ExperimentError, RAW, Run, SheetError, read_table};

/// The keys of a plan.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TablesPlan {
    version: u32,
    /// How many pieces: all classes of exactly so many revealed ones, or of up to so many with face-down ones.
    pieces: u32,
    /// How many of them may lie face down: 0, the default, or 2.
    #[serde(default)]
    face_down: u32,
    /// Only so many classes, those with the fewest positions; all by default. For revealed pieces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    smallest: Option<u64>,
    /// A file beside the plan with the lines that must come out; none by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expected: Option<String>,
}

/// A line of counts with face-down pieces.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct VeiledRow {
    ending: String,
    pieces: u32,
    hidden: u32,
    members: u32,
    turn: String,
    win: u64,
    half_win: u64,
    draw: u64,
    half_loss: u64,
    loss: u64,
}

/// A line of counts of revealed pieces.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
struct RevealedRow {
    /// Red's pieces, a hyphen, black's.
    class: String,
    red_win: u64,
    red_draw: u64,
    red_loss: u64,
    red_longest: Option<u64>,
    black_win: u64,
    black_draw: u64,
    black_loss: u64,
    black_longest: Option<u64>,
}

pub(super) fn read(table: toml::Table) -> Result<Box<dyn ExperimentKind>, SheetError> {
    TablesPlan::new(read_keys(table)?).map(|plan| Box::new(plan) as Box<dyn ExperimentKind>)
}

impl TablesPlan {
    fn new(plan: TablesPlan) -> Result<TablesPlan, SheetError> {
        check_version(plan.version)?;
        let (most, expected) = match plan.face_down {
            0 => (anqi_endgame::MOST_PIECES as u32, "2 to 6"),
            MOST_HIDDEN => (anqi_solve::MOST_PIECES, "2 to 5"),
            other => {
                return Err(SheetError::Range { key: "face_down", found: other.into(), expected: "0 or 2" });
            }
        };
        if !(2..=most).contains(&plan.pieces) {
            return Err(SheetError::Range { key: "pieces", found: plan.pieces.into(), expected });
        }
        if plan.smallest == Some(0) || (plan.smallest.is_some() && plan.face_down > 0) {
            let found = plan.smallest.unwrap_or_default();
            return Err(SheetError::Range { key: "smallest", found, expected: "at least one, and revealed pieces" });
        }
        Ok(plan)
    }

    /// The classes to be counted, if all pieces are revealed.
    fn classes(&self) -> Vec<Ending> {
        let mut classes: Vec<(u64, Ending)> = Class::all(self.pieces)
            .into_iter()
            .map(|(class, name)| (Index::new(&class).map_or(u64::MAX, |index| index.positions()), name))
            .collect();
        classes.sort_by_key(|(positions, name)| (*positions, name.to_string()));
        classes.truncate(self.smallest.map_or(usize::MAX, |most| most as usize));
        classes.into_iter().map(|(_, name)| name).collect()
    }

    fn count_revealed(&self, run: &Run, work: &mut Work<'_>) -> Result<bool, ExperimentError> {
        let failed = |error: &dyn std::fmt::Display| ExperimentError::Work {
            name: "tables".to_owned(),
            error: error.to_string(),
        };
        let mut file = CountsFile::open(&run.dir.join(RAW)).map_err(|error| failed(&error))?;
        let classes = self.classes();
        let missing: Vec<Ending> = classes.iter().copied().filter(|ending| !file.has(ending)).collect();
        let found = classes.len() - missing.len();
        let dir = run.work_dir()?.join("tables");
        let (threads, stop) = (work.threads, work.stop.clone());
        // Solving tells of each class on the thread that solved it; what is shown stays on this one.
        let (sender, solved) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            let counting = scope.spawn(|| {
                let heard = move |ending: Ending, tally: &_| {
                    // The receiver is gone only if this thread is, too.
                    let _ = sender.send((ending, *tally));
                };
                anqi_endgame::count(&dir, Flavour::END, &missing, threads, &stop, heard)
            });
            let (mut done, mut written) = (found, Ok(()));
            for (ending, tally) in solved {
                if written.is_ok() {
                    written = file.add(ending, &tally);
                }
                if written.is_err() {
                    stop.raise();
                }
                done += 1;
                work.show("classes", [done, found, classes.len()], &ending.to_string());
            }
            let counted = counting.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            written.map_err(|error| failed(&error))?;
            counted.map_err(|error| failed(&error))
        })
    }

    fn build_veiled(&self, run: &Run, work: &mut Work<'_>) -> Result<bool, ExperimentError> {
        let failed = |error: anqi_solve::TablesError| ExperimentError::Work {
            name: "tables".to_owned(),
            error: error.to_string(),
        };
        let dir = run.work_dir()?.join("tables");
        anqi_store::create_folders(&dir).map_err(|error| crate::io_error(&dir, error))?;
        let mut tables = TableFolder::new(&dir);
        let (threads, stop, host) = (work.threads, work.stop, &mut *work.host);
        // Nothing is told of a build that is stopped before its first table.
        let mut left = 1;
        let progress = |status: &Status| {
            left = status.left().items;
            host.show("tables", status, "");
        };
        tables.build(self.pieces, threads, stop, progress).map_err(failed)?;
        if left > 0 {
            return Ok(false);
        }
        let mut rows = Vec::new();
        for veiled in tables.present() {
            let tallies = tables.tally(&veiled).map_err(failed)?;
            tables.clear();
            for (turn, tally) in Color::ALL.into_iter().zip(tallies) {
                let [win, half_win, draw, half_loss, loss] = tally.counts();
                rows.push(VeiledRow {
                    ending: veiled.to_string(),
                    pieces: veiled.pieces().len(),
                    hidden: veiled.pool().len(),
                    members: tables.members(&veiled),
                    turn: turn.name().to_owned(),
                    win,
                    half_win,
                    draw,
                    half_loss,
                    loss,
                });
            }
        }
        run.write_raw(&rows)?;
        Ok(true)
    }
}

impl ExperimentKind for TablesPlan {
    fn text(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(self)
    }

    fn size(&self) -> String {
        match (self.face_down, self.smallest) {
            (0, Some(most)) => format!("the {most} smallest classes of {} pieces", self.pieces),
            (0, None) => format!("all classes of {} pieces", self.pieces),
            (hidden, _) => format!("all classes of up to {} pieces, up to {hidden} face down", self.pieces),
        }
    }

    /// The smallest classes of revealed pieces; another number of pieces with face-down ones.
    fn with_count(&self, count: u64) -> Result<Box<dyn ExperimentKind>, SheetError> {
        let smaller = match self.face_down {
            0 => TablesPlan { smallest: Some(count), ..self.clone() },
            _ => TablesPlan { pieces: u32::try_from(count).unwrap_or(u32::MAX), ..self.clone() },
        };
        Ok(Box::new(TablesPlan::new(smaller)?))
    }

    fn is_finished(&self, run: &Run) -> bool {
        let path = run.dir.join(RAW);
        if self.face_down > 0 {
            return path.is_file();
        }
        path.is_file() && CountsFile::open(&path).is_ok_and(|file| self.classes().iter().all(|ending| file.has(ending)))
    }

    fn measure(&self, run: &Run, work: &mut Work<'_>) -> Result<bool, ExperimentError> {
        if self.face_down == 0 { self.count_revealed(run, work) } else { self.build_veiled(run, work) }
    }

    fn tell(&self, experiment: &Experiment, run: &Run) -> Result<Told, ExperimentError> {
        let mut told = Told { measured: (0, 1, "tables"), ..Told::default() };
        let path = run.dir.join(RAW);
        if !path.is_file() {
            return Ok(told);
        }
        if self.face_down == 0 {
            let rows: Vec<RevealedRow> = read_table(&path)?;
            told.measured = (rows.len(), self.classes().len(), "classes");
            told.sections.push(revealed(&rows));
        } else {
            let rows: Vec<VeiledRow> = read_table(&path)?;
            told.measured = (1, 1, "tables");
            told.sections.push(veiled(&rows));
        }
        if let Some(name) = &self.expected {
            let keys = if self.face_down == 0 { 1 } else { 5 };
            let compared = Expected::compare(&experiment.dir.join(name), &run.raw_text()?, keys)?;
            told.sections.extend(compared.map(|compared| compared.section(name)));
        }
        Ok(told)
    }
}

fn percent(part: u64, all: u64) -> String {
    format!("{:.2} %", 100.0 * part as f64 / all.max(1) as f64)
}

/// Results by how many pieces either side has, from the point of view of the side with more; each class counts once.
fn revealed(rows: &[RevealedRow]) -> Section {
    const COLUMNS: [&str; 7] =
        ["pieces", "classes", "placements", "won by the side with more", "drawn", "lost", "longest win, plies"];
    let sides = |row: &RevealedRow| row.class.split_once('-').map_or((0, 0), |(red, black)| (red.len(), black.len()));
    let mut sizes: Vec<(usize, usize)> =
        rows.iter().map(sides).map(|(red, black)| (red.max(black), red.min(black))).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let line = |&(more, less): &(usize, usize)| {
        let (mut classes, mut counts, mut longest) = (0_u64, [0_u64; 3], 0);
        for row in rows {
            let (red, black) = sides(row);
            if (red.max(black), red.min(black)) != (more, less) {
                continue;
            }
            classes += 1;
            let RevealedRow { red_win, red_draw, red_loss, black_win, black_draw, black_loss, .. } = *row;
            let (won, lost) = (red_win + black_loss, red_loss + black_win);
            let (won, lost) = if red >= black { (won, lost) } else { (lost, won) };
            let add = [won, red_draw + black_draw, lost];
            counts = std::array::from_fn(|place| counts[place] + add[place]);
            longest = longest.max(row.red_longest.unwrap_or(0)).max(row.black_longest.unwrap_or(0));
        }
        let all = counts.iter().sum();
        let share =
            |place: usize| if more == less && place != 1 { "–".to_owned() } else { percent(counts[place], all) };
        vec![
            format!("{more} against {less}"),
            Grouped(classes).to_string(),
            Grouped(all).to_string(),
            share(0),
            share(1),
            share(2),
            longest.to_string(),
        ]
    };
    Section {
        before:
            "Every placement with either side to move; endings in which the same pieces take each other are one class, \
                 which counts once."
                .to_owned(),
        ..Section::table("Results", &COLUMNS, sizes.iter().map(line).collect())
    }
}

/// Shares of values by pieces and face-down pieces; each class counts once.
fn veiled(rows: &[VeiledRow]) -> Section {
    const COLUMNS: [&str; 9] = ["pieces", "face down", "classes", "placements", "+1", "+1/2", "0", "−1/2", "−1"];
    let mut sizes: Vec<(u32, u32)> = rows.iter().map(|row| (row.pieces, row.hidden)).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let line = |&(pieces, hidden): &(u32, u32)| {
        let of_size: Vec<&VeiledRow> = rows.iter().filter(|row| (row.pieces, row.hidden) == (pieces, hidden)).collect();
        let classes: HashSet<&str> = of_size.iter().map(|row| row.ending.as_str()).collect();
        let mut counts = [0; 5];
        for row in &of_size {
            let add = [row.win, row.half_win, row.draw, row.half_loss, row.loss];
            counts = std::array::from_fn(|place| counts[place] + add[place]);
        }
        let all: u64 = counts.iter().sum();
        let first = [pieces.to_string(), hidden.to_string(), classes.len().to_string(), Grouped(all).to_string()];
        first.into_iter().chain(counts.map(|count| percent(count, all))).collect()
    };
    Section {
        before: "Every placement with either side to move, by its value to that side; endings in which the same pieces take \
                 each other are one class, which counts once."
            .to_owned(),
        ..Section::table("Values", &COLUMNS, sizes.iter().map(line).collect())
    }
}
