//! The POSITION argument that several commands share.

use anqi_rules::{Position, Rules};
use anyhow::{Context, Result};
use clap::Args;

#[derive(Args)]
pub(crate) struct PositionArgs {
    /// `BOARD SIDE POOL [QUIET]` in one argument, or `start`
    #[arg(value_name = "POSITION")]
    position: String,
    #[command(flatten)]
    rules: RulesArgs,
}

#[derive(Args)]
pub(crate) struct RulesArgs {
    /// Rules: server, chen or olympiad, with overrides such as `server,draw=40,board=2x4`
    #[arg(long, value_name = "RULES", default_value = "server")]
    pub(crate) rules: Rules,
}

impl PositionArgs {
    pub(crate) fn position(&self) -> Result<Position> {
        self.rules.position(&self.position)
    }

    pub(crate) fn rules(&self) -> &Rules {
        &self.rules.rules
    }
}

impl RulesArgs {
    /// Reads a position with the ladder of the rules; `start` is the beginning of a game.
    pub(crate) fn position(&self, text: &str) -> Result<Position> {
        if text == "start" {
            return Ok(Position::initial(&self.rules));
        }
        Position::parse(text, self.rules.ladder()).context("bad POSITION")
    }
}
