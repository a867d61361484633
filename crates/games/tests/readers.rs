//! Records of all three formats: good ones, bad ones, and any bytes at all.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use anqi_games::{
    Board, EngineValue, GameFlaw, GameFormat, GameKind, GameReader, GameRecord, GameStart, NumberedRecord, Recorder,
    WinOrDraw, write_record,
};
use anqi_rules::{Seat, Seed};
use proptest::prelude::*;
use rand_core::Rng;

fn entries(format: GameFormat, text: impl AsRef<[u8]>) -> Vec<NumberedRecord> {
    GameReader::new(text.as_ref(), format).collect::<Result<_, _>>().unwrap()
}

fn only(format: GameFormat, text: &str) -> Result<GameRecord, GameFlaw> {
    let mut entries = entries(format, text);
    assert_eq!(entries.len(), 1, "{entries:?}");
    entries.remove(0).record
}

/// What became of each record: `good`, or the name of its flaw.
fn fates(format: GameFormat, text: &str) -> Vec<&'static str> {
    entries(format, text).iter().map(|entry| entry.record.as_ref().map_or_else(GameFlaw::name, |_| "good")).collect()
}

#[test]
fn pgn_with_everything_that_pgn_has() {
    let text = r#"%escaped
[Event "A \"quoted\" name"]
[White "Anderssen, A."] [Black "?"]
[Result "1-0"]

1. e4! {best by test; [%eval 0.35]} (1. d4 d5 (1... Nf6 {(a parenthesis)} ) 2. c4) 1... e5 $1 ; a line
2.Nf3 {[%eval #-3]} Nc6 3. Bb5 {+0.25/12 0.5s} a6 {-M4/9 1s} 4.O-O?! {[%eval 1.5,18] [%clk 0:01:02]}
1-0"#;
    let record = only(GameFormat::Pgn, text).unwrap();
    assert_eq!(record.moves, ["e2e4", "e7e5", "g1f3", "b8c6", "f1b5", "a7a6", "e1g1"]);
    assert_eq!(record.outcome, WinOrDraw::Win(Seat::First));
    assert_eq!(record.players, [Some("Anderssen, A.".to_owned()), None]);
    let said: Vec<_> = record.positions().map(|position| position.comment()).collect();
    let cp = |value| Some(EngineValue::Centipawns(value));
    let mate = |wins, distance| Some(EngineValue::Mate { wins, distance: Some(distance) });
    // Seen by the side to move: after 1. e4 that is Black.
    assert_eq!(said, [None, cp(-35.0), None, mate(true, 3), cp(25.0), mate(false, 4), None, cp(-150.0)]);
    assert_eq!(record.positions().last().unwrap().to_string(), "startpos moves e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 e1g1");
}

#[test]
fn pgn_from_a_position() {
    let text = "[FEN \"4k3/8/8/8/8/8/4P3/4K3 b - - 0 1\"]\n\n1... Kd7 2. e4 1/2-1/2";
    let record = only(GameFormat::Pgn, text).unwrap();
    let position = record.positions().nth(1).unwrap();
    assert_eq!(position.to_string(), "fen 4k3/8/8/8/8/8/4P3/4K3 b - - 0 1 moves e8d7");
    assert_eq!(position.turn(), Seat::First);
}

#[test]
fn bad_records_are_named_and_good_ones_behind_them_are_read() {
    let pgn = "[Event \"unknown\"]\n\n1. e4 *\n\n[Event \"illegal\"]\n\n1. e4 e5 2. e6 1-0\n\n\
        [Event \"cut in a comment\"]\n\n1. e4 {and then\n[Event \"cut\"]\n\n1. e4 e5\n\n[Event \"two\"]\n[Result \"0-1\"]\n\n1. e4 1-0\n\
        [Event \"variant\"]\n[Variant \"Atomic\"]\n\n1. e4 1-0\n[Event \"position\"]\n[FEN \"8/8/8 w - - 0 1\"]\n\n1. e4 1-0\n\
        [Event \"tag\n\n1. e4 1-0\n[Event \"variation\"]\n\n1. e4 (1. d4\n1-0\n[Event \"good\"]\n\n1. e4 0-1\n";
    assert_eq!(
        fates(GameFormat::Pgn, pgn),
        [
            "unknown result",
            "illegal move",
            "truncated record",
            "truncated record",
            "contradictory results",
            "unsupported game",
            "bad start position",
            "damaged record",
            "truncated record",
            "good",
        ]
    );
    let entry = &entries(GameFormat::Pgn, pgn)[1];
    assert_eq!(entry.to_string(), "game 2 on line 5: ply 3: illegal move \"e6\"");

    let sgf = "(;GM[1]SZ[9];B[ee])\n(;GM[1]SZ[9]RE[?];B[ee])\n(;GM[1]SZ[9]RE[B+R];B[ee];W[ee])\n\
        (;GM[1]SZ[9]RE[B+R];B[ee];W[z\n(;GM[1]SZ[4]RE[B+R];B[aa])(;GM[1]SZ[9:8]RE[B+R];B[aa])\n(;GM[2]RE[B+R];B[aa])\n\
        (;GM[1]SZ[9]RE[B+R];B[!!])(;GM[1]SZ[9]RE[B+R];B[aa];AB[bb])(;GM[1]SZ[9]AB[zz]RE[B+R];B[aa])\n(;GM[1]SZ[9]RE[W+0.5];B[ee];W[])\n";
    assert_eq!(
        fates(GameFormat::Sgf, sgf),
        [
            "unknown result",
            "unknown result",
            "illegal move",
            "truncated record",
            "bad start position",
            "unsupported game",
            "unsupported game",
            "illegal move",
            "unsupported game",
            "bad start position",
            "good",
        ]
    );

    let csa = "V2.2\nPI\n+\n+7776FU\n%CHUDAN\n/\nPI\n+\n+7776FU\n-3334FU\n/\nPI\n+\n+7775FU\n%TORYO\n/\nPI\n+7776FU\n%TORYO\n/\n\
        PI\n+\n+7776XX\n%TORYO\n/\nPI\n+\nwhat?\n%TORYO\n/\nP5 * +XX\n+\n%TORYO\n/\nP+55OU\n+\n+5554OU\n%TORYO\n/\n\
        PI\n+\n-3334FU\n%TORYO\n/\nPI\n+\n+0055KA\n%TORYO\n/\nPI\n+\n+7776FU\nT999999999999999999999999\n%TORYO\n";
    assert_eq!(
        fates(GameFormat::Csa, csa),
        [
            "unknown result",
            "truncated record",
            "illegal move",
            "truncated record",
            "illegal move",
            "damaged record",
            "damaged record",
            "bad start position",
            "illegal move",
            "illegal move", // a bishop that is not in hand
            "good",
        ]
    );
}

#[test]
fn records_of_any_size() {
    let long = format!("1. e4 {{{}}} 1-0\n\n1. d4 1-0\n", "x".repeat(3 << 20));
    assert_eq!(fates(GameFormat::Pgn, &long), ["record too long", "good"]);
    let deep = format!("(;GM[1]RE[B+R]{}\n(;GM[1]SZ[9]RE[B+R];B[aa])", "(;B[aa]".repeat(100_000));
    assert_eq!(fates(GameFormat::Sgf, &deep), ["record too long", "good"]);
    let dance = "1. Nf3 Nf6 2. Ng1 Ng8\n".repeat(2000);
    assert_eq!(fates(GameFormat::Pgn, &format!("{dance}1-0\n")), ["record too long"]);
    for format in GameFormat::ALL {
        assert_eq!(fates(format, " \r\n\n"), Vec::<&str>::new());
    }
}

#[test]
fn sgf_with_handicap_passes_and_values() {
    let text = "a mail\n(;FF[4]GM[1]SZ[9]KM[0.5]HA[2]AB[cc][gg]PB[Pupil]PW[Master]RE[W+12.5]V[20]
        ;W[ee]V[-3.5](;B[tt];W[]C[a \\] and (a parenthesis)])(;B[aa]))";
    let record = only(GameFormat::Sgf, text).unwrap();
    assert_eq!(record.moves, ["E5", "pass", "pass"]);
    assert_eq!(record.outcome, WinOrDraw::Win(Seat::Second));
    let said: Vec<_> = record.positions().map(|position| position.comment()).collect();
    // Both have passed: nobody is to move at the end.
    assert_eq!(said, [Some(EngineValue::Lead(-20.0)), Some(EngineValue::Lead(-3.5)), None]);
    assert_eq!(record.positions().nth(1).unwrap().to_string(), "go 9 0.5 second first:C7 first:G3 moves E5");
    // Old files put handicap stones down as moves of Black.
    let text = "(;GM[1]SZ[9]HA[2]RE[Jigo];B[cc];B[gg];W[ee])";
    let record = only(GameFormat::Sgf, text).unwrap();
    let movers: Vec<_> = record.positions().last().unwrap().moves().map(|(side, _)| side).collect();
    assert_eq!((movers, record.outcome), (vec![Seat::First, Seat::First, Seat::Second], WinOrDraw::Draw));
}

#[test]
fn csa_with_everything_that_csa_has() {
    let text = "'a comment\nV2.2\nN+Sente\nN-Gote\n$EVENT:Cup\n$TIME_LIMIT:00:25+00\nPI\n+\n'** 12 +3334FU\n+7776FU,T3\n\
        -3334FU\nT5\n'** -40\n+8822UM\n'** mate +5\n-3122GI\n+0055KA\n%TIME_UP\n";
    let record = only(GameFormat::Csa, text).unwrap();
    assert_eq!(record.moves, ["7g7f", "3c3d", "8h2b+", "3a2b", "B*5e"]);
    assert_eq!(record.outcome, WinOrDraw::Win(Seat::First));
    let said: Vec<_> = record.positions().map(|position| position.comment()).collect();
    let mate = EngineValue::Mate { wins: false, distance: Some(5) };
    let cp = |value| Some(EngineValue::Centipawns(value));
    assert_eq!(said, [cp(12.0), None, cp(-40.0), Some(mate), None, None]);
    let facts = record.facts.last().unwrap();
    assert_eq!((facts.turn, facts.pieces, facts.lead), (Seat::Second, 39, 0));
    let handicap = "PI22KA82HI\n-\n-5142OU\n%+ILLEGAL_ACTION\n";
    let record = only(GameFormat::Csa, handicap).unwrap();
    assert_eq!(record.outcome, WinOrDraw::Win(Seat::Second));
    let sfen = "lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1";
    assert_eq!(record.start, GameStart::Shogi(Some(sfen.to_owned())));
    let problem = "P1 *  *  *  * -OU *  *  *  * \nP2 *  *  *  *  *  *  *  *  * \nP3 *  *  *  * +FU *  *  *  * \n\
        P4 *  *  *  *  *  *  *  *  * \nP5 *  *  *  *  *  *  *  *  * \nP6 *  *  *  *  *  *  *  *  * \n\
        P7 *  *  *  *  *  *  *  *  * \nP8 *  *  *  *  *  *  *  *  * \nP9 *  *  *  * +OU *  *  *  * \nP+00KI\nP-00AL\n+\n\
        +0052KI\n%TSUMI\n";
    let record = only(GameFormat::Csa, problem).unwrap();
    assert_eq!(record.outcome, WinOrDraw::Win(Seat::First));
    let sfen = "4k4/9/4P4/9/9/9/9/9/4K4 b G2r2b3g4s4n4l17p 1";
    assert_eq!(record.start, GameStart::Shogi(Some(sfen.to_owned())));
    assert!(record.ended);
    assert_eq!(record.positions().count(), 1);
}

/// A game of random legal moves.
fn random_game(kind: GameKind, seed: u64, plies: usize) -> GameRecord {
    let start = match kind {
        GameKind::Chess => GameStart::Chess(None),
        GameKind::Shogi => GameStart::Shogi(None),
        GameKind::Go => GameStart::Go { size: 9, komi: 6.5, stones: Vec::new(), turn: Seat::First },
    };
    let mut game = Recorder::begin(start).unwrap();
    let mut rng = Seed::from(seed).child("moves").rng();
    while game.plies() < plies && game.board().end().is_none() {
        let moves = game.board().moves();
        game.play(&moves[rng.next_u32() as usize % moves.len()]).unwrap();
        let value = f64::from(rng.next_u32() % 4001) - 2000.0;
        let evaluation = match (kind, rng.next_u32() % 10) {
            (_, 0) => continue,
            (GameKind::Go, _) => EngineValue::Lead(value / 10.0),
            (_, 1) => EngineValue::Mate { wins: value > 0.0, distance: Some(rng.next_u32() % 9 + 1) },
            _ => EngineValue::Centipawns(value),
        };
        game.comment(game.plies(), evaluation);
    }
    // In CSA a loser says so, and the winner of a counted game.
    let outcomes = [WinOrDraw::Win(Seat::First), WinOrDraw::Win(Seat::Second), WinOrDraw::Draw];
    game.finish(outcomes[rng.next_u32() as usize % 3], [Some("A".to_owned()), Some("B".to_owned())])
}

const KINDS: [(GameKind, GameFormat); 3] =
    [(GameKind::Chess, GameFormat::Pgn), (GameKind::Go, GameFormat::Sgf), (GameKind::Shogi, GameFormat::Csa)];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// What is written is read back the same, several in a file.
    #[test]
    fn written_records_are_read_back(seeds in proptest::collection::vec(any::<u64>(), 1..4), plies in 0_usize..150) {
        for (kind, format) in KINDS {
            let games: Vec<_> = seeds.iter().map(|&seed| random_game(kind, seed, plies)).collect();
            let mut text = Vec::new();
            games.iter().for_each(|game| write_record(&mut text, game).unwrap());
            let read: Vec<_> = entries(format, &text).into_iter().map(|entry| entry.record.unwrap()).collect();
            prop_assert_eq!(&read, &games, "{}", String::from_utf8_lossy(&text));
        }
    }

    /// A record that is damaged anywhere is read or named, and the one behind it is read.
    #[test]
    fn damaged_records_are_named(seed: u64, at: prop::sample::Index, byte: u8, cut: bool) {
        for (kind, format) in KINDS {
            let mut text = Vec::new();
            write_record(&mut text, &random_game(kind, seed, 60)).unwrap();
            let place = at.index(text.len());
            if cut { text.truncate(place) } else { text[place] = byte }
            let mut next = Vec::new();
            let good = random_game(kind, seed ^ 1, 20);
            write_record(&mut next, &good).unwrap();
            text.push(b'\n');
            text.extend(next);
            let read = entries(format, &text);
            let found = read.last().is_some_and(|entry| entry.record.as_ref() == Ok(&good));
            prop_assert!(found, "{:?}\n{}", read, String::from_utf8_lossy(&text));
        }
    }

    /// Any text is read without a panic, and the reader comes to an end.
    #[test]
    fn any_text(text in "[\\[\\](){};\"'/%+\\-*=#.,0-9A-Za-z \n]{0,300}") {
        for format in GameFormat::ALL {
            entries(format, &text);
        }
    }

    /// So are texts made of what the formats are made of.
    #[test]
    fn any_words(words in proptest::collection::vec(prop::sample::select(WORDS), 0..40), gap in prop::sample::select(&["", " ", "\n"][..])) {
        for format in GameFormat::ALL {
            entries(format, words.join(gap));
        }
    }

    /// No text is a move that breaks a board.
    #[test]
    fn any_moves(moves in proptest::collection::vec("[a-zA-Z+*#=]?[a-i1-9]{0,4}[a-zA-Z+]?", 0..30)) {
        for kind in [GameKind::Chess, GameKind::Go, GameKind::Shogi] {
            let record = random_game(kind, 7, 20);
            let mut board = record.start.board().unwrap();
            record.moves.iter().for_each(|mv| board.play(mv).unwrap());
            for mv in &moves {
                let legal = board.moves().iter().any(|known| known.eq_ignore_ascii_case(mv));
                prop_assert_eq!(board.play(mv).is_ok(), legal, "{} {}", kind, mv);
            }
        }
    }
}

#[rustfmt::skip]
const WORDS: &[&str] = &[
    "[Event \"x\"]", "[FEN \"", "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", "\"]", "1.", "1-0", "*", "e4", "e8=Q", "O-O", "{", "}", "(", ")", "$1",
    "[%eval ", "#3", "]", "(;", "GM[1]", "SZ[9]", "B[aa]", "W[]", "B[tt]", "AB[aa:ii]", "AW[", "RE[B+R]", "V[1e400]", "KM[nan]", "\\", "PI",
    "P1", "-OU * ", "P+00AL", "P-00AL", "+", "-", "+7776FU", "-3334FU", "+0055KA", "%TORYO", "%KACHI", "T99999999999999999999", "'** 3",
    "N+x", "/", "V2.2", "$START_TIME:99/99/99", ",", "é", "\0",
];
