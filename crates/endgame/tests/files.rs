//! Tables in files: what is written is read, damage is noticed, and how a folder was filled leaves no trace.

use std::collections::BTreeMap;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use anqi_endgame::{
    BlockCache, Class, Ending, Flavour, Placement, SampleCheck, TableFile, Tablebase, Tables, adopt, build, build_step,
    classes_up_to, steps, table_path,
};
use anqi_rules::Seed;
use anqi_store::faults::{DamageTest, MUCH_DAMAGE, Reading, SOME_DAMAGE, SimulatedDisk, every_fault};
use anqi_store::{Container, ContainerError, FileClaim};
use anqi_task::{Status, Stop};
use rand_core::Rng;

fn fill(dir: &Path, flavour: &str, pieces: u32, threads: usize) -> u64 {
    let mut built = 0;
    let threads = NonZeroUsize::new(threads).expect("some");
    let endings = classes_up_to(pieces).into_values();
    let count = |status: &Status| built = status.made().items;
    let complete = build(dir, flavour.parse().expect(flavour), endings, threads, &Stop::default(), count);
    assert!(complete.expect("a sound folder"));
    built
}

/// Names and contents of a folder.
fn contents(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = fs::read_dir(dir).expect("a folder").map(|file| file.expect("a file").path());
    files
        .map(|path| (path.display().to_string().split_off(dir.as_os_str().len()), fs::read(path).expect("read")))
        .collect()
}

#[test]
fn what_is_written_is_read() {
    for flavour in ["end", "conversion", "conversion-20", "outcome", "outcome-20"] {
        let dir = tempfile::tempdir().expect("a folder");
        assert_eq!(fill(dir.path(), flavour, 3, 2), 25);
        assert_eq!(fill(dir.path(), flavour, 3, 2), 0);
        let flavour: Flavour = flavour.parse().expect(flavour);
        let mut tables = Tables::new(flavour);
        tables.build(classes_up_to(3).into_values(), NonZeroUsize::MIN).expect("small");
        for table in tables.iter() {
            let name = table.class().name().expect("small");
            let file = TableFile::open(&table_path(dir.path(), &name, flavour)).expect("sound");
            assert_eq!((file.class(), file.tally(), file.flavour()), (table.class(), table.tally(), flavour));
            assert_eq!(file.load().expect("sound").tally(), table.tally());
            for placement in (0..table.index().places()).filter_map(|place| table.index().placement(place)) {
                assert_eq!(file.value(&placement).expect("sound"), table.value(&placement), "{name} {placement:?}");
            }
        }
    }
}

/// A class whose distances do not fit into bytes.
#[test]
fn long_distances_are_kept() {
    let dir = tempfile::tempdir().expect("a folder");
    let ending: Ending = "NC-rc".parse().expect("an ending");
    build(dir.path(), Flavour::END, [ending], NonZeroUsize::MIN, &Stop::default(), ()).expect("room");
    let name = Class::of(&ending).class.name().expect("small");
    let file = TableFile::open(&table_path(dir.path(), &name, Flavour::END)).expect("sound");
    let longest = file.tally().0.iter().filter_map(|tally| tally.longest).max();
    assert_eq!(longest.map(|distance| distance.0), Some(121));
}

#[test]
fn threads_leave_no_trace() {
    let [one, two] = [1, 2].map(|threads| {
        let dir = tempfile::tempdir().expect("a folder");
        fill(dir.path(), "end", 3, threads);
        contents(dir.path())
    });
    assert_eq!(one.len(), 25);
    assert_eq!(one, two);
}

#[test]
fn a_build_that_is_stopped_goes_on() {
    let (whole, dir) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    fill(whole.path(), "end", 3, 1);
    let endings: Vec<Ending> = classes_up_to(3).into_values().collect();
    for most in [1, 4, 9] {
        let stop = Stop::default();
        let stop_in_time = |status: &Status| {
            if status.made().items == most {
                stop.raise();
            }
        };
        let endings = endings.iter().copied();
        let complete = build(dir.path(), Flavour::END, endings, NonZeroUsize::MIN, &stop, stop_in_time);
        assert!(!complete.expect("a sound folder"));
    }
    assert_eq!(fill(dir.path(), "end", 3, 1), 25 - 14);
    assert_eq!(contents(dir.path()), contents(whole.path()));
}

/// Two folders build every other class and are given what they lack: as if each had built everything.
#[test]
fn classes_are_built_anywhere_and_carried_over() {
    let whole = tempfile::tempdir().expect("a folder");
    fill(whole.path(), "conversion-60", 3, 1);
    let flavour = "conversion-60".parse().expect("a flavour");
    let [even, odd] = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
    let steps = steps(classes_up_to(3).into_values()).expect("small");
    for (number, step) in steps.iter().enumerate() {
        let [here, there] = if number % 2 == 0 { [&even, &odd] } else { [&odd, &even] };
        build_step(here.path(), flavour, step).expect("all that it needs is there");
        let bytes = fs::read(table_path(here.path(), &step.ending, flavour)).expect("built");
        adopt(there.path(), flavour, &step.ending, &bytes, None).expect("sound");
    }
    let expected = contents(whole.path());
    assert_eq!((contents(even.path()), contents(odd.path())), (expected.clone(), expected));

    // Nothing is built on what is not there, and nothing is taken over that is not what it should be.
    let empty = tempfile::tempdir().expect("a folder");
    let [small, large] = [&steps[0], &steps[steps.len() - 1]];
    let error = build_step(empty.path(), flavour, large).expect_err("nothing is there");
    assert!(error.to_string().contains("build it first"), "{error}");
    let mut bytes = fs::read(table_path(whole.path(), &large.ending, flavour)).expect("built");
    let error = adopt(empty.path(), flavour, &small.ending, &bytes, None).expect_err("another class");
    assert!(error.to_string().contains(&format!("it is the table of {}", large.ending)), "{error}");
    if let Some(last) = bytes.last_mut() {
        *last ^= 1;
    }
    let error = adopt(empty.path(), flavour, &large.ending, &bytes, None).expect_err("damaged");
    assert!(error.to_string().contains("is damaged"), "{error}");
    assert!(contents(empty.path()).keys().all(|name| name.ends_with(".part")));
}

/// A table whose checksums are right and whose values are not: those of another draw rule under the name of this one.
#[test]
fn a_sound_file_of_wrong_values_is_found_by_the_rules() {
    let (honest, liar, taker) = (
        tempfile::tempdir().expect("a folder"),
        tempfile::tempdir().expect("a folder"),
        tempfile::tempdir().expect("a folder"),
    );
    fill(honest.path(), "conversion-60", 3, 1);
    fill(liar.path(), "conversion-6", 3, 1);
    let [flavour, other] = ["conversion-60", "conversion-6"].map(|name| name.parse::<Flavour>().expect("a flavour"));
    let steps = steps(classes_up_to(3).into_values()).expect("small");
    let seed = Seed::from(7);
    let mut found = 0;
    for step in &steps {
        let sample = SampleCheck { needs: &step.needs, count: 2000, seed: &seed };
        let true_bytes = fs::read(table_path(honest.path(), &step.ending, flavour)).expect("built");
        let false_path = table_path(liar.path(), &step.ending, other);
        let values = TableFile::open(&false_path).expect("a table").load().expect("a table");
        if values.tally()
            != TableFile::open(&table_path(honest.path(), &step.ending, flavour))
                .expect("a table")
                .load()
                .expect("a table")
                .tally()
        {
            let container = Container::open(&false_path).expect("a container");
            let head = container.head().replace("conversion-6\n", "conversion-60\n");
            let bytes: Vec<u8> =
                (0..container.block_count()).flat_map(|block| container.block(block).expect("sound")).collect();
            let forged = taker.path().join("forged");
            FileClaim::new(&forged)
                .expect("room")
                .expect("free")
                .write(&head, container.block_len(), &bytes)
                .expect("room");
            let bytes = fs::read(&forged).expect("written");
            fs::remove_file(&forged).expect("written");
            let error = adopt(taker.path(), flavour, &step.ending, &bytes, Some(&sample)).expect_err("wrong values");
            assert!(error.is_of_contents() && error.to_string().contains("what follows is"), "{error}");
            found += 1;
        }
        adopt(taker.path(), flavour, &step.ending, &true_bytes, Some(&sample)).expect("right");
    }
    assert!(found > 3, "{found} tables differ");
    assert_eq!(contents(taker.path()), contents(honest.path()));
}

/// Files of another class or flavour, under a name that is not theirs, are refused.
#[test]
fn names_do_not_lie() {
    let dir = tempfile::tempdir().expect("a folder");
    fill(dir.path(), "end", 2, 1);
    let [a, b] = ["P-p", "C-c"].map(|name| {
        let class = Class::of(&name.parse::<Ending>().expect(name)).class;
        table_path(dir.path(), &class.name().expect("small"), Flavour::END)
    });
    fs::copy(&a, &b).expect("room");
    let tablebase = Tablebase::open(dir.path(), Flavour::END).expect("a folder");
    let error = tablebase.probe(&"4/4/4/4/4/4/4/C2c r -".parse().expect("a position")).expect_err("refused");
    assert!(error.to_string().contains("it is the table of"), "{error}");
    assert!(Tablebase::open(&dir.path().join("nowhere"), Flavour::END).is_err());
}

/// A damaged file is refused, or a block of it is, with the place; no byte of it changes.
fn damaged(times: usize) {
    let disk = SimulatedDisk::mount(1);
    let endings = ["P-p", "N-pp"].map(|name| name.parse::<Ending>().expect(name));
    build(disk.path(), Flavour::END, endings, NonZeroUsize::MIN, &Stop::default(), ()).expect("room");
    let values = |table: &anqi_endgame::Table| format!("{:?}", table.tally());
    for ending in endings {
        let name = Class::of(&ending).class.name().expect("small");
        let whole = disk.peek(&table_path(disk.path(), &name, Flavour::END)).expect("written");
        let sound = TableFile::open(&table_path(disk.path(), &name, Flavour::END)).expect("sound");
        let entries = [values(&sound.load().expect("sound"))];
        let test = DamageTest { file: "some.table", whole: &whole, entries: &entries, most_lost: 0 };
        let refused = test.run(times / 2, |path| {
            let loaded = TableFile::open(path).and_then(|file| file.load());
            match loaded {
                Err(error) => Reading::Refused(error.to_string()),
                Ok(table) => Reading::Read { entries: vec![values(&table)], told: String::new() },
            }
        });
        assert_eq!(refused, times / 2, "every damage is noticed");
    }
    println!("endgame tables: {times} damaged files, all refused");
}

#[test]
fn damage_is_named_and_nothing_is_shortened() {
    damaged(SOME_DAMAGE);
}

#[test]
#[ignore = "long: 17,000 damaged tables"]
fn damage_is_named_and_nothing_is_shortened_very_often() {
    damaged(MUCH_DAMAGE);
}

/// Building a folder of tables, then carrying one over from elsewhere: what was made is whole, and what is missing is made.
#[test]
fn every_call_may_fail() {
    let endings = || ["P-p", "K-p"].map(|name| name.parse::<Ending>().expect(name));
    let one = NonZeroUsize::MIN;
    let whole = SimulatedDisk::mount(1);
    build(whole.path(), Flavour::END, endings(), one, &Stop::default(), ()).expect("room");
    let [first, second] = endings().map(|ending| Class::of(&ending).class.name().expect("small"));
    let carried = whole.peek(&table_path(whole.path(), &second, Flavour::END)).expect("built");
    let runs = every_fault(
        |disk| disk.put_folder(&disk.path().join("tables")),
        |disk| {
            let dir = disk.path().join("tables");
            let built = build(&dir, Flavour::END, [first], one, &Stop::default(), ()).is_ok();
            (built, adopt(&dir, Flavour::END, &second, &carried, None).is_ok())
        },
        |disk, (was_built, was_carried), after| {
            let dir = disk.path().join("tables");
            for (ending, was_made) in [(first, was_built), (second, was_carried)] {
                match TableFile::find(&dir, &ending, Flavour::END).expect("whole or not there") {
                    Some(file) => drop(file.load().expect("sound")),
                    None => assert!(!was_made, "{after:?}: {ending} is lost"),
                }
            }
            let complete = build(&dir, Flavour::END, endings(), one, &Stop::default(), ());
            assert!(complete.expect("room"));
            for ending in [first, second] {
                let path = |disk: &SimulatedDisk, dir: &Path| disk.peek(&table_path(dir, &ending, Flavour::END));
                assert!(path(disk, &dir) == path(&whole, whole.path()), "{ending}");
            }
        },
    );
    assert!(runs > 300, "{runs}");
}

/// Random bits are turned and files cut off; then every probe gives an error or the right value.
fn damage(times: u32) {
    let dir = tempfile::tempdir().expect("a folder");
    let mut rng = Seed::from(1).rng();
    let names = ["N-pp", "C-nc", "P-kp", "CC-n"];
    let endings: Vec<Ending> = names.iter().map(|name| name.parse().expect(name)).collect();
    build(dir.path(), Flavour::END, endings.clone(), NonZeroUsize::MIN, &Stop::default(), ()).expect("room");
    let sound: Vec<(Vec<u8>, TableFile)> = endings
        .iter()
        .map(|ending| {
            let path = table_path(dir.path(), &Class::of(ending).class.name().expect("small"), Flavour::END);
            (fs::read(&path).expect("written"), TableFile::open(&path).expect("sound"))
        })
        .collect();
    let damaged = dir.path().join("damaged");
    let (mut refused, mut harmless) = (0, 0);
    for _ in 0..times {
        let (bytes, sound) = &sound[rng.next_u32() as usize % sound.len()];
        let mut copy = bytes.clone();
        if rng.next_u32().is_multiple_of(4) {
            copy.truncate(rng.next_u32() as usize % bytes.len());
        } else {
            for _ in 0..=rng.next_u32() % 3 {
                let bit = rng.next_u32() as usize % (8 * copy.len());
                copy[bit / 8] ^= 1 << (bit % 8);
            }
        }
        fs::write(&damaged, &copy).expect("room");
        let Ok(file) = TableFile::open(&damaged) else {
            refused += 1;
            continue;
        };
        let mut errors = 0;
        for _ in 0..200 {
            let place = rng.next_u32() as usize % sound.index().places();
            let Some(placement) = sound.index().placement(place) else { continue };
            match file.value(&placement) {
                Ok(value) => assert_eq!(value, sound.value(&placement).expect("sound"), "a wrong value"),
                Err(_) => errors += 1,
            }
        }
        assert!(errors > 0 || file.load().is_err() || copy == *bytes);
        harmless += 1;
    }
    println!("{refused} refused at once, {harmless} block by block");
    assert!(refused > 0 && harmless > 0);
}

#[test]
fn damage_gives_no_wrong_value() {
    damage(300);
}

#[test]
#[ignore = "damages files ten thousand times"]
fn much_damage_gives_no_wrong_value() {
    damage(10_000);
}

/// Random placements of a table, the same every time.
fn places(file: &TableFile, count: usize) -> Vec<Placement> {
    let mut rng = Seed::from(2).rng();
    let any = || file.index().placement(rng.next_u32() as usize % file.index().places());
    std::iter::repeat_with(any).flatten().take(count).collect()
}

/// The file of NC-rc, which has many blocks, its distances in two bytes.
fn large(dir: &Path) -> (PathBuf, Ending) {
    let ending: Ending = "NC-rc".parse().expect("an ending");
    build(dir, Flavour::END, [ending], NonZeroUsize::MIN, &Stop::default(), ()).expect("room");
    let name = Class::of(&ending).class.name().expect("small");
    (table_path(dir, &name, Flavour::END), name)
}

/// A file that is shortened while it is read: what is asked next is an error that names file, block and byte; no signal ends
/// the process. What is unpacked is still known, and when the bytes are back all is.
#[test]
fn a_file_that_is_shortened_under_its_reader_is_an_error() {
    let dir = tempfile::tempdir().expect("a folder");
    let (path, _) = large(dir.path());
    let whole = fs::read(&path).expect("written");
    let file = TableFile::open(&path).expect("sound");
    let places = places(&file, 300);
    let known = file.value(&places[0]).expect("sound");
    for length in [whole.len() as u64 / 2, 100, 0] {
        fs::File::options().write(true).open(&path).expect("there").set_len(length).expect("shortened");
        let errors: Vec<String> =
            places.iter().filter_map(|place| file.value(place).err()).map(|e| e.to_string()).collect();
        assert!(errors.len() > 50, "{length}: {}", errors.len());
        for error in errors {
            let beginning = format!("{}: block ", path.display());
            let end = "is damaged: the file was shortened after it was opened (its bytes begin at byte ";
            assert!(error.starts_with(&beginning) && error.contains(end), "{error}");
        }
        assert_eq!(file.value(&places[0]).expect("unpacked"), known);
        assert!(file.load().is_err() && TableFile::open(&path).is_err());
        fs::write(&path, &whole).expect("room");
    }
    fs::remove_file(&path).expect("there");
    assert!(places.iter().any(|place| matches!(file.value(place), Err(ContainerError::Io { .. }))));
    fs::write(&path, &whole).expect("room");
    assert!(places.iter().all(|place| file.value(place).is_ok()));
}

/// Two tables in a cache of three blocks: it never has more, and all values are right.
#[test]
fn a_small_cache_gives_the_same_values() {
    let dir = tempfile::tempdir().expect("a folder");
    let (path, _) = large(dir.path());
    let whole = TableFile::open(&path).expect("sound").load().expect("sound");
    let cache = Arc::new(BlockCache::new(3 << 16));
    let files = [(); 2].map(|()| TableFile::open(&path).expect("sound").sharing(&cache));
    thread::scope(|scope| {
        for file in &files {
            scope.spawn(|| {
                for placement in places(file, 2_000) {
                    assert_eq!(file.value(&placement).expect("sound"), whole.value(&placement), "{placement:?}");
                }
            });
        }
    });
    assert_eq!((cache.bytes(), cache.most()), (3 << 16, 3 << 16));
    assert!(2 * whole.index().places() > 9 << 16, "there was something to evict");
}

#[test]
fn values_of_a_folder_are_those_of_memory() {
    let dir = tempfile::tempdir().expect("a folder");
    fill(dir.path(), "conversion-60", 3, 2);
    let flavour: Flavour = "conversion-60".parse().expect("a flavour");
    let (folder, memory) = (Tablebase::open(dir.path(), flavour).expect("a folder"), Tablebase::solving(flavour, 4));
    for text in ["4/4/4/4/4/4/p2p/N3 b -", "4/4/4/4/4/4/4/C1Np r -", "4/1k2/4/4/P3/4/4/3p r -"] {
        let position = text.parse().expect(text);
        let value = folder.probe(&position).expect("sound");
        assert_eq!(value, memory.probe(&position).expect("no files"), "{text}");
        assert!(value.is_some());
    }
    // Four pieces are not in the folder.
    assert_eq!(folder.probe(&"4/4/4/4/4/4/p2p/NN2 b -".parse().expect("a position")).expect("sound"), None);
}
