//! The UCI dialect from the referee's side.

use std::time::{Duration, Instant};

use anqi_rules::{Game, Ply, Rules, Seat};

use super::fault::Fault;
use super::process::Process;
use super::spec::OutsideSpec;
use super::{Dialect, Question};
use crate::squares::EngineAnswer;
use crate::uci::{StartPlacement, UciCommand, UciGo, UciReply};
use anqi_play::Clock;

#[derive(Debug, Default)]
pub(super) struct Uci {
    /// The rules that the program was told, if it takes them.
    rules: Option<Rules>,
    /// Whether it declares an option for the rules.
    takes_rules: bool,
}

fn tell(to: &mut Process, command: &UciCommand) -> Result<(), Fault> {
    let text = command.to_string();
    to.send(&anqi_rules::excerpt(&text), format!("{text}\n").as_bytes())
}

/// Reads until the wanted answer.
fn listen<T>(
    to: &mut Process,
    deadline: Instant,
    limit: Duration,
    mut wanted: impl FnMut(UciReply) -> Option<T>,
) -> Result<T, Fault> {
    loop {
        let line = to.line(deadline, limit)?;
        // What is no reply of UCI is chatter.
        if let Some(found) = line.shown().parse().ok().and_then(&mut wanted) {
            return Ok(found);
        }
    }
}

fn wait_ready(to: &mut Process) -> Result<(), Fault> {
    tell(to, &UciCommand::IsReady)?;
    let patience = to.patience();
    listen(to, Instant::now() + patience, patience, |reply| (reply == UciReply::ReadyOk).then_some(()))
}

impl Dialect for Uci {
    fn greet(&mut self, to: &mut Process, spec: &OutsideSpec) -> Result<Option<String>, Fault> {
        tell(to, &UciCommand::Uci)?;
        let (patience, mut name) = (to.patience(), None);
        let takes_rules = &mut self.takes_rules;
        listen(to, Instant::now() + patience, patience, |reply| match reply {
            UciReply::Id { key, value } if key == "name" => {
                name = Some(value);
                None
            }
            UciReply::Option(declaration) => {
                *takes_rules |= declaration.starts_with("name Rules ");
                None
            }
            UciReply::UciOk => Some(()),
            _ => None,
        })?;
        for (name, value) in &spec.options {
            tell(to, &UciCommand::SetOption { name: name.clone(), value: Some(value.clone()) })?;
        }
        wait_ready(to)?;
        Ok(name)
    }

    fn start(&mut self, to: &mut Process, game: &Game, _: Seat, _: Option<Clock>) -> Result<(), Fault> {
        let rules = *game.rules();
        if self.takes_rules && self.rules != Some(rules) {
            tell(to, &UciCommand::SetOption { name: "Rules".to_owned(), value: Some(rules.to_string()) })?;
            self.rules = Some(rules);
        }
        tell(to, &UciCommand::NewGame)?;
        wait_ready(to)
    }

    fn choose(&mut self, to: &mut Process, question: &Question<'_>) -> Result<(EngineAnswer, String), Fault> {
        tell(to, &UciCommand::Position(StartPlacement::of(question.game)))?;
        tell(to, &UciCommand::Go(go(question)))?;
        let text = listen(to, question.deadline, question.limit, |reply| match reply {
            UciReply::BestMove(mv) => Some(mv),
            _ => None,
        })?;
        let answer = match (text.as_str(), text.split_at_checked(2)) {
            ("0000" | "(none)" | "resign" | "a0a0", _) => EngineAnswer::Resigns,
            (_, Some((from, to))) => EngineAnswer::of(from, to),
            _ => EngineAnswer::Nonsense,
        };
        Ok((answer, text))
    }

    /// The next `position` tells it.
    fn played(&mut self, _: &mut Process, _: &Game, _: Ply, _: Option<Duration>) -> Result<(), Fault> {
        Ok(())
    }

    fn quit(&mut self, to: &mut Process) {
        let _ = tell(to, &UciCommand::Quit);
    }
}

fn go(question: &Question<'_>) -> UciGo {
    let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    // By who moves first in the game: own and other, or the other way round.
    let by_seat =
        |own, other| if question.seat == Seat::First { [Some(own), Some(other)] } else { [Some(other), Some(own)] };
    let limits = question.limits;
    let mut go = UciGo {
        move_time: limits.time.map(milliseconds),
        nodes: limits.nodes,
        playouts: limits.playouts,
        depth: limits.depth,
        ..UciGo::default()
    };
    if let Some(left) = question.left {
        go.time = by_seat(milliseconds(left.own), milliseconds(left.other));
    }
    if let Some(clock) = question.clock.filter(|_| question.left.is_some()) {
        if clock.increment > Duration::ZERO {
            go.increment = [Some(milliseconds(clock.increment)); 2];
        }
        let made = (question.game.plies().len() / 2) as u32;
        go.moves_to_go = clock.moves.filter(|&moves| moves > 0).map(|moves| moves - made % moves);
    }
    go
}
