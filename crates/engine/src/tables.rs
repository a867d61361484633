//! Endgame tables at play: in the searches, where a position of a table has a known end, and at the root, where a win
//! is converted in the shortest way that the draw rule allows.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anqi_endgame::{Action, TableError, Tablebase, Value, Wdl};
use anqi_rules::{Game, Move, Ply, Position, Seed};
use anqi_task::Stop;

use crate::limits::Limits;
use crate::options::{OptionValue, Range};
use crate::player::{Candidate, Choice, Player, SearchStats};
use crate::resources::{Notices, Resources};
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
    /// Those of a folder by its name, and where it has none those of up to four pieces.
    Folder(String),
}

/// So many pieces are solved on the spot.
pub(crate) const SOLVED: u32 = 4;

impl OptionValue for TablesOption {
    fn read(text: &str) -> Option<TablesOption> {
        match text {
            "off" => Some(TablesOption::Off),
            "on" => Some(TablesOption::On),
            "" => None,
            folder => Some(TablesOption::Folder(folder.to_owned())),
        }
    }

    fn write(&self) -> String {
        match self {
            TablesOption::Off => "off".to_owned(),
            TablesOption::On => "on".to_owned(),
            TablesOption::Folder(folder) => folder.clone(),
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

/// Tables that fit the rules of a game.
#[derive(Debug)]
pub(crate) struct GameTables {
    tablebase: Arc<Tablebase>,
    /// A damaged file was met: there is a notice, and nothing is asked any more.
    failed: AtomicBool,
    notices: Arc<Notices>,
}

impl GameTables {
    pub(crate) fn new(tablebase: Tablebase, notices: Arc<Notices>) -> GameTables {
        GameTables { tablebase: Arc::new(tablebase), failed: AtomicBool::new(false), notices }
    }

    pub(crate) const fn tablebase(&self) -> &Arc<Tablebase> {
        &self.tablebase
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
            self.failed.store(true, Ordering::Relaxed);
            self.notices.add(format!("playing without tables: {error}"));
            None
        })
    }
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
    pub(crate) resources: Resources,
}

impl WithTables {
    /// What the tables say, and the player where they leave something open.
    fn look(&mut self, game: &Game, think: impl FnOnce(&mut dyn Player) -> Option<Choice>) -> Option<Choice> {
        let known = self
            .resources
            .tables(&self.tables, game)
            .and_then(|tables| tables.ask(|tablebase| tablebase.actions(game.position())))
            .map(|actions| playable(game, &actions))
            .filter(|actions| !actions.is_empty());
        let Some(actions) = known else { return think(&mut *self.player) };
        let best = actions.first()?.value.wdl();
        let holding: Vec<Move> =
            actions.iter().filter(|action| action.value.wdl() == best).map(|action| action.mv).collect();
        // Won and lost games are played by the tables. A draw is held, and the search looks for the best try.
        let mut choice = if best == Wdl::Draw && holding.len() > 1 {
            think(&mut *self.player)?
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
}

impl Player for WithTables {
    fn choose(&mut self, game: &Game, limits: &Limits, stop: &Stop) -> Option<Choice> {
        self.look(game, |player| player.choose(game, limits, stop))
    }

    fn analyse(&mut self, game: &Game, limits: &Limits, stop: &Stop) -> Option<Choice> {
        self.look(game, |player| player.analyse(game, limits, stop))
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
