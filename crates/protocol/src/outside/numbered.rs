//! Protocol A from the referee's side: every command waits for its answer, and every other line is skipped.

use std::time::{Duration, Instant};

use anqi_rules::{Color, Game, Ply, Position, Repeat, Rules, Seat};

use super::fault::Fault;
use super::process::Process;
use super::spec::OutsideSpec;
use super::{Dialect, Question};
use crate::numbered::{InitBoard, NumberedCommand, NumberedReply};
use crate::squares::EngineAnswer;
use anqi_play::Clock;

#[derive(Debug)]
pub(super) struct Numbered;

/// Sends the commands at once, and waits for the answer to each; gives the last one.
fn ask(
    to: &mut Process,
    commands: &[NumberedCommand],
    deadline: Instant,
    limit: Duration,
) -> Result<NumberedReply, Fault> {
    let text: String = commands.iter().map(|command| format!("{command}\n")).collect();
    let asked = commands.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
    to.send(&asked, text.as_bytes())?;
    let mut last = NumberedReply { id: None, ok: true, text: String::new() };
    for command in commands {
        last = loop {
            let line = to.line(deadline, limit)?;
            match line.shown().parse::<NumberedReply>() {
                Ok(reply) if reply.id == Some(command.id()) => break reply,
                _ => {} // chatter
            }
        };
        // What tells of the game must be understood; the rest is courtesy.
        let vital = matches!(
            command,
            NumberedCommand::ResetBoard
                | NumberedCommand::InitBoard(_)
                | NumberedCommand::Move { .. }
                | NumberedCommand::Flip(..)
                | NumberedCommand::GenMove(_)
        );
        if vital && !last.ok {
            return Err(Fault::Refused { asked: command.to_string(), answer: last.to_string() });
        }
    }
    Ok(last)
}

fn tell(to: &mut Process, commands: &[NumberedCommand]) -> Result<NumberedReply, Fault> {
    let patience = to.patience();
    ask(to, commands, Instant::now() + patience, patience)
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

impl Dialect for Numbered {
    fn greet(&mut self, to: &mut Process, _: &OutsideSpec) -> Result<Option<String>, Fault> {
        let name = tell(to, &[NumberedCommand::Name])?;
        let version = tell(to, &[NumberedCommand::Version])?;
        let words = [name, version].map(|reply| if reply.ok { reply.text } else { String::new() }).join(" ");
        Ok(Some(words.trim().to_owned()).filter(|name| !name.is_empty()))
    }

    fn start(&mut self, to: &mut Process, game: &Game, _: Seat, clock: Option<Clock>) -> Result<(), Fault> {
        let start = game.positions()[0];
        if start == Position::initial(&Rules::server()) {
            tell(to, &[NumberedCommand::ResetBoard])?;
        } else {
            let board = InitBoard::of(&start).ok_or_else(|| {
                Fault::Unsupported(format!("protocol A knows the 4x8 board and the Taiwanese ladder only, not {start}"))
            })?;
            tell(to, &[NumberedCommand::InitBoard(Box::new(board))])?;
        }
        self.tell_draw_rules(to, game.rules())?;
        tell(to, &[NumberedCommand::TimeSettings(milliseconds(clock.unwrap_or_default().base))])?;
        tell(to, &[NumberedCommand::Ready])?;
        game.plies().iter().try_for_each(|&ply| tell(to, &[ply.into()]).map(drop))
    }

    fn choose(&mut self, to: &mut Process, question: &Question<'_>) -> Result<(EngineAnswer, String), Fault> {
        let color = question.game.position().turn();
        let reply = ask(to, &[NumberedCommand::GenMove(color)], question.deadline, question.limit)?;
        let answer = match reply.text.split_ascii_whitespace().collect::<Vec<_>>()[..] {
            [from, to] => EngineAnswer::of(from, to),
            _ => EngineAnswer::Nonsense,
        };
        Ok((answer, reply.to_string()))
    }

    fn played(&mut self, to: &mut Process, game: &Game, ply: Ply, left: Option<Duration>) -> Result<(), Fault> {
        let mover: Option<Color> = game.color_of(game.seat().other());
        let time = mover.zip(left).map(|(color, left)| NumberedCommand::TimeLeft(color, milliseconds(left)));
        let commands: Vec<NumberedCommand> = [ply.into()].into_iter().chain(time).collect();
        tell(to, &commands).map(drop)
    }

    fn quit(&mut self, to: &mut Process) {
        let _ = to.send("quit", format!("{}\n", NumberedCommand::Quit).as_bytes());
    }
}

impl Numbered {
    /// Only what differs from the server's rules: programs know those, and rarely the commands.
    fn tell_draw_rules(&self, to: &mut Process, rules: &Rules) -> Result<(), Fault> {
        let usual = Rules::server();
        if let Some(plies) = rules.draw().filter(|_| rules.draw() != usual.draw()) {
            tell(to, &[NumberedCommand::NumMovesToDraw(plies)])?;
        }
        if let Repeat::Cycle(times) = rules.repeat()
            && rules.repeat() != usual.repeat()
        {
            tell(to, &[NumberedCommand::NumRepetition(times)])?;
        }
        Ok(())
    }
}
