//! What every player answers in fixed positions by fixed budgets, under its defaults and with every option changed.

use std::fmt::Write;
use std::fs;
use std::sync::LazyLock;

use anqi_engine::{Choice, Limits, Player, PlayerSpec, Resources, ResultCounts, Stop};
use anqi_rules::{Game, Position, Rules, Seed};
use tempfile::TempDir;

use crate::support::{compare_lines, copy_of};

/// Rules and position: with many, few and no pieces face down, endings that tables know, small boards, the other ladder.
const POSITIONS: [(&str, &str); 9] = [
    ("server", "xxxx/xrxx/xpxp/xx2/xxRx/xN1x/xNCx/pxxM b KGGMRCPPPPkggmrnnccp"),
    ("server", "1P1p/M1C1/xGK1/xPcx/pPMx/g1nR/1xmx/GnPN b RNkmrp 7"),
    ("chen", "rm1p/2ng/2cP/Nm2/1PRp/1gnC/p1kP/3G b -"),
    ("olympiad", "4/1c2/1x2/3K/4/gp2/xP2/R3 r np 3"),
    ("server", "4/4/4/4/4/4/p2p/N3 b -"),
    ("chen", "1m2/4/1g2/g3/4/4/1c2/2P1 b -"),
    ("server,board=2x4", "x1Kx/1xpx r Pkkp"),
    ("server,board=3x4,army=KGNCPP", "xxxx/xKpx/xxxx r GNCPPkgncp"),
    ("olympiad,ladder=hongkong,chase=on", "1P1p/M1C1/xGK1/xPcx/pPMx/g1nR/1xmx/GnPN b RNkmrp"),
];

/// 56 weights for the evaluation `hand`.
const HAND: &str = "5/42/79/116/153/190/16/53/90/127/164/201/27/64/101/138/175/212/38/75/112/149/186/12/49/86/123/160/197/23/60/\
                    97/134/171/208/34/71/108/145/182/8/45/82/119/156/193/19/56/93/130/167/204/30/67/104/141";

/// Options that are changed, each with what it needs to have an effect. `NET`, `OTHER-NET` and `TABLES` are paths.
const CHAMPION: [&str; 20] = [
    "hash=1,net=off",
    "net=off,weights=HAND",
    "net=NET",
    "net=OTHER-NET",
    "tables=off",
    "tables=TABLES",
    "scale=300",
    "lmr=0",
    "lmr=9",
    "pass=0",
    "pass=3",
    "flip=0",
    "exchange=off",
    "inner=1",
    "probe=4",
    "few=0",
    "few=12",
    "edge=0",
    "fitted=off",
    "fitted=off,net=off,edge=900",
];
const CHEN: [&str; 27] = [
    "flips=never",
    "flips=root",
    "flips=everywhere",
    "condition=off",
    "flips=never,policy=move-first",
    "flips=never,policy=comparing",
    "flips=never,policy=take-advantage-or-flip",
    "k=1",
    "k=9",
    "order=random,k=3",
    "order=fixed,k=3",
    "eval=dynamic",
    "eval=course",
    "eval=hand",
    "eval=draw",
    "eval=outcome",
    "weights=1000/700/500/300/100/200/50",
    "eval=dynamic,weights=90/80/70/60/50/40/30/20/10/5",
    "eval=course,weights=900/700/500/300/100/200/50/7",
    "eval=hand,weights=HAND",
    "risk=1.5",
    "risk=-2",
    "clip=on",
    "sort=off",
    "star1=off",
    "table=0",
    "tables=on",
];
const NEGASCOUT: [&str; 13] = [
    "quiescence=off",
    "null=off",
    "decide=off",
    "plies=1",
    "plies=8",
    "useless=off",
    "mobility=0",
    "mobility=90",
    "weights=900/700/500/300/100/200/50/7",
    "table=0",
    "table=paper",
    "tables=on",
    "tables=TABLES",
];
const MCTS: [&str; 30] = [
    "nodes=chance",
    "nodes=group",
    "policy=random",
    "policy=avoid",
    "policy=capture+avoid",
    "policy=avoid+capture",
    "policy=trap",
    "policy=capture+trap",
    "policy=capture+avoid+trap",
    "playout=20",
    "rule=off",
    "playout=20,eval=on",
    "draw=0",
    "draw=1",
    "ucb=ucb1-tuned",
    "explore=0.3",
    "explore=4",
    "backup=best",
    "flight=8",
    "share=on",
    "keep=on",
    "memory=1",
    "cut=12",
    "cut=0,eval=on",
    "minimax=0.4",
    "bias=3",
    "cut=12,quality=0.5",
    "cut=12,minimax=0.2,bias=1,quality=0.1",
    "tables=on",
    "tables=TABLES",
];
const FLAT: [&str; 8] = [
    "average=results",
    "average=material",
    "policy=capture",
    "policy=trap",
    "playout=15",
    "playout=15,eval=on",
    "reading=paper",
    "reading=paper,policy=capture",
];
const REFERENCE: [&str; 3] = ["depth=2", "depth=3,eval=static", "depth=3,eval=course"];

/// Options whose effect depends on how threads run: what is found by a number of nodes differs from run to run.
const TIMED: [&str; 1] = ["threads"];

/// Options that c3a29fa did not have; `behaviour.rs` of the engine says what they do.
const NEW: [&str; 13] = [
    "below",
    "place",
    "worse",
    "quiescence",
    "reading",
    "draws",
    "proofs",
    "scout",
    "decision",
    "sum",
    "chance",
    "among",
    "lanes",
];

fn changes(name: &str) -> &'static [&'static str] {
    match name {
        "champion" => &CHAMPION,
        "random" => &[],
        "negascout" => &NEGASCOUT,
        "mc" | "mc-score" => &FLAT,
        "reference" => &REFERENCE,
        _ if name.starts_with("chen:") => &CHEN,
        _ if name.starts_with("mcts:") => &MCTS,
        _ => panic!("{name} is new: give the options to be changed in its signature"),
    }
}

/// A fresh player: the one place that knows how players are built.
fn build(spec: &PlayerSpec) -> Box<dyn Player> {
    static RESOURCES: LazyLock<Resources> = LazyLock::new(Resources::default);
    RESOURCES.open_for(spec).unwrap();
    spec.build(Seed::from(11), &RESOURCES).unwrap()
}

fn choose(spec: &PlayerSpec, game: &Game, limits: &Limits) -> Choice {
    build(spec).choose(game, limits, &Stop::default()).unwrap()
}

/// Everything in a choice but its time.
fn signature(spec: &PlayerSpec, game: &Game, choice: &Choice) -> String {
    let pv: Vec<String> = choice.pv.iter().map(ToString::to_string).collect();
    let mut candidates = String::new();
    for candidate in &choice.candidates {
        // The text that was hashed at c3a29fa, where the counts were called Wdl.
        let results = match &candidate.results {
            Some(ResultCounts { wins, draws, losses, .. }) => {
                format!("Some(Wdl {{ wins: {wins}, draws: {draws}, losses: {losses} }})")
            }
            None => "None".to_owned(),
        };
        write!(candidates, "{} {} {results}", candidate.mv, candidate.score.0).unwrap();
        for outcome in &candidate.outcomes {
            write!(candidates, " {}*{}={}", outcome.piece.char(), outcome.count, outcome.score.0).unwrap();
        }
    }
    format!(
        "{} score {} value {:.6} depth {} nodes {} playouts {} candidates {:08x} pv {}",
        choice.mv,
        choice.score.0,
        spec.value_of(game.position(), choice),
        choice.stats.depth,
        choice.stats.nodes,
        choice.stats.playouts,
        crc32fast::hash(candidates.as_bytes()),
        pv.join(" "),
    )
}

/// The network of c3a29fa as a file without a header, and another one beside it.
fn networks() -> TempDir {
    let dir = copy_of("network");
    let mut bytes = fs::read(dir.path().join("champion.net")).unwrap();
    // The low byte of one weight of the first layer in 501.
    bytes[..556 * 256 * 2].iter_mut().step_by(1002).for_each(|byte| *byte ^= 1);
    fs::write(dir.path().join("other.net"), bytes).unwrap();
    dir
}

fn limits(spec: &PlayerSpec) -> Limits {
    if spec.plays_out() { Limits::playouts(150) } else { Limits::nodes(1200) }
}

#[test]
fn players_answer_the_same() {
    let (tables, networks) = (copy_of("tables"), networks());
    let paths = [
        ("HAND", HAND.to_owned()),
        ("OTHER-NET", networks.path().join("other.net").display().to_string()),
        ("NET", networks.path().join("champion.net").display().to_string()),
        ("TABLES", tables.path().display().to_string()),
    ];
    let games = POSITIONS.map(|(rules, position)| {
        let rules = Rules::parse_stored(rules).unwrap();
        Game::from_position(rules, Position::parse(position, rules.ladder()).unwrap()).unwrap()
    });
    let mut today = String::new();
    for preset in PlayerSpec::presets() {
        let usual = preset.name.to_owned();
        let small = if preset.name.starts_with("chen:") || preset.name == "negascout" { ",table=1" } else { "" };
        let changed = changes(preset.name).iter().map(|change| {
            let table = if change.contains("table=") { "" } else { small };
            format!("{},{change}{table}", preset.name)
        });
        for text in std::iter::once(usual).chain(changed) {
            let text_of_paths = paths
                .iter()
                .fold(text.clone(), |text, (word, path)| text.replace(&format!("={word}"), &format!("={path}")));
            let spec: PlayerSpec =
                PlayerSpec::stored(&text_of_paths).parse().unwrap_or_else(|error| panic!("{text}: {error}"));
            for (number, game) in games.iter().enumerate() {
                let choice = choose(&spec, game, &limits(&spec));
                writeln!(today, "{text} {number}: {}", signature(&spec, game, &choice)).unwrap();
            }
            if text == preset.name {
                let judge = spec.impartial();
                for (number, game) in games.iter().enumerate() {
                    let depth = if spec.plays_out() { Limits::playouts(40) } else { Limits::depth(2) };
                    let choice = choose(&spec, game, &depth);
                    writeln!(today, "{text} depth {number}: {}", signature(&spec, game, &choice)).unwrap();
                    let analysis = build(&judge).analyse(game, &limits(&spec), &Stop::default()).unwrap();
                    writeln!(today, "{text} every move {number}: {}", signature(&judge, game, &analysis)).unwrap();
                }
            }
        }
    }
    compare_lines("signatures.txt", &today, str::to_owned);
}

/// A network without a header is the champion's own, whatever the file in the tree looks like today.
#[test]
fn a_network_without_a_header_opens() {
    let networks = networks();
    let spec = |name: &str| {
        let path = networks.path().join(name).display().to_string();
        format!("champion,net={path}").parse::<PlayerSpec>().unwrap()
    };
    let (rules, position) = POSITIONS[0];
    let game = Game::from_position(rules.parse().unwrap(), position.parse().unwrap()).unwrap();
    let by = |spec: PlayerSpec| signature(&spec, &game, &choose(&spec, &game, &Limits::nodes(1200)));
    let own = by("champion".parse().unwrap());
    assert_eq!(by(spec("champion.net")), own);
    assert_ne!(by(spec("other.net")), own);
}

#[test]
fn every_option_of_every_player_has_a_signature() {
    for preset in PlayerSpec::presets() {
        let changed: Vec<&str> = changes(preset.name)
            .iter()
            .flat_map(|change| change.split(','))
            .filter_map(|word| word.split_once('=').map(|(name, _)| name))
            .collect();
        for option in preset.table() {
            let is_there = changed.contains(&option.name) || TIMED.contains(&option.name) || NEW.contains(&option.name);
            assert!(is_there, "option {} of {} is changed in no signature", option.name, preset.name);
        }
    }
}
