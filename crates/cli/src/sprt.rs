//! `anqi sprt`: the result block of a match from its counts.

use anqi_stats::{Block, Games, Model, Pairs, Sprt};
use anyhow::Result;
use clap::Args;
use serde::Serialize;

use crate::Exit;
use crate::output::Output;

/// Compute Elo, LOS and SPRT from the counts of a match
#[derive(Args)]
#[command(after_help = "Examples:
  anqi sprt --pairs 165,6076,13441,6436,154 --elo0 0 --elo1 2
  anqi sprt --wins 400 --losses 350 --draws 250")]
pub(crate) struct SprtArgs {
    /// Pairs of games by points: 0, ½, 1, 1½, 2 (what match runners print as Ptnml)
    #[arg(long, value_name = "N,N,N,N,N", value_parser = pairs, required_unless_present = "wins")]
    pairs: Option<Pairs>,
    /// Games won
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=MOST), requires_all = ["losses", "draws"])]
    wins: Option<u64>,
    /// Games lost
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=MOST), requires_all = ["wins", "draws"])]
    losses: Option<u64>,
    /// Games drawn
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=MOST), requires_all = ["wins", "losses"])]
    draws: Option<u64>,
    /// The difference under H0
    #[arg(long, value_name = "ELO", requires = "elo1", allow_negative_numbers = true)]
    elo0: Option<f64>,
    /// The difference under H1
    #[arg(long, value_name = "ELO", requires = "elo0", allow_negative_numbers = true)]
    elo1: Option<f64>,
    /// How often H1 may be accepted though H0 is true
    #[arg(long, value_name = "P", default_value_t = 0.05)]
    alpha: f64,
    /// How often H0 may be accepted though H1 is true
    #[arg(long, value_name = "P", default_value_t = 0.05)]
    beta: f64,
    /// Units of the hypotheses: normalized or logistic Elo
    #[arg(long, value_name = "MODEL", default_value = "normalized")]
    model: Model,
}

/// More games than anybody plays, and few enough to add up.
const MOST: u64 = 1_000_000_000_000;

fn pairs(text: &str) -> Result<Pairs, String> {
    let counts: Option<Vec<u64>> = text
        .trim_matches(['[', ']'])
        .split(',')
        .map(|count| count.trim().parse().ok().filter(|&count| count <= MOST))
        .collect();
    let counts = counts.and_then(|counts| counts.try_into().ok());
    counts.map(Pairs).ok_or_else(|| format!("expected five counts up to {MOST} such as 0,3,50,9,1"))
}

#[derive(Serialize)]
struct Calculated {
    schema: &'static str,
    #[serde(flatten)]
    block: Block,
}

pub(crate) fn run(args: &SprtArgs, out: &mut Output) -> Result<Exit> {
    let sprt = match (args.elo0, args.elo1) {
        (Some(elo0), Some(elo1)) => Some(Sprt::new(elo0, elo1, args.alpha, args.beta, args.model)?),
        _ => None,
    };
    let games = match (args.losses, args.draws, args.wins) {
        (Some(losses), Some(draws), Some(wins)) => Some(Games([losses, draws, wins])),
        _ => None,
    };
    let block = match (args.pairs, games) {
        (Some(pairs), games) => {
            if let Some(games) = games {
                pairs.agree_with(&games)?;
            }
            Block::of_pairs(pairs, games, sprt)
        }
        (None, games) => Block::of_games(games.unwrap_or_default(), sprt),
    };
    let calculated = Calculated { schema: "anqi-sprt-1", block };
    out.print(&calculated, |text| write!(text, "{}", calculated.block))?;
    Ok(Exit::Done)
}
