//! Another network, weights file or folder of tables is another player: for fingerprints, journals and jobs.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::fs;
use std::path::Path;

use anqi_endgame::{Flavour, build, classes_up_to};
use anqi_engine::{Evaluation, PlayerSpec, Resources, Stop};
use anqi_lab::{Cast, MatchJournal, MatchJournalError, MergeError, Plan, collect, merge, play_pair, play_some, run};

const NETWORK: &[u8] = include_bytes!("../../engine/src/champion/champion.net");
/// Where the weights of the network begin: after the header.
const WEIGHTS: usize = NETWORK.len() - 351_712;

fn tables(dir: &Path, pieces: u32) {
    let one = 1.try_into().unwrap();
    assert!(build(dir, Flavour::END, classes_up_to(pieces).into_values(), one, &Stop::default(), ()).unwrap());
}

/// What a player string means to a process that opens its files now.
fn fingerprint(player: &str) -> String {
    let (spec, resources): (PlayerSpec, _) = (player.parse().unwrap(), Resources::default());
    resources.open_for(&spec).unwrap();
    spec.fingerprint(&resources).unwrap().to_string()
}

#[test]
fn content_counts_and_names_do_not() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let net = |name: &str| fingerprint(&format!("champion,net={}", path(name).display()));
    fs::write(path("one.net"), NETWORK).unwrap();
    fs::write(path("same.net"), NETWORK).unwrap();
    fs::write(path("headerless.net"), &NETWORK[WEIGHTS..]).unwrap();
    let mut other = NETWORK[WEIGHTS..].to_vec();
    other[1000] ^= 1;
    fs::write(path("other.net"), other).unwrap();
    assert_eq!((net("one.net"), net("headerless.net")), (net("same.net"), fingerprint("champion")));
    assert_ne!(net("one.net"), net("other.net"));

    let folder = |name: &str| fingerprint(&format!("chen:var1,tables={}", path(name).display()));
    tables(&path("two"), 2);
    tables(&path("too"), 2);
    tables(&path("three"), 3);
    assert_eq!(folder("two"), folder("too"));
    assert_ne!(folder("two"), folder("three"));
    assert_ne!(folder("two"), fingerprint("chen:var1"));
}

/// What a file of weights held when it was read belongs to the player string, the plan and the journal.
#[test]
fn other_weights_in_a_file_are_another_plan() {
    let dir = tempfile::tempdir().unwrap();
    let (file, folder) = (dir.path().join("own.weights"), dir.path().join("match"));
    let plan = |change: i32| {
        let mut weights = Evaluation::Static.weights();
        weights[0] += change;
        fs::write(&file, Evaluation::Static.weights_text(&weights)).unwrap();
        let player = format!("chen:var1,eval=static,weights={}", file.display());
        format!("rules = 'server,board=2x4'\npairs = 1\nbudget = 'nodes=20'\nplayers = ['{player}', 'random']")
            .parse::<Plan>()
            .unwrap()
    };
    let (before, same, after) = (plan(0), plan(0), plan(1));
    let first = |plan: &Plan| Cast::new(plan, &Resources::default()).unwrap().fingerprints()[0].unwrap();
    assert_eq!((&before, first(&before)), (&same, first(&same)));
    assert_ne!(first(&before), first(&after));
    drop(MatchJournal::open_or_create(&folder, &before).unwrap());
    let error = MatchJournal::open_or_create(&folder, &after).unwrap_err();
    assert!(matches!(error, MatchJournalError::OtherPlan { .. }), "{error}");
}

#[test]
fn a_match_goes_on_with_the_same_engines_only() {
    let dir = tempfile::tempdir().unwrap();
    let (net, folder) = (dir.path().join("a.net"), dir.path().join("match"));
    fs::write(&net, NETWORK).unwrap();
    let plan: Plan = format!(
        "rules = 'server,board=2x4'\npairs = 4\nbudget = 'nodes=20'\nplayers = ['champion,hash=1,net={}', 'random']",
        net.display()
    )
    .parse()
    .unwrap();
    let cast = || Cast::new(&plan, &Resources::default()).unwrap();
    let mut journal = MatchJournal::open_or_create(&folder, &plan).unwrap();
    let before = cast();
    run(&mut journal, 1, &before, &Stop::default(), |_| {}).unwrap();
    let pair = journal.pair(0).unwrap();
    let engine = |record: &anqi_records::Record, tag| record.tags().get(tag).unwrap().to_owned();
    let told = [engine(&pair.games[0], "FirstEngine"), engine(&pair.games[0], "SecondEngine")];
    assert_eq!(before.to_lines(), format!("{}\n{}\n", told[0], told[1]));
    assert!(journal.admit(&cast()).unwrap().is_none());

    let mut other = NETWORK[WEIGHTS..].to_vec();
    other[1000] ^= 1;
    fs::write(&net, other).unwrap();
    let after = cast();
    let error = journal.admit(&after).unwrap_err();
    let now = after.fingerprints()[0].unwrap().to_string();
    assert!(matches!(error, MatchJournalError::OtherEngines { .. }));
    assert!(error.to_string().contains(&told[0]) && error.to_string().contains(&now), "{error}");
    assert!(run(&mut journal, 1, &after, &Stop::default(), |_| {}).is_err());

    // A folder of an earlier version does not say who played: it goes on with a note.
    fs::remove_file(folder.join("engines")).unwrap();
    assert!(journal.admit(&after).unwrap().is_some());
    assert!(journal.admit(&after).unwrap().is_none());
}

/// Machines that share nothing play parts of a plan: a part that another network has played is not joined to the others.
#[test]
fn a_part_of_other_engines_is_not_merged() {
    let dir = tempfile::tempdir().unwrap();
    let net = dir.path().join("a.net");
    let plan: Plan = format!(
        "rules = 'server,board=2x4'\npairs = 3\nbudget = 'nodes=20'\nplayers = ['champion,hash=1,net={}', 'random']",
        net.display()
    )
    .parse()
    .unwrap();
    let part = |name: &str, number: u64, network: &[u8]| {
        fs::write(&net, network).unwrap();
        let (cast, stop) = (Cast::new(&plan, &Resources::default()).unwrap(), Stop::default());
        let mut journal = MatchJournal::open_or_create(&dir.path().join(name), &plan).unwrap();
        let play = |plan: &_, _| play_some(plan, vec![number], 1, &cast, &stop);
        collect(&mut journal, &cast, &stop, |_| {}, play).unwrap();
        (journal, cast.fingerprints()[0].unwrap().to_string())
    };
    let mut other = NETWORK[WEIGHTS..].to_vec();
    other[1000] ^= 1;
    let [(one, known), (two, _), (three, stranger)] =
        [part("one", 0, NETWORK), part("two", 1, NETWORK), part("three", 2, &other)];
    let mut whole = MatchJournal::open_or_create(&dir.path().join("whole"), &plan).unwrap();
    merge(&mut whole, &one).unwrap();
    merge(&mut whole, &two).unwrap();
    let error = merge(&mut whole, &three).unwrap_err();
    assert!(matches!(error, MergeError::Journal(MatchJournalError::OtherPart { .. })));
    assert!(error.to_string().contains(&known) && error.to_string().contains(&stranger), "{error}");
    assert_eq!((whole.len(), whole.has(2)), (2, false));
}

/// Parts of one plan that different engines played are not joined, and it is shown who differs.
#[test]
fn parts_of_other_engines_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let plan: Plan = format!(
        "rules = 'server,board=2x4'\npairs = 4\nbudget = 'nodes=20'\nplayers = ['champion,hash=1,net={}', 'random']",
        dir.path().join("a.net").display()
    )
    .parse()
    .unwrap();
    fs::write(dir.path().join("a.net"), NETWORK).unwrap();
    let pair = play_pair(&plan, 0, &Cast::new(&plan, &Resources::default()).unwrap(), &Stop::default()).unwrap();
    let part = |name: &str, network: &[u8]| {
        fs::write(dir.path().join("a.net"), network).unwrap();
        let cast = Cast::new(&plan, &Resources::default()).unwrap();
        let mut journal = MatchJournal::open_or_create(&dir.path().join(name), &plan).unwrap();
        journal.admit(&cast).unwrap();
        journal.append(&pair).unwrap();
        (journal, cast.to_lines())
    };
    let mut other = NETWORK[WEIGHTS..].to_vec();
    other[1000] ^= 1;
    let ((one, lines), (same, _), (other, others)) =
        (part("one", NETWORK), part("same", NETWORK), part("other", &other));
    let mut whole = MatchJournal::open_or_create(&dir.path().join("whole"), &plan).unwrap();
    assert_eq!((whole.admit_part(&one).unwrap(), whole.admit_part(&same).unwrap()), (None, None));
    let engines = dir.path().join("whole/engines");
    assert_eq!(fs::read_to_string(&engines).unwrap(), lines);
    let error = whole.admit_part(&other).unwrap_err().to_string();
    let [then, now] = [&lines, &others].map(|lines| lines.lines().next().unwrap());
    let [there, here] = [&whole, &other].map(|journal| journal.dir().display().to_string());
    assert!(error.starts_with(&format!("{here} was played by other engines than {there}:\n")), "{error}");
    assert!(error.contains(&format!("{then} in {there}, {now} in {here}")), "{error}");
    assert!(!error.contains("random"), "the same player is not named: {error}");

    // What is known of a program replaces what is not.
    let random = lines.lines().nth(1).unwrap();
    fs::write(&engines, format!("-\n{random}\n")).unwrap();
    assert!(whole.admit_part(&other).unwrap().is_none());
    assert_eq!(fs::read_to_string(&engines).unwrap(), others);
    assert!(whole.admit_part(&one).is_err());
    fs::remove_file(dir.path().join("other/engines")).unwrap();
    let note = whole.admit_part(&other).unwrap().unwrap();
    assert_eq!(note, format!("{here}: it is not known who played these games"));
    // A damaged file is not taken for one that says nothing.
    fs::write(&engines, format!("{now}\n{}\n", random.replace("p1-", "q1-"))).unwrap();
    let error = whole.admit_part(&one).unwrap_err().to_string();
    assert!(error.contains("engines: line 2 is damaged: \"q1-"), "{error}");
    fs::write(&engines, format!("{now}\n")).unwrap();
    let error = whole.admit_part(&one).unwrap_err().to_string();
    assert!(error.contains("engines: line 2 is damaged"), "{error}");
}
