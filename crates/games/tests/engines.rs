//! Real engines from Debian's packages, and one that fails on purpose. `./test` installs what is needed; a package that is
//! missing fails the tests.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Once;

use anqi_engine::Stop;
use anqi_games::{
    Asked, EngineMove, EngineSpec, EngineSpecError, EngineValue, GameFormat, GameReader, GameRecord, GameStart,
    PlayedPosition, SelfPlay, SelfPlayed, Standby, write_record,
};
use anqi_protocol::Fault;
use anqi_rules::{Seat, Seed};

/// The tests have no `main` of their own that could supervise.
fn supervised() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| anqi_protocol::supervise_with(supervisor()));
}

fn supervisor() -> PathBuf {
    env!("CARGO_BIN_EXE_frail-engine").into()
}

const STOCKFISH: &str = "proto=uci cmd=/usr/games/stockfish nodes=2000 option.Threads=1 option.Hash=1";
const GNU_GO: &str = "proto=gtp cmd='/usr/games/gnugo --mode gtp --level 1'";
const GPS_SHOGI: &str =
    "proto=usi cmd=/usr/games/gpsusi go=infinite option.LimitDepth=4 option.Thread=1 option.BookDepth=0";

fn spec(text: &str) -> EngineSpec {
    supervised();
    text.parse().unwrap()
}

fn frail(protocol: &str, how: &str, when: u64, file: &str) -> EngineSpec {
    let engine = env!("CARGO_BIN_EXE_frail-engine");
    let limit = if protocol == "gtp" { "" } else { " nodes=1" };
    spec(&format!("proto={protocol} cmd='{engine} {protocol} {how} {when} {file}' patience=2{limit}"))
}

fn records(format: GameFormat, text: &str) -> Vec<GameRecord> {
    let entries = GameReader::new(text.as_bytes(), format).map(|entry| entry.unwrap().record.unwrap());
    entries.collect()
}

fn evaluate(spec: &EngineSpec, positions: &[PlayedPosition<'_>]) -> Vec<Asked<EngineValue>> {
    let mut engine = Standby::new(spec);
    positions.iter().map(|position| engine.ask(|engine| engine.evaluate(position)).unwrap()).collect()
}

fn value(answer: &Asked<EngineValue>) -> f64 {
    match answer {
        Asked::Answer { answer, again: None } => answer.value(),
        other => panic!("{other:?}"),
    }
}

/// Whatever was asked before, a question has one answer.
fn check_forgets(spec: &EngineSpec, record: &GameRecord) {
    let positions: Vec<_> = record.positions().collect();
    let backwards: Vec<_> = positions.iter().rev().copied().collect();
    let mut reversed = evaluate(spec, &backwards);
    reversed.reverse();
    assert_eq!(evaluate(spec, &positions), reversed);
}

#[test]
fn stockfish_knows_who_is_better_and_who_mates() {
    let spec = spec(STOCKFISH);
    let text = "1. e4 e5 2. Qh5 Ke7 3. Qxe5# 1-0\n\n[FEN \"4k3/8/8/8/8/8/8/QQ2K3 b - - 0 1\"]\n\n1... Kd7 2. Qe4 1-0\n\n\
        [FEN \"7k/R7/8/8/8/8/8/1R2K3 w - - 0 1\"]\n\n1. Rb8# 1-0\n";
    let records = records(GameFormat::Pgn, text);
    let positions: Vec<_> = records.iter().flat_map(GameRecord::positions).collect();
    assert_eq!(positions.len(), 5 + 3 + 1);
    let values: Vec<f64> = evaluate(&spec, &positions).iter().map(value).collect();
    // Even at the start, mate in one before 3. Qxe5#.
    assert!(values[0].abs() < 100.0, "{values:?}");
    assert_eq!(values[4], f64::INFINITY);
    assert!(values[5] < -500.0 && values[6] > 500.0, "{values:?}");
    assert_eq!(values[8], f64::INFINITY);
    check_forgets(&spec, &records[0]);
}

#[test]
fn gnu_go_counts_for_the_side_to_move() {
    let spec = spec(GNU_GO);
    let won = "(;GM[1]SZ[9]KM[0.5]RE[B+]AB[ac][bc][cc][dc][ec][fc][gc][hc][ic][ag][bg][cg][dg][eg][fg][gg][hg][ig]PL[W];W[];B[];W[aa])";
    let records = records(GameFormat::Sgf, won);
    let positions: Vec<_> = records[0].positions().collect();
    let values: Vec<f64> = evaluate(&spec, &positions[..2]).iter().map(value).collect();
    assert!(values[0] < -40.0 && values[1] > 40.0, "{values:?}");
    let game = "(;GM[1]SZ[9]KM[6.5]RE[B+];B[ee];W[ec];B[gc];W[cg];B[gg];W[ge])";
    check_forgets(&spec, &self::records(GameFormat::Sgf, game)[0]);
    let asked = self::spec(&format!("{GNU_GO} ask=experimental_score"));
    check_forgets(&asked, &self::records(GameFormat::Sgf, game)[0]);
    let unknown = self::spec(&format!("{GNU_GO} ask=winrate"));
    let fault = unknown.launch().unwrap_err();
    assert_eq!(fault.to_string(), "GNU Go 3.8 has no command winrate to ask for a value");
}

#[test]
fn gps_shogi_sees_a_lost_rook() {
    let spec = spec(GPS_SHOGI);
    let text = "PI\n+\n+7776FU\n-3334FU\n+8822UM\n-3122GI\n%TORYO\n/\nPI28HI\n-\n-3334FU\n+7776FU\n%TORYO\n/\n";
    let records = records(GameFormat::Csa, text);
    let positions: Vec<_> = records.iter().flat_map(GameRecord::positions).collect();
    let values: Vec<f64> = evaluate(&spec, &positions).iter().map(value).collect();
    assert!(values[..5].iter().all(|value| value.abs() < 300.0), "{values:?}");
    assert!(values[5] > 500.0 && values[6] < -500.0 && values[7] > 500.0, "{values:?}");
    check_forgets(&spec, &records[0]);
}

/// A game depends on its number alone, not on which others are played nor on how many at a time; and what is written can
/// be read.
fn check_self_play(engine: &str, start: GameStart, format: GameFormat, opening: usize) {
    let plan = SelfPlay { engine: spec(engine), start, opening, longest: 400, seed: Seed::from(1) };
    let play = |numbers: &[usize], workers| {
        let mut texts = BTreeMap::new();
        let write = |number, played| match played {
            SelfPlayed::Finished(record) => write_record(texts.entry(number).or_insert(Vec::new()), &record).is_ok(),
            other => panic!("{engine}: {other:?}"),
        };
        plan.run(numbers, workers, &Stop::default(), write).unwrap();
        String::from_utf8(texts.into_values().flatten().collect()).unwrap()
    };
    let text = play(&[0, 1], 2);
    assert!(text.ends_with(&play(&[1], 1)), "{engine}");
    // Nothing comes of a game that is stopped.
    let stop = Stop::default();
    stop.raise();
    plan.run(&[0, 1], 2, &stop, |number, _| panic!("game {number} was stopped")).unwrap();
    let games = records(format, &text);
    assert_ne!(games[0].moves, games[1].moves);
    assert!(games.iter().all(|game| game.comments.iter().flatten().count() > 5), "{text}");
}

#[test]
fn stockfish_plays_itself() {
    let engine = STOCKFISH.replace("nodes=2000", "nodes=200");
    check_self_play(&engine, GameStart::Chess(None), GameFormat::Pgn, 30);
}

#[test]
fn gnu_go_plays_itself() {
    let start = GameStart::Go { size: 7, komi: 6.5, stones: Vec::new(), turn: Seat::First };
    check_self_play(GNU_GO, start, GameFormat::Sgf, 4);
}

#[test]
fn gps_shogi_plays_itself() {
    // A whole army against a king alone, so that the game is short.
    let sfen = "4k4/9/9/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1";
    check_self_play(GPS_SHOGI, GameStart::Shogi(Some(sfen.to_owned())), GameFormat::Csa, 4);
}

fn one_game(protocol: &str) -> GameRecord {
    let (format, text) = match protocol {
        "uci" => (GameFormat::Pgn, "1. e4 e5 2. d4 1-0\n"),
        "gtp" => (GameFormat::Sgf, "(;GM[1]SZ[9]RE[B+];B[ee];W[ec];B[gc])"),
        _ => (GameFormat::Csa, "PI\n+\n+7776FU\n-3334FU\n+2726FU\n%TORYO\n"),
    };
    records(format, text).remove(0)
}

#[test]
fn an_engine_that_fails_once_is_asked_again() {
    let dir = tempfile::tempdir().unwrap();
    for protocol in ["uci", "gtp", "usi"] {
        let record = one_game(protocol);
        let positions: Vec<_> = record.positions().collect();
        for how in ["die", "nan", "nonsense", "silent", "hang"] {
            let file = dir.path().join(format!("{protocol}-{how}"));
            let spec = frail(protocol, how, 2, file.to_str().unwrap());
            let answers = evaluate(&spec, &positions);
            let again = |answer: &Asked<EngineValue>| matches!(answer, Asked::Answer { again: Some(_), .. });
            assert_eq!(answers.iter().map(again).collect::<Vec<_>>(), [false, true, false, false], "{protocol} {how}");
        }
    }
}

#[test]
fn an_engine_that_fails_twice_costs_one_position() {
    for (protocol, how, name) in [
        ("uci", "die", "crashed"),
        ("uci", "nan", "malformed"),
        ("gtp", "refuse", "refused"),
        ("usi", "hang", "silent"),
    ] {
        let record = one_game(protocol);
        let positions: Vec<_> = record.positions().collect();
        // Every process fails at its first question.
        let answers = evaluate(&frail(protocol, how, 1, ""), &positions);
        assert_eq!(answers.len(), 4);
        for answer in answers {
            let Asked::Failed(twice) = answer else { panic!("{protocol} {how}: {answer:?}") };
            assert_eq!([twice.first.name(), twice.second.name()], [name, name]);
        }
    }
}

#[test]
fn what_cannot_start_is_an_error() {
    let fault = |text: &str| Standby::new(&spec(text)).ask(|_| Ok(())).unwrap_err();
    assert!(matches!(fault("proto=uci cmd=/nowhere/engine nodes=1"), Fault::Launch { .. }));
    let engine = env!("CARGO_BIN_EXE_frail-engine");
    let unknown = fault(&format!("proto=uci cmd='{engine} uci' nodes=1 option.Courage=1"));
    assert_eq!(unknown.to_string(), "Frail has no option \"Courage\"");
    let unbounded = fault("proto=uci cmd=x");
    assert_eq!(unbounded.to_string(), "how long may x think? Expected nodes=…, depth=…, movetime=… or go=…");
    // An engine of Go cannot say anything of chess.
    let record = one_game("uci");
    let asked = evaluate(&spec(&format!("proto=gtp cmd='{engine} gtp'")), &[record.positions().next().unwrap()]);
    assert!(matches!(&asked[..], [Asked::Failed(twice)] if twice.first.name() == "unsupported"), "{asked:?}");
}

#[test]
fn bad_descriptions_are_refused() {
    let error = |text: &str| text.parse::<EngineSpec>().unwrap_err();
    assert_eq!(error("cmd=x nodes=1"), EngineSpecError::Protocol(String::new()));
    assert_eq!(error("proto=a cmd=x").to_string(), "bad value \"a\" for proto, expected uci, gtp or usi");
    for text in [
        "proto=uci proto=gtp cmd=x nodes=1",
        "proto=gtp cmd=x nodes=1",
        "proto=gtp cmd=x go=infinite",
        "proto=uci cmd=x nodes=1 ask=score",
        "proto=uci cmd=x playouts=1",
        "proto=uci cmd=x tc=1:00",
        "proto=uci nodes=1",
        "proto=uci cmd=x nodes=0",
        "proto=uci cmd=x 'go=depth 1\nquit'",
        "proto=gtp cmd=x option.A=b",
        "proto=uci cmd=\"x",
    ] {
        error(text);
    }
    for text in ["proto=uci cmd=\"a b\" nodes=1 depth=2 movetime=0.5", "proto=gtp cmd=x ask=estimate_score", GPS_SHOGI]
    {
        let spec: EngineSpec = text.parse().unwrap();
        assert_eq!(spec.to_string().parse::<EngineSpec>().unwrap(), spec);
    }
}

#[test]
fn choices() {
    let spec = spec(STOCKFISH);
    let mut engine = spec.launch().unwrap();
    assert!(engine.name().starts_with("Stockfish"), "{}", engine.name());
    let record = records(GameFormat::Pgn, "[FEN \"7k/R7/8/8/8/8/8/1R2K3 w - - 0 1\"]\n\n1. Rb8# 1-0\n").remove(0);
    let (choice, evaluation) = engine.choose(&record.positions().next().unwrap(), 0).unwrap();
    assert_eq!(choice, EngineMove::Move("b1b8".to_owned()));
    assert_eq!(evaluation, Some(EngineValue::Mate { wins: true, distance: Some(1) }));
    engine.quit();
}
