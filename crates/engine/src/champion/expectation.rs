//! From evaluations to expectations.

use crate::score::Score;

/// A certain win, where it is one of several things that a flip may bring.
pub(super) const ONE: i32 = 1 << 20;

/// A score of the champion as `P(win) − P(loss)`.
pub(crate) fn of_score(score: Score) -> f64 {
    f64::from(of_proof(score).0) / f64::from(ONE)
}

/// What an evaluation is worth as `P(win) − P(loss)`: a sigmoid without an exponential, so that every machine agrees.
#[inline]
pub(super) fn of_evaluation(score: Score, scale: f32) -> Score {
    let x = score.0 as f32 / scale;
    Score((x / (1.0 + x * x).sqrt() * (ONE - 1) as f32) as i32)
}

/// A proof counts as a certain win or loss, whatever its length.
#[inline]
pub(super) fn of_proof(score: Score) -> Score {
    Score(score.0.clamp(-ONE, ONE))
}

/// The expectation of a win, a draw and a loss that are to each other as these odds, [`with_edge`].
#[inline]
pub(super) fn of_odds([win, draw, loss]: [f32; 3], edge: f32) -> Score {
    let (lead, all) = (win - loss, win + draw + loss);
    Score(((lead + edge * all) / (all + edge * lead) * (ONE - 1) as f32) as i32)
}

/// What an expectation between equals is worth to a side that is stronger than the other, so that a level position is worth
/// `edge` to it: the odds of winning are multiplied by `(1 + edge) / (1 − edge)`. The same with `−edge` takes it back.
#[inline]
pub(super) fn with_edge(score: Score, edge: f32) -> Score {
    let x = score.0 as f32 / ONE as f32;
    Score(((x + edge) / (1.0 + x * edge) * ONE as f32) as i32)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn an_edge_keeps_the_order_and_can_be_taken_back(score in -ONE + 1..ONE - 1, edge in -0.9_f32..0.9) {
            let with = |score| with_edge(Score(score), edge).0;
            prop_assert_eq!(with_edge(Score(score), 0.0).0, score);
            prop_assert!(with(score).abs() <= ONE && with(score) <= with(score + 1));
            prop_assert!((with(0) - (edge * ONE as f32) as i32).abs() <= 1);
            prop_assert!((with_edge(Score(with(score)), -edge).0 - score).abs() <= 40);
        }

        #[test]
        fn odds_need_not_add_up_to_one(chances in [0.0_f32..1.0, 0.0..1.0, 0.0..1.0], times in 0.1_f32..10.0, edge in -0.9_f32..0.9) {
            let sum: f32 = chances.iter().sum::<f32>().max(f32::MIN_POSITIVE);
            let fair = Score(((chances[0] - chances[2]) / sum * ONE as f32) as i32);
            let score = of_odds(chances.map(|chance| chance * times), edge);
            prop_assert!((score.0 - with_edge(fair, edge).0).abs() <= 40, "{score:?} {fair:?}");
        }

        #[test]
        fn who_has_an_edge_does_not_gamble(stake in ONE / 100..ONE, edge in 0.1_f32..0.9) {
            let with = |score| with_edge(Score(score), edge).0;
            prop_assert!(with(stake) + with(-stake) < 2 * with(0));
        }
    }
}
