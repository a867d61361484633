//! Results by proof: what tables say holds on the board, and what records say is corrected by it.
#![allow(clippy::unwrap_used)]

use anqi_assess::{ChosenPosition, Endings, EndingsError, Positions, Skipped, Winners};
use anqi_records::{Record, Tags};
use anqi_rules::{Game, Move, Ply, Position, Rules, Seed};
use anqi_stats::Points;
use proptest::prelude::*;

/// Everything that can be played, by the rules and with the whole history; the side to move.
fn by_play(game: &Game) -> Points {
    if let Some(outcome) = game.outcome() {
        return match outcome.winner {
            None => Points::Draw,
            Some(winner) if winner == game.seat() => Points::Win,
            Some(_) => Points::Loss,
        };
    }
    let after = |&mv: &Move| {
        let Move::Step { from, to } = mv else { unreachable!("nothing is face down") };
        let mut after = game.clone();
        after.play(Ply::Step { from, to }).unwrap();
        by_play(&after).inverted()
    };
    let mut best = Points::Loss;
    for mv in &game.legal_moves() {
        best = best.max(after(mv));
        if best == Points::Win {
            break;
        }
    }
    best
}

fn places(record: &Record) -> Vec<ChosenPosition> {
    let all = Positions { rules: None, per_game: None, only: Vec::new(), seed: Seed::from(1), from_comments: false };
    let mut skipped = Skipped::default();
    let places = all.of(1, record, "a record", &mut skipped);
    assert!(skipped.is_empty(), "{skipped}");
    places
}

fn play(game: &mut Game, plies: &[&str]) {
    plies.iter().for_each(|ply| game.play(ply.parse().unwrap()).unwrap());
}

fn prove(places: &mut [ChosenPosition]) -> (Vec<(u32, Points)>, (u64, u64)) {
    let (mut endings, mut winners, mut proven) = (Endings::new(None), Winners::default(), Vec::new());
    for place in &*places {
        if let Some(result) = endings.result(&place.start).unwrap() {
            winners.add((place.game, place.ply), result);
            proven.push((place.ply, result));
        }
    }
    let corrected = winners.correct(places);
    (proven, corrected)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever is proven of an ending with any history is what comes out if everything is played, under every kind of
    /// repetition; the draw rule is short so that this can be done.
    #[test]
    fn proofs_hold_on_the_board(
        squares in prop::sample::subsequence((0..32_u8).filter(|square| square % 8 < 3).collect::<Vec<_>>(), 3),
        kinds in prop::sample::select(&["Kpn", "Nkp", "RnP", "Gmm", "Crp", "kPP", "Ppr", "MKp"][..]),
        rules in prop::sample::select(&[
            "server,draw=6,repeat=off", "server,draw=7,repeat=position:2", "server,draw=7,repeat=position:3", "server,draw=7,repeat=cycle:2",
        ][..]),
        seed: u64, history in 0_usize..6,
    ) {
        let rules: Rules = rules.parse().unwrap();
        let mut game = Game::from_position(rules, position(&squares, kinds)).unwrap();
        // A history that goes to and fro.
        let mut random = seed;
        for _ in 0..history {
            let quiet: Vec<Move> = game.legal_moves().iter().copied().filter(|mv| is_quiet(&game, *mv)).collect();
            if quiet.is_empty() || game.outcome().is_some() { break }
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let Move::Step { from, to } = quiet[(random >> 33) as usize % quiet.len()] else { unreachable!() };
            let back = game.plies().iter().rev().nth(1).and_then(|ply| match *ply {
                Ply::Step { from, to } => Some(Ply::Step { from: to, to: from }),
                _ => None,
            });
            let back = back.filter(|ply| random >> 63 == 0 && quiet.contains(&ply.to_move()));
            game.play(back.unwrap_or(Ply::Step { from, to })).unwrap();
        }
        if let Some(proven) = Endings::new(None).result(&game).unwrap() {
            prop_assert_eq!(proven, by_play(&game), "{} {} {:?}", game.rules(), game.positions()[0], game.plies());
        } else {
            prop_assert!(game.outcome().is_some() || !game.plies().is_empty());
        }
    }
}

/// Pieces on squares; gaps are counted.
fn position(squares: &[u8], kinds: &str) -> Position {
    let at = |square: u8| squares.iter().position(|other| *other == square).and_then(|place| kinds.chars().nth(place));
    let row = |row: u8| (0..4).map(|file| at(file * 8 + row).unwrap_or('.')).collect::<String>();
    let mut rows = (0..8).map(row).collect::<Vec<_>>().join("/");
    (1..=4).rev().for_each(|gap: usize| rows = rows.replace(&".".repeat(gap), &gap.to_string()));
    format!("{rows} r -").parse().unwrap()
}

fn is_quiet(game: &Game, mv: Move) -> bool {
    matches!(mv, Move::Step { to, .. } if game.position().piece_at(to).is_none())
}

/// Guard, minister and rook have caught one pawn and go to and fro until the other has its draw.
fn spoilt(rules: &str) -> Game {
    let position = "4/4/4/4/4/4/p3/GMRp r -".parse().unwrap();
    let mut game = Game::from_position(rules.parse().unwrap(), position).unwrap();
    play(&mut game, &["a1-a2", "d1-d2"]);
    for next in ["b1-a1", "d2-d3", "a1-b1", "d3-d2"].iter().cycle() {
        play(&mut game, &[next]);
        if game.outcome().is_some() {
            break;
        }
    }
    assert_eq!(game.outcome().unwrap().winner, None);
    game
}

#[test]
fn a_win_that_was_not_taken_is_a_win() {
    let game = spoilt("server,repeat=off");
    let mut places = places(&Record::from_game(&game, Tags::new()));
    assert_eq!(places.len(), 61);
    assert!(places.iter().all(|place| place.result == Points::Draw));
    let (proven, (positions, games)) = prove(&mut places);
    // Five pieces are not solved, four are: the first position has its result from the second.
    assert_eq!(proven.len(), 60);
    assert_eq!(proven[0], (1, Points::Loss));
    assert_eq!(places[0].result, Points::Win);
    // In the end there is no time left to win, and the draw is what was deserved.
    let late = places.iter().position(|place| place.result == Points::Draw).unwrap();
    assert!((30..60).contains(&late), "{late}");
    for place in &places[..late] {
        assert_eq!(place.result, if place.ply % 2 == 0 { Points::Win } else { Points::Loss }, "ply {}", place.ply);
    }
    assert!(places[late..].iter().all(|place| place.result == Points::Draw));
    assert_eq!((positions, games), (late as u64, 1));
}

#[test]
fn positions_after_a_proof_have_their_own() {
    let mut winners = Winners::default();
    winners.add((1, 10), Points::Win);
    winners.add((1, 20), Points::Draw);
    winners.add((2, 5), Points::Loss);
    let results: Vec<_> =
        [(1, 0), (1, 9), (1, 10), (1, 11), (1, 20), (1, 21), (2, 4), (3, 0)].map(|at| winners.result(at)).into();
    use Points::{Draw, Loss, Win};
    assert_eq!(results, [Some(Win), Some(Loss), Some(Win), Some(Draw), Some(Draw), None, Some(Win), None]);
}

#[test]
fn what_tables_do_not_know_is_not_proven() {
    let mut endings = Endings::new(None);
    let mut result = |rules: &str, position: &str| {
        let game = Game::from_position(rules.parse().unwrap(), position.parse().unwrap()).unwrap();
        endings.result(&game).unwrap()
    };
    let won = "4/4/4/4/4/4/4/NC1p r -";
    assert_eq!(result("server", won), Some(Points::Win));
    assert_eq!(result("server,draw=4", won), Some(Points::Draw)); // it takes longer than that
    assert_eq!(result("server,chase=on", won), None);
    assert_eq!(result("server", "4/4/4/4/4/4/p3/GMRp r -"), None); // five pieces
    assert_eq!(result("server", "4/4/4/4/4/4/4/NC1x r p"), None); // one of them face down
}

#[test]
fn a_win_over_positions_that_were_there_is_not_proven() {
    let after = |rules: &str| {
        let position = "4/kP1P/4/4/4/4/4/4 r -".parse().unwrap();
        let mut game = Game::from_position(rules.parse().unwrap(), position).unwrap();
        play(&mut game, &["b7-c7", "a7-a8"]);
        (Endings::new(None).result(&game).unwrap(), by_play(&game))
    };
    assert_eq!(after("server,draw=7,repeat=off"), (Some(Points::Win), Points::Win));
    // The only way leads back, and there the game is drawn.
    assert_eq!(after("server,draw=7,repeat=position:2"), (None, Points::Draw));
}

#[test]
fn a_folder_must_have_what_the_rules_need() {
    let dir = tempfile::tempdir().unwrap();
    let game = Game::from_position(Rules::server(), "4/4/4/4/4/4/4/NC1p r -".parse().unwrap()).unwrap();
    let error = Endings::new(Some(dir.path())).result(&game).unwrap_err();
    assert!(matches!(error, EndingsError::NoTables { .. }), "{error}");
    assert!(error.to_string().contains("conversion-60"), "{error}");
    // A damaged table is said, not passed over.
    let ending = "NC-p".parse().unwrap();
    let class = anqi_endgame::Class::of(&ending).class.name().unwrap();
    let path = anqi_endgame::table_path(dir.path(), &class, anqi_endgame::Flavour::conversion(Some(60)));
    std::fs::write(path, "nonsense").unwrap();
    let error = Endings::new(Some(dir.path())).result(&game).unwrap_err();
    assert!(matches!(error, EndingsError::Table(_)), "{error}");
}
