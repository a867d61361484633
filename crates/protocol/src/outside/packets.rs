//! Protocol B from the referee's side.

use std::time::{Duration, Instant};

use anqi_rules::{Game, Ply, Seat, excerpt};

use super::fault::Fault;
use super::process::Process;
use super::spec::OutsideSpec;
use super::{Dialect, Question};
use crate::packets::{FromEngine, FromServer, StartPacket, write_packet};
use crate::squares::EngineAnswer;
use anqi_play::Clock;

#[derive(Debug)]
pub(super) struct Packets;

fn tell(to: &mut Process, packet: &FromServer) -> Result<(), Fault> {
    let mut bytes = Vec::new();
    let text = packet.to_string();
    write_packet(&mut bytes, &text).map_err(|error| Fault::Unsupported(error.to_string()))?;
    to.send(&excerpt(&text), &bytes)
}

/// Sends a packet and waits for the same word to come back.
fn ask(to: &mut Process, packet: &FromServer, expected: FromEngine) -> Result<(), Fault> {
    tell(to, packet)?;
    let patience = to.patience();
    let answer = to.packet(Instant::now() + patience, patience)?;
    if answer.parse() == Ok(expected) {
        return Ok(());
    }
    let asked = excerpt(&packet.to_string());
    let expected = if expected == FromEngine::Start { "/start" } else { "/turn" };
    Err(Fault::Malformed { asked, answer: excerpt(&answer), expected })
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

impl Dialect for Packets {
    fn greet(&mut self, _: &mut Process, _: &OutsideSpec) -> Result<Option<String>, Fault> {
        Ok(None)
    }

    fn start(&mut self, to: &mut Process, game: &Game, seat: Seat, clock: Option<Clock>) -> Result<(), Fault> {
        let position = game.position();
        let start = StartPacket::new(position, milliseconds(clock.unwrap_or_default().base)).ok_or_else(|| {
            Fault::Unsupported(format!("protocol B knows the 4x8 board and the Taiwanese ladder only, not {position}"))
        })?;
        ask(to, &FromServer::Start(Box::new(start)), FromEngine::Start)?;
        let turn = FromServer::Turn { first: game.seat() == seat, color: game.color_of(seat) };
        ask(to, &turn, FromEngine::Turn)
    }

    /// Nobody asks: the program knows that it is its turn.
    fn choose(&mut self, to: &mut Process, question: &Question<'_>) -> Result<(EngineAnswer, String), Fault> {
        let text = to.packet(question.deadline, question.limit)?;
        let answer = match text.parse() {
            Ok(FromEngine::Plays(mv)) => EngineAnswer::Move(mv),
            _ if is_a_move_somewhere(&text) => EngineAnswer::OffBoard,
            _ => EngineAnswer::Nonsense,
        };
        Ok((answer, text))
    }

    fn played(&mut self, to: &mut Process, _: &Game, ply: Ply, left: Option<Duration>) -> Result<(), Fault> {
        tell(to, &FromServer::Played(ply, milliseconds(left.unwrap_or(Clock::default().base))))
    }

    /// The connection closes; the protocol knows no other goodbye.
    fn quit(&mut self, to: &mut Process) {
        to.hang_up();
    }

    fn outlives_a_game(&self) -> bool {
        false
    }
}

/// `/flip` or `/move` and as many numbers as it takes, whatever they are.
fn is_a_move_somewhere(text: &str) -> bool {
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let numbers = |count: usize| words.len() == count + 1 && words[1..].iter().all(|word| word.parse::<i32>().is_ok());
    match words.first() {
        Some(&"/flip") => numbers(2),
        Some(&"/move") => numbers(4) && words[1..3] != words[3..5],
        _ => false,
    }
}
