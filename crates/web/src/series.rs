//! Series of games of a person against a program (`anqi_play::GameSeries`), in the folder of games.
//!
//! A series is a file that is written once and whole, with what was agreed and the seed of all deals, and its games, which are
//! games like all others: their names follow from the name of the series. So how a series stands is told by its games alone,
//! and a kill loses of a series no more than of a game.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anqi_play::{GameSeries, ProgramScores, SeriesConflict, SeriesError, SeriesGame, SeriesResult, SeriesScores};
use anqi_records::Record;
use anqi_rules::{Seat, Seed, excerpt};
use anqi_stats::Points;
use anqi_store::{Access, list, read_text, seal_object, unseal_object, write_whole};
use serde::{Deserialize, Serialize};

use crate::hosted::{HostedError, HostedGame};
use crate::house::{House, ID_DIGITS, OpenGame, continuation, id_of};
use crate::limits::LimitError;
use crate::visitors::Visitor;
use crate::wire::{GameOfSeries, GameStands, Mover, PersonResult, SeriesView, TableRow};

/// No file of a series is longer.
const MOST_BYTES: usize = 64 << 10;
const SCHEMA: &str = "anqi-series-1";

/// What is kept of a series beside its games. A reader of it knows all its deals.
#[derive(Serialize, Deserialize)]
struct SeriesFile {
    schema: String,
    #[serde(flatten)]
    series: GameSeries,
    seed: String,
}

/// A series that was read.
struct KeptSeries {
    series: GameSeries,
    seed: Seed,
}

/// Why something cannot be done with a series.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SeriesRefusal {
    #[error("there is no series {0:?}")]
    NoSuchSeries(String),
    #[error(transparent)]
    Agreement(#[from] SeriesError),
    #[error("a public server keeps no series: serve the page with `anqi serve` for those who play one")]
    Public,
    #[error("all {0} games of the series are over")]
    Over(u32),
    #[error("{file}: {reason}; its finished games are whole, and no further game of it can begin")]
    Damaged { file: String, reason: String },
    #[error("cannot write the series down: {0}")]
    Io(#[from] io::Error),
    #[error(transparent)]
    Conflict(#[from] SeriesConflict),
    #[error(transparent)]
    Game(#[from] HostedError),
    #[error(transparent)]
    Limit(#[from] LimitError),
}

/// Where a series is kept.
pub(crate) fn series_path(dir: &Path, name: &str) -> PathBuf {
    dir.join(format!("{name}.{EXTENSION}"))
}

pub(crate) const EXTENSION: &str = "series";

/// The name of a game of a series.
pub(crate) fn game_id(series: &str, number: u32) -> String {
    id_of(&Seed::from([7; 32]).child(series).child(number.to_le_bytes()))
}

/// How a game of a series stands.
enum Slot {
    Waiting,
    InPlay(String),
    Over(String, Box<SeriesResult>, Box<Record>),
    /// Its files do not give the game.
    Unreadable(String),
}

impl Slot {
    /// Whether the series goes on after it.
    fn is_settled(&self) -> bool {
        matches!(self, Slot::Over(..) | Slot::Unreadable(_))
    }

    fn result(&self) -> Option<&SeriesResult> {
        if let Slot::Over(_, result, _) = self { Some(result) } else { None }
    }
}

/// What a file holds that is exported.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SeriesExport {
    /// Table 5.
    Table,
    /// A line for each game.
    Games,
    /// The records.
    Records,
}

impl House {
    /// Begins a series: what was agreed is on the disk, and its first game can be played.
    pub(crate) fn begin_series(&self, wanted: GameSeries) -> Result<SeriesView, SeriesRefusal> {
        if self.is_public() {
            return Err(SeriesRefusal::Public);
        }
        let (name, seed) = self.new_name()?;
        let series = self.agree(GameSeries { name, ..wanted })?;
        let file = SeriesFile { schema: SCHEMA.to_owned(), series, seed: seed.to_string() };
        // Text keys, strings and numbers: this cannot fail.
        let text = seal_object(&serde_json::to_string(&file).unwrap_or_default());
        write_whole(&series_path(self.dir(), &file.series.name), Access::Secret, |out| out.write_all(text.as_bytes()))?;
        self.series_view(&KeptSeries { series: file.series, seed })
    }

    /// How a series stands.
    pub(crate) fn series(&self, name: &str) -> Result<SeriesView, SeriesRefusal> {
        self.series_view(&self.kept_series(name)?)
    }

    /// All series of the folder whose file can be read, the newest first.
    pub(crate) fn list_series(&self) -> io::Result<Vec<SeriesView>> {
        let mut found = list(self.dir())?;
        found.retain(|found| found.path.extension().and_then(OsStr::to_str) == Some(EXTENSION));
        found.sort_by_key(|found| std::cmp::Reverse(found.modified));
        let names = found.iter().filter_map(|found| found.path.file_stem()?.to_str());
        Ok(names.filter_map(|name| self.series(name).ok()).collect())
    }

    /// The game of a series that is in play, or else the next one, which begins.
    pub(crate) fn next_game(&self, name: &str, visitor: &Visitor) -> Result<Arc<OpenGame>, SeriesRefusal> {
        let kept = self.kept_series(name)?;
        // Two pages that ask at once get the same game.
        let _turn = self.series_turn();
        let slots = self.slots(&kept.series);
        let next = kept.series.next(|number| slots[number as usize - 1].is_settled());
        let number = next.ok_or_else(|| SeriesRefusal::Over(kept.series.games()))?;
        match &slots[number as usize - 1] {
            Slot::InPlay(id) => Ok(self.find(id)?),
            _ => {
                self.check_new_game(visitor)?;
                let secret = GameSeries::secret(&kept.seed, number);
                let (open_game, _) = self.begin_as(&game_id(name, number), secret, kept.series.terms(number))?;
                Ok(open_game)
            }
        }
    }

    /// The finished games of a series, or of all of them, as a file.
    pub(crate) fn export_series(&self, name: Option<&str>, what: SeriesExport) -> Result<String, SeriesRefusal> {
        let all = match name {
            Some(name) => vec![self.kept_series(name)?.series],
            None => self
                .list_series()?
                .iter()
                .filter_map(|view| Some(self.kept_series(&view.series).ok()?.series))
                .collect(),
        };
        let slots = all.iter().flat_map(|series| self.slots(series));
        let over = slots
            .filter_map(|slot| if let Slot::Over(_, result, record) = slot { Some((*result, *record)) } else { None });
        let (results, records): (Vec<SeriesResult>, Vec<Record>) = over.unzip();
        if what == SeriesExport::Records {
            let texts: Vec<String> = records.iter().map(Record::to_string).collect();
            return Ok(texts.join("\n"));
        }
        let scores = SeriesScores::of(results)?;
        Ok(if what == SeriesExport::Table { scores.table_csv() } else { scores.games_csv() })
    }

    fn kept_series(&self, name: &str) -> Result<KeptSeries, SeriesRefusal> {
        let unknown = || SeriesRefusal::NoSuchSeries(excerpt(name));
        let is_name = name.len() == ID_DIGITS && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        if self.is_public() || !is_name {
            return Err(unknown());
        }
        // Its text holds the seed of all deals, so none of it is told.
        let damaged = |reason: String| SeriesRefusal::Damaged { file: format!("{name}.{EXTENSION}"), reason };
        let text = match read_text(&series_path(self.dir(), name), MOST_BYTES) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(unknown()),
            text => text.map_err(|error| damaged(error.to_string()))?,
        };
        let text =
            unseal_object(text.as_bytes()).map_err(|damage| damaged(damage.reason.without_text().to_string()))?;
        let file: SeriesFile =
            serde_json::from_str(text).map_err(|_| damaged("it is not what a server writes".to_owned()))?;
        let seed = file.seed.parse().map_err(|_| damaged("its seed cannot be read".to_owned()))?;
        if file.schema != SCHEMA || file.series.name != name {
            return Err(damaged(format!("it is not {SCHEMA} of this name")));
        }
        Ok(KeptSeries { series: file.series, seed })
    }

    fn slots(&self, series: &GameSeries) -> Vec<Slot> {
        series.numbers().map(|number| self.slot(&series.game(number), game_id(&series.name, number))).collect()
    }

    /// How a game stands by its files. One that was damaged and goes on does so as another game.
    fn slot(&self, place: &SeriesGame, id: String) -> Slot {
        let look = |hosted: &HostedGame| {
            let record = hosted.record();
            Some(match SeriesResult::of_record(&record) {
                _ if hosted.series() != Some(place) => Slot::Unreadable(id.clone()),
                Ok(Some(result)) => Slot::Over(id.clone(), Box::new(result), Box::new(record)),
                Ok(None) if hosted.can_go_on() && self.is_there(&continuation(&id)) => return None,
                Ok(None) => Slot::InPlay(id.clone()),
                Err(_) => Slot::Unreadable(id.clone()),
            })
        };
        match self.look_at(&id, look) {
            None => Slot::Waiting,
            Some(Ok(Some(slot))) => slot,
            Some(Ok(None)) => self.slot(place, continuation(&id)),
            Some(Err(_)) => Slot::Unreadable(id),
        }
    }

    fn series_view(&self, kept: &KeptSeries) -> Result<SeriesView, SeriesRefusal> {
        let KeptSeries { series, seed } = kept;
        let slots = self.slots(series);
        let scores = SeriesScores::of(slots.iter().filter_map(Slot::result).cloned())?;
        let next = series.next(|number| slots[number as usize - 1].is_settled());
        let commitments = series.commitments(seed);
        let games = series.numbers().zip(&slots).zip(commitments).map(|((number, slot), commitment)| {
            let (stands, game) = match slot {
                Slot::Waiting => (GameStands::Waiting, None),
                Slot::InPlay(id) => (GameStands::InPlay, Some(id)),
                Slot::Over(id, ..) => (GameStands::Over, Some(id)),
                Slot::Unreadable(id) => (GameStands::Unreadable, Some(id)),
            };
            GameOfSeries {
                number,
                first: if series.person_seat(number) == Seat::First { Mover::Person } else { Mover::Program },
                stands,
                game: game.cloned(),
                result: slot.result().map(|result| match result.of_person() {
                    Points::Win => PersonResult::Won,
                    Points::Draw => PersonResult::Drawn,
                    Points::Loss => PersonResult::Lost,
                }),
                commitment: commitment.to_string(),
            }
        });
        Ok(SeriesView {
            series: series.name.clone(),
            person: series.person.clone(),
            rank: series.rank,
            program: series.program.clone(),
            rules: series.rules.clone(),
            clock: series.clock.clone(),
            games: games.collect(),
            next,
            table: scores.programs.iter().map(TableRow::of).collect(),
        })
    }
}

impl TableRow {
    fn of(row: &ProgramScores) -> TableRow {
        let counts = |games: anqi_stats::Games| [games.wins(), games.losses(), games.draws()];
        TableRow {
            program: row.program.clone(),
            computer_first: counts(row.computer_first),
            human_first: counts(row.human_first),
            gs_first: row.scores.gs_first,
            gs_second: row.scores.gs_second,
            ts: row.scores.ts,
        }
    }
}

/// All names that the files of a series may have.
pub(crate) fn family(series: &str) -> HashSet<String> {
    let games = (1..=2 * GameSeries::MOST_EACH).map(|number| game_id(series, number));
    games.flat_map(|id| [continuation(&id), id]).chain([series.to_owned()]).collect()
}
