//! A cache knows values by who judged: another network under the same name is asked again.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;

use anqi_assess::{Cache, Method, Records, SearchSpec, Selection, Valuer};
use anqi_endgame::{Flavour, build, classes_up_to};
use anqi_engine::{Evaluation, Resources, Stop};
use anqi_rules::{Deal, Game, Rules, Seed};

const NETWORK: &[u8] = include_bytes!("../../engine/src/champion/champion.net");

/// Values of a process of its own, and how many positions it looked at.
fn values(cache: &Path, games: &Path, net: &Path) -> (Vec<f64>, usize) {
    let method = format!("champion,hash=1,tables=off,net={}", net.display()).parse().unwrap();
    let searches = [SearchSpec { method, budget: Some("nodes=60".parse().unwrap()) }];
    let (stop, mut fresh) = (Stop::default(), 0);
    let mut watch = |_: &str, done: usize, _: usize| fresh = done;
    let (cache, resources) = (Cache::open(cache).unwrap(), Resources::default());
    let mut valuer = Valuer::new(cache, NonZeroUsize::MIN, 1, &resources, &stop, &mut watch);
    let selection = Selection::default();
    let files = [games.to_path_buf()];
    let records = Records { files: &files, selection: &selection, searches: &searches, provers: &[] };
    let valued = records.value(&mut valuer).unwrap();
    let values = valued.series[0].samples.iter().map(|sample| sample.value).collect();
    (values, fresh)
}

#[test]
fn a_swapped_network_is_asked_again() {
    let dir = tempfile::tempdir().unwrap();
    let (cache, games, net) = (dir.path().join("cache"), dir.path().join("games.anqi"), dir.path().join("a.net"));
    let rules = Rules::server();
    let (deal, mut game) = (Deal::new(&rules, &Seed::from(5)), Game::new(rules));
    for _ in 0..12 {
        let mv = *game.legal_moves().last().unwrap();
        game.play(deal.resolve(mv).unwrap()).unwrap();
    }
    let plies: Vec<String> = game.plies().iter().map(ToString::to_string).collect();
    fs::write(&games, format!("[Rules \"server\"]\n\n1. {} 0-1\n", plies.join(" "))).unwrap();
    fs::write(&net, NETWORK).unwrap();
    let (first, asked) = values(&cache, &games, &net);
    assert!(asked > 0);
    assert_eq!(values(&cache, &games, &net), (first.clone(), 0));

    // Under another name it is the same network.
    let copy = dir.path().join("b.net");
    fs::write(&copy, NETWORK).unwrap();
    assert_eq!(values(&cache, &games, &copy), (first.clone(), 0));

    // The biases of the first layer, which every position sees, turned round.
    let mut other = NETWORK[NETWORK.len() - 351_712..].to_vec();
    other[2 * 256 * 556..2 * 256 * 557].reverse();
    fs::write(&net, other).unwrap();
    let (second, again) = values(&cache, &games, &net);
    assert_eq!(again, asked);
    assert_ne!(first, second);
}

/// The key of a value holds what files hold: for a network, for weights and for tables.
#[test]
fn other_files_are_other_keys() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let key = |method: &str| {
        let method: Method = method.parse().unwrap();
        let resources = Resources::default();
        if let Method::Player(spec) = &method {
            resources.open_for(spec).unwrap();
        }
        method.identity(&resources).unwrap()
    };
    let weights = |change: i32| {
        let mut list = Evaluation::Static.weights();
        list[0] += change;
        // What a file of weights held stands in the player string.
        let list = list.iter().map(ToString::to_string).collect::<Vec<_>>().join("/");
        [key(&format!("chen:var1,weights={list}")), key(&format!("eval:static,weights={list}"))]
    };
    let (before, after) = (weights(0), weights(1));
    assert_eq!(before, weights(0));
    assert!(before[0] != after[0] && before[1] != after[1]);

    let tables = |pieces: u32| {
        let classes = classes_up_to(pieces).into_values();
        build(&path("tables"), Flavour::END, classes, NonZeroUsize::MIN, &Stop::default(), ()).unwrap();
        key(&format!("chen:var1,tables={}", path("tables").display()))
    };
    let before = tables(2);
    assert_eq!(before, tables(2));
    assert_ne!(before, tables(3));
}
