//! `anqi games`: backups of the page's games, how long they are kept, and what people made of their series.

mod series;

use std::path::PathBuf;
use std::time::Duration;

use anqi_web::{Copied, backup, prune, restore};
use anyhow::Result;
use clap::{Args, Subcommand};
use serde::Serialize;

use crate::Exit;
use crate::output::{Output, grouped};
use crate::serve::games_dir;

/// Back up, restore and delete the games of the page; scores of people against programs
#[derive(Args)]
pub(crate) struct GamesArgs {
    #[command(subcommand)]
    command: GamesCommand,
    /// Where games are kept [default: anqi/games in the user's data folder]
    #[arg(long, value_name = "DIR", global = true)]
    games: Option<PathBuf>,
}

#[derive(Subcommand)]
enum GamesCommand {
    /// Copy all games to a new folder, also while a server uses them
    Backup {
        /// The new folder; only you may look into it, because journals have the seeds of deals
        to: PathBuf,
    },
    /// Check a backup, and copy it into a folder that has no games
    Restore {
        /// The backup
        from: PathBuf,
    },
    /// Delete games that were not touched for long, finished or not; no server may use the folder
    Prune {
        /// How many days
        #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u32).range(1..))]
        older_than: u32,
        /// Only tell which
        #[arg(long)]
        dry_run: bool,
    },
    /// The scores of people and programs in their series (Chen et al., tables 4 and 5)
    Series(series::SeriesArgs),
}

/// So many days.
pub(crate) fn days(number: u32) -> Duration {
    Duration::from_secs(u64::from(number) * 86_400)
}

#[derive(Serialize)]
struct CopiedGames {
    schema: &'static str,
    from: String,
    to: String,
    files: u64,
    bytes: u64,
}

#[derive(Serialize)]
struct Pruned {
    schema: &'static str,
    games: Vec<String>,
    dry_run: bool,
}

pub(crate) fn run(args: &GamesArgs, out: &mut Output) -> Result<Exit> {
    let games = games_dir(args.games.as_deref());
    match &args.command {
        GamesCommand::Backup { to } => {
            let Copied { files, bytes } = backup(&games, to)?;
            told(out, "anqi-games-backup-1", &games, to, files, bytes)
        }
        GamesCommand::Restore { from } => {
            let Copied { files, bytes } = restore(from, &games)?;
            told(out, "anqi-games-restore-1", from, &games, files, bytes)
        }
        &GamesCommand::Prune { older_than, dry_run } => {
            let pruned =
                Pruned { schema: "anqi-games-prune-1", games: prune(&games, days(older_than), dry_run)?, dry_run };
            out.print(&pruned, |text| {
                pruned.games.iter().try_for_each(|game| writeln!(text, "{game}"))?;
                let what = if dry_run { "would be deleted" } else { "deleted" };
                writeln!(text, "{} games {what}", grouped(pruned.games.len() as u64))
            })?;
            Ok(Exit::Done)
        }
        GamesCommand::Series(args) => series::run(args, &games, out),
    }
}

fn told(
    out: &mut Output,
    schema: &'static str,
    from: &std::path::Path,
    to: &std::path::Path,
    files: u64,
    bytes: u64,
) -> Result<Exit> {
    let (from, to) = (from.display().to_string(), to.display().to_string());
    let copied = CopiedGames { schema, from, to, files, bytes };
    out.print(&copied, |text| {
        writeln!(text, "{} files, {} bytes: {} to {}", grouped(files), grouped(bytes), copied.from, copied.to)
    })?;
    Ok(Exit::Done)
}
