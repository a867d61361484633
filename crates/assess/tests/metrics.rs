//! Metrics against examples worked by hand and against slow, obvious code.
#![allow(clippy::unwrap_used)]

use anqi_assess::{Assessment, Draws, METRICS, Sample, Samples, Scale, Settings};
use anqi_stats::Points;
use proptest::prelude::*;

use Points::{Draw, Loss, Win};

fn samples(list: &[(f64, Points)]) -> Samples {
    let mut samples = Samples::default();
    for (number, &(value, result)) in list.iter().enumerate() {
        let (game, ply) = (number.to_string(), number as u32);
        samples.push(Sample { game, ply, value, result, tags: Vec::new() }).unwrap();
    }
    samples
}

fn settings(draws: Draws) -> Settings {
    Settings { draws, thin: 1, resamples: 2, ..Settings::default() }
}

fn metric(list: &[(f64, Points)], draws: Draws, name: &str) -> f64 {
    Assessment::new("x", &samples(list), &settings(draws)).unwrap().metric(name).unwrap().value
}

/// Eight positions, four won. From the best down: W W L W | L L W L, the bar at 0.5.
const EIGHT: [(f64, Points); 8] =
    [(0.9, Win), (0.8, Win), (0.7, Loss), (0.6, Win), (0.4, Loss), (0.3, Loss), (0.2, Win), (0.1, Loss)];

/// The same with ties: {0.9: W L} {0.6: W W L} {0.2: L W L}.
const TIED: [(f64, Points); 8] =
    [(0.9, Win), (0.9, Loss), (0.6, Win), (0.6, Win), (0.6, Loss), (0.2, Loss), (0.2, Win), (0.2, Loss)];

#[test]
fn worked_by_hand() {
    let check = |list: &[(f64, Points)], name: &str, expected: f64| {
        let found = metric(list, Draws::Drop, name);
        assert!((found - expected).abs() < 1e-12, "{name}: {found}, expected {expected}");
    };
    // Four are predicted won, three are: TP 3, FP 1, FN 1, TN 3.
    check(&EIGHT, "ACC", 6.0 / 8.0);
    check(&EIGHT, "FSC", 2.0 / (4.0 / 3.0 + 4.0 / 3.0));
    // The best quarter is W W; half of all are won; TP/total is 3/8.
    check(&EIGHT, "LFT", 1.0);
    check(&EIGHT, "LFT (tables)", 1.0 / (3.0 / 8.0));
    check(&EIGHT, "lift", 2.0);
    // Losses below each win: 4, 4, 3, 1 of 16 pairs.
    check(&EIGHT, "ROC", 12.0 / 16.0);
    // Precision where recall reaches 0 and .1, .2 (1/1), .3 to .5 (2/2), .6 and .7 (3/4), .8 to 1 (4/7).
    check(&EIGHT, "APR", (3.0 + 3.0 + 2.0 * 0.75 + 3.0 * 4.0 / 7.0) / 11.0);
    check(&EIGHT, "AP", (1.0 + 1.0 + 3.0 / 4.0 + 4.0 / 7.0) / 4.0);
    // As many predicted as won: four, of which three are.
    check(&EIGHT, "BEP", 3.0 / 4.0);
    // 4 discordant pairs of 28, of 16 with different results; no ties, so tau-b divides by √(28·16).
    check(&EIGHT, "tau", (24.0 - 4.0) / 28.0);
    check(&EIGHT, "tau (tables)", (12.0 - 4.0) / 16.0);
    check(&EIGHT, "tau-b", (12.0 - 4.0) / (28.0_f64 * 16.0).sqrt());
    check(&EIGHT, "E(v)", (2.5 - 1.5) / 4.0);
    check(&EIGHT, "E(v)/sd", 0.25 / 0.075_f64.sqrt());

    check(&TIED, "ACC", 5.0 / 8.0);
    // The best quarter is the tie W L. Four predicted: the tie W L, and two of W W L, of which 4/3 are won on average.
    check(&TIED, "LFT", 0.5);
    check(&TIED, "BEP", (1.0 + 4.0 / 3.0) / 4.0);
    // Pairs of a win and a loss: 7 concordant, 4 discordant, 5 of equal value; 7 of all 28 pairs have equal values.
    check(&TIED, "ROC", (7.0 + 2.5) / 16.0);
    check(&TIED, "tau (tables)", (7.0 + 5.0 - 4.0) / 16.0);
    check(&TIED, "tau", (24.0 - 4.0) / 28.0);
    check(&TIED, "tau-b", (7.0 - 4.0) / (21.0_f64 * 16.0).sqrt());
    // Recall 0 to .2 at precision 1/2, .3 to .7 at 3/5, .8 to 1 at 4/8.
    check(&TIED, "APR", (3.0 * 0.5 + 5.0 * 0.6 + 3.0 * 0.5) / 11.0);
}

/// Who says the same of everything: the printed tau praises it, the others do not.
#[test]
fn a_constant_evaluator() {
    let constant = [(0.5, Win), (0.5, Loss), (0.5, Loss)];
    for (name, expected) in [("tau", 1.0), ("tau (tables)", 1.0), ("ROC", 0.5), ("E(v)", 0.0), ("LFT", 1.0 / 3.0)] {
        assert!((metric(&constant, Draws::Drop, name) - expected).abs() < 1e-12, "{name}");
    }
    assert!(metric(&constant, Draws::Drop, "tau-b").is_nan());
}

#[test]
fn draws_are_dropped_halved_or_ordered() {
    let list = [(0.9, Win), (0.7, Draw), (0.5, Win), (0.4, Draw), (0.1, Loss)];
    let close = |draws, name: &str, expected: f64| {
        let found = metric(&list, draws, name);
        assert!((found - expected).abs() < 1e-12, "{draws} {name}: {found}, expected {expected}");
    };
    close(Draws::Drop, "ACC", 1.0);
    close(Draws::Drop, "tau (tables)", 1.0);
    // Draws are half right whatever is said.
    close(Draws::Half, "ACC", (2.0 + 0.5 + 0.5 + 1.0) / 5.0);
    // Of eight pairs with different results only draw above win is wrong.
    close(Draws::Half, "tau (tables)", (7.0 - 1.0) / 8.0);
    close(Draws::Half, "tau-b", (7.0 - 1.0) / (10.0_f64 * 8.0).sqrt());
    let brier = [(0.9, 1.0), (0.7, 0.5), (0.5, 1.0), (0.4, 0.5), (0.1, 0.0)].map(|(p, y): (f64, f64)| (p - y).powi(2));
    close(Draws::Half, "Brier", brier.iter().sum::<f64>() / 5.0);
    close(Draws::Three, "Brier", brier.iter().sum::<f64>() / 5.0);
}

#[test]
fn without_losses_there_is_no_roc() {
    let assessment = Assessment::new("x", &samples(&[(0.3, Win), (0.8, Win)]), &settings(Draws::Drop)).unwrap();
    assert!(assessment.metric("ROC").unwrap().value.is_nan());
    assert_eq!(assessment.metric("ACC").unwrap().value, 0.5);
    assert!(Assessment::new("x", &samples(&[(0.3, Draw)]), &settings(Draws::Drop)).is_err());
}

/// Proofs keep their place in every order and are worth the largest other value.
#[test]
fn proofs_are_clamped() {
    let list = [(f64::INFINITY, Win), (250.0, Win), (-100.0, Loss), (f64::NEG_INFINITY, Loss)];
    let assessment = Assessment::new("x", &samples(&list), &settings(Draws::Drop)).unwrap();
    assert_eq!((assessment.clamped, assessment.limit, assessment.scale), (2, 250.0, Scale::Score));
    assert_eq!(assessment.metric("E(v)").unwrap().value, 250.0 + 175.0);
    assert_eq!(assessment.metric("ROC").unwrap().value, 1.0);
}

/// The same numbers, by looking at all pairs and all thresholds.
fn slowly(list: &[(f64, Points)], name: &str) -> f64 {
    let points: Vec<f64> = list.iter().map(|(_, result)| result.half_points() as f64 / 2.0).collect();
    let value = |i: usize| list[i].0;
    let count = list.len() as f64;
    let all_wins: f64 = points.iter().sum();
    let pairs = || (0..list.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
    let mut sorted: Vec<f64> = list.iter().map(|(value, _)| *value).collect();
    sorted.sort_by(|a, b| b.total_cmp(a));
    sorted.dedup();
    let above = |bar: f64| {
        let chosen = (0..list.len()).filter(|&i| value(i) >= bar);
        chosen.fold((0.0, 0.0), |(n, wins), i| (n + 1.0, wins + points[i]))
    };
    // Wins among the first `place`, in the middle of a tie as if it were shuffled.
    let wins_until = |place: f64| {
        let mut before = (0.0, 0.0);
        for &bar in &sorted {
            let now = above(bar);
            if now.0 >= place {
                return before.1 + (now.1 - before.1) * (place - before.0) / (now.0 - before.0);
            }
            before = now;
        }
        unreachable!()
    };
    let discordant = pairs()
        .filter(|&(i, j)| (value(i) - value(j)) * (points[i] - points[j]) < 0.0 && value(i) != value(j))
        .count() as f64;
    let different = pairs().filter(|&(i, j)| points[i] != points[j]).count() as f64;
    let (predicted, hits) = above(0.5);
    match name {
        "ACC" => (hits + (count - all_wins) - (predicted - hits)) / count,
        "FSC" => 2.0 / (predicted / hits + all_wins / hits),
        "LFT" => wins_until(count / 4.0) / (count / 4.0),
        "LFT (tables)" => wins_until(count / 4.0) / (count / 4.0) / (hits / count),
        "lift" => wins_until(count / 4.0) / (count / 4.0) / (all_wins / count),
        "ROC" => {
            let chance =
                |i: usize, j: usize| if value(i) == value(j) { 0.5 } else { f64::from(u8::from(value(i) > value(j))) };
            let sum: f64 = (0..list.len())
                .flat_map(|i| (0..list.len()).map(move |j| (i, j)))
                .map(|(i, j)| points[i] * (1.0 - points[j]) * chance(i, j))
                .sum();
            sum / (all_wins * (count - all_wins))
        }
        "APR" if all_wins == 0.0 => f64::NAN,
        "APR" => {
            let precision = |recall: f64| {
                let bar = sorted.iter().find(|&&bar| above(bar).1 * 10.0 >= recall * all_wins).unwrap();
                above(*bar).1 / above(*bar).0
            };
            (0..=10).map(|tenth| precision(f64::from(tenth))).sum::<f64>() / 11.0
        }
        "AP" => {
            let mut before = 0.0;
            let mut sum = 0.0;
            for &bar in &sorted {
                let (n, wins) = above(bar);
                sum += (wins - before) / all_wins * wins / n;
                before = wins;
            }
            sum
        }
        "BEP" => wins_until(all_wins) / all_wins,
        "tau" => 1.0 - 2.0 * discordant / (count * (count - 1.0) / 2.0),
        "tau (tables)" => 1.0 - 2.0 * discordant / different,
        _ => f64::NAN,
    }
}

/// Not a number where the other is none, infinite where it is.
fn same(a: f64, b: f64) -> bool {
    a == b || a.is_nan() && b.is_nan() || (a - b).abs() < 1e-9
}

fn outcome() -> impl Strategy<Value = Points> {
    prop_oneof![Just(Win), Just(Draw), Just(Loss)]
}

proptest! {
    #[test]
    fn the_fast_pass_is_the_slow_one(
        list in prop::collection::vec(((0_u8..=20).prop_map(|step| f64::from(step) / 20.0), outcome()), 2..40)
    ) {
        for metric in &METRICS {
            let slow = slowly(&list, metric.name);
            let fast = self::metric(&list, Draws::Half, metric.name);
            prop_assert!(slow.is_nan() || same(slow, fast), "{}: {} not {}", metric.name, fast, slow);
        }
    }

    /// A resample that draws a game twice is the data with that game twice.
    #[test]
    fn a_weight_is_a_repetition(
        list in prop::collection::vec(((0_u8..=9).prop_map(|step| f64::from(step) / 9.0), outcome()), 6..30),
        seed: u64,
    ) {
        // Three games; their positions come in turn.
        let game = |number: usize| number % 3;
        let build = |copies: &[u16]| {
            let mut samples = Samples::default();
            for (number, &(value, result)) in list.iter().enumerate() {
                for copy in 0..copies[game(number)] {
                    let name = format!("{} {copy}", game(number));
                    samples.push(Sample { game: name, ply: 0, value, result, tags: Vec::new() }).unwrap();
                }
            }
            samples
        };
        let settings = Settings { resamples: 1, seed, scale: Some(Scale::Probability), ..settings(Draws::Three) };
        let whole = Assessment::new("x", &build(&[1; 3]), &settings).unwrap();
        let mut drawn = [0; 3];
        anqi_stats::resample(seed, 0, &mut drawn);
        let repeated = Assessment::new("x", &build(&drawn), &settings).unwrap();
        for (one, two) in whole.metrics.iter().zip(&repeated.metrics) {
            prop_assert!(same(one.value.low, two.value.value), "{}", one.metric.name);
        }
    }

    #[test]
    fn curves_are_counts(
        list in prop::collection::vec((-60_i32..60, outcome(), 0_u8..3), 1..60), delta in prop_oneof![Just(7.0), Just(10.0)]
    ) {
        let mut samples = Samples::default();
        for (number, (value, result, tag)) in list.iter().enumerate() {
            let tags = vec![("tag".to_owned(), tag.to_string().into())];
            let (game, ply) = ((number / 3).to_string(), number as u32);
            samples.push(Sample { game, ply, value: f64::from(*value), result: *result, tags }).unwrap();
        }
        let settings = Settings {
            delta: Some(delta), by: vec!["tag".parse().unwrap()], scale: Some(Scale::Score), thin: 2, ..settings(Draws::Three)
        };
        let assessment = Assessment::new("x", &samples, &settings).unwrap();
        for curve in &assessment.curves {
            let under = |tag: u8| curve.group.as_ref().is_none_or(|group| *group == tag.to_string());
            let mut drawn = 0;
            for step in -20..=20 {
                let centre = f64::from(step) * delta;
                let inside = |value: i32| centre - delta / 2.0 <= f64::from(value) && f64::from(value) < centre + delta / 2.0;
                let count = |wanted: Points| {
                    list.iter().filter(|(value, result, tag)| inside(*value) && *result == wanted && under(*tag)).count() as u64
                };
                let counts = [count(Win), count(Draw), count(Loss)];
                let point = curve.points.iter().find(|point| point.value == centre);
                if counts.iter().sum::<u64>() < 2 {
                    prop_assert!(point.is_none());
                    continue;
                }
                let point = point.unwrap();
                prop_assert_eq!([point.wins, point.draws, point.losses], counts);
                let score = (counts[0] as f64 + counts[1] as f64 / 2.0) / counts.iter().sum::<u64>() as f64;
                prop_assert!((point.score.value - score).abs() < 1e-6);
                drawn += 1;
            }
            prop_assert_eq!(drawn, curve.points.len());
        }
    }
}
