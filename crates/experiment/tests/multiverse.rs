//! Multiverses: plans, runs that go on elsewhere, results that are those of ordinary plans.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::collections::BTreeMap;
use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;

use anqi_engine::{Resources, Stop};
use anqi_experiment::{
    Alone, Content, Experiment, ExperimentError, Host, Inputs, MatchRow, MultiversePlan, Pattern, Run, Slice, Work,
};
use anqi_lab::{Cast, Ended, MatchJournal, run};
use anqi_report::write_experiment;
use anqi_stats::{Games, Predictive, saturated};
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

/// An experiment with this plan in a folder, and a run of it.
fn begin(dir: &Path, plan: &str) -> (Experiment, Run) {
    fs::create_dir_all(dir).unwrap();
    fs::write(dir.join("plan.toml"), format!("kind = \"multiverse\"\n{plan}")).unwrap();
    fs::write(dir.join("README.md"), "# Which reading?\n").unwrap();
    let experiment = Experiment::open(dir).unwrap();
    let run = experiment.begin(&experiment.sheet, "one").unwrap();
    (experiment, run)
}

/// Stops the work after so many pairs.
struct Impatient<'a>(Alone<'a>, Option<u64>);

impl Host for Impatient<'_> {
    fn play(&mut self, journal: &mut MatchJournal) -> Result<Ended, Box<dyn std::error::Error + Send + Sync>> {
        self.0.play(journal)
    }

    fn show(&mut self, _: &'static str, status: &Status, _: &str) {
        if self.1.is_some_and(|pairs| status.made().items >= pairs) {
            self.0.stop.raise();
        }
    }
}

/// Plays what is missing in the folder of an experiment, at most so many pairs if that is said; whether it is finished.
fn play(dir: &Path, threads: usize, pairs: Option<u64>, only: Option<&str>) -> Result<bool, ExperimentError> {
    let (experiment, run) = begin(dir, PLAN);
    let (resources, stop) = (Resources::default(), Stop::default());
    let threads = NonZeroUsize::new(threads).unwrap();
    let mut host = Impatient(Alone { resources: &resources, stop: &stop, threads }, pairs);
    let slice = Slice { only: only.map(|only| Pattern::new(only).unwrap()), until: None };
    let inputs = Inputs::default();
    let mut work = Work { resources: &resources, stop: &stop, threads, inputs, slice, host: &mut host };
    let done = experiment.sheet.measure(&run, &mut work)?;
    assert_eq!(experiment.sheet.is_finished(&run), done && only.is_none());
    Ok(done)
}

fn tables(dir: &Path) -> (String, String) {
    let dir = dir.join("runs/one");
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
    assert!(play(dir.path(), 2, None, None).unwrap());
    let left: Vec<_> =
        fs::read_dir(dir.path().join("runs/one/work")).unwrap().map(|left| left.unwrap().file_name()).collect();
    assert_eq!(left, ["lock"], "nothing is left of the journals");
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
    let whole = tempfile::tempdir().unwrap();
    assert!(play(whole.path(), 1, None, None).unwrap());
    let mut dir = tempfile::tempdir().unwrap();
    let mut sessions = 0;
    while !play(dir.path(), 1 + sessions % 3, Some(5), None).unwrap() {
        sessions += 1;
        let elsewhere = tempfile::tempdir().unwrap();
        copy(dir.path(), elsewhere.path());
        dir = elsewhere;
    }
    assert!(sessions >= 5, "{sessions}");
    assert_eq!(tables(dir.path()), tables(whole.path()));
    // A finished run has nothing to play.
    assert!(play(dir.path(), 1, Some(0), None).unwrap());
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (path, to) = {
            let entry = entry.unwrap();
            (entry.path(), to.join(entry.file_name()))
        };
        if path.is_dir() {
            copy(&path, &to);
        } else {
            let _ = fs::copy(&path, &to).unwrap();
        }
    }
}

#[test]
fn some_universes_alone() {
    let dir = tempfile::tempdir().unwrap();
    assert!(play(dir.path(), 2, None, Some("below=flips*off")).unwrap());
    let (raw, _) = tables(dir.path());
    // Pairings without ENHANCE were played in the name of the universe that has them first, and stand in both.
    assert_eq!(raw.lines().filter(|line| line.starts_with("\"below=flips,nodes=50,repeat=off\"")).count(), 6, "{raw}");
    assert_eq!(raw.lines().filter(|line| line.starts_with("\"below=moves,nodes=50,repeat=off\"")).count(), 3, "{raw}");
    assert!(play(dir.path(), 2, None, None).unwrap());
    let whole = tempfile::tempdir().unwrap();
    assert!(play(whole.path(), 2, None, None).unwrap());
    assert_eq!(tables(dir.path()), tables(whole.path()));

    let error = play(tempfile::tempdir().unwrap().path(), 1, None, Some("below=tea*")).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("no universe matches \"below=tea*\", there are: below=moves,nodes=50,repeat=off "),
        "{error}"
    );
}

#[test]
fn tables_of_another_plan_are_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    assert!(play(dir.path(), 2, None, None).unwrap());
    let raw = dir.path().join("runs/one/raw.csv");
    fs::write(&raw, fs::read_to_string(&raw).unwrap().replace("two/", "pair/")).unwrap();
    let error = play(dir.path(), 2, None, None).unwrap_err();
    assert!(matches!(error, ExperimentError::OtherRow { .. }), "{error}");
    assert!(
        error.to_string().contains("pair/below=moves,nodes=100,repeat=off: ENHANCE v BASIC is not in the plan"),
        "{error}"
    );
}

const OUTLINE: &str = r#"
[[tables]]
title = "Table 3"
of = "printed"
[[tables.groups]]
title = "two"
cells = ["ENHANCE v BASIC"]
[[curves]]
title = "ENHANCE against BASIC"
claim = "ENHANCE is stronger"
"#;

const PRINTED: &str = "player,opponent,order,wins,losses,draws\n\
    ENHANCE,BASIC,both,3,2,3\n\
    BASIC,VAR1,first,500,0,0\n";

const CLAIMS: &str = r#"
[[claims]]
says = "ENHANCE is stronger"
at = "1"
measure = "score"
more = ["ENHANCE v BASIC"]
than = 0.5
[[claims]]
says = "No game is drawn"
at = "2"
measure = "draws"
less = ["{BASIC,ENHANCE,VAR1}"]
than = 0.01
[[claims]]
says = "Half a point is usual"
measure = "score"
of = ["ENHANCE v BASIC"]
is = 0.5
not_comparable = "other games"
"#;

/// The fit of a report is that of the counts in `raw.csv`, and parts are looked at as far as they go.
#[test]
fn readings_are_held_against_printed_tables() {
    let root = tempfile::tempdir().unwrap();
    let printed = root.path().join("printed");
    fs::create_dir_all(&printed).unwrap();
    fs::write(printed.join("plan.toml"), "kind = 'matches'\nplayers = ['random', 'chen:basic']").unwrap();
    fs::write(printed.join("published.csv"), PRINTED).unwrap();
    fs::write(printed.join("report.toml"), CLAIMS).unwrap();
    let dir = root.path().join("study");
    assert!(play(&dir, 2, None, None).unwrap());
    fs::write(dir.join("report.toml"), OUTLINE).unwrap();
    let (experiment, run) = begin(&dir, PLAN);
    let findings = experiment.findings(&run, &experiment.sheet).unwrap();
    let Content::Fit(fit) = &findings.figures[0].content else { unreachable!() };
    let titles: Vec<(&str, usize)> = fit.columns.iter().map(|column| (column.title.as_str(), column.cells)).collect();
    assert_eq!(titles, [("Table 3", 2), ("two", 1)]);

    let (raw, _) = tables(&dir);
    let mut rows = csv::Reader::from_reader(raw.as_bytes());
    let rows: Vec<BTreeMap<String, String>> = rows.deserialize().map(Result::unwrap).collect();
    let counts = |universe: &str, player: &str, opponent: &str, order: &[&str]| {
        let row = rows
            .iter()
            .find(|row| row["universe"] == universe && row["player"] == player && row["opponent"] == opponent);
        let count =
            |what: &str| order.iter().map(|o| row.unwrap()[&format!("{o}_{what}")].parse::<u64>().unwrap()).sum();
        Games([count("losses"), count("draws"), count("wins")])
    };
    let whole: Vec<_> = fit.readings.iter().filter(|reading| reading.share.is_some()).collect();
    assert_eq!((fit.readings.len(), whole.len()), (4 + 4 + 1, 4));
    for reading in &whole {
        // The printed pairing is that of the plan, turned round.
        let two = counts(&reading.name, "BASIC", "ENHANCE", &["first", "second"]).inverted();
        let first = counts(&reading.name, "BASIC", "VAR1", &["first"]);
        let logs = [(two, Games([2, 3, 3])), (first, Games([0, 0, 500]))]
            .map(|(measured, games)| (Predictive::of(&measured).log_likelihood(&games), saturated(&games)));
        let relative = (logs[0].0 + logs[1].0 - logs[0].1 - logs[1].1) / 2.0;
        let fitted = reading.columns[0].as_ref().unwrap();
        assert!((fitted.relative() - relative).abs() < 1e-9, "{reading:?}");
        assert_eq!((fitted.cells, fitted.compatible), (2, 1), "500 wins are like no game measured");
        let group = reading.columns[1].as_ref().unwrap();
        assert!((group.relative() - (logs[0].0 - logs[0].1)).abs() < 1e-9 && group.compatible == 1);
    }
    assert!(whole.windows(2).all(|pair| pair[0].log_likelihood >= pair[1].log_likelihood));
    assert!((whole.iter().filter_map(|reading| reading.share).sum::<f64>() - 1.0).abs() < 1e-9);
    for axis in ["below", "repeat"] {
        let marginals: Vec<_> = fit.marginals().into_iter().filter(|marginal| marginal.axis == axis).collect();
        assert_eq!(marginals.iter().map(|marginal| marginal.prior).collect::<Vec<_>>(), [0.5, 0.5]);
        assert!((marginals.iter().map(|marginal| marginal.posterior).sum::<f64>() - 1.0).abs() < 1e-9);
    }
    // The part of two players answers for its own pairing alone, the part without it for nothing.
    let part = fit.readings.iter().find(|reading| reading.name == "below=flips,nodes=200,repeat=off").unwrap();
    assert!(part.columns[0].is_none() && part.columns[1].is_some());
    assert_eq!(fit.readings.last().unwrap().columns, [None, None]);

    let Content::Curve(curve) = &findings.figures[1].content else { unreachable!() };
    assert_eq!((curve.points.len(), curve.neutral), (8, 0.5));
    assert!((curve.printed.unwrap().value - 4.5 / 8.0).abs() < 1e-12);
    let report = write_experiment(&run, &findings).unwrap();
    assert!(report.contains("of 8 readings, contrary in "), "{report}");
    assert!(
        report.contains("| No game is drawn | Table 3, 2 |") && report.contains("of 4 readings, contrary in "),
        "{report}"
    );
    assert!(report.contains("**not comparable**: other games |"), "{report}");
    let figures = ["figure-1.svg", "figure-2.svg"].map(|name| fs::read_to_string(run.dir.join(name)).unwrap());
    assert!(figures[0].contains(">1 of 2</text>") && figures[0].contains(">position:3</text>"), "{}", figures[0]);
    assert_eq!(figures[1].matches("r=\"4.5\"").count(), 8 + 4, "points and legend: {}", figures[1]);

    fs::write(dir.join("report.toml"), OUTLINE.replace("is stronger", "is weaker")).unwrap();
    let error = experiment.findings(&run, &experiment.sheet).unwrap_err().to_string();
    assert!(error.ends_with("unknown claim \"ENHANCE is weaker\", expected one of: ENHANCE is stronger; No game is drawn; Half a point is usual"), "{error}");
}
