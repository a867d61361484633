//! The engine's side: a player of ours for any referee, over any reader and writer.

mod numbered;
mod packets;
mod uci;

use std::io::{self, BufReader, Read, Write};

use anqi_engine::{Limits, Player, PlayerSpec, Resources};
use anqi_rules::{Game, Rules, Seed, Setup, Termination};

use crate::lines::read_line;

pub use packets::serve_packets;

/// Our engine as a referee meets it: a player, and what it plays with.
#[derive(Clone, Debug)]
pub struct ServedEngine {
    /// The player.
    pub player: PlayerSpec,
    /// What it needs; the files that it names must be [open](Resources::open_for).
    pub resources: Resources,
    /// Where its random choices come from. The same in every game: a game depends on nothing that was played before.
    pub seed: Seed,
    /// The rules, as far as the other side does not tell.
    pub rules: Rules,
    /// Bounds on every move, beside the clock.
    pub limits: Limits,
    /// Whether it thinks in the other side's time, where protocol A says whose it is.
    pub ponder: bool,
}

impl ServedEngine {
    fn build(&self) -> io::Result<Box<dyn Player>> {
        self.player.build(self.seed.clone(), &self.resources).map_err(io::Error::other)
    }

    fn name(&self) -> String {
        format!("anqi {}", self.player)
    }
}

/// Speaks protocol A or the UCI dialect, whichever the first line belongs to, until it is told to quit or the input
/// ends. Whatever else comes in is answered, and nothing else ends it.
///
/// # Errors
/// If the input or the output fails, or a file that the player names was not opened.
pub fn serve(engine: &ServedEngine, input: impl Read + Send + 'static, output: impl Write) -> io::Result<()> {
    let mut input = BufReader::with_capacity(64 * 1024, input);
    let first = loop {
        match read_line(&mut input)? {
            None => return Ok(()),
            Some(line) if line.shown().trim().is_empty() => {}
            Some(line) => break line,
        }
    };
    if first.shown().split_ascii_whitespace().next() == Some("uci") {
        uci::serve(engine, first, input, output)
    } else {
        numbered::serve(engine, first, input, output)
    }
}

/// The referee judges draws, perhaps by other counts than ours. If it goes on, so do we.
fn go_on_after_a_draw(game: &mut Game) {
    let drawn = |termination| matches!(termination, Termination::QuietPlies | Termination::Repetition { .. });
    if game.outcome().is_some_and(|outcome| drawn(outcome.termination))
        && let Ok(longer) = replayed(game, game.rules().without_draws(), game.positions()[0].into())
    {
        *game = longer;
    }
}

/// The plies of `game` by other rules or from another start.
fn replayed(game: &Game, rules: Rules, start: Setup) -> Result<Game, Box<dyn std::error::Error>> {
    let mut again = Game::from_position(rules, start.try_into()?)?;
    for &ply in game.plies() {
        again.play(ply)?;
    }
    Ok(again)
}
