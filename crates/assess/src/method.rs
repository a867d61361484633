//! `Method`: who values the positions of this game, and what its name is.

use std::fmt;
use std::str::FromStr;

use anqi_engine::{
    BuildError, Evaluation, Limits, Player, PlayerSpec, Resources, SpecError, Stop, WeightsError, quiesce,
};
use anqi_rules::{Game, Seed, excerpt};

use crate::evaluate::Judge;

/// A player with a budget, or an evaluation function alone: `eval:static`, or with captures played out first,
/// `eval:static,quiet`.
///
/// ```
/// use anqi_assess::Method;
///
/// for text in ["mcts:chance", "chen:var1", "eval:static", "eval:dynamic,quiet"] {
///     assert_eq!(text.parse::<Method>()?.to_string(), text);
/// }
/// # Ok::<(), anqi_assess::MethodError>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub enum Method {
    /// A player.
    Player(PlayerSpec),
    /// An evaluation function.
    Evaluation {
        /// Which.
        eval: Evaluation,
        /// Its weights, if they are not its own.
        weights: Vec<i32>,
        /// Whether captures are played out first.
        quiet: bool,
    },
}

/// Why a text names no method.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum MethodError {
    /// Not a player.
    #[error(transparent)]
    Player(#[from] SpecError),
    /// Not an evaluation.
    #[error("unknown evaluation {name:?}, expected one of {}", Evaluation::NAMES.join(", "))]
    Evaluation {
        /// What was given.
        name: String,
    },
    /// Not an option of evaluations.
    #[error("unknown option {0:?} of an evaluation, expected quiet or weights=")]
    Option(String),
    /// A player that remembers.
    #[error("{0:?} keeps what it searched: its value of a position would depend on the one before")]
    Keeps(String),
    /// Bad weights.
    #[error(transparent)]
    Weights(#[from] WeightsError),
}

impl Method {
    /// Whether a budget means anything to it.
    #[must_use]
    pub const fn takes_budget(&self) -> bool {
        matches!(self, Method::Player(_))
    }

    /// What the values of this method are known by: the fingerprint of the player as a judge, or the name of an evaluation
    /// with its weights.
    ///
    /// # Errors
    /// If a file that the player names was not [opened](Resources::open_for).
    pub fn identity(&self, resources: &Resources) -> Result<String, BuildError> {
        match self {
            Method::Player(spec) => Ok(spec.impartial().fingerprint(resources)?.to_string()),
            Method::Evaluation { .. } => Ok(self.to_string()),
        }
    }

    /// A judge by this method. The same seed gives the same values.
    ///
    /// # Errors
    /// If a file that the player names was not [opened](Resources::open_for).
    pub fn judge(&self, limits: Limits, seed: Seed, resources: &Resources) -> Result<MethodJudge, BuildError> {
        let player = match self {
            Method::Player(spec) => Some(spec.impartial().build(seed, resources)?),
            Method::Evaluation { .. } => None,
        };
        Ok(MethodJudge { method: self.clone(), player, limits })
    }
}

impl FromStr for Method {
    type Err = MethodError;

    fn from_str(text: &str) -> Result<Method, MethodError> {
        let Some(rest) = text.strip_prefix("eval:") else {
            let spec: PlayerSpec = text.parse()?;
            let keeps = spec.table().iter().any(|option| option.name == "keep" && option.default == "on");
            return if keeps { Err(MethodError::Keeps(excerpt(text))) } else { Ok(Method::Player(spec)) };
        };
        let mut parts = rest.split(',');
        let name = parts.next().unwrap_or_default();
        let eval = Evaluation::from_name(name).ok_or_else(|| MethodError::Evaluation { name: excerpt(name) })?;
        let (mut quiet, mut weights) = (false, Vec::new());
        for part in parts {
            match part.split_once('=') {
                None if part == "quiet" => quiet = true,
                Some(("weights", list)) => weights = eval.read_weights(list)?,
                _ => return Err(MethodError::Option(excerpt(part))),
            }
        }
        Ok(Method::Evaluation { eval, weights, quiet })
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Method::Player(spec) => spec.fmt(f),
            Method::Evaluation { eval, weights, quiet } => {
                write!(f, "eval:{}", eval.name())?;
                if !weights.is_empty() {
                    let list: Vec<String> = weights.iter().map(ToString::to_string).collect();
                    write!(f, ",weights={}", list.join("/"))?;
                }
                if *quiet { f.write_str(",quiet") } else { Ok(()) }
            }
        }
    }
}

/// A method at work.
pub struct MethodJudge {
    method: Method,
    player: Option<Box<dyn Player>>,
    limits: Limits,
}

impl Judge for MethodJudge {
    type Position = Game;

    fn value(&mut self, game: &Game, stop: &Stop) -> Result<f64, String> {
        match (&self.method, &mut self.player) {
            (Method::Player(spec), Some(player)) => {
                let choice = player.choose(game, &self.limits, stop);
                choice.map(|choice| spec.value_of(game.position(), &choice)).ok_or_else(|| "no move".to_owned())
            }
            (Method::Evaluation { eval, weights, quiet }, _) => {
                let position = game.position();
                let score =
                    eval.with(weights, |eval| if *quiet { quiesce(eval, position) } else { eval.evaluate(position) });
                Ok(if score.is_decided() { f64::INFINITY.copysign(f64::from(score.0)) } else { f64::from(score.0) })
            }
            (Method::Player(_), None) => Err("no player".to_owned()),
        }
    }
}
