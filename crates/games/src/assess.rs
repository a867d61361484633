//! Records and engines of chess, Go and shogi for `anqi_assess`, in the place of ours.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use anqi_assess::{
    EvaluateError, Judge, Key, Positions, Sample, Samples, Selection, Series, Skipped, Valuation, Valuer, WorkError,
};
use anqi_engine::{Limits, Stop};
use anqi_records::FileError;
use anqi_stats::{Grouped, Points};

use crate::board::WinOrDraw;
use crate::engine::{Asked, EngineSpec, GameProtocol, Standby};
use crate::reader::{GameFormat, GameReader};
use crate::record::{GameRecord, PlayedPosition};

/// The conditions under which curves of these games are drawn when nothing else is said.
pub const USUAL_CONDITIONS: [&str; 6] = ["ply=20,40,60,100", "pieces", "capture", "check", "side", "lead=-3,0,1,4"];

/// Why records and engines do not go together.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum OtherGamesError {
    /// Engines of two games.
    #[error("engines of different games: {0} and {1}")]
    Engines(String, String),
    /// Files of two games.
    #[error("records of different games: {0} and {1}")]
    Records(String, String),
    /// A budget that the protocol of an engine cannot express.
    #[error("{limits} means nothing to an engine that speaks {protocol}")]
    Budget {
        /// The budget.
        limits: String,
        /// The protocol.
        protocol: &'static str,
    },
}

/// The format of the records, if they are those of another game: by the engine, else by the names of the files.
///
/// # Errors
/// If files or engines are of different games.
pub fn format_of(files: &[PathBuf], engines: &[EngineSpec]) -> Result<Option<GameFormat>, OtherGamesError> {
    let mut all: Vec<Option<GameFormat>> = files.iter().map(|file| GameFormat::of(file)).collect();
    if let Some(engine) = engines.first() {
        let own = GameFormat::ALL.into_iter().find(|format| format.kind() == engine.protocol.kind());
        if let Some(other) = engines.iter().find(|other| other.protocol != engine.protocol) {
            return Err(OtherGamesError::Engines(engine.to_string(), other.to_string()));
        }
        // Files may have any name, but not that of another game.
        all.iter_mut().filter(|format| format.is_none()).for_each(|format| *format = own);
        all.push(own);
    }
    let first = all.first().copied().flatten();
    if let Some(other) = all.iter().position(|format| *format != first) {
        let shown = |place: usize| files.get(place).map_or("the engine".to_owned(), |file| file.display().to_string());
        return Err(OtherGamesError::Records(shown(0), shown(other)));
    }
    Ok(first)
}

/// Every engine with every budget; engines that are told by other means as they are.
///
/// # Errors
/// If a budget means nothing to an engine.
pub fn with_budgets(engines: &[EngineSpec], budgets: &[Limits]) -> Result<Vec<EngineSpec>, OtherGamesError> {
    let mut all = Vec::new();
    for engine in engines {
        if budgets.is_empty() || engine.protocol == GameProtocol::Gtp || engine.go.is_some() {
            all.push(engine.clone());
            continue;
        }
        for limits in budgets {
            if let Some(playouts) = limits.playouts {
                let limits = format!("playouts={playouts}");
                return Err(OtherGamesError::Budget { limits, protocol: engine.protocol.name() });
            }
            let mut engine = engine.clone();
            engine.program.limits = *limits;
            all.push(engine);
        }
    }
    Ok(all)
}

/// Records of another game to be valued, and by whom.
#[derive(Clone, Debug)]
pub struct OtherGames<'a> {
    /// The format of the records.
    pub format: GameFormat,
    /// The files.
    pub files: &'a [PathBuf],
    /// Which positions; rules and tags of our own game mean nothing here.
    pub selection: &'a Selection,
    /// The engines that value them; empty for the values that the records hold themselves.
    pub engines: &'a [EngineSpec],
}

/// The values of records of another game.
#[derive(Clone, Debug)]
pub struct ValuedGames {
    /// One for each engine.
    pub series: Vec<Series>,
    /// How many records could be used.
    pub games: u64,
    /// How many positions were looked at.
    pub positions: u64,
    /// Engines that were started again, by reason.
    pub restarts: Vec<(String, String)>,
    /// What was left out.
    pub skipped: Skipped,
}

impl OtherGames<'_> {
    /// Reads records and values their positions.
    ///
    /// # Errors
    /// If records cannot be read, there are no positions, an engine does not start, the cache cannot be written, or the
    /// work is stopped.
    pub fn value(&self, valuer: &mut Valuer<'_>) -> Result<ValuedGames, WorkError> {
        let mut skipped = Skipped::default();
        let records = self.read(&mut skipped)?;
        let positions = self.selection.positions(self.engines.is_empty());
        let places: Vec<OutsidePosition<'_>> = records.iter().flat_map(|game| choose(game, &positions)).collect();
        let mut valued = ValuedGames {
            series: Vec::new(),
            games: records.len() as u64,
            positions: places.len() as u64,
            restarts: Vec::new(),
            skipped,
        };
        if places.is_empty() {
            let found = format!("no positions in {} games", Grouped(valued.games));
            return Err(WorkError::Nothing { found, left_out: valued.skipped.to_string() });
        }
        if self.engines.is_empty() {
            valued.series.push(commented(&records, &places, &mut valued.skipped)?);
        }
        for engine in self.engines {
            valued.ask(engine, &places, valuer)?;
        }
        Ok(valued)
    }

    fn read(&self, skipped: &mut Skipped) -> Result<Vec<Numbered>, FileError> {
        let (mut records, mut game) = (Vec::new(), 0);
        for path in self.files {
            let shown = path.display().to_string();
            for entry in GameReader::new(anqi_records::open(path)?, self.format) {
                if self.selection.games.is_some_and(|most| game >= most) {
                    return Ok(records);
                }
                let entry = entry.map_err(|error| FileError::Read { file: shown.clone(), error })?;
                game += 1;
                match entry.record {
                    Ok(record) => records.push(Numbered { game, record }),
                    Err(flaw) => skipped.add(flaw.name(), || format!("{shown}:{}: {flaw}", entry.line)),
                }
            }
        }
        Ok(records)
    }
}

impl ValuedGames {
    /// Adds the values that an engine gives.
    fn ask(
        &mut self,
        engine: &EngineSpec,
        places: &[OutsidePosition<'_>],
        valuer: &mut Valuer<'_>,
    ) -> Result<(), WorkError> {
        let told = engine.to_string();
        // Whether it starts at all is better known before the work, and its version belongs to the values.
        let first = engine.launch().map_err(|fault| WorkError::Evaluate {
            name: told.clone(),
            error: EvaluateError::NoJudge(fault.to_string()),
        })?;
        let version = first.name().to_owned();
        first.quit();
        let name = name_of(engine, &version, &self.series);
        let again = Mutex::new(Skipped::default());
        let key = |place: &OutsidePosition<'_>| Key::new(&place.position.to_string(), &version, &told);
        let tasks: Vec<_> = places.iter().map(|place| Valuation { key: key(place), position: place.clone() }).collect();
        let judge = || Ok(EngineJudge { engine: Standby::new(engine), again: &again });
        let values = valuer.judge(&tasks, judge, &name)?;
        let mut samples = Samples::default();
        for (place, value) in places.iter().zip(values) {
            match value {
                Ok(value) => samples.push(place.sample(value))?,
                Err(reason) => {
                    self.skipped.add(&format!("position that {name} did not value"), || format!("{place}: {reason}"));
                }
            }
        }
        for again in again.into_inner().unwrap_or_else(PoisonError::into_inner).reasons() {
            self.restarts.push((again.reason.clone(), format!("{} times, first {}", again.count, again.first)));
        }
        self.series.push(Series { name, samples });
        Ok(())
    }
}

/// The values that the records hold themselves.
fn commented(records: &[Numbered], places: &[OutsidePosition<'_>], skipped: &mut Skipped) -> Result<Series, WorkError> {
    for Numbered { game, record } in records {
        for (ply, text) in &record.bad_values {
            skipped.add("value that is not a number", || format!("game {game}, ply {ply}: {text:?}"));
        }
    }
    let mut samples = Samples::default();
    for place in places {
        if let Some(said) = place.position.comment() {
            samples.push(place.sample(said.value()))?;
        }
    }
    Ok(Series { name: "comments".to_owned(), samples })
}

/// What it calls itself, with what it may spend.
fn name_of(engine: &EngineSpec, version: &str, series: &[Series]) -> String {
    let limits = engine.program.limits;
    let numbers = [("nodes", limits.nodes), ("depth", limits.depth.map(u64::from))];
    let numbers = numbers.iter().filter_map(|(key, number)| number.map(|number| format!(" {key}={number}")));
    let time = limits.time.map(|time| format!(" movetime={}", time.as_secs_f64()));
    let words = [("go", &engine.go), ("ask", &engine.ask)];
    let words = words.iter().filter_map(|(key, word)| word.as_ref().map(|word| format!(" {key}={word}")));
    let name = format!("{version}{}", numbers.chain(time).chain(words).collect::<String>());
    // Two that differ in their options alone are told apart by all that was said of them.
    if series.iter().any(|series| series.name == name) { engine.to_string() } else { name }
}

/// A record with its number over all files.
struct Numbered {
    game: u64,
    record: GameRecord,
}

/// A position of a record.
#[derive(Clone)]
struct OutsidePosition<'a> {
    game: u64,
    position: PlayedPosition<'a>,
    outcome: WinOrDraw,
}

impl std::fmt::Display for OutsidePosition<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "game {}, ply {}", self.game, self.position.ply())
    }
}

impl OutsidePosition<'_> {
    fn sample(&self, value: f64) -> Sample {
        let facts = self.position.facts();
        let result = match self.outcome {
            WinOrDraw::Draw => Points::Draw,
            WinOrDraw::Win(side) if side == facts.turn => Points::Win,
            WinOrDraw::Win(_) => Points::Loss,
        };
        let tags = facts.tags().map(|(name, tag)| (name.to_owned(), tag)).to_vec();
        Sample { game: self.game.to_string(), ply: self.position.ply() as u32, value, result, tags }
    }
}

fn choose<'a>(game: &'a Numbered, positions: &Positions) -> Vec<OutsidePosition<'a>> {
    let all: Vec<PlayedPosition<'a>> = game.record.positions().collect();
    let usable = |ply: &usize| !positions.from_comments || all[*ply].comment().is_some();
    let plies: Vec<usize> = (0..all.len()).filter(usable).collect();
    let place = |ply: usize| OutsidePosition { game: game.game, position: all[ply], outcome: game.record.outcome };
    positions.choose(game.game, &plies).into_iter().map(place).collect()
}

/// An engine of another game.
struct EngineJudge<'a> {
    engine: Standby<'a>,
    /// Answers that came only from a second process.
    again: &'a Mutex<Skipped>,
}

impl<'a> Judge for EngineJudge<'a> {
    type Position = OutsidePosition<'a>;

    fn value(&mut self, place: &OutsidePosition<'a>, _: &Stop) -> Result<f64, String> {
        match self.engine.ask(|engine| engine.evaluate(&place.position)) {
            Ok(Asked::Answer { answer, again }) => {
                if let Some(fault) = again {
                    let mut restarts = self.again.lock().unwrap_or_else(PoisonError::into_inner);
                    restarts.add("engine restarted", || format!("{place}: {fault}"));
                }
                Ok(answer.value())
            }
            Ok(Asked::Failed(twice)) => Err(twice.to_string()),
            Err(fault) => Err(fault.to_string()),
        }
    }
}
