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
        "players = ['chen:var1', 'random']\nrules = 'chen,board=2x4'\npairs = 2\nbudget = 'tc=0:10+0.1'",
        "players = ['chen:var1', 'random']\nrules = 'chen,board=2x4'\npairs = 2\nbudget = 'tc=2/1+0.5'",
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

/// A clock that runs out.
#[test]
fn a_loss_on_time_counts_where_time_does() {
    let (plan, cast) = plan("players = ['chen:var1 tc=0.001', 'random nodes=1']\npairs = 1");
    let text = played(&plan, &cast, 0);
    assert!(text.contains("[Termination \"time\"]") && text.contains("[Fault \""), "{text}");
    check_pair(&plan, &cast, 0, &text).unwrap();
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
    let (head, game) = text.split_once("\n\n").unwrap();
    let game = game.split_once("\n\n").unwrap();
    for (termination, what) in [
        ("resignation", "\"resignation\" is no reason to end it"),
        ("time", "\"time\" is no reason to end it"),
        ("agreement", "\"agreement\" is no reason to end it"),
        ("elimination", "\"elimination\" is no reason to end it"),
    ] {
        let first_ply = game.0.split(' ').nth(1).unwrap();
        let head: Vec<String> = head
            .lines()
            .map(|line| match line.split_once(' ').unwrap().0 {
                "[Result" => "[Result \"0-1\"]".to_owned(),
                "[PlyCount" => "[PlyCount \"1\"]".to_owned(),
                "[Termination" => format!("[Termination \"{termination}\"]"),
                _ => line.to_owned(),
            })
            .collect();
        let forged = format!("{}\n\n1. {first_ply} 0-1\n\n{}", head.join("\n"), game.1);
        let forged = anqi_lab::PlayedPair::from_text(0, &forged).unwrap().to_text();
        let told = check_pair(&timeless, &cast, 0, &forged).expect_err(termination).to_string();
        assert!(told.contains(what), "{told}");
    }
}

#[test]
fn clocks_must_go_on() {
    let (timed, cast) =
        plan("players = ['chen:var1', 'random']\nrules = 'chen,board=2x4'\npairs = 1\nbudget = 'tc=0:10+0.1'");
    for (from, to) in
        [("[%clk 0:00:10", "[%clk 0:00:12"), ("[%emt 0:00:00", "[%emt 0:00:01"), ("[%emt 0:00:00", "[%emt 1:00:00")]
    {
        let mismatch = changed(&timed, &cast, from, to);
        assert!(matches!(mismatch, PairMismatch::Clock { .. }), "{mismatch}");
    }
    let (timeless, cast) =
        plan("players = ['chen:var1', 'random']\nrules = 'chen,board=2x4'\npairs = 1\nbudget = 'nodes=50'");
    let mismatch = changed(&timeless, &cast, "[%depth", "[%emt 0:00:01] [%depth");
    assert!(matches!(mismatch, PairMismatch::Clock { .. }), "{mismatch}");
}
