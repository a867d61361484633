//! Evaluation functions as sums of weights: what tuning moves, and a player string may change.

use anqi_rules::{Position, excerpt};

use super::weights::MOST;
use super::{
    Course, DrawJudge, Dynamic, Evaluate, Evaluation, Fixed, Hand, OutcomeOnly, Situated, Weights, WeightsError,
};

/// An evaluation that is a sum of weights, each counted as often as the position says. Its gradient by the weights is
/// what [`features`](Linear::features) gives, and it is never written down a second time.
pub trait Linear: Evaluate + Default {
    /// What the weights are called.
    const NAMES: &'static [&'static str];

    /// The weights, in the order of the names.
    fn weights(&self) -> Vec<i32>;

    /// The same evaluation with other weights; those that are missing stay as they are.
    #[must_use]
    fn with_weights(weights: &[i32]) -> Self;

    /// How often each weight counts for the side to move, less how often for the other.
    fn features(&self, position: &Position) -> Vec<i32>;
}

/// Calls `$then` with an evaluation as it is, or nothing if it has no weights.
macro_rules! linear {
    ($evaluation:expr, |$eval:ident| $then:expr) => {
        match $evaluation {
            Evaluation::Static => {
                let $eval = Fixed::default();
                Some($then)
            }
            Evaluation::Dynamic => {
                let $eval = Dynamic::default();
                Some($then)
            }
            Evaluation::Course => {
                let $eval = Course::default();
                Some($then)
            }
            Evaluation::Hand => {
                let $eval = Hand::default();
                Some($then)
            }
            Evaluation::Situated | Evaluation::Draw | Evaluation::Outcome => None,
        }
    };
}

fn names_of<E: Linear>(_: &E) -> &'static [&'static str] {
    E::NAMES
}

impl Evaluation {
    /// The evaluation of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Evaluation> {
        <Evaluation as crate::options::OptionValue>::read(name)
    }

    /// Calls `then` with the evaluation, with its own weights if none are given.
    pub fn with<T>(self, weights: &[i32], then: impl FnOnce(&dyn Evaluate) -> T) -> T {
        match self {
            Evaluation::Static => then(&Fixed::with_weights(weights)),
            Evaluation::Dynamic => then(&Dynamic::with_weights(weights)),
            Evaluation::Course => then(&Course::with_weights(weights)),
            Evaluation::Hand => then(&Hand::with_weights(weights)),
            Evaluation::Situated => then(&Situated::default()),
            Evaluation::Draw => then(&DrawJudge),
            Evaluation::Outcome => then(&OutcomeOnly),
        }
    }

    /// What its weights are called; none if it has no weights to change.
    #[must_use]
    pub fn weight_names(self) -> &'static [&'static str] {
        linear!(self, |eval| names_of(&eval)).unwrap_or_default()
    }

    /// Its own weights.
    #[must_use]
    pub fn weights(self) -> Vec<i32> {
        linear!(self, |eval| eval.weights()).unwrap_or_default()
    }

    /// How often each weight counts in a position, for the side to move.
    #[must_use]
    pub fn features(self, position: &Position) -> Vec<i32> {
        linear!(self, |eval| eval.features(position)).unwrap_or_default()
    }

    /// Weights as a player string holds them, `1200/800/400/200/120/300/120`, one for each name.
    ///
    /// # Errors
    /// If there are more or fewer, or one is not a whole number up to 100,000.
    pub fn read_weights(self, text: &str) -> Result<Vec<i32>, WeightsError> {
        let weights = read_list(text).ok_or_else(|| WeightsError::BadList(excerpt(text)))?;
        self.check_weights(&weights)?;
        Ok(weights)
    }

    /// Whether there is a weight for each name.
    pub(crate) fn check_weights(self, weights: &[i32]) -> Result<(), WeightsError> {
        let names = self.weight_names();
        if weights.is_empty() || weights.len() == names.len() {
            return Ok(());
        }
        Err(WeightsError::Count { eval: self.name(), expected: names.join(", "), found: weights.len() })
    }

    /// Weights as a file holds them: `eval static`, then `name value` line by line.
    #[must_use]
    pub fn weights_text(self, weights: &[i32]) -> String {
        let lines = self.weight_names().iter().zip(weights).map(|(name, weight)| format!("{name} {weight}\n"));
        format!("eval {}\n{}", self.name(), lines.collect::<String>())
    }

    /// Reads such a file; lines that begin with `#` are comments.
    ///
    /// ```
    /// use anqi_engine::Evaluation;
    ///
    /// let text = Evaluation::Dynamic.weights_text(&Evaluation::Dynamic.weights());
    /// assert_eq!(Evaluation::read_weights_text(&text)?, (Evaluation::Dynamic, Evaluation::Dynamic.weights()));
    /// # Ok::<(), anqi_engine::WeightsError>(())
    /// ```
    ///
    /// # Errors
    /// If it says anything else, or a weight is missing or comes twice.
    pub fn read_weights_text(text: &str) -> Result<(Evaluation, Vec<i32>), WeightsError> {
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let first = lines.next().unwrap_or_default();
        let eval = first.strip_prefix("eval ").and_then(|name| Evaluation::from_name(name.trim()));
        let eval = eval.ok_or_else(|| WeightsError::NoEvaluation(excerpt(first)))?;
        let names = eval.weight_names();
        let mut values = vec![None; names.len()];
        for line in lines {
            let bad = || WeightsError::BadName { line: excerpt(line), expected: names.join(", ") };
            let (name, value) = line.split_once(char::is_whitespace).ok_or_else(bad)?;
            let place = names.iter().position(|known| *known == name).ok_or_else(bad)?;
            let value = number(value.trim()).ok_or_else(bad)?;
            if values[place].replace(value).is_some() {
                return Err(WeightsError::Twice(names[place]));
            }
        }
        let missing = |(place, value): (usize, Option<i32>)| value.ok_or(WeightsError::Missing(names[place]));
        Ok((eval, values.into_iter().enumerate().map(missing).collect::<Result<_, _>>()?))
    }
}

fn number(text: &str) -> Option<i32> {
    text.parse().ok().filter(|value| (-MOST..=MOST).contains(value))
}

pub(crate) fn read_list(text: &str) -> Option<Vec<i32>> {
    text.split('/').map(number).collect()
}

impl Linear for Fixed {
    const NAMES: &'static [&'static str] = &super::weights::NAMES;

    fn weights(&self) -> Vec<i32> {
        self.0.0.to_vec()
    }

    fn with_weights(weights: &[i32]) -> Fixed {
        let mut eval = Fixed::default();
        eval.0.0.iter_mut().zip(weights).for_each(|(place, weight)| *place = *weight);
        eval
    }

    fn features(&self, position: &Position) -> Vec<i32> {
        each_weight(7, |place| {
            let mut unit = Weights([0; 7]);
            unit.0[place] = 1;
            Fixed(unit).evaluate(position).0
        })
    }
}

impl Linear for Course {
    const NAMES: &'static [&'static str] =
        &["king", "guard", "minister", "rook", "knight", "cannon", "pawn", "mobility"];

    fn weights(&self) -> Vec<i32> {
        self.weights.0.iter().copied().chain([self.mobility]).collect()
    }

    fn with_weights(weights: &[i32]) -> Course {
        let mut eval = Course::default();
        let places = eval.weights.0.iter_mut().chain([&mut eval.mobility]);
        places.zip(weights).for_each(|(place, weight)| *place = *weight);
        eval
    }

    fn features(&self, position: &Position) -> Vec<i32> {
        each_weight(Course::NAMES.len(), |place| {
            let mut unit = vec![0; Course::NAMES.len()];
            unit[place] = 1;
            Course { useless: self.useless, ..Course::with_weights(&unit) }.evaluate(position).0
        })
    }
}

impl Linear for Dynamic {
    const NAMES: &'static [&'static str] = &[
        "top",
        "one-above",
        "two-above",
        "three-above",
        "four-above",
        "pawn",
        "petty-pawn",
        "cannon",
        "carriage",
        "unsafe-cannon",
    ];

    fn weights(&self) -> Vec<i32> {
        let others = [self.pawn, self.petty, self.cannon, self.carriage, self.unsafe_cannon];
        self.place.into_iter().chain(others).collect()
    }

    fn with_weights(weights: &[i32]) -> Dynamic {
        let mut eval = Dynamic::default();
        let Dynamic { place, pawn, petty, cannon, carriage, unsafe_cannon } = &mut eval;
        let places = place.iter_mut().chain([pawn, petty, cannon, carriage, unsafe_cannon]);
        places.zip(weights).for_each(|(place, weight)| *place = *weight);
        eval
    }

    fn features(&self, position: &Position) -> Vec<i32> {
        each_weight(Dynamic::NAMES.len(), |place| {
            let mut unit = vec![0; Dynamic::NAMES.len()];
            unit[place] = 1;
            Dynamic::with_weights(&unit).evaluate(position).0
        })
    }
}

impl Linear for Hand {
    const NAMES: &'static [&'static str] = &Hand::NAMES;

    fn weights(&self) -> Vec<i32> {
        self.0.to_vec()
    }

    fn with_weights(weights: &[i32]) -> Hand {
        let mut eval = Hand::default();
        eval.0.iter_mut().zip(weights).for_each(|(place, weight)| *place = *weight);
        eval
    }

    fn features(&self, position: &Position) -> Vec<i32> {
        let mut features = vec![0; Hand::COUNT];
        Hand::count(position, |place, times| features[place] += times);
        features
    }
}

/// The evaluation of a position with weight 1 for one name and 0 for the others is how often that name counts.
fn each_weight(count: usize, unit: impl Fn(usize) -> i32) -> Vec<i32> {
    (0..count).map(unit).collect()
}

#[cfg(test)]
mod tests {
    use anqi_rules::{Deal, Game, Position, Rules, Seed};
    use proptest::prelude::*;
    use rand_core::Rng;

    use super::*;

    /// Where a random game stands after so many plies.
    fn random_position(seed: u64, plies: usize) -> Position {
        let (rules, seed) = (Rules::server(), Seed::from(seed));
        let (deal, mut game, mut rng) = (Deal::new(&rules, &seed), Game::new(rules), seed.child("moves").rng());
        for _ in 0..plies {
            let moves = game.legal_moves();
            let Some(&mv) = moves.get(rng.next_u32() as usize % moves.len().max(1)) else { break };
            game.play(deal.resolve(mv).unwrap()).unwrap();
        }
        *game.position()
    }

    proptest! {
        #[test]
        fn an_evaluation_is_its_weights_times_its_features(
            seed: u64, plies in 0_usize..200, list in prop::collection::vec(-2000..2000, Hand::COUNT)
        ) {
            let position = random_position(seed, plies);
            for eval in [Evaluation::Static, Evaluation::Dynamic, Evaluation::Course, Evaluation::Hand] {
                let weights = &list[..eval.weight_names().len()];
                let features = eval.features(&position);
                let sum: i32 = features.iter().zip(weights).map(|(feature, weight)| feature * weight).sum();
                prop_assert_eq!(eval.with(weights, |eval| eval.evaluate(&position)).0, sum, "{}", eval.name());
                // Without weights it is itself, and nothing that comes later is beyond its bound.
                let own: i32 = features.iter().zip(eval.weights()).map(|(feature, weight)| feature * weight).sum();
                prop_assert_eq!(eval.with(&[], |eval| eval.evaluate(&position)).0, own);
                for later in [plies, plies + 5, plies + 60] {
                    let later = random_position(seed, later);
                    let (value, bound) =
                        eval.with(weights, |eval| (eval.evaluate(&later).0.abs(), eval.bound(&position)));
                    prop_assert!(value <= bound, "{} {} beyond {}", eval.name(), value, bound);
                }
            }
        }

        #[test]
        fn files_go_round(list in prop::collection::vec(-100_000..=100_000, Hand::COUNT)) {
            for eval in [Evaluation::Static, Evaluation::Dynamic, Evaluation::Course, Evaluation::Hand] {
                let weights = list[..eval.weight_names().len()].to_vec();
                prop_assert_eq!(Evaluation::read_weights_text(&eval.weights_text(&weights)), Ok((eval, weights)));
            }
        }
    }

    #[test]
    fn shows_what_is_wrong() {
        for (text, message) in [
            ("king 3", "\"king 3\" names no evaluation, expected a first line such as: eval static"),
            ("eval static\nking 3", "no weight for guard"),
            ("eval static\nking 3\nking 4", "king is given twice"),
            (
                "eval static\nkind 3",
                "bad weight \"kind 3\", expected one of king, guard, minister, rook, knight, cannon, pawn \
                 and a number up to 100000",
            ),
        ] {
            assert_eq!(Evaluation::read_weights_text(text).unwrap_err().to_string(), message);
        }
        let message = Evaluation::Static.read_weights("1/2/3").unwrap_err().to_string();
        assert_eq!(
            message,
            "evaluation static has 7 weights (king, guard, minister, rook, knight, cannon, pawn), found 3"
        );
        assert!(Evaluation::Static.read_weights("1/2/3/4/5/6/100001").is_err());
    }
}
