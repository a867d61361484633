//! A cache of values on a disk that fails, tears and loses power, and with damaged bytes.

use anqi_assess::{Cache, Key};
use anqi_store::JournalError;
use anqi_store::faults::{After, SimulatedDisk, damage, every_fault};

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
#[test]
fn damage_is_named_and_nothing_is_shortened() {
    let disk = SimulatedDisk::mount(1);
    let path = disk.path().join("cache");
    let mut cache = Cache::open(&path).expect("room");
    (0..20).for_each(|number| cache.put(key(number), value(number)).expect("room"));
    drop(cache);
    for whole in [disk.peek(&path).expect("written"), old_cache(20)] {
        for damaged in damage(&whole, 3).take(10_000) {
            disk.put(&path, &damaged.bytes);
            match Cache::open(&path) {
                Err(
                    error @ (JournalError::Foreign { .. } | JournalError::Head { .. } | JournalError::Newer { .. }),
                ) => {
                    assert!(error.to_string().contains("line "), "{error}");
                }
                Err(error) => panic!("{error}"),
                Ok(cache) => {
                    let told = cache.damages().map(ToString::to_string).unwrap_or_default();
                    assert!((0..20).all(|number| cache.get(key(number)).is_none_or(|known| known == value(number))));
                    assert!(
                        damaged.is_cut || (cache.len() >= 18 && told.contains("line ")),
                        "byte {}: {told}",
                        damaged.at
                    );
                }
            }
            assert!(disk.peek(&path).expect("there").starts_with(&damaged.bytes), "byte {}", damaged.at);
        }
    }
}
