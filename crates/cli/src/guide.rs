//! `anqi guide`: what there is beside the page.

use anqi_rules::{Deal, Faces, Game, Move, Rules, Seed};
use anyhow::Result;
use clap::{Args, CommandFactory};
use serde::Serialize;

use crate::output::Output;
use crate::{Cli, Exit};

const GUIDE: &str = "\
Try these:

  anqi moves start                          what the first player may do
  anqi perft start 3                        78,989,568 ways to play three plies
  anqi show 'XXXX/XGCX/X.gX/XXM./XkpX/X.GX/XX.N/XXXP b KMRRNPPPPgmmrnncppp'
  anqi play-out start --policy capture --count 100000 --seed 1
  anqi records check data/games/*.anqi      replay games under their rules
  anqi bench playouts                       how fast this machine plays at random
  anqi help                                 everything else

`anqi` alone opens the page to play and analyse in the browser.
";

/// Show a board and commands to begin with
#[derive(Args)]
pub(crate) struct GuideArgs {}

#[derive(Serialize)]
struct Guide {
    schema: &'static str,
    version: &'static str,
    position: String,
    plies: Vec<String>,
    commands: Vec<String>,
}

pub(crate) fn run(_: &GuideArgs, out: &mut Output) -> Result<Exit> {
    let game = opening(&Seed::from(8))?;
    let guide = Guide {
        schema: "anqi-guide-1",
        version: env!("CARGO_PKG_VERSION"),
        position: game.position().to_string(),
        plies: game.plies().iter().map(ToString::to_string).collect(),
        commands: Cli::command().get_subcommands().map(|command| command.get_name().to_owned()).collect(),
    };
    out.print(&guide, |text| {
        writeln!(text, "anqi {}: the workshop for Chinese Dark Chess (暗棋, banqi)\n", guide.version)?;
        let letters = game.position().drawn(Faces::Letters);
        let chinese = game.position().drawn(Faces::Chinese);
        for (left, right) in letters.lines().zip(chinese.lines()) {
            writeln!(text, "  {left:<14}{right}")?;
        }
        writeln!(text, "\n  after {}\n", guide.plies.join(" "))?;
        write!(text, "{GUIDE}")
    })?;
    Ok(Exit::Done)
}

/// A few plies of a seeded game: capture when you can, else flip along the board.
fn opening(seed: &Seed) -> Result<Game> {
    let rules = Rules::default();
    let deal = Deal::new(&rules, seed);
    let mut game = Game::new(rules);
    for _ in 0..12 {
        let hidden = game.position().hidden().iter().nth(7 * game.plies().len() % 11);
        let choice = game.position().captures().first().copied().or(hidden.map(Move::Flip));
        let Some(choice) = choice else { break };
        game.play(deal.resolve(choice)?)?;
    }
    Ok(game)
}
