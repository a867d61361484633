//! Which child to follow: upper confidence bounds, as Takeuchi, Kaneko & Yamaguchi print them.

use arrayvec::ArrayVec;

use super::simulate::Rewards;
use super::tree::{EndResult, Node};
use super::{Backup, MctsOptions, Proofs};
use crate::options::choices;

choices! {
    /// The formula that weighs what is known against what is not.
    pub enum Ucb {
        Ucb1 = "ucb1", "p + sqrt(2 ln n / s) (Takeuchi, equation 1)";
        Ucb1Tuned = "ucb1-tuned", "p + sqrt(ln n / s * min(1/4, p - p^2 + sqrt(2 ln n / s))) (equation 2)";
    }
}

/// No node has more children that can be followed.
const MOST_ARMS: usize = anqi_rules::MOST_MOVES;

/// The children of a node to choose from: gathered first, so that the formula runs over plain numbers
/// and many children at a time.
pub(super) struct Arms<I> {
    ids: ArrayVec<I, MOST_ARMS>,
    /// p: the mean result of each, 0 for a loss to 1 for a win.
    p: ArrayVec<f32, MOST_ARMS>,
    /// s: how often each was tried.
    s: ArrayVec<f32, MOST_ARMS>,
    /// What is added to the bound of each for other reasons.
    bias: ArrayVec<f32, MOST_ARMS>,
}

/// What to make of a child.
pub(super) enum Arm {
    /// Not visited yet, or a proven win: take it.
    Take,
    /// A proven loss: leave it.
    Leave,
    /// It competes with the others.
    Weigh { p: f32, s: f32, bias: f32 },
}

/// The options that a selection needs, ready for its arithmetic.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    ucb: Ucb,
    explore: f32,
    draw: f32,
    backup: Backup,
    minimax: f32,
    bias: f32,
    /// One, as bonuses count.
    parts: f32,
    /// Whether proven wins are taken and proven losses left.
    heeds_proofs: bool,
}

impl From<&MctsOptions> for Bounds {
    fn from(options: &MctsOptions) -> Bounds {
        let &MctsOptions { ucb, explore, draw, backup, minimax, bias, draws, proofs, .. } = options;
        let [explore, draw, minimax, bias] = [explore, draw, minimax, bias].map(|number| number as f32);
        let (parts, heeds_proofs) = (Rewards::parts(draws), proofs == Proofs::Propagate);
        Bounds { ucb, explore, draw, backup, minimax, bias, parts, heeds_proofs }
    }
}

impl Bounds {
    /// What to make of a child, by its results. Simulations under way count as lost (virtual loss).
    #[inline]
    pub(super) fn arm(&self, node: &Node) -> Arm {
        let [wins, draws, losses] = node.counts();
        let visits = wins + draws + losses;
        let s = (visits + node.flight()) as f32;
        match node.proof().filter(|_| self.heeds_proofs) {
            Some(EndResult::Win) => return Arm::Take,
            Some(EndResult::Loss) => return Arm::Leave,
            Some(EndResult::Draw) => return Arm::Weigh { p: self.draw, s: s.max(1.0), bias: 0.0 },
            None if s == 0.0 => return Arm::Take,
            None => {}
        }
        let mut p = match self.backup {
            Backup::Mean => (wins as f32 + self.draw * draws as f32 + node.bonus() as f32 / self.parts) / s,
            Backup::Best => (node.worth() + 1.0) / 2.0 * visits as f32 / s,
        };
        if self.minimax == 0.0 && self.bias == 0.0 {
            return Arm::Weigh { p, s, bias: 0.0 };
        }
        let worth = (node.worth() + 1.0) / 2.0;
        if self.backup == Backup::Mean {
            p += self.minimax * (worth - p);
        }
        Arm::Weigh { p, s, bias: self.bias * worth / (s + 1.0) }
    }
}

impl<I> Default for Arms<I> {
    fn default() -> Arms<I> {
        Arms { ids: ArrayVec::new(), p: ArrayVec::new(), s: ArrayVec::new(), bias: ArrayVec::new() }
    }
}

impl<I: Copy> Arms<I> {
    #[inline]
    pub(super) fn weigh(&mut self, id: I, p: f32, s: f32, bias: f32) {
        self.ids.push(id);
        self.p.push(p);
        self.s.push(s);
        self.bias.push(bias);
    }

    /// The child with the highest bound, the first of equals.
    pub(super) fn best(&self, &Bounds { ucb, explore, .. }: &Bounds) -> Option<I> {
        let n: f32 = self.s.iter().sum();
        let ln_n = libm::logf(n.max(1.0)); // not the platform's: trees are the same everywhere
        let arms = self.p.iter().zip(&self.s).zip(&self.bias);
        let bounds: ArrayVec<f32, MOST_ARMS> = match ucb {
            Ucb::Ucb1 => arms.map(|((&p, &s), &bias)| p + bias + explore * (2.0 * ln_n / s).sqrt()).collect(),
            Ucb::Ucb1Tuned => arms
                .map(|((&p, &s), &bias)| {
                    let variance = p - p * p + (2.0 * ln_n / s).sqrt();
                    p + bias + explore * (ln_n / s * variance.min(0.25)).max(0.0).sqrt()
                })
                .collect(),
        };
        let highest = bounds.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let place = bounds.iter().position(|&bound| bound == highest)?;
        Some(self.ids[place])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds(ucb: Ucb, explore: f64) -> Bounds {
        Bounds::from(&MctsOptions { ucb, explore, ..MctsOptions::default() })
    }

    /// The two equations by hand: for n = 160.
    #[test]
    fn the_equations_as_printed() {
        let bound = |ucb, p: f32, s: f32| {
            let ln_n = 160f32.ln();
            match ucb {
                Ucb::Ucb1 => p + (2.0 * ln_n / s).sqrt(),
                Ucb::Ucb1Tuned => p + (ln_n / s * (0.25f32).min(p - p * p + (2.0 * ln_n / s).sqrt())).sqrt(),
            }
        };
        assert!((bound(Ucb::Ucb1, 0.75, 40.0) - 1.2537).abs() < 1e-4);
        assert!((bound(Ucb::Ucb1, 0.5, 10.0) - 1.5075).abs() < 1e-4);
        for ucb in [Ucb::Ucb1, Ucb::Ucb1Tuned] {
            let mut arms = Arms::default();
            let all = [(0.75, 40.0), (0.5, 10.0), (0.4, 50.0), (0.9, 60.0)];
            (0..).zip(all).for_each(|(id, (p, s))| arms.weigh(id, p, s, 0.0));
            let best = (0..all.len())
                .max_by(|&a, &b| bound(ucb, all[a].0, all[a].1).total_cmp(&bound(ucb, all[b].0, all[b].1)));
            assert_eq!(arms.best(&bounds(ucb, 1.0)), best);
            assert_eq!(arms.best(&bounds(ucb, 0.0)), Some(3), "without exploration the highest mean");
        }
    }

    #[test]
    fn the_first_of_equals() {
        let mut arms = Arms::default();
        ["a", "b", "c"].into_iter().for_each(|id| arms.weigh(id, 0.5, 3.0, 0.0));
        assert_eq!(arms.best(&bounds(Ucb::Ucb1, 1.0)), Some("a"));
        assert_eq!(Arms::<u8>::default().best(&bounds(Ucb::Ucb1, 1.0)), None);
    }
}
