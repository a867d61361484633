//! Sharing work out among threads.

/// Runs `work` once for each number below `threads`, at the same time, and gives the results in order. Number 0 runs on the
/// calling thread; without the feature `threads` it is the only one that runs. A panic of any of them goes on here.
#[cfg(feature = "threads")]
pub fn together<T: Send>(threads: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    if threads <= 1 {
        return vec![work(0)];
    }
    std::thread::scope(|scope| {
        let work = &work;
        let others: Vec<_> = (1..threads).map(|number| scope.spawn(move || work(number))).collect();
        let mut results = vec![work(0)];
        results.extend(
            others.into_iter().map(|other| other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))),
        );
        results
    })
}

/// Runs `work` as number 0 on the calling thread: there are no others without the feature `threads`.
#[cfg(not(feature = "threads"))]
pub fn together<T: Send>(_threads: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    vec![work(0)]
}

#[cfg(all(test, feature = "threads"))]
mod tests {
    use std::sync::Barrier;

    use super::together;

    #[test]
    fn all_run_at_the_same_time() {
        let all_are_here = Barrier::new(3);
        assert_eq!(
            together(3, |number| {
                all_are_here.wait();
                number * number
            }),
            [0, 1, 4]
        );
        assert_eq!(together(0, |number| number), [0]);
    }

    #[test]
    #[should_panic(expected = "one of them")]
    fn a_panic_is_not_lost() {
        together(2, |number| assert_eq!(number, 0, "one of them"));
    }
}
