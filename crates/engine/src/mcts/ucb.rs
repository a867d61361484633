//! Which child to follow: upper confidence bounds, as Takeuchi, Kaneko & Yamaguchi print them.

use super::simulate::{Draws, Rewards};
use super::tree::{Blocks, EndResult, Node, NodeId, ROOT};
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

/// So many bounds are computed at a time.
const AT_ONCE: usize = 8;

/// A number of each arm, in parts that are computed at once.
type Column<T> = [[T; AT_ONCE]; MOST_ARMS / AT_ONCE];

/// The children of a node to choose from: gathered first, so that the formula runs over plain numbers
/// and many children at a time. One of these serves all nodes of a search, one after the other.
pub(super) struct Arms {
    len: usize,
    ids: [NodeId; MOST_ARMS],
    /// p = sum / of: the mean result of each, 0 for a loss to 1 for a win.
    sum: Column<f32>,
    of: Column<f32>,
    /// s: how often each was tried.
    s: Column<f32>,
    /// What is added to the bound of each for other reasons.
    bias: Column<f32>,
    /// The numbers from which p and s follow where nothing else matters.
    counts: [Column<u32>; 3],
    bound: Column<f32>,
    /// n: how often all were tried.
    n: u64,
    /// ln n for small n, as far as it was needed; negative where it was not.
    logarithms: Box<[f32]>,
}

/// What to make of a child.
pub(super) enum Arm {
    /// Not visited yet, or a proven win: take it.
    Take,
    /// A proven loss: leave it.
    Leave,
    /// It competes with the others: tried `s` times, worth `sum / of` and a `bias`.
    Weigh { sum: f32, of: f32, s: u32, bias: f32 },
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
    /// Whether anything is added to results.
    adds: bool,
    /// Whether proven wins are taken and proven losses left.
    heeds_proofs: bool,
}

/// Whether nothing but counts mattered, and then what was chosen.
enum Common {
    Yes(Option<NodeId>),
    No,
}

impl From<&MctsOptions> for Bounds {
    fn from(options: &MctsOptions) -> Bounds {
        let &MctsOptions { ucb, explore, draw, backup, minimax, bias, quality, draws, proofs, .. } = options;
        let [explore, draw, minimax, bias] = [explore, draw, minimax, bias].map(|number| number as f32);
        let (parts, heeds_proofs) = (Rewards::parts(draws), proofs == Proofs::Propagate);
        let adds = quality != 0.0 || draws == Draws::Graded;
        Bounds { ucb, explore, draw, backup, minimax, bias, parts, adds, heeds_proofs }
    }
}

impl Bounds {
    /// Whether a child is weighed by its counts alone, unless it is proven.
    fn by_counts(&self) -> bool {
        self.heeds_proofs && self.backup == Backup::Mean && !self.adds && self.minimax == 0.0 && self.bias == 0.0
    }

    /// What to make of a child, by its results. Simulations under way count as lost (virtual loss).
    #[inline]
    pub(super) fn arm(&self, node: &Node) -> Arm {
        let [wins, draws, losses] = node.counts();
        let visits = wins + draws + losses;
        let s = visits + node.flight();
        match node.proof().filter(|_| self.heeds_proofs) {
            Some(EndResult::Win) => return Arm::Take,
            Some(EndResult::Loss) => return Arm::Leave,
            Some(EndResult::Draw) => return Arm::Weigh { sum: self.draw, of: 1.0, s: s.max(1), bias: 0.0 },
            None if s == 0 => return Arm::Take,
            None => {}
        }
        let of = s as f32;
        let sum = match self.backup {
            Backup::Mean => wins as f32 + self.draw * draws as f32 + node.bonus() as f32 / self.parts,
            Backup::Best => (node.worth() + 1.0) / 2.0 * visits as f32,
        };
        if self.minimax == 0.0 && self.bias == 0.0 {
            return Arm::Weigh { sum, of, s, bias: 0.0 };
        }
        let worth = (node.worth() + 1.0) / 2.0;
        let mut p = sum / of;
        if self.backup == Backup::Mean {
            p += self.minimax * (worth - p);
        }
        Arm::Weigh { sum: p, of: 1.0, s, bias: self.bias * worth / (of + 1.0) }
    }
}

/// Logarithms of smaller numbers are kept. Most nodes have few visits.
const FEW: usize = 1 << 10;

/// Up to here whole numbers are exact in floating point, and so are their sums in any order.
const EXACT: u64 = 1 << 24;

impl Default for Arms {
    fn default() -> Arms {
        let column = [[0.0; AT_ONCE]; MOST_ARMS / AT_ONCE];
        let counts = [[[0; AT_ONCE]; MOST_ARMS / AT_ONCE]; 3];
        let logarithms = vec![-1.0; FEW].into();
        let ids = [ROOT; MOST_ARMS];
        Arms { len: 0, ids, sum: column, of: column, s: column, bias: column, counts, bound: column, n: 0, logarithms }
    }
}

impl Arms {
    /// Forgets all of them.
    #[inline]
    pub(super) fn clear(&mut self) {
        (self.len, self.n) = (0, 0);
    }

    /// The child to follow: the first that is to be taken at once, else the one with the highest bound, the first of
    /// equals; none if all are to be left.
    #[inline]
    pub(super) fn choose(&mut self, bounds: &Bounds, blocks: Blocks<'_>) -> Option<NodeId> {
        if bounds.by_counts()
            && let Common::Yes(chosen) = self.choose_by_counts(bounds, blocks.clone())
        {
            return chosen;
        }
        self.clear();
        for block in blocks {
            for (id, child) in block {
                match bounds.arm(child) {
                    Arm::Take => return Some(id),
                    Arm::Leave => {}
                    Arm::Weigh { sum, of, s, bias } => self.weigh(id, sum, of, s, bias),
                }
            }
        }
        self.best(bounds)
    }

    /// The same in the common case. This is where a search spends its time, so it goes through the children with as few
    /// instructions as it can; inlined it would have to share the registers.
    #[inline(never)]
    fn choose_by_counts(&mut self, bounds: &Bounds, blocks: Blocks<'_>) -> Common {
        let [all_wins, all_draws, all_s] = &mut self.counts;
        let [all_wins, all_draws, all_s] = [all_wins, all_draws, all_s].map(|column| column.as_flattened_mut());
        let (mut len, mut n) = (0, 0);
        for block in blocks {
            for (index, child) in block.nodes().iter().enumerate() {
                match child.proof() {
                    None => {}
                    Some(EndResult::Win) => return Common::Yes(Some(block.id(index))),
                    Some(EndResult::Loss) => continue,
                    Some(EndResult::Draw) => return Common::No,
                }
                let [wins, draws, losses] = child.counts();
                let s = wins + draws + losses + child.flight();
                if s == 0 {
                    return Common::Yes(Some(block.id(index)));
                }
                let place = len % MOST_ARMS;
                self.ids[place] = block.id(index);
                (all_wins[place], all_draws[place], all_s[place]) = (wins, draws, s);
                n += u64::from(s);
                len += 1;
            }
        }
        if n >= EXACT {
            return Common::No;
        }
        (self.len, self.n) = (len, n);
        let parts = len.div_ceil(AT_ONCE);
        for place in len..parts * AT_ONCE {
            (all_wins[place], all_draws[place], all_s[place]) = (0, 0, 1);
        }
        let (ln_n, explore, draw) = (self.ln_n(), bounds.explore, bounds.draw);
        match bounds.ucb {
            Ucb::Ucb1 => self.bound_by_counts(parts, draw, |p, s| ucb1(p, s, ln_n, 0.0, explore)),
            Ucb::Ucb1Tuned => self.bound_by_counts(parts, draw, |p, s| ucb1_tuned(p, s, ln_n, 0.0, explore)),
        }
        Common::Yes(self.highest(parts))
    }

    #[inline]
    pub(super) fn weigh(&mut self, id: NodeId, sum: f32, of: f32, s: u32, bias: f32) {
        let place = self.len % MOST_ARMS;
        self.ids[place] = id;
        self.set(place, sum, of, s as f32, bias);
        self.n += u64::from(s);
        self.len += 1;
    }

    fn set(&mut self, place: usize, sum: f32, of: f32, s: f32, bias: f32) {
        self.sum.as_flattened_mut()[place] = sum;
        self.of.as_flattened_mut()[place] = of;
        self.s.as_flattened_mut()[place] = s;
        self.bias.as_flattened_mut()[place] = bias;
    }

    /// The child with the highest bound, the first of equals.
    pub(super) fn best(&mut self, &Bounds { ucb, explore, .. }: &Bounds) -> Option<NodeId> {
        let ln_n = self.ln_n();
        let parts = self.len.div_ceil(AT_ONCE);
        for place in self.len..parts * AT_ONCE {
            self.set(place, 0.0, 1.0, 1.0, 0.0);
        }
        match ucb {
            Ucb::Ucb1 => self.bound(parts, |p, s, bias| ucb1(p, s, ln_n, bias, explore)),
            Ucb::Ucb1Tuned => self.bound(parts, |p, s, bias| ucb1_tuned(p, s, ln_n, bias, explore)),
        }
        self.highest(parts)
    }

    #[inline(always)]
    fn bound(&mut self, parts: usize, formula: impl Fn(f32, f32, f32) -> f32) {
        let columns = self.sum.iter().zip(&self.of).zip(&self.s).zip(&self.bias).zip(&mut self.bound);
        for ((((sum, of), s), bias), bound) in columns.take(parts) {
            for i in 0..AT_ONCE {
                bound[i] = formula(sum[i] / of[i], s[i], bias[i]);
            }
        }
    }

    #[inline(always)]
    fn bound_by_counts(&mut self, parts: usize, draw: f32, formula: impl Fn(f32, f32) -> f32) {
        let [wins, draws, s] = &self.counts;
        for (((wins, draws), s), bound) in wins.iter().zip(draws).zip(s).zip(&mut self.bound).take(parts) {
            for i in 0..AT_ONCE {
                // Vectors have no conversion from numbers without a sign; these are small.
                let [wins, draws, s] = [wins[i], draws[i], s[i]].map(|count| count as i32 as f32);
                bound[i] = formula((wins + draw * draws) / s, s);
            }
        }
    }

    /// Where the highest bound is, the first of equals.
    #[inline(always)]
    fn highest(&mut self, parts: usize) -> Option<NodeId> {
        // What is left over of the last part never wins.
        self.bound.as_flattened_mut()[self.len..parts * AT_ONCE].fill(f32::NEG_INFINITY);
        let bounds = &self.bound[..parts];
        let mut highest = [f32::NEG_INFINITY; AT_ONCE];
        for part in bounds {
            for (highest, &bound) in highest.iter_mut().zip(part) {
                *highest = if bound > *highest { bound } else { *highest };
            }
        }
        let highest = highest.into_iter().fold(f32::NEG_INFINITY, f32::max);
        let is_here = |part: &[f32; AT_ONCE]| part.iter().fold(false, |here, &bound| here | (bound == highest));
        let part = bounds.iter().position(is_here)?;
        let place = bounds[part].iter().position(|&bound| bound == highest)?;
        Some(self.ids[part * AT_ONCE + place])
    }

    /// ln n, and 0 of nothing.
    #[inline]
    fn ln_n(&mut self) -> f32 {
        // Not the platform's logarithm: trees are the same everywhere.
        match self.logarithms.get_mut(self.n as usize) {
            Some(known) if *known >= 0.0 => *known,
            Some(unknown) => {
                *unknown = libm::logf(self.n.max(1) as f32);
                *unknown
            }
            None if self.n < EXACT => libm::logf(self.n as f32),
            // Now the sum depends on its order, which is that of the arms.
            None => libm::logf(self.s.as_flattened()[..self.len].iter().sum()),
        }
    }
}

/// Equation 1.
#[inline(always)]
fn ucb1(p: f32, s: f32, ln_n: f32, bias: f32, explore: f32) -> f32 {
    p + bias + explore * (2.0 * ln_n / s).sqrt()
}

/// Equation 2.
#[inline(always)]
fn ucb1_tuned(p: f32, s: f32, ln_n: f32, bias: f32, explore: f32) -> f32 {
    let variance = p - p * p + (2.0 * ln_n / s).sqrt();
    p + bias + explore * (ln_n / s * variance.min(0.25)).max(0.0).sqrt()
}

#[cfg(test)]
mod tests {
    use rand_core::Rng;

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
            let all = [(0.75, 40), (0.5, 10), (0.4, 50), (0.9, 60)];
            let weight = |place: usize| bound(ucb, all[place].0, all[place].1 as f32);
            for (id, (p, s)) in (0..).map(NodeId).zip(all) {
                arms.weigh(id, p * s as f32, s as f32, s, 0.0);
            }
            let best = (0..all.len()).max_by(|&a, &b| weight(a).total_cmp(&weight(b)));
            assert_eq!(arms.best(&bounds(ucb, 1.0)), best.map(|place| NodeId(place as u32)));
            assert_eq!(arms.best(&bounds(ucb, 0.0)), Some(NodeId(3)), "without exploration the highest mean");
        }
    }

    /// Arms of all numbers, most of them more than are computed at once, against the formula one after the other; beyond
    /// 2^24 trials too.
    #[test]
    fn the_highest_bound_is_found() {
        let mut rng = anqi_rules::Seed::from(3).rng();
        let mut arms = Arms::default();
        for round in 0..3000 {
            let (ucb, explore) = ([Ucb::Ucb1, Ucb::Ucb1Tuned][round % 2], [1.0, 0.3, 4.0][round % 3]);
            let bounds = bounds(ucb, explore.into());
            arms.clear();
            let mut plain: Vec<(f32, f32, f32)> = Vec::new();
            for id in 0..rng.next_u32() % 60 {
                let s = 1 + (rng.next_u32() >> (rng.next_u32() % 30));
                let (sum, bias) = ((rng.next_u32() % s) as f32, if round % 5 == 0 { 0.25 } else { 0.0 });
                arms.weigh(NodeId(id), sum, s as f32, s, bias);
                plain.push((sum / s as f32, s as f32, bias));
            }
            let n: f32 = plain.iter().map(|&(_, s, _)| s).sum();
            let ln_n = libm::logf(n.max(1.0));
            let weigh = |&(p, s, bias): &(f32, f32, f32)| {
                let variance = p - p * p + (2.0 * ln_n / s).sqrt();
                match ucb {
                    Ucb::Ucb1 => p + bias + explore * (2.0 * ln_n / s).sqrt(),
                    Ucb::Ucb1Tuned => p + bias + explore * (ln_n / s * variance.min(0.25)).max(0.0).sqrt(),
                }
            };
            let weights: Vec<f32> = plain.iter().map(weigh).collect();
            let highest = weights.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let first = weights.iter().position(|&weight| weight == highest);
            assert_eq!(arms.best(&bounds), first.map(|first| NodeId(first as u32)), "{plain:?}");
        }
    }

    #[test]
    fn the_first_of_equals() {
        let mut arms = Arms::default();
        (5..8).map(NodeId).for_each(|id| arms.weigh(id, 1.5, 3.0, 3, 0.0));
        assert_eq!(arms.best(&bounds(Ucb::Ucb1, 1.0)), Some(NodeId(5)));
        assert_eq!(Arms::default().best(&bounds(Ucb::Ucb1, 1.0)), None);
    }
}
