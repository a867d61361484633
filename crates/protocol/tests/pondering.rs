//! Our engine thinks in the other side's time, and is there when it is asked.

use std::io::{self, BufRead, BufReader, Write};
use std::time::Duration;

use anqi_engine::{Limits, Resources};
use anqi_protocol::numbered::{NumberedCommand, NumberedReply};
use anqi_protocol::{ServedEngine, serve};
use anqi_rules::{Deal, Game, Move, Rules, Seed, Square};

/// A game against an opponent that takes its time: every answer is legal and the talk ends when it should.
#[test]
fn a_pondering_engine_plays_a_game() {
    let engine = ServedEngine {
        player: "champion,hash=1".parse().unwrap(),
        resources: Resources::default(),
        seed: Seed::from(1),
        rules: Rules::server(),
        limits: Limits { time: Some(Duration::from_millis(5)), ..Limits::default() },
        ponder: true,
    };
    let (engine_in, mut to_engine) = io::pipe().unwrap();
    let (from_engine, engine_out) = io::pipe().unwrap();
    let served = std::thread::spawn(move || serve(&engine, engine_in, engine_out));
    let mut answers = BufReader::new(from_engine).lines();
    let mut ask = |command: &NumberedCommand| {
        writeln!(to_engine, "{command}").unwrap();
        let reply: NumberedReply = answers.next().unwrap().unwrap().parse().unwrap();
        assert!(reply.ok && reply.id == Some(command.id()), "{command}: {reply}");
        reply.text
    };

    let (rules, seed) = (Rules::server(), Seed::from(7));
    let (deal, mut game) = (Deal::new(&rules, &seed), Game::new(rules));
    ask(&NumberedCommand::ResetBoard);
    for number in 0..60 {
        if game.outcome().is_some() {
            break;
        }
        let mv = if number % 2 == 0 {
            let text = ask(&NumberedCommand::GenMove(game.position().turn()));
            let squares: Vec<Square> = text.split(' ').map(|square| square.parse().unwrap()).collect();
            if squares[0] == squares[1] {
                Move::Flip(squares[0])
            } else {
                Move::Step { from: squares[0], to: squares[1] }
            }
        } else {
            std::thread::sleep(Duration::from_millis(number % 20));
            let moves = game.legal_moves();
            moves[number as usize * 31 % moves.len()]
        };
        let ply = deal.resolve(mv).unwrap();
        game.play(ply).unwrap_or_else(|error| panic!("{mv}: {error}"));
        ask(&ply.into());
    }
    ask(&NumberedCommand::Quit);
    served.join().unwrap().unwrap();
}
