//! Ratings against closed forms and a second method; exact tests and intervals against sums; Chen's
//! table.

use anqi_stats::{
    CrossTable, Estimate, Games, Meeting, RatingError, RatingModel, Ratings, clopper_pearson, mean_by_group, sign_test,
    wilson,
};
use proptest::prelude::*;

const LIKELIHOOD: RatingModel = RatingModel { first_advantage: true, prior: 0.0 };
const NO_ADVANTAGE: RatingModel = RatingModel { first_advantage: false, prior: 0.0 };

fn close(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{found} is not {expected}");
}

/// Games that `a` began and games that `b` began, in half points of `a`.
fn meeting(a: usize, b: usize, singles: [[u64; 3]; 2]) -> Meeting {
    Meeting { singles, ..Meeting::new(a, b) }
}

/// Two players have a closed form: the odds are wins over losses, ν is draws over their geometric mean.
#[test]
fn two_players_in_closed_form() {
    let ratings = Ratings::fit(2, &[meeting(0, 1, [[10, 33, 40], [0, 0, 0]])], NO_ADVANTAGE).unwrap();
    let nu = 33.0 / 400.0_f64.sqrt();
    let scale = 2.0 / (2.0 + nu) * 400.0 / 10_f64.ln();
    close(ratings.draw, nu, 1e-9);
    close(ratings.players[0] - ratings.players[1], scale * 4_f64.ln(), 1e-6);
    close(ratings.players[0] + ratings.players[1], 0.0, 1e-9);
    let [loss, draw, win] = ratings.chances(0, 1);
    close(loss, 10.0 / 83.0, 1e-9);
    close(draw, 33.0 / 83.0, 1e-9);
    close(win, 40.0 / 83.0, 1e-9);

    // With both orders: the odds of each order apart tell strength and advantage. Without draws:
    let ratings = Ratings::fit(2, &[meeting(0, 1, [[10, 0, 40], [30, 0, 20]])], LIKELIHOOD).unwrap();
    let (when_first, when_second) = (4_f64.ln(), (20.0_f64 / 30.0).ln());
    let elo = 400.0 / 10_f64.ln();
    close(ratings.players[0] - ratings.players[1], elo * f64::midpoint(when_first, when_second), 1e-6);
    close(ratings.first_advantage.unwrap(), elo * (when_first - when_second) / 2.0, 1e-6);
    assert_eq!(ratings.draw, 0.0);
}

/// The likelihood written down as it stands in the paper, climbed one coordinate at a time.
fn by_coordinates(players: usize, meetings: &[Meeting]) -> Vec<f64> {
    let log_likelihood = |point: &[f64]| -> f64 {
        let (advantage, nu) = (point[players], point[players + 1].exp());
        let of = |first: usize, second: usize, results: [u64; 3]| -> f64 {
            let (one, two) = ((point[first] + advantage).exp(), point[second].exp());
            let sum = one + two + nu * (one * two).sqrt();
            let chances = [two / sum, nu * (one * two).sqrt() / sum, one / sum];
            results.iter().zip(chances).map(|(&count, chance)| count as f64 * chance.ln()).sum()
        };
        let both = |m: &Meeting| {
            let [lost, drawn, won] = m.singles[1];
            of(m.a, m.b, m.singles[0]) + of(m.b, m.a, [won, drawn, lost])
        };
        meetings.iter().map(both).sum()
    };
    let mut point = vec![0.0; players + 2];
    let mut reach = 2.0;
    for _ in 0..400 {
        // The last strength stays at 0: only differences count.
        for index in (0..players - 1).chain([players, players + 1]) {
            let (mut low, mut high) = (point[index] - reach, point[index] + reach);
            for _ in 0..40 {
                let (left, right) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
                let mut at = |value: f64| {
                    point[index] = value;
                    log_likelihood(&point)
                };
                if at(left) < at(right) { low = left } else { high = right }
            }
            point[index] = f64::midpoint(low, high);
        }
        reach = (reach * 0.97).max(1e-3);
    }
    point
}

#[test]
fn chens_tournament_by_a_second_method() {
    let (names, table) = chen_table();
    let mut meetings = Vec::new();
    for a in 0..names.len() {
        for b in a + 1..names.len() {
            meetings.push(meeting(a, b, [table.games(a, b).0, table.games(b, a).inverted().0]));
        }
    }
    let ratings = Ratings::fit(names.len(), &meetings, LIKELIHOOD).unwrap();
    let point = by_coordinates(names.len(), &meetings);
    let nu = point[names.len() + 1].exp();
    close(ratings.draw, nu, 1e-5);
    let elo = 2.0 / (2.0 + nu) * 400.0 / 10_f64.ln();
    close(ratings.first_advantage.unwrap(), elo * point[names.len()], 1e-3);
    for (rating, strength) in ratings.players.iter().zip(&point) {
        close(rating - ratings.players[4], elo * strength, 1e-2);
    }
    // As published: VAR1 is the strongest, BASIC the weakest.
    let order = |name: &str| ratings.players[names.iter().position(|other| other == name).unwrap()];
    assert!(order("VAR1") > order("VAR2") && order("VAR2") > order("ENHANCE") && order("ENHANCE") > order("BASIC"));
    // At the maximum the expected points of every player are its points.
    for player in 0..names.len() {
        let (mut expected, mut made) = (0.0, 0.0);
        for opponent in (0..names.len()).filter(|&opponent| opponent != player) {
            let [_, draw, win] = ratings.chances(player, opponent);
            let [loss, also_draw, _] = ratings.chances(opponent, player);
            expected += 100.0 * (win + draw / 2.0 + loss + also_draw / 2.0);
            made += table.between(player, opponent).half_points() as f64 / 2.0;
        }
        close(expected, made, 1e-5);
    }
}

#[test]
fn intervals_come_from_pairs_and_a_seed() {
    // Every pair is a win and a loss: the games vary, the pairs do not.
    let mut even = Meeting::new(0, 1);
    even.pairs[2][0] = 50;
    even.pairs[0][2] = 50;
    let fit = |meeting: Meeting, seed| Ratings::fit_with_intervals(2, &[meeting], NO_ADVANTAGE, 200, seed).unwrap();
    let Estimate { value, low, high } = fit(even, 1).players[0];
    close(value, 0.0, 1e-9);
    assert!(low > -1e-6 && high < 1e-6, "{low} {high}");
    // The same games without pairs do vary.
    let loose = meeting(0, 1, [[50, 0, 50], [50, 0, 50]]);
    let Estimate { low, high, .. } = fit(loose, 1).players[0];
    assert!(low < -10.0 && high > 10.0, "{low} {high}");
    assert_eq!(fit(loose, 1), fit(loose, 1));
    assert_ne!(fit(loose, 1), fit(loose, 2));
    // Half the distance between the players has a standard error of 200 / ln 10 · √(4 / 200).
    close((high - low) / 2.0, 1.96 * 200.0 / 10_f64.ln() * 0.02_f64.sqrt(), 6.0);
}

#[test]
fn what_cannot_be_rated_is_told() {
    let all_won = [meeting(0, 1, [[0, 0, 5], [0, 0, 5]])];
    assert_eq!(Ratings::fit(2, &all_won, NO_ADVANTAGE), Err(RatingError::NoMaximum));
    assert!(Ratings::fit(2, &all_won, RatingModel::default()).unwrap().players[0] > 200.0);
    let all_drawn = [meeting(0, 1, [[0, 5, 0], [0, 5, 0]])];
    assert_eq!(Ratings::fit(2, &all_drawn, NO_ADVANTAGE), Err(RatingError::NoMaximum));
    close(Ratings::fit(2, &all_drawn, RatingModel::default()).unwrap().players[0], 0.0, 1e-9);
    let apart = [meeting(0, 1, [[1, 1, 1], [1, 1, 1]]), meeting(2, 3, [[1, 1, 1], [1, 1, 1]])];
    assert_eq!(Ratings::fit(4, &apart, LIKELIHOOD), Err(RatingError::NotConnected(0, 2)));
    let alone = [meeting(1, 1, [[1, 1, 1], [1, 1, 1]])];
    assert_eq!(Ratings::fit(2, &alone, LIKELIHOOD), Err(RatingError::NoSuchMeeting { a: 1, b: 1, players: 2 }));
}

fn chen_table() -> (Vec<String>, CrossTable) {
    let lines: Vec<Vec<&str>> = include_str!("../../../experiments/chen-table3/published.csv")
        .lines()
        .skip(1)
        .map(|line| line.split(',').collect())
        .collect();
    let mut names: Vec<String> = Vec::new();
    for fields in &lines {
        if !names.iter().any(|name| name == fields[0]) {
            names.push(fields[0].to_owned());
        }
    }
    let number = |name: &str| names.iter().position(|other| other == name).expect("a first player too");
    let mut table = CrossTable::new(names.len());
    for fields in &lines {
        let [won, lost, drawn] = [3, 4, 5].map(|index: usize| fields[index].parse().expect("a count"));
        *table.games_mut(number(fields[0]), number(fields[1])) = Games([lost, drawn, won]);
    }
    (names, table)
}

#[test]
fn chens_published_scores() {
    let (names, table) = chen_table();
    let published = include_str!("../../../experiments/chen-table3/scores.csv").lines().skip(1);
    let mut checked = 0;
    for line in published {
        let fields: Vec<&str> = line.split(',').collect();
        let scores = table.scores(names.iter().position(|name| name == fields[0]).unwrap());
        for (field, score) in fields[1..].iter().zip([scores.gs_first, scores.gs_second, scores.ts]) {
            // Rounded half up, as printed; the sums are multiples of 1/800, exact in ten-thousandths of eighths.
            let rounded = (score.unwrap() * 10_000.0 + 0.5 + 1e-9).floor() / 10_000.0;
            assert_eq!(format!("{rounded:.4}"), *field, "{line}");
            checked += 1;
        }
    }
    assert_eq!(checked, 15);
}

/// Binomial coefficients times powers, summed as they stand.
fn at_most(successes: u64, total: u64, share: f64) -> f64 {
    let mut coefficient = 1.0;
    let mut sum = 0.0;
    for k in 0..=successes {
        sum += coefficient * share.powi(k as i32) * (1.0 - share).powi((total - k) as i32);
        coefficient *= (total - k) as f64 / (k + 1) as f64;
    }
    sum
}

#[test]
fn sign_tests_are_exact() {
    for total in 0..60_u64 {
        for plus in 0..=total {
            let expected = (2.0 * at_most(plus.min(total - plus), total, 0.5)).min(1.0);
            close(sign_test(plus, total - plus), expected, 1e-12);
        }
    }
    // Chen's 2,000 games: 408 wins of the first player, 456 losses.
    close(sign_test(408, 456), 0.11, 0.005);
}

#[test]
fn intervals_of_shares() {
    // Newcombe 1998, table I: 81 of 263 and 15 of 148.
    let printed = |estimate: Option<Estimate>| estimate.map(|e| (format!("{:.4}", e.low), format!("{:.4}", e.high)));
    let pair = |low: &str, high: &str| Some((low.to_owned(), high.to_owned()));
    assert_eq!(printed(wilson(81, 263)), pair("0.2553", "0.3662"));
    assert_eq!(printed(wilson(15, 148)), pair("0.0624", "0.1605"));
    assert_eq!(printed(wilson(0, 20)), pair("0.0000", "0.1611"));
    assert_eq!(printed(clopper_pearson(81, 263)), pair("0.2527", "0.3676"));
    assert_eq!(printed(clopper_pearson(15, 148)), pair("0.0578", "0.1617"));
    assert_eq!(printed(clopper_pearson(0, 20)), pair("0.0000", "0.1684"));
    assert_eq!(wilson(0, 0), None);
    assert_eq!(clopper_pearson(3, 2), None);
    for (successes, total) in [(1, 10), (5, 10), (9, 10), (17, 40)] {
        let Estimate { low, high, .. } = clopper_pearson(successes, total).unwrap();
        close(1.0 - at_most(successes - 1, total, low), 0.025, 1e-9);
        close(at_most(successes, total, high), 0.025, 1e-9);
    }
}

#[test]
fn groups_are_resampled_whole() {
    // A hundred copies of the same value in each group tell nothing that one would not.
    let single: Vec<Vec<f64>> = (0..40).map(|index| vec![f64::from(index % 2)]).collect();
    let copied: Vec<Vec<f64>> = single.iter().map(|group| vec![group[0]; 100]).collect();
    let (one, hundred) = (mean_by_group(&single, 2000, 7).unwrap(), mean_by_group(&copied, 2000, 7).unwrap());
    assert_eq!(one, hundred);
    close(one.margin(), 1.96 * 0.5 / 40_f64.sqrt(), 0.02);
    assert_eq!(mean_by_group::<Vec<f64>>(&[], 10, 1), None);
    assert_eq!(mean_by_group(&[Vec::new()], 10, 1), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn ratings_explain_the_points(results in prop::collection::vec(prop::array::uniform2(prop::array::uniform3(1_u64..40)), 6)) {
        let sides = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
        let meetings: Vec<Meeting> = sides.iter().zip(&results).map(|(&(a, b), &singles)| meeting(a, b, singles)).collect();
        let ratings = Ratings::fit(4, &meetings, LIKELIHOOD).unwrap();
        prop_assert!(ratings.players.iter().sum::<f64>().abs() < 1e-6);
        // The likelihood equations: expected wins less losses are the real ones, and so are the draws.
        let mut expected = [0.0; 6];
        for m in &meetings {
            for (order, begun) in m.singles.iter().enumerate() {
                let count = begun.iter().sum::<u64>() as f64;
                let (first, second) = if order == 0 { (m.a, m.b) } else { (m.b, m.a) };
                let [loss, draw, win] = ratings.chances(first, second);
                let margin_of_a = begun[2] as f64 - begun[0] as f64;
                let surprise = (if order == 0 { margin_of_a } else { -margin_of_a }) - count * (win - loss);
                expected[first] += surprise;
                expected[second] -= surprise;
                expected[4] += surprise;
                expected[5] += begun[1] as f64 - count * draw;
            }
        }
        prop_assert!(expected.iter().all(|surprise| surprise.abs() < 1e-5), "{:?}", expected);
    }
}
