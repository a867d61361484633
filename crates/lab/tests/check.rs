//! What other machines send is held against the plan: all that was played counts, nothing else does.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use anqi_engine::{Resources, Stop};
use anqi_lab::{Cast, PairMismatch, Plan, check_pair, play_pair};

fn plan(text: &str) -> (Plan, Cast) {
    let plan: Plan = text.parse().unwrap();
    let cast = Cast::new(&plan, &Resources::default()).unwrap();
    (plan, cast)
}

fn played(plan: &Plan, cast: &Cast, number: u64) -> String {
    play_pair(plan, number, cast, &Stop::default()).unwrap().to_text()
}

/// The mismatch that is found when `from` becomes `to` in a pair.
fn changed(plan: &Plan, cast: &Cast, from: &str, to: &str) -> PairMismatch {
    let text = played(plan, cast, 0);
    assert!(text.contains(from), "{text}");
    let forged = anqi_lab::PlayedPair::from_text(0, &text.replacen(from, to, 1)).unwrap().to_text();
    check_pair(plan, cast, 0, &forged).expect_err(to)
}

#[test]
fn what_was_played_counts() {
    for text in [
        "players = ['chen:var1', 'chen:basic']\npairs = 3\nbudget = 'nodes=50'",
        "players = ['chen:var1', 'chen:var1', 'mcts:chance playouts=20 name=\"a b\"']\nrules = 'chen,board=2x4'\npairs = 2",
        "players = ['chen:var1', 'random']\nrules = 'chen,board=2x4'\npairs = 2\nbudget = 'tc=0.3+0.02'",
        "players = ['chen:var1', 'random']\nrules = 'chen,board=2x4'\npairs = 2\nbudget = 'tc=2/0.2+0.05'",
        "players = ['chen:var1 movetime=0.002', 'chen:basic depth=2']\nrules = 'chen,board=2x4'\npairs = 2",
        "players = ['champion', 'reference playouts=10']\nrules = 'server,board=2x4'\npairs = 1\nbudget = 'nodes=50'",
    ] {
        let (plan, cast) = plan(text);
        for number in 0..plan.count() {
            let text = played(&plan, &cast, number);
            let checked = check_pair(&plan, &cast, number, &text).unwrap_or_else(|wrong| panic!("{wrong}\n{text}"));
            assert_eq!(checked.to_text(), text);
            // As another pair it is none.
            assert!(check_pair(&plan, &cast, number + 1, &text).is_err());
        }
    }
}

/// The pair with its first game broken off after one ply.
fn broken_off(text: &str, result: &str, termination: &str, fault: &str) -> String {
    let (head, game) = text.split_once("\n\n").unwrap();
    let (plies, second) = game.split_once("\n\n").unwrap();
    let first_ply = plies.split("} ").next().unwrap();
    let head: Vec<String> = head
        .lines()
        .map(|line| match line.split_once(' ').unwrap().0 {
            "[Result" => format!("[Result \"{result}\"]"),
            "[PlyCount" => "[PlyCount \"1\"]".to_owned(),
            "[Termination" => format!("[Termination \"{termination}\"]\n[Fault \"{fault}\"]"),
            _ => line.to_owned(),
        })
        .collect();
    let forged = format!("{}\n\n{first_ply}}} {result}\n\n{second}", head.join("\n"));
    anqi_lab::PlayedPair::from_text(0, &forged).unwrap().to_text()
}

/// A clock that runs out ends the game of the side to move, where there is a clock.
#[test]
fn a_loss_on_time_can_be_where_time_counts() {
    let (timed, cast) =
        plan("players = ['chen:var1', 'random']\nrules = 'chen,board=2x4'\npairs = 1\nbudget = 'tc=0.3+0.02'");
    let text = played(&timed, &cast, 0);
    let check = |result, fault| check_pair(&timed, &cast, 0, &broken_off(&text, result, "time", fault)).unwrap_err();
    // Only what follows from the plies that are gone is wrong: the luck, for instance.
    let mismatch = check("1-0", "second: late: no move within 1 s");
    assert!(matches!(mismatch, PairMismatch::Record { .. }), "{mismatch}");
    for (result, fault) in [
        ("0-1", "first: late: no move"),
        ("1-0", "first: late: no move"),
        ("1-0", "second: crashed: no move"),
        ("1-0", ""),
    ] {
        let mismatch = check(result, fault);
        assert!(matches!(mismatch, PairMismatch::Ending { .. }), "{mismatch}");
    }
}

#[test]
fn what_a_player_cannot_have_done_does_not_count() {
    let (timeless, cast) =
        plan("players = ['chen:var1', 'chen:basic']\nrules = 'chen,board=2x4'\npairs = 1\nbudget = 'nodes=50'");
    for (from, to, what) in [
        ("\"nodes=50\"", "\"nodes=51\"", "should be \"[TimeControl \\\"nodes=50\\\"]\""),
        ("[Luck \"", "[Luck \"9", "should be \"[Luck "),
        ("[Rules \"", "[Rules \"server,board=2x4\"]\n[Old \"", "should be"),
        ("[DealCommit \"", "[DealCommit \"0", "should be"),
    ] {
        let told = changed(&timeless, &cast, from, to).to_string();
        assert!(told.contains(what), "{told}");
    }
    // A game that is broken off before its end.
    let text = played(&timeless, &cast, 0);
    for termination in ["resignation", "time", "agreement", "elimination"] {
        let forged = broken_off(&text, "0-1", termination, "first: resigned: it resigns");
        let told = check_pair(&timeless, &cast, 0, &forged).expect_err(termination).to_string();
        assert!(told.contains(&format!("{termination:?} is no reason to end it")), "{told}");
    }
}

#[test]
fn clocks_must_go_on() {
    let (timed, cast) =
        plan("players = ['chen:var1', 'random']\nrules = 'chen,board=2x4'\npairs = 1\nbudget = 'tc=1+0.1'");
    for (from, to) in
        [("[%clk 0:00:01", "[%clk 0:00:03"), ("[%emt 0:00:00", "[%emt 0:00:01"), ("[%emt 0:00:00", "[%emt 1:00:00")]
    {
        let mismatch = changed(&timed, &cast, from, to);
        assert!(matches!(mismatch, PairMismatch::Clock { .. }), "{mismatch}");
    }
    let (timeless, cast) =
        plan("players = ['chen:var1', 'random']\nrules = 'chen,board=2x4'\npairs = 1\nbudget = 'nodes=50'");
    let mismatch = changed(&timeless, &cast, "[%depth", "[%emt 0:00:01] [%depth");
    assert!(matches!(mismatch, PairMismatch::Clock { .. }), "{mismatch}");
}
