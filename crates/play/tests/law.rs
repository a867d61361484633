//! The law of live games: what is replayed from its entries equals what was played.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::time::Duration;

use anqi_play::{BotPolicy, Command, Entry, FaultKind, LiveGame, Refusal, Secret, Terms, Void, verify};
use anqi_rules::{Contribution, Move, Seat, Seed, Square};
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
        "{:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {} {:?}",
        live.game(),
        live.joint(),
        live.void(),
        (live.invited(), live.guest()),
        live.has_begun(),
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
        Command::Join { key: format!("key {}", choice % 2) },
        Command::Commit(contribution(Seat::ALL[choice % 2]).commitment(NAME)),
        reveal(Seat::ALL[choice % 2]),
        Command::Void(Void::Expired),
        Command::Void(Void::NotRevealed),
    ]
}

const NAME: &str = "0123456789abcdef";

/// What a player contributes to the deal.
fn contribution(by: Seat) -> Contribution {
    let seed = |number| Seed::from(100 + 2 * by as u64 + number);
    Contribution { by, seed: seed(0), nonce: seed(1) }
}

fn reveal(by: Seat) -> Command {
    let Contribution { seed, nonce, .. } = contribution(by);
    Command::Reveal { seed, nonce }
}

/// What a player does next before the game has begun.
fn next(live: &LiveGame, by: Seat) -> Option<Command> {
    if live.has_begun() || live.void().is_some() {
        return None;
    }
    let joint = live.joint();
    if live.invited() == Some(by) {
        Some(Command::Join { key: "a key".to_owned() })
    } else if joint.is_some_and(|joint| joint.awaits_commitment(by)) {
        Some(Command::Commit(contribution(by).commitment(NAME)))
    } else {
        joint.filter(|joint| joint.awaits_reveal(by)).map(|_| reveal(by))
    }
}

/// Terms of a game that needs more than its players' names before the first ply, if they are persons.
fn opening(terms: Terms, contributes: [bool; 2], invited: Option<Seat>) -> Terms {
    let is_person = [terms.first == "person", terms.second == "person"];
    Terms {
        name: NAME.to_owned(),
        contributes: Seat::ALL.map(|seat| contributes[seat as usize] && is_person[seat as usize]),
        invited: invited.filter(|&seat| is_person[seat as usize]),
        ..terms
    }
}

/// One step: which command (moves mostly), which move, by whom, and after how many milliseconds.
fn steps() -> impl Strategy<Value = Vec<(usize, usize, bool, u64)>> {
    let kind = prop_oneof![80 => Just(0_usize), 18 => 1_usize..9, 1 => 9_usize..18];
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
        contributes in prop::sample::select(vec![[false; 2], [true, false], [false, true], [true; 2]]),
        invited in prop::sample::select(vec![None, None, Some(Seat::First), Some(Seat::Second)]),
        seed in any::<u64>(),
        steps in steps(),
    ) {
        let terms = opening(terms(rules, [first, second], clock), contributes, invited);
        let mut live = begin(&terms, seed);
        let secret = Secret::from_seed(&Seed::from(seed)).seed().to_string();
        let (mut now, mut told) = (Duration::ZERO, Vec::<Entry>::new());
        for (kind, choice, mover, wait) in steps {
            now += Duration::from_millis(wait);
            let command = commands(&live, choice).swap_remove(kind);
            let by = if mover { live.game().seat() } else { live.game().seat().other() };
            // Mostly the game begins sooner or later.
            let opener = Seat::ALL[choice % 2];
            let (by, command) = match next(&live, opener) {
                Some(next) if kind == 0 && choice % 5 > 0 => (opener, next),
                _ => (by, command),
            };
            let had_begun = live.has_begun();
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
            let over = live.is_over();
            prop_assert!(had_begun || live.game().plies().is_empty() && live.game().outcome().is_none());
            let is_game = matches!(told.last(), Some(Entry::Ply { .. } | Entry::Back { .. } | Entry::End { .. }));
            prop_assert!(had_begun || !is_game, "only a game that has begun is played");
            prop_assert_eq!(live.record().to_string().contains(&secret), over);
            prop_assert_eq!(live.told().is_some(), over);
            if over {
                prop_assert!(live.deadline().is_none() && live.to_move().is_none());
                let verified = verify(&live.record()).unwrap();
                prop_assert!(verified.committed);
                prop_assert!(live.void().is_some() || verified.contributed == terms.contributes);
                prop_assert_eq!(live.void().is_some(), live.game().outcome().is_none());
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

/// Seeds of the deal: what a player contributes decides it, and so does what the server has promised.
#[test]
fn a_deal_follows_from_all_parts() {
    let terms = opening(terms("server", ["person", "person"], None), [true; 2], Some(Seat::Second));
    let deal = |secret: u64, parts: [u64; 2]| {
        let mut live = begin(&terms, secret);
        let own = |by: Seat| Contribution { by, seed: Seed::from(parts[by as usize]), nonce: Seed::from(9) };
        let mut apply = |by, command| live.apply(by, &command, Duration::ZERO).map(|_| ());
        apply(Seat::First, Command::Commit(own(Seat::First).commitment(NAME))).unwrap();
        apply(Seat::Second, Command::Join { key: "k".to_owned() }).unwrap();
        apply(Seat::Second, Command::Commit(own(Seat::Second).commitment(NAME))).unwrap();
        for by in [Seat::Second, Seat::First] {
            let Contribution { seed, nonce, .. } = own(by);
            apply(by, Command::Reveal { seed, nonce }).unwrap();
        }
        live.apply(Seat::First, &Command::Resign, Duration::ZERO).unwrap();
        verify(&live.record()).unwrap();
        live.record().seed().unwrap().unwrap().to_string()
    };
    let seeds = [deal(1, [2, 3]), deal(1, [2, 4]), deal(1, [4, 3]), deal(1, [3, 2]), deal(5, [2, 3])];
    assert_eq!(seeds.iter().collect::<std::collections::HashSet<_>>().len(), 5);
    assert_eq!(seeds[0], deal(1, [2, 3]));
}

#[test]
fn a_game_begins_when_all_have_come_committed_and_revealed() {
    let terms = opening(terms("server", ["person", "person"], Some("0:20")), [true; 2], Some(Seat::Second));
    let (one, two) = (Seat::First, Seat::Second);
    let mut live = begin(&terms, 1);
    let refused = |live: &mut LiveGame, by, command: &Command| {
        let before = format!("{:?} {:?}", live.joint(), live.guest());
        let error = live.apply(by, command, Duration::from_secs(100)).unwrap_err();
        assert_eq!(format!("{:?} {:?}", live.joint(), live.guest()), before);
        error.to_string()
    };
    let flip = Command::Play { mv: "c4".parse().unwrap(), ply: 0, used: None };
    let join = Command::Join { key: "k".to_owned() };
    let commit = |by| Command::Commit(contribution(by).commitment(NAME));
    assert!(refused(&mut live, one, &flip).contains("the invited player has not come"));
    assert_eq!((live.deadline(), live.to_move(), live.running_clock(Duration::ZERO)), (None, None, None));
    assert_eq!(live.apply(one, &Command::Flag, Duration::from_secs(100)).unwrap(), None, "no clock runs");
    assert!(refused(&mut live, one, &join).contains("no player is invited to be the first player"));
    assert!(refused(&mut live, one, &reveal(one)).contains("nothing is to be revealed by the first player now"));
    live.apply(one, &commit(one), Duration::ZERO).unwrap();
    assert!(refused(&mut live, one, &commit(one)).contains("no commitment is awaited from the first player"));
    live.apply(two, &join, Duration::ZERO).unwrap();
    assert!(refused(&mut live, two, &join).contains("no player is invited"));
    assert!(refused(&mut live, one, &flip).contains("its deal is not made yet"));
    // The second player commits to what the first has: it cannot open that.
    let Command::Reveal { seed, nonce } = reveal(one) else { unreachable!() };
    live.apply(two, &commit(one), Duration::ZERO).unwrap();
    assert!(
        refused(&mut live, two, &Command::Reveal { seed, nonce }).contains("do not open the commitment of the second")
    );
    assert!(refused(&mut live, two, &reveal(two)).contains("do not open the commitment of the second"));
    live.apply(one, &reveal(one), Duration::ZERO).unwrap();
    assert!(refused(&mut live, one, &reveal(one)).contains("nothing is to be revealed"));
    // So it does not reveal, and the game is void.
    live.apply(two, &Command::Void(Void::NotRevealed), Duration::ZERO).unwrap();
    assert!(refused(&mut live, two, &reveal(two)).contains("the game is void: not revealed"));
    let verified = verify(&live.record()).unwrap();
    assert!(verified.committed && live.told().is_some());
    let record = live.record();
    assert_eq!((record.tags().get("Void"), record.tags().get("Seed")), (Some("not revealed"), None));

    // Begun, it is void no more.
    let mut live = begin(&terms, 1);
    for by in [one, two] {
        let _ = live.apply(by, &join, Duration::ZERO);
        live.apply(by, &commit(by), Duration::ZERO).unwrap();
    }
    live.apply(two, &reveal(two), Duration::from_secs(5)).unwrap();
    live.apply(one, &reveal(one), Duration::from_secs(9)).unwrap();
    assert_eq!(live.deadline(), Some(Duration::from_secs(29)), "the clock starts with the game");
    assert_eq!(live.propose(one, &Command::Void(Void::Expired), Duration::ZERO), Err(Refusal::Begun));
    live.apply(one, &flip, Duration::from_secs(10)).unwrap();
    assert_eq!(live.propose(one, &Command::TakeBack, Duration::from_secs(10)), Err(Refusal::NoTakeBack));
    assert!(!live.view(Duration::from_secs(10)).can_take_back);
}

/// A record in which a part was changed afterwards.
#[test]
fn a_changed_part_is_found() {
    let terms = opening(terms("server,board=2x4", ["person", "level:1"], None), [true, false], None);
    let mut live = begin(&terms, 1);
    live.apply(Seat::First, &reveal(Seat::First), Duration::ZERO).unwrap();
    let flip = Command::Play { mv: "a1".parse().unwrap(), ply: 0, used: None };
    live.apply(Seat::First, &flip, Duration::ZERO).unwrap();
    live.apply(Seat::First, &Command::Resign, Duration::ZERO).unwrap();
    let record = live.record().to_string();
    assert_eq!(verify(&record.parse().unwrap()).unwrap().contributed, [true, false]);
    for (name, found) in [
        ("Seed", "does not follow from DealSeed"),
        ("DealSeed", "do not open the DealCommit"),
        ("DealNonce", "do not open the DealCommit"),
        ("DealCommit", "do not open the DealCommit"),
        ("FirstDealSeed", "does not follow from DealSeed"),
        ("DealGame", "does not follow from DealSeed"),
    ] {
        let at = record.find(&format!("[{name} \"")).unwrap() + name.len() + 3;
        let digit = if &record[at..=at] == "0" { "1" } else { "0" };
        let changed = format!("{}{digit}{}", &record[..at], &record[at + 1..]);
        let error = verify(&changed.parse().unwrap()).unwrap_err().to_string();
        assert!(error.contains(found), "{name}: {error}");
    }
    let without = |name: &str| {
        record
            .lines()
            .filter(|line| !line.starts_with(&format!("[{name} ")))
            .fold(String::new(), |all, line| all + line + "\n")
    };
    let error = verify(&without("FirstDealSeed").parse().unwrap()).unwrap_err().to_string();
    assert!(
        error.contains("the first player has contributed to the deal, but the record does not say what"),
        "{error}"
    );
    assert!(verify(&without("Seed").parse().unwrap()).is_ok(), "it follows from the parts");
}
