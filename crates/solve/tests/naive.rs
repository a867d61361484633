//! The same values by slow and obvious code on positions of `anqi-rules`.
//!
//! Quiet play is cut off as a draw after k plies, for k = 0, 1, 2, … until nothing changes any more: then no k changes
//! anything, and the values are those of endless play. Fewest draws likewise, from "always drawn" downwards.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::collections::HashMap;

use anqi_rules::{BoardSize, Color, Ladder, Material, Move, Piece, Position, Rules, Setup, Square, SquareSet};
use anqi_solve::{Fraction, Solver, Worth};

/// A position but for its quiet plies.
type Key = ([u32; 3], SquareSet, SquareSet, Material, Option<Color>);

fn key(position: &Position) -> Key {
    let red = position.pieces(Color::Red);
    (position.planes(), red, position.hidden(), *position.pool(), position.turn())
}

/// P(win) − P(loss) and P(draw) of every position met so far.
#[derive(Default)]
struct Naive {
    known: HashMap<Key, (Position, Fraction, Fraction)>,
}

/// What a position can do: what conversions promise, and where quiet steps lead.
#[derive(Default)]
struct Choices {
    conversions: Vec<(Fraction, Fraction)>,
    quiet: Vec<usize>,
}

impl Naive {
    /// P(win) − P(loss) and P(draw) for the side to move.
    fn worth(&mut self, position: &Position) -> (Fraction, Fraction) {
        let turn = position.turn().expect("colours are known");
        if position.remaining(turn) == 0 {
            return (-Fraction::ONE, Fraction::ZERO);
        }
        if !self.known.contains_key(&key(position)) {
            self.settle(position);
        }
        let (_, value, draw) = self.known[&key(position)];
        (value, draw)
    }

    /// The value of a flip for who flips.
    fn flip(&mut self, position: &Position, square: Square) -> (Fraction, Fraction) {
        let mut sum = (Fraction::ZERO, Fraction::ZERO);
        for (piece, count) in position.reveals() {
            let share = Fraction::new(i64::from(count), i64::from(position.hidden().len()));
            let (value, draw) = self.worth(&position.after_flip(square, piece));
            sum = (sum.0 - value * share, sum.1 + draw * share);
        }
        sum
    }

    /// Finds the values of everything that quiet steps lead to.
    fn settle(&mut self, start: &Position) {
        let mut numbers = HashMap::from([(key(start), 0)]);
        let mut positions = vec![*start];
        let mut choices: Vec<Choices> = Vec::new();
        while let Some(&position) = positions.get(choices.len()) {
            let mut here = Choices::default();
            for mv in position.moves() {
                match mv {
                    Move::Flip(square) => here.conversions.push(self.flip(&position, square)),
                    Move::Step { from, to } => {
                        let after = position.after_step(from, to);
                        if position.piece_at(to).is_some() {
                            let (value, draw) = self.worth(&after);
                            here.conversions.push((-value, draw));
                        } else {
                            here.quiet.push(*numbers.entry(key(&after)).or_insert_with(|| {
                                positions.push(after);
                                positions.len() - 1
                            }));
                        }
                    }
                }
            }
            choices.push(here);
        }
        let values = until_nothing_changes(&choices, Fraction::ZERO, |_, here, values| {
            let conversions = here.conversions.iter().map(|(value, _)| *value);
            conversions.chain(here.quiet.iter().map(|&next| -values[next])).max().unwrap_or(-Fraction::ONE)
        });
        let draws = until_nothing_changes(&choices, Fraction::ONE, |number, here, draws| {
            let value = values[number];
            let conversions = here.conversions.iter().filter(|(other, _)| *other == value).map(|(_, draw)| *draw);
            let quiet = here.quiet.iter().filter(|&&next| -values[next] == value).map(|&next| draws[next]);
            conversions.chain(quiet).min().unwrap_or(Fraction::ZERO)
        });
        let found = positions.into_iter().zip(values).zip(draws);
        self.known.extend(found.map(|((position, value), draw)| (key(&position), (position, value, draw))));
    }
}

fn until_nothing_changes(
    choices: &[Choices],
    start: Fraction,
    next: impl Fn(usize, &Choices, &[Fraction]) -> Fraction,
) -> Vec<Fraction> {
    let mut now = vec![start; choices.len()];
    loop {
        let then: Vec<Fraction> = choices.iter().enumerate().map(|(i, here)| next(i, here, &now)).collect();
        if now == then {
            return now;
        }
        now = then;
    }
}

/// Compares every position that the naive code has met.
fn agree(naive: &Naive, solver: &Solver, at_least: usize) {
    for (position, value, draw) in naive.known.values() {
        let worth = solver.probe(position).unwrap_or_else(|| panic!("{position} is not solved"));
        assert_eq!(worth, Worth { value: *value, draw: Some(*draw) }, "{position}");
    }
    assert!(naive.known.len() >= at_least, "only {} positions", naive.known.len());
}

fn whole_game(board: &str, army: &str, at_least: usize) {
    let rules: Rules = format!("chen,board={board},army={army},draw=off,repeat=off").parse().unwrap();
    let mut solver = Solver::with_split(rules.board(), rules.ladder());
    solver.solve(&Material::EMPTY, rules.army(), 2.try_into().unwrap()).unwrap();
    let mut naive = Naive::default();
    let start = Position::initial(&rules);
    for (mv, worth) in solver.actions(&start).unwrap() {
        let Move::Flip(square) = mv else { panic!("{mv} is no flip") };
        let (value, draw) = naive.flip(&start, square);
        assert_eq!(worth, Worth { value, draw: Some(draw) }, "{board} {army} {square}");
    }
    agree(&naive, &solver, at_least);
}

#[test]
fn whole_games_on_two_by_two() {
    for army in ["KP", "KG", "PP", "CC", "KC", "GC", "CP", "KPkk", "Kpcc"] {
        whole_game("2x2", army, 40);
    }
    whole_game("2x2", "KC,ladder=hongkong", 100);
}

#[test]
fn whole_games_on_three_by_two() {
    whole_game("3x2", "PPP", 500);
    whole_game("3x2", "KCP", 100_000);
    whole_game("3x2", "CCP", 10_000);
    whole_game("3x2", "KPPgcp", 50_000);
}

#[test]
#[ignore = "half a million positions of fractions, over two minutes"]
fn whole_games_on_two_by_four() {
    whole_game("2x4", "KPPP", 100_000);
    whole_game("2x4", "CCPP", 100_000);
}

/// Every placement of `shown` and of the face-down squares on the 4x8 board, both sides to move.
fn placements(shown: &Material, pool: &Material) -> Vec<Position> {
    let mut setups = vec![Setup { pool: *pool, ..Setup::empty(BoardSize::FourByEight, Ladder::Taiwan) }];
    let free = |setup: &Setup| -> Vec<Square> {
        Square::all().filter(|at| setup.pieces[at.index()].is_none() && !setup.hidden.contains(*at)).collect()
    };
    for piece in shown.pieces().map(Some).chain(pool.pieces().map(|_| None::<Piece>)) {
        let put = |setup: Setup| {
            let place = |at: Square| match piece {
                Some(_) => {
                    let mut pieces = setup.pieces;
                    pieces[at.index()] = piece;
                    Setup { pieces, ..setup.clone() }
                }
                None => Setup { hidden: setup.hidden | at.set(), ..setup.clone() },
            };
            free(&setup).into_iter().map(place).collect::<Vec<_>>()
        };
        setups = setups.into_iter().flat_map(put).collect();
    }
    let turns = |setup: Setup| Color::ALL.map(|turn| Setup { turn: Some(turn), ..setup.clone() });
    setups.into_iter().flat_map(turns).map(|setup| Position::try_from(setup).unwrap()).collect()
}

fn ending(shown: &str, pool: &str) {
    let (shown, pool): (Material, Material) = (shown.parse().unwrap(), pool.parse().unwrap());
    let mut solver = Solver::with_split(BoardSize::FourByEight, Ladder::Taiwan);
    solver.solve(&shown, &pool, 2.try_into().unwrap()).unwrap();
    let mut naive = Naive::default();
    let all = placements(&shown, &pool);
    for position in &all {
        naive.worth(position);
    }
    agree(&naive, &solver, all.len() / 2);
}

#[test]
fn endings_of_two_pieces() {
    for (shown, pool) in [("K", "p"), ("P", "k"), ("C", "c"), ("Kp", "-"), ("N", "n")] {
        ending(shown, pool);
    }
}

#[test]
fn endings_of_three_pieces() {
    ending("N", "rp");
    ending("Kp", "c");
}

#[test]
#[ignore = "several seconds"]
fn more_endings_of_three_pieces() {
    for (shown, pool) in [("G", "Pp"), ("C", "kp"), ("n", "CP"), ("Np", "p"), ("P", "kc")] {
        ending(shown, pool);
    }
}

#[test]
#[ignore = "millions of positions of fractions, over four minutes"]
fn endings_of_four_pieces() {
    ending("Kc", "Pg");
    ending("Pnc", "K");
}
