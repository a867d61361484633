//! Games played through, in `tests/golden/*.txt`.
//!
//! Lines after `>` are commands, `#` starts a comment, everything else is what the crate answers. `UPDATE=1 cargo test`
//! writes the answers anew. The commands:
//!
//! ```text
//! rules TEXT           a new game by these rules
//! start POSITION       a new game from this position, by the same rules
//! play PLY …           plays; says how many plies there are and how the game stands
//! walk N TOUR TOUR     plays N plies, each side going round its tour of squares (a1-a2-b2-b1)
//! board [chinese]      the board, drawn
//! position             the position, as text
//! moves [red|black]    the moves of the position without flips, and how many flips; of either side
//! allowed              the steps that the game allows
//! captured             what has been captured of each colour
//! perft N              leaves at depths 1 to N
//! ```

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

use anqi_rules::{Color, Faces, Game, Material, Move, Ply, Position, Rules, Setup, Square, perft};

type Answer = Result<String, Box<dyn std::error::Error>>;

/// Carries out one command after another.
fn answer(game: &mut Game, command: &str) -> Answer {
    let (name, rest) = command.split_once(' ').unwrap_or((command, ""));
    match name {
        "rules" => {
            *game = Game::new(rest.parse()?);
            Ok(String::new())
        }
        "start" => {
            let rules = *game.rules();
            *game = Game::from_position(rules, Position::parse(rest, rules.ladder())?)?;
            Ok(if game.outcome().is_some() { standing(game) } else { String::new() })
        }
        "play" => {
            for ply in rest.split_whitespace() {
                game.play(ply.parse()?)?;
            }
            Ok(standing(game))
        }
        "walk" => walk(game, rest),
        "board" => Ok(game.position().drawn(if rest == "chinese" { Faces::Chinese } else { Faces::Letters })),
        "position" => Ok(format!("{}\n", game.position())),
        "moves" => moves(game.position(), rest),
        "allowed" => Ok(line(steps(&game.legal_moves()))),
        "captured" => Ok(line(Color::ALL.map(|color| format!("{} {}", color.name(), captured(game, color))))),
        "perft" => Ok(line((1..=rest.parse()?).map(|depth| perft(game.position(), depth).to_string()))),
        _ => Err(format!("unknown command {command:?}").into()),
    }
}

fn standing(game: &Game) -> String {
    let state = match (game.outcome(), game.position().turn()) {
        (Some(outcome), _) => outcome.to_string(),
        (None, Some(turn)) => format!("{} to move", turn.name()),
        (None, None) => "nobody has a colour".to_owned(),
    };
    format!("{} plies, {state}\n", game.plies().len())
}

/// `N TOUR TOUR`, the tour of the side to move first.
fn walk(game: &mut Game, text: &str) -> Answer {
    let [plies, first, second] = text.split(' ').collect::<Vec<_>>()[..] else { return Err("walk N TOUR TOUR".into()) };
    let tours = [tour(first)?, tour(second)?];
    for number in 0..plies.parse()? {
        let (tour, at) = (&tours[number % 2], number / 2);
        let [from, to] = [at, at + 1].map(|place| tour[place % tour.len()]);
        game.play(Ply::Step { from, to })?;
    }
    Ok(standing(game))
}

fn tour(text: &str) -> Result<Vec<Square>, anqi_rules::ParseError> {
    text.split('-').map(str::parse).collect()
}

fn moves(position: &Position, side: &str) -> Answer {
    let turn = Color::ALL.into_iter().find(|color| color.name() == side).or(position.turn());
    let moves = Position::try_from(Setup { turn, ..Setup::from(*position) })?.moves();
    let steps = steps(&moves);
    Ok(line(steps.iter().cloned().chain([format!("and {} flips", moves.len() - steps.len())])))
}

fn steps(moves: &[Move]) -> Vec<String> {
    let mut steps: Vec<_> = moves.iter().filter(|mv| matches!(mv, Move::Step { .. })).map(Move::to_string).collect();
    steps.sort();
    steps
}

fn captured(game: &Game, color: Color) -> Material {
    let position = game.position();
    let mut gone = *game.rules().army();
    for piece in position.pool().pieces().chain(position.revealed().pieces()) {
        gone.remove(piece);
    }
    gone.pieces().filter(|piece| piece.color == color).collect()
}

fn line(words: impl IntoIterator<Item = String>) -> String {
    words.into_iter().collect::<Vec<_>>().join(" ") + "\n"
}

/// The same text with every answer as it is today.
fn play_through(text: &str) -> String {
    let mut game = Game::new(Rules::server());
    let mut answered = String::new();
    for line in text.lines().filter(|line| line.is_empty() || line.starts_with(['#', '>'])) {
        answered.push_str(line);
        answered.push('\n');
        if let Some(command) = line.strip_prefix("> ") {
            match answer(&mut game, command) {
                Ok(answer) => answered.push_str(&answer),
                Err(error) => writeln!(answered, "error: {error}").unwrap(),
            }
        }
    }
    answered
}

fn check(path: &Path) {
    let expected = fs::read_to_string(path).unwrap();
    let actual = play_through(&expected);
    if env::var_os("UPDATE").is_some() {
        fs::write(path, &actual).unwrap();
    } else {
        for (number, (actual, expected)) in actual.lines().zip(expected.lines()).enumerate() {
            assert_eq!(actual, expected, "\n{}:{} (UPDATE=1 accepts)", path.display(), number + 1);
        }
        assert_eq!(actual, expected, "\n{} (UPDATE=1 accepts)", path.display());
    }
}

#[test]
fn playthroughs() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() >= 8, "only {paths:?}");
    paths.iter().for_each(|path| check(path));
}
