//! The known statistics of playouts from the start come out.

use anqi_playout::{Moments, Path, PlayoutOptions, PlayoutStart, PlayoutSummary, Policy, Reading, playouts};
use anqi_rules::{Position, Rules};

const PLAYOUTS: u64 = 100_000;

/// The known figures are sample means too; how they scatter around ours fits samples of about this size.
const THEIR_PLAYOUTS: f64 = 10_000.0;

fn play(position: &Position, policy: Policy, draw: u32, reading: Reading) -> PlayoutSummary {
    playouts(
        &PlayoutStart::from(position),
        &PlayoutOptions { policy, draw, reading, ..PlayoutOptions::default() },
        2024,
        0..PLAYOUTS,
        Path::best(),
    )
}

fn initial() -> Position {
    Position::initial(&Rules::chen())
}

/// Three standard errors of both samples, and the rounding of the printed figure.
fn check(what: &str, ours: f64, sd: f64, known: f64, digits: i32) {
    let error = sd * (1.0 / PLAYOUTS as f64 + 1.0 / THEIR_PLAYOUTS).sqrt();
    let tolerance = 3.0 * error + 0.5 * 10f64.powi(-digits);
    assert!((ours - known).abs() < tolerance, "{what}: {ours}, known {known} ± {tolerance}");
}

fn check_mean(what: &str, ours: &Moments, known: f64, digits: i32) {
    check(what, ours.mean(), ours.sd(), known, digits);
}

#[test]
fn by_the_rules() {
    // policy, limit: draws, plies, pieces left
    let known = [
        (Policy::Random, 40, 0.864, 210.8, 6.02),
        (Policy::Random, 160, 0.266, 356.1, 2.79),
        (Policy::Random, 640, 0.161, 450.4, 2.60),
        (Policy::Capture, 40, 0.201, 111.0, 5.17),
        (Policy::Capture, 160, 0.056, 126.5, 4.79),
        (Policy::Capture, 640, 0.051, 150.2, 4.84),
    ];
    for (policy, limit, draws, plies, left) in known {
        let summary = play(&initial(), policy, limit, Reading::Rules);
        let share = summary.draws as f64 / PLAYOUTS as f64;
        check(&format!("{policy} {limit} draws"), share, (share * (1.0 - share)).sqrt(), draws, 3);
        check_mean(&format!("{policy} {limit} plies"), &summary.plies, plies, 1);
        check_mean(&format!("{policy} {limit} left"), &summary.left, left, 2);
    }
}

/// Jouandeau & Cazenave, Random at 40, from the start and from their figure 2.
#[test]
fn by_the_paper() {
    let figure_2 = "XXXX/XGCX/X.gX/XXM./XkpX/X.GX/XX.N/XXXP b KMRRNPPPPgmmrnncppp".parse().unwrap();
    for (position, left, plies, sd) in [(initial(), 12.37, 106.27, 9.19), (figure_2, 12.36, 92.13, 9.28)] {
        let summary = play(&position, Policy::Random, 40, Reading::Paper);
        check_mean("left", &summary.left, left, 2);
        check_mean("plies", &summary.plies, plies, 2);
        // The error of a standard deviation is about that of a mean divided by the root of 2.
        check("sd of plies", summary.plies.sd(), summary.plies.sd() / 2f64.sqrt(), sd, 2);
    }
}
