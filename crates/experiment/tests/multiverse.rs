//! Multiverses: plans, runs that go on elsewhere, results that are those of ordinary plans.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::collections::BTreeMap;
use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;

use anqi_engine::{Resources, Stop};
use anqi_experiment::{
    Alone, Experiment, ExperimentError, Host, Inputs, MatchRow, MultiversePlan, Pattern, Run, Slice, Work,
};
use anqi_lab::{Cast, Ended, MatchJournal, run};
use anqi_task::Status;

const PLAN: &str = r#"
version = 2
event = "small"
rules = "chen,board=2x4,repeat={repeat}"
budget = "nodes={nodes}"
pairs = 4
players = ["chen:basic name=BASIC", "chen:enhance,below={below} name=ENHANCE", "random name=dice", "chen:var1 name=VAR1 nodes={3*nodes}"]
[axes]
repeat = ["off", "position:3"]
below = ["moves", "flips"]
nodes = [50]
[[parts]]
name = "two"
players = ["ENHANCE", "BASIC"]
pairs = 3
axes = { nodes = [100, 200], repeat = ["off"] }
[[parts]]
name = "plain"
players = ["dice", "BASIC"]
axes = { repeat = ["position:2"], nodes = [50] }
"#;

fn plan() -> MultiversePlan {
    PLAN.parse().unwrap()
}

/// Plays with so many threads, at most so many pairs if that is said; whether it is finished.
fn play(dir: &Path, plan: &MultiversePlan, threads: usize, pairs: Option<u64>, only: Option<&Pattern>) -> bool {
    let (resources, stop) = (Resources::default(), Stop::default());
    let threads = NonZeroUsize::new(threads).unwrap();
    let session = Session { resources: &resources, stop: &stop, threads, only, until: None };
    play_multiverse(dir, plan, &session, |status, _| {
        if pairs.is_some_and(|pairs| status.made().items >= pairs) {
            stop.raise();
        }
    })
    .unwrap()
}

fn tables(dir: &Path) -> (String, String) {
    let games = zstd::decode_all(&fs::read(dir.join("games.csv.zst")).unwrap()[..]).unwrap();
    (fs::read_to_string(dir.join("raw.csv")).unwrap(), String::from_utf8(games).unwrap())
}

#[test]
fn universes_follow_from_the_plan() {
    let plan = plan();
    assert_eq!(plan.to_string().parse::<MultiversePlan>().unwrap(), plan);
    let names: Vec<&str> = plan.universes().iter().map(|universe| universe.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "below=moves,nodes=50,repeat=off",
            "below=moves,nodes=50,repeat=position:3",
            "below=flips,nodes=50,repeat=off",
            "below=flips,nodes=50,repeat=position:3",
            "two/below=moves,nodes=100,repeat=off",
            "two/below=moves,nodes=200,repeat=off",
            "two/below=flips,nodes=100,repeat=off",
            "two/below=flips,nodes=200,repeat=off",
            "plain/nodes=50,repeat=position:2",
        ]
    );
    // Of six pairings those without ENHANCE are the same with both values of `below`.
    assert_eq!(plan.universes()[3].played_by, [3, 1, 1, 3, 3, 1]);
    assert_eq!(plan.size(), (6 + 6 + 3 + 3 + 4 + 1, 2 * (18 * 4 + 4 * 3 + 4)));
    assert_eq!(plan.universes()[0].plan.contenders()[3].to_string(), "chen:var1 name=VAR1 nodes=150");
    assert_eq!(plan.universes()[4].plan.contenders()[0].name, "ENHANCE");
    let more = plan.with_pairs(7).unwrap();
    assert!(more.universes().iter().all(|universe| universe.pairs() == 7));
}

#[test]
fn shows_what_is_wrong() {
    for (old, new, message) in [
        ("{below}", "moves", "axis below: no text of the plan has a place for it: {below}"),
        ("{below}", "{under}", "unknown axis \"under\", expected one of below, nodes, repeat"),
        ("\"flips\"", "\"flop\"", "below=flop,nodes=50,repeat=off: player 2: "),
        ("\"flips\"]", "\"moves\"]", "axis below: \"moves\" is listed twice"),
        ("nodes = [50]", "nodes = []", "axis nodes: no values"),
        ("nodes = [50]", "nodes = [0.5]", "bad budget \"nodes=0.5\", expected a number from 1 on"),
        ("nodes = [50]", "nodes = [50]\nplayer = [1]", "axis \"player\": expected a name of letters"),
        ("pairs = 4", "games = 4", "unknown field `games`, expected one of `version`, `event`, `rules`"),
        ("name = \"two\"", "title = \"two\"", "unknown field `title`, expected one of `name`, `rules`, `pairs`"),
        ("name = \"two\"", "name = \"a/b\"", "part \"a/b\": expected a name of letters, digits, - and _"),
        (
            "[\"ENHANCE\", \"BASIC\"]",
            "[\"ENHANCE\", \"X\"]",
            "part \"two\": unknown player \"X\", expected one of BASIC, ",
        ),
        (
            "{ nodes = [100, 200],",
            "{ knots = [100],",
            "part \"two\": unknown axis \"knots\", expected one of below, nodes",
        ),
        (
            "repeat = [\"position:2\"]",
            "below = [\"moves\"]",
            "axis below: no text of part \"plain\" has a place for it",
        ),
        ("\"nodes={nodes}\"", "\"movetime=1 nodes={nodes}\"", "below=moves,nodes=50,repeat=off: a budget of time"),
        (
            "name = \"plain\"\nplayers = [\"dice\", \"BASIC\"]\naxes = { repeat = [\"position:2\"], nodes = [50] }",
            "",
            "below=moves,nodes=50,repeat=off is there twice: give one of the two parts a name",
        ),
    ] {
        let text = PLAN.replacen(old, new, 1);
        assert_ne!(text, PLAN, "{old}");
        let error = text.parse::<MultiversePlan>().unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}

/// Every universe gives the results of its plan, played as any other plan is, and the records that the hashes are of.
#[test]
fn results_are_those_of_ordinary_plans() {
    let (plan, dir) = (plan(), tempfile::tempdir().unwrap());
    assert!(play(dir.path(), &plan, 2, None, None));
    assert!(!dir.path().join("universes").exists(), "nothing is left of the journals");
    let (raw, games) = tables(dir.path());
    let mut rows = csv::Reader::from_reader(raw.as_bytes());
    let rows: Vec<BTreeMap<String, String>> = rows.deserialize().map(Result::unwrap).collect();
    let mut games = csv::Reader::from_reader(games.as_bytes());
    let games: Vec<BTreeMap<String, String>> = games.deserialize().map(Result::unwrap).collect();
    let [mut rows, mut games] = [rows.iter(), games.iter()];
    for universe in plan.universes() {
        let dir = tempfile::tempdir().unwrap();
        let mut journal = MatchJournal::open_or_create(dir.path(), &universe.plan).unwrap();
        let cast = Cast::new(&universe.plan, &Resources::default()).unwrap();
        let Ended::Complete(_) = run(&mut journal, 2, &cast, &Stop::default(), |_| {}).unwrap() else { unreachable!() };
        let pairings = universe.plan.pairings().len();
        for (pairing, row) in MatchRow::all(&journal).unwrap().into_iter().enumerate() {
            let found = rows.next().unwrap();
            assert_eq!(found["universe"], universe.name);
            for axis in plan.axes() {
                assert_eq!(found[axis], universe.setting.get(axis).map_or("", String::as_str));
            }
            assert_eq!([&found["player"], &found["opponent"]], [&row.player, &row.opponent]);
            let count = |name: &str| found[name].parse::<u64>().unwrap();
            assert_eq!(
                [count("first_wins"), count("first_losses"), count("first_draws")],
                [row.first_wins, row.first_losses, row.first_draws]
            );
            assert_eq!(
                [count("second_wins"), count("second_losses"), count("second_draws")],
                [row.second_wins, row.second_losses, row.second_draws]
            );
            let pairs = ["pairs_0", "pairs_half", "pairs_1", "pairs_1_half", "pairs_2"].map(count);
            assert_eq!(pairs, row.pairs().0);
            for round in 0..universe.pairs() {
                let number = round * pairings as u64 + pairing as u64;
                for (order, record) in journal.pair(number).unwrap().games.into_iter().enumerate() {
                    let record = record.without_comments();
                    let line = games.next().unwrap();
                    assert_eq!(line["universe"], universe.name);
                    assert_eq!([&line["pair"], &line["order"]], [&(number + 1).to_string(), &(order + 1).to_string()]);
                    assert_eq!(line["blake3"], blake3::hash(record.to_string().as_bytes()).to_hex().as_str());
                    assert_eq!(line["plies"], record.plies().len().to_string());
                    assert_eq!(
                        [&line["result"], &line["termination"]],
                        [&record.result().to_string(), record.tags().get("Termination").unwrap()]
                    );
                }
            }
        }
    }
    assert!(rows.next().is_none() && games.next().is_none());
}

/// Stopped again and again, with another number of threads, in another folder: the same tables to the byte.
#[test]
fn a_run_goes_on_elsewhere() {
    let plan = plan();
    let whole = tempfile::tempdir().unwrap();
    assert!(play(whole.path(), &plan, 1, None, None));
    let mut dir = tempfile::tempdir().unwrap();
    let mut sessions = 0;
    while !play(dir.path(), &plan, 1 + sessions % 3, Some(5), None) {
        sessions += 1;
        let elsewhere = tempfile::tempdir().unwrap();
        copy(dir.path(), elsewhere.path());
        dir = elsewhere;
    }
    assert!(sessions >= 5, "{sessions}");
    assert_eq!(tables(dir.path()), tables(whole.path()));
    // A finished run has nothing to play.
    assert!(play(dir.path(), &plan, 1, Some(0), None));
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (path, to) = {
            let entry = entry.unwrap();
            (entry.path(), to.join(entry.file_name()))
        };
        if path.is_dir() {
            copy(&path, &to)
        } else {
            let _ = fs::copy(&path, &to).unwrap();
        }
    }
}

#[test]
fn some_universes_alone() {
    let (plan, dir) = (plan(), tempfile::tempdir().unwrap());
    let only = Pattern::new("below=flips*off").unwrap();
    assert!(play(dir.path(), &plan, 2, None, Some(&only)));
    let (raw, _) = tables(dir.path());
    // Pairings without ENHANCE were played in the name of the universe that has them first, and stand in both.
    assert_eq!(raw.lines().filter(|line| line.starts_with("\"below=flips,nodes=50,repeat=off\"")).count(), 6, "{raw}");
    assert_eq!(raw.lines().filter(|line| line.starts_with("\"below=moves,nodes=50,repeat=off\"")).count(), 3, "{raw}");
    assert!(play(dir.path(), &plan, 2, None, None));
    let whole = tempfile::tempdir().unwrap();
    assert!(play(whole.path(), &plan, 2, None, None));
    assert_eq!(tables(dir.path()), tables(whole.path()));

    let (resources, stop, none) = (Resources::default(), Stop::default(), Pattern::new("below=tea*").unwrap());
    let session =
        Session { resources: &resources, stop: &stop, threads: NonZeroUsize::MIN, only: Some(&none), until: None };
    let error = play_multiverse(dir.path(), &plan, &session, |_, _| {}).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("no universe matches \"below=tea*\", there are: below=moves,nodes=50,repeat=off "),
        "{error}"
    );
}

#[test]
fn tables_of_another_plan_are_left_alone() {
    let (plan, dir) = (plan(), tempfile::tempdir().unwrap());
    assert!(play(dir.path(), &plan, 2, None, None));
    let other: MultiversePlan = PLAN.replacen("name = \"two\"", "name = \"pair\"", 1).parse().unwrap();
    let (resources, stop) = (Resources::default(), Stop::default());
    let session = Session { resources: &resources, stop: &stop, threads: NonZeroUsize::MIN, only: None, until: None };
    let error = play_multiverse(dir.path(), &other, &session, |_, _| {}).unwrap_err();
    assert!(matches!(error, ExperimentError::OtherRow { .. }), "{error}");
    assert!(
        error.to_string().ends_with("two/below=moves,nodes=100,repeat=off: ENHANCE v BASIC is not in the plan"),
        "{error}"
    );
}
