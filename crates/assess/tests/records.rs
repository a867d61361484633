//! Records from files to assessments, without a process.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anqi_assess::{
    Cache, Draws, Loss, Prover, Records, Report, SearchSpec, Selection, Series, Settings, TunedWeights, Tuning, Valuer,
    WorkError, prove,
};
use anqi_engine::{Evaluation, Stop};
use anqi_stats::Points;

/// Guard, minister and rook catch one pawn and let the other go: drawn by sixty quiet plies.
fn drawn_but_won(dir: &Path) -> PathBuf {
    let mut plies = vec!["a1-a2", "d1-d2"];
    (0..59).for_each(|ply| plies.push(["b1-a1", "d2-d3", "a1-b1", "d3-d2"][ply % 4]));
    let numbered: Vec<String> =
        plies.chunks(2).zip(1..).map(|(two, number)| format!("{number}. {}", two.join(" "))).collect();
    let game = format!(
        "[Rules \"server,repeat=off\"]\n[Position \"4/4/4/4/4/4/p3/GMRp r -\"]\n\n{} 1/2-1/2\n\n",
        numbered.join(" ")
    );
    let path = dir.join("games.anqi");
    fs::write(&path, game.repeat(4) + "what is this\n").unwrap();
    path
}

fn searches(names: &[&str]) -> Vec<SearchSpec> {
    names.iter().map(|name| SearchSpec { method: name.parse().unwrap(), budget: None }).collect()
}

#[test]
fn records_are_valued_and_proven() {
    let dir = tempfile::tempdir().unwrap();
    let files = [drawn_but_won(dir.path())];
    let (stop, mut watched) = (Stop::default(), Vec::new());
    let mut watch = |name: &str, done, all| watched.push((name.to_owned(), done, all));
    let mut valuer =
        Valuer::new(Cache::default(), NonZeroUsize::MIN, 1, &anqi_engine::Resources::default(), &stop, &mut watch);
    let budgets = ["depth=1".parse().unwrap(), "playouts=5".parse().unwrap()];
    let searches = SearchSpec::with_budgets(&searches(&["eval:static", "chen:basic"]), &budgets).unwrap();
    let names: Vec<String> = searches.iter().map(SearchSpec::name).collect();
    assert_eq!(names, ["eval:static", "chen:basic depth=1"]);
    let selection = Selection { seed: 1, games: Some(2), ..Selection::default() };
    let provers: [Prover; 1] = ["tables=on".parse().unwrap()];
    let records = Records { files: &files, selection: &selection, searches: &searches, provers: &provers };
    let valued = records.value(&mut valuer).unwrap();
    assert_eq!((valued.games, valued.positions, valued.series.len()), (2, 122, 2));
    let proofs = valued.proofs.unwrap();
    assert_eq!(proofs.proven, [("tables=on".to_owned(), 120)]);
    assert_eq!(proofs.corrected_games, 2);
    let samples = &valued.series[0].samples;
    assert_eq!((samples.results()[0], samples.results()[1]), (Points::Win, Points::Loss));
    // A proof does not depend on which positions are valued.
    let some = Selection { per_game: Some(3), ..selection };
    let mut collected = some.collect(&files, false, true).unwrap();
    assert_eq!((collected.places.len(), collected.all.len()), (6, 122));
    assert_eq!(prove(&provers, &mut collected.places, &collected.all, &mut valuer).unwrap().proven, proofs.proven);
    assert!(watched.contains(&("chen:basic depth=1".to_owned(), 61, 61)), "both games have the same positions");

    let settings = Settings { draws: Draws::Half, thin: 1, resamples: 5, ..Settings::default() };
    let report = Report::of(&valued.series, &settings, Vec::new(), valued.skipped).unwrap();
    assert_eq!((report.assessments.len(), report.comparisons.len()), (2, 1));
    assert_eq!(Series::together(&valued.series).unwrap().len(), 2 * 122);
}

#[test]
fn what_is_missing_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let files = [drawn_but_won(dir.path())];
    let (stop, mut watch) = (Stop::default(), |_: &str, _, _| ());
    let mut valuer =
        Valuer::new(Cache::default(), NonZeroUsize::MIN, 1, &anqi_engine::Resources::default(), &stop, &mut watch);
    let selection = Selection { only: vec!["hidden=8..".parse().unwrap()], ..Selection::default() };
    let searches = searches(&["eval:static"]);
    let records = Records { files: &files, selection: &selection, searches: &searches, provers: &[] };
    let error = records.value(&mut valuer).unwrap_err().to_string();
    assert!(error.starts_with("no positions in 5 games; left out:\n1 × damaged record, first "), "{error}");
    let error =
        SearchSpec::with_budgets(&[SearchSpec { method: "mc".parse().unwrap(), budget: None }], &[]).unwrap_err();
    assert_eq!(error.to_string(), "no budget for mc: give --budget playouts=");
    let records = Records { files: &[dir.path().join("nowhere")], ..records };
    assert!(matches!(records.value(&mut valuer), Err(WorkError::Records(_))));
    stop.raise();
    let records = Records { files: &files, selection: &Selection::default(), ..records };
    assert!(matches!(records.value(&mut valuer), Err(WorkError::Stopped)));
}

#[test]
fn weights_are_fitted_to_records() {
    let dir = tempfile::tempdir().unwrap();
    let files = [drawn_but_won(dir.path())];
    let eval = Evaluation::from_name("static").unwrap();
    let error = Tuning::free(eval, &["queen".to_owned()]).unwrap_err().to_string();
    assert!(error.starts_with("no weight \"queen\", there are: king"), "{error}");
    let tuning = Tuning {
        eval,
        start: eval.weights(),
        free: Tuning::free(eval, &["pawn".to_owned()]).unwrap(),
        losses: vec![Loss::Mlm, Loss::Ls],
        quiet: false,
        held_out: 0.5,
        refits: 2,
        settings: Settings { draws: Draws::Half, thin: 1, resamples: 5, seed: 3, ..Settings::default() },
    };
    let collected = Selection { seed: 3, ..Selection::default() }.collect(&files, false, false).unwrap();
    let (tuned, report, series) = tuning.run(collected.clone(), None, &[]).unwrap();
    assert_eq!((tuned.games + tuned.held_out_games, tuned.fits.len()), (4, 2));
    let names: Vec<&str> = series.iter().map(|series| series.name.as_str()).collect();
    assert_eq!((names, report.assessments.len()), (vec!["before", "mlm", "ls"], 3));
    let players = tuned.players("chen:basic depth=1");
    assert!(players[2].starts_with("chen:basic,weights=") && players[2].ends_with(" name=before depth=1"));
    let of = |fit: usize| Some(&tuned.fits[fit].rounded[..]);
    assert!(tuned.weights_file(eval, &tuned.fits[0]).contains("# mlm over"));
    let path = dir.path().join("tune.json");
    fs::write(&path, tuned.to_file().unwrap()).unwrap();
    let kept = TunedWeights::read(&path).unwrap();
    assert_eq!((kept.eval(), kept.of(Loss::Mlm), kept.of(Loss::Ls)), (eval, of(0), of(1)));
    let value: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    assert_eq!((value["schema"].as_str(), value["checksum"].as_str().map(str::len)), (Some("anqi-tune-2"), Some(8)));
    let all = Tuning { held_out: 1.0, ..tuning };
    assert!(all.run(collected, None, &[]).unwrap_err().to_string().contains("expected a share from 0 to less than 1"));
}
