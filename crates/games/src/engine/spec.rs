//! `EngineSpec`: an engine as text, `proto=uci cmd=stockfish nodes=1000`.

use std::fmt;
use std::str::FromStr;

use anqi_engine::Limits;
use anqi_protocol::{Fault, OutsideSpec, OutsideSpecError};
use anqi_rules::excerpt;

use super::{Engine, gtp, uci};
use crate::record::GameKind;

/// What an engine speaks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum GameProtocol {
    /// Chess.
    Uci,
    /// Go.
    Gtp,
    /// Shogi.
    Usi,
}

impl GameProtocol {
    /// UCI, GTP, USI.
    pub const ALL: [GameProtocol; 3] = [GameProtocol::Uci, GameProtocol::Gtp, GameProtocol::Usi];

    /// `uci`, `gtp` or `usi`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            GameProtocol::Uci => "uci",
            GameProtocol::Gtp => "gtp",
            GameProtocol::Usi => "usi",
        }
    }

    /// The game that it is for.
    #[must_use]
    pub const fn kind(self) -> GameKind {
        match self {
            GameProtocol::Uci => GameKind::Chess,
            GameProtocol::Gtp => GameKind::Go,
            GameProtocol::Usi => GameKind::Shogi,
        }
    }
}

/// An engine and what it may spend on a position.
///
/// Beside the words of [`OutsideSpec`] (`cmd`, `dir`, `name`, `movetime`, `nodes`, `depth`, `margin`, `patience`,
/// `option.NAME`) there are `proto=uci|gtp|usi`, and
/// - `go=WORDS` for UCI and USI: what is said after `go`, for engines with limits of their own;
/// - `ask=COMMAND` for GTP: the command whose answer is the value, such as `estimate_score` or `experimental_score`.
///
/// ```
/// use anqi_games::EngineSpec;
///
/// let text = "proto=usi cmd=gpsusi go=infinite option.LimitDepth=4";
/// let spec: EngineSpec = text.parse()?;
/// assert_eq!(spec.to_string().parse::<EngineSpec>()?, spec);
/// assert!(spec.is_bounded());
/// assert!(!"proto=uci cmd=stockfish".parse::<EngineSpec>()?.is_bounded());
/// # Ok::<(), anqi_games::EngineSpecError>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct EngineSpec {
    /// What it speaks.
    pub protocol: GameProtocol,
    /// The program, its limits and options.
    pub program: OutsideSpec,
    /// What is said after `go`, if not the limits of the program.
    pub go: Option<String>,
    /// The command of GTP whose answer is the value, if not the first that the engine knows.
    pub ask: Option<String>,
}

/// Why a text describes no engine.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum EngineSpecError {
    /// Not even a program.
    #[error(transparent)]
    Program(#[from] OutsideSpecError),
    /// No protocol, or an unknown one.
    #[error("bad value {0:?} for proto, expected uci, gtp or usi")]
    Protocol(String),
    /// A key that means nothing with this protocol.
    #[error("{key} means nothing to an engine that speaks {protocol}")]
    Meaningless {
        /// The key.
        key: &'static str,
        /// The protocol.
        protocol: &'static str,
    },
    /// Text that would be more than one line.
    #[error("{0:?} has a line break")]
    LineBreak(String),
}

impl FromStr for EngineSpec {
    type Err = EngineSpecError;

    fn from_str(text: &str) -> Result<EngineSpec, EngineSpecError> {
        let (mut own, mut others): ([Option<String>; 3], Vec<String>) = Default::default();
        for word in OutsideSpec::words(text)? {
            let place = ["proto=", "go=", "ask="].iter().position(|key| word.starts_with(key));
            match place {
                // Where it is given twice, the description of the program will say so.
                Some(place) if own[place].is_none() => {
                    own[place] = word.split_once('=').map(|(_, value)| value.to_owned());
                }
                Some(_) => return Err(OutsideSpecError::Twice(excerpt(&word)).into()),
                None => others.push(word),
            }
        }
        let [protocol, go, ask] = own;
        let protocol = protocol.unwrap_or_default();
        let known = GameProtocol::ALL.into_iter().find(|known| known.name() == protocol);
        let protocol = known.ok_or_else(|| EngineSpecError::Protocol(excerpt(&protocol)))?;
        let spec = EngineSpec { protocol, program: OutsideSpec::from_words(&others)?, go, ask };
        spec.check()?;
        Ok(spec)
    }
}

impl EngineSpec {
    fn check(&self) -> Result<(), EngineSpecError> {
        let OutsideSpec { clock, limits, restart, options, .. } = &self.program;
        let is_gtp = self.protocol == GameProtocol::Gtp;
        let limited = has_limit(limits);
        let meaningless = [
            ("tc", clock.is_some()),
            ("playouts", limits.playouts.is_some()),
            ("restart", *restart),
            ("ask", self.ask.is_some() && !is_gtp),
            ("go", self.go.is_some() && is_gtp),
            ("nodes, depth or movetime", limited && is_gtp),
            ("option", is_gtp && !options.is_empty()),
        ];
        if let Some(&(key, _)) = meaningless.iter().find(|(_, given)| *given) {
            return Err(EngineSpecError::Meaningless { key, protocol: self.protocol.name() });
        }
        let option_words = options.iter().flat_map(|(name, value)| [name, value]);
        if let Some(bad) = self.go.iter().chain(&self.ask).chain(option_words).find(|text| text.contains(['\n', '\r']))
        {
            return Err(EngineSpecError::LineBreak(excerpt(bad)));
        }
        Ok(())
    }

    /// Whether it is said how long it may think; engines of Go are told by their own arguments.
    #[must_use]
    pub fn is_bounded(&self) -> bool {
        self.protocol == GameProtocol::Gtp || self.go.is_some() || has_limit(&self.program.limits)
    }

    /// Starts the engine and shakes hands with it.
    ///
    /// # Errors
    /// If it does not start or misbehaves, or has no limit for its thinking.
    pub fn launch(&self) -> Result<Box<dyn Engine>, Fault> {
        if !self.is_bounded() {
            let limits = "nodes=…, depth=…, movetime=… or go=…";
            return Err(Fault::Unsupported(format!(
                "how long may {} think? Expected {limits}",
                self.program.display_name()
            )));
        }
        Ok(match self.protocol {
            GameProtocol::Uci | GameProtocol::Usi => Box::new(uci::Uci::launch(self)?),
            GameProtocol::Gtp => Box::new(gtp::Gtp::launch(self)?),
        })
    }
}

fn has_limit(limits: &Limits) -> bool {
    limits.nodes.is_some() || limits.depth.is_some() || limits.time.is_some()
}

impl fmt::Display for EngineSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "proto={} {}", self.protocol.name(), self.program)?;
        for (key, value) in [("go", &self.go), ("ask", &self.ask)] {
            if let Some(value) = value {
                write!(f, " {}", OutsideSpec::quoted(&format!("{key}={value}")))?;
            }
        }
        Ok(())
    }
}
