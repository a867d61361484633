//! Strategies: any value of each type.

use anqi_rules::{
    BoardSize, Color, Ladder, Material, Move, Piece, Ply, Position, Repeat, Rules, RulesSetup, Seed, Setup, Square,
    Termination,
};
use proptest::prelude::*;
use proptest::{collection, sample};

pub(crate) fn squares() -> impl Strategy<Value = Square> {
    sample::select(Square::all().collect::<Vec<_>>())
}

pub(crate) fn pieces() -> impl Strategy<Value = Piece> {
    sample::select(Piece::all().collect::<Vec<_>>())
}

pub(crate) fn boards() -> impl Strategy<Value = BoardSize> {
    sample::select(&BoardSize::ALL[..])
}

pub(crate) fn ladders() -> impl Strategy<Value = Ladder> {
    sample::select(&Ladder::ALL[..])
}

pub(crate) fn steps() -> impl Strategy<Value = (Square, Square)> {
    (squares(), squares()).prop_filter("a step goes somewhere", |(from, to)| from != to)
}

pub(crate) fn moves() -> impl Strategy<Value = Move> {
    prop_oneof![squares().prop_map(Move::Flip), steps().prop_map(|(from, to)| Move::Step { from, to })]
}

pub(crate) fn plies() -> impl Strategy<Value = Ply> {
    prop_oneof![
        (squares(), pieces()).prop_map(|(at, piece)| Ply::Flip(at, piece)),
        steps().prop_map(|(from, to)| Ply::Step { from, to }),
    ]
}

pub(crate) fn materials(count: impl Into<collection::SizeRange>) -> impl Strategy<Value = Material> {
    collection::vec(pieces(), count).prop_map(|pieces| pieces.into_iter().collect())
}

pub(crate) fn terminations() -> impl Strategy<Value = Termination> {
    prop_oneof![
        sample::select(vec![Termination::Elimination, Termination::NoAction, Termination::QuietPlies]),
        sample::select(vec![
            Termination::Time,
            Termination::Forfeit,
            Termination::Resignation,
            Termination::Agreement,
            Termination::Abandoned,
        ]),
        (any::<u8>(), any::<u16>()).prop_map(|(times, period)| Termination::Repetition { times, period }),
    ]
}

pub(crate) fn seeds() -> impl Strategy<Value = Seed> {
    any::<[u8; 32]>().prop_map(Seed::from)
}

/// Every field as it likes, from every name.
pub(crate) fn rules() -> impl Strategy<Value = Rules> {
    let names = sample::select(Rules::names().collect::<Vec<_>>());
    let draws = prop_oneof![Just(None), (1..=u16::MAX).prop_map(Some), Just(Some(40)), Just(Some(60))];
    let repeats = prop_oneof![
        Just(Repeat::Off),
        (2..=u8::MAX).prop_map(Repeat::Cycle),
        (2..=u8::MAX).prop_map(Repeat::Position),
        Just(Repeat::Cycle(3)),
    ];
    let armies = boards().prop_flat_map(|board| {
        let usual: Rules = format!("chen,board={board}").parse().unwrap();
        let count = board.squares().len() as usize;
        let both = |army: &Material| Color::ALL.iter().all(|&color| army.of(color) > 0);
        (Just(board), prop_oneof![Just(*usual.army()), materials(count).prop_filter("both colours", both)])
    });
    (names, armies, ladders(), draws, repeats, any::<bool>()).prop_map(
        |(name, (board, army), ladder, draw, repeat, chase)| {
            let mut setup = RulesSetup::from(name.parse::<Rules>().unwrap());
            (setup.board, setup.army, setup.ladder) = (board, army, ladder);
            (setup.draw, setup.repeat, setup.chase) = (draw, repeat, chase);
            setup.try_into().unwrap()
        },
    )
}

/// Any pieces anywhere on any board, up or down.
pub(crate) fn setups() -> impl Strategy<Value = Setup> {
    let square = prop_oneof![3 => Just(None), 2 => pieces().prop_map(|piece| Some((piece, true))),
        1 => pieces().prop_map(|piece| Some((piece, false)))];
    (boards(), ladders(), collection::vec(square, Square::COUNT), any::<Option<bool>>(), any::<u16>()).prop_map(
        |(board, ladder, squares, red, quiet)| {
            let mut setup = Setup::empty(board, ladder);
            for at in board.squares() {
                match squares[at.index()] {
                    Some((piece, true)) => setup.pieces[at.index()] = Some(piece),
                    Some((piece, false)) => {
                        setup.hidden |= at.set();
                        setup.pool.add(piece);
                    }
                    None => {}
                }
            }
            let any_revealed = setup.pieces.iter().any(Option::is_some);
            let turn = red.map(|red| if red { Color::Red } else { Color::Black });
            Setup { turn: turn.or(any_revealed.then_some(Color::Red)), quiet, ..setup }
        },
    )
}

pub(crate) fn positions() -> impl Strategy<Value = Position> {
    setups().prop_map(|setup| Position::try_from(setup).unwrap())
}

/// What a player and chance choose at each ply, whatever there is to choose from.
pub(crate) fn choices() -> impl Strategy<Value = Vec<(usize, usize)>> {
    collection::vec(any::<(usize, usize)>(), 0..120)
}
