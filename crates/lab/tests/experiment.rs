//! Experiments: plans, runs that go on, and reports.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::fs;
use std::path::Path;

use anqi_engine::Stop;
use anqi_lab::experiment::{Experiment, ExperimentError, MatchRow, PlayoutPlan, PlayoutRow, Sheet};
use anqi_lab::{Ended, Journal, Plan, Standings, run};

const PLAYOUTS: &str = r#"
kind = "playouts"
policies = ["random", "capture"]
limits = [40]
playouts = 4000
best_of = 600
[[positions]]
name = "beginning"
position = "start"
"#;

const MATCHES: &str = r#"
kind = "matches"
rules = "chen,board=2x4"
pairs = 6
players = ["random name=dice", "chen:var1 name=VAR1 depth=2", "chen:basic name=BASIC depth=2"]
"#;

fn experiment(dir: &Path, plan: &str, published: &str) -> Experiment {
    fs::write(dir.join("plan.toml"), plan).unwrap();
    fs::write(dir.join("published.csv"), published).unwrap();
    fs::write(dir.join("README.md"), "# Does it work?\n\nYes.\n").unwrap();
    Experiment::open(dir).unwrap()
}

fn playout_plan(text: &str) -> PlayoutPlan {
    match text.parse().unwrap() {
        Sheet::Playouts(plan) => plan,
        Sheet::Matches(_) => unreachable!(),
    }
}

#[test]
fn shows_what_is_wrong() {
    for (change, message) in [
        (
            ("kind = \"playouts\"", ""),
            "kind: nothing is not a kind of experiment, expected \"playouts\" or \"matches\"",
        ),
        (("\"playouts\"", "\"poker\""), "kind: \"poker\" is not a kind of experiment"),
        (("best_of", "games"), "unknown field `games`, expected one of `rules`, `seed`, `policies`, `limits`"),
        (("name =", "title ="), "unknown field `title`, expected `name` or `position`"),
        (("\"capture\"", "\"greedy\""), "policies: unknown part \"greedy\""),
        (("\"capture\"", "\"random\""), "policies: \"random\" is listed twice"),
        (("\"start\"", "\"xx r\""), "position \"beginning\": \"xx r\" is not a position"),
        (("[40]", "[]"), "limits: 0, expected at least one"),
        (("4000", "1"), "playouts: 1, expected 2"),
        (("[40]", "[40]\nreadings = [\"tea\"]"), "readings: unknown reading \"tea\", expected one of rules, paper"),
    ] {
        let error = PLAYOUTS.replacen(change.0, change.1, 1).parse::<Sheet>().unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
    let error = MATCHES.replace("depth=2", "playouts=2").parse::<Sheet>().unwrap_err().to_string();
    assert!(error.contains("player 2: chen:var1 is not bounded by playouts=2"), "{error}");
}

/// The exact expectations of section 5 of the facts: 6.02 pieces and 210.8 plies by the rules, 12.37 and 106.27 as the
/// authors seem to have played.
#[test]
fn playouts_follow_from_the_plan() {
    let plan = playout_plan(PLAYOUTS);
    let measure = || -> Vec<PlayoutRow> {
        let rows = plan.cells().into_iter().map(|cell| plan.measure(&cell).unwrap());
        rows.map(|row| PlayoutRow { seconds: 0.0, ..row }).collect()
    };
    let rows = measure();
    assert_eq!(rows, measure());
    assert_eq!(rows.len(), 4);
    for (row, left, plies) in [(&rows[0], 6.02, 210.8), (&rows[1], 12.37, 106.27)] {
        assert_eq!((row.policy.as_str(), row.wins + row.draws + row.losses), ("random", 4000));
        assert!((row.left - left).abs() < 4.0 * row.left_sd / 4000_f64.sqrt(), "{row:?}");
        assert!((row.plies - plies).abs() < 4.0 * row.plies_sd / 4000_f64.sqrt(), "{row:?}");
        let best = row.best(false).unwrap();
        assert!(best.results.iter().sum::<u64>() >= 600 / 32, "{best:?}");
        assert!(row.best(true).unwrap().results[2] <= best.results[2] + 10);
    }
}

#[test]
fn a_run_goes_on_and_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let published = "position,policy,limit,left,plies\nbeginning,random,40,12.37,106.27\nbeginning,capture,40,20,500\n";
    let experiment = experiment(dir.path(), PLAYOUTS, published);
    assert_eq!(experiment.question, "Does it work?");
    let sheet = &experiment.sheet;
    let plan = playout_plan(PLAYOUTS);
    let first = experiment.continue_or_begin(sheet, "one").unwrap();
    let mut rows = vec![plan.measure(&plan.cells()[1]).unwrap()];
    first.write_playout_rows(&rows).unwrap();
    assert!(!first.is_finished(sheet));
    assert!(experiment.report_playouts(&first, &plan).unwrap().contains("**Not finished: 1 of 4 rows.**"));

    assert_eq!(experiment.continue_or_begin(sheet, "two").unwrap(), first);
    let smaller = sheet.with_count(100).unwrap();
    assert!(matches!(experiment.begin(&smaller, "one"), Err(ExperimentError::OtherPlan(_))));
    assert_eq!(experiment.continue_or_begin(&smaller, "two").unwrap().name(), "two");

    rows = plan.cells().iter().map(|cell| plan.measure(cell).unwrap()).collect();
    first.write_playout_rows(&rows).unwrap();
    assert_eq!(first.playout_rows().unwrap(), rows);
    assert!(first.is_finished(sheet));
    assert_eq!(experiment.continue_or_begin(sheet, "three").unwrap().name(), "three");
    let report = experiment.report_playouts(&first, &plan).unwrap();
    assert!(report.contains("**0 of 2 agree by reading `rules`.**\n**1 of 2 agree by reading `paper`.**"), "{report}");
    assert_eq!(fs::read_to_string(first.dir.join("report.md")).unwrap(), report);
}

#[test]
fn games_are_counted_as_standings_do() {
    let dir = tempfile::tempdir().unwrap();
    let published = "player,opponent,order,wins,losses,draws\nVAR1,dice,both,9,1,0\ndice,BASIC,first,5,5,0\n";
    let experiment = experiment(dir.path(), MATCHES, published);
    let Sheet::Matches(plan) = &experiment.sheet else { unreachable!() };
    let begun = experiment.continue_or_begin(&experiment.sheet, "one").unwrap();
    let mut journal = Journal::open_or_create(&begun.dir, plan).unwrap();
    let Ended::Complete(pairs) = run(&mut journal, 2, &Stop::default(), |_| {}).unwrap() else { unreachable!() };
    let (rows, standings) = (MatchRow::all(&journal).unwrap(), Standings::of(&journal, pairs).unwrap());
    for (index, row) in rows.iter().enumerate() {
        assert_eq!((row.games(), row.pairs()), (standings.tally(index).games, standings.tally(index).pairs));
        let turned = row.clone().inverted();
        assert_eq!((turned.first(), turned.second()), (row.second().inverted(), row.first().inverted()));
        assert_eq!(turned.pairs(), row.pairs().inverted());
        assert_eq!(turned.inverted(), *row);
    }
    assert!(!begun.is_finished(&experiment.sheet));
    begun.write_match_rows(&rows).unwrap();
    assert!(begun.is_finished(&experiment.sheet));
    assert_eq!(begun.match_rows().unwrap(), rows);

    let report = experiment.report_matches(&begun, plan, &rows).unwrap();
    for line in
        ["| VAR1 | dice | both orders | +9 =0 −1 | 0.900 ± 0.186 |", "| dice | BASIC | moves first | +5 =0 −5 |"]
    {
        assert!(report.contains(line), "{report}");
    }
    assert!(report.contains("| VAR1 | BASIC | both orders | – | – |"), "what is not printed is shown, too: {report}");
    // The scores over all games are those of the standings.
    let var1 = standings.rows().nth(1).unwrap().chen.ts.unwrap();
    let line = report.lines().find(|line| line.starts_with("| VAR1 | –")).unwrap();
    assert!(line.ends_with(&format!("| {var1:.4} |")), "{line}");
}

/// Every experiment of this project: its plan, its printed numbers, and that a run of it can be reported.
#[test]
fn all_experiments_are_sound() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
    let names = Experiment::names(&root).unwrap();
    assert!(names.len() >= 5, "{names:?}");
    for name in names {
        let there = Experiment::open(&root.join(&name)).unwrap();
        assert!(there.question.ends_with('?'), "{name}: {:?}", there.question);
        let dir = tempfile::tempdir().unwrap();
        let published = fs::read_to_string(there.dir.join("published.csv")).unwrap();
        let copy = experiment(dir.path(), &there.sheet.to_string(), &published);
        assert_eq!(copy.sheet, there.sheet);
        let run = copy.begin(&copy.sheet, "empty").unwrap();
        let (report, expected) = match &copy.sheet {
            Sheet::Playouts(plan) => (copy.report_playouts(&run, plan).unwrap(), published.lines().count() - 1),
            Sheet::Matches(plan) => (reported(&copy, &run, plan), published.lines().count() - 1),
        };
        // Every printed row has found its place: the names in both files are the same.
        let section = report.split("\n## ").nth(usize::from(copy.sheet.kind() == "playouts")).unwrap();
        let placed = section.lines().filter(|line| line.starts_with("| ") && has_printed(line, copy.sheet.kind()));
        assert_eq!(placed.count(), expected, "{name}: {report}");
    }
}

fn reported(experiment: &Experiment, run: &anqi_lab::experiment::Run, plan: &Plan) -> String {
    let journal = Journal::open_or_create(&run.dir, plan).unwrap();
    experiment.report_matches(run, plan, &MatchRow::all(&journal).unwrap()).unwrap()
}

/// Whether the column of the printed number is a number.
fn has_printed(line: &str, kind: &str) -> bool {
    let column = if kind == "playouts" { 4 } else { 5 };
    line.split('|').nth(column).is_some_and(|cell| cell.contains(|c: char| c.is_ascii_digit()))
}
