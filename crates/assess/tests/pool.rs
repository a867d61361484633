//! The pool and its cache: nothing is lost, nothing is worked out twice, nothing depends on who did it.
#![allow(clippy::unwrap_used)]

use std::sync::atomic::{AtomicUsize, Ordering};

use anqi_assess::{Cache, EvaluateError, Judge, Key, Valuation, evaluate};
use anqi_engine::Stop;
use anqi_store::JournalError;

/// Values a number by itself, and dies of every seventh.
struct Frail {
    looked_at: &'static AtomicUsize,
    dead: bool,
}

impl Judge for Frail {
    type Position = u32;

    fn value(&mut self, position: &u32, _: &Stop) -> Result<f64, String> {
        assert!(!self.dead, "a dead judge was asked again");
        self.looked_at.fetch_add(1, Ordering::Relaxed);
        match position % 7 {
            0 => {
                self.dead = true;
                Err("died".to_owned())
            }
            1 => Ok(f64::INFINITY),
            _ => Ok(f64::from(*position) / 3.0),
        }
    }
}

fn tasks(numbers: impl Iterator<Item = u32>) -> Vec<Valuation<u32>> {
    numbers.map(|position| Valuation { key: Key::new(&position.to_string(), "frail", ""), position }).collect()
}

fn judge(looked_at: &'static AtomicUsize) -> impl Fn() -> Result<Frail, String> + Sync {
    move || Ok(Frail { looked_at, dead: false })
}

#[test]
fn a_judge_that_dies_is_replaced_and_counted() {
    static LOOKED_AT: AtomicUsize = AtomicUsize::new(0);
    let tasks = tasks((0..100).chain(0..100));
    let mut cache = Cache::default();
    let done = evaluate(&tasks, &mut cache, 4, &Stop::default(), judge(&LOOKED_AT), |_, _| {}).unwrap();
    assert_eq!(LOOKED_AT.load(Ordering::Relaxed), 100, "equal positions are valued once");
    assert_eq!(done.values.iter().filter(|value| value.is_err()).count(), 2 * 15);
    assert_eq!(done.values[1], Ok(f64::INFINITY));
    assert_eq!(done.values[102], Ok(2.0 / 3.0));
    assert_eq!(cache.len(), 85);
}

#[test]
fn a_cache_survives_what_befalls_it() {
    static LOOKED_AT: AtomicUsize = AtomicUsize::new(0);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("cache");
    let tasks = tasks((0..50).filter(|number| number % 7 != 0));
    let run = |cache: &mut Cache| {
        let before = LOOKED_AT.load(Ordering::Relaxed);
        let done = evaluate(&tasks, cache, 2, &Stop::default(), judge(&LOOKED_AT), |_, _| {}).unwrap();
        (done.values, LOOKED_AT.load(Ordering::Relaxed) - before)
    };
    let damaged = |cache: &Cache| cache.damages().map_or(0, anqi_store::Damages::count);
    let mut cache = Cache::open(&path).unwrap();
    assert!(matches!(Cache::open(&path), Err(JournalError::InUse(_))));
    let (values, looked_at) = run(&mut cache);
    assert_eq!(looked_at, tasks.len());
    drop(cache);
    let whole = std::fs::read(&path).unwrap();
    // Cut anywhere, it goes on with what is left and ends with the same values.
    for cut in [whole.len(), whole.len() - 1, whole.len() / 2, whole.len() / 2 + 7, 14, 3, 0] {
        std::fs::write(&path, &whole[..cut]).unwrap();
        let mut cache = Cache::open(&path).unwrap();
        let known = cache.len();
        assert_eq!(damaged(&cache), 0);
        let (again, looked_at) = run(&mut cache);
        assert_eq!((again, looked_at), (values.clone(), tasks.len() - known), "cut at {cut}");
    }
    // A damaged line is worked out again.
    let mut bytes = whole.clone();
    let digit = bytes.iter().rposition(|byte| *byte == b'.').unwrap() + 1;
    bytes[digit] ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    let mut cache = Cache::open(&path).unwrap();
    assert_eq!((damaged(&cache), cache.len()), (1, tasks.len() - 1));
    assert_eq!(run(&mut cache), (values, 1));
    drop(cache);
    // Somebody else's file stays as it is.
    std::fs::write(&path, "dear diary\n").unwrap();
    assert!(matches!(Cache::open(&path), Err(JournalError::Foreign { .. })));
    assert_eq!(std::fs::read(&path).unwrap(), b"dear diary\n");
}

#[test]
fn nobody_to_judge_and_stopped() {
    let nobody = || Err::<Frail, _>("no such program".to_owned());
    let done = evaluate(&tasks(1..9), &mut Cache::default(), 3, &Stop::default(), nobody, |_, _| {});
    assert!(matches!(done, Err(EvaluateError::NoJudge(reason)) if reason == "no such program"));
    static LOOKED_AT: AtomicUsize = AtomicUsize::new(0);
    let stop = Stop::default();
    stop.raise();
    let done = evaluate(&tasks(1..9), &mut Cache::default(), 3, &stop, judge(&LOOKED_AT), |_, _| {});
    assert!(matches!(done, Err(EvaluateError::Stopped)));
    assert_eq!(LOOKED_AT.load(Ordering::Relaxed), 0);
}
