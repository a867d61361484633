//! Our engine speaking protocol B.

use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

use anqi_engine::{Limits, Player, Stop};
use anqi_rules::{BoardSize, Color, Game, Rules, Seat};

use super::{ServedEngine, go_on_after_a_draw};
use crate::packets::{FromEngine, FromServer, StartPacket, read_packet, write_packet};
use anqi_play::Stock;

/// Speaks protocol B until the connection ends. The protocol has no word for a bad packet: it is reported to `log` and
/// otherwise ignored.
///
/// # Errors
/// If the connection fails, or a file that the player names was not opened.
pub fn serve_packets(engine: &ServedEngine, mut stream: impl Read + Write, mut log: impl Write) -> io::Result<()> {
    let mut session =
        Session { player: engine.build()?, limits: engine.limits, rules: engine.rules, start: None, playing: None };
    while let Some(packet) = until_closed(read_packet(&mut stream))?.flatten() {
        let answer = match packet.parse::<FromServer>() {
            Ok(packet) => session.answer(&packet),
            Err(error) => Err(error.to_string()),
        };
        match answer {
            Ok(answers) => {
                let sent = answers.iter().try_for_each(|answer| write_packet(&mut stream, &answer.to_string()));
                if until_closed(sent)?.is_none() {
                    break;
                }
            }
            Err(complaint) => writeln!(log, "ignored: {complaint}")?,
        }
    }
    Ok(())
}

/// `None` if the other side has hung up, which is how this protocol says goodbye.
fn until_closed<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if matches!(error.kind(), BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

struct Session {
    player: Box<dyn Player>,
    limits: Limits,
    rules: Rules,
    start: Option<StartPacket>,
    playing: Option<Playing>,
}

struct Playing {
    game: Game,
    seat: Seat,
    left: Duration,
}

impl Session {
    fn answer(&mut self, packet: &FromServer) -> Result<Vec<FromEngine>, String> {
        match packet {
            FromServer::Start(start) => {
                self.start = Some((**start).clone());
                self.playing = None;
                Ok(vec![FromEngine::Start])
            }
            FromServer::Turn { first, color } => {
                let start = self.start.as_ref().ok_or("/turn comes before /start")?;
                let turn = if *first { *color } else { color.map(Color::other) };
                let rules = self.rules.on_board(BoardSize::FourByEight);
                let game = Game::from_position(rules, start.position(turn)).map_err(|error| error.to_string())?;
                let seat = if *first { Seat::First } else { Seat::Second };
                self.playing = Some(Playing { game, seat, left: Duration::from_millis(start.total) });
                Ok([FromEngine::Turn].into_iter().chain(self.think()).collect())
            }
            FromServer::Played(ply, left) => {
                let playing = self.playing.as_mut().ok_or("nothing is being played")?;
                let mover = playing.game.seat();
                go_on_after_a_draw(&mut playing.game);
                playing.game.play(*ply).map_err(|error| error.to_string())?;
                if mover == playing.seat {
                    playing.left = Duration::from_millis(*left);
                }
                Ok(self.think().into_iter().collect())
            }
        }
    }

    /// What we play, if it is our turn.
    fn think(&mut self) -> Option<FromEngine> {
        let playing = self.playing.as_mut().filter(|playing| playing.game.seat() == playing.seat)?;
        let started = Instant::now();
        go_on_after_a_draw(&mut playing.game);
        let stock = Stock { left: playing.left, increment: Duration::ZERO, moves_to_go: None };
        let limits = stock.bound(&self.limits, &playing.game);
        let choice = self.player.choose(&playing.game, &limits, &Stop::default())?;
        playing.left = playing.left.saturating_sub(started.elapsed());
        Some(FromEngine::Plays(choice.mv))
    }
}
