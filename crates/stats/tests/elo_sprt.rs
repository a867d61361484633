//! Elo and SPRT against second, slower ways to the same numbers.
//!
//! The definitions are those of fishtest (`LLRcalc.py`) and fastchess. `sprt.csv` was computed
//! outside of this project by fishtest's algorithm; the functions below are a third way, by other
//! mathematics.

use anqi_stats::{
    Block, Elo, Games, Model, Outcomes, Pairs, Points, Sprt, Tally, Verdict, elo_from_score, score_from_elo,
};
use proptest::prelude::*;

fn close(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{found} is not {expected}");
}

fn sprt(elo0: f64, elo1: f64, model: Model) -> Sprt {
    Sprt::new(elo0, elo1, 0.05, 0.05, model).expect("a test")
}

/// The largest value of a function with one hill.
fn highest(mut low: f64, mut high: f64, function: impl Fn(f64) -> f64) -> f64 {
    for _ in 0..80 {
        let (left, right) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        if function(left) < function(right) { low = left } else { high = right }
    }
    function(f64::midpoint(low, high))
}

/// Where a falling function crosses 0.
fn crossing(mut low: f64, mut high: f64, function: impl Fn(f64) -> f64) -> f64 {
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if function(middle) > 0.0 { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

fn regularised(outcomes: &impl Outcomes) -> (Vec<f64>, Vec<f64>) {
    (outcomes.shares().collect(), outcomes.counts().iter().map(|&count| (count as f64).max(1e-3)).collect())
}

/// The largest log-likelihood of counts if the mean is given: the dual problem, minimised directly.
fn likelihood_with_mean(values: &[f64], counts: &[f64], mean: f64) -> f64 {
    let total: f64 = counts.iter().sum();
    let (low, high) = (-1.0 / (values[values.len() - 1] - mean), -1.0 / (values[0] - mean));
    let inside = (high - low) * 1e-12;
    let dual = |x: f64| -> f64 {
        let part = |(value, count): (&f64, &f64)| count * (count / total / (1.0 + x * (value - mean))).ln();
        -values.iter().zip(counts).map(part).sum::<f64>()
    };
    -highest(low + inside, high - inside, dual)
}

/// The same if mean and variance are given: two multipliers, one bisection inside the other.
fn likelihood_with_moments(values: &[f64], counts: &[f64], mean: f64, variance: f64) -> f64 {
    let total: f64 = counts.iter().sum();
    let conditions: Vec<(f64, f64)> =
        values.iter().map(|value| (value - mean, (value - mean).powi(2) - variance)).collect();
    // For a given y, the x between the poles at which the mean is right.
    let inner = |y: f64| -> Option<f64> {
        let bound = |positive: bool| {
            let poles = conditions.iter().filter(|(linear, _)| (*linear > 0.0) == positive && *linear != 0.0);
            let poles = poles.map(|(linear, square)| -(1.0 + y * square) / linear);
            if positive { poles.fold(f64::MIN, f64::max) } else { poles.fold(f64::MAX, f64::min) }
        };
        let (low, high) = (bound(true), bound(false));
        let zeros = conditions.iter().filter(|(linear, _)| *linear == 0.0);
        if low >= high || zeros.clone().any(|(_, square)| 1.0 + y * square <= 0.0) {
            return None;
        }
        Some(crossing(low, high, |x| {
            conditions.iter().zip(counts).map(|((l, s), count)| count * l / (1.0 + x * l + y * s)).sum()
        }))
    };
    // Limits of y: where no x is left between the poles.
    let limit = |sign: f64| {
        let (mut inside, mut outside) = (0.0, sign);
        while inner(outside).is_some() && outside.abs() < 1e9 {
            (inside, outside) = (outside, outside * 2.0);
        }
        for _ in 0..60 {
            let middle = f64::midpoint(inside, outside);
            if inner(middle).is_some() { inside = middle } else { outside = middle }
        }
        inside
    };
    let at = |y: f64| -> Vec<f64> {
        let x = inner(y).expect("y within its limits");
        conditions.iter().zip(counts).map(|((l, s), count)| count / total / (1.0 + x * l + y * s)).collect()
    };
    let y = crossing(limit(-1.0), limit(1.0), |y| at(y).iter().zip(&conditions).map(|(p, (_, s))| p * s).sum());
    at(y).iter().zip(counts).map(|(p, count)| count * p.ln()).sum()
}

/// Every distribution with `mean = ½ + t·σ` has some σ: try them all.
fn likelihood_with_deviations(values: &[f64], counts: &[f64], t: f64) -> f64 {
    // No distribution over [0, 1] is wider than two points at its ends.
    let widest = 0.5 / (1.0 + t * t).sqrt() * (1.0 - 1e-12);
    highest(0.02, widest, |sigma| likelihood_with_moments(values, counts, 0.5 + t * sigma, sigma * sigma))
}

fn slow_llr(outcomes: &impl Outcomes, games: f64, elo0: f64, elo1: f64, model: Model) -> f64 {
    let (values, counts) = regularised(outcomes);
    let likelihood = |elo: f64| match model {
        Model::Logistic => likelihood_with_mean(&values, &counts, 1.0 / (1.0 + 10_f64.powf(-elo / 400.0))),
        Model::Normalized => {
            likelihood_with_deviations(&values, &counts, elo * games.sqrt() * std::f64::consts::LN_10 / 800.0)
        }
    };
    likelihood(elo1) - likelihood(elo0)
}

#[test]
fn llr_equals_fishtests_algorithm() {
    use Model::{Logistic, Normalized};
    for line in include_str!("sprt.csv").lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let counts: Vec<u64> = fields[0].split(' ').map(|count| count.parse().unwrap()).collect();
        let [elo0, elo1, expected] = [2, 3, 4].map(|index: usize| fields[index].parse::<f64>().unwrap());
        let model: Model = fields[1].parse().unwrap();
        assert!([Logistic, Normalized].contains(&model));
        let llr = match counts[..] {
            [l, d, w] => sprt(elo0, elo1, model).llr(&Games([l, d, w])),
            [a, b, c, d, e] => sprt(elo0, elo1, model).llr(&Pairs([a, b, c, d, e])),
            _ => panic!("{line}"),
        };
        close(llr, expected, 1e-6 * expected.abs().max(1.0));
    }
}

#[test]
fn llr_equals_the_constrained_maxima_found_another_way() {
    let cases = [
        [165, 6076, 13441, 6436, 154],
        [221, 4581, 9263, 4355, 196],
        [10, 20, 40, 35, 12],
        [0, 3, 50, 9, 1],
        [40, 80, 30, 70, 60],
    ];
    for counts in cases {
        for (elo0, elo1) in [(0.0, 2.0), (-5.0, 5.0), (10.0, 40.0)] {
            for model in [Model::Logistic, Model::Normalized] {
                let fast = sprt(elo0, elo1, model).llr(&Pairs(counts));
                let slow = slow_llr(&Pairs(counts), 2.0, elo0, elo1, model);
                close(fast, slow, 1e-4 * fast.abs().max(1.0));
            }
        }
    }
    for counts in [[100, 300, 130], [7, 0, 12], [1, 1, 1]] {
        for model in [Model::Logistic, Model::Normalized] {
            let fast = sprt(0.0, 5.0, model).llr(&Games(counts));
            close(fast, slow_llr(&Games(counts), 1.0, 0.0, 5.0, model), 1e-4 * fast.abs().max(1.0));
        }
    }
}

#[test]
fn elo_by_hand() {
    // 3 of 4 games won, none drawn: score ¾, variance 3/16.
    let elo = Elo::of(&Games([1, 0, 3])).unwrap();
    close(elo.score.value, 0.75, 1e-15);
    close(elo.elo.value, 400.0 * 3_f64.log10(), 1e-9);
    close(elo.nelo.value, 0.25 / (3.0_f64 / 16.0).sqrt() * 800.0 / 10_f64.ln(), 1e-9);
    close(elo.score.margin(), 1.959_963_984_540_054 * (3.0_f64 / 64.0).sqrt(), 1e-12);
    // z = ¼ / √(3/64) = 2/√3 = 1.1547: Φ = 0.875893 (printed tables: Φ(1.15) = 0.8749, Φ(1.16) = 0.8770).
    close(elo.los, 0.875_893, 1e-6);

    // Pairs 1, 2, 3, 2, 1 are even; variance (2·¼ + 4·1/16) / 9 = 1/12.
    let elo = Elo::of(&Pairs([1, 2, 3, 2, 1])).unwrap();
    assert_eq!((elo.score.value, elo.elo.value, elo.nelo.value, elo.los), (0.5, 0.0, 0.0, 0.5));
    let margin = 1.959_963_984_540_054 * (1.0_f64 / 108.0).sqrt();
    close(elo.elo.margin(), 400.0 * ((0.5 + margin) / (0.5 - margin)).log10(), 1e-9);
    close(elo.nelo.margin(), margin / (1.0_f64 / 6.0).sqrt() * 347.435_585_522_601_46, 1e-9);
}

#[test]
fn without_spread_the_ends_are_infinite_and_nothing_panics() {
    let won = Elo::of(&Pairs([0, 0, 0, 0, 7])).unwrap();
    assert_eq!((won.elo.value, won.nelo.value, won.los), (f64::INFINITY, f64::INFINITY, 1.0));
    let lost = Elo::of(&Pairs([7, 0, 0, 0, 0])).unwrap();
    assert_eq!((lost.elo.value, lost.nelo.value, lost.los), (f64::NEG_INFINITY, f64::NEG_INFINITY, 0.0));
    let drawn = Elo::of(&Pairs([0, 0, 7, 0, 0])).unwrap();
    assert_eq!((drawn.elo.value, drawn.nelo.value, drawn.los), (0.0, 0.0, 0.5));
    assert_eq!(Elo::of(&Pairs::default()), None);
    assert_eq!(Block::of(&Tally::default(), None).to_string(), "Games: 0\n");
    let sprt = sprt(0.0, 2.0, Model::Normalized);
    assert_eq!(sprt.llr(&Pairs::default()), 0.0);
    assert!(sprt.llr(&Pairs([0, 0, 0, 0, 7])).is_finite());
}

#[test]
fn bounds_and_verdicts() {
    let test = sprt(0.0, 2.0, Model::Normalized);
    // ln 19, which match runners print as (-2.94, 2.94).
    close(test.bounds().0, -2.944_438_979_166_44, 1e-12);
    close(test.bounds().1, 2.944_438_979_166_44, 1e-12);
    assert_eq!(test.verdict(2.94), Verdict::Continue);
    assert_eq!(test.verdict(2.95), Verdict::H1);
    assert_eq!(test.verdict(-2.95), Verdict::H0);
}

#[test]
fn bad_tests_are_refused_with_their_text() {
    let check = |text: &str, message: &str| assert_eq!(text.parse::<Sprt>().unwrap_err().to_string(), message);
    check("elo0=0", "SPRT needs elo1=");
    check("elo0=5 elo1=0", "elo1=0 must be above elo0=5, both within ±1000");
    check("elo0=x elo1=0", "\"x\" is not a number for SPRT field elo0");
    check("elo0=nan elo1=0", "\"nan\" is not a number for SPRT field elo0");
    check("elo0=0 elo0=1", "SPRT field elo0 is given twice");
    check("elo0=0 elo1=1 gamma=1", "unknown SPRT field \"gamma=1\", expected elo0=, elo1=, alpha=, beta= or model=");
    check("elo0=0 elo1=1 alpha=0.6 beta=0.5", "alpha=0.6 and beta=0.5 must lie between 0 and 1, and so must their sum");
    check("elo0=0 elo1=1 model=bayes", "unknown SPRT model \"bayes\", expected normalized or logistic");
}

fn points() -> impl Strategy<Value = Points> {
    prop_oneof![Just(Points::Loss), Just(Points::Draw), Just(Points::Win)]
}

proptest! {
    #[test]
    fn tallies_add_and_invert(a in prop::collection::vec((points(), points()), 0..30), b in prop::collection::vec((points(), points()), 0..30)) {
        let tally = |pairs: &[(Points, Points)]| {
            let mut tally = Tally::default();
            pairs.iter().for_each(|&(one, two)| tally.add_pair([one, two]));
            tally
        };
        let both = [a.clone(), b.clone()].concat();
        prop_assert_eq!(tally(&a) + tally(&b), tally(&both));
        prop_assert_eq!(tally(&both).inverted().inverted(), tally(&both));
        let swapped: Vec<_> = both.iter().map(|(one, two)| (one.inverted(), two.inverted())).collect();
        prop_assert_eq!(tally(&swapped), tally(&both).inverted());
        prop_assert_eq!(tally(&both).games.half_points(), tally(&both).pairs.half_points());
        prop_assert_eq!(tally(&both).games.total(), 2 * tally(&both).pairs.total());
    }

    #[test]
    fn the_other_player_sees_the_mirror_image(counts in prop::array::uniform5(0_u64..5000), elo1 in 0.5_f64..60.0) {
        let pairs = Pairs(counts);
        prop_assume!(pairs.total() > 0);
        let (ours, theirs) = (Elo::of(&pairs).unwrap(), Elo::of(&pairs.inverted()).unwrap());
        prop_assert!((ours.los + theirs.los - 1.0).abs() < 1e-9);
        prop_assert!(ours.elo.value == -theirs.elo.value || (ours.elo.value + theirs.elo.value).abs() < 1e-6);
        for model in [Model::Logistic, Model::Normalized] {
            let (up, down) = (sprt(0.0, elo1, model).llr(&pairs), sprt(-elo1, 0.0, model).llr(&pairs.inverted()));
            prop_assert!((up + down).abs() <= 1e-6 * up.abs().max(1.0), "{} {}", up, down);
        }
    }

    #[test]
    fn elo_and_score_go_round(elo in -900.0_f64..900.0) {
        prop_assert!((elo_from_score(score_from_elo(elo)) - elo).abs() < 1e-6);
    }
}
