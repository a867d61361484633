//! Games whose files are damaged, and games on a disk that fails: what was acknowledged is still there, and no file is changed.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anqi_play::{BotPolicy, Secret, Terms, verify};
use anqi_rules::{Contribution, Seat, Seed};
use anqi_store::faults::{After, DiskFault, SimulatedDisk, every_fault};
use anqi_store::{FolderLock, Syncer};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::folder;
use crate::hosted::{Disk, HostedError, HostedGame, journal_path, record_path};
use crate::house::{House, HouseSettings, OpenGame};
use crate::seat::{Held, Tokens};

const ID: &str = "0123456789abcdef";

fn policy() -> BotPolicy {
    BotPolicy::page(2)
}

fn terms() -> Terms {
    let person = || "person".to_owned();
    Terms { rules: "server".to_owned(), first: person(), second: person(), ..Terms::default() }
}

fn house(dir: &TempDir) -> Arc<House> {
    House::open(dir.path(), HouseSettings { deals: Some(Seed::from(3)), ..HouseSettings::default() }).unwrap()
}

fn plies(hosted: &HostedGame) -> Vec<String> {
    hosted.game().plies().iter().map(ToString::to_string).collect()
}

/// Plays the first legal moves, which depend on nothing but the game.
fn play(hosted: &mut HostedGame, dir: &Path, count: usize) {
    for _ in 0..count {
        let mv = hosted.game().legal_moves()[0];
        hosted.play(dir, mv).unwrap();
    }
}

/// A game of so many plies on disk alone; gives its name and plies.
fn begun(dir: &TempDir, count: usize) -> (String, Vec<String>) {
    let house = house(dir);
    let (open_game, _) = house.begin(terms()).unwrap();
    let mut hosted = open_game.hosted();
    play(&mut hosted, dir.path(), count);
    (hosted.id().to_owned(), plies(&hosted))
}

fn view(open_game: &OpenGame) -> Value {
    serde_json::to_value(open_game.view()).unwrap()
}

/// All files of a folder but its lock.
fn contents(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let paths = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let mut all: Vec<_> = paths
        .filter(|path| path.file_name().unwrap() != "lock")
        .map(|path| (path.clone(), fs::read(path).unwrap()))
        .collect();
    all.sort();
    all
}

fn flip(path: &Path, at: usize) {
    let mut bytes = fs::read(path).unwrap();
    bytes[at] ^= 1;
    fs::write(path, bytes).unwrap();
}

/// Where a line begins, counted from 1.
fn line_at(path: &Path, line: usize) -> usize {
    fs::read(path).unwrap().split_inclusive(|&byte| byte == b'\n').take(line - 1).map(<[u8]>::len).sum()
}

/// One flipped bit in a journal of 40 plies: the game is shown up to there, line and reason are told, the file keeps every
/// byte, and it goes on as one new game with the same deal.
#[test]
fn a_damaged_journal_is_named_and_goes_on_as_a_new_game() {
    let dir = tempfile::tempdir().unwrap();
    let (id, played) = begun(&dir, 40);
    let path = journal_path(dir.path(), &id);
    flip(&path, line_at(&path, 7) + 30);
    let before = contents(dir.path());

    let house = house(&dir);
    let open_game = house.find(&id).unwrap();
    let shown = view(&open_game);
    assert_eq!(shown["plies"], json!(played[..4]), "lines 3 to 6 are whole");
    let damage = &shown["damage"];
    assert_eq!(
        (&damage["file"], &damage["line"], &damage["canGoOn"]),
        (&json!(format!("{id}.journal")), &json!(7), &json!(true))
    );
    assert!(damage["reason"].as_str().unwrap().starts_with("its checksum is "), "{damage}");
    assert_eq!((&shown["inPlay"], &shown["deal"]), (&json!(false), &Value::Null), "what lies face down stays hidden");
    assert!(matches!(open_game.hosted().resign(dir.path(), Held::ALL), Err(HostedError::Kept)));
    let listed = serde_json::to_value(house.list().unwrap()).unwrap();
    assert_eq!(
        (&listed[0]["damaged"], &listed[0]["plies"], &listed[0]["inPlay"]),
        (&json!(true), &json!(4), &json!(false))
    );
    assert_eq!(contents(dir.path()), before, "reading changes nothing");

    let gone_on = house.go_on_from_damage(&id).unwrap();
    let new = gone_on.hosted().id().to_owned();
    assert_ne!(new, id);
    assert_eq!(plies(&gone_on.hosted()), played[..4]);
    assert_eq!(gone_on.hosted().commitment(), open_game.hosted().commitment());
    play(&mut gone_on.hosted(), dir.path(), 36);
    assert_eq!(plies(&gone_on.hosted()), played, "the same deal");
    assert!(Arc::ptr_eq(&gone_on, &house.go_on_from_damage(&id).unwrap()), "not a second game with this deal");
    assert!(matches!(house.go_on_from_damage(&new), Err(HostedError::NotDamaged)));
    let after = contents(dir.path());
    assert_eq!(
        after.iter().filter(|(path, _)| !path.ends_with(format!("{new}.journal"))).cloned().collect::<Vec<_>>(),
        before
    );
    // It is on the disk like any other game.
    drop((gone_on, open_game));
    assert_eq!(plies(&house.find(&new).unwrap().hosted()), played);
    house.find(&new).unwrap().hosted().resign(dir.path(), Held::ALL).unwrap();
    assert_eq!(
        view(&house.go_on_from_damage(&id).unwrap())["outcome"]["reason"],
        "resignation",
        "it is over, and not begun again"
    );
}

/// A damaged game of two people goes on with their seats, their parts of the deal and their tokens.
#[test]
fn seats_and_contributions_go_on_from_damage() {
    let dir = tempfile::tempdir().unwrap();
    let here = house(&dir);
    let (open_game, tokens) = here.begin(terms().with_persons(Some(Seat::Second), true)).unwrap();
    let Tokens { own, invitation } = tokens.unwrap();
    let (id, played, guest) = {
        let mut hosted = open_game.hosted();
        let id = hosted.id().to_owned();
        let (_, guest) = hosted.join(dir.path(), &invitation.unwrap().text()).unwrap();
        let part = |by| Contribution { by, seed: Seed::from(7), nonce: Seed::from(8) };
        for by in Seat::ALL {
            hosted.commit(dir.path(), Held::only(by), &part(by).commitment(&id).to_string()).unwrap();
        }
        for by in Seat::ALL {
            hosted.reveal(dir.path(), Held::only(by), &part(by).seed.to_string(), "8").unwrap();
        }
        play(&mut hosted, dir.path(), 6);
        (id, plies(&hosted), guest)
    };
    drop((open_game, here));
    let path = journal_path(dir.path(), &id);
    flip(&path, line_at(&path, 11) + 30);

    let here = house(&dir);
    let damaged = here.find(&id).unwrap();
    assert_eq!(plies(&damaged.hosted()), played[..3], "head, seat and four parts are before the plies");
    assert_eq!(damaged.hosted().seats_of(None, false).unwrap(), Held::NONE);
    let gone_on = here.go_on_from_damage(&id).unwrap();
    for (token, seat) in [(own, Seat::First), (guest, Seat::Second)] {
        assert_eq!(damaged.hosted().seats_of(Some(&token.text()), false).unwrap(), Held::only(seat));
        assert_eq!(gone_on.hosted().seats_of(Some(&token.text()), false).unwrap(), Held::only(seat));
    }
    play(&mut gone_on.hosted(), dir.path(), 3);
    assert_eq!(plies(&gone_on.hosted()), played, "the same deal");
    gone_on.hosted().resign(dir.path(), Held::only(Seat::Second)).unwrap();
    assert_eq!(verify(&gone_on.hosted().record()).unwrap().contributed, [true; 2]);
}

/// Every line of a journal damaged: up to it everything is there. The head holds the deal: without it nothing can be shown,
/// and the message has neither a folder nor a seed.
#[test]
fn every_line_may_be_damaged() {
    let dir = tempfile::tempdir().unwrap();
    let (id, played) = begun(&dir, 12);
    let path = journal_path(dir.path(), &id);
    let whole = fs::read_to_string(&path).unwrap();
    let head: Value = serde_json::from_str(whole.lines().nth(1).unwrap().splitn(5, ' ').last().unwrap()).unwrap();
    for line in 1..=14 {
        flip(&path, line_at(&path, line) + 3);
        let before = contents(dir.path());
        let house = house(&dir);
        match house.find(&id) {
            Ok(open_game) => {
                assert_eq!(view(&open_game)["plies"], json!(played[..line - 3]), "line {line}");
                assert_eq!(view(&open_game)["damage"]["line"], json!(line));
            }
            Err(error) => {
                let told = error.to_string();
                assert!(line <= 2 && told.contains(&format!("{id}.journal: line {line}")), "{told}");
                assert!(told.contains("deal was in it") && !told.contains(&dir.path().display().to_string()), "{told}");
                assert!(["seed", "nonce"].iter().all(|name| !told.contains(head[name].as_str().unwrap())), "{told}");
                assert!(house.go_on_from_damage(&id).is_err());
                assert!(house.list().unwrap()[0].damaged, "it is still in the list");
            }
        }
        assert_eq!(contents(dir.path()), before, "line {line}");
        fs::write(&path, &whole).unwrap();
    }
}

/// A kill between the two calls that keep a game leaves a whole journal beside its record.
fn kept_with_its_journal(dir: &TempDir) -> (String, Vec<String>) {
    let (id, played) = begun(dir, 20);
    let house = house(dir);
    let path = journal_path(dir.path(), &id);
    let open_game = house.find(&id).unwrap();
    // The journal is taken away with its last name, so a second one keeps its bytes.
    let second = dir.path().join("second");
    fs::hard_link(&path, &second).unwrap();
    open_game.hosted().resign(dir.path(), Held::ALL).unwrap();
    fs::rename(&second, &path).unwrap();
    (id, played)
}

/// A damaged record beside a whole journal loses nothing: the journal is the truth, and both files stay as they are.
#[test]
fn a_damaged_record_beside_its_journal_loses_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let (id, played) = kept_with_its_journal(&dir);
    let record = record_path(dir.path(), &id);
    let whole = fs::read(&record).unwrap();
    let move_text = whole.windows(4).rposition(|window| window == b"\n1. ").unwrap() + 4;
    let mut not_text = whole.clone();
    not_text[10] = 0xff;
    let mut other_move = whole.clone();
    other_move[move_text] ^= 0x40;
    for (damaged, reason) in
        [(&whole[..0], ""), (&whole[..move_text + 9], ""), (&not_text[..], "utf-8"), (&other_move[..], "")]
    {
        fs::write(&record, damaged).unwrap();
        let before = contents(dir.path());
        for _ in 0..2 {
            let house = house(&dir);
            let open_game = house.find(&id).unwrap();
            let shown = view(&open_game);
            assert_eq!((&shown["plies"], &shown["outcome"]["reason"]), (&json!(played), &json!("resignation")));
            let damage = &shown["damage"];
            assert_eq!(
                (&damage["file"], &damage["canGoOn"]),
                (&json!(format!("{id}.anqi")), &json!(false)),
                "{damage}"
            );
            assert!(damage["reason"].as_str().unwrap().contains(reason), "{damage}");
            assert!(house.list().unwrap()[0].damaged);
            assert_eq!(contents(dir.path()), before, "nothing is deleted or written");
        }
    }
    // Alone, a damaged record is named, and kept.
    fs::remove_file(journal_path(dir.path(), &id)).unwrap();
    fs::write(&record, &not_text).unwrap();
    let error = house(&dir).find(&id).err().unwrap().to_string();
    assert!(error.contains(&format!("{id}.anqi: ")) && error.contains("utf-8"), "{error}");
    assert_eq!(fs::read(&record).unwrap(), not_text);
}

/// The journal goes when a server starts, if its record says the same to the letter.
#[test]
fn a_journal_that_a_kill_left_is_taken_away() {
    let dir = tempfile::tempdir().unwrap();
    let (id, played) = kept_with_its_journal(&dir);
    let house = house(&dir);
    assert!(!journal_path(dir.path(), &id).exists());
    let shown = view(&house.find(&id).unwrap());
    assert_eq!((&shown["plies"], shown.get("damage")), (&json!(played), None));
}

/// Journals hold the seeds of deals.
#[test]
fn journals_are_for_their_owner_alone() {
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path().join("data/games");
    let open = || House::open(&dir, HouseSettings { deals: Some(Seed::from(3)), ..HouseSettings::default() }).unwrap();
    let house = open();
    let id = house.begin(terms()).unwrap().0.hosted().id().to_owned();
    let journal = journal_path(&dir, &id);
    assert_eq!((mode(&dir), mode(&journal)), (0o700, 0o600));
    drop(house);

    // As earlier versions left them.
    set(&dir, 0o755);
    set(&journal, 0o644);
    drop(open());
    assert_eq!((mode(&dir), mode(&journal)), (0o700, 0o600));

    // A folder with other files in it is the user's own matter; it is said.
    fs::write(dir.join("letter.txt"), "to all").unwrap();
    set(&dir, 0o755);
    set(&journal, 0o640);
    let notes = folder::tidy(&dir, &policy()).unwrap();
    assert!(
        notes.len() == 1 && notes[0].contains("others may look into this folder") && notes[0].contains("letter.txt"),
        "{notes:?}"
    );
    assert_eq!((mode(&dir), mode(&journal)), (0o755, 0o600));
    assert_eq!(mode(&dir.join("letter.txt")) & 0o044, 0o044);
}

/// Begins a game, plays it and gives it up, on a disk of which every call may fail: what was acknowledged is in the journal or in
/// the record, whichever is there.
#[test]
fn every_call_of_a_hosted_game_may_fail() {
    let runs = every_fault(
        |disk| disk.put_folder(&disk.path().join("games")),
        |disk| {
            let dir = disk.path().join("games");
            let Some(store) = store(&dir) else { return (false, 0, false) };
            let secret = Secret::from_seed(&Seed::from(5));
            let Ok(mut hosted) = HostedGame::new(&dir, ID, &terms(), secret, &policy(), &store) else {
                return (false, 0, false);
            };
            let moves = |hosted: &mut HostedGame| {
                let mv = hosted.game().legal_moves()[0];
                hosted.play(&dir, mv).is_ok()
            };
            let played = (0..3).take_while(|_| moves(&mut hosted)).count();
            (true, played, hosted.resign(&dir, Held::ALL).is_ok())
        },
        |disk, (was_begun, played, was_kept), after| {
            // The journal is forced to the disk after a second, which these tests do not wait.
            if after != After::Restart && !was_kept {
                return;
            }
            let dir = disk.path().join("games");
            let game = folder::game(&dir, ID, &policy(), || HostedGame::look(&dir, ID, &policy()));
            let Some(game) = game else {
                assert!(!was_begun, "{after:?}: the game is lost");
                return;
            };
            let game = game.unwrap();
            assert!(game.damage().is_none() && game.game().plies().len() >= played, "{after:?}");
            assert!(!was_kept || game.is_record() && game.game().outcome().is_some(), "{after:?}");
            let opened = HostedGame::resume(&dir, ID, &policy(), &store(&dir).unwrap());
            assert!(was_kept || disk.peek(&record_path(&dir, ID)).is_some() || opened.is_ok(), "it goes on");
        },
    );
    assert!(runs > 300, "{runs}");
}

/// Goes on from a damaged journal: the new one is there with all plies or not at all, and the damaged one stays as it is.
#[test]
fn every_call_that_goes_on_from_damage_may_fail() {
    const NEW: &str = "fedcba9876543210";
    let whole = {
        let disk = SimulatedDisk::mount(1);
        let secret = Secret::from_seed(&Seed::from(5));
        let store = store(disk.path()).unwrap();
        let mut hosted = HostedGame::new(disk.path(), ID, &terms(), secret, &policy(), &store).unwrap();
        play(&mut hosted, disk.path(), 6);
        disk.peek(&journal_path(disk.path(), ID)).unwrap()
    };
    let mut damaged = whole.clone();
    damaged[whole.len() - 9] ^= 1;
    let go_on = |disk: &SimulatedDisk| {
        let dir = disk.path().join("games");
        HostedGame::go_on_from_damage(&dir, ID, NEW, &policy(), &store(&dir)?).ok().flatten()
    };
    every_fault(
        |disk| {
            disk.put_folder(&disk.path().join("games"));
            disk.put(&journal_path(&disk.path().join("games"), ID), &damaged);
        },
        |disk| go_on(disk).is_some(),
        |disk, went_on, after| {
            let dir = disk.path().join("games");
            assert_eq!(disk.peek(&journal_path(&dir, ID)).unwrap(), damaged);
            let path = journal_path(&dir, NEW);
            match disk.peek(&path) {
                Some(_) => {
                    assert!(disk.is_secret(&path), "it holds the seed");
                    let game = HostedGame::resume(&dir, NEW, &policy(), &store(&dir).unwrap()).unwrap();
                    assert!(game.is_in_play() && game.game().plies().len() == 5, "{after:?}");
                }
                None => {
                    assert!(!went_on, "{after:?}");
                    assert!(go_on(disk).is_some(), "it is done the next time");
                }
            }
        },
    );
}

/// A move that cannot be written down is refused, and every page of the game is told; a move that can be takes that back.
#[test]
fn every_page_is_told_of_a_write_that_failed() {
    let disk = SimulatedDisk::mount(1);
    let dir = disk.path().join("games");
    let house = House::open(&dir, HouseSettings { deals: Some(Seed::from(3)), ..HouseSettings::default() }).unwrap();
    let (open_game, _) = house.begin(terms()).unwrap();
    house.go_on(&open_game);
    let (_, mut changes) = open_game.watch();
    let mut told = || serde_json::from_str::<Value>(&changes.try_recv().unwrap().text).unwrap();
    let any_move = || {
        let mv = open_game.hosted().game().legal_moves()[0];
        let played = open_game.hosted().play(&dir, mv);
        house.go_on(&open_game);
        played
    };
    // The sync thread may come first and meet the fault.
    let error = loop {
        disk.fail(0, DiskFault::Error);
        match any_move() {
            Err(error) => break error.to_string(),
            Ok(()) => drop(told()),
        }
    };
    let played = plies(&open_game.hosted());
    assert!(error.starts_with("cannot write the game down: "), "{error}");
    let change = told();
    assert_eq!(change["trouble"], json!(error), "{change}");
    assert_eq!(plies(&open_game.hosted()), played);

    any_move().unwrap();
    assert_eq!(told().get("trouble").unwrap_or(&Value::Null), &Value::Null);
    assert_eq!(open_game.hosted().trouble(), None);

    // The record of a game that is over: the journal has it all, and the next who opens it tries again.
    let id = open_game.hosted().id().to_owned();
    disk.fail(1, DiskFault::Error);
    let kept = open_game.hosted().resign(&dir, Held::ALL);
    house.go_on(&open_game);
    assert!(kept.is_err() && disk.has_failed() && disk.peek(&record_path(&dir, &id)).is_none());
    assert_eq!(told()["trouble"], json!(kept.unwrap_err().to_string()));
    drop(open_game);
    disk.fail(u64::MAX / 2, DiskFault::Error);
    let again = house.find(&id).unwrap();
    let hosted = again.hosted();
    assert_eq!((hosted.trouble(), hosted.game().outcome().is_some()), (None, true));
    assert!(disk.peek(&record_path(&dir, &id)).is_some() && disk.peek(&journal_path(&dir, &id)).is_none());
}

/// What a killed server left half written is taken away by the next one, and nothing else is.
#[test]
fn half_written_files_are_taken_away() {
    let dir = tempfile::tempdir().unwrap();
    let parts = ["0123456789abcdef.anqi.part", "0123456789abcdef.journal.part", "server.json.part"];
    let others = ["letter.txt.part", "film.part", "part"];
    for name in parts.iter().chain(&others) {
        fs::write(dir.path().join(name), "half").unwrap();
    }
    // One that another process is writing.
    let busy = dir.path().join("fedcba9876543210.anqi.part");
    let held = fs::File::create(&busy).unwrap();
    held.lock().unwrap();
    drop(house(&dir));
    for (names, stay) in [(&parts, false), (&others, true)] {
        assert!(names.iter().all(|name| dir.path().join(name).exists() == stay), "{names:?}");
    }
    assert!(busy.exists());
}

/// What a game needs to be written down in a folder.
fn store(dir: &Path) -> Option<Disk> {
    Some(Disk { lock: FolderLock::take(dir).ok()?, syncer: Syncer::by_hand() })
}
