//! What is kept of a multiverse: results by pairing, and a line for each game.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::Path;

use anqi_lab::{MatchJournal, MatchJournalError, PlayedPair};
use anqi_store::{exists, read_small};
use csv::StringRecord;

use super::plan::{MultiversePlan, Universe};
use crate::{ExperimentError, MatchRow, RAW, io_error, write_file};

const GAMES: &str = "games.csv.zst";
const GAME_COLUMNS: &str = "universe,pair,order,first,second,result,termination,plies,blake3";
/// No table of a multiverse has more.
const MOST_BYTES: usize = 1 << 30;
/// The columns of `raw.csv` besides those of the axes.
pub(super) const COLUMNS: [&str; 14] = [
    "universe",
    "player",
    "opponent",
    "first_wins",
    "first_losses",
    "first_draws",
    "second_wins",
    "second_losses",
    "second_draws",
    "pairs_0",
    "pairs_half",
    "pairs_1",
    "pairs_1_half",
    "pairs_2",
];

/// A universe and one of its pairings, by their places.
pub(super) type Place = (usize, usize);

/// One pairing that was played to the end.
#[derive(Clone, PartialEq, Debug)]
struct Played {
    row: MatchRow,
    /// For each game its line in `games.csv.zst`, after the name of the universe.
    games: String,
}

/// Everything that was played to the end in a folder, by the universe that played it.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Results(BTreeMap<Place, Played>);

impl Results {
    /// What the two tables of a folder hold; nothing if they are not there.
    pub(super) fn read(dir: &Path, plan: &MultiversePlan) -> Result<Results, ExperimentError> {
        let universes = plan.universes();
        let places: BTreeMap<[&str; 3], Place> = universes
            .iter()
            .enumerate()
            .flat_map(|(number, universe)| {
                (0..universe.plan.pairings().len()).map(move |pairing| {
                    let [one, two] = universe.names(pairing);
                    ([universe.name.as_str(), one, two], (number, pairing))
                })
            })
            .collect();
        let mut results = Results::default();
        let path = dir.join(RAW);
        if !exists(&path) {
            return Ok(results);
        }
        let failed = |error| ExperimentError::Table { path: path.display().to_string(), error };
        let bytes = read_small(&path, MOST_BYTES).map_err(|error| io_error(&path, error))?;
        let mut reader = csv::Reader::from_reader(&bytes[..]);
        let head = reader.headers().map_err(failed)?.clone();
        for record in reader.records() {
            let record = record.map_err(failed)?;
            let (universe, row) = row_of(&head, &record).map_err(failed)?;
            let Some(&place) = places.get(&[universe, &row.player, &row.opponent]) else {
                let row = format!("{universe}: {} v {}", row.player, row.opponent);
                return Err(ExperimentError::OtherRow { path: path.display().to_string(), row });
            };
            if universes[place.0].played_by[place.1] == place.0 {
                results.0.insert(place, Played { row, games: String::new() });
            }
        }
        results.read_games(&dir.join(GAMES), plan)?;
        Ok(results)
    }

    fn read_games(&mut self, path: &Path, plan: &MultiversePlan) -> Result<(), ExperimentError> {
        if !exists(path) {
            return Ok(());
        }
        let failed = |error| io_error(path, error);
        let bytes = read_small(path, MOST_BYTES).map_err(failed)?;
        let text = String::from_utf8(zstd::decode_all(&bytes[..]).map_err(failed)?)
            .map_err(|error| failed(io::Error::new(io::ErrorKind::InvalidData, error)))?;
        let names: BTreeMap<&str, usize> =
            plan.universes().iter().enumerate().map(|(number, universe)| (universe.name.as_str(), number)).collect();
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let bad = |error| ExperimentError::Table { path: path.display().to_string(), error };
        for record in reader.records() {
            let record = record.map_err(bad)?;
            let universe = record.get(0).and_then(|name| names.get(name)).copied();
            let pair = record.get(1).and_then(|pair| pair.parse::<u64>().ok()).and_then(|pair| pair.checked_sub(1));
            if let (Some(universe), Some(pair)) = (universe, pair) {
                let pairing = pair % plan.universes()[universe].plan.pairings().len() as u64;
                if let Some(played) = self.0.get_mut(&(universe, pairing as usize)) {
                    let fields: Vec<&str> = record.iter().skip(1).collect();
                    played.games += &line(&fields);
                }
            }
        }
        Ok(())
    }

    /// Whether a pairing of a universe was played, wherever.
    pub(super) fn has(&self, plan: &MultiversePlan, (universe, pairing): Place) -> bool {
        self.0.contains_key(&(plan.universes()[universe].played_by[pairing], pairing))
    }

    /// The result of a pairing of a universe.
    pub(super) fn row(&self, plan: &MultiversePlan, (universe, pairing): Place) -> Option<&MatchRow> {
        self.0.get(&(plan.universes()[universe].played_by[pairing], pairing)).map(|played| &played.row)
    }

    /// How many pairings of all universes are there, and how many there are at all.
    pub(super) fn count(&self, plan: &MultiversePlan) -> (usize, usize) {
        let pairings =
            plan.universes().iter().enumerate().flat_map(|(number, universe)| {
                (0..universe.plan.pairings().len()).map(move |pairing| (number, pairing))
            });
        pairings.fold((0, 0), |(there, all), place| (there + usize::from(self.has(plan, place)), all + 1))
    }

    /// Takes in a pairing of which the journal has every pair.
    pub(super) fn add(
        &mut self,
        universe: &Universe,
        place: Place,
        journal: &MatchJournal,
    ) -> Result<(), MatchJournalError> {
        let [player, opponent] = universe.names(place.1).map(str::to_owned);
        let mut played = Played { row: MatchRow { player, opponent, ..MatchRow::default() }, games: String::new() };
        let pairings = universe.plan.pairings().len() as u64;
        for round in 0..universe.pairs() {
            let pair = journal.pair(round * pairings + place.1 as u64)?;
            played.row.add(pair.points());
            played.games += &game_lines(&pair);
        }
        self.0.insert(place, played);
        Ok(())
    }

    /// Writes both tables, the games first: what is in `raw.csv` has its games.
    pub(super) fn write(&self, dir: &Path, plan: &MultiversePlan) -> Result<(), ExperimentError> {
        let places = || {
            let pairings = |(number, universe): (usize, &Universe)| {
                (0..universe.plan.pairings().len()).map(move |pairing| (number, pairing))
            };
            plan.universes().iter().enumerate().flat_map(pairings)
        };
        let played = |(universe, pairing): Place| self.0.get(&(plan.universes()[universe].played_by[pairing], pairing));
        let path = dir.join(GAMES);
        let failed = |error| io_error(&path, error);
        // A run writes this table again and again while it grows.
        let mut out = zstd::Encoder::new(Vec::new(), 3).map_err(failed)?;
        writeln!(out, "{GAME_COLUMNS}").map_err(failed)?;
        for place in places() {
            let name = field(&plan.universes()[place.0].name);
            for game in played(place).into_iter().flat_map(|played| played.games.lines()) {
                writeln!(out, "{name},{game}").map_err(failed)?;
            }
        }
        let bytes = out.finish().map_err(failed)?;
        write_file(&path, &bytes)?;

        let path = dir.join(RAW);
        let failed = |error| ExperimentError::Table { path: path.display().to_string(), error };
        let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
        let head =
            COLUMNS[..1].iter().copied().chain(plan.axes().iter().map(String::as_str)).chain(COLUMNS[1..].to_vec());
        writer.write_record(head).map_err(failed)?;
        for place in places() {
            let Some(played) = played(place) else { continue };
            let universe = &plan.universes()[place.0];
            let value = |axis: &String| universe.setting.get(axis).map_or("", String::as_str);
            let values: Vec<&str> = plan.axes().iter().map(value).collect();
            writer.serialize((&universe.name, values, &played.row)).map_err(failed)?;
        }
        let bytes = writer.into_inner().map_err(|error| io_error(&path, error.into_error()))?;
        write_file(&path, &bytes)
    }
}

/// The name of the universe and the result.
fn row_of<'a>(head: &StringRecord, record: &'a StringRecord) -> Result<(&'a str, MatchRow), csv::Error> {
    let is_ours = |name: &str| COLUMNS[1..].contains(&name);
    let known = head.iter().zip(record).filter(|(name, _)| is_ours(name));
    let (names, values): (StringRecord, StringRecord) = known.unzip();
    let universe = head.iter().position(|name| name == COLUMNS[0]).and_then(|place| record.get(place));
    Ok((universe.unwrap_or_default(), values.deserialize(Some(&names))?))
}

/// Two lines: everything about the games of a pair but the name of the universe. Their hash is that of the record without
/// comments, which follows from the plan of the universe.
fn game_lines(pair: &PlayedPair) -> String {
    let mut lines = String::new();
    for (order, game) in pair.games.iter().enumerate() {
        let record = game.clone().without_comments();
        let tag = |name| record.tags().get(name).unwrap_or_default();
        lines += &line(&[
            &(pair.number + 1).to_string(),
            &(order + 1).to_string(),
            tag("First"),
            tag("Second"),
            &record.result().to_string(),
            tag("Termination"),
            &record.plies().len().to_string(),
            blake3::hash(record.to_string().as_bytes()).to_hex().as_str(),
        ]);
    }
    lines
}

fn line(fields: &[&str]) -> String {
    let mut text = String::new();
    for (place, value) in fields.iter().enumerate() {
        // Writing to a string cannot fail.
        let _ = write!(text, "{}{}", if place == 0 { "" } else { "," }, field(value));
    }
    text + "\n"
}

/// A value as CSV has it.
fn field(value: &str) -> String {
    if value.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", value.replace('"', "\"\""))
    } else {
        value.to_owned()
    }
}
