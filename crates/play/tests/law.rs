//! The law of live games: what is replayed from its entries equals what was played.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::time::Duration;

use anqi_play::{BotPolicy, Command, Entry, FaultKind, LiveGame, Secret, Terms, verify};
use anqi_rules::{Move, Seat, Seed, Square};
use proptest::prelude::*;

fn terms(rules: &str, players: [&str; 2], clock: Option<&str>) -> Terms {
    let [first, second] = players.map(str::to_owned);
    let date = Some("2026.11.15".to_owned());
    Terms { rules: rules.to_owned(), first, second, clock: clock.map(str::to_owned), date, ..Terms::default() }
}

fn begin(terms: &Terms, seed: u64) -> LiveGame {
    LiveGame::begin(terms, Secret::from_seed(&Seed::from(seed)), &BotPolicy::page(2), Duration::ZERO).unwrap()
}

/// Everything that can be asked of a game, with its clock started at `now`.
fn everything(live: &mut LiveGame, now: Duration) -> String {
    live.start_clock(now);
    let later = now + Duration::from_millis(7);
    let proposals = commands(live, 3)
        .into_iter()
        .flat_map(|command| Seat::ALL.map(|by| (by, command.clone(), live.propose(by, &command, later))));
    let view = live.view(later);
    format!(
        "{:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {} {:?}",
        live.game(),
        view.seats,
        view.clocks,
        view.running,
        view.offer,
        view.can_take_back,
        view.take_backs,
        view.commitment,
        view.told.map(|secret| secret.seed().to_string()),
        live.deadline(),
        live.record(),
        proposals.collect::<Vec<_>>(),
    )
}

/// Every kind of command; the move is one of the legal ones, or one that is not.
fn commands(live: &LiveGame, choice: usize) -> Vec<Command> {
    let (moves, ply) = (live.game().legal_moves(), live.game().plies().len());
    let legal = moves.get(choice % moves.len().max(1)).copied();
    let strange = Move::Step { from: Square::from_index(choice % 32).unwrap(), to: Square::from_index(7).unwrap() };
    let play = |mv, ply, used| Command::Play { mv, ply, used };
    vec![
        play(legal.unwrap_or(strange), ply, None),
        play(legal.unwrap_or(strange), ply, Some(Duration::from_millis(choice as u64))),
        play(strange, ply, None),
        play(legal.unwrap_or(strange), ply + 1, None),
        Command::TakeBack,
        Command::Offer,
        Command::Accept,
        Command::Decline,
        Command::Flag,
        Command::Resign,
        Command::Abandon,
        Command::Fail { kind: FaultKind::Crashed, text: "it ended (exit code 3)".to_owned() },
        Command::Fail { kind: FaultKind::Launch, text: "no such file".to_owned() },
    ]
}

/// One step: which command (moves mostly), which move, by whom, and after how many milliseconds.
fn steps() -> impl Strategy<Value = Vec<(usize, usize, bool, u64)>> {
    let kind = prop_oneof![80 => Just(0_usize), 18 => 1_usize..9, 1 => 9_usize..13];
    prop::collection::vec((kind, 0_usize..40, prop::bool::weighted(0.9), prop_oneof![0_u64..50, 0_u64..4000]), 0..120)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn a_replayed_game_equals_the_live_one(
        rules in prop::sample::select(vec!["server", "server,board=2x4", "chen,board=3x4", "olympiad,board=2x2"]),
        first in prop::sample::select(vec!["person", "level:1", "chen:var1 depth=2"]),
        second in prop::sample::select(vec!["person", "level:2"]),
        clock in prop::sample::select(vec![None, Some("10:00"), Some("0:20+1"), Some("3/0:10")]),
        seed in any::<u64>(),
        steps in steps(),
    ) {
        let terms = terms(rules, [first, second], clock);
        let mut live = begin(&terms, seed);
        let secret = Secret::from_seed(&Seed::from(seed)).seed().to_string();
        let (mut now, mut told) = (Duration::ZERO, Vec::<Entry>::new());
        for (kind, choice, mover, wait) in steps {
            now += Duration::from_millis(wait);
            let command = commands(&live, choice).swap_remove(kind);
            let by = if mover { live.game().seat() } else { live.game().seat().other() };
            let proposed = live.propose(by, &command, now);
            // A proposal changes nothing, so that a failed write changes nothing.
            prop_assert_eq!(&live.propose(by, &command, now), &proposed);
            let Ok(entry) = proposed else {
                prop_assert!(live.apply(by, &command, now).is_err());
                continue;
            };
            live.commit(entry.as_slice(), now).unwrap();
            told.extend(entry);
            let texts: Vec<String> = told.iter().map(|entry| serde_json::to_string(entry).unwrap()).collect();
            prop_assert!(!texts.iter().any(|text| text.contains(&secret)));
            let over = live.game().outcome().is_some();
            prop_assert_eq!(live.record().to_string().contains(&secret), over);
            prop_assert_eq!(live.told().is_some(), over);
            if over {
                prop_assert!(live.deadline().is_none() && live.to_move().is_none());
                prop_assert!(verify(&live.record()).unwrap().committed);
            }
            let expected = everything(&mut live, now);
            let read: Vec<Entry> = texts.iter().map(|text| serde_json::from_str(text).unwrap()).collect();
            let mut again = begin(&terms, seed);
            again.commit(&read, Duration::from_secs(77)).unwrap();
            prop_assert_eq!(everything(&mut again, now), expected);
        }
    }
}

#[test]
fn draws_are_offered_and_answered() {
    let terms = terms("server", ["person", "person"], None);
    let mut live = begin(&terms, 1);
    let (one, two, now) = (Seat::First, Seat::Second, Duration::ZERO);
    let play = |live: &mut LiveGame| {
        let command = Command::Play { mv: live.game().legal_moves()[0], ply: live.game().plies().len(), used: None };
        live.apply(live.game().seat(), &command, now).unwrap();
    };
    assert!(live.apply(two, &Command::Accept, now).unwrap_err().to_string().contains("no draw is offered"));
    live.apply(one, &Command::Offer, now).unwrap();
    assert!(live.apply(one, &Command::Accept, now).is_err());
    assert!(live.apply(two, &Command::Offer, now).is_err());
    live.apply(two, &Command::Decline, now).unwrap();
    assert!(live.apply(one, &Command::Offer, now).unwrap_err().to_string().contains("at this ply already"));
    play(&mut live);
    live.apply(one, &Command::Offer, now).unwrap();
    play(&mut live); // the other side plays on
    assert!(live.offer().is_none());
    live.apply(two, &Command::Offer, now).unwrap();
    live.apply(one, &Command::Accept, now).unwrap();
    assert_eq!(live.game().outcome().unwrap().to_string(), "draw (agreement)");
    let record = live.record();
    assert_eq!(anqi_records::replay(&record, None).unwrap().ending, anqi_records::EndingCheck::Equal);
    assert!(live.apply(one, &Command::Resign, now).unwrap_err().to_string().starts_with("the game is over"));
}

#[test]
fn whoever_acts_too_late_or_leaves_loses() {
    let (now, end) = (Duration::from_secs(21), |live: &LiveGame| live.game().outcome().unwrap().to_string());
    let timed = terms("server", ["person", "person"], Some("0:20"));
    let flip = Command::Play { mv: "c4".parse().unwrap(), ply: 0, used: None };
    let mut live = begin(&timed, 1);
    assert_eq!(live.deadline(), Some(Duration::from_secs(20)));
    assert_eq!(live.apply(Seat::Second, &Command::Flag, Duration::from_secs(20)).unwrap(), None);
    live.apply(Seat::First, &flip, now).unwrap();
    assert_eq!((end(&live), live.game().plies().len()), ("second wins (time)".to_owned(), 0));
    let mut live = begin(&timed, 1);
    live.apply(Seat::Second, &Command::Abandon, now).unwrap();
    assert_eq!(end(&live), "first wins (abandoned)");
    let mut live = begin(&timed, 1);
    let fail = Command::Fail { kind: FaultKind::Crashed, text: "it ended\n(exit code 3)".to_owned() };
    live.apply(Seat::First, &fail, now).unwrap();
    assert_eq!(end(&live), "second wins (forfeit)");
    assert_eq!(live.record().tags().get("Fault"), Some("first: crashed: it ended (exit code 3)"));
}

#[test]
fn entries_that_cannot_have_happened_are_refused() {
    let terms = terms("server", ["person", "person"], None);
    let refused = |texts: &[&str]| {
        let mut live = begin(&terms, 1);
        let entries: Vec<Entry> = texts.iter().map(|text| serde_json::from_str(text).unwrap()).collect();
        live.commit(&entries, Duration::ZERO).unwrap_err().to_string()
    };
    let dealt = |piece| format!(r#"{{"entry":"ply","ply":"a1({piece})"}}"#);
    let wrong = ["K", "k"].map(dealt).map(|text| serde_json::from_str::<Entry>(&text).unwrap());
    let mut live = begin(&terms, 1);
    assert!(wrong.iter().any(|entry| {
        let error = live.commit(std::slice::from_ref(entry), Duration::ZERO);
        error.is_err_and(|error| error.to_string().contains("does not agree with the deal"))
    }));
    assert!(refused(&[r#"{"entry":"ply","ply":"a1-a2"}"#]).contains("not legal"));
    assert!(refused(&[r#"{"entry":"back","plies":1}"#]).contains("1 plies are taken back, but there are 0"));
    assert!(refused(&[r#"{"entry":"decline","by":"first"}"#]).contains("nobody has offered"));
    assert!(refused(&[r#"{"entry":"end","why":"time"}"#]).contains("time is no end off the board for both players"));
    assert!(refused(&[r#"{"entry":"end","loser":"first","why":"agreement"}"#]).contains("for first"));
    let end = r#"{"entry":"end","loser":"second","why":"resignation"}"#;
    assert!(refused(&[end, end]).contains("after the end of the game: first wins (resignation)"));
    for text in [r#"{"entry":"ply","ply":"z9"}"#, r#"{"entry":"offer","by":"third"}"#, r#"{"entry":"game"}"#] {
        assert!(serde_json::from_str::<Entry>(text).is_err(), "{text}");
    }
}
