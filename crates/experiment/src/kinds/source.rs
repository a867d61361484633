//! Where game records come from: a file beside the plan, one given from outside, or games that are played first.

use std::path::PathBuf;

use anqi_games::{EngineSpec, GameProtocol, GameStart, GamesJournal, SelfPlay};
use anqi_lab::{Plan, PlanFile, SeedText};
use anqi_rules::Seat;
use serde::{Deserialize, Serialize};

use super::games;
use crate::kind::Work;
use crate::{ExperimentError, Run, SheetError, write_file};

/// Records as a plan names them: `records = { file = "…" }` and so on.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Source {
    /// A file, by its path from the folder of the experiment.
    File(String),
    /// A file that is given from outside under this name.
    Input(String),
    /// Games between players of ours, played first.
    Games(PlanFile),
    /// Games of an engine of another game against itself, played first.
    SelfPlay(SelfPlayFile),
}

/// Self-play as it is written down; the keys are the options of `anqi self-play`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SelfPlayFile {
    /// Who plays.
    engine: String,
    /// How many games.
    games: usize,
    /// How many plies at the beginning are random; 8 by default.
    #[serde(default = "usual_opening")]
    opening: usize,
    /// After how many plies a game is given up; 400 by default.
    #[serde(default = "usual_longest")]
    longest: usize,
    /// Lines of a board of Go; 19 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    size: Option<usize>,
    /// What White gets in Go; 6.5 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    komi: Option<f64>,
    /// Where everything random comes from; 1 by default.
    #[serde(default = "usual_seed")]
    seed: SeedText,
}

const fn usual_opening() -> usize {
    8
}

const fn usual_longest() -> usize {
    400
}

const fn usual_seed() -> SeedText {
    SeedText::Number(1)
}

impl Source {
    /// Whether everything in it is sound.
    pub(super) fn check(&self) -> Result<(), SheetError> {
        match self {
            Source::File(path) if path.is_empty() => Err(SheetError::value("records", "file: no name")),
            Source::Input(name) if !is_name(name) => {
                Err(SheetError::value("records", format!("input: {name:?} is not a name of letters, digits and -")))
            }
            Source::File(_) | Source::Input(_) => Ok(()),
            Source::Games(file) => plan(file).map(|_| ()),
            Source::SelfPlay(file) => file.plan().map(|_| ()),
        }
    }

    /// The name of the file that is needed from outside, if one is.
    pub(super) fn input(&self) -> Option<&str> {
        match self {
            Source::Input(name) => Some(name),
            Source::File(_) | Source::Games(_) | Source::SelfPlay(_) => None,
        }
    }

    /// The same with another number of games, where games are played first: of self-play, or pairs for each pairing.
    pub(super) fn with_games(&self, count: u64) -> Source {
        match self {
            Source::Games(file) => Source::Games(PlanFile { pairs: Some(count), ..file.clone() }),
            Source::SelfPlay(file) => Source::SelfPlay(SelfPlayFile { games: count as usize, ..file.clone() }),
            other => other.clone(),
        }
    }

    /// The file of the records, called `name` if it is made here; `None` if the work was stopped.
    pub(super) fn obtain(
        &self,
        name: &str,
        run: &Run,
        work: &mut Work<'_>,
    ) -> Result<Option<PathBuf>, ExperimentError> {
        match self {
            Source::File(path) => Ok(Some(run.beside_plan(path))),
            Source::Input(name) => {
                let path = work.inputs.file(name)?.clone();
                run.remember_input(name, &path)?;
                Ok(Some(path))
            }
            Source::Games(file) => {
                let failed =
                    |error: SheetError| ExperimentError::Work { name: name.to_owned(), error: error.to_string() };
                let dir = run.work_dir()?.join(format!("{name}-games"));
                let path = dir.join("games.anqi");
                if !path.exists() {
                    let plan = plan(file).map_err(failed)?;
                    let Some(journal) = games::play(&plan, &dir, work)? else { return Ok(None) };
                    journal.write_games(plan.count())?;
                    games::write_records(&journal, &run.dir.join(format!("{name}.anqi.zst")))?;
                }
                Ok(Some(path))
            }
            Source::SelfPlay(file) => file.play(name, run, work),
        }
    }
}

/// A name of an input or of a part of a plan, which becomes the name of a file.
pub(super) fn is_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    !name.is_empty() && name.len() <= 100 && name.chars().all(fits)
}

/// Texts in a plan of version 2 mean what they mean today.
fn plan(file: &PlanFile) -> Result<Plan, SheetError> {
    Ok(Plan::new(&PlanFile { version: PlanFile::TODAY, ..file.clone() })?)
}

impl SelfPlayFile {
    fn plan(&self) -> Result<SelfPlay, SheetError> {
        let engine: EngineSpec = self.engine.parse().map_err(|error| SheetError::value("engine", error))?;
        let seed = self.seed.seed().map_err(|error| SheetError::value("seed", error))?;
        if self.games == 0 {
            return Err(SheetError::Range { key: "games", found: 0, expected: "at least one" });
        }
        let start = match engine.protocol {
            GameProtocol::Gtp => {
                let komi = self.komi.unwrap_or(6.5);
                if !komi.is_finite() {
                    return Err(SheetError::value("komi", format!("{komi}, expected a number")));
                }
                GameStart::Go { size: self.size.unwrap_or(19), komi, stones: Vec::new(), turn: Seat::First }
            }
            _ if self.size.is_some() || self.komi.is_some() => {
                return Err(SheetError::value("size, komi", format!("{} does not play Go", engine.protocol.name())));
            }
            GameProtocol::Uci => GameStart::Chess(None),
            GameProtocol::Usi => GameStart::Shogi(None),
        };
        Ok(SelfPlay { engine, start, opening: self.opening, longest: self.longest, seed })
    }

    fn play(&self, name: &str, run: &Run, work: &mut Work<'_>) -> Result<Option<PathBuf>, ExperimentError> {
        let failed =
            |error: &dyn std::fmt::Display| ExperimentError::Work { name: name.to_owned(), error: error.to_string() };
        let plan = self.plan().map_err(|error| failed(&error))?;
        let ending = match plan.engine.protocol {
            GameProtocol::Uci => "pgn",
            GameProtocol::Gtp => "sgf",
            GameProtocol::Usi => "csa",
        };
        let path = run.work_dir()?.join(format!("{name}.{ending}"));
        if path.exists() {
            return Ok(Some(path));
        }
        let mut journal = GamesJournal::open(&path, &plan).map_err(|error| failed(&error))?;
        let missing: Vec<usize> = (0..self.games).filter(|number| !journal.games().contains_key(number)).collect();
        let found = self.games - missing.len();
        let (mut kept, mut done, stop) = (Ok(()), found, work.stop.clone());
        let threads = work.threads.get();
        plan.run(&missing, threads, &stop, |number, played| {
            done += 1;
            work.show("games", [done, found, self.games], name);
            kept = journal.add(number, played.into());
            kept.is_ok()
        })
        .map_err(|error| failed(&format!("{}: {error}", plan.engine)))?;
        kept.map_err(|error| failed(&error))?;
        if (0..self.games).any(|number| !journal.games().contains_key(&number)) {
            return Ok(None);
        }
        let text: String = journal.games().range(..self.games).filter_map(|(_, kept)| kept.record()).collect();
        let packed = zstd::encode_all(text.as_bytes(), 19).map_err(|error| crate::io_error(&path, error))?;
        write_file(&run.dir.join(format!("{name}.{ending}.zst")), &packed)?;
        write_file(&path, text.as_bytes())?;
        journal.remove().map_err(|error| failed(&error))?;
        Ok(Some(path))
    }
}
