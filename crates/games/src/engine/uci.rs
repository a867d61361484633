//! UCI, and USI, which is the same with other names.

use std::time::{Duration, Instant};

use anqi_protocol::{Fault, Talk};
use anqi_rules::excerpt;

use super::{Engine, EngineMove, EngineSpec, GameProtocol};
use crate::board::WinOrDraw;
use crate::record::{GameKind, PlayedPosition};
use crate::score::{EngineValue, finite, mate_from};

#[derive(Debug)]
pub(super) struct Uci {
    talk: Talk,
    name: String,
    kind: GameKind,
    words: Words,
    /// What is said after `go`.
    go: String,
    /// How long an answer to that may take, and to anything else.
    limit: Duration,
    patience: Duration,
}

/// What differs between the two protocols.
#[derive(Clone, Copy, Debug)]
struct Words {
    hello: &'static str,
    hello_ok: &'static str,
    new_game: &'static str,
    /// Whether `isready` must come before everything else; in UCI it may come at any time.
    ready_first: bool,
}

const UCI: Words = Words { hello: "uci", hello_ok: "uciok", new_game: "ucinewgame", ready_first: false };
const USI: Words = Words { hello: "usi", hello_ok: "usiok", new_game: "usinewgame", ready_first: true };

impl Uci {
    pub(super) fn launch(spec: &EngineSpec) -> Result<Uci, Fault> {
        let program = &spec.program;
        let mut engine = Uci {
            talk: Talk::start(program)?,
            name: program.display_name().to_owned(),
            kind: spec.protocol.kind(),
            words: if spec.protocol == GameProtocol::Usi { USI } else { UCI },
            go: spec.go.clone().unwrap_or_else(|| limits(program)),
            limit: program.limits.time.map_or(program.patience, |time| time + program.margin),
            patience: program.patience,
        };
        engine.talk.tell(engine.words.hello)?;
        let hello_ok = engine.words.hello_ok;
        let (mut name, mut options) = (None, Vec::new());
        engine.listen(engine.patience, |line| {
            name = name.take().or_else(|| line.strip_prefix("id name ").map(str::to_owned));
            let option = line.strip_prefix("option name ").and_then(|option| option.split_once(" type "));
            options.extend(option.map(|(name, _)| name.to_ascii_lowercase()));
            (line == hello_ok).then_some(())
        })?;
        if program.name.is_none() {
            engine.name = name.unwrap_or(engine.name);
        }
        for (name, value) in &program.options {
            // Engines pass over what they do not know, so a mistake would not be noticed.
            if !options.contains(&name.to_ascii_lowercase()) {
                return Err(Fault::Unsupported(format!("{} has no option {:?}", engine.name, excerpt(name))));
            }
            engine.talk.tell(&format!("setoption name {name} value {value}"))?;
        }
        engine.wait_ready()?;
        Ok(engine)
    }

    /// Listens until a line is what we want.
    fn listen<T>(&mut self, limit: Duration, mut wanted: impl FnMut(&str) -> Option<T>) -> Result<T, Fault> {
        let deadline = Instant::now() + limit;
        loop {
            if let Some(found) = wanted(self.talk.hear(deadline, limit)?.trim_end()) {
                return Ok(found);
            }
        }
    }

    fn wait_ready(&mut self) -> Result<(), Fault> {
        self.talk.tell("isready")?;
        self.listen(self.patience, |line| (line == "readyok").then_some(()))
    }

    /// Asks about a position, and forgets all positions before.
    fn think(&mut self, position: &PlayedPosition<'_>) -> Result<(String, Option<EngineValue>), Fault> {
        self.talk.tell(self.words.new_game)?;
        if !self.words.ready_first {
            self.wait_ready()?;
        }
        self.talk.tell(&format!("position {position}"))?;
        let go = format!("go {}", self.go);
        self.talk.tell(go.trim_end())?;
        let mut said = Said::default();
        let mv = self.listen(self.limit, |line| {
            if let Some(mv) = line.strip_prefix("bestmove ") {
                return Some(mv.split_whitespace().next().unwrap_or_default().to_owned());
            }
            said.read(line);
            None
        })?;
        if let Some(bad) = said.bad {
            return Err(Fault::Malformed { asked: go, answer: bad, expected: "a score of cp NUMBER or mate NUMBER" });
        }
        Ok((mv, said.exact.or(said.bound)))
    }
}

fn limits(program: &anqi_protocol::OutsideSpec) -> String {
    let limits = program.limits;
    let time = limits.time.map(|time| ("movetime", time.as_millis() as u64));
    let counts = [limits.nodes.map(|nodes| ("nodes", nodes)), limits.depth.map(|depth| ("depth", depth.into())), time];
    counts.into_iter().flatten().map(|(word, number)| format!("{word} {number}")).collect::<Vec<_>>().join(" ")
}

/// What the lines of `info` have said so far.
#[derive(Debug, Default)]
struct Said {
    /// The last score of the best line.
    exact: Option<EngineValue>,
    /// The last bound of one, should there be nothing better.
    bound: Option<EngineValue>,
    /// A score that is none.
    bad: Option<String>,
}

impl Said {
    fn read(&mut self, line: &str) {
        let mut words = line.split_whitespace();
        if words.next() != Some("info") {
            return;
        }
        let (mut score, mut is_bound) = (None, false);
        while let Some(word) = words.next() {
            match word {
                // The rest is free text.
                "string" => break,
                // Other lines are worth less by definition.
                "multipv" if words.next().is_some_and(|number| number != "1") => return,
                "lowerbound" | "upperbound" => is_bound = true,
                "score" => {
                    let (unit, value) = (words.next(), words.next().unwrap_or_default());
                    score = match unit {
                        Some("cp") => finite(value).map(EngineValue::Centipawns),
                        Some("mate") => mate_from(value),
                        _ => None,
                    };
                    if score.is_none() {
                        self.bad = Some(excerpt(line));
                    }
                }
                _ => {}
            }
        }
        if score.is_some() {
            *(if is_bound { &mut self.bound } else { &mut self.exact }) = score;
        }
    }
}

impl Engine for Uci {
    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> GameKind {
        self.kind
    }

    fn evaluate(&mut self, position: &PlayedPosition<'_>) -> Result<EngineValue, Fault> {
        let (mv, said) = self.think(position)?;
        // USI: who gives up or has no move is mated, who claims a win has it.
        let by_move = match mv.as_str() {
            "resign" => Some(EngineValue::Mate { wins: false, distance: None }),
            "win" => Some(EngineValue::Mate { wins: true, distance: None }),
            _ => None,
        };
        said.or(by_move).ok_or_else(|| Fault::Malformed {
            asked: format!("go {}", self.go),
            answer: format!("bestmove {}", excerpt(&mv)),
            expected: "a score before the move",
        })
    }

    fn choose(
        &mut self,
        position: &PlayedPosition<'_>,
        _seed: u64,
    ) -> Result<(EngineMove, Option<EngineValue>), Fault> {
        let (mv, said) = self.think(position)?;
        let choice = match mv.as_str() {
            "resign" | "(none)" | "0000" => EngineMove::Resign,
            "win" => EngineMove::Win,
            _ => EngineMove::Move(mv),
        };
        Ok((choice, said))
    }

    /// The rules of these games leave nothing to count.
    fn count(&mut self, _: &PlayedPosition<'_>) -> Result<Option<WinOrDraw>, Fault> {
        Ok(None)
    }

    fn quit(self: Box<Self>) {
        self.talk.quit("quit");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(lines: &[&str], exact: Option<&str>, bound: Option<&str>, bad: bool) {
        let mut said = Said::default();
        lines.iter().for_each(|line| said.read(line));
        let read = |text: Option<&str>| text.map(|text| text.parse::<EngineValue>().unwrap());
        assert_eq!((said.exact, said.bound, said.bad.is_some()), (read(exact), read(bound), bad), "{lines:?}");
    }

    #[test]
    fn scores_of_info_lines() {
        check(&["info depth 1 score cp 13 nodes 20", "info depth 2 score cp -7 pv e2e4"], Some("cp -7"), None, false);
        check(&["info score cp 13", "info score cp 90 lowerbound nodes 1"], Some("cp 13"), Some("cp 90"), false);
        check(&["info multipv 1 score mate -3", "info multipv 2 score cp 5"], Some("mate -3"), None, false);
        check(&["info score mate +", "bestmove x"], Some("mate +"), None, false);
        check(&["info string score cp x", "score cp 3", "info nodes 3", ""], None, None, false);
        for bad in ["info score cp nan", "info score", "info score cp", "info score elo 3", "info score mate x"] {
            check(&[bad], None, None, true);
        }
    }
}
