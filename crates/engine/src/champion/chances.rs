//! What a score of the champion means in won, drawn and lost games.
//!
//! A search knows what it expects, not how many of the games on the match server were won, drawn and lost from positions that it
//! had scored. That was measured: `benchmarks/2026-11-16/chances` has the commands and the fit, and whoever changes the champion's
//! evaluation does it again. What is shown to people as a chance comes from here and from nowhere else.

use anqi_rules::Position;

use super::expectation::of_score;
use crate::score::Score;

/// Chances of win, draw and loss.
pub type Chances = [f64; 3];

/// How results follow the expectation: less where it is clear, and much more where it is almost certain.
const LINEAR: f64 = 2.109;
const BEND: f64 = -2.809;
const STEEP: f64 = 3.478;
/// How fond the search is of the side to move.
const SHIFT: f64 = -0.072;
/// How wide the middle is that is drawn: with face-down pieces, without, and how much wider where a side is far ahead.
const DRAWS: f64 = 0.394;
const OPEN_DRAWS: f64 = 0.734;
const QUIET: f64 = 0.578;
/// Where the search sees a draw it is mostly a repetition that saves the side to move, which is behind.
const BEHIND: f64 = -0.928;
const DRAWN: f64 = 0.441;

/// What a score that the champion found in `position` promises the side to move there. Proofs are taken as they are.
#[must_use]
pub fn chances(position: &Position, score: Score) -> Chances {
    if score.is_decided() {
        return if score > Score::DRAW { [1.0, 0.0, 0.0] } else { [0.0, 0.0, 1.0] };
    }
    let expected = of_score(score);
    let mut lead = LINEAR * expected + BEND * expected.powi(3) + STEEP * expected.powi(7) + SHIFT;
    let mut draws = QUIET * expected.powi(6) + if position.hidden().is_empty() { OPEN_DRAWS } else { DRAWS };
    if score == Score::DRAW {
        (lead, draws) = (lead + BEHIND, draws + DRAWN);
    }
    let logistic = |x: f64| 1.0 / (1.0 + (-x).exp());
    let (win, loss) = (logistic(lead - draws), logistic(-lead - draws));
    [win, 1.0 - win - loss, loss]
}

/// The same for a score in a position that endgame tables may prove: what is neither won nor lost by them is drawn, and an
/// even score would not say so.
#[must_use]
pub fn chances_in_tables(position: &Position, score: Score, in_tables: bool) -> Chances {
    if in_tables && !score.is_decided() { [0.0, 1.0, 0.0] } else { chances(position, score) }
}

/// The expected score: 1 for a win, half for a draw.
#[must_use]
pub fn expected(position: &Position, score: Score) -> f64 {
    let [win, draw, _] = chances(position, score);
    win + draw / 2.0
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;

    use super::super::expectation::ONE;
    use super::*;

    /// A position of a real game with so many pieces face down.
    fn with_hidden(hidden: usize) -> Position {
        let rules = anqi_rules::Rules::server();
        let mut game = anqi_rules::Game::new(rules);
        let deal = anqi_rules::Deal::new(&rules, &anqi_rules::Seed::from(1));
        while game.position().hidden().len() as usize > hidden {
            let flip = game.legal_moves().iter().copied().find(|mv| matches!(mv, anqi_rules::Move::Flip(_))).unwrap();
            game.play(deal.resolve(flip).unwrap()).unwrap();
        }
        *game.position()
    }

    proptest! {
        #[test]
        fn chances_add_up_and_rise(hidden in 0_usize..=32, low in -ONE..ONE, more in 1_i32..ONE / 5) {
            let position = with_hidden(hidden);
            let (low, high) = (Score(low), Score((low + more).min(ONE)));
            let all = chances(&position, low);
            prop_assert!((all.iter().sum::<f64>() - 1.0).abs() < 1e-9 && all.iter().all(|&share| share > 0.0));
            // A draw by repetition is worth less than its score says.
            prop_assume!(low != Score::DRAW && high != Score::DRAW);
            prop_assert!(expected(&position, low) <= expected(&position, high));
            prop_assert!(expected(&position, high) < expected(&position, Score::win(0)));
        }
    }

    /// In the games of the match server, half of which it was fitted to, what is said is what happened: by value and by face-down
    /// pieces.
    #[test]
    fn what_is_said_is_what_happened() {
        let text = fs::read_to_string("tests/data/chances.csv").unwrap();
        let mut said = [[0.0; 3]; 20];
        let mut seen = [[0.0; 3]; 20];
        let positions: Vec<Position> = (0..=32).map(with_hidden).collect();
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("value,result,game,hidden"));
        for line in lines {
            let fields: Vec<&str> = line.split(',').collect();
            let (value, result): (f64, f64) = (fields[0].parse().unwrap(), fields[1].parse().unwrap());
            let hidden: usize = fields[3].parse().unwrap();
            if value.is_infinite() {
                continue;
            }
            let all = chances(&positions[hidden], Score(((2.0 * value - 1.0) * f64::from(ONE)).round() as i32));
            for bin in [((value * 10.0) as usize).min(9), 10 + hidden.div_ceil(8)] {
                for (index, share) in all.into_iter().enumerate() {
                    said[bin][index] += share;
                    seen[bin][index] += f64::from(u8::from([1.0, 0.5, 0.0][index] == result));
                }
            }
        }
        for (bin, (said, seen)) in said.into_iter().zip(seen).enumerate() {
            let count: f64 = seen.iter().sum();
            for (said, seen) in said.into_iter().zip(seen) {
                let off = (said - seen).abs() / count.max(1.0);
                assert!(off < 0.09, "bin {bin} of {count}: said {said}, seen {seen}");
            }
        }
    }
}
