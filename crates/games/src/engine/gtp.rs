//! GTP: engines of Go.

use std::time::{Duration, Instant};

use anqi_protocol::{Fault, Talk};
use anqi_rules::{Seat, excerpt};

use super::{Engine, EngineMove, EngineSpec};
use crate::board::WinOrDraw;
use crate::record::{GameKind, GameStart, PlayedPosition};
use crate::score::{EngineValue, finite};

#[derive(Debug)]
pub(super) struct Gtp {
    talk: Talk,
    name: String,
    /// The commands it knows.
    known: Vec<String>,
    ask: String,
    patience: Duration,
}

/// Commands whose answer is a score; the first that an engine knows is asked.
const SCORES: [&str; 3] = ["estimate_score", "experimental_score", "final_score"];

impl Gtp {
    pub(super) fn launch(spec: &EngineSpec) -> Result<Gtp, Fault> {
        let program = &spec.program;
        let mut engine = Gtp {
            talk: Talk::start(program)?,
            name: program.display_name().to_owned(),
            known: Vec::new(),
            ask: String::new(),
            patience: program.patience,
        };
        let (name, version) = (engine.ask("name")?, engine.ask("version")?);
        if program.name.is_none() {
            engine.name = format!("{name} {version}").trim().to_owned();
        }
        engine.known = engine.ask("list_commands")?.split_whitespace().map(str::to_owned).collect();
        let wanted = spec.ask.as_deref().map_or_else(|| SCORES.to_vec(), |ask| vec![ask]);
        let knows = |ask: &&str| ask.split_whitespace().next().is_some_and(|command| engine.knows(command));
        let ask = wanted.iter().copied().find(knows);
        engine.ask = ask.map(str::to_owned).ok_or_else(|| {
            Fault::Unsupported(format!("{} has no command {} to ask for a value", engine.name, wanted.join(" or ")))
        })?;
        Ok(engine)
    }

    fn knows(&self, command: &str) -> bool {
        self.known.iter().any(|known| known == command)
    }

    /// Sends a command; gives the answer, refusals are faults.
    fn ask(&mut self, command: &str) -> Result<String, Fault> {
        self.talk.tell(command)?;
        let deadline = Instant::now() + self.patience;
        let mut answer: Option<String> = None;
        loop {
            let line = self.talk.hear(deadline, self.patience)?;
            let line = line.trim_end();
            match (&mut answer, line.as_bytes().first()) {
                // An empty line ends an answer, and means nothing elsewhere.
                (Some(_), None) => break,
                (Some(answer), Some(_)) => {
                    answer.push('\n');
                    answer.push_str(line);
                }
                (None, Some(b'=' | b'?')) => answer = Some(line.to_owned()),
                (None, _) => {}
            }
        }
        let answer = answer.unwrap_or_default();
        match answer.strip_prefix('=') {
            Some(text) => Ok(text.trim().to_owned()),
            None => Err(Fault::Refused { asked: excerpt(command), answer: excerpt(&answer) }),
        }
    }

    /// Tells it a position from the empty board on, and lets it forget what it can forget.
    fn set_up(&mut self, position: &PlayedPosition<'_>, seed: u64) -> Result<(), Fault> {
        let GameStart::Go { size, komi, stones, .. } = position.start() else {
            return Err(Fault::Unsupported(format!("{} plays Go alone", self.name)));
        };
        if self.knows("clear_cache") {
            self.ask("clear_cache")?;
        }
        if self.knows("set_random_seed") {
            // GNU Go takes seeds of 31 bits.
            self.ask(&format!("set_random_seed {}", seed & 0x7fff_ffff))?;
        }
        self.ask(&format!("boardsize {size}"))?;
        self.ask("clear_board")?;
        self.ask(&format!("komi {komi}"))?;
        for (side, vertex) in stones {
            self.ask(&format!("play {} {vertex}", color(*side)))?;
        }
        for (side, mv) in position.moves() {
            self.ask(&format!("play {} {mv}", color(side)))?;
        }
        Ok(())
    }

    fn score(&mut self, command: &str, turn: Seat) -> Result<EngineValue, Fault> {
        let answer = self.ask(command)?;
        let lead = lead(&answer).ok_or_else(|| Fault::Malformed {
            asked: command.to_owned(),
            answer: excerpt(&answer),
            expected: "a score such as B+3.5, W+0.5 or 0",
        })?;
        Ok(EngineValue::Lead(lead).seen_by(turn))
    }
}

const fn color(side: Seat) -> &'static str {
    match side {
        Seat::First => "black",
        Seat::Second => "white",
    }
}

/// What Black leads by, out of `B+3.5 (upper bound: …)`, `W+0.5` or `0`. A number alone is what White leads by, as GNU Go's
/// `experimental_score` gives it.
fn lead(answer: &str) -> Option<f64> {
    let first = answer.split_whitespace().next()?;
    match first.split_once('+') {
        Some(("B", lead)) => finite(lead),
        Some(("W", lead)) => finite(lead).map(|lead| 0.0 - lead),
        _ => finite(first).map(|lead| 0.0 - lead),
    }
}

impl Engine for Gtp {
    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> GameKind {
        GameKind::Go
    }

    fn evaluate(&mut self, position: &PlayedPosition<'_>) -> Result<EngineValue, Fault> {
        self.set_up(position, 0)?;
        let turn = position.turn();
        // Only this command names the side to move.
        let command = match self.ask.as_str() {
            "experimental_score" => format!("experimental_score {}", color(turn)),
            other => other.to_owned(),
        };
        self.score(&command, turn)
    }

    fn choose(&mut self, position: &PlayedPosition<'_>, seed: u64) -> Result<(EngineMove, Option<EngineValue>), Fault> {
        self.set_up(position, seed)?;
        let turn = position.turn();
        // Its value before its move, by the same command as ever.
        let value = match self.ask.as_str() {
            "estimate_score" => Some(self.score("estimate_score", turn)?),
            _ => None,
        };
        let answer = self.ask(&format!("genmove {}", color(turn)))?;
        let choice = if answer.eq_ignore_ascii_case("resign") { EngineMove::Resign } else { EngineMove::Move(answer) };
        Ok((choice, value))
    }

    fn count(&mut self, position: &PlayedPosition<'_>) -> Result<Option<WinOrDraw>, Fault> {
        if !self.knows("final_score") {
            return Ok(None);
        }
        self.set_up(position, 0)?;
        let lead = self.score("final_score", Seat::First)?.value();
        Ok(Some(match lead {
            0.0 => WinOrDraw::Draw,
            lead if lead > 0.0 => WinOrDraw::Win(Seat::First),
            _ => WinOrDraw::Win(Seat::Second),
        }))
    }

    fn quit(self: Box<Self>) {
        self.talk.quit("quit");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_of_answers() {
        assert_eq!(lead("W+10.3 (upper bound: 10.3, lower: 10.3)"), Some(-10.3));
        assert_eq!(lead("B+73.5"), Some(73.5));
        assert_eq!(lead("-64.7"), Some(64.7));
        assert_eq!(lead("0"), Some(0.0));
        for nonsense in ["", "B", "B+", "B+nan", "W+inf", "R+1", "nan", "unknown"] {
            assert_eq!(lead(nonsense), None, "{nonsense}");
        }
    }
}
