//! Recorded endings against the board: one line, one verdict.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use anqi_records::{Record, ReplayTotals, Stats, replay};
use anqi_rules::Rules;

/// A record from a drawn start, and what is said about its ending.
fn check(position: &str, termination: &str, movetext: &str, expected: &str) {
    let reason = if termination.is_empty() { String::new() } else { format!("[Termination \"{termination}\"]\n") };
    let record: Record = format!("[Position \"{position}\"]\n{reason}\n{movetext}").parse().unwrap();
    let replay = replay(&record, None).unwrap();
    assert_eq!(replay.ending.to_string(), expected, "{record}");
    let mut check = ReplayTotals::default();
    check.add(&replay);
    let counted = if check.endings_equal == 1 {
        "equal"
    } else if check.endings_differ == 1 {
        "differs"
    } else {
        "unstated"
    };
    assert!(expected == counted || counted == "differs" && expected.starts_with("recorded"));
}

const TAKE: &str = "4/4/4/4/4/4/4/Kg2 r -";
const SHUT: &str = "4/4/4/4/4/4/GG2/p3 r -";
const QUIET: &str = "4/4/4/4/4/4/3K/p3 r - 59";
const DANCE: &str = "3K/4/4/4/4/4/4/k3 r -";
const CYCLES: &str = "1. d8-c8 a1-b1 2. c8-d8 b1-a1 3. d8-c8 a1-b1 4. c8-d8 b1-a1 5. d8-c8 a1-b1 6. c8-d8 b1-a1";

#[test]
fn on_the_board() {
    check(TAKE, "elimination", "1. a1-b1 1-0", "equal");
    check(TAKE, "no move", "1. a1-b1 1-0", "equal");
    check(TAKE, "", "1. a1-b1 1-0", "equal");
    check(TAKE, "in a brawl", "1. a1-b1 1-0", "equal");
    check(TAKE, "elimination", "1. a1-b1 *", "unstated");
    check(TAKE, "no action", "1. a1-b1 1-0", "recorded 1-0 (no action), judged first wins (elimination) at ply 1");
    check(TAKE, "no move", "1. a1-b1 0-1", "recorded 0-1 (no move), judged first wins (elimination) at ply 1");
    check(TAKE, "", "1. a1-b1 1/2-1/2", "recorded 1/2-1/2, judged first wins (elimination) at ply 1");
    check(TAKE, "elimination", "1. a1-a2 1-0", "recorded 1-0 (elimination), but the game is not over");
    check(SHUT, "no action", "1. b2-b1 1-0", "equal");
    check(SHUT, "no move", "1. b2-b1 1-0", "equal");
    check(SHUT, "elimination", "1. b2-b1 1-0", "recorded 1-0 (elimination), judged first wins (no action) at ply 1");
    check(QUIET, "quiet plies", "1. d2-d1 1/2-1/2", "equal");
    check(QUIET, "quiet plies", "1/2-1/2", "recorded 1/2-1/2 (quiet plies), but the game is not over");
    check(DANCE, "repetition 3x4", &format!("{CYCLES} 1/2-1/2"), "equal");
    check(
        DANCE,
        "repetition 3x8",
        &format!("{CYCLES} 1/2-1/2"),
        "recorded 1/2-1/2 (repetition 3x8), judged draw (repetition 3x4) at ply 12",
    );
}

#[test]
fn before_the_last_ply() {
    check(
        TAKE,
        "elimination",
        "1. a1-b1 b1-b2 1-0",
        "recorded 1-0 (elimination), judged first wins (elimination) at ply 1",
    );
    check(TAKE, "elimination", "1. a1-d8 a1-b1 1-0", "recorded 1-0 (elimination), but the game is not over");
    check(TAKE, "elimination", "1. a1-d8 *", "unstated");
}

#[test]
fn off_the_board() {
    check(DANCE, "time", "1. d8-c8 1-0", "equal");
    check(DANCE, "time", "1. d8-c8 a1-b1 0-1", "equal");
    check(DANCE, "time", "1. d8-c8 0-1", "recorded 0-1 (time), but the game is not over");
    check(DANCE, "time", "1. d8-c8 1/2-1/2", "recorded 1/2-1/2 (time), but the game is not over");
    for loser_is_free in ["forfeit", "resignation", "abandoned"] {
        check(DANCE, loser_is_free, "1. d8-c8 1-0", "equal");
        check(DANCE, loser_is_free, "1. d8-c8 0-1", "equal");
    }
    check(DANCE, "agreement", "1. d8-c8 1/2-1/2", "equal");
    check(DANCE, "agreement", "1. d8-c8 1-0", "recorded 1-0 (agreement), but the game is not over");
    check(DANCE, "abandoned", "1. d8-c8 1/2-1/2", "recorded 1/2-1/2 (abandoned), but the game is not over");
    check(TAKE, "time", "1. a1-b1 1-0", "recorded 1-0 (time), judged first wins (elimination) at ply 1");
    check(DANCE, "", "1. d8-c8 1-0", "unstated");
    check(DANCE, "in a brawl", "1. d8-c8 1-0", "unstated");
}

#[test]
fn replays_tell_what_was_not_played() {
    let record: Record = format!("[Position \"{DANCE}\"]\n\n1. d8-c8 a1-b1 2. a4(k) b1-a1 3. c8-d8 *").parse().unwrap();
    let replay = replay(&record, None).unwrap();
    let illegal = replay.illegal.unwrap();
    assert_eq!((illegal.ply, replay.unplayed, replay.game.plies().len()), (3, 3, 2));
    assert!(illegal.error.to_string().starts_with("a4(k) is not legal in "), "{}", illegal.error);
}

#[test]
fn rules_come_from_the_caller_the_record_or_the_server() {
    let game = |tag: &str| format!("{tag}[Position \"{DANCE}\"]\n\n{CYCLES} 7. d8-c8 *").parse::<Record>().unwrap();
    let unplayed = |record: &Record, rules| replay(record, rules).unwrap().unplayed;
    assert_eq!(unplayed(&game(""), None), 1);
    assert_eq!(unplayed(&game("[Rules \"chen\"]\n"), None), 0);
    assert_eq!(unplayed(&game("[Rules \"chen\"]\n"), Some(Rules::server())), 1);
    // Records that do not say so have no repetition rule. A third position comes before the same plies a third time.
    assert_eq!(unplayed(&game("[Rules \"chen\"]\n"), Some(Rules::chen())), 5);
    assert_eq!(unplayed(&game("[Rules \"chen,repeat=position:3\"]\n"), None), 5);
    assert_eq!(unplayed(&game("[Rules \"poker\"]\n"), Some(Rules::chen())), 5);
    let error = |tag: &str| replay(&game(tag), None).unwrap_err().to_string();
    assert!(error("[Rules \"poker\"]\n").starts_with("tag Rules \"poker\": unknown rules"));
    assert!(
        error("[Rules \"server,board=2x2\"]\n").starts_with("the position 3K/4/4/4/4/4/4/k3 r - is on the 4x8 board")
    );
}

#[test]
fn totals_have_fixed_keys() {
    let mut check = ReplayTotals::default();
    let mut stats = Stats::default();
    let record: Record = format!("[Position \"{TAKE}\"]\n[Termination \"no move\"]\n\n1. a1-b1 1-0").parse().unwrap();
    let replay = replay(&record, None).unwrap();
    check.add(&replay);
    check.add_damaged();
    stats.add(&replay);
    assert_eq!(
        serde_json::to_string(&check).unwrap(),
        r#"{"games":1,"plies":1,"illegal":0,"endings_equal":1,"endings_differ":0,"damaged":1}"#
    );
    assert_eq!(
        serde_json::to_string(&stats.summary()).unwrap(),
        concat!(
            r#"{"games":1,"length":{"mean":1.0,"sd":null,"min":1,"max":1},"flips":0.0,"captures":1.0,"#,
            r#""branching":{"moves":2.0,"with_flip_squares":2.0,"with_flip_outcomes":2.0},"#,
            r#""endings":{"elimination":1},"first_player":{"wins":1,"draws":0,"losses":0,"score":null},"#,
            // Two choices in one ply; 2^32 · 32! / ((5!)² (2!)^10).
            r#""complexity":{"state_space_log10":37.9,"game_tree_log10":0.3}}"#
        )
    );
    assert_eq!(Stats::default().summary().length, None);
}
