//! `Worth`: what a position or an action promises, as exact fractions.

use num_rational::Ratio;

/// An exact fraction.
pub type Fraction = Ratio<i64>;

/// The number nearest to a fraction.
#[must_use]
pub fn decimal(fraction: Fraction) -> f64 {
    *fraction.numer() as f64 / *fraction.denom() as f64
}

/// What best play on both sides leads to, for one player.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Worth {
    /// P(win) − P(loss).
    pub value: Fraction,
    /// P(draw), if it was asked for: of two players who prefer fewer draws where values are equal.
    pub draw: Option<Fraction>,
}

impl Worth {
    pub(crate) const fn decided(value: i64) -> Worth {
        Worth { value: Ratio::new_raw(value, 1), draw: Some(Ratio::new_raw(0, 1)) }
    }

    /// P(win), if [`draw`](Worth::draw) is known.
    #[must_use]
    pub fn win(&self) -> Option<Fraction> {
        self.draw.map(|draw| (Fraction::ONE - draw + self.value) / 2)
    }

    /// P(loss), if [`draw`](Worth::draw) is known.
    #[must_use]
    pub fn loss(&self) -> Option<Fraction> {
        self.draw.map(|draw| (Fraction::ONE - draw - self.value) / 2)
    }

    /// The same for the other player.
    #[must_use]
    pub fn for_the_other(&self) -> Worth {
        Worth { value: -self.value, ..*self }
    }
}
