//! A whole game in a link: rules, start, ending, and two characters a ply.
//!
//! A ply is one of 32 × 14 flips or 32 × 32 steps, so twelve bits hold it: two digits of base 64, in the alphabet for
//! addresses (RFC 4648, §5). Fields are divided by `~`; what a game does not need is left out.

use anqi_records::{GameResult, Record, Tags};
use anqi_rules::{Game, Outcome, Piece, Ply, Position, Rules, Seat, Square, Termination, excerpt};

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const PIECES: usize = 14;
const FLIPS: usize = Square::COUNT * PIECES;

/// No game has more plies than a link may hold.
const MOST_PLIES: usize = 4000;

/// A text that is not a game.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{text:?} is not a link to a game: {why}")]
pub(crate) struct LinkError {
    text: String,
    why: String,
}

/// The link of a game, without the page's address.
pub(crate) fn of_game(game: &Game) -> String {
    let start = game.positions().first().filter(|start| **start != Position::initial(game.rules()));
    let start = start.map_or_else(String::new, |start| start.to_string().replace(' ', "+"));
    // What the plies alone do not tell.
    let ending = game.outcome().map_or_else(String::new, |Outcome { winner, termination }| {
        let winner = winner.map_or("draw", Seat::name);
        format!("{winner}+{}", termination.to_string().replace(' ', "+"))
    });
    let plies: String = game.plies().iter().flat_map(|&ply| digits(ply)).collect();
    format!("{}~{start}~{ending}~{plies}", game.rules())
}

/// The game of a link, as a record.
pub(crate) fn to_record(link: &str) -> Result<Record, LinkError> {
    let wrong = |why: &str| LinkError { text: excerpt(link), why: why.to_owned() };
    let fields: Vec<&str> = link.split('~').collect();
    let [rules, start, ending, plies] = fields[..] else { return Err(wrong("expected four fields divided by ~")) };
    let rules = Rules::parse_stored(rules).map_err(|error| wrong(&format!("{error}")))?;
    let start = match start {
        "" => Position::initial(&rules),
        text => Position::parse(&text.replace('+', " "), rules.ladder()).map_err(|error| wrong(&error.to_string()))?,
    };
    let mut game = Game::from_position(rules, start).map_err(|error| wrong(&error.to_string()))?;
    if plies.len() > 2 * MOST_PLIES || plies.len() % 2 == 1 {
        return Err(wrong("the plies are too many, or the last is cut off"));
    }
    for pair in plies.as_bytes().chunks(2) {
        let ply = ply([pair[0], pair[1]]).ok_or_else(|| wrong("no such ply"))?;
        game.play(ply).map_err(|error| wrong(&error.to_string()))?;
    }
    if game.outcome().is_none() && !ending.is_empty() {
        let (winner, termination) = ending.split_once('+').ok_or_else(|| wrong("no such ending"))?;
        let loser = Seat::ALL.into_iter().find(|seat| seat.other().name() == winner);
        let termination: Termination = termination.replace('+', " ").parse().map_err(|_| wrong("no such ending"))?;
        let known = loser.is_some() || winner == "draw";
        game.end(termination.off_board(loser).filter(|_| known).ok_or_else(|| wrong("no such ending"))?);
    }
    let record = Record::from_game(&game, Tags::new());
    debug_assert_eq!(record.result(), GameResult::from(game.outcome()));
    Ok(record)
}

fn digits(ply: Ply) -> [char; 2] {
    let number = match ply {
        Ply::Flip(square, piece) => square.index() * PIECES + piece.index(),
        Ply::Step { from, to } => FLIPS + from.index() * Square::COUNT + to.index(),
    };
    [number / 64, number % 64].map(|digit| char::from(DIGITS[digit]))
}

fn ply(pair: [u8; 2]) -> Option<Ply> {
    let [high, low] = pair.map(|digit| DIGITS.iter().position(|&known| known == digit));
    let number = high? * 64 + low?;
    match number.checked_sub(FLIPS) {
        None => Some(Ply::Flip(Square::from_index(number / PIECES)?, Piece::all().nth(number % PIECES)?)),
        Some(step) => Some(Ply::Step {
            from: Square::from_index(step / Square::COUNT)?,
            to: Square::from_index(step % Square::COUNT)?,
        }),
    }
}

#[cfg(test)]
mod tests {
    use anqi_rules::{Deal, Seed};
    use proptest::prelude::*;

    use super::*;

    fn played(rules: Rules, seed: u64, plies: usize) -> Game {
        let deal = Deal::new(&rules, &Seed::from(seed));
        let mut game = Game::new(rules);
        for number in 0..plies {
            let moves = game.legal_moves();
            if moves.is_empty() {
                break;
            }
            let choice = moves[(seed as usize + 7 * number) % moves.len()];
            game.play(deal.resolve(choice).unwrap()).unwrap();
        }
        game
    }

    proptest! {
        #[test]
        fn links_go_round(seed in 0_u64..1000, plies in 0_usize..300, small in any::<bool>(), resigned in any::<bool>()) {
            let rules: Rules = if small { "chen,board=2x4" } else { "server" }.parse().unwrap();
            let mut game = played(rules, seed, plies);
            if resigned {
                game.lose(Seat::Second, Termination::Resignation);
            }
            let link = of_game(&game);
            prop_assert!(link.bytes().all(|byte| byte.is_ascii_graphic()));
            prop_assert_eq!(to_record(&link).unwrap(), Record::from_game(&game, Tags::new()));
        }

        #[test]
        fn any_text_is_a_game_or_an_error(text in "[a-z]{0,8}~.{0,8}~[a-z+]{0,12}~[A-Za-z0-9_-]{0,12}|.{0,40}") {
            let _ = to_record(&text);
        }
    }
}
