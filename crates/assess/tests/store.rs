//! A cache of values on a disk that fails, tears and loses power, and with damaged bytes.

use std::path::Path;

use anqi_assess::{Cache, Key, Loss, TunedFileError, TunedWeights};
use anqi_store::faults::{After, DamageTest, MUCH_DAMAGE, Reading, SOME_DAMAGE, SimulatedDisk, every_fault};
use anqi_store::seal_object;

fn key(number: u64) -> Key {
    Key::new(&number.to_string(), "a player", "a budget")
}

fn value(number: u64) -> f64 {
    1.0 / (number + 1) as f64
}

/// As c3a29fa wrote it.
fn old_cache(count: u64) -> Vec<u8> {
    let disk = SimulatedDisk::mount(1);
    let path = disk.path().join("cache");
    disk.put(&path, b"anqi values 1\n");
    let mut cache = Cache::open(&path).expect("an old cache");
    (0..count).for_each(|number| cache.put(key(number), value(number)).expect("room"));
    disk.peek(&path).expect("written")
}

#[test]
fn every_call_may_fail() {
    for before in [None, Some(old_cache(2)), Some(old_cache(2)[..80].to_vec())] {
        every_fault(
            |disk| {
                if let Some(before) = &before {
                    disk.put(&disk.path().join("cache"), before);
                }
            },
            |disk| {
                let Ok(mut cache) = Cache::open(&disk.path().join("cache")) else { return Vec::new() };
                (0..5).filter(|&number| cache.put(key(number), value(number)).is_ok()).collect()
            },
            |disk, acknowledged, after| {
                let mut cache = Cache::open(&disk.path().join("cache")).expect("room");
                for number in 0..6 {
                    let known = cache.get(key(number));
                    assert!(known.is_none_or(|known| known == value(number)), "{after:?}");
                    assert!(after != After::Restart || known.is_some() || !acknowledged.contains(&number), "{after:?}");
                    cache.put(key(number), value(number)).expect("room");
                }
                drop(cache);
                assert_eq!(Cache::open(&disk.path().join("cache")).expect("sound").len(), 6);
            },
        );
    }
}

/// Never a wrong value, never a shortened file; the damaged line is named.
fn damaged(times: usize) {
    let disk = SimulatedDisk::mount(1);
    let path = disk.path().join("cache");
    let mut cache = Cache::open(&path).expect("room");
    (0..20).for_each(|number| cache.put(key(number), value(number)).expect("room"));
    drop(cache);
    let entries: Vec<String> = (0..20).map(|number| format!("{number} {}", value(number))).collect();
    for whole in [disk.peek(&path).expect("written"), old_cache(20)] {
        let test = DamageTest { file: "cache", whole: &whole, entries: &entries, most_lost: 2 };
        let refused = test.run(times / 2, |path| match Cache::open(path) {
            Err(error) => Reading::Refused(error.to_string()),
            Ok(cache) => Reading::Read {
                entries: (0..20)
                    .filter_map(|number| cache.get(key(number)).map(|value| format!("{number} {value}")))
                    .collect(),
                told: cache.damages().map(ToString::to_string).unwrap_or_default(),
            },
        });
        println!("assess cache: {} damaged files, {refused} refused", times / 2);
    }
}

#[test]
fn damage_is_named_and_nothing_is_shortened() {
    damaged(SOME_DAMAGE);
}

#[test]
#[ignore = "long: 17,000 damaged caches"]
fn damage_is_named_and_nothing_is_shortened_very_often() {
    damaged(MUCH_DAMAGE);
}

/// Fits of c3a29fa, which have no checksum.
const OLD_FITS: &str = include_str!("../../cli/tests/fixtures/c3a29fa/folders/assess/tuned/tune.json");

fn read_fits(path: &Path) -> Result<Vec<i32>, TunedFileError> {
    TunedWeights::read(path).map(|tuned| [Loss::Mlm, Loss::Ls].map(|loss| tuned.of(loss).expect("fitted")).concat())
}

#[test]
fn fits_of_earlier_versions_open() {
    let disk = SimulatedDisk::mount(1);
    let path = disk.path().join("tune.json");
    disk.put(&path, OLD_FITS.as_bytes());
    let expected = [2132, -441, 408, 226, -505, 1417, 774, 6635, -954, 1334, 642, -1003, 945, 820];
    assert_eq!(read_fits(&path).expect("sound"), expected);
    disk.put(&path, OLD_FITS.replace("tune-1", "tune-2").as_bytes());
    let error = read_fits(&path).expect_err("a sealed file without its seal").to_string();
    assert!(error.contains("tune.json: line 1 is damaged: it has no checksum"), "{error}");
}

/// A damaged file is refused, never read as something else.
fn damaged_fits(times: usize) {
    let whole = seal_object(&OLD_FITS.replace("tune-1", "tune-2"));
    let test = DamageTest { file: "tune.json", whole: whole.as_bytes(), entries: &[], most_lost: 0 };
    let refused = test.run(times, |path| match read_fits(path) {
        Err(error) => Reading::Refused(error.to_string()),
        Ok(weights) => Reading::Read { entries: vec![format!("{weights:?}")], told: String::new() },
    });
    assert_eq!(refused, times, "every damage is noticed");
    println!("tune.json: {times} damaged files, all refused");
}

#[test]
fn damage_is_named_in_fits() {
    damaged_fits(SOME_DAMAGE / 2);
}

#[test]
#[ignore = "long: 8,500 damaged files"]
fn damage_is_named_in_fits_very_often() {
    damaged_fits(MUCH_DAMAGE / 2);
}
