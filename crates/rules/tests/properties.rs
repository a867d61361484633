//! What holds for every value: texts go round, hashes follow the board, symmetries change nothing.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod values;

use std::collections::{HashMap, HashSet};
use std::fmt::{Debug, Display};
use std::str::FromStr;

use anqi_rules::{
    BoardSize, Color, Commitment, Deal, Direction, Game, Kind, Ladder, Material, Move, MoveList, Outcome, Piece, Ply,
    Position, Repeat, Rules, RulesError, RulesSetup, Seat, Seed, Setup, SetupError, Square, SquareSet, Symmetry,
    Termination, cannon_targets, neighbours, perft,
};
use proptest::prelude::*;
use proptest::{collection, sample};
use rand_core::Rng;
use values::{choices, materials, moves, pieces, plies, positions, rules, seeds, setups, squares, terminations};

fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

fn play(game: &mut Game, choices: &[(usize, usize)]) {
    for &(choice, chance) in choices {
        let moves = game.legal_moves();
        if moves.is_empty() {
            break;
        }
        let pool: Vec<Piece> = game.position().pool().pieces().collect();
        let ply = match moves[choice % moves.len()] {
            Move::Flip(at) => Ply::Flip(at, pool[chance % pool.len()]),
            Move::Step { from, to } => Ply::Step { from, to },
        };
        game.play(ply).unwrap();
    }
}

fn after(position: &Position, ply: Ply) -> Position {
    match ply {
        Ply::Flip(at, piece) => position.after_flip(at, piece),
        Ply::Step { from, to } => position.after_step(from, to),
    }
}

/// A value prints to a text that reads as the value, and prints to the same text again.
fn goes_round<T>(value: &T)
where
    T: Display + FromStr<Err: Debug> + PartialEq + Debug,
{
    let text = value.to_string();
    let read: T = text.parse().unwrap();
    assert_eq!(&read, value, "{text:?}");
    assert_eq!(read.to_string(), text);
}

/// Any text reads as something that goes round, or gives a short message that can be shown.
fn reads_or_complains<T>(text: &str)
where
    T: Display + FromStr<Err: Display> + PartialEq + Debug,
{
    match text.parse::<T>() {
        Ok(value) => assert_eq!(value.to_string().parse::<T>().ok(), Some(value), "{text:?}"),
        Err(error) => {
            let message = error.to_string();
            assert!(!message.is_empty() && message.len() < 1000, "{message}");
        }
    }
}

fn read_as_everything(text: &str) {
    reads_or_complains::<Square>(text);
    reads_or_complains::<SquareSet>(text);
    reads_or_complains::<Move>(text);
    reads_or_complains::<Ply>(text);
    reads_or_complains::<Material>(text);
    reads_or_complains::<Rules>(text);
    reads_or_complains::<Position>(text);
    reads_or_complains::<Termination>(text);
    reads_or_complains::<Seed>(text);
    reads_or_complains::<Commitment>(text);
    let hong_kong = Position::parse(text, Ladder::HongKong);
    assert_eq!(
        hong_kong.map(|position| position.to_string()),
        text.parse().map(|position: Position| position.to_string())
    );
}

/// A good text with a few characters changed, put in or taken out.
fn garbled(text: &str, changes: &[(usize, usize, char)]) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    for &(at, how, letter) in changes {
        let place = at % (letters.len() + 1);
        match how % 3 {
            0 => letters.insert(place, letter),
            _ if place == letters.len() => {}
            1 => letters[place] = letter,
            _ => drop(letters.remove(place)),
        }
    }
    letters.into_iter().collect()
}

fn likely_letters() -> impl Strategy<Value = char> {
    let letters: Vec<char> = "KGMRNCPkgmrncpxX.-/ ,=:()0123456789abcdrb\u{e9}暗\u{0}".chars().collect();
    prop_oneof![4 => sample::select(letters), 1 => any::<char>()]
}

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn texts_go_round(
        square in squares(), set in any::<u32>().prop_map(SquareSet), mv in moves(), ply in plies(),
        material in materials(0..=32), termination in terminations(), seed in seeds(), nonce in seeds(),
    ) {
        goes_round(&square);
        goes_round(&set);
        goes_round(&mv);
        goes_round(&ply);
        goes_round(&material);
        goes_round(&termination);
        goes_round(&seed);
        goes_round(&Commitment::new(&seed, &nonce));
    }

    #[test]
    fn positions_go_round(position in positions()) {
        let text = position.to_string();
        let read = Position::parse(&text, position.ladder()).unwrap();
        prop_assert_eq!(read, position);
        prop_assert_eq!(read.to_string(), text);
    }

    #[test]
    fn rules_go_round(rules in rules()) {
        let read: Rules = rules.to_string().parse().unwrap();
        prop_assert_eq!(read, rules, "{}", rules);
        goes_round(&read); // by the name it has after reading: chen spelled out is chen
    }

    #[test]
    fn rules_may_name_their_fields_in_any_order(rules in rules(), turn in 0..6_usize) {
        let text = rules.to_string();
        let (name, fields) = text.split_once(',').unwrap_or((&text, ""));
        let mut fields: Vec<&str> = fields.split(',').filter(|field| !field.is_empty()).collect();
        let count = fields.len().max(1);
        fields.rotate_left(turn % count);
        fields.insert(0, name);
        prop_assert_eq!(fields.join(",").parse::<Rules>(), Ok(rules));
    }

    /// Rules built field by field are refused exactly when their text is, with the same message.
    #[test]
    fn rules_are_checked_field_by_field(
        board in values::boards(), army in materials(0..=32), draw in 0..3_u16, times in 0..4_u8, cycle in any::<bool>(),
    ) {
        let change = |change: &dyn Fn(&mut RulesSetup)| {
            let mut setup = RulesSetup::from(Rules::server());
            change(&mut setup);
            Rules::try_from(setup)
        };
        prop_assert_eq!(change(&|setup| setup.draw = Some(draw)), format!("server,draw={draw}").parse());
        let (repeat, name) = match cycle {
            true => (Repeat::Cycle(times), "cycle"),
            false => (Repeat::Position(times), "position"),
        };
        prop_assert_eq!(change(&|setup| setup.repeat = repeat), format!("server,repeat={name}:{times}").parse());

        // Without a black piece the text would mean the red pieces of both sides.
        let read = change(&|setup| (setup.board, setup.army) = (board, army));
        if army.of(Color::Black) > 0 {
            prop_assert_eq!(&read, &format!("server,board={board},army={army}").parse());
        }
        match read {
            Ok(rules) => prop_assert!(Position::initial(&rules).has_moves()),
            Err(error) => prop_assert_eq!(error, match Color::ALL.into_iter().find(|&color| army.of(color) == 0) {
                Some(missing) if army.len() == board.squares().len() => RulesError::OneSided { army, missing },
                _ => RulesError::ArmySize { army, board },
            }),
        }
    }

    #[test]
    fn numbers_are_seeds(number in any::<u64>()) {
        prop_assert_eq!(number.to_string().parse(), Ok(Seed::from(number)));
    }

    #[test]
    fn any_text_is_read_or_refused(text in any::<String>(), long in collection::vec(likely_letters(), 0..2000)) {
        read_as_everything(&text);
        read_as_everything(&long.into_iter().collect::<String>());
    }

    #[test]
    fn almost_right_text_is_read_or_refused(
        position in positions(), rules in rules(), ply in plies(), termination in terminations(), seed in seeds(),
        set in any::<u32>().prop_map(SquareSet),
        changes in collection::vec((any::<usize>(), any::<usize>(), likely_letters()), 1..4),
    ) {
        let texts = [position.to_string(), rules.to_string(), ply.to_string(), termination.to_string(),
            seed.to_string(), set.to_string()];
        for text in texts {
            read_as_everything(&garbled(&text, &changes));
        }
    }
}

#[test]
fn a_position_is_small() {
    assert!(size_of::<Position>() <= 64, "{} bytes", size_of::<Position>());
}

proptest! {
    #![proptest_config(cases(1000))]

    #[test]
    fn setups_and_positions_are_the_same(setup in setups()) {
        let position = Position::try_from(setup.clone()).unwrap();
        prop_assert_eq!(Setup::from(position), setup);
        prop_assert_eq!(position.hash(), position.fresh_hash());
    }

    #[test]
    fn impossible_setups_are_refused(setup in setups(), at in squares(), piece in pieces()) {
        let refusal = |setup: Setup| Position::try_from(setup).err();
        let mut more_pool = setup.clone();
        more_pool.pool.add(piece);
        let (hidden, pool) = (setup.hidden.len(), more_pool.pool);
        prop_assert_eq!(refusal(more_pool), Some(SetupError::PoolSize { hidden, pool }));

        let mut one_more = setup.clone();
        one_more.pieces[at.index()] = Some(piece);
        one_more.turn = None;
        let first = Square::all().find(|square| one_more.pieces[square.index()].is_some()).unwrap();
        let expected = match (setup.board.squares().contains(at), setup.hidden.contains(at)) {
            (false, _) => SetupError::OffBoard(at, setup.board),
            (true, true) => SetupError::Overlap(at),
            (true, false) => SetupError::NoSide(first),
        };
        prop_assert_eq!(refusal(one_more), Some(expected));
    }

    #[test]
    fn views_of_a_position_agree(setup in setups()) {
        let position = Position::try_from(setup.clone()).unwrap();
        for at in Square::all() {
            let piece = setup.pieces[at.index()];
            prop_assert_eq!(position.piece_at(at), piece);
            for color in Color::ALL {
                prop_assert_eq!(position.pieces(color).contains(at), piece.is_some_and(|piece| piece.color == color));
            }
            for kind in Kind::ALL {
                prop_assert_eq!(position.of_kind(kind).contains(at), piece.is_some_and(|piece| piece.kind == kind));
            }
            prop_assert_eq!(position.occupied().contains(at), piece.is_some() || setup.hidden.contains(at));
            prop_assert_eq!(position.rung_at(at), piece.map_or(0, |piece| setup.ladder.rung(piece.kind)));
        }
        for piece in Piece::all() {
            let standing = setup.pieces.iter().filter(|&&other| other == Some(piece)).count() as u32;
            prop_assert_eq!(position.left(piece.color, piece.kind), standing + u32::from(setup.pool.count(piece)));
        }
        prop_assert_eq!(position.empty() | position.occupied(), setup.board.squares());
        prop_assert_eq!(position.empty() & position.occupied(), SquareSet::EMPTY);
        prop_assert_eq!(position.revealed(), setup.pieces.iter().flatten().copied().collect());
        for color in Color::ALL {
            prop_assert_eq!(position.remaining(color), position.pieces(color).len() + setup.pool.of(color));
        }
        let weights: u32 = position.reveals().map(|(_, count)| u32::from(count)).sum();
        prop_assert_eq!(weights, position.hidden().len());
    }

    #[test]
    fn the_hash_follows_the_board(rules in rules(), choices in choices()) {
        let mut game = Game::new(rules);
        play(&mut game, &choices);
        for position in game.positions() {
            prop_assert_eq!(position.hash(), position.fresh_hash(), "{}", position);
            let read = Position::parse(&position.to_string(), rules.ladder()).unwrap();
            prop_assert_eq!(read, *position);
        }
    }

    #[test]
    fn a_pass_changes_the_side_alone(setup in setups()) {
        let passed = Position::try_from(setup.clone()).unwrap().after_pass();
        prop_assert_eq!(passed.hash(), passed.fresh_hash());
        prop_assert_eq!(Setup::from(passed), Setup { turn: setup.turn.map(Color::other), quiet: 0, ..setup });
    }

    /// Who flips first takes the colour that comes up; nothing else depends on the order.
    #[test]
    fn flips_in_any_order_lead_to_the_same_position(
        seed in seeds(), order in Just(Square::all().collect::<Vec<_>>()).prop_shuffle(), count in 2..32_usize,
        other in any::<sample::Index>(),
    ) {
        let start = Position::initial(&Rules::server());
        let deal = Deal::new(&Rules::server(), &seed);
        let flip_all = |order: &[Square]| {
            order.iter().fold(start, |position, &at| after(&position, deal.resolve(Move::Flip(at)).unwrap()))
        };
        let mut turned = order[..count].to_vec();
        turned.rotate_left(other.index(count));
        let [one, two] = [flip_all(&order[..count]), flip_all(&turned)];
        let [first, second] = [order[0], turned[0]].map(|at| one.piece_at(at).unwrap().color);
        prop_assert_eq!(one == two, first == second);
        prop_assert_eq!(one.hash() == two.hash(), first == second);
    }
}

/// Every way to every position of a small game: one look, one hash.
#[test]
fn one_look_has_one_hash() {
    for rules in ["chen,board=2x2", "chen,board=2x2,army=GC", "chen,board=3x2,army=KPcpgp"] {
        let mut hashes: HashMap<String, u64> = HashMap::new();
        let mut waiting = vec![Position::initial(&rules.parse().unwrap())];
        while let Some(position) = waiting.pop() {
            let look = position.to_string().split(' ').take(3).collect::<Vec<_>>().join(" ");
            match hashes.insert(look, position.hash()) {
                Some(hash) => assert_eq!(position.hash(), hash, "{position} by another way"),
                None => waiting.extend(successors(&position)),
            }
        }
        let different: HashSet<u64> = hashes.values().copied().collect();
        assert_eq!(different.len(), hashes.len(), "two looks with one hash by {rules}");
        assert!(hashes.len() > 500, "only {} positions by {rules}", hashes.len());
    }
}

fn successors(position: &Position) -> Vec<Position> {
    let plies = |mv: Move| match mv {
        Move::Flip(at) => position.reveals().map(|(piece, _)| Ply::Flip(at, piece)).collect(),
        Move::Step { from, to } => vec![Ply::Step { from, to }],
    };
    position.moves().into_iter().flat_map(plies).map(|ply| after(position, ply)).collect()
}

fn turned(mv: Move, symmetry: Symmetry) -> Move {
    match mv {
        Move::Flip(at) => Move::Flip(symmetry.apply(at)),
        Move::Step { from, to } => Move::Step { from: symmetry.apply(from), to: symmetry.apply(to) },
    }
}

fn sorted(moves: impl IntoIterator<Item = Move>) -> MoveList {
    let mut moves: MoveList = moves.into_iter().collect();
    moves.sort_unstable();
    moves
}

#[test]
fn symmetries_turn_the_board_onto_itself() {
    for board in BoardSize::ALL {
        let images: HashSet<Vec<Square>> =
            board.symmetries().map(|symmetry| board.squares().iter().map(|at| symmetry.apply(at)).collect()).collect();
        assert_eq!(images.len(), if board.files() == board.ranks() { 8 } else { 4 }, "different symmetries of {board}");
        for image in &images {
            assert_eq!(image.iter().copied().collect::<SquareSet>(), board.squares(), "{image:?} on {board}");
        }
        for symmetry in board.symmetries() {
            let again: HashSet<Vec<Square>> =
                images.iter().map(|image| image.iter().map(|&at| symmetry.apply(at)).collect()).collect();
            assert_eq!(again, images, "symmetries after {symmetry:?}");
        }
    }
}

proptest! {
    #![proptest_config(cases(1000))]

    #[test]
    fn a_turned_board_has_the_turned_moves(position in positions()) {
        for symmetry in position.board().symmetries() {
            let image = position.transformed(symmetry);
            for at in position.board().squares() {
                prop_assert_eq!(image.piece_at(symmetry.apply(at)), position.piece_at(at));
                prop_assert_eq!(image.hidden().contains(symmetry.apply(at)), position.hidden().contains(at));
            }
            prop_assert_eq!(sorted(image.moves()), sorted(position.moves().into_iter().map(|mv| turned(mv, symmetry))));
            prop_assert_eq!(image.hash(), image.fresh_hash());
            prop_assert_eq!(perft(&image, 2), perft(&position, 2));
        }
    }

    #[test]
    fn the_other_colours_have_the_same_moves(position in positions()) {
        let swapped = position.swapped();
        prop_assert_eq!(sorted(swapped.moves()), sorted(position.moves()));
        prop_assert_eq!(swapped.hash(), swapped.fresh_hash());
        prop_assert_eq!(perft(&swapped, 2), perft(&position, 2));
        prop_assert_eq!(swapped.swapped(), position);
        for color in Color::ALL {
            prop_assert_eq!(swapped.pieces(color), position.pieces(color.other()));
            prop_assert_eq!(swapped.attacked_by(color), position.attacked_by(color.other()));
        }
    }
}

#[test]
fn symmetries_keep_the_leaves() {
    for (text, depth) in [
        ("xG1K/NMRx/4/nmR1/k2P/Pxgr/1PpN/r1mc b Pgp", 4),
        ("Cxc1/p1Pc/1cC1/gK1x r kp", 5),
        ("xCp1/1cKx/pPxc b Gkc", 4),
        ("xKp/c1P r g", 7),
    ] {
        let position: Position = text.parse().unwrap();
        let leaves = perft(&position, depth);
        assert_eq!(perft(&position.swapped(), depth), leaves, "{text} with colours exchanged");
        for symmetry in position.board().symmetries() {
            assert_eq!(perft(&position.transformed(symmetry), depth), leaves, "{text} by {symmetry:?}");
        }
    }
}

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn a_set_is_its_squares(bits in any::<u32>(), others in any::<u32>()) {
        let (set, other) = (SquareSet(bits), SquareSet(others));
        let squares: Vec<Square> = Square::all().filter(|&at| set.contains(at)).collect();
        prop_assert_eq!(set.iter().collect::<Vec<_>>(), squares.clone());
        prop_assert_eq!(set.iter().len(), set.len() as usize);
        prop_assert_eq!(set.first(), squares.first().copied());
        prop_assert_eq!(squares.into_iter().collect::<SquareSet>(), set);
        for at in Square::all() {
            let (a, b) = (set.contains(at), other.contains(at));
            prop_assert_eq!((set & other).contains(at), a && b);
            prop_assert_eq!((set | other).contains(at), a || b);
            prop_assert_eq!((set ^ other).contains(at), a != b);
            prop_assert_eq!((!set).contains(at), !a);
        }
        for direction in Direction::ALL {
            let moved: SquareSet = set.iter().filter_map(|at| direction.step(at)).collect();
            prop_assert_eq!(direction.shift(set), moved);
        }
    }

    #[test]
    fn a_cannon_lands_on_the_second_piece(at in squares(), bits in any::<u32>(), more in any::<u32>()) {
        for occupied in [SquareSet(bits), SquareSet(bits & more), SquareSet(bits | more)] {
            let second = |direction: Direction| {
                let line = std::iter::successors(direction.step(at), |&square| direction.step(square));
                line.filter(|&square| occupied.contains(square)).nth(1)
            };
            let landings: SquareSet = Direction::ALL.into_iter().filter_map(second).collect();
            prop_assert_eq!(cannon_targets(at, occupied), landings);
        }
    }
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn material_is_its_pieces(mut pieces in collection::vec(values::pieces(), 0..=32), other in values::pieces()) {
        let mut material: Material = pieces.iter().copied().collect();
        pieces.sort_unstable();
        prop_assert_eq!(material.pieces().collect::<Vec<_>>(), pieces.clone());
        let count = |piece: Piece| pieces.iter().filter(|&&other| other == piece).count();
        let counts: Vec<_> = Piece::all().map(|piece| (piece, count(piece) as u8)).filter(|&(_, n)| n > 0).collect();
        prop_assert_eq!(material.kinds() as usize, counts.len());
        prop_assert_eq!(material.iter().collect::<Vec<_>>(), counts);
        prop_assert_eq!((material.len() as usize, material.is_empty()), (pieces.len(), pieces.is_empty()));
        for color in Color::ALL {
            prop_assert_eq!(material.of(color) as usize, pieces.iter().filter(|piece| piece.color == color).count());
            prop_assert_eq!(material.swapped().of(color), material.of(color.other()));
        }
        prop_assert_eq!(material.swapped().swapped(), material);

        let before = material;
        prop_assert_eq!(material.remove(other), count(other) > 0);
        prop_assert_eq!(usize::from(material.count(other)), count(other).saturating_sub(1));
        if count(other) > 0 {
            material.add(other);
        }
        prop_assert_eq!(material, before);
    }
}

#[test]
fn neighbours_are_one_step_away() {
    for (a, b) in Square::all().flat_map(|a| Square::all().map(move |b| (a, b))) {
        let distance = a.file().abs_diff(b.file()) + a.rank().abs_diff(b.rank());
        assert_eq!(neighbours(a).contains(b), distance == 1, "{a} and {b}");
    }
    for direction in Direction::ALL {
        for at in Square::all() {
            assert!(direction.step(at).is_none_or(|next| direction.opposite().step(next) == Some(at)));
        }
    }
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn taking_back_restores_everything(rules in rules(), choices in choices()) {
        let mut game = Game::new(rules);
        let mut before = Vec::new();
        for &choice in &choices {
            before.push((*game.position(), game.outcome(), game.plies().len()));
            play(&mut game, &[choice]);
        }
        let whole = game.plies().to_vec();
        for (position, outcome, played) in before.into_iter().rev() {
            while game.plies().len() > played {
                prop_assert_eq!(game.take_back(), Some(whole[game.plies().len()]));
            }
            prop_assert_eq!((*game.position(), game.outcome()), (position, outcome));
        }
        prop_assert_eq!(game.take_back(), None);
    }

    #[test]
    fn a_flag_ends_what_is_not_over(rules in rules(), choices in choices(), termination in terminations()) {
        for loser in Seat::ALL {
            let mut game = Game::new(rules);
            play(&mut game, &choices);
            let expected = game.outcome().unwrap_or(Outcome { winner: Some(loser.other()), termination });
            game.lose(loser, termination);
            prop_assert_eq!(game.outcome(), Some(expected));
            prop_assert!(game.legal_moves().is_empty());
        }
    }
}

/// Quiet plies are counted up to 65535 and then no further; the game goes on.
#[test]
fn a_game_may_be_quiet_for_ever() {
    let rules: Rules = "server,draw=off,repeat=position:255".parse().unwrap();
    let mut game = Game::from_position(rules, "GGG1/4/4/4/4/4/4/1ggg r -".parse().unwrap()).unwrap();
    let mut rng = Seed::from(1).rng();
    for _ in 0..65_540 {
        let mut steps = MoveList::new();
        game.position().quiet_steps_into(&mut steps);
        if let Move::Step { from, to } = steps[rng.next_u32() as usize % steps.len()] {
            game.play(Ply::Step { from, to }).unwrap();
        }
    }
    assert_eq!((game.position().quiet(), game.outcome()), (u16::MAX, None));
}
