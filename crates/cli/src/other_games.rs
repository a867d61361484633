//! `anqi assess` for chess, Go and shogi: their records and engines in the place of ours.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anqi_assess::{Judge, Key, Positions, Sample, Samples, Skipped, Task};
use anqi_engine::Stop;
use anqi_games::{Asked, EngineSpec, Format, Outcome, Position, Protocol, Reader, Record, Standby};
use anqi_lab::Budget;
use anqi_rules::Seed;
use anqi_stats::Points;
use anyhow::{Context, Result, bail};

use crate::assess::{AssessArgs, Pool, PositionArgs, Set};
use crate::output::grouped;

/// The curves that are drawn when nothing else is said.
pub(crate) const USUAL_CONDITIONS: [&str; 6] =
    ["ply=20,40,60,100", "pieces", "capture", "check", "side", "lead=-3,0,1,4"];

/// The format of the records, if they are those of another game: by the engine, else by the names of the files.
pub(crate) fn format(files: &[PathBuf], engines: &[EngineSpec]) -> Result<Option<Format>> {
    let mut all: Vec<Option<Format>> = files.iter().map(|file| Format::of(file)).collect();
    if let Some(engine) = engines.first() {
        let own = Format::ALL.into_iter().find(|format| format.kind() == engine.protocol.kind());
        let other = engines.iter().find(|other| other.protocol != engine.protocol);
        if let Some(other) = other {
            bail!("engines of different games: {engine} and {other}");
        }
        // Files may have any name, but not that of another game.
        all.iter_mut().filter(|format| format.is_none()).for_each(|format| *format = own);
        all.push(own);
    }
    let first = all.first().copied().flatten();
    if let Some(other) = all.iter().position(|format| *format != first) {
        let shown = |place: usize| files.get(place).map_or("the engine".to_owned(), |file| file.display().to_string());
        bail!("records of different games: {} and {}", shown(0), shown(other));
    }
    Ok(first)
}

/// Every engine with every budget; engines that are told by other means as they are.
pub(crate) fn with_budgets(engines: &[EngineSpec], budgets: &[Budget]) -> Result<Vec<EngineSpec>> {
    if engines.is_empty() {
        bail!("nobody to value the positions: give --engine or --from-comments");
    }
    let mut all = Vec::new();
    for engine in engines {
        if budgets.is_empty() || engine.protocol == Protocol::Gtp || engine.go.is_some() {
            all.push(engine.clone());
            continue;
        }
        for budget in budgets {
            if budget.limits.playouts.is_some() {
                bail!("{budget} means nothing to an engine that speaks {}", engine.protocol.name());
            }
            let mut engine = engine.clone();
            engine.program.limits = budget.limits;
            all.push(engine);
        }
    }
    Ok(all)
}

/// What is told beside the values.
pub(crate) struct Beside<'a> {
    pub(crate) skipped: &'a mut Skipped,
    pub(crate) facts: &'a mut Vec<(String, String)>,
}

/// Positions of records with the values that engines give them, or, without engines, the records themselves; nothing if
/// interrupted.
pub(crate) fn from_records(
    format: Format,
    engines: &[EngineSpec],
    args: &AssessArgs,
    stop: &Stop,
    Beside { skipped, facts }: &mut Beside<'_>,
) -> Result<Option<Vec<Set>>> {
    let which = &args.positions;
    if which.rules.is_some() || !which.prove.is_empty() || !which.only.is_empty() {
        bail!("--rules, --prove and --only are for this game alone");
    }
    let records = read(format, &args.records, which, skipped)?;
    let positions = Positions {
        rules: None,
        per_game: which.per_game,
        only: Vec::new(),
        seed: Seed::from(which.seed).child("positions"),
        from_comments: engines.is_empty(),
    };
    let places: Vec<Place<'_>> = records.iter().flat_map(|game| choose(game, &positions)).collect();
    if places.is_empty() {
        bail!("no positions in {} games\n{skipped}", grouped(records.len() as u64));
    }
    facts.push((format!("games of {}", format.kind()), grouped(records.len() as u64)));
    facts.push(("positions".to_owned(), grouped(places.len() as u64)));
    if engines.is_empty() {
        for Numbered { game, record } in &records {
            for (ply, text) in &record.bad_values {
                skipped.add("value that is not a number", || format!("game {game}, ply {ply}: {text:?}"));
            }
        }
        let commented = |place: &Place<'_>| place.position.comment().map(|said| place.sample(said.value()));
        let mut samples = Samples::default();
        places.iter().filter_map(commented).try_for_each(|sample| samples.push(sample))?;
        return Ok(Some(vec![Set { name: "comments".to_owned(), samples }]));
    }
    let mut pool = Pool::new(args.cache.as_deref(), which, stop)?;
    let mut sets: Vec<Set> = Vec::new();
    for engine in engines {
        // Whether it starts at all is better known before the work, and its version belongs to the values.
        let first = engine.launch().with_context(|| engine.to_string())?;
        let version = first.name().to_owned();
        first.quit();
        let name = name_of(engine, &version, &sets);
        let again = Mutex::new(Skipped::default());
        let told = engine.to_string();
        let key = |place: &Place<'_>| Key::new(&place.position.to_string(), &version, &told);
        let tasks: Vec<_> = places.iter().map(|place| Task { key: key(place), position: place.clone() }).collect();
        let judge = || Ok(EngineJudge { engine: Standby::new(engine), again: &again });
        let Some(values) = pool.judge(&tasks, judge, &name)? else { return Ok(None) };
        let mut samples = Samples::default();
        for (place, value) in places.iter().zip(values) {
            match value {
                Ok(value) => samples.push(place.sample(value))?,
                Err(reason) => {
                    skipped.add(&format!("position that {name} did not value"), || format!("{place}: {reason}"));
                }
            }
        }
        for again in again.into_inner().unwrap_or_else(PoisonError::into_inner).reasons() {
            facts.push((again.reason.clone(), format!("{} times, first {}", again.count, again.first)));
        }
        sets.push(Set { name, samples });
    }
    Ok(Some(sets))
}

/// What it calls itself, with what it may spend.
fn name_of(engine: &EngineSpec, version: &str, sets: &[Set]) -> String {
    let limits = engine.program.limits;
    let numbers = [("nodes", limits.nodes), ("depth", limits.depth.map(u64::from))];
    let numbers = numbers.iter().filter_map(|(key, number)| number.map(|number| format!(" {key}={number}")));
    let time = limits.time.map(|time| format!(" movetime={}", time.as_secs_f64()));
    let words = [("go", &engine.go), ("ask", &engine.ask)];
    let words = words.iter().filter_map(|(key, word)| word.as_ref().map(|word| format!(" {key}={word}")));
    let name = format!("{version}{}", numbers.chain(time).chain(words).collect::<String>());
    // Two that differ in their options alone are told apart by all that was said of them.
    if sets.iter().any(|set| set.name == name) { engine.to_string() } else { name }
}

/// A record with its number over all files.
struct Numbered {
    game: u64,
    record: Record,
}

fn read(format: Format, files: &[PathBuf], args: &PositionArgs, skipped: &mut Skipped) -> Result<Vec<Numbered>> {
    let (mut records, mut game) = (Vec::new(), 0);
    for path in files {
        let shown = path.display();
        let input: Box<dyn io::Read> = if path == Path::new("-") {
            Box::new(io::stdin().lock())
        } else {
            Box::new(File::open(path).with_context(|| format!("cannot open {shown}"))?)
        };
        for entry in Reader::new(BufReader::new(input), format) {
            if args.games.is_some_and(|most| game >= most) {
                return Ok(records);
            }
            let entry = entry.with_context(|| format!("cannot read {shown}"))?;
            game += 1;
            match entry.record {
                Ok(record) => records.push(Numbered { game, record }),
                Err(flaw) => skipped.add(flaw.name(), || format!("{shown}:{}: {flaw}", entry.line)),
            }
        }
    }
    Ok(records)
}

/// A position of a record.
#[derive(Clone)]
struct Place<'a> {
    game: u64,
    position: Position<'a>,
    outcome: Outcome,
}

impl std::fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "game {}, ply {}", self.game, self.position.ply())
    }
}

impl Place<'_> {
    fn sample(&self, value: f64) -> Sample {
        let facts = self.position.facts();
        let result = match self.outcome {
            Outcome::Draw => Points::Draw,
            Outcome::Win(side) if side == facts.turn => Points::Win,
            Outcome::Win(_) => Points::Loss,
        };
        let tags = facts.tags().map(|(name, word)| (name.to_owned(), word)).to_vec();
        Sample { game: self.game.to_string(), ply: self.position.ply() as u32, value, result, tags }
    }
}

fn choose<'a>(game: &'a Numbered, positions: &Positions) -> Vec<Place<'a>> {
    let all: Vec<Position<'a>> = game.record.positions().collect();
    let usable = |ply: &usize| !positions.from_comments || all[*ply].comment().is_some();
    let plies: Vec<usize> = (0..all.len()).filter(usable).collect();
    let place = |ply: usize| Place { game: game.game, position: all[ply], outcome: game.record.outcome };
    positions.choose(game.game, &plies).into_iter().map(place).collect()
}

/// An engine of another game.
struct EngineJudge<'a> {
    engine: Standby<'a>,
    /// Answers that came only from a second process.
    again: &'a Mutex<Skipped>,
}

impl<'a> Judge for EngineJudge<'a> {
    type Position = Place<'a>;

    fn value(&mut self, place: &Place<'a>, _: &Stop) -> Result<f64, String> {
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
