//! Endgame tables at play: in the searches, where a position of a table has a known end, and at the root, where a win
//! is converted in the shortest way that the draw rule allows.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use anqi_endgame::{Action, Flavour, TableError, Tablebase, Value, Wdl, classes_up_to, table_path};
use anqi_rules::{Game, Move, Ply, Position, Seed};
use anqi_task::Stop;

use crate::limits::Limits;
use crate::options::{OptionValue, Range};
use crate::player::{Candidate, Choice, Player, SearchStats};
use crate::score::Score;

/// Which tables a player has.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub enum TablesOption {
    /// None.
    #[default]
    Off,
    /// All classes of up to four pieces, under the draw rule of the game. They are solved when they are first met, which
    /// takes some milliseconds, so nothing has to be shipped.
    On,
    /// Those of a folder, and where it has none those of up to four pieces.
    Folder(PathBuf),
}

/// So many pieces are solved on the spot.
const SOLVED: u32 = 4;

impl OptionValue for TablesOption {
    fn read(text: &str) -> Option<TablesOption> {
        match text {
            "off" => Some(TablesOption::Off),
            "on" => Some(TablesOption::On),
            folder => Some(PathBuf::from(folder)).filter(|folder| folder.is_dir()).map(TablesOption::Folder),
        }
    }

    fn write(&self) -> String {
        match self {
            TablesOption::Off => "off".to_owned(),
            TablesOption::On => "on".to_owned(),
            TablesOption::Folder(folder) => folder.display().to_string(),
        }
    }
}

/// The range of a choice of tables.
pub(crate) struct AnyTables;

impl Range<TablesOption> for AnyTables {
    fn holds(&self, _: &TablesOption) -> bool {
        true
    }

    fn describe(&self) -> String {
        "off, on (up to four pieces), or a folder that is there".to_owned()
    }
}

/// Tables that were opened, by folder and draw rule: players come and go with every game.
type Opened = HashMap<(TablesOption, Option<u16>), Arc<Tables>>;
static OPENED: LazyLock<Mutex<Opened>> = LazyLock::new(Mutex::default);

/// The tables of a choice that say most about games that are drawn after `draw` quiet plies.
///
/// # Errors
/// If the folder cannot be read.
pub fn tablebase(option: &TablesOption, draw: Option<u16>) -> Result<Option<Tablebase>, TableError> {
    match option {
        TablesOption::Off => Ok(None),
        TablesOption::On => Ok(Some(Tablebase::solving(Flavour::conversion(draw), SOLVED))),
        TablesOption::Folder(dir) => Ok(Some(Tablebase::open(dir, flavour(dir, draw))?.and_solving(SOLVED))),
    }
}

/// Tables that fit the rules of a game.
#[derive(Debug)]
pub(crate) struct Tables {
    tablebase: Tablebase,
    /// A damaged file was met: it is said once, and nothing is asked any more.
    failed: AtomicBool,
}

impl Tables {
    /// The tables of a player for a game.
    pub(crate) fn open(option: &TablesOption, game: &Game) -> Option<Arc<Tables>> {
        let draw = game.rules().draw();
        let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(tables) = opened.get(&(option.clone(), draw)) {
            return Some(Arc::clone(tables));
        }
        let tablebase = tablebase(option, draw).map_err(|error| complain(&error)).ok()??;
        let tables = Arc::new(Tables { tablebase, failed: AtomicBool::new(false) });
        opened.insert((option.clone(), draw), Arc::clone(&tables));
        Some(tables)
    }

    /// What is known of a position, for the side to move.
    #[inline]
    pub(crate) fn score(&self, position: &Position) -> Option<Score> {
        if !position.hidden().is_empty() {
            return None;
        }
        Some(score(self.ask(|tablebase| tablebase.judge(position))?))
    }

    fn ask<T>(&self, question: impl FnOnce(&Tablebase) -> Result<Option<T>, TableError>) -> Option<T> {
        if self.failed.load(Ordering::Relaxed) {
            return None;
        }
        question(&self.tablebase).unwrap_or_else(|error| {
            if !self.failed.swap(true, Ordering::Relaxed) {
                complain(&error);
            }
            None
        })
    }
}

/// A player goes on without its tables, and says why.
fn complain(error: &TableError) {
    eprintln!("playing without tables: {error}");
}

/// The flavour of a folder that says most under a draw rule.
fn flavour(dir: &std::path::Path, draw: Option<u16>) -> Flavour {
    let exact = Flavour::conversion(draw);
    let wanted = [exact, Flavour::conversion(None), Flavour::END, Flavour::outcome(draw), Flavour::outcome(None)];
    let names: Vec<_> = classes_up_to(3).into_values().collect();
    let there = |flavour: &Flavour| names.iter().any(|ending| table_path(dir, ending, *flavour).exists());
    wanted.into_iter().find(there).unwrap_or(exact)
}

/// Wins by table count like wins at the horizon: who is in the tables hurries at the root.
fn score(value: Value) -> Score {
    match value.wdl() {
        Wdl::Win => Score::win(0),
        Wdl::Draw => Score::DRAW,
        Wdl::Loss => Score::loss(0),
    }
}

/// A player that looks into its tables before it thinks.
pub(crate) struct WithTables {
    pub(crate) player: Box<dyn Player>,
    pub(crate) tables: TablesOption,
}

impl Player for WithTables {
    fn choose(&mut self, game: &Game, limits: &Limits, stop: &Stop) -> Option<Choice> {
        let known = Tables::open(&self.tables, game)
            .and_then(|tables| tables.ask(|tablebase| tablebase.actions(game.position())))
            .map(|actions| playable(game, &actions))
            .filter(|actions| !actions.is_empty());
        let Some(actions) = known else { return self.player.choose(game, limits, stop) };
        let best = actions.first()?.value.wdl();
        let holding: Vec<Move> =
            actions.iter().filter(|action| action.value.wdl() == best).map(|action| action.mv).collect();
        // Won and lost games are played by the tables. A draw is held, and the search looks for the best try.
        let mut choice = if best == Wdl::Draw && holding.len() > 1 {
            self.player.choose(game, limits, stop)?
        } else {
            let mv = actions.first()?.mv;
            Choice { mv, score: Score::DRAW, pv: vec![mv], candidates: Vec::new(), stats: SearchStats::default() }
        };
        if !holding.contains(&choice.mv) {
            choice.mv = *holding.first()?;
            choice.pv = vec![choice.mv];
        }
        if choice.candidates.is_empty() {
            let candidate = |action: &Action| Candidate {
                mv: action.mv,
                score: score(action.value),
                outcomes: Vec::new(),
                results: None,
            };
            choice.score = score(actions.first()?.value);
            choice.candidates = actions.iter().map(candidate).collect();
        }
        Some(choice)
    }

    fn ponder(&mut self, game: &Game, stop: &Stop) {
        self.player.ponder(game, stop);
    }

    fn reseed(&mut self, seed: Seed) {
        self.player.reseed(seed);
    }
}

/// The legal ones of the actions, the best first, with those worth nothing more than a draw that end the game in one by
/// the rules.
fn playable(game: &Game, actions: &[Action]) -> Vec<Action> {
    let legal = game.legal_moves();
    let judged = |action: &Action| {
        let Move::Step { from, to } = action.mv else { return *action };
        let mut after = game.clone();
        let drawn = after.play(Ply::Step { from, to }).is_ok()
            && after.outcome().is_some_and(|outcome| outcome.winner.is_none());
        Action { value: if drawn { Value::DRAW } else { action.value }, ..*action }
    };
    let mut actions: Vec<Action> = actions.iter().filter(|action| legal.contains(&action.mv)).map(judged).collect();
    actions.sort_by_key(|action| std::cmp::Reverse(action.value.wdl())); // stable: distances stay in order
    actions
}
