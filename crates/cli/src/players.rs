//! `anqi players`: everybody who can play, with their options.

use anqi_engine::{OptionInfo, PlayerSpec};
use anyhow::Result;
use clap::Args;
use serde::Serialize;

use crate::Exit;
use crate::output::Output;

/// List the players and their options
#[derive(Args)]
pub(crate) struct PlayersArgs {
    /// Only players whose name starts like this
    #[arg(value_name = "NAME", default_value = "")]
    name: String,
}

#[derive(Serialize)]
struct Players {
    schema: &'static str,
    players: Vec<Entry>,
}

#[derive(Serialize)]
struct Entry {
    name: &'static str,
    help: &'static str,
    options: Vec<OptionEntry>,
}

#[derive(Serialize)]
struct OptionEntry {
    name: &'static str,
    default: String,
    range: String,
    help: &'static str,
}

impl From<OptionInfo> for OptionEntry {
    fn from(info: OptionInfo) -> OptionEntry {
        OptionEntry { name: info.name, default: info.default, range: info.range, help: info.help }
    }
}

pub(crate) fn run(args: &PlayersArgs, out: &mut Output) -> Result<Exit> {
    let presets = PlayerSpec::presets().iter().filter(|preset| preset.name.starts_with(&args.name));
    let players: Vec<Entry> = presets
        .map(|preset| Entry {
            name: preset.name,
            help: preset.help,
            options: preset.table().into_iter().map(OptionEntry::from).collect(),
        })
        .collect();
    if players.is_empty() {
        let known: Vec<&str> = PlayerSpec::presets().iter().map(|preset| preset.name).collect();
        anyhow::bail!("no player's name starts with {:?}; there are {}", args.name, known.join(", "));
    }
    let players = Players { schema: "anqi-players-1", players };
    out.print(&players, |text| {
        for player in &players.players {
            writeln!(text, "{}\n    {}", player.name, player.help)?;
            for option in &player.options {
                writeln!(text, "    {}={}  ({}) {}", option.name, option.default, option.range, option.help)?;
            }
        }
        writeln!(text, "\nOptions follow the name: chen:var2,k=8,eval=dynamic")
    })?;
    Ok(Exit::Done)
}
