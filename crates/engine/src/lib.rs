//! What to play? The programs of the literature, by name.
//!
//! A [`PlayerSpec`] is a line of text that names a player and its options; it builds a [`Player`], which
//! looks at a game and answers with a [`Choice`]: a move, its score, and why.
//!
//! ```
//! use anqi_engine::{Limits, PlayerSpec, Resources, Stop};
//! use anqi_rules::{Game, Rules, Seed};
//!
//! let spec: PlayerSpec = "chen:var1".parse()?;
//! let rules = Rules::chen();
//! let position = "4/1K2/1p2/4/4/4/4/4 b -".parse()?;
//! let game = Game::from_position(rules, position)?;
//! let mut player = spec.build(Seed::from(1), &Resources::default())?;
//! let choice = player.choose(&game, &Limits::nodes(10_000), &Stop::default());
//! assert_eq!(choice.unwrap().mv.to_string(), "b6-b7"); // the pawn takes the king
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(test)]
mod behaviour;
mod champion;
mod eval;
#[cfg(feature = "files")]
mod files;
mod fingerprint;
mod limits;
mod line;
mod mcts;
mod minimax;
mod options;
mod player;
pub mod printed;
mod random;
mod reference;
mod resources;
mod score;
mod spec;
mod tables;
mod time;

pub use anqi_task::Stop;
pub use champion::{ChampionOptions, Chances, NetOption, chances, chances_in_tables, expected};
pub use eval::{
    Course, DrawJudge, Dynamic, Evaluate, Evaluation, Fixed, Hand, Linear, NetworkError, NetworkFacts, OutcomeOnly,
    Situated, Weights, WeightsError, play_out_captures, quiesce, view,
};
pub use fingerprint::{Fingerprint, FingerprintError};
pub use limits::Limits;
pub use mcts::{Average, Backup, Draws, FlatOptions, MctsOptions, Nodes, Proofs, Ucb};
pub use minimax::chen::{Below, ChenOptions, FlipPlace, FlipPolicy, Flips, TypeOrder};
pub use minimax::decision::{Among, ChanceBy, Decision, SumOf};
pub use minimax::negascout::{NegaScoutOptions, TableSize};
pub use options::{OptionError, OptionInfo, WeightList};
pub use player::{Candidate, Choice, FlipOutcome, Player, ResultCounts, SearchStats};
pub use reference::ReferenceOptions;
pub use resources::{BuildError, Resources, TableSource};
pub use score::Score;
pub use spec::{PlayerSpec, Preset, SpecError};
pub use tables::TablesOption;
pub use time::TimeSource;
