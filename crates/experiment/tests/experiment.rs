//! Experiments: plans, runs that go on, and reports.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::fs;
use std::path::Path;

use std::num::NonZeroUsize;

use anqi_engine::{Resources, Stop};
use anqi_experiment::{
    Alone, BranchingRow, Experiment, ExperimentError, Host, Inputs, MatchRow, PlayoutPlan, PlayoutRow, Run, Sheet,
    Slice, Work,
};
use anqi_lab::{Cast, Ended, MatchJournal, Standings, run};
use anqi_records::Record;
use anqi_report::{experiment_markdown, write_experiment};
use anqi_rules::Move;
use anqi_task::Status;

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
    let mut table: toml::Table = toml::from_str(text).unwrap();
    table.remove("kind");
    PlayoutPlan::new(table.try_into().unwrap()).unwrap()
}

/// Measures what is missing in a run; `watch` hears how far it is. False if it was stopped.
fn measure(sheet: &Sheet, run: &Run, stop: &Stop, watch: impl FnMut(&Status)) -> bool {
    struct Watched<'a, F>(Alone<'a>, F);
    impl<F: FnMut(&Status)> Host for Watched<'_, F> {
        fn play(&mut self, journal: &mut MatchJournal) -> Result<Ended, Box<dyn std::error::Error + Send + Sync>> {
            self.0.play(journal)
        }
        fn show(&mut self, _: &'static str, status: &Status, _: &str) {
            (self.1)(status);
        }
    }
    let (resources, threads) = (Resources::default(), NonZeroUsize::new(2).unwrap());
    let mut host = Watched(Alone { resources: &resources, stop, threads }, watch);
    let mut work = Work {
        resources: &resources,
        stop,
        threads,
        inputs: Inputs::default(),
        slice: Slice::default(),
        host: &mut host,
    };
    sheet.measure(run, &mut work).unwrap()
}

#[test]
fn shows_what_is_wrong() {
    for (change, message) in [
        (
            ("kind = \"playouts\"", ""),
            "kind: nothing is not a kind of experiment, expected \"playouts\", \"matches\", \"multiverse\", \"series\",",
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
        let rows = plan.cells().into_iter().map(|cell| plan.row(&cell, &Resources::default()).unwrap());
        rows.map(|row| PlayoutRow { seconds: 0.0, seconds_error: None, ..row }).collect()
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
    let mut rows = vec![plan.row(&plan.cells()[1], &Resources::default()).unwrap()];
    first.write_raw(&rows).unwrap();
    assert!(!sheet.is_finished(&first));
    let report = experiment_markdown(&experiment.findings(&first, sheet).unwrap());
    assert!(report.contains("**Not finished: 1 of 4 rows.**"));

    assert_eq!(experiment.continue_or_begin(sheet, "two").unwrap(), first);
    let smaller = sheet.with_count(100).unwrap();
    assert!(matches!(experiment.begin(&smaller, "one"), Err(ExperimentError::OtherPlan(_))));
    assert_eq!(experiment.continue_or_begin(&smaller, "two").unwrap().name(), "two");

    let stop = Stop::default();
    stop.raise();
    assert!(!measure(sheet, &first, &stop, |_| ()), "it was stopped");
    assert_eq!(first.playout_rows().unwrap(), rows);
    let mut counts = Vec::new();
    let told = |status: &Status| counts.push((status.done.items, status.found.items));
    assert!(measure(sheet, &first, &Stop::default(), told));
    assert_eq!((counts, first.playout_rows().unwrap().remove(0)), (vec![(2, 1), (3, 1), (4, 1)], rows.remove(0)));
    assert!(sheet.is_finished(&first));
    assert_eq!(experiment.continue_or_begin(sheet, "three").unwrap().name(), "three");
    let report = experiment_markdown(&experiment.findings(&first, sheet).unwrap());
    assert!(report.contains("**0 of 2 agree by reading `rules`.**\n**1 of 2 agree by reading `paper`.**"), "{report}");
}

#[test]
fn games_are_counted_as_standings_do() {
    let dir = tempfile::tempdir().unwrap();
    let published = "player,opponent,order,wins,losses,draws\nVAR1,dice,both,9,1,0\ndice,BASIC,first,5,5,0\n";
    let experiment = experiment(dir.path(), MATCHES, published);
    let plan = experiment.sheet.games().unwrap();
    let begun = experiment.continue_or_begin(&experiment.sheet, "one").unwrap();
    let mut journal = MatchJournal::open_or_create(&begun.dir, plan).unwrap();
    let cast = Cast::new(journal.plan(), &Resources::default()).unwrap();
    let Ended::Complete(pairs) = run(&mut journal, 2, &cast, &Stop::default(), |_| {}).unwrap() else { unreachable!() };
    let (rows, standings) = (MatchRow::all(&journal).unwrap(), Standings::of(&journal, pairs).unwrap());
    for (index, row) in rows.iter().enumerate() {
        assert_eq!((row.games(), row.pairs()), (standings.tally(index).games, standings.tally(index).pairs));
        let turned = row.clone().inverted();
        assert_eq!((turned.first(), turned.second()), (row.second().inverted(), row.first().inverted()));
        assert_eq!(turned.pairs(), row.pairs().inverted());
        assert_eq!(turned.inverted(), *row);
    }
    assert!(!experiment.sheet.is_finished(&begun));
    drop(journal);
    assert!(measure(&experiment.sheet, &begun, &Stop::default(), |_| ()));
    assert!(experiment.sheet.is_finished(&begun));
    let journal = MatchJournal::read(&begun.dir).unwrap();
    assert_eq!(begun.match_rows().unwrap(), rows);

    let report = experiment_markdown(&experiment.findings(&begun, &experiment.sheet).unwrap());
    for line in
        ["| VAR1 | dice | both orders | +9 =0 −1 | 0.900 ± 0.186 |", "| dice | BASIC | moves first | +5 =0 −5 |"]
    {
        assert!(report.contains(line), "{report}");
    }
    assert!(report.contains("| VAR1 | BASIC | both orders | – | – |"), "what is not printed is shown, too: {report}");
    // The scores over all games are those of the standings.
    let var1 = standings.rows().nth(1).unwrap().chen.ts.unwrap();
    let line = report.lines().find(|line| line.starts_with("| VAR1 | –")).unwrap();
    assert!(line.split('|').nth(7).unwrap().starts_with(&format!(" {var1:.4} ± ")), "{line}");

    // The records are all games, in order, without comments.
    let games = zstd::decode_all(fs::File::open(begun.dir.join("games.anqi.zst")).unwrap()).unwrap();
    let games: Vec<_> =
        anqi_records::Reader::new(games.as_slice()).unwrap().map(|entry| entry.unwrap().record).collect();
    let played: Vec<_> = (0..pairs).flat_map(|number| journal.pair(number).unwrap().games).collect();
    assert_eq!(games, played.into_iter().map(Record::without_comments).collect::<Vec<_>>());
}

/// The score of a player over all opponents, and its difference to another's, count the games between them once.
#[test]
fn claims_are_judged_by_numbers() {
    let dir = tempfile::tempdir().unwrap();
    // a beats b, b and c are equal, a and c are equal; of c and d little is known.
    let rows = "player,opponent,order,wins,losses,draws\na,b,both,300,100,0\nb,c,both,100,100,200\n\
                a,c,both,100,100,200\nc,d,both,3,1,0\n";
    let claims = [
        ("more = ['a v b']\nthan = 0.5", "0.750 ± 0.042 against 0.5", "confirmed"),
        ("less = ['a v b']\nthan = 0.5", "0.750 ± 0.042 against 0.5", "refuted"),
        ("more = ['b v c']\nthan = 0.5", "0.500 ± 0.035 against 0.5", "open"),
        ("of = ['b v a']\nis = 0.25", "0.250 ± 0.042 against 0.25", "confirmed"),
        ("of = ['b v a']\nis = 0.3", "0.250 ± 0.042 against 0.3", "refuted"),
        // (0.75 + 0.5) / 2 against (0.25 + 0.5) / 2: the games between them move both, by half each.
        ("more = ['a']\nless = ['b']", "0.625 against 0.375: +0.250 ± 0.049", "confirmed"),
        ("best = 'a'\namong = ['[abc]']", "0.625; against c: +0.042 ± ", "open"),
        ("best = 'b'\namong = ['[ab]']", "0.375; against a: −0.250 ± 0.049", "refuted"),
        ("least = 'b'\namong = ['[ab]']", "0.375; against a: −0.250 ± 0.049", "confirmed"),
        ("more = ['nobody']\nthan = 0.5", "–", "not measured"),
    ];
    let outline = claims.iter().map(|(claim, ..)| format!("[[claims]]\nsays = \"x\"\nmeasure = 'score'\n{claim}\n"));
    fs::write(dir.path().join("report.toml"), outline.collect::<String>()).unwrap();
    let experiment = experiment(dir.path(), MATCHES, rows);
    let run = experiment.begin(&experiment.sheet, "empty").unwrap();
    let plan = experiment.sheet.games().unwrap();
    drop(MatchJournal::open_or_create(&run.dir, plan).unwrap());
    let report = experiment_markdown(&experiment.findings(&run, &experiment.sheet).unwrap());
    let lines: Vec<&str> = report.lines().filter(|line| line.starts_with("| x |")).collect();
    assert_eq!(lines.len(), claims.len());
    for (line, (claim, reason, judgement)) in lines.into_iter().zip(claims) {
        // What is printed is judged in the column before the last two.
        let printed = line.split('|').nth(3).unwrap().trim();
        let expected = if reason == "–" { String::new() } else { format!("({judgement})") };
        assert!(printed.starts_with(reason) && printed.ends_with(&expected), "{claim}: {line}");
    }
}

#[test]
fn branching_is_counted_position_by_position() {
    let dir = tempfile::tempdir().unwrap();
    let plan = MATCHES.replace("\"matches\"", "\"branching\"");
    let experiment = experiment(dir.path(), &plan, "hidden,revealed,kinds,moves,branching\nall,,,7.76,32.30\n");
    let begun = experiment.begin(&experiment.sheet, "one").unwrap();
    let mut journal = MatchJournal::open_or_create(&begun.dir, experiment.sheet.games().unwrap()).unwrap();
    let cast = Cast::new(journal.plan(), &Resources::default()).unwrap();
    run(&mut journal, 2, &cast, &Stop::default(), |_| {}).unwrap();
    let rows = BranchingRow::all(&journal).unwrap();
    // The slow way: every game, every position before a ply.
    let (mut positions, mut moves, mut outcomes, mut first) = (0, 0, 0, 0);
    for number in 0..journal.len() {
        for record in journal.pair(number).unwrap().games {
            let game = anqi_records::replay(&record, None).unwrap().game;
            for position in game.positions().iter().take(game.plies().len()) {
                let steps = position.moves().iter().filter(|mv| matches!(mv, Move::Step { .. })).count();
                positions += 1;
                moves += steps;
                outcomes += steps + position.hidden().iter().map(|_| position.reveals().count()).sum::<usize>();
                first += usize::from(position.hidden().len() == 8);
            }
        }
    }
    let all = rows.last().unwrap();
    assert_eq!((all.hidden.as_str(), all.positions), ("all", positions as u64));
    assert!((all.moves - moves as f64 / positions as f64).abs() < 1e-4);
    assert!((all.branching - outcomes as f64 / positions as f64).abs() < 1e-4);
    let start = rows.iter().find(|row| row.hidden == "8").unwrap();
    assert_eq!((start.positions, start.moves, start.squares_error), (first as u64, 0.0, 0.0));
    drop(journal);
    assert!(measure(&experiment.sheet, &begun, &Stop::default(), |_| ()));
    assert_eq!(begun.branching_rows().unwrap(), rows);
    assert!(experiment_markdown(&experiment.findings(&begun, &experiment.sheet).unwrap()).contains("| all |"));
}

/// Every experiment of this project: its plan, its printed numbers, and that the reports of its runs are those that
/// its numbers give, with an answer to every claim.
#[test]
fn all_experiments_are_sound() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
    let names = Experiment::names(&root).unwrap();
    let entries = fs::read_dir(&root).unwrap().map(Result::unwrap).filter(|entry| entry.path().is_dir());
    let mut folders: Vec<String> = entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
    folders.sort();
    assert_eq!(names, folders, "every folder has a plan");
    for name in names {
        let there = Experiment::open(&root.join(&name)).unwrap();
        assert!(there.question.ends_with('?'), "{name}: {:?}", there.question);
        assert_eq!(there.sheet.to_string().parse::<Sheet>().unwrap(), there.sheet);
        assert_eq!(there.claims_without_rows().unwrap(), [""; 0], "{name}");
        for run in there.runs().unwrap() {
            if !run.has_plan() {
                assert!(run.readings().unwrap().is_some(), "{name}: {} says nothing of its readings", run.name());
                continue;
            }
            let sheet = run.sheet().unwrap();
            if !sheet.is_finished(&run) {
                continue;
            }
            let findings = there.findings(&run, &sheet).unwrap();
            if std::env::var_os("UPDATE").is_some() {
                write_experiment(&run, &findings).unwrap();
            }
            let report = experiment_markdown(&findings);
            assert_eq!(fs::read_to_string(run.dir.join("report.md")).unwrap(), report, "{}", run.dir.display());
            assert!(!report.contains("not measured"), "{report}");
        }
        let Ok(published) = fs::read_to_string(there.dir.join("published.csv")) else { continue };
        let dir = tempfile::tempdir().unwrap();
        let copy = experiment(dir.path(), &there.sheet.to_string(), &published);
        let run = copy.begin(&copy.sheet, "empty").unwrap();
        if let Some(plan) = copy.sheet.games() {
            drop(MatchJournal::open_or_create(&run.dir, plan).unwrap());
        }
        let report = experiment_markdown(&copy.findings(&run, &copy.sheet).unwrap());
        // Every printed row has found its place: the names in both files are the same.
        let kind = copy.sheet.kind();
        let section = report.split("\n## ").nth(1).unwrap();
        let placed = section.lines().filter(|line| line.starts_with("| ") && has_printed(line, kind)).count();
        let shows_all = matches!(kind, "playouts" | "matches");
        assert!(!shows_all || placed == published.lines().count() - 1, "{name}: {report}");
    }
}

/// Whether the column of the printed number is a number.
fn has_printed(line: &str, kind: &str) -> bool {
    let column = if kind == "playouts" { 4 } else { 5 };
    line.split('|').nth(column).is_some_and(|cell| cell.contains(|c: char| c.is_ascii_digit()))
}

/// Plans of all other kinds, each with what is wrong in it.
#[test]
fn plans_of_every_kind_say_what_is_wrong() {
    let series =
        "kind = 'series'\nversion = 2\n[[matches]]\nname = 'one'\npairs = 1\nplayers = ['random', 'chen:var1']\n";
    let assess = "kind = 'assess'\nversion = 2\nsearches = ['mc playouts=9']\n[[sets]]\nname = 'own'\nrecords = { input = 'games' }\n";
    let tune = "kind = 'tune'\nversion = 2\neval = 'static'\ncheck = 'chen:var1 nodes=9'\npairs = 2\nrecords = { file = 'x.anqi' }\n";
    let records = "kind = 'records'\nversion = 2\nrules = ['chen']\nrecords = { file = 'x.anqi' }\n";
    let solve = "kind = 'solve'\nversion = 2\nboards = ['2x2']\n";
    let tables = "kind = 'tables'\nversion = 2\npieces = 3\n";
    let endings = "kind = 'endings'\nversion = 2\npieces = 2\ndraw = 40\n";
    let analysis = "kind = 'analysis'\nversion = 2\nplayers = ['champion nodes=9']\n[[positions]]\nname = 'a'\nposition = 'start'\n";
    for (plan, change, message) in [
        (series, ("version = 2", "version = 1"), "version: 1, expected 2"),
        (series, ("pairs = 1", "games = 1"), "unknown field `games`, expected one of `version`, `event`"),
        (series, ("name = 'one'\n", ""), "matches: one has no name"),
        (series, ("'one'", "'../one'"), "is not a name of letters, digits, - and _"),
        (series, ("chen:var1", "chen:var9"), "match \"one\": player 2: unknown player"),
        (assess, ("searches", "players"), "unknown field `players`, expected one of `version`, `searches`"),
        (assess, ("mc playouts=9", "mc"), "search \"mc\": no budget for mc"),
        (
            assess,
            ("input = ", "url = "),
            "unknown variant `url`, expected one of `file`, `input`, `games`, `self-play`",
        ),
        (
            assess,
            ("version = 2", "version = 2\nengines = ['proto=uci cmd=x nodes=1']"),
            "searches, engines: expected one",
        ),
        (tune, ("'static'", "'tea'"), "eval: \"tea\" has no weights to fit"),
        (tune, ("pairs = 2", "pairs = 2\nfree = ['horse']"), "free: no weight \"horse\", there are: king"),
        (tune, ("pairs", "games"), "unknown field `games`, expected one of `version`, `records`, `eval`"),
        (records, ("['chen']", "['go']"), "rules: "),
        (records, ("['chen']", "['chen', 'chen']"), "rules: \"chen\" is listed twice"),
        (solve, ("2x2", "8x8"), "boards: \"8x8\" is not a board that is solved, expected 2x2, 3x2 or 2x4"),
        (tables, ("pieces = 3", "pieces = 9"), "pieces: 9, expected 2 to 6"),
        (tables, ("pieces = 3", "pieces = 3\nface_down = 1"), "face_down: 1, expected 0 or 2"),
        (endings, ("pieces = 2", "pieces = 5"), "pieces: 5, expected 2 to 4"),
        (endings, ("draw", "quiet"), "unknown field `quiet`, expected one of `version`, `pieces`, `draw`"),
        (analysis, (" nodes=9", ""), "player \"champion\": expected a budget for one position, such as nodes=100000"),
        (analysis, ("'start'", "'start'\nmoves = [{ move = 'a1-a2' }]"), "position \"a\": move a1-a2 is not legal"),
        (analysis, ("'start'", "'xx r'"), "position \"a\": \"xx r\" is not a position"),
    ] {
        let sheet: Sheet = plan.parse().unwrap_or_else(|error| panic!("{plan}: {error}"));
        assert_eq!(sheet.to_string().parse::<Sheet>().unwrap(), sheet);
        let error = plan.replacen(change.0, change.1, 1).parse::<Sheet>().unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}

/// Small runs of kinds that need nothing from outside, stopped and continued.
#[test]
fn small_runs_of_other_kinds_give_what_was_committed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
    for (name, count, told) in [
        ("small-boards", 1, "**27 of 27 rows are those of `2x2.csv`**"),
        ("face-down", 2, "**26 of 26 rows are those of `up-to-4-pieces.csv`**"),
        ("chen-repetition", 20, "| `chen,repeat=position:3` | 20 |"),
        ("chen-endgames", 3, "**52 of 52 rows are those of `claims.csv`**"),
    ] {
        let there = Experiment::open(&root.join(name)).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let copy = dir.path().join(name);
        fs::create_dir(&copy).unwrap();
        for entry in fs::read_dir(&there.dir).unwrap().map(Result::unwrap).filter(|entry| entry.path().is_file()) {
            fs::copy(entry.path(), copy.join(entry.file_name())).unwrap();
        }
        // Records lie beside the folder.
        std::os::unix::fs::symlink(root.join("chen-table3"), dir.path().join("chen-table3")).unwrap();
        let copy = Experiment::open(&copy).unwrap();
        let sheet = copy.sheet.with_count(count).unwrap();
        let run = copy.begin(&sheet, "small").unwrap();
        let stop = Stop::default();
        stop.raise();
        assert!(!measure(&sheet, &run, &stop, |_| ()), "{name} was stopped");
        assert!(measure(&sheet, &run, &Stop::default(), |_| ()) && sheet.is_finished(&run));
        let report = experiment_markdown(&copy.findings(&run, &sheet).unwrap());
        assert!(report.contains(told), "{report}");
    }
}

/// The end of one match is not the end of the others.
#[test]
fn a_series_plays_one_match_after_the_other() {
    let dir = tempfile::tempdir().unwrap();
    let plan = "kind = 'series'\nversion = 2\nrules = 'chen,board=2x4'\npairs = 2\n[[matches]]\nname = 'one'\n\
                players = ['random name=a', 'chen:var1 name=b depth=1']\n[[matches]]\nname = 'two'\nseed = 7\npairs = 3\n\
                players = ['random name=a', 'chen:basic name=c depth=1']\n";
    let series = experiment(dir.path(), plan, "player,opponent,order,wins,losses,draws\na,c,both,1,5,0\n");
    let run = series.begin(&series.sheet, "small").unwrap();
    assert!(measure(&series.sheet, &run, &Stop::default(), |_| ()));
    let rows = run.match_rows().unwrap();
    let games: Vec<_> =
        rows.iter().map(|row| (row.opponent.as_str(), row.first_wins + row.first_losses + row.first_draws)).collect();
    assert_eq!(games, [("b", 2), ("c", 3)]);
    assert!(run.dir.join("two.anqi.zst").is_file());
    let report = experiment_markdown(&series.findings(&run, &series.sheet).unwrap());
    assert!(report.contains("| a | c | both orders | +1 =0 −5 |"), "{report}");
}
