//! The decision between moving and turning a piece up: section 2.2 of the NegaScout course report.
//!
//! "If turning a piece has a good chance to achieve a better score (probability of 'turning score greater than moving score' is
//! greater than 0.5), the program will turn the piece with the highest sum of scores; otherwise, the program will move a
//! face-up piece."

use crate::options::choices;
use crate::player::{Candidate, FlipOutcome};
use crate::score::Score;

choices! {
    /// How many of the plies after a flip are searched.
    pub enum Decision {
        Complete = "complete", "all of them, whatever the budget of nodes";
        Shared = "shared", "as many as half of the budget completes";
    }
}

impl Decision {
    /// The other reading.
    pub(crate) const fn other(self) -> Decision {
        match self {
            Decision::Complete => Decision::Shared,
            Decision::Shared => Decision::Complete,
        }
    }
}

choices! {
    /// What is added up in "the highest sum of scores".
    pub enum SumOf {
        Kinds = "kinds", "one score for each kind that the piece may be";
        Pieces = "pieces", "the score of a kind as often as there are such pieces";
        Mean = "mean", "the same as a mean, rounded to a whole number";
    }
}

choices! {
    /// What is counted in "probability of turning score greater than moving score".
    pub enum ChanceBy {
        Pieces = "pieces", "the pieces that may come up";
        Kinds = "kinds", "the kinds that may come up";
    }
}

choices! {
    /// Which flips "the piece with the highest sum of scores" is one of.
    pub enum Among {
        Promising = "promising", "those with a good chance of a better score";
        All = "all", "all, if one of them has a good chance of a better score";
    }
}

/// A reading of the rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Rule {
    pub(super) sum: SumOf,
    pub(super) chance: ChanceBy,
    pub(super) among: Among,
}

impl Rule {
    /// The flip that is better than the best move, if there is one; the first of equals. Without any move the best flip.
    pub(super) fn flip<'a>(&self, flips: &'a [Candidate], best_move: Option<Score>) -> Option<&'a Candidate> {
        let promising = |flip: &Candidate| best_move.is_none_or(|score| self.promises_more(flip, score));
        if !flips.iter().any(promising) {
            return None;
        }
        let among = flips.iter().filter(|flip| self.among == Among::All || promising(flip));
        among.rev().max_by_key(|flip| self.sum(flip))
    }

    fn promises_more(&self, flip: &Candidate, best_move: Score) -> bool {
        let count = |outcomes: &mut dyn Iterator<Item = &FlipOutcome>| match self.chance {
            ChanceBy::Pieces => outcomes.map(|outcome| usize::from(outcome.count)).sum(),
            ChanceBy::Kinds => outcomes.count(),
        };
        let better = count(&mut flip.outcomes.iter().filter(|outcome| outcome.score > best_move));
        2 * better > count(&mut flip.outcomes.iter())
    }

    fn sum(&self, flip: &Candidate) -> i32 {
        match self.sum {
            SumOf::Kinds => flip.outcomes.iter().map(|outcome| outcome.score.0).sum(),
            SumOf::Pieces => flip.outcomes.iter().map(|outcome| outcome.score.0 * i32::from(outcome.count)).sum(),
            SumOf::Mean => flip.score.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use anqi_rules::{Move, Piece, Square};

    use super::*;

    /// A flip whose outcomes are `(how many pieces, score)`.
    fn flip(index: usize, outcomes: &[(u8, i32)]) -> Candidate {
        let outcome = |(piece, &(count, score))| FlipOutcome { piece, count, score: Score(score) };
        let outcomes: Vec<_> = Piece::all().zip(outcomes).map(outcome).collect();
        let score = Score::mean(outcomes.iter().map(|outcome| (outcome.score, outcome.count)));
        Candidate { mv: Move::Flip(Square::from_low_bits(index)), score, outcomes, results: None }
    }

    fn chosen(
        flips: &[Candidate],
        best_move: Option<i32>,
        sum: SumOf,
        chance: ChanceBy,
        among: Among,
    ) -> Option<usize> {
        let flip = Rule { sum, chance, among }.flip(flips, best_move.map(Score))?;
        flips.iter().position(|other| other.mv == flip.mv)
    }

    #[test]
    fn sums_count_kinds_or_pieces() {
        let flips = [flip(0, &[(4, 10), (1, 0)]), flip(1, &[(4, 2), (1, 21)])];
        let chosen = |sum| chosen(&flips, Some(-1), sum, ChanceBy::Pieces, Among::Promising);
        assert_eq!(chosen(SumOf::Kinds), Some(1)); // 10 and 23
        assert_eq!(chosen(SumOf::Pieces), Some(0)); // 40 and 29
        assert_eq!(chosen(SumOf::Mean), Some(0)); // 8 and 6
    }

    #[test]
    fn a_rounded_mean_makes_equals_of_which_the_first_is_turned_up() {
        let flips = [flip(0, &[(4, 10), (1, 0)]), flip(1, &[(4, 10), (1, 1)])];
        let chosen = |sum| chosen(&flips, None, sum, ChanceBy::Pieces, Among::Promising);
        assert_eq!(chosen(SumOf::Mean), Some(0));
        assert_eq!(chosen(SumOf::Pieces), Some(1));
    }

    #[test]
    fn chances_count_pieces_or_kinds() {
        let flips = [flip(0, &[(4, 10), (1, 0), (1, 0)])];
        let chosen = |best_move, chance| chosen(&flips, Some(best_move), SumOf::Kinds, chance, Among::Promising);
        assert_eq!(chosen(5, ChanceBy::Pieces), Some(0)); // 4 of 6
        assert_eq!(chosen(5, ChanceBy::Kinds), None); // 1 of 3
        assert_eq!(chosen(10, ChanceBy::Pieces), None); // equal is not greater
        assert_eq!(chosen(-1, ChanceBy::Kinds), Some(0));
    }

    #[test]
    fn half_is_not_more_than_half() {
        let flips = [flip(0, &[(1, 10), (1, 0)])];
        for chance in [ChanceBy::Pieces, ChanceBy::Kinds] {
            assert_eq!(chosen(&flips, Some(5), SumOf::Kinds, chance, Among::Promising), None);
        }
    }

    #[test]
    fn the_highest_sum_may_be_that_of_a_flip_with_little_chance() {
        let flips = [flip(0, &[(1, 6), (1, 6), (1, 6)]), flip(1, &[(1, 90), (1, 0), (1, 0)])];
        let chosen = |best_move, among| chosen(&flips, best_move, SumOf::Kinds, ChanceBy::Pieces, among);
        assert_eq!(chosen(Some(5), Among::Promising), Some(0));
        assert_eq!(chosen(Some(5), Among::All), Some(1));
        // Where none has a good chance, a piece is moved; where nothing moves, all are as good as promised.
        assert_eq!(chosen(Some(7), Among::All), None);
        assert_eq!(chosen(None, Among::Promising), Some(1));
    }
}
