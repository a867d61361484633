//! `anqi players`: everybody who can play, with their options.

use anqi_engine::{OptionInfo, PlayerSpec, Resources};
use anyhow::Result;
use clap::Args;
use serde::Serialize;

use crate::Exit;
use crate::output::Output;
use crate::resources::resources;

/// List the players, their options and their fingerprints
///
/// A fingerprint says who plays, exactly: it changes with every option, with the content of every file, and when a player
/// learns to play otherwise. `anqi players --json` has those of all players.
#[derive(Args)]
pub(crate) struct PlayersArgs {
    /// Only players whose name starts like this; or one player, as a string with options such as chen:var2,k=8
    #[arg(value_name = "NAME", default_value = "")]
    name: String,
}

#[derive(Serialize)]
struct Players {
    schema: &'static str,
    players: Vec<ListedPlayer>,
}

#[derive(Serialize)]
struct ListedPlayer {
    name: String,
    help: &'static str,
    fingerprint: String,
    /// Where the weights of its network come from.
    #[serde(skip_serializing_if = "Option::is_none")]
    network: Option<String>,
    options: Vec<ListedOption>,
}

#[derive(Serialize)]
struct ListedOption {
    name: &'static str,
    default: String,
    range: String,
    help: &'static str,
}

impl From<OptionInfo> for ListedOption {
    fn from(info: OptionInfo) -> ListedOption {
        ListedOption { name: info.name, default: info.default, range: info.range, help: info.help }
    }
}

fn entry(name: &str, help: &'static str, resources: &Resources) -> Result<ListedPlayer> {
    let spec: PlayerSpec = name.parse()?;
    resources.open_for(&spec)?;
    let network = resources.network_facts(&spec).map(|facts| facts.provenance).filter(|line| !line.is_empty());
    Ok(ListedPlayer {
        name: name.to_owned(),
        help,
        fingerprint: spec.fingerprint(resources)?.to_string(),
        network,
        options: spec.table().into_iter().map(ListedOption::from).collect(),
    })
}

pub(crate) fn run(args: &PlayersArgs, out: &mut Output) -> Result<Exit> {
    let resources = resources();
    if args.name.contains(',') {
        let spec: PlayerSpec = args.name.parse()?;
        let players = vec![entry(&spec.to_string(), spec.help(), &resources)?];
        let players = Players { schema: "anqi-players-1", players };
        out.print(&players, |text| {
            let player = &players.players[0];
            writeln!(text, "{}\n    {}\n    fingerprint {}", player.name, player.help, player.fingerprint)?;
            player.network.iter().try_for_each(|line| writeln!(text, "    network: {line}"))?;
            player.options.iter().try_for_each(|option| writeln!(text, "    {}={}", option.name, option.default))
        })?;
        return Ok(Exit::Done);
    }
    let presets = PlayerSpec::presets().iter().filter(|preset| preset.name.starts_with(&args.name));
    let players: Vec<ListedPlayer> =
        presets.map(|preset| entry(preset.name, preset.help, &resources)).collect::<Result<_>>()?;
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
